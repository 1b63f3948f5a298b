/* C = alpha A B + beta C without tiling. */
#include "product.h"

WORK_PTX(gemm, "gemm/gemm.ptx");

enum { BLOCK_X = 32, BLOCK_Y = 8 };
static const float ALPHA = 1.5f, BETA = 1.25f;

static void run(struct work *work) {
    int32_t n = (int32_t)work->size[0];
    uint64_t count = (uint64_t)n * (uint64_t)n, a, b, c;
    float *ha = WORK_NEW(work, float, count, &a), *hb = WORK_NEW(work, float, count, &b),
          *hc = WORK_NEW(work, float, count, &c);
    work_fill(work, ha, count, -1, 1);
    work_fill(work, hb, count, -1, 1);
    work_fill(work, hc, count, -1, 1);
    float *c0 = work_copy(hc, count * sizeof *hc);
    WORK_LAUNCH(work, "gemm", DIM(blocks_of(n, BLOCK_X), blocks_of(n, BLOCK_Y)), DIM(BLOCK_X, BLOCK_Y), HOST_U64(a),
                HOST_U64(b), HOST_U64(c), HOST_F32(ALPHA), HOST_F32(BETA), HOST_S32(n), HOST_S32(n), HOST_S32(n));
    if (work->verify)
        product_expect(
            work, "c", hc,
            &(struct product){ha, hb, c0, .alpha = ALPHA, .beta = BETA, .rows = n, .depth = n, .columns = n});
    free(c0);
}

static const struct work_size sizes[] = {
    {"tiny", {64}}, {"small", {320}}, {"adaptive", {480}}, {"icc", {512}}, {"selrep", {480}},
};

WORKLOAD(gemm, "gemm", .help = "matrix product without tiling, sums kept in memory", .parameters = "n");
