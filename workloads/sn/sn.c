/* The first layer of SqueezeNet: 7 x 7 taps of three colours, in double precision. */
#include "work.h"

WORK_PTX(sn, "sn/sn.ptx");

enum { KERNEL = 7, TAPS = KERNEL * KERNEL, COLOURS = 3 };

/* One neuron, tap by tap. */
static double reference(const double *weights, int32_t *const *planes, int64_t in_side, int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t c = 0; c < COLOURS; c++)
        for (int64_t k = 0; k < TAPS; k++)
            sum += planes[c][(row * 2 + k / KERNEL) * in_side + column * 2 + k % KERNEL] * weights[c * TAPS + k];
    return fmax(sum, 0);
}

static void verify(struct work *work, const double *weights, const double *maps, int32_t *const *planes) {
    int64_t side = work->size[0], filters = work->size[1];
    for (int64_t i = 0; i < filters * side * side && !work->wrong; i++) {
        int64_t row = i / side % side, column = i % side;
        double expected = reference(weights + i / side / side * TAPS * COLOURS, planes, 2 * side + 5, row, column);
        /* 147 products below 255, added in another order and partly fused: about 1e-14 of the largest sums */
        work_expect_f64(work, "map", &maps[i], &expected, 1, 1e-12, 255);
    }
}

static void run(struct work *work) {
    int64_t side = work->size[0], filters = work->size[1], in_side = 2 * side + 5;
    uint64_t planes[COLOURS], weights, maps;
    int32_t *host_planes[COLOURS];
    for (int c = 0; c < COLOURS; c++) {
        host_planes[c] = WORK_NEW(work, int32_t, in_side * in_side, &planes[c]);
        for (int64_t i = 0; i < in_side * in_side; i++) host_planes[c][i] = (int32_t)work_below(work, 256);
    }
    double *host_weights = WORK_NEW(work, double, filters *TAPS *COLOURS, &weights),
           *host_maps = WORK_NEW(work, double, filters *side *side, &maps);
    for (int64_t i = 0; i < filters * TAPS * COLOURS; i++) host_weights[i] = (double)work_between(work, -1, 1);
    WORK_LAUNCH(work, "sn_first", DIM((uint32_t)side), DIM((uint32_t)side), HOST_U64(weights), HOST_U64(maps),
                HOST_U64(planes[0]), HOST_U64(planes[1]), HOST_U64(planes[2]), HOST_S32((int32_t)in_side),
                HOST_S32((int32_t)side), HOST_S32((int32_t)filters));
    if (work->verify) verify(work, host_weights, host_maps, host_planes);
}

/* The original has a side of 111: 227 x 227 pixels. */
static const struct work_size sizes[] = {
    {"tiny", {31, 2}},
    {"small", {111, 4}},
    {"adaptive", {111, 48}},
    {"selrep", {111, 48}},
};

WORKLOAD(sn, "sn", .help = "first layer of SqueezeNet, in double precision", .parameters = "side filters");
