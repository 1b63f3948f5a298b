/* Matrix product, tiled in shared memory. */
#include "product.h"

WORK_PTX(mm, "mm/mm.ptx");

/* The kernel for a width of tiles; 0: without tiles. */
struct variant {
    const char *name;
    uint32_t side; /* of a CTA */
};
static struct variant variant_of(int64_t tile) {
    if (!tile) return (struct variant){"mm_untiled", 16};
    return tile == 32 ? (struct variant){"mm_tiled32", 32} : (struct variant){"mm_tiled", 16};
}

static void run(struct work *work) {
    int64_t n = work->size[0], depth = work->size[1], launches = work->size[2];
    struct variant variant = variant_of(work->size[3]);
    uint64_t a, b, c;
    float *ha = WORK_NEW(work, float, n *depth, &a), *hb = WORK_NEW(work, float, depth *n, &b),
          *hc = WORK_NEW(work, float, n *n, &c);
    work_fill(work, ha, (uint64_t)(n * depth), -1, 1);
    work_fill(work, hb, (uint64_t)(depth * n), -1, 1);
    for (int64_t i = 0; i < launches; i++)
        WORK_LAUNCH(work, variant.name, DIM(blocks_of(n, variant.side), blocks_of(n, variant.side)),
                    DIM(variant.side, variant.side), HOST_U64(a), HOST_U64(b), HOST_U64(c), HOST_S32((int32_t)depth),
                    HOST_S32((int32_t)n));
    if (work->verify)
        product_expect(work, "c", hc,
                       &(struct product){.a = ha, .b = hb, .alpha = 1, .rows = n, .depth = depth, .columns = n});
}

/* adaptive: 1.9 MB shared, two kernels; mm_0 to mm_4: 0.04 to 3.8 MB. The others have the sizes of mm_1 to mm_3, rounded
 * to their tiles. */
static const struct work_size sizes[] = {
    {"tiny", {64, 64, 1, 16}},          {"small", {272, 272, 6, 16}},       {"adaptive", {480, 480, 2, 16}},
    {"mm_0", {64, 64, 40, 16}},         {"mm_1", {112, 112, 40, 16}},       {"mm_2", {272, 272, 8, 16}},
    {"mm_3", {480, 480, 2, 16}},        {"mm_4", {512, 928, 1, 16}},        {"mm_1-tile32", {128, 128, 40, 32}},
    {"mm_2-tile32", {288, 288, 8, 32}}, {"mm_3-tile32", {480, 480, 2, 32}}, {"mm_1-untiled", {112, 112, 20, 0}},
    {"mm_2-untiled", {272, 272, 4, 0}}, {"mm_3-untiled", {480, 480, 1, 0}}, {"tiny-tile32", {64, 64, 1, 32}},
    {"tiny-untiled", {64, 64, 1, 0}},
};

WORKLOAD(mm, "mm", .help = "matrix product, tiled in shared memory", .parameters = "n depth launches tile");
