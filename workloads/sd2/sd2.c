/* Speckle-reducing anisotropic diffusion, tiled. */
#include "work.h"

WORK_PTX(sd2, "sd2/sd2.ptx");

enum { SIDE = 16, REGION = 128 };
static const float LAMBDA = 0.5f;

/* The speckle of the upper left corner of the image: variance over squared mean. */
static float speckle(const float *image, int64_t n) {
    int64_t side = n < REGION ? n : REGION;
    double sum = 0, squares = 0, count = (double)(side * side);
    for (int64_t y = 0; y < side; y++)
        for (int64_t x = 0; x < side; x++) {
            double j = (double)image[y * n + x];
            sum += j, squares += j * j;
        }
    double mean = sum / count;
    return (float)((squares / count - mean * mean) / (mean * mean));
}

/* One iteration on the whole image; c and flow are buffers for coefficients and derivatives. */
static void iterate(float *image, float *c, float (*flow)[4], int64_t n) {
    float q0 = speckle(image, n);
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            int64_t i = y * n + x;
            float j = image[i], *d = flow[i];
            d[0] = image[y > 0 ? i - n : i] - j, d[1] = image[y < n - 1 ? i + n : i] - j;
            d[2] = image[x > 0 ? i - 1 : i] - j, d[3] = image[x < n - 1 ? i + 1 : i] - j;
            float g2 = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]) / (j * j);
            float l = (d[0] + d[1] + d[2] + d[3]) / j;
            float q = (g2 / 2 - l * l / 16) / ((1 + l / 4) * (1 + l / 4));
            c[i] = fminf(fmaxf(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0), 1);
        }
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            int64_t i = y * n + x;
            float south = c[y < n - 1 ? i + n : i], east = c[x < n - 1 ? i + 1 : i];
            const float *d = flow[i];
            image[i] += LAMBDA / 4 * (c[i] * d[0] + south * d[1] + c[i] * d[2] + east * d[3]);
        }
}

static void verify(struct work *work, const float *found, float *image, int64_t n) {
    float *c = mem_alloc((size_t)(n * n), sizeof *c), (*flow)[4] = mem_alloc((size_t)(n * n), sizeof *flow);
    for (int64_t i = 0; i < work->size[1]; i++) iterate(image, c, flow, n);
    /* Values between 1 and e: a few units in the last place per iteration, more where q is a difference of equals. */
    work_expect_f32(work, "image", found, image, (uint64_t)(n * n), 1e-5, 1);
    free(c);
    free(flow);
}

static void run(struct work *work) {
    int64_t n = work->size[0];
    uint64_t count = (uint64_t)(n * n), image, c, d[4];
    float *himage = WORK_NEW(work, float, count, &image);
    c = work_alloc(work, count * sizeof(float));
    for (int i = 0; i < 4; i++) d[i] = work_alloc(work, count * sizeof(float));
    for (uint64_t i = 0; i < count; i++) himage[i] = expf(work_between(work, 0, 1));
    float *first = work_copy(himage, count * sizeof *himage);
    struct dim grid = DIM((uint32_t)(n / SIDE), (uint32_t)(n / SIDE)), block = DIM(SIDE, SIDE);
    struct host_argument side = HOST_S32((int32_t)n);
    for (int64_t i = 0; i < work->size[1]; i++) {
        WORK_LAUNCH(work, "sd2_coefficient", grid, block, HOST_U64(d[0]), HOST_U64(d[1]), HOST_U64(d[2]),
                    HOST_U64(d[3]), HOST_U64(image), HOST_U64(c), side, side, HOST_F32(speckle(himage, n)));
        WORK_LAUNCH(work, "sd2_update", grid, block, HOST_U64(d[0]), HOST_U64(d[1]), HOST_U64(d[2]), HOST_U64(d[3]),
                    HOST_U64(image), HOST_U64(c), side, side, HOST_F32(LAMBDA));
    }
    if (work->verify) verify(work, himage, first, n);
    free(first);
}

static const struct work_size sizes[] = {{"tiny", {64, 2}}, {"small", {512, 2}}, {"bypass", {2048, 1}}};

WORKLOAD(sd2, "sd2", .aliases = "srad_v2", .help = "speckle-reducing anisotropic diffusion, tiled",
         .parameters = "n iterations");
