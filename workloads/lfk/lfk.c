/* Leukocyte detection and tracking: gicov and dilate once per frame, then the flow around each cell. */
#include "work.h"

WORK_PTX(lfk, "lfk/lfk.ptx");

enum {
    CIRCLES = 7,
    POINTS = 150,
    DISC = 25 * 25,
    ROWS = 41,
    COLUMNS = 81,
    AREA = ROWS * COLUMNS,
    THREADS = 256,
    CELL = 320
};
enum { RADIUS_LEAST = 8, MARGIN = RADIUS_LEAST + 2 * (CIRCLES - 1) + 2 };

/* The kernels' constants. */
struct constants {
    float sine[POINTS], cosine[POINTS];
    int32_t dx[CIRCLES * POINTS], dy[CIRCLES * POINTS];
    float disc[DISC];
};

static void put(struct work *work, const char *symbol, const void *data, uint64_t bytes) {
    uint64_t room;
    host_write(work->host, host_symbol(work->host, symbol, &room), data, bytes);
}

static void make_constants(struct work *work, struct constants *k, int32_t reach) {
    for (int n = 0; n < POINTS; n++) {
        double angle = n * 2 * 3.14159265358979323846 / POINTS;
        k->sine[n] = (float)sin(angle), k->cosine[n] = (float)cos(angle);
        for (int c = 0; c < CIRCLES; c++) {
            k->dx[c * POINTS + n] = (int32_t)floor(cos(angle) * (RADIUS_LEAST + 2 * c) + 0.5);
            k->dy[c * POINTS + n] = (int32_t)floor(sin(angle) * (RADIUS_LEAST + 2 * c) + 0.5);
        }
    }
    float *disc = k->disc;
    for (int32_t y = -reach; y <= reach; y++)
        for (int32_t x = -reach; x <= reach; x++) *disc++ = x * x + y * y <= reach * reach;
    put(work, "lfk_sine", k->sine, sizeof k->sine);
    put(work, "lfk_cosine", k->cosine, sizeof k->cosine);
    put(work, "lfk_dx", k->dx, sizeof k->dx);
    put(work, "lfk_dy", k->dy, sizeof k->dy);
    put(work, "lfk_disc", k->disc, sizeof k->disc);
}

/* Values near zero are the square of a sum of cancelling terms: 1e-3, of at least 0.1. */
static void verify_gicov(struct work *work, const struct constants *k, const float *gx, const float *gy,
                         const float *score, int64_t width, int64_t height) {
    for (int64_t y = MARGIN; y < height - MARGIN && !work->wrong; y++)
        for (int64_t x = MARGIN; x < width - MARGIN; x++) {
            double most = 0;
            for (int c = 0; c < CIRCLES; c++) {
                double sum = 0, squares = 0;
                for (int n = 0; n < POINTS; n++) {
                    int64_t at = (y + k->dy[c * POINTS + n]) * width + x + k->dx[c * POINTS + n];
                    double p = (double)(gx[at] * k->cosine[n] + gy[at] * k->sine[n]);
                    sum += p, squares += p * p;
                }
                double mean = sum / POINTS, variance = (squares - sum * mean) / (POINTS - 1);
                most = fmax(most, mean * mean / (variance + 1e-6));
            }
            float expected = (float)most;
            work_expect_f32(work, "score", &score[y * width + x], &expected, 1, 1e-3, 0.1);
        }
}

static void verify_dilate(struct work *work, const struct constants *k, const float *score, const float *dilated,
                          int64_t width, int64_t height, int32_t reach) {
    int32_t side = 2 * reach + 1;
    for (int64_t i = 0; i < width * height && !work->wrong; i++) {
        float most = 0;
        for (int32_t d = 0; d < side * side; d++) {
            int64_t r = i / width - reach + d / side, c = i % width - reach + d % side;
            if (r < 0 || r >= height || c < 0 || c >= width || k->disc[d] == 0) continue;
            if (score[r * width + c] > most) most = score[r * width + c];
        }
        work_expect_f32(work, "dilated", &dilated[i], &most, 1, 0, 0);
    }
}

static double heaviside(double x) { return 0.5 + 0.3183098862 * x / (0.02 + fabs(x)); }

/* The flow of one cell, in double. The iterations contract towards the image, so errors do not grow: 1e-4 after a few
 * hundred iterations. */
static void verify_flow(struct work *work, const float *image, const float *found, int64_t iterations) {
    double *flow = mem_alloc(AREA, sizeof *flow), *next = mem_alloc(AREA, sizeof *next);
    for (int i = 0; i < AREA; i++) flow[i] = (double)image[i];
    for (int64_t n = 0; n < iterations; n++) {
        for (int i = 0; i < AREA; i++) {
            double v = flow[i], change = 0;
            for (int k = 0; k < 9; k++) {
                int r = i / COLUMNS + k / 3 - 1, c = i % COLUMNS + k % 3 - 1;
                r = r < 0 ? 0 : r >= ROWS ? ROWS - 1 : r, c = c < 0 ? 0 : c >= COLUMNS ? COLUMNS - 1 : c;
                double step = flow[r * COLUMNS + c] - v;
                change += heaviside(step) * step;
            }
            v += change / 16;
            next[i] = v - 0.2 * (double)image[i] * (v - (double)image[i]);
        }
        memcpy(flow, next, AREA * sizeof *flow);
    }
    for (int i = 0; i < AREA && !work->wrong; i++) {
        float expected = (float)flow[i];
        work_expect_f32(work, "flow", &found[i], &expected, 1, 1e-4, 1);
    }
    free(flow);
    free(next);
}

static void run(struct work *work) {
    int64_t width = work->size[0], height = work->size[1], cells = work->size[2], iterations = work->size[3];
    int32_t reach = (int32_t)work->size[4];
    uint64_t pixels = (uint64_t)(width * height), gx, gy, score, dilated, images, flows;
    float *hgx = WORK_NEW(work, float, pixels, &gx), *hgy = WORK_NEW(work, float, pixels, &gy),
          *hscore = WORK_NEW(work, float, pixels, &score), *hdilated = WORK_NEW(work, float, pixels, &dilated),
          *himages = WORK_NEW(work, float, cells *AREA, &images), *hflows = WORK_NEW(work, float, cells *AREA, &flows);
    struct constants constants;
    make_constants(work, &constants, reach);
    work_fill(work, hgx, pixels, -1, 1);
    work_fill(work, hgy, pixels, -1, 1);
    work_fill(work, himages, (uint64_t)cells * AREA, 0, 1);
    WORK_LAUNCH(work, "lfk_gicov", DIM(blocks_of((width - 2 * MARGIN) * (height - 2 * MARGIN), THREADS)), DIM(THREADS),
                HOST_U64(gx), HOST_U64(gy), HOST_U64(score), HOST_S32((int32_t)width), HOST_S32((int32_t)height),
                HOST_S32(MARGIN));
    WORK_LAUNCH(work, "lfk_dilate", DIM(blocks_of((int64_t)pixels, THREADS)), DIM(THREADS), HOST_U64(score),
                HOST_U64(dilated), HOST_S32((int32_t)width), HOST_S32((int32_t)height), HOST_S32(reach));
    WORK_LAUNCH(work, "lfk_imgvf", DIM((uint32_t)cells), DIM(CELL), HOST_U64(images), HOST_U64(flows),
                HOST_S32((int32_t)iterations));
    if (!work->verify) return;
    verify_gicov(work, &constants, hgx, hgy, hscore, width, height);
    verify_dilate(work, &constants, hscore, hdilated, width, height, reach);
    for (int64_t c = 0; c < cells && !work->wrong; c++)
        verify_flow(work, himages + c * AREA, hflows + c * AREA, iterations);
}

static const struct work_size sizes[] = {
    {"tiny", {45, 45, 1, 1, 2}},
    {"small", {64, 64, 18, 6, 12}},
    {"bypass", {192, 144, 36, 16, 12}},
};

WORKLOAD(lfk, "lfk", .help = "leukocyte tracking: gradient fit, dilation, gradient vector flow",
         .parameters = "width height cells iterations reach");
