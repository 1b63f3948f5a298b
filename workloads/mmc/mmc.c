/* Matrix product, blocked for the L1 cache. */
#include "product.h"

WORK_PTX(mmc, "mmc/mmc.ptx");

enum { TILE = 16 };

static void run(struct work *work) {
    int32_t n = (int32_t)work->size[0];
    uint64_t count = (uint64_t)n * (uint64_t)n, a, b, c;
    float *ha = WORK_NEW(work, float, count, &a), *hb = WORK_NEW(work, float, count, &b),
          *hc = WORK_NEW(work, float, count, &c);
    work_fill(work, ha, count, -1, 1);
    work_fill(work, hb, count, -1, 1);
    WORK_LAUNCH(work, "mmc_blocked", DIM(blocks_of(n, TILE), blocks_of(n, TILE)), DIM(TILE, TILE), HOST_U64(a),
                HOST_U64(b), HOST_U64(c), HOST_S32(n));
    if (work->verify)
        product_expect(work, "c", hc,
                       &(struct product){.a = ha, .b = hb, .alpha = 1, .rows = n, .depth = n, .columns = n});
}

static const struct work_size sizes[] = {
    {"tiny", {64}},
    {"small", {256}},
    {"bypass", {256}},
};

WORKLOAD(mmc, "mmc", .help = "matrix product, blocked for the L1", .parameters = "n");
