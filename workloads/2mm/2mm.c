/* D = (A B) C: two matrix products without tiling; the second reads the result of the first. */
#include "product.h"

WORK_PTX(mm2, "2mm/2mm.ptx");

enum { BLOCK_X = 32, BLOCK_Y = 8 };

static void multiply(struct work *work, uint64_t a, uint64_t b, uint64_t c, int32_t rows, int32_t n) {
    WORK_LAUNCH(work, "mm2_product", DIM(blocks_of(n, BLOCK_X), blocks_of(rows, BLOCK_Y)), DIM(BLOCK_X, BLOCK_Y),
                HOST_U64(a), HOST_U64(b), HOST_U64(c), HOST_S32(rows), HOST_S32(n), HOST_S32(n));
}

static void run(struct work *work) {
    int32_t n = (int32_t)work->size[0], rows = (int32_t)work->size[1];
    uint64_t square = (uint64_t)n * (uint64_t)n, part = (uint64_t)n * (uint64_t)rows, a, b, c, d, tmp;
    float *ha = WORK_NEW(work, float, part, &a), *hb = WORK_NEW(work, float, square, &b),
          *hc = WORK_NEW(work, float, square, &c), *hd = WORK_NEW(work, float, part, &d),
          *htmp = WORK_NEW(work, float, part, &tmp);
    float bound = 1 / sqrtf((float)n); /* keeps the factors of the second product at about 1 */
    work_fill(work, ha, part, -1, 1);
    work_fill(work, hb, square, -bound, bound);
    work_fill(work, hc, square, -1, 1);
    multiply(work, a, b, tmp, rows, n);
    multiply(work, tmp, c, d, rows, n);
    if (!work->verify) return;
    struct product product = {.alpha = 1, .rows = rows, .depth = n, .columns = n};
    product.a = ha, product.b = hb;
    product_expect(work, "tmp", htmp, &product);
    product.a = htmp, product.b = hc;
    product_expect(work, "d", hd, &product);
}

static const struct work_size sizes[] = {
    {"tiny", {64, 32}},
    {"small", {256, 128}},
    {"icc", {1024, 64}},
};

WORKLOAD(mm2, "2mm", .help = "two consecutive matrix products, without tiling", .parameters = "n rows");
