/* C = alpha A A' + beta C; the lanes of a warp are one row of A apart. */
#include "product.h"

WORK_PTX(syrk, "syrk/syrk.ptx");

enum { BLOCK_X = 32, BLOCK_Y = 8 };
static const float ALPHA = 1.5f, BETA = 1.25f;

/* The first `steps` columns of A, as rows. */
static float *transpose(const float *a, int64_t n, int64_t steps) {
    float *t = mem_alloc((size_t)(n * steps), sizeof *t);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < steps; k++) t[k * n + i] = a[i * n + k];
    return t;
}

/* The grid covers the first `rows` rows of C, the loop the first `steps` columns of A. */
static void run(struct work *work) {
    int32_t n = (int32_t)work->size[0], rows = (int32_t)work->size[1], steps = (int32_t)work->size[2];
    uint64_t count = (uint64_t)n * (uint64_t)n, a, c;
    float *ha = WORK_NEW(work, float, count, &a), *hc = WORK_NEW(work, float, count, &c);
    work_fill(work, ha, count, -1, 1);
    work_fill(work, hc, count, -1, 1);
    float *c0 = work_copy(hc, count * sizeof *hc);
    WORK_LAUNCH(work, "syrk", DIM(blocks_of(n, BLOCK_X), blocks_of(rows, BLOCK_Y)), DIM(BLOCK_X, BLOCK_Y), HOST_U64(a),
                HOST_U64(c), HOST_F32(ALPHA), HOST_F32(BETA), HOST_S32(n), HOST_S32(n), HOST_S32(steps));
    if (work->verify) {
        float *transposed = transpose(ha, n, steps);
        struct product product = {ha,           transposed,     c0,           ALPHA,      BETA,
                                  .rows = rows, .depth = steps, .columns = n, .stride = n};
        product_expect(work, "c", hc, &product);
        free(transposed);
    }
    free(c0);
}

static const struct work_size sizes[] = {
    {"tiny", {64, 64, 64}},
    {"small", {256, 64, 128}},
    {"icc", {256, 256, 256}},
};

WORKLOAD(syrk, "syrk", .help = "product of a matrix and its transpose; uncoalesced, lanes one row apart",
         .parameters = "n rows steps");
