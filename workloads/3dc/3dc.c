/* 3-D convolution, one launch per plane. */
#include "work.h"

WORK_PTX(conv3d, "3dc/3dc.ptx");

enum { BLOCK_X = 32, BLOCK_Y = 8 };

/* The stencil: offsets and weight of each point; the kernel adds the weights -1 and 21 in three parts each. */
static const struct {
    int i, j, k, weight;
} taps[] = {
    {-1, -1, -1, -1}, {1, -1, -1, 21}, {0, -1, 0, -3}, {0, 0, 0, 6},   {0, 1, 0, -9}, {-1, -1, 1, 2},
    {1, -1, 1, 4},    {-1, 0, 1, 5},   {1, 0, 1, 7},   {-1, 1, 1, -8}, {1, 1, 1, 10},
};

/* Fifteen roundings, each to 2^-24 of a sum below 90, the sum of the magnitudes of the kernel's weights. */
static const double TOLERANCE = 1e-6, WEIGHTS = 90;

static float convolve(const float *a, int64_t nj, int64_t nk) {
    double sum = 0;
    for (unsigned t = 0; t < COUNT_OF(taps); t++)
        sum += (double)taps[t].weight * a[(taps[t].i * nj + taps[t].j) * nk + taps[t].k];
    return (float)sum;
}

static void run(struct work *work) {
    int64_t ni = work->size[0], nj = work->size[1], nk = work->size[2];
    uint64_t count = (uint64_t)(ni * nj * nk), a, b;
    float *ha = WORK_NEW(work, float, count, &a), *hb = WORK_NEW(work, float, count, &b);
    work_fill(work, ha, count, -1, 1);
    for (int64_t i = 1; i < ni - 1; i++)
        WORK_LAUNCH(work, "conv3d", DIM(blocks_of(nk, BLOCK_X), blocks_of(nj, BLOCK_Y)), DIM(BLOCK_X, BLOCK_Y),
                    HOST_U64(a), HOST_U64(b), HOST_S32((int32_t)nj), HOST_S32((int32_t)nk), HOST_S32((int32_t)i));
    if (!work->verify) return;
    float *row = mem_alloc((size_t)nk, sizeof *row);
    for (int64_t i = 0; i < ni; i++)
        for (int64_t j = 0; j < nj && !work->wrong; j++) {
            int64_t start = (i * nj + j) * nk;
            bool inside = i > 0 && i < ni - 1 && j > 0 && j < nj - 1;
            for (int64_t k = 0; k < nk; k++)
                row[k] = inside && k > 0 && k < nk - 1 ? convolve(ha + start + k, nj, nk) : 0;
            work_expect_f32(work, "b", hb + start, row, (uint64_t)nk, TOLERANCE, WEIGHTS);
        }
    free(row);
}

static const struct work_size sizes[] = {
    {"tiny", {8, 64, 64}},    {"small", {46, 256, 256}},  {"adaptive", {50, 512, 512}},
    {"icc", {194, 256, 256}}, {"selrep", {50, 512, 512}},
};

WORKLOAD(conv3d, "3dc", .aliases = "3dconv", .help = "3-D convolution, one launch per plane",
         .parameters = "planes rows columns");
