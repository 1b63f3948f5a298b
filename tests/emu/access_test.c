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
