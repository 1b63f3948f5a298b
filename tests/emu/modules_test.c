/* Syntax that compilers do not produce but people write, executed: each kernel writes a word per thread. */
#include "emu/run_ptx.h"

/* Runs 32 threads; the words that they write. */
static void words(const char *ptx, uint32_t out[32], int line) {
    struct test_place place = {__FILE__, line};
    struct ptx_run run = {0};
    bool good = run_ptx(&run, ptx, 1, 32);
    test_check_eq(place, "err.text", "\"\"", test_string(run.err.text), test_string(""));
    if (good) memcpy(out, run_u32(&run), 128);
    run_end(&run);
}
#define WORDS(ptx, out) words(ptx, out, __LINE__)

TEST("a register plus a constant is an operand") {
    uint32_t out[32] = {0};
    WORDS(PTX_KERNEL("add.u32 %r3, %r0+10, %r0-4; st.global.u32 [%rd2], %r3+100;"), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 2 * i + 106);
    WORDS(PTX_KERNEL("mov.u64 %rd3, %rd2+4; mov.u64 %rd4, %rd3+-8; st.global.u32 [%rd4+4], %r0;"), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], i);
}

#define PASSES \
    ".func (.reg .v2 .b32 %o, .reg .pred %q) f(.reg .b32 %n, .reg .v4 .b32 %v, .reg .pred %p, .reg .pred %u) {\n" \
    ".reg .b32 %s; add.u32 %s, %v.x, %v.y; mad.lo.u32 %o.x, %s, %n, %v.z; selp.b32 %o.y, %v.w, 7, %p;\n" \
    "and.pred %q, %p, %u; not.pred %q, %q; ret; }\n"

TEST("a vector or predicate in a register is a parameter and a result") {
    uint32_t out[32] = {0};
    WORDS(
        PTX_KERNEL_WITH(
            PASSES,
            ".reg .v4 .b32 %w; mov.b32 %w.x, 1; mov.b32 %w.y, %r0; mov.b32 %w.z, 5; mov.b32 %w.w, 9; setp.lt.u32 %p1, %r0, 16;\n"
            "setp.ge.u32 %p2, %r0, 8; call ({%r3, %r4}, %p3), f, (3, %w, %p1, !%p2); selp.u32 %r5, 1000, 0, %p3;\n"
            "mad.lo.u32 %r6, %r4, 10000, %r3; add.u32 %r6, %r6, %r5; st.global.u32 [%rd2], %r6;"),
        out);
    for (unsigned i = 0; i < 32; i++)
        CHECK_EQ(out[i], (i < 16 ? 9u : 7u) * 10000 + (1 + i) * 3 + 5 + (i < 8 ? 0u : 1000u));
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL_WITH(PASSES, "call ({%r3, %r4}, %p3), f, (3, {%r1, %r2}, %p1, 1);"), 1, 1));
    CHECK_TEXT(run.err.text, "expected a vector of 4 elements");
    run_end(&run);
}

TEST("mov copies vectors, packs vector registers and unpacks to them") {
    uint32_t out[32] = {0};
    WORDS(
        PTX_KERNEL("mov.v2.u32 {%r3, %r4}, {%r0, 5}; mov.v2.u32 {%r3, %r4}, {%r4, %r3}; mad.lo.u32 %r5, %r3, 100, %r4;"
                   "st.global.u32 [%rd2], %r5;"),
        out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 500 + i); /* both are read before either is written */
    WORDS(PTX_KERNEL(
              ".reg .v2 .b32 %v, %w; mov.b64 %rd3, 0x300000004; mov.b64 %v, %rd3; mov.b32 %w, %v; mov.b64 %rd4, %w;"
              "add.u64 %rd4, %rd4, %rd3; mov.b64 {%r3, %r4}, %rd4; mad.lo.u32 %r5, %r3, 100, %r4;"
              "st.global.u32 [%rd2], %r5;"),
          out);
    CHECK_EQ(out[7], 806u);
    WORDS(PTX_KERNEL(
              ".reg .v4 .u32 %v; mov.v4.u32 %v, %tid; mad.lo.u32 %r3, %v.w, 100, %v.x; st.global.u32 [%rd2], %r3;"),
          out);
    CHECK_EQ(out[31], 31u);
}

TEST("names may begin with a digit after %") {
    uint32_t out[32] = {0};
    WORDS(PTX_KERNEL(".reg .b32 %<4>; .reg .b32 %x1y; .reg .pred %9; mov.u32 %1, %r0; add.u32 %2, %1, 7 %4;"
                     "setp.lt.u32 %9, %r0, (1+7)%5; @%9 mov.u32 %2, 50; st.global.u32 [%rd2], %2;"),
          out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], i < 3 ? 50 : i + 3);
}

TEST("a misaligned access matters only if it is executed") {
    uint32_t out[32] = {0};
    WORDS(PTX_KERNEL("setp.gt.u32 %p1, %r0, 64; @%p1 ld.param.u64 %rd3, [out+4]; st.global.u32 [%rd2], %r0;"), out);
    CHECK_EQ(out[5], 5u);
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("ld.param.u64 %rd3, [out+4];"), 1, 1));
    CHECK_TEXT(run.err.text, "reads 8 bytes of parameter memory at 0x4: misaligned");
    run_end(&run);
}

TEST("a module without .address_size has 32-bit addresses, also generic ones") {
    static const char text[] =
        ".version 3.0\n.target sm_20\n"
        ".global .u32 table[4] = {11, 22, 33, 44};\n.global .u32 pointer = generic(table);\n"
        ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }\n"
        ".global .u32 target = twice;\n"
        ".entry k(.param .u32 out, .param .u32 high, .param .u64 in) {\n"
        ".reg .b32 %r<20>; .reg .pred %p<4>; .shared .b32 tile[32]; .local .b32 own[2];\n"
        "ld.param.u32 %r0, [out]; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, 4, %r0;\n"
        "mov.u32 %r3, tile; mad.lo.u32 %r3, %r1, 4, %r3; cvta.shared.u32 %r4, %r3; st.u32 [%r4], %r1;\n"
        "cvta.local.u32 %r5, own; st.u32 [%r5+4], 1000; ld.local.u32 %r6, [own+4];\n"
        "isspacep.shared %p1, %r4; isspacep.global %p2, %r0; and.pred %p1, %p1, %p2; isspacep.local %p2, %r5; and.pred %p1, %p1, %p2;\n"
        "cvta.to.shared.u32 %r7, %r4; ld.shared.u32 %r8, [%r7]; ld.global.u32 %r9, [pointer]; ld.u32 %r10, [%r9+8];\n"
        "add.u32 %r11, %r6, %r8; add.u32 %r11, %r11, %r10; ld.global.u32 %r12, [target];\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r11; p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (b), %r12, (a), p; ld.param.b32 %r11, [b]; }\n"
        "mov.u32 %r13, twice; setp.ne.u32 %p3, %r13, %r12; @%p3 mov.u32 %r11, 0; @!%p1 mov.u32 %r11, 1; st.u32 [%r2], %r11; ret; }\n";
    uint32_t out[32] = {0};
    WORDS(text, out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 2 * (1000 + i + 33));
}

TEST("special registers without a counterpart are zero or false") {
    uint32_t out[32] = {0};
    WORDS(PTX_KERNEL("mov.pred %p1, %is_explicit_cluster; mov.u64 %rd3, %current_graph_exec; mov.u64 %rd4, %pm7_64;"
                     "or.b64 %rd3, %rd3, %rd4; cvt.u32.u64 %r3, %rd3; @%p1 mov.u32 %r3, 9; add.u32 %r3, %r3, %r0;"
                     "st.global.u32 [%rd2], %r3;"),
          out);
    CHECK_EQ(out[3], 3u);
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("mov.u32 %r3, %is_explicit_cluster;"), 1, 1));
    CHECK_TEXT(run.err.text, "this special register is a predicate");
    run_end(&run);
}
