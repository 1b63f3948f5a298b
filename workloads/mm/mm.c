/* Matrix multiplication by tiles in shared memory. */
#include "product.h"

WORK_PTX(mm, "mm/mm.ptx");

enum { TILE = 16 };

static void run(struct work *work) {
    int64_t n = work->size[0], launches = work->size[1];
    uint64_t count = (uint64_t)(n * n), a, b, c;
    float *ha = WORK_NEW(work, float, count, &a), *hb = WORK_NEW(work, float, count, &b),
          *hc = WORK_NEW(work, float, count, &c);
    work_fill(work, ha, count, -1, 1);
    work_fill(work, hb, count, -1, 1);
    for (int64_t i = 0; i < launches; i++)
        WORK_LAUNCH(work, "mm_tiled", DIM(blocks_of(n, TILE), blocks_of(n, TILE)), DIM(TILE, TILE), HOST_U64(a),
                    HOST_U64(b), HOST_U64(c), HOST_S32((int32_t)n), HOST_S32((int32_t)n));
    if (work->verify)
        product_expect(work, "c", hc,
                       &(struct product){.a = ha, .b = hb, .alpha = 1, .rows = n, .depth = n, .columns = n});
}

/* s000: 1.9 MB shared, two kernels; mm_0 to mm_4: 0.04 to 3.8 MB. */
static const struct work_size sizes[] = {
    {"tiny", {64, 1}},   {"small", {272, 6}}, {"s000", {480, 2}}, {"mm_0", {64, 40}},
    {"mm_1", {112, 40}}, {"mm_2", {272, 8}},  {"mm_3", {480, 2}}, {"mm_4", {672, 1}},
};

WORKLOAD(mm, "mm", .help = "matrix multiply by tiles in shared memory", .parameters = "n launches");
