/* A neural network of four layers for handwritten digits, for many images at once. */
#include "work.h"

WORK_PTX(nn, "nn/nn.ptx");

/* A layer: CTAs per image, threads per CTA and weights; neurons read and written per image. */
struct layer {
    const char *kernel, *what;
    uint32_t units, side;
    int64_t inputs, weights;
};
enum { LAYERS = 4 };
static const struct layer layers[LAYERS] = {
    {"nn_layer1", "layer 1", 6, 13, 29 * 29, 26},
    {"nn_layer2", "layer 2", 50, 5, 6 * 13 * 13, 1 + 25 * 6},
    {"nn_layer3", "layer 3", 100, 1, 50 * 5 * 5, 1 + 1250},
    {"nn_layer4", "layer 4", 10, 1, 100, 1 + 100},
};

/* The stride between a unit's weights: layer 2 has space for a bias of each map, as in the original. */
static int64_t weight_stride(int layer) { return layer == 1 ? 26 * 6 : layers[layer].weights; }

/* The sum of products of neuron (x, y) of a unit. */
static double product_sum(int layer, const float *in, const float *w, int64_t x, int64_t y) {
    double sum = (double)w[0];
    if (layer == 0)
        for (int64_t i = 0; i < 25; i++) sum += (double)in[(2 * y + i / 5) * 29 + 2 * x + i % 5] * (double)w[1 + i];
    else if (layer == 1)
        for (int64_t i = 0; i < 150; i++)
            sum += (double)in[i % 6 * 169 + (2 * y + i / 30) * 13 + 2 * x + i / 6 % 5] * (double)w[1 + i];
    else
        for (int64_t i = 0; i < layers[layer].inputs; i++) sum += (double)in[i] * (double)w[1 + i];
    return sum;
}

/* All neurons of some images; layers 1 and 2 are square, so x and y follow from the index. */
static void verify(struct work *work, int layer, const float *in, const float *weights, const float *out,
                   uint32_t units, int64_t image) {
    const struct layer *l = &layers[layer];
    int64_t area = (int64_t)l->side * l->side;
    for (int64_t i = 0; i < units * area; i++) {
        const float *w = weights + i / area * weight_stride(layer);
        double sum = product_sum(layer, in + image * l->inputs, w, i % l->side, i % area / l->side);
        float expected = (float)(1.7159 * tanh(2.0 / 3.0 * sum));
        /* Up to 1,250 products below 1 added in float, and CUDA's tanh: about 1e-5. */
        work_expect_f32(work, l->what, &out[image * l->units * area + i], &expected, 1, 1e-4, 1);
    }
}

static void run(struct work *work) {
    int64_t images = work->size[0], layer_count = work->size[1], most = work->size[2];
    uint64_t from, weights, to;
    float *in = WORK_NEW(work, float, images *layers[0].inputs, &from);
    work_fill(work, in, (uint64_t)(images * layers[0].inputs), -1, 1);
    for (int k = 0; k < layer_count; k++, from = to) {
        const struct layer *l = &layers[k];
        int64_t weight_count = l->units * weight_stride(k), area = (int64_t)l->side * l->side;
        uint32_t units = l->units < most ? l->units : (uint32_t)most;
        float *w = WORK_NEW(work, float, weight_count, &weights),
              *out = WORK_NEW(work, float, images * l->units * area, &to);
        work_fill(work, w, (uint64_t)weight_count, -0.2f, 0.2f);
        WORK_LAUNCH(work, l->kernel, DIM(units, (uint32_t)images), DIM(l->side, l->side), HOST_U64(from),
                    HOST_U64(weights), HOST_U64(to));
        for (int64_t i = 0; work->verify && i < images && !work->wrong; i += 1 + images / 100)
            verify(work, k, in, w, out, units, i);
        in = out;
    }
}

/* 768 images have 5.7 MB of neurons read by several SMs. The largest sizes compute only some filters of layer 2. */
static const struct work_size sizes[] = {
    {"tiny", {2, 4, 3}},       {"small", {128, 2, 100}}, {"adaptive", {768, 2, 100}},
    {"selrep", {768, 2, 100}}, {"nn_0", {80, 2, 100}},   {"nn_1", {384, 2, 100}},
    {"nn_2", {768, 2, 100}},   {"nn_3", {1536, 2, 40}},  {"nn_4", {3072, 2, 15}},
};

WORKLOAD(nn, "nn", .help = "neural network for digit recognition", .parameters = "images layers units");
