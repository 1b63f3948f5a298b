/* Atomics. */
#include "emu/run_ptx.h"

/* One lane applies `instruction` (of %r3 or %rd3 on [in]) to `before`: the value returned and the value stored. */
static void applied(const char *instruction, uint64_t before, uint64_t operand, uint64_t *old, uint64_t *after) {
    static const char frame[] = PTX_KERNEL(
        "ld.global.u64 %rd3, [%rd1+8]; cvt.u32.u64 %r3, %rd3; mov.b32 %f3, %r3; mov.b64 %fd3, %rd3; cvt.u16.u32 %h3, %r3;\n"
        "mov.u64 %rd4, 0; mov.u32 %r4, 0; mov.f32 %f4, 0f00000000; mov.f64 %fd4, 0d0000000000000000; mov.u16 %h4, 0;\n$\n"
        "mov.b32 %r5, %f4; mov.b64 %rd6, %fd4; cvt.u32.u16 %r6, %h4; or.b32 %r5, %r5, %r6; or.b32 %r4, %r4, %r5;\n"
        "cvt.u64.u32 %rd5, %r4; or.b64 %rd4, %rd4, %rd5; or.b64 %rd4, %rd4, %rd6; st.global.u64 [%rd0], %rd4;");
    char text[4096];
    run_fill(text, sizeof text, frame, instruction);
    struct ptx_run run = {0};
    REQUIRE(run_load(&run, text));
    uint64_t values[2] = {before, operand};
    memcpy(run_input(&run), values, sizeof values);
    bool good = run_loaded(&run, 1, 1);
    if (!good) printf("    %s\n", run.err.text);
    REQUIRE(good);
    *old = run_u64(&run)[0];
    memcpy(after, run_input(&run), sizeof *after);
    run_end(&run);
}

TEST("every atomic stores the value that PTX defines and returns the old one") {
    static const struct {
        const char *instruction;
        uint64_t before, operand, after;
    } cases[] = {
        {"atom.global.add.u32 %r4, [%rd1], %r3;", 5, 0xFFFFFFFF, 4},
        {"atom.global.add.s32 %r4, [%rd1], %r3;", 0x7FFFFFFF, 1, 0x80000000},
        {"atom.global.add.u64 %rd4, [%rd1], %rd3;", UINT64_MAX, 2, 1},
        {"atom.global.and.b32 %r4, [%rd1], %r3;", 0xFF00FF, 0x0FFFF0, 0x0F00F0},
        {"atom.global.or.b64 %rd4, [%rd1], %rd3;", 0xF0, UINT64_C(0xF00000000000000F), UINT64_C(0xF0000000000000FF)},
        {"atom.global.xor.b32 %r4, [%rd1], %r3;", 0xFF, 0x0F, 0xF0},
        {"atom.global.exch.b32 %r4, [%rd1], %r3;", 1, 2, 2},
        {"atom.global.exch.b64 %rd4, [%rd1], %rd3;", 1, UINT64_MAX, UINT64_MAX},
        {"atom.global.cas.b32 %r4, [%rd1], %r3, 9;", 7, 7, 9},
        {"atom.global.cas.b32 %r4, [%rd1], %r3, 9;", 7, 8, 7},
        {"atom.global.cas.b64 %rd4, [%rd1], %rd3, 9;", UINT64_C(7) << 32, UINT64_C(7) << 32, 9},
        {"atom.global.cas.b16 %h4, [%rd1], %h3, 9;", 0x10007, 7, 0x10009},
        {"atom.global.inc.u32 %r4, [%rd1], %r3;", 4, 5, 5},
        {"atom.global.inc.u32 %r4, [%rd1], %r3;", 5, 5, 0},
        {"atom.global.dec.u32 %r4, [%rd1], %r3;", 0, 5, 5},
        {"atom.global.dec.u32 %r4, [%rd1], %r3;", 9, 5, 5},
        {"atom.global.dec.u32 %r4, [%rd1], %r3;", 3, 5, 2},
        {"atom.global.min.s32 %r4, [%rd1], %r3;", 1, 0xFFFFFFFF, 0xFFFFFFFF},
        {"atom.global.min.u32 %r4, [%rd1], %r3;", 1, 0xFFFFFFFF, 1},
        {"atom.global.max.s32 %r4, [%rd1], %r3;", 1, 0xFFFFFFFF, 1},
        {"atom.global.max.u32 %r4, [%rd1], %r3;", 1, 0xFFFFFFFF, 0xFFFFFFFF},
        {"atom.global.min.s64 %rd4, [%rd1], %rd3;", 1, UINT64_MAX, UINT64_MAX},
        {"atom.global.max.u64 %rd4, [%rd1], %rd3;", 1, UINT64_MAX, UINT64_MAX},
        {"atom.global.add.f32 %f4, [%rd1], %f3;", 0x3F800000, 0x40000000, 0x40400000},
        {"atom.global.add.f32 %f4, [%rd1], %f3;", 0x00000001, 0x00000001, 0},
        {"atom.global.add.f32 %f4, [%rd1], %f3;", 0x7F800000, 0xFF800000, 0x7FFFFFFF},
        {"atom.global.add.f64 %fd4, [%rd1], %fd3;", UINT64_C(0x3FF0000000000000), UINT64_C(0x3FF0000000000000),
         UINT64_C(0x4000000000000000)},
        {"atom.global.add.noftz.f16 %h4, [%rd1], %h3;", 0xAAAA3C00, 0x3C00, 0xAAAA4000},
        {"atom.global.add.noftz.f16x2 %r4, [%rd1], %r3;", 0x3C003C00, 0x40003C00, 0x42004000},
        {"atom.global.add.noftz.bf16 %h4, [%rd1], %h3;", 0x3F80, 0x3F80, 0x4000},
        {"atom.global.add.noftz.bf16 %h4, [%rd1], %h3;", 0x3F80, 0x3B80, 0x3F80}, /* ties to even */
        {"atom.global.add.noftz.bf16 %h4, [%rd1], %h3;", 0x3F81, 0x3B80, 0x3F82},
        {"atom.global.add.noftz.bf16x2 %r4, [%rd1], %r3;", 0x3F803F80, 0x40003F80, 0x40404000},
        {"atom.add.u32 %r4, [%rd1], %r3;", 1, 2, 3},
        {"atom.relaxed.gpu.global.add.u32 %r4, [%rd1], %r3;", 1, 2, 3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t old, after;
        applied(cases[i].instruction, cases[i].before, cases[i].operand, &old, &after);
        bool half = strstr(cases[i].instruction, "%h4");
        bool left = CHECK_EQ(after, cases[i].after),
             gave = CHECK_EQ(old, half ? cases[i].before & 0xFFFF : cases[i].before);
        if (!left || !gave) printf("      %s\n", cases[i].instruction);
    }
}

TEST("reductions and atomics on shared memory add up over all lanes and warps") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            ".shared .align 8 .b32 s[2]; red.shared.add.u32 [s], %r0; red.global.add.u32 [%rd1], 1; mov.f32 %f1, 0f00000001; red.shared.add.f32 [s+4], %f1;\n"
            "bar.sync 0; ld.shared.u32 %r3, [s]; st.global.u32 [%rd2], %r3; ld.shared.u32 %r4, [s+4]; st.global.u32 [%rd2+4096], %r4;"),
        3, 96));
    for (unsigned i = 0; i < 3 * 96; i++) {
        CHECK_EQ(run_u32(&run)[i], 95u * 96 / 2);
        CHECK_EQ(run_u32(&run)[1024 + i], 96u); /* shared memory keeps subnormal numbers */
    }
    CHECK_EQ(run_input(&run)[0], 288u);
    run_end(&run);
}

TEST("the record has the number of lanes on the busiest word") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL(
            "and.b32 %r3, %r0, 3; setp.gt.u32 %p1, %r0, 20; @%p1 mov.u32 %r3, 0; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd1, %rd3;\n"
            "atom.global.add.u32 %r4, [%rd3], 1; red.global.add.u32 [%rd2], 1;"),
        1, 32, 0, 0, stream));
    const struct instr *first = stream_find(stream, OP_atomic, 0), *second = stream_find(stream, OP_atomic, 1);
    REQUIRE(first && second);
    CHECK_EQ(first->conflicts, 17u);
    CHECK_EQ(first->count, 1u);
    CHECK_EQ(second->conflicts, 1u);
    free(stream);
    run_end(&run);
}

/* Each of two lanes exchanges 16 bytes of `in`, then compares and swaps them twice: with what is there and with what is
 * not. It stores what each returned. */
TEST("exch and cas of 128 bits return the old value in every lane, and cas swaps only on equality") {
    static const char text[] = PTX_KERNEL(
        ".reg .b128 %q<6>; mul.wide.u32 %rd3, %r0, 16; add.s64 %rd3, %rd1, %rd3; mul.wide.u32 %rd4, %r0, 64;\n"
        "add.s64 %rd4, %rd0, %rd4; cvt.u64.u32 %rd5, %r0; add.s64 %rd6, %rd5, 100; mov.b128 %q0, {%rd5, %rd6};\n"
        "mov.b128 %q1, {%rd6, %rd5};\n"
        "atom.global.exch.b128 %q2, [%rd3], %q0; atom.global.cas.b128 %q3, [%rd3], %q0, %q1;\n"
        "atom.global.cas.b128 %q4, [%rd3], %q0, %q2; mov.b128 {%rd7, %rd8}, %q2; mov.b128 {%rd9, %rd10}, %q3;\n"
        "mov.b128 {%rd11, %rd12}, %q4; st.global.u64 [%rd4], %rd7; st.global.u64 [%rd4+8], %rd8;\n"
        "st.global.u64 [%rd4+16], %rd9; st.global.u64 [%rd4+24], %rd10; st.global.u64 [%rd4+32], %rd11;\n"
        "st.global.u64 [%rd4+40], %rd12;");
    struct ptx_run run = {0};
    bool good = run_load(&run, text);
    if (!good) printf("    %s\n", run.err.text);
    REQUIRE(good);
    uint64_t before[4] = {11, 12, 13, 14}, after[4];
    memcpy(run_input(&run), before, sizeof before);
    REQUIRE(run_loaded(&run, 1, 2));
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t *returned = run_u64(&run) + 8 * i;
        CHECK(returned[0] == before[2 * i] && returned[1] == before[2 * i + 1]);
        CHECK(returned[2] == i && returned[3] == 100 + i);
        CHECK(returned[4] == 100 + i && returned[5] == i); /* swapped, so the second comparison fails */
    }
    memcpy(after, run_input(&run), sizeof after);
    for (uint64_t i = 0; i < 2; i++) CHECK(after[2 * i] == 100 + i && after[2 * i + 1] == i);
    run_end(&run);
}

TEST("atomics on vectors are unsupported") {
    static const char *const texts[] = {
        PTX_KERNEL("atom.global.v2.f32.add {%f1, %f2}, [%rd0], {%f0, %f0};"),
        PTX_KERNEL("red.global.v2.f32.add [%rd0], {%f0, %f0};"),
    };
    for (unsigned i = 0; i < COUNT_OF(texts); i++) {
        struct ptx_run run = {0};
        CHECK(!run_load(&run, texts[i]));
        CHECK_TEXT(run.err.text, "unsupported instruction `");
        run_end(&run);
    }
}

TEST("an atomic whose result is ignored is a reduction") {
    struct ptx_run run = {0};
    REQUIRE(
        run_ptx(&run, PTX_KERNEL("atom.global.add.u32 _, [%rd1], 2; atom.global.cas.b32 _, [%rd1+4], 0, %r0;"), 1, 32));
    CHECK_EQ(run_input(&run)[0], 64u);
    CHECK_EQ(run_input(&run)[1], 1u);
    run_end(&run);
}
