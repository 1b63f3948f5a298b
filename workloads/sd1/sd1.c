/* Speckle-reducing anisotropic diffusion with index arrays for neighbours. */
#include "work.h"

WORK_PTX(sd1, "sd1/sd1.ptx");

enum { THREADS = 512 };
static const float LAMBDA = 0.5f;

/* The neighbours before and after each of `count` positions; the ends are their own neighbours. */
static void make_neighbours(struct work *work, int64_t count, uint64_t *before, uint64_t *after) {
    int32_t *b = WORK_NEW(work, int32_t, count, before), *a = WORK_NEW(work, int32_t, count, after);
    for (int32_t i = 0; i < count; i++) b[i] = i > 0 ? i - 1 : 0, a[i] = i < count - 1 ? i + 1 : i;
}

/* Iterations on the whole image, in double; the image is stored by columns. */
static void reference(const float *picture, float *result, int64_t rows, int64_t columns, int64_t iterations) {
    int64_t count = rows * columns;
    double *j = mem_alloc((size_t)count, sizeof *j), *c = mem_alloc((size_t)count, sizeof *c);
    double *flow = mem_alloc((size_t)count, 4 * sizeof *flow);
    for (int64_t i = 0; i < count; i++) j[i] = exp((double)picture[i] / 255);
    for (int64_t n = 0; n < iterations; n++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < count; i++) sum += j[i], squares += j[i] * j[i];
        double mean = sum / (double)count, q0 = (squares / (double)count - mean * mean) / (mean * mean);
        for (int64_t i = 0; i < count; i++) {
            int64_t row = i % rows, column = i / rows;
            double *d = flow + 4 * i;
            d[0] = (row > 0 ? j[i - 1] : j[i]) - j[i];
            d[1] = (row < rows - 1 ? j[i + 1] : j[i]) - j[i];
            d[2] = (column > 0 ? j[i - rows] : j[i]) - j[i];
            d[3] = (column < columns - 1 ? j[i + rows] : j[i]) - j[i];
            double g2 = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]) / (j[i] * j[i]);
            double l = (d[0] + d[1] + d[2] + d[3]) / j[i];
            double q = (g2 / 2 - l * l / 16) / ((1 + l / 4) * (1 + l / 4));
            c[i] = fmin(fmax(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0), 1);
        }
        for (int64_t i = 0; i < count; i++) {
            double south = c[i % rows < rows - 1 ? i + 1 : i], east = c[i / rows < columns - 1 ? i + rows : i];
            const double *d = flow + 4 * i;
            j[i] += (double)LAMBDA / 4 * (c[i] * d[0] + south * d[1] + c[i] * d[2] + east * d[3]);
        }
    }
    for (int64_t i = 0; i < count; i++) result[i] = (float)(log(j[i]) * 255);
    free(j);
    free(c);
    free(flow);
}

/* Reduces both arrays to their first elements, by a factor of 512 per launch. */
static void reduce(struct work *work, int64_t count, uint64_t sums, uint64_t squares) {
    for (int64_t stride = 1; count > 1 || stride == 1; count = blocks_of(count, THREADS), stride *= THREADS)
        WORK_LAUNCH(work, "sd1_reduce", DIM(blocks_of(count, THREADS)), DIM(THREADS), HOST_S32((int32_t)count),
                    HOST_S32((int32_t)stride), HOST_U64(sums), HOST_U64(squares));
}

static void run(struct work *work) {
    int64_t rows = work->size[0], columns = work->size[1], count = rows * columns;
    uint64_t image, sums, squares, c, north, south, east, west, d[4];
    float *himage = WORK_NEW(work, float, count, &image), *hsums = WORK_NEW(work, float, count, &sums),
          *hsquares = WORK_NEW(work, float, count, &squares);
    c = work_alloc(work, (uint64_t)count * sizeof(float));
    for (int i = 0; i < 4; i++) d[i] = work_alloc(work, (uint64_t)count * sizeof(float));
    make_neighbours(work, rows, &north, &south);
    make_neighbours(work, columns, &west, &east);
    work_fill(work, himage, (uint64_t)count, 0, 255);
    float *picture = work_copy(himage, (uint64_t)count * sizeof *himage);

    struct dim grid = DIM(blocks_of(count, THREADS)), block = DIM(THREADS);
    struct host_argument n = HOST_S32((int32_t)count), r = HOST_S32((int32_t)rows);
    WORK_LAUNCH(work, "sd1_extract", grid, block, n, HOST_U64(image));
    for (int64_t i = 0; i < work->size[2]; i++) {
        WORK_LAUNCH(work, "sd1_prepare", grid, block, n, HOST_U64(image), HOST_U64(sums), HOST_U64(squares));
        reduce(work, count, sums, squares);
        float mean = hsums[0] / (float)count, variance = hsquares[0] / (float)count - mean * mean;
        WORK_LAUNCH(work, "sd1_srad", grid, block, r, n, HOST_U64(north), HOST_U64(south), HOST_U64(east),
                    HOST_U64(west), HOST_U64(d[0]), HOST_U64(d[1]), HOST_U64(d[2]), HOST_U64(d[3]),
                    HOST_F32(variance / (mean * mean)), HOST_U64(c), HOST_U64(image));
        WORK_LAUNCH(work, "sd1_srad2", grid, block, HOST_F32(LAMBDA), r, n, HOST_U64(south), HOST_U64(east),
                    HOST_U64(d[0]), HOST_U64(d[1]), HOST_U64(d[2]), HOST_U64(d[3]), HOST_U64(c), HOST_U64(image));
    }
    WORK_LAUNCH(work, "sd1_compress", grid, block, n, HOST_U64(image));
    if (work->verify) {
        float *expected = mem_alloc((size_t)count, sizeof *expected);
        reference(picture, expected, rows, columns, work->size[2]);
        /* Up to 255, where a unit in the last place of e^x is 3e-5: an iteration adds a few of these. */
        work_expect_f32(work, "image", himage, expected, (uint64_t)count, 1e-5, 255);
        free(expected);
    }
    free(picture);
}

static const struct work_size sizes[] = {{"tiny", {60, 50, 2}}, {"small", {502, 458, 2}}, {"bypass", {160, 152, 1}}};

WORKLOAD(sd1, "sd1", .aliases = "srad_v1", .help = "speckle-reducing anisotropic diffusion with index arrays",
         .parameters = "rows columns iterations");
