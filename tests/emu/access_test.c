/* Loads and stores, and their stream records. */
#include "emu/run_ptx.h"

TEST("narrow loads extend by the signedness of their type, narrow stores truncate") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        PTX_KERNEL(
            "ld.global.s8 %r3, [%rd1]; ld.global.u8 %r4, [%rd1]; ld.global.s16 %r5, [%rd1]; ld.global.u16 %r6, [%rd1];\n"
            "ld.global.s32 %rd3, [%rd1]; ld.global.u32 %rd4, [%rd1]; ld.global.s8 %rd5, [%rd1+1];\n"
            "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6}; st.global.v2.u64 [%rd0+16], {%rd3, %rd4};\n"
            "st.global.u64 [%rd0+32], %rd5; mov.u32 %r7, 0x12345678; st.global.u8 [%rd0+40], %r7; st.global.u16 [%rd0+42], %r7;")));
    run_input(&run)[0] = 0xFFFF80FE;
    REQUIRE(run_loaded(&run, 1, 1));
    const uint32_t *out = run_u32(&run);
    CHECK_EQ(out[0], 0xFFFFFFFEu);
    CHECK_EQ(out[1], 0xFEu);
    CHECK_EQ(out[2], 0xFFFF80FEu);
    CHECK_EQ(out[3], 0x80FEu);
    CHECK_EQ(run_u64(&run)[2], 0xFFFFFFFFFFFF80FEu);
    CHECK_EQ(run_u64(&run)[3], 0xFFFF80FEu);
    CHECK_EQ(run_u64(&run)[4], 0xFFFFFFFFFFFFFF80u);
    CHECK_EQ(out[10], 0x56780078u);
    run_end(&run);
}

TEST("scattered lanes reach their own addresses, and of several that store to one address the highest wins") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run, PTX_KERNEL(
                  "mul.lo.u32 %r3, %r0, 7; and.b32 %r3, %r3, 31; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3;\n"
                  "ld.global.u32 %r4, [%rd4]; st.global.u32 [%rd2], %r4; st.global.u32 [%rd0+1024], %r0;")));
    for (unsigned i = 0; i < 32; i++) run_input(&run)[i] = i * i;
    REQUIRE(run_loaded(&run, 1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], (i * 7 % 32) * (i * 7 % 32));
    CHECK_EQ(run_u32(&run)[256], 31u);
    run_end(&run);
}

/* Elements that lanes access: all in a run, in groups of 16 and 8 lanes (rows of a CTA of two dimensions), or almost so. */
static unsigned pattern_element(unsigned pattern, unsigned lane) {
    switch (pattern) {
    case 0: return lane;
    case 1: return lane / 16 * 40 + lane % 16;
    case 2: return lane / 16 * 40;
    case 3: return lane / 8 * 100 + lane % 8;
    case 4: return (3 - lane / 8) * 50 + lane % 8;
    case 5: return lane / 8 * 9;
    case 6: return lane % 8;
    case 7: return lane / 8 * 100 + (lane == 30 ? 4 : lane % 8);
    case 8: return lane / 8 * 100 + (lane == 31 ? 1 : 0);
    case 9: return lane % 16 < 8 ? lane : 7;
    default: return 31 - lane;
    }
}
enum { PATTERNS = 11 };

TEST("lanes in groups access their elements, with and without records") {
    static const struct {
        const char *type, *reg;
        unsigned bytes;
    } types[] = {{"u32", "%r8", 4}, {"f32", "%f8", 4}, {"u64", "%rd8", 8}, {"u8", "%r8", 1}, {"s16", "%r8", 2}};
    for (unsigned t = 0; t < COUNT_OF(types) * 4; t++) {
        const unsigned type = t % COUNT_OF(types), bytes = types[type].bytes;
        const bool shared = t / COUNT_OF(types) % 2, generic = t / COUNT_OF(types) / 2;
        char text[4096], body[2048];
        /* in: an element for each lane, then the data, also in shared memory. out: the values that the lanes have loaded,
         * then the data that they store. */
        snprintf(body, sizeof body,
                 "mul.wide.u32 %%rd3, %%r0, 4; add.s64 %%rd4, %%rd1, %%rd3; ld.global.u32 %%r3, [%%rd4];\n"
                 "mul.lo.u32 %%r3, %%r3, %u; mov.u32 %%r4, s; mul.wide.u32 %%rd5, %%r0, 8; mov.u32 %%r5, 0;\n"
                 "loop: shl.b32 %%r6, %%r0, 3; mad.lo.u32 %%r6, %%r5, 256, %%r6; cvt.u64.u32 %%rd6, %%r6;\n"
                 "add.s64 %%rd6, %%rd1, %%rd6; ld.global.u64 %%rd7, [%%rd6+128]; add.u32 %%r6, %%r6, %%r4;\n"
                 "st.shared.u64 [%%r6], %%rd7; add.u32 %%r5, %%r5, 1; setp.lt.u32 %%p1, %%r5, 16; @%%p1 bra loop;\n"
                 "bar.sync 0; %s\n"
                 "ld%s.%s %s, [%s]; add.s64 %%rd5, %%rd0, %%rd5; st.global.%s [%%rd5], %s;\n"
                 "cvt.u64.u32 %%rd7, %%r3; add.s64 %%rd6, %%rd0, %%rd7; st.global.%s [%%rd6+1024], %s;",
                 bytes,
                 !shared   ? "cvt.u64.u32 %rd10, %r3; add.s64 %rd10, %rd10, %rd1; add.s64 %rd10, %rd10, 128;"
                 : generic ? "add.u32 %r9, %r4, %r3; cvt.u64.u32 %rd10, %r9; cvta.shared.u64 %rd10, %rd10;"
                           : "add.u32 %r9, %r4, %r3;",
                 generic  ? ""
                 : shared ? ".shared"
                          : ".global",
                 types[type].type, types[type].reg, shared && !generic ? "%r9" : "%rd10", types[type].type,
                 types[type].reg, types[type].type, types[type].reg);
        run_fill(text, sizeof text, PTX_KERNEL_WITH(".shared .align 8 .b8 s[4096];", "$"), body);
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
            for (unsigned traced = 0; traced < 2; traced++) {
                static struct run_stream stream;
                struct ptx_run run = {0};
                REQUIRE(run_load(&run, text));
                uint8_t wanted[32][8] = {{0}}, *data = (uint8_t *)run_input(&run) + 128, stored[4096] = {0};
                for (unsigned i = 0; i < 4096; i++) data[i] = (uint8_t)(i * 7 + i / 256);
                for (unsigned i = 0; i < 32; i++) {
                    unsigned element = run_input(&run)[i] = pattern_element(pattern, i);
                    memcpy(wanted[i], data + (size_t)element * bytes, bytes);
                    memcpy(stored + (size_t)element * bytes, wanted[i], bytes);
                }
                REQUIRE(traced ? run_trace_loaded(&run, 1, 32, 0, 0, &stream) : run_loaded(&run, 1, 32));
                const uint8_t *out = (const uint8_t *)run_u32(&run);
                CHECK(!memcmp(out, wanted, sizeof wanted));
                CHECK(!memcmp(out + 1024, stored, sizeof stored));
                run_end(&run);
            }
    }
}

TEST("a group of lanes beyond an allocation, beyond shared memory or misaligned is a fault") {
    static const struct {
        const char *text, *fault;
    } cases[] = {
        /* The last row of eight lanes begins 16 bytes before the end of the buffer. */
        {"shr.u32 %r3, %r0, 3; and.b32 %r4, %r0, 7; mul.lo.u32 %r3, %r3, 21840; mad.lo.u32 %r3, %r4, 4, %r3;\n"
         "cvt.u64.u32 %rd5, %r3; add.s64 %rd5, %rd1, %rd5; ld.global.u32 %r5, [%rd5];",
         "reads 4 bytes of global memory"},
        {".shared .b8 s[256]; mov.u32 %r5, s; shr.u32 %r3, %r0, 4; and.b32 %r4, %r0, 15; shl.b32 %r3, %r3, 8; mad.lo.u32 %r3, %r4, 4, %r3;\n"
         "st.shared.u32 [%r3], %r0;",
         "writes 4 bytes of shared memory at 0x100"},
        {".shared .b8 s[256]; mov.u32 %r5, s; shr.u32 %r3, %r0, 4; mul.lo.u32 %r3, %r3, 2; ld.shared.u32 %r4, [%r3];",
         "misaligned"},
        {".shared .b8 s[256]; mov.u32 %r5, s; shr.u32 %r3, %r0, 4; mul.lo.u32 %r3, %r3, -4; ld.shared.u32 %r4, [%r3];",
         "shared memory at 0xfffffffc"},
        {".shared .b8 s[256]; ld.shared.u32 %r4, [s+256];", "shared memory at 0x100"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[4096];
        run_fill(text, sizeof text, PTX_KERNEL("$"), cases[i].text);
        struct ptx_run run = {0};
        REQUIRE(run_load(&run, text));
        CHECK(!run_loaded(&run, 1, 32));
        if (!strstr(run.err.text, cases[i].fault)) printf("    %s\n", run.err.text);
        CHECK(strstr(run.err.text, cases[i].fault));
        run_end(&run);
    }
}

TEST("generic addresses access shared, local and global memory, also if lanes differ") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            ".shared .align 4 .b32 s[32]; .local .align 4 .b32 l[2];\n"
            "mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4; cvta.global.u64 %rd5, %rd1;\n"
            "st.local.u32 [l+4], %r0; st.u32 [%rd4], 77; mul.wide.u32 %rd6, %r0, 4; add.s64 %rd3, %rd3, %rd6; add.s64 %rd5, %rd5, %rd6;\n"
            "add.u32 %r3, %r0, 100; st.u32 [%rd3], %r3; add.u32 %r4, %r0, 200; st.u32 [%rd5], %r4;\n"
            "rem.u32 %r5, %r0, 3; setp.eq.u32 %p1, %r5, 0; setp.eq.u32 %p2, %r5, 1; add.s64 %rd7, %rd4, 4;\n"
            "selp.b64 %rd8, %rd3, %rd5, %p1; selp.b64 %rd8, %rd7, %rd8, %p2; ld.u32 %r6, [%rd8];\n"
            "ld.local.u32 %r7, [l]; add.u32 %r6, %r6, %r7; st.global.u32 [%rd2], %r6;"),
        1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 77 + i + (i % 3 == 0 ? 100 : i % 3 == 1 ? 0 : 200));
    run_end(&run);
}

TEST("isspacep identifies the space of a generic address") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL_WITH(
            ".const .b32 c = 5; .global .b32 g;",
            ".shared .b32 s; .local .b32 l; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4;\n"
            "mov.u64 %rd5, c; cvta.const.u64 %rd5, %rd5; mov.u64 %rd6, g; cvta.global.u64 %rd6, %rd6;\n"
            "isspacep.shared %p1, %rd3; isspacep.local %p2, %rd4; isspacep.const %p3, %rd5; isspacep.global %p4, %rd6;\n"
            "isspacep.global %p5, %rd3; isspacep.shared %p6, %rd6;\n"
            "selp.u32 %r3, 1, 0, %p1; @%p2 add.u32 %r3, %r3, 2; @%p3 add.u32 %r3, %r3, 4; @%p4 add.u32 %r3, %r3, 8;\n"
            "@%p5 add.u32 %r3, %r3, 16; @%p6 add.u32 %r3, %r3, 32; st.global.u32 [%rd2], %r3;"),
        1, 1));
    CHECK_EQ(run_u32(&run)[0], 15u);
    run_end(&run);
}

TEST("an access beyond an allocation is a fault that reports address, thread and nearest allocation") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run,
                   PTX_KERNEL("mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3;\nld.global.u32 %r3, [%rd4+65520];"),
                   3, 32));
    CHECK_TEXT(
        run.err.text,
        "test.ptx:11: `ld.global.u32 %r3, [%rd4+65520]` in kernel k, block (0,0,0), thread (4,0,0): reads 4 bytes of global memory at 0xc0020000");
    CHECK_TEXT(run.err.text, "0 bytes after the 65536-byte allocation at 0xc0010000");
    run_end(&run);
}

TEST("a fault tells the distance to the nearest allocation, before or behind it, or that the access crosses its end") {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PTX_KERNEL("ld.global.u32 %r3, [%rd0+-16];"), "16 bytes before the 65536-byte allocation at 0xc0000000"},
        {PTX_KERNEL("ld.global.u32 %r3, [%rd1+65536];"), "0xc0020000: 0 bytes after the 65536-byte allocation"},
        {PTX_KERNEL("ld.global.u32 %r3, [%rd1+131072];"), "65536 bytes after the 65536-byte allocation at 0xc0010000"},
    };
    struct ptx_run run = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CHECK(!run_ptx(&run, cases[i].text, 1, 1));
        CHECK_TEXT(run.err.text, cases[i].says);
        run_end(&run);
    }
    REQUIRE(run_load(&run, PTX_KERNEL("ld.global.u32 %r3, [%rd1+65544];")));
    CHECK_EQ(memory_allocate(&run.device.memory, 10), run.in + 65536);
    CHECK(!run_loaded(&run, 1, 1));
    CHECK_TEXT(run.err.text, "0xc0020008: beyond the end of the 10-byte allocation at 0xc0020000");
    run_end(&run);
}

TEST("misaligned accesses and those outside shared or local memory are faults") {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PTX_KERNEL("st.global.u32 [%rd0+2], %r0;"), "writes 4 bytes of global memory at 0xc0000002: misaligned"},
        {PTX_KERNEL("ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd0+8];"),
         "reads 16 bytes of global memory at 0xc0000008: misaligned"},
        {PTX_KERNEL(".shared .b32 s[4]; mov.u32 %r3, s; st.shared.u32 [%r3+16], %r0;"),
         "shared memory at 0x10: outside the 16 bytes"},
        {PTX_KERNEL(".local .b32 l[4]; mov.u64 %rd3, l; ld.local.u32 %r3, [%rd3+4096];"),
         "local memory at 0x1000: outside"},
        {PTX_KERNEL("mov.u64 %rd3, 0; ld.u32 %r3, [%rd3];"), "0x0: "},
        {PTX_KERNEL("mov.u64 %rd3, -4; ld.u32 %r3, [%rd3];"), "0xfffffffffffffffc"},
        {PTX_KERNEL("mov.u64 %rd3, -8; atom.global.add.u64 %rd4, [%rd3], 1;"), "updates 8 bytes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run = {0};
        CHECK(!run_ptx(&run, cases[i].text, 1, 1));
        CHECK_TEXT(run.err.text, cases[i].says);
        run_end(&run);
    }
}

TEST("variables of the module have their initial values and keep what kernels store") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        PTX_KERNEL_WITH(
            ".const .align 4 .b32 c[2] = {11, 22}; .global .align 4 .b32 g[2] = {3, 4};",
            "ld.const.u32 %r3, [c+4]; ld.global.u32 %r4, [g+4]; add.u32 %r4, %r4, %r3; st.global.u32 [g+4], %r4; st.global.u32 [%rd2], %r4;")));
    REQUIRE(run_loaded(&run, 1, 1));
    CHECK_EQ(run_u32(&run)[0], 26u);
    REQUIRE(run_loaded(&run, 1, 1));
    CHECK_EQ(run_u32(&run)[0], 48u);
    run_end(&run);
}

/* The record of the first store after `address computation`. */
static struct instr traced(const char *text, enum op_class op, uint64_t touch[32]) {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    struct instr found = {0};
    REQUIRE(run_trace(&run, text, 1, 32, 0, 0, stream));
    const struct instr *instr = stream_find(stream, op, 0);
    if (op == OP_load)
        for (unsigned i = 0; i < 8 && instr && instr->space == SPACE_CONST; i++) instr = stream_find(stream, op, i);
    REQUIRE(instr);
    memcpy(touch, stream->touch[instr - stream->instr], sizeof stream->touch[0]);
    found = *instr;
    free(stream);
    run_end(&run);
    return found;
}

TEST("the record of a store has its touched sectors and whether they are full") {
    uint64_t touch[32];
    struct instr instr = traced(PTX_KERNEL("st.global.u32 [%rd2], %r0;"), OP_store, touch);
    CHECK_EQ(instr.count, 1u);
    CHECK_EQ(touch[0], touch_make(0xC0000000, 0x0F));
    CHECK(!(instr.flags & INSTR_PARTIAL));
    instr = traced(PTX_KERNEL("st.global.u32 [%rd2+4], %r0;"), OP_store, touch);
    CHECK_EQ(touch[0], touch_make(0xC0000000, 0x1F));
    CHECK(instr.flags & INSTR_PARTIAL);
    instr = traced(
        PTX_KERNEL(
            "shl.b64 %rd3, %rd2, 0; mul.wide.u32 %rd3, %r0, 512; sub.s64 %rd3, %rd0, %rd3; add.s64 %rd3, %rd3, 32768; st.global.u8 [%rd3], %r0;"),
        OP_store, touch);
    CHECK_EQ(instr.count, 32u);
    CHECK_EQ(touch[0], touch_make(0xC0000000 + 32768 - 31 * 512, 1));
    CHECK_EQ(touch[31], touch_make(0xC0000000 + 32768, 1));
    CHECK_EQ(instr.bytes_log2, 0u);
}

TEST("shared memory takes one pass per word of the busiest bank") {
    static const struct {
        const char *text;
        unsigned passes;
    } cases[] = {
        {PTX_KERNEL(
             ".shared .align 16 .b32 s[1024]; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 4, %r3; st.shared.u32 [%r4], %r0;"),
         1},
        {PTX_KERNEL(
             ".shared .align 16 .b32 s[1024]; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 8, %r3; st.shared.u32 [%r4], %r0;"),
         2},
        {PTX_KERNEL(
             ".shared .align 16 .b32 s[1024]; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 128, %r3; st.shared.u32 [%r4], %r0;"),
         32},
        {PTX_KERNEL(".shared .align 16 .b32 s[1024]; mov.u32 %r3, s; st.shared.u32 [%r3], %r0;"), 1},
        {PTX_KERNEL(
             ".shared .align 16 .b32 s[1024]; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 8, %r3; st.shared.u64 [%r4], %rd0;"),
         2},
        {PTX_KERNEL(
             ".shared .align 16 .b32 s[1024]; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 16, %r3; st.shared.v4.u32 [%r4], {%r0,%r0,%r0,%r0};"),
         4},
        {PTX_KERNEL(
             ".shared .align 16 .b32 s[1024]; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mul.wide.u32 %rd4, %r0, 16; add.s64 %rd3, %rd3, %rd4; st.u32 [%rd3], %r0;"),
         4},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t touch[32];
        struct instr instr = traced(cases[i].text, OP_store, touch);
        CHECK_EQ(instr.space, SPACE_SHARED);
        CHECK_EQ(instr.conflicts, cases[i].passes);
        CHECK_EQ(instr.count, 0u);
    }
}

TEST("a word of local memory is contiguous over the lanes of a warp") {
    uint64_t touch[32];
    struct instr instr = traced(PTX_KERNEL(".local .align 8 .b32 l[8]; st.local.u32 [l+4], %r0;"), OP_store, touch);
    CHECK_EQ(instr.space, SPACE_LOCAL);
    CHECK_EQ(instr.count, 1u);
    CHECK_EQ(touch_sectors(touch[0]), 0xF0u);
    CHECK(!(instr.flags & INSTR_PARTIAL));
    instr = traced(PTX_KERNEL(".local .align 8 .b64 l[8]; st.local.u64 [l+8], %rd0;"), OP_store, touch);
    CHECK_EQ(instr.count, 1u);
    CHECK_EQ(touch_sectors(touch[0]), 0xFFu);
}

TEST("a memory operation without active lanes is not an access") {
    uint64_t touch[32];
    struct instr instr =
        traced(PTX_KERNEL("setp.gt.u32 %p1, %r0, 99; @%p1 st.global.u32 [%rd2], %r0; st.global.u32 [%rd2+128], %r0;"),
               OP_store, touch);
    CHECK_EQ(touch[0], touch_make(0xC0000000, 0xF0));
    CHECK_EQ(instr.active, UINT32_MAX);
}
