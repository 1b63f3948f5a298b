/* AlexNet, layer by layer. Each layer is compared with a reference computed from the device's input to that layer. */
#include "work.h"

WORK_PTX(an, "an/an.ptx");

enum { COLOURS = 3, FIRST_KERNEL = 11, FIRST_STRIDE = 4, QUARTER = 32 };

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

/* Random weights, small enough that sums of `inputs` products stay near 1. */
static struct maps weights_new(struct work *work, int64_t outputs, int64_t inputs) {
    struct maps w = maps_new(work, outputs * inputs, 1);
    float most = 2 / sqrtf((float)inputs);
    work_fill(work, w.host, (uint64_t)w.count, -most, most);
    return w;
}

/* The arrays and parameters of a layer, for its launches and its reference. */
struct layer {
    struct maps in, out, weights, bias;
    int64_t kernel, groups, computed; /* output maps computed per group */
};

static float rectified(double sum) { return sum < 0 ? 0 : (float)sum; }

static float first_neuron(const struct layer *l, int64_t map, int64_t row, int64_t column) {
    double sum = (double)l->bias.host[map];
    for (int64_t i = 0; i < FIRST_KERNEL; i++)
        for (int64_t j = 0; j < FIRST_KERNEL * COLOURS;
             j++) { /* the colours of a pixel are interleaved, those of a weight are not */
            const float *pixel =
                l->in.host + (row * FIRST_STRIDE + i) * l->in.side * COLOURS + column * FIRST_STRIDE * COLOURS;
            int64_t w = ((map * COLOURS + j % COLOURS) * FIRST_KERNEL + i) * FIRST_KERNEL + j / COLOURS;
            sum += (double)pixel[j] * (double)l->weights.host[w];
        }
    return rectified(sum);
}

static float convolved_neuron(const struct layer *l, int64_t map, int64_t row, int64_t column) {
    int64_t side = l->in.side, inputs = l->in.count / l->groups, first = map / (l->out.count / l->groups) * inputs;
    double sum = (double)l->bias.host[map];
    for (int64_t m = 0; m < inputs; m++)
        for (int64_t i = 0; i < l->kernel; i++)
            for (int64_t j = 0; j < l->kernel; j++) {
                int64_t y = row + i - l->kernel / 2, x = column + j - l->kernel / 2;
                if (y < 0 || y >= side || x < 0 || x >= side) continue;
                float weight = l->weights.host[((map * inputs + m) * l->kernel + i) * l->kernel + j];
                sum += (double)l->in.host[((first + m) * side + y) * side + x] * (double)weight;
            }
    return rectified(sum);
}

static float normalised_neuron(const struct layer *l, int64_t map, int64_t row, int64_t column) {
    int64_t area = l->in.side * l->in.side, here = row * l->in.side + column;
    double sum = 0;
    for (int64_t m = map - 2; m <= map + 2; m++)
        if (m >= 0 && m < l->in.count) sum += pow((double)l->in.host[m * area + here], 2);
    return (float)((double)l->in.host[map * area + here] / pow(1 + 1e-4 / 5 * sum, 0.75));
}

static float pooled_neuron(const struct layer *l, int64_t map, int64_t row, int64_t column) {
    float most = 0;
    for (int64_t i = 0; i < 9; i++)
        most = fmaxf(most, l->in.host[(map * l->in.side + row * 2 + i / 3) * l->in.side + column * 2 + i % 3]);
    return most;
}

static float connected_neuron(const struct layer *l, int64_t unit, int64_t row, int64_t column) {
    (void)row, (void)column;
    int64_t inputs = l->weights.count / l->out.count;
    double sum = (double)l->bias.host[unit];
    for (int64_t i = 0; i < inputs; i++) sum += (double)l->in.host[i] * (double)l->weights.host[unit * inputs + i];
    return l->groups ? rectified(sum) : (float)sum; /* the last layer does not rectify */
}

typedef float neuron(const struct layer *, int64_t map, int64_t row, int64_t column);

/* Compares the device's result, or computes it on the host if the device does not. Sums of up to 9,216 products in
 * float have a relative error of about 1e-5 at magnitude 1. */
static void settle(struct work *work, const char *what, const struct layer *l, neuron *reference, bool device) {
    if (device && !work->verify) return;
    int64_t side = l->out.side, group = l->groups > 1 ? l->out.count / l->groups : l->out.count;
    for (int64_t i = 0; i < l->out.count * side * side && !work->wrong; i++) {
        int64_t map = i / side / side;
        if (l->computed && map % group >= l->computed) continue;
        float expected = reference(l, map, i / side % side, i % side);
        if (device)
            work_expect_f32(work, what, &l->out.host[i], &expected, 1, 1e-4, 1);
        else
            l->out.host[i] = expected;
    }
}

/* The original covers maps that are too large for a CTA with four launches. */
#define FOR_QUARTERS(side, row0, column0) \
    for (int64_t row0 = 0; row0 < (side); row0 += QUARTER) \
        for (int64_t column0 = 0; column0 < (side); column0 += QUARTER)
static uint32_t part(int64_t side, int64_t from) { return (uint32_t)(side - from < QUARTER ? side - from : QUARTER); }

static struct maps first(struct work *work, int64_t count, int64_t side) {
    int64_t in_side = (side - 1) * FIRST_STRIDE + FIRST_KERNEL, inputs = COLOURS * FIRST_KERNEL * FIRST_KERNEL;
    struct layer l = {.in = maps_new(work, COLOURS, in_side), .out = maps_new(work, count, side)};
    work_fill(work, l.in.host, (uint64_t)(COLOURS * in_side * in_side), -1, 1);
    l.weights = weights_new(work, count, inputs), l.bias = weights_new(work, count, 1);
    FOR_QUARTERS(side, row0, column0) {
        WORK_LAUNCH(work, "an_first", DIM((uint32_t)count), DIM(part(side, row0), part(side, column0)),
                    HOST_U64(l.bias.at), HOST_U64(l.in.at), HOST_U64(l.weights.at), HOST_U64(l.out.at),
                    HOST_S32((int32_t)in_side), HOST_S32((int32_t)side), HOST_S32((int32_t)row0),
                    HOST_S32((int32_t)column0));
    }
    settle(work, "first layer", &l, first_neuron, true);
    return l.out;
}

static struct maps normalise(struct work *work, struct maps in, bool device) {
    struct layer l = {.in = in, .out = maps_new(work, in.count, in.side)};
    FOR_QUARTERS(in.side, row0, column0) {
        if (device)
            WORK_LAUNCH(work, "an_normalise", DIM((uint32_t)in.count), DIM(part(in.side, row0), part(in.side, column0)),
                        HOST_U64(in.at), HOST_U64(l.out.at), HOST_S32((int32_t)in.count), HOST_S32((int32_t)in.side),
                        HOST_S32((int32_t)row0), HOST_S32((int32_t)column0));
    }
    settle(work, "normalised", &l, normalised_neuron, device);
    return l.out;
}

static struct maps pool(struct work *work, struct maps in, bool device) {
    struct layer l = {.in = in, .out = maps_new(work, in.count, (in.side - 1) / 2)};
    uint32_t side = (uint32_t)l.out.side;
    if (device)
        WORK_LAUNCH(work, "an_pool", DIM((uint32_t)in.count), DIM(side, side), HOST_U64(in.at), HOST_U64(l.out.at),
                    HOST_S32((int32_t)in.side), HOST_U32(side));
    settle(work, "pooled", &l, pooled_neuron, device);
    return l.out;
}

/* One launch per group; at most `most` output maps of each. */
static struct maps convolve(struct work *work, struct maps in, int64_t kernel, int64_t groups, int64_t count,
                            int64_t most) {
    int64_t inputs = in.count / groups, group = count / groups;
    struct layer l = {.in = in,
                      .out = maps_new(work, count, in.side),
                      .weights = weights_new(work, count, inputs * kernel * kernel),
                      .bias = weights_new(work, count, 1),
                      .kernel = kernel,
                      .groups = groups,
                      .computed = group < most ? group : most};
    uint32_t side = (uint32_t)in.side;
    for (int64_t g = 0; g < groups; g++)
        WORK_LAUNCH(work, kernel == 5 ? "an_convolve5" : "an_convolve3", DIM((uint32_t)l.computed), DIM(side, side),
                    HOST_U64(l.bias.at), HOST_U64(in.at), HOST_U64(l.weights.at), HOST_U64(l.out.at), HOST_U32(side),
                    HOST_S32((int32_t)inputs), HOST_S32((int32_t)(g * inputs)), HOST_S32((int32_t)(g * group)));
    settle(work, "convolved", &l, convolved_neuron, true);
    return l.out;
}

static struct maps connect(struct work *work, struct maps in, int64_t units, bool relu) {
    int64_t inputs = in.count * in.side * in.side;
    struct layer l = {.in = in,
                      .out = maps_new(work, units, 1),
                      .weights = weights_new(work, units, inputs),
                      .bias = weights_new(work, units, 1),
                      .groups = relu};
    WORK_LAUNCH(work, "an_connect", DIM((uint32_t)units), DIM(1), HOST_U64(l.bias.at), HOST_U64(in.at),
                HOST_U64(l.weights.at), HOST_U64(l.out.at), HOST_S32((int32_t)inputs), HOST_S32(relu));
    settle(work, "connected", &l, connected_neuron, true);
    return l.out;
}

/* Without `whole` the device only executes the convolutions of the first two layers, which take most of the time. */
static void run(struct work *work) {
    int64_t side = work->size[0], shrink = work->size[1], whole = work->size[2], most = work->size[3];
    int64_t half = 48 / shrink; /* of the first layer's 96 maps; the other layers scale with it */
    struct maps m = first(work, 2 * half, side);
    m = pool(work, normalise(work, m, whole), whole);
    m = convolve(work, m, 5, 2, 2 * (128 / shrink), most);
    if (!whole) return;
    m = pool(work, normalise(work, m, true), true);
    m = convolve(work, m, 3, 1, 2 * (192 / shrink), most);
    m = convolve(work, m, 3, 2, 2 * (192 / shrink), most);
    m = pool(work, convolve(work, m, 3, 2, 2 * (128 / shrink), most), true);
    m = connect(work, m, 4096 / shrink, true);
    m = connect(work, m, 4096 / shrink, true);
    connect(work, m, 1000 / shrink, false);
}

/* The original has a side of 55: 227 x 227 pixels. */
static const struct work_size sizes[] = {
    {"tiny", {15, 48, 1, 64}}, {"small", {19, 1, 0, 32}},  {"adaptive", {55, 1, 0, 56}},
    {"icc", {55, 1, 0, 56}},   {"selrep", {55, 1, 0, 56}},
};

WORKLOAD(an, "an", .help = "AlexNet, mainly its first two layers", .parameters = "side shrink whole most");
