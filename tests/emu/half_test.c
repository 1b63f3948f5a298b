/* Operations on 16-bit floating-point numbers. Fused ones round once: ties to even, and the smallest addend breaks a
 * tie. */
#include "emu/run_ptx.h"

/* d = a * b + c in one lane. */
static uint32_t fused(const char *type, unsigned a, unsigned b, unsigned c) {
    static const char frame[] = PTX_KERNEL("ld.global.u16 %h1, [%rd1]; ld.global.u16 %h2, [%rd1+4];\n"
                                           "ld.global.u16 %h3, [%rd1+8]; fma.rn.$ %h4, %h1, %h2, %h3;\n"
                                           "cvt.u32.u16 %r3, %h4; st.global.u32 [%rd0], %r3;");
    char text[4096];
    struct ptx_run run = {0};
    run_fill(text, sizeof text, frame, type);
    REQUIRE(run_load(&run, text));
    run_input(&run)[0] = a, run_input(&run)[1] = b, run_input(&run)[2] = c;
    REQUIRE(run_loaded(&run, 1, 1));
    uint32_t result = run_u32(&run)[0];
    run_end(&run);
    return result;
}

TEST("a fused product and sum is rounded once, ties to even") {
    static const struct {
        const char *type;
        unsigned a, b, c, d;
    } cases[] = {
        /* 1.5 × (1 + 2^-7) is 193.5 units of 2^-7, 1.5 × (1 + 3 × 2^-7) is 196.5; ± 2^-70 breaks the tie. */
        {"bf16", 0x3FC0, 0x3F81, 0, 0x3FC2},
        {"bf16", 0x3FC0, 0x3F81, 0x1C80, 0x3FC2},
        {"bf16", 0x3FC0, 0x3F81, 0x9C80, 0x3FC1},
        {"bf16", 0x3FC0, 0x3F83, 0, 0x3FC4},
        {"bf16", 0x3FC0, 0x3F83, 0x1C80, 0x3FC5},
        {"bf16", 0x3FC0, 0x3F83, 0x9C80, 0x3FC4},
        {"bf16", 0xBFC0, 0x3F83, 0x9C80, 0xBFC5},
        {"bf16", 0x3F80, 0x3F80, 0x3B80, 0x3F80}, /* 1 + 2^-8, an exact sum: a tie */
        {"bf16", 0x3F81, 0x3F80, 0x3B80, 0x3F82},
        /* 1.5 × (1 + 2^-10) is 1537.5 units of 2^-10, 1.5 × (1 + 3 × 2^-10) is 1540.5; ± 2^-24. */
        {"f16", 0x3E00, 0x3C01, 0, 0x3E02},
        {"f16", 0x3E00, 0x3C01, 0x8001, 0x3E01},
        {"f16", 0x3E00, 0x3C03, 0, 0x3E04},
        {"f16", 0x3E00, 0x3C03, 0x0001, 0x3E05},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (!CHECK_EQ(fused(cases[i].type, cases[i].a, cases[i].b, cases[i].c), cases[i].d))
            printf("      case %zu\n", i);
}

TEST("set with a result of 16 bits writes 16 bits: all ones, or zero") {
    struct ptx_run run = {0};
    REQUIRE(
        run_ptx(&run,
                PTX_KERNEL("mov.b32 %r9, 0; mov.b16 %h1, 0x3C00; mov.b16 %h2, 0x4000;\n"
                           "set.lt.s16.f16 %h3, %h1, %h2; set.gt.s16.f16 %h4, %h1, %h2; set.lt.u16.f16 %h5, %h1, %h2;\n"
                           "set.lt.f16.f16 %h6, %h1, %h2; mov.b32 %r3, {%h3, %h4}; mov.b32 %r4, {%h5, %h6};\n"
                           "st.global.u32 [%rd2], %r3; st.global.u32 [%rd2+128], %r4;"),
                1, 32));
    CHECK_EQ(run_u32(&run)[5], 0x0000FFFFu);
    CHECK_EQ(run_u32(&run)[37], 0x3C00FFFFu);
    run_end(&run);
}
