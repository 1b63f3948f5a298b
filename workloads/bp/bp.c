/* Back propagation between an input layer and 16 hidden units. */
#include "work.h"

WORK_PTX(bp, "bp/bp.ptx");

enum { SIDE = 16, HIDDEN = 16, ROW = HIDDEN + 1 };
static const double RATE = 0.3, MOMENTUM = 0.3;

static float squash(float x) { return 1 / (1 + expf(-x)); }

/* The error of the hidden units from the partial sums: forward to one output and back. */
static void hidden_deltas(struct work *work, const float *weights, const float *partial, int64_t parts, float *delta) {
    float hidden[ROW], out[ROW], sum = 0;
    work_fill(work, out, ROW, 0, 1);
    for (int j = 1; j < ROW; j++) {
        hidden[j] = weights[j]; /* the weight of the bias */
        for (int64_t k = 0; k < parts; k++) hidden[j] += partial[k * HIDDEN + j - 1];
        hidden[j] = squash(hidden[j]);
        sum += hidden[j] * out[j];
    }
    float output = squash(sum + out[0]), error = output * (1 - output) * (0.1f - output);
    for (int j = 1; j < ROW; j++) delta[j] = hidden[j] * (1 - hidden[j]) * error * out[j];
}

/* 16 products are added: the error is a few units in the last place of numbers below 1. */
static void verify_forward(struct work *work, const float *input, const float *weights, const float *partial,
                           int64_t n) {
    for (int64_t k = 0; k < n / SIDE; k++)
        for (int j = 0; j < HIDDEN; j++) {
            double sum = 0;
            for (int64_t i = k * SIDE + 1; i <= (k + 1) * SIDE; i++)
                sum += (double)input[i] * (double)weights[i * ROW + j + 1];
            float expected = (float)sum;
            work_expect_f32(work, "partial", &partial[k * HIDDEN + j], &expected, 1, 2e-6, 1);
        }
}

static void verify_adjust(struct work *work, const float *input, const float *delta, const float *const before[2],
                          const float *const after[2], int64_t n) {
    for (int64_t i = 0; i <= n; i++)
        for (int j = 1; j < ROW; j++) {
            int64_t at = i * ROW + j;
            double change = RATE * (double)delta[j] * (double)input[i] + MOMENTUM * (double)before[1][at];
            float expected[2] = {(float)((double)before[0][at] + change), (float)change};
            work_expect_f32(work, "weights", &after[0][at], &expected[0], 1, 1e-6, 1);
            work_expect_f32(work, "old", &after[1][at], &expected[1], 1, 1e-6, 0.1);
        }
}

static void run(struct work *work) {
    int64_t n = work->size[0], parts = n / SIDE;
    uint64_t input, weights, old, partial, delta, count = (uint64_t)((n + 1) * ROW);
    float *hinput = WORK_NEW(work, float, n + 1, &input), *hweights = WORK_NEW(work, float, count, &weights),
          *hold = WORK_NEW(work, float, count, &old), *hpartial = WORK_NEW(work, float, parts *HIDDEN, &partial),
          *hdelta = WORK_NEW(work, float, ROW, &delta);
    work_fill(work, hinput, (uint64_t)n + 1, 0, 1);
    work_fill(work, hweights, count, -1, 1);
    work_fill(work, hold, count, -0.1f, 0.1f);
    hinput[0] = 1; /* the bias */
    float *weights0 = work_copy(hweights, count * sizeof(float)), *old0 = work_copy(hold, count * sizeof(float));
    struct dim grid = DIM(1, (uint32_t)parts), block = DIM(SIDE, SIDE);
    for (int64_t i = 0; i < work->size[1]; i++) {
        WORK_LAUNCH(work, "bp_forward", grid, block, HOST_U64(input), HOST_U64(weights), HOST_U64(partial),
                    HOST_S32(HIDDEN));
        if (work->verify) verify_forward(work, hinput, weights0, hpartial, n);
        hidden_deltas(work, weights0, hpartial, parts, hdelta);
        /* The kernel stored products in place of the weights. */
        memcpy(hweights, weights0, count * sizeof(float));
        WORK_LAUNCH(work, "bp_adjust", grid, block, HOST_U64(delta), HOST_S32(HIDDEN), HOST_U64(input),
                    HOST_U64(weights), HOST_U64(old));
        if (work->verify)
            verify_adjust(work, hinput, hdelta, (const float *[]){weights0, old0}, (const float *[]){hweights, hold},
                          n);
        memcpy(weights0, hweights, count * sizeof(float));
        memcpy(old0, hold, count * sizeof(float));
    }
    free(weights0);
    free(old0);
}

static const struct work_size sizes[] = {{"tiny", {512, 1}},  {"small", {65536, 4}},   {"adaptive", {229376, 1}},
                                         {"icc", {65536, 1}}, {"selrep", {229376, 1}}, {"bypass", {65536, 1}}};

WORKLOAD(bp, "bp", .aliases = "backprop", .help = "back propagation; streams weights", .parameters = "inputs rounds");
