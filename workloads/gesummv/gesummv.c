/* y = alpha A x + beta B x, one row per thread. */
#include "work.h"

WORK_PTX(gesummv, "gesummv/gesummv.ptx");

enum { THREADS = 256 };
static const float ALPHA = 1.5f, BETA = 1.25f;

/* The two sums are of products from [-1, 1] in single precision: errors of about 2^-24 n on values of about sqrt(n),
 * 2e-6 for n = 1024. */
static const double TOLERANCE = 1e-5;

static double dot(const float *row, const float *x, int64_t steps) {
    double sum = 0;
    for (int64_t k = 0; k < steps; k++) sum += (double)row[k] * x[k];
    return sum;
}

/* The loop covers the first `steps` columns of both matrices. */
static void run(struct work *work) {
    int32_t n = (int32_t)work->size[0], steps = (int32_t)work->size[1];
    uint64_t count = (uint64_t)n * (uint64_t)n, a, b, x, y, tmp;
    float *ha = WORK_NEW(work, float, count, &a), *hb = WORK_NEW(work, float, count, &b),
          *hx = WORK_NEW(work, float, n, &x), *hy = WORK_NEW(work, float, n, &y);
    tmp = work_alloc(work, (uint64_t)n * sizeof(float));
    work_fill(work, ha, count, -1, 1);
    work_fill(work, hb, count, -1, 1);
    work_fill(work, hx, (uint64_t)n, -1, 1);
    WORK_LAUNCH(work, "gesummv", DIM(blocks_of(n, THREADS)), DIM(THREADS), HOST_U64(a), HOST_U64(b), HOST_U64(x),
                HOST_U64(y), HOST_U64(tmp), HOST_F32(ALPHA), HOST_F32(BETA), HOST_S32(n), HOST_S32(steps));
    if (!work->verify) return;
    for (int64_t i = 0; i < n && !work->wrong; i++) {
        float expected = (float)(ALPHA * dot(ha + i * n, hx, steps) + BETA * dot(hb + i * n, hx, steps));
        work_expect_f32(work, "y", &hy[i], &expected, 1, TOLERANCE, sqrt((double)steps));
    }
}

static const struct work_size sizes[] = {
    {"tiny", {128, 128}},
    {"small", {2048, 256}},
    {"icc", {4096, 1024}},
};

WORKLOAD(gesummv, "gesummv", .aliases = "gsmt", .help = "two matrix-vector products; uncoalesced, lanes one row apart",
         .parameters = "n steps");
