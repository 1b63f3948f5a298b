/* LU decomposition in place, in blocks of 16 x 16. */
#include "work.h"

WORK_PTX(lud, "lud/lud.ptx");

enum { BLOCK = 16 };

/* Eliminates the first `pivots` pivots one by one. */
static double *reference(const float *matrix, int64_t n, int64_t pivots) {
    double *m = mem_alloc((size_t)(n * n), sizeof *m);
    for (int64_t i = 0; i < n * n; i++) m[i] = (double)matrix[i];
    for (int64_t k = 0; k < pivots; k++)
        for (int64_t i = k + 1; i < n; i++) {
            double *row = m + i * n, *pivot = m + k * n, factor = row[k] /= pivot[k];
            for (int64_t j = k + 1; j < n; j++) row[j] -= factor * pivot[j];
        }
    return m;
}

/* What the launches before the first `lud_internal` compute: the row and the column of blocks of the diagonal. */
static void decompose_perimeter(float *matrix, const double *expected, int64_t n) {
    for (int64_t i = 0; i < n * n; i++)
        if (i / n < BLOCK || i % n < BLOCK) matrix[i] = (float)expected[i];
}

static void run(struct work *work) {
    int64_t n = work->size[0], blocks = n / BLOCK, steps = work->size[1];
    bool internal_only = work->size[2];
    uint64_t count = (uint64_t)(n * n), m;
    float *hm = WORK_NEW(work, float, count, &m);
    work_fill(work, hm, count, -1, 1);
    /* No pivot is close to 0: the eigenvalues of the random part stay within sqrt(n / 3). */
    for (int64_t i = 0; i < n; i++) hm[i * n + i] += 2 * sqrtf((float)n);
    double *expected = work->verify || internal_only ? reference(hm, n, steps * BLOCK) : NULL;
    if (internal_only) decompose_perimeter(hm, expected, n);
    for (int64_t k = 0; k < steps; k++) {
        uint32_t rest = (uint32_t)(blocks - k - 1);
        int32_t offset = (int32_t)(k * BLOCK);
#define LAUNCH(kernel, grid, block) \
    WORK_LAUNCH(work, kernel, grid, block, HOST_U64(m), HOST_S32((int32_t)n), HOST_S32(offset))
        if (!internal_only) LAUNCH("lud_diagonal", DIM(1), DIM(BLOCK));
        if (rest == 0) break;
        if (!internal_only) LAUNCH("lud_perimeter", DIM(rest), DIM(2 * BLOCK));
        LAUNCH("lud_internal", DIM(rest, rest), DIM(BLOCK, BLOCK));
#undef LAUNCH
    }
    /* Elements are about 1 (multipliers about 1 / sqrt(n)) and sums of up to n rounded products. */
    for (uint64_t i = 0; work->verify && i < count && !work->wrong; i++) {
        float element = (float)expected[i];
        work_expect_f32(work, "m", hm + i, &element, 1, 1e-5, 1);
    }
    free(expected);
}

static const struct work_size sizes[] = {
    {"tiny", {64, 4}},     {"small", {384, 24}},  {"adaptive", {2912, 1}},           {"icc", {512, 32}},
    {"selrep", {2912, 1}}, {"bypass", {256, 16}}, {"bypass-kernel", {256, 1, true}},
};

WORKLOAD(lud, "lud", .help = "blocked LU decomposition", .parameters = "n steps internal_only");
