/* Sum of an array by a fixed number of CTAs. */
#include "work.h"

WORK_PTX(reduction, "reduction/reduction.ptx");

enum { THREADS = 256, CTAS = 64, STEP = 2 * THREADS };

static void run(struct work *work) {
    uint64_t n = (uint64_t)work->size[0] * STEP, in, out;
    int64_t launches = work->size[1];
    float *hin = WORK_NEW(work, float, n, &in), *hout = WORK_NEW(work, float, CTAS, &out);
    for (uint64_t i = 0; i < n; i++) hin[i] = (float)work_below(work, 3);
    for (int64_t i = 0; i < launches; i++)
        WORK_LAUNCH(work, "reduction", DIM(CTAS), DIM(THREADS), HOST_U64(in), HOST_U64(out), HOST_U32((uint32_t)n));
    if (!work->verify) return;
    /* The sum of small integers of a CTA is below 2^24: single precision is exact in any order. */
    float expected[CTAS] = {0};
    for (uint64_t i = 0; i < n; i++) expected[i / STEP % CTAS] += hin[i];
    work_expect_f32(work, "out", hout, expected, CTAS, 0, 0);
}

static const struct work_size sizes[] = {
    {"tiny", {256, 1}},
    {"small", {8192, 4}},
    {"icc", {32768, 4}},
};

WORKLOAD(reduction, "reduction", .help = "sum of an array; streams one array", .parameters = "elements_512 launches");
