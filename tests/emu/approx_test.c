/* Approximate operations at the borders of the tables of the PTX ISA. */
#include "emu/run_ptx.h"

#define DIVIDED_BY(divisor) \
    PTX_KERNEL("mov.f32 %f0, 0f7E800000; mov.f32 %f1, " divisor \
               "; div.approx.f32 %f2, %f0, %f1; st.global.f32 [%rd2], %f2;")

TEST("div.approx by more than 2^126 is zero, and by 2^126 is not") {
    static const struct {
        const char *text;
        uint32_t quotient; /* of 2^126 */
    } cases[] = {{DIVIDED_BY("0f7E800000"), 0x3F800000},
                 {DIVIDED_BY("0f7E7FFFFF"), 0x3F800001},
                 {DIVIDED_BY("0f7E800001"), 0},
                 {DIVIDED_BY("0f7F000000"), 0}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run = {0};
        REQUIRE(run_ptx(&run, cases[i].text, 1, 32));
        CHECK_EQ(run_u32(&run)[0], cases[i].quotient);
        run_end(&run);
    }
}
