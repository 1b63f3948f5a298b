/* Matrix product, tiled in shared memory. */
#include "product.h"

WORK_PTX(mm, "mm/mm.ptx");

enum { TILE = 16 };

static void run(struct work *work) {
    int64_t n = work->size[0], depth = work->size[1], launches = work->size[2];
    uint64_t a, b, c;
    float *ha = WORK_NEW(work, float, n *depth, &a), *hb = WORK_NEW(work, float, depth *n, &b),
          *hc = WORK_NEW(work, float, n *n, &c);
    work_fill(work, ha, (uint64_t)(n * depth), -1, 1);
    work_fill(work, hb, (uint64_t)(depth * n), -1, 1);
    for (int64_t i = 0; i < launches; i++)
        WORK_LAUNCH(work, "mm_tiled", DIM(blocks_of(n, TILE), blocks_of(n, TILE)), DIM(TILE, TILE), HOST_U64(a),
                    HOST_U64(b), HOST_U64(c), HOST_S32((int32_t)depth), HOST_S32((int32_t)n));
    if (work->verify)
        product_expect(work, "c", hc,
                       &(struct product){.a = ha, .b = hb, .alpha = 1, .rows = n, .depth = depth, .columns = n});
}

/* adaptive: 1.9 MB shared, two kernels; mm_0 to mm_4: 0.04 to 3.8 MB. */
static const struct work_size sizes[] = {
    {"tiny", {64, 64, 1}},    {"small", {272, 272, 6}}, {"adaptive", {480, 480, 2}}, {"mm_0", {64, 64, 40}},
    {"mm_1", {112, 112, 40}}, {"mm_2", {272, 272, 8}},  {"mm_3", {480, 480, 2}},     {"mm_4", {512, 928, 1}},
};

WORKLOAD(mm, "mm", .help = "matrix product, tiled in shared memory", .parameters = "n depth launches");
