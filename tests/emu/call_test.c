/* Calls. */
#include "emu/run_ptx.h"

static const char functions[] = PTX_HEADER
    ".func (.param .b32 ret) twice(.param .b32 x) { .reg .b32 %r<4>; ld.param.b32 %r1, [x]; add.u32 %r1, %r1, %r1; st.param.b32 [ret], %r1; ret; }\n"
    ".func (.param .b32 ret) square(.param .b32 x) { .reg .b32 %r<4>; ld.param.b32 %r1, [x]; mul.lo.u32 %r2, %r1, %r1; st.param.b32 [ret], %r2; ret; }\n"
    ".func (.reg .b32 %y) thrice(.reg .b32 %x) { mul.lo.u32 %y, %x, 3; ret; }\n"
    ".func (.param .b32 ret) fib(.param .b32 n) { .reg .b32 %r<8>; .reg .pred %p1; ld.param.b32 %r1, [n]; setp.lt.u32 %p1, %r1, 2; @%p1 bra small;\n"
    "  sub.u32 %r2, %r1, 1; sub.u32 %r3, %r1, 2;\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r4, [b]; }\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), fib, (a); ld.param.b32 %r5, [b]; }\n"
    "  add.u32 %r1, %r4, %r5; small: st.param.b32 [ret], %r1; ret; }\n"
    ".func (.param .b32 ret) forever(.param .b32 n) { .reg .b32 %r<8>; ld.param.b32 %r1, [n];\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), forever, (a); ld.param.b32 %r4, [b]; } st.param.b32 [ret], %r4; ret; }\n"
    ".func leave(.param .b32 x) { .reg .b32 %r<4>; .reg .pred %p1; ld.param.b32 %r1, [x]; setp.lt.u32 %p1, %r1, 8; @%p1 exit; ret; }\n"
    ".func (.param .b32 ret) sum(.param .align 4 .b8 s[12]) { .reg .b32 %r<4>; ld.param.b32 %r1, [s]; ld.param.b32 %r2, [s+4]; ld.param.b32 %r3, [s+8];\n"
    "  add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.param.b32 [ret], %r1; ret; }\n"
    ".visible .entry k(.param .u64 out, .param .u64 in) { .reg .pred %p<10>; .reg .b32 %r<60>; .reg .b64 %rd<60>;\n"
    "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.s64 %rd2, %rd0, %rd2; mov.u32 %r9, 0;\n$\nst.global.u32 [%rd2], %r9; ret; }\n";

/* The results of 32 lanes; false with the error. */
static bool called(const char *body, uint32_t out[32], struct error *err) {
    char text[8192];
    run_fill(text, sizeof text, functions, body);
    struct ptx_run run = {0};
    bool good = run_ptx(&run, text, 1, 32);
    *err = run.err;
    memcpy(out, run_u32(&run), 128);
    run_end(&run);
    return good;
}

#define CALL_PARAM(function, from, to) \
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], " from "; call (b), " function ", (a); ld.param.b32 " to \
    ", [b]; }\n"

TEST("arguments and results are passed by parameters and by registers") {
    uint32_t out[32];
    struct error err;
    REQUIRE(called(CALL_PARAM("twice", "%r0", "%r9") "call (%r9), thrice, (%r9);", out, &err));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 6 * i);
    REQUIRE(called(
        "{ .param .align 4 .b8 a[12]; .param .b32 b; st.param.b32 [a], %r0; st.param.b32 [a+4], 100; st.param.b32 [a+8], 1000; call (b), sum, (a); ld.param.b32 %r9, [b]; }",
        out, &err));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 1100 + i);
}

TEST("recursion depth may differ between lanes") {
    static const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13};
    uint32_t out[32];
    struct error err;
    REQUIRE(called("and.b32 %r3, %r0, 7;" CALL_PARAM("fib", "%r3", "%r9"), out, &err));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], fib[i & 7]);
}

TEST("infinite recursion is a fault") {
    uint32_t out[32];
    struct error err;
    CHECK(!called(CALL_PARAM("forever", "%r0", "%r9"), out, &err));
    CHECK_TEXT(err.text, "calls are nested too deeply");
}

TEST("a guarded call does not affect other lanes, and divergent calls return to the reconvergence point") {
    uint32_t out[32];
    struct error err;
    REQUIRE(called(
        "mov.u32 %r9, 5; setp.lt.u32 %p1, %r0, 9; @!%p1 bra other;" CALL_PARAM(
            "twice", "%r0", "%r9") "bra join; other:" CALL_PARAM("square", "%r0", "%r9") "join: add.u32 %r9, %r9, 1;",
        out, &err));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 1 + (i < 9 ? 2 * i : i * i));
    REQUIRE(called(
        "mov.u32 %r9, 5; setp.lt.u32 %p1, %r0, 9; { .param .b32 a; st.param.b32 [a], %r0; @%p1 call leave, (a); }", out,
        &err));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], i < 8 ? 0u : 5u);
}

TEST("indirect calls execute in groups of lanes with equal targets") {
    uint32_t out[32];
    struct error err;
    bool good = called(
        "mov.u64 %rd3, twice; mov.u64 %rd4, square; and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; selp.b64 %rd5, %rd3, %rd4, %p1;\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %rd5, (a), proto; ld.param.b32 %r9, [b]; }",
        out, &err);
    if (!good) printf("    %s\n", err.text);
    REQUIRE(good);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], i & 1 ? i * i : 2 * i);
    CHECK(!called(
        "mov.u64 %rd5, 64; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %rd5, (a), proto; ld.param.b32 %r9, [b]; }",
        out, &err));
    CHECK_TEXT(err.text, "there is no function at address 0x40");
}

TEST("a fault in a called function reports the instruction and line of that function") {
    static const char callee[] = ".func f(.reg .u64 %a) {\n.reg .b32 %x;\nld.global.u32 %x, [%a+77];\nret;\n}\n";
    static const char caller[] = ".visible .entry k(.param .u64 out, .param .u64 in) {\n.reg .b64 %p;\n"
                                 "ld.param.u64 %p, [out];\ncall f, (%p);\nst.global.u32 [%p+3], 1;\nret;\n}\n";
    char text[1024];
    struct ptx_run run = {0};
    snprintf(text, sizeof text, PTX_HEADER "%s%s", callee, caller);
    CHECK(!run_ptx(&run, text, 1, 1));
    CHECK_TEXT(run.err.text, "test.ptx:6: `ld.global.u32 %x, [%a+77]` in kernel k, block (0,0,0), thread (0,0,0): ");
    run_end(&run);
    /* The kernel first, or behind a function without a fault. */
    snprintf(text, sizeof text, PTX_HEADER ".func f(.reg .u64 %%a);\n%s%s", caller, callee);
    CHECK(!run_ptx(&run, text, 1, 1));
    CHECK_TEXT(run.err.text, "test.ptx:14: `ld.global.u32 %x, [%a+77]` in kernel k");
    run_end(&run);
    snprintf(text, sizeof text, PTX_HEADER ".func f(.reg .u64 %%a) {\nret;\n}\n%s", caller);
    CHECK(!run_ptx(&run, text, 1, 1));
    CHECK_TEXT(run.err.text, "test.ptx:11: `st.global.u32 [%p+3], 1` in kernel k");
    run_end(&run);
}

TEST("a call of a function that cannot be executed, through a computed address, is a fault") {
    struct ptx_run run = {0};
    device_init(&run.device);
    static const char text[] =
        PTX_KERNEL_WITH(".func good() { ret; }\n.func bad() { glide; ret; }\n",
                        "mov.u64 %rd3, good; add.u64 %rd3, %rd3, 16; p: .callprototype _ (); call %rd3, (), p;");
    struct ptx_module *module = ptx_parse("test.ptx", text, strlen(text), &run.err);
    run.loaded = module ? device_load(&run.device, module, &run.err) : NULL;
    REQUIRE(run.loaded);
    CHECK(!run_loaded(&run, 1, 1));
    CHECK_TEXT(run.err.text, "calls `bad`, which cannot be executed");
    run_end(&run);
}
