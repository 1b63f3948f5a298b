/* ResNet-50: the first layer and the first two blocks of the second stage, or only the part around the junction of
 * these blocks. Each launch is compared with a reference computed from the device's input to it. */
#include "work.h"

WORK_PTX(rn, "rn/rn.ptx");

enum { COLOURS = 3, WIDEST = 32 };

/* Feature maps: `count` squares of neurons. */
struct maps {
    uint64_t at;
    float *host;
    int64_t count, side;
};

static struct maps maps_new(struct work *work, int64_t count, int64_t side) {
    struct maps m = {.count = count, .side = side};
    m.host = WORK_NEW(work, float, count *side *side, &m.at);
    return m;
}

static struct maps maps_random(struct work *work, int64_t count, int64_t side, float low, float high) {
    struct maps m = maps_new(work, count, side);
    work_fill(work, m.host, (uint64_t)(count * side * side), low, high);
    return m;
}

/* A CTA computes a map, a thread the smallest tile of it that the CTA size allows. */
static int32_t tile_of(struct maps m) { return (int32_t)blocks_of(m.side, WIDEST); }
static struct dim block_of(struct maps m) {
    uint32_t width = m.side < WIDEST ? (uint32_t)m.side : WIDEST;
    return DIM(width, width);
}
#define LAUNCH_MAPS(work, kernel, out, ...) \
    WORK_LAUNCH(work, kernel, DIM((uint32_t)(out).count), block_of(out), __VA_ARGS__, HOST_S32((int32_t)(out).side), \
                HOST_S32(tile_of(out)))

/* Sums of up to some hundred products in float have a relative error below 1e-5 at magnitude 1. */
static void expect(struct work *work, const char *what, float found, double expected) {
    float value = (float)expected;
    work_expect_f32(work, what, &found, &value, 1, 1e-4, 1);
}

static double convolved(struct maps in, const float *weights, int64_t kernel, int64_t y0, int64_t x0) {
    double sum = 0;
    for (int64_t m = 0; m < in.count; m++)
        for (int64_t i = 0; i < kernel; i++)
            for (int64_t j = 0; j < kernel; j++)
                if (y0 + i >= 0 && y0 + i < in.side && x0 + j >= 0 && x0 + j < in.side)
                    sum += (double)in.host[(m * in.side + y0 + i) * in.side + x0 + j] *
                           (double)weights[(m * kernel + i) * kernel + j];
    return sum;
}

static struct maps convolve(struct work *work, struct maps in, int64_t kernel, int64_t stride, int64_t count) {
    int64_t taps = in.count * kernel * kernel;
    float most = 2 / sqrtf((float)taps);
    struct maps weights = maps_random(work, count * taps, 1, -most, most),
                out = maps_new(work, count, in.side / stride);
    const char *name = kernel == 1 ? "rn_convolve1" : kernel == 3 ? "rn_convolve3" : "rn_convolve7";
    WORK_LAUNCH(work, name, DIM((uint32_t)count), block_of(out), HOST_U64(in.at), HOST_U64(weights.at),
                HOST_U64(out.at), HOST_S32((int32_t)in.side), HOST_S32((int32_t)out.side), HOST_S32((int32_t)in.count),
                HOST_S32((int32_t)stride), HOST_S32(tile_of(out)));
    for (int64_t i = 0; work->verify && i < count * out.side * out.side && !work->wrong; i++) {
        int64_t y = i / out.side % out.side * stride - kernel / 2, x = i % out.side * stride - kernel / 2;
        expect(work, "convolved", out.host[i],
               convolved(in, weights.host + i / out.side / out.side * taps, kernel, y, x));
    }
    return out;
}

/* Batch normalisation, scale and rectification, in place, one kernel each; the first `steps` of them. */
enum { NORMALISED = 1, SCALED, RECTIFIED };
static void settle(struct work *work, struct maps m, int steps) {
    struct maps mean = maps_random(work, m.count, 1, -0.1f, 0.1f), variance = maps_random(work, m.count, 1, 0.5f, 2),
                gain = maps_random(work, m.count, 1, 0.5f, 2), shift = maps_random(work, m.count, 1, -0.1f, 0.1f);
    int64_t count = m.count * m.side * m.side;
    float *before = work_copy(m.host, (uint64_t)count * sizeof *before);
    LAUNCH_MAPS(work, "rn_normalise", m, HOST_U64(m.at), HOST_U64(mean.at), HOST_U64(variance.at));
    if (steps >= SCALED) LAUNCH_MAPS(work, "rn_scale", m, HOST_U64(m.at), HOST_U64(gain.at), HOST_U64(shift.at));
    if (steps >= RECTIFIED) LAUNCH_MAPS(work, "rn_rectify", m, HOST_U64(m.at));
    for (int64_t i = 0; work->verify && i < count && !work->wrong; i++) {
        int64_t k = i / m.side / m.side;
        double y = (double)(before[i] - mean.host[k]) / sqrt((double)variance.host[k] + 1e-5);
        if (steps >= SCALED) y = y * (double)gain.host[k] + (double)shift.host[k];
        expect(work, "settled", m.host[i], steps >= RECTIFIED ? fmax(y, 0) : y);
    }
    free(before);
}

static struct maps convolve_settled(struct work *work, struct maps in, int64_t kernel, int64_t stride, int64_t count,
                                    int steps) {
    struct maps out = convolve(work, in, kernel, stride, count);
    settle(work, out, steps);
    return out;
}

/* The end of a block: its result plus its shortcut. */
static void join(struct work *work, struct maps m, struct maps shortcut) {
    int64_t count = m.count * m.side * m.side;
    float *before = work_copy(m.host, (uint64_t)count * sizeof *before);
    LAUNCH_MAPS(work, "rn_add", m, HOST_U64(m.at), HOST_U64(shortcut.at));
    LAUNCH_MAPS(work, "rn_rectify", m, HOST_U64(m.at));
    for (int64_t i = 0; work->verify && i < count && !work->wrong; i++)
        expect(work, "joined", m.host[i], fmax((double)before[i] + (double)shortcut.host[i], 0));
    free(before);
}

static struct maps pool(struct work *work, struct maps in) {
    struct maps out = maps_new(work, in.count, in.side / 2);
    LAUNCH_MAPS(work, "rn_pool", out, HOST_U64(in.at), HOST_U64(out.at), HOST_S32((int32_t)in.side));
    for (int64_t i = 0; work->verify && i < out.count * out.side * out.side && !work->wrong; i++) {
        float most = -INFINITY;
        for (int64_t k = 0; k < 9; k++) {
            int64_t y = i / out.side % out.side * 2 + k / 3 - 1, x = i % out.side * 2 + k % 3 - 1;
            if (y >= 0 && y < in.side && x >= 0 && x < in.side)
                most = fmaxf(most, in.host[(i / out.side / out.side * in.side + y) * in.side + x]);
        }
        expect(work, "pooled", out.host[i], (double)most);
    }
    return out;
}

/* From the image to the end of the first block, which increases the number of maps; the caller adds its last sum. */
static struct maps first_block(struct work *work, int64_t side, int64_t wide, int64_t narrow, struct maps *shortcut) {
    struct maps image = maps_random(work, COLOURS, 4 * side, -1, 1);
    struct maps x = pool(work, convolve_settled(work, image, 7, 2, narrow, RECTIFIED));
    struct maps y = convolve_settled(work, x, 1, 1, narrow, RECTIFIED);
    y = convolve_settled(work, y, 3, 1, narrow, RECTIFIED);
    *shortcut = convolve_settled(work, x, 1, 1, wide, SCALED);
    return convolve_settled(work, y, 1, 1, wide, SCALED);
}

/* The last parameter: ten launches from the sum on; all from the image on; six, from one convolution to behind the next. */
enum { JUNCTION, FROM_IMAGE, CONVOLUTIONS };

static void run(struct work *work) {
    int64_t side = work->size[0], wide = work->size[1], narrow = work->size[2], part = work->size[3];
    struct maps x, shortcut;
    if (part == FROM_IMAGE) {
        x = first_block(work, side, wide, narrow, &shortcut);
    } else {
        x = maps_random(work, wide, side, -1, 1);
        shortcut = maps_random(work, wide, side, -1, 1);
    }
    if (part != CONVOLUTIONS) join(work, x, shortcut);
    struct maps y = convolve_settled(work, x, 1, 1, narrow, RECTIFIED);
    y = convolve_settled(work, y, 3, 1, narrow, part == CONVOLUTIONS ? NORMALISED : RECTIFIED);
    if (part != FROM_IMAGE) return;
    y = convolve_settled(work, y, 1, 1, wide, SCALED);
    join(work, y, x);
}

/* The original has side 56, 256 and 64 maps. */
static const struct work_size sizes[] = {
    {"tiny", {7, 8, 3, FROM_IMAGE}},
    {"small", {28, 64, 32, JUNCTION}},
    {"adaptive", {56, 256, 64, CONVOLUTIONS}},
    {"selrep", {56, 256, 64, JUNCTION}},
};

WORKLOAD(rn, "rn", .help = "ResNet-50, around the junction of two blocks", .parameters = "side wide narrow part");
