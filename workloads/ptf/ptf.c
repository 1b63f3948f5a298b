/* Particle filter: five launches per frame. Every frame is checked from its initial particles, so that rounding
 * differences cannot accumulate. */
#include "work.h"

WORK_PTX(ptf, "ptf/ptf.ptx");

enum { THREADS = 512, RADIUS = 5, DISC = 2 * RADIUS + 1, BACKGROUND = 100, OBJECT = 228 };

/* As in the kernels. */
struct filter {
    uint64_t x, y, new_x, new_y, weights, likelihood, cdf, u, sums, noise_x, noise_y, video, pixels, object;
    int32_t particles, points, side, frames;
};

/* The same on the host. */
struct view {
    double *x, *y, *new_x, *new_y, *weights, *cdf, *u, *noise_x, *noise_y;
    const uint8_t *video;
    int32_t *object;
};

/* Approximately normal with variance 1: the sum of twelve uniform numbers. */
static double normal(struct work *work) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)work_between(work, 0, 1);
    return sum;
}

static uint8_t clamp(double v) { return v < 0 ? 0 : v > 255 ? 255 : (uint8_t)v; }

/* A bright disc that moves down one and left two pixels per frame, in noise. */
static void make_video(struct work *work, const struct filter *filter, uint8_t *video) {
    int32_t side = filter->side, frames = filter->frames;
    for (int32_t r = 0; r < side; r++)
        for (int32_t c = 0; c < side; c++)
            for (int32_t k = 0; k < frames; k++) {
                int32_t dr = r - side / 2 - k, dc = c - side / 2 + 2 * k;
                double level = dr * dr + dc * dc < RADIUS * RADIUS ? OBJECT : BACKGROUND;
                video[(r * side + c) * frames + k] = clamp(level + 5 * normal(work));
            }
}

static int32_t make_disc(int32_t *object) {
    int32_t points = 0;
    for (int32_t i = -RADIUS; i <= RADIUS; i++)
        for (int32_t j = -RADIUS; j <= RADIUS; j++)
            if (i * i + j * j < RADIUS * RADIUS) {
                object[2 * points] = j;
                object[2 * points++ + 1] = i;
            }
    return points;
}

static double likelihood_at(const struct filter *filter, const struct view *view, double x, double y, int32_t k) {
    double sum = 0;
    for (int32_t p = 0; p < filter->points; p++) {
        int32_t row = (int32_t)rint(x) + view->object[2 * p + 1], column = (int32_t)rint(y) + view->object[2 * p];
        int32_t index = abs((row * filter->side + column) * filter->frames + k);
        if (index >= filter->side * filter->side * filter->frames) index = 0;
        double v = view->video[index];
        sum += ((v - BACKGROUND) * (v - BACKGROUND) - (v - OBJECT) * (v - OBJECT)) / 50;
    }
    return sum / filter->points;
}

/* Likelihoods are sums of some hundreds, so their exponentials have a relative precision of about 1e-13; sums over
 * particles add in another order. The selected particle follows exactly from the distribution. */
static void verify_frame(struct work *work, const struct filter *filter, const struct view *view, const double *old_x,
                         const double *old_y, int32_t k, bool likelihood_only) {
    int32_t n = filter->particles;
    double *weights = mem_alloc((size_t)n, sizeof *weights), sum = 0, passed = 0;
    for (int32_t i = 0; i < n; i++) {
        double x = old_x[i] + 1 + 5 * view->noise_x[i], y = old_y[i] - 2 + 2 * view->noise_y[i];
        work_expect_f64(work, "x", &view->x[i], &x, 1, 1e-14, 1);
        work_expect_f64(work, "y", &view->y[i], &y, 1, 1e-14, 1);
        sum += weights[i] = exp(likelihood_at(filter, view, view->x[i], view->y[i], k));
    }
    for (int32_t i = 0; i < n && likelihood_only; i++) {
        double weight = weights[i] / n;
        work_expect_f64(work, "weights", &view->weights[i], &weight, 1, 1e-11, 0);
    }
    for (int32_t i = 0; i < n && !likelihood_only; i++) {
        passed += weights[i] / sum;
        work_expect_f64(work, "cdf", &view->cdf[i], &passed, 1, 1e-11, 1);
    }
    for (int32_t i = 0; i < n && !likelihood_only; i++) {
        int32_t index = 0;
        while (index < n - 1 && view->cdf[index] < view->u[i]) index++;
        work_expect(work, view->new_x[i] == view->x[index] && view->new_y[i] == view->y[index],
                    "a particle took a place that the distribution does not give it");
    }
    free(weights);
}

static void track(struct work *work, const struct filter *filter, const struct view *view, int32_t k,
                  bool likelihood_only) {
    uint32_t ctas = blocks_of(filter->particles, THREADS);
    uint64_t bytes = (uint64_t)filter->particles * sizeof(double);
    double *old_x = work_copy(view->new_x, bytes), *old_y = work_copy(view->new_y, bytes);
    for (int32_t i = 0; i < filter->particles; i++) {
        view->noise_x[i] = normal(work);
        view->noise_y[i] = normal(work);
    }
    double u1 = (double)work_between(work, 0, 1) / filter->particles;
    struct host_argument all = HOST_BYTES(filter, sizeof *filter);
    WORK_LAUNCH(work, "ptf_likelihood", DIM(ctas), DIM(THREADS), all, HOST_S32(k));
    if (!likelihood_only) {
        WORK_LAUNCH(work, "ptf_sum", DIM(ctas), DIM(THREADS), all, HOST_S32((int32_t)ctas));
        WORK_LAUNCH(work, "ptf_normalise", DIM(ctas), DIM(THREADS), all, HOST_F64(u1));
        WORK_LAUNCH(work, "ptf_distribution", DIM(ctas), DIM(THREADS), all);
        WORK_LAUNCH(work, "ptf_find_index", DIM(ctas), DIM(THREADS), all);
    }
    if (work->verify) verify_frame(work, filter, view, old_x, old_y, k, likelihood_only);
    free(old_x);
    free(old_y);
}

static void run(struct work *work) {
    int32_t n = (int32_t)work->size[0], side = (int32_t)work->size[1], frames = (int32_t)work->size[2];
    struct filter filter = {.particles = n, .side = side, .frames = frames};
    struct view view = {.x = WORK_NEW(work, double, n, &filter.x),
                        .y = WORK_NEW(work, double, n, &filter.y),
                        .new_x = WORK_NEW(work, double, n, &filter.new_x),
                        .new_y = WORK_NEW(work, double, n, &filter.new_y),
                        .cdf = WORK_NEW(work, double, n, &filter.cdf),
                        .u = WORK_NEW(work, double, n, &filter.u),
                        .noise_x = WORK_NEW(work, double, n, &filter.noise_x),
                        .noise_y = WORK_NEW(work, double, n, &filter.noise_y),
                        .object = WORK_NEW(work, int32_t, 2 * DISC * DISC, &filter.object)};
    view.weights = WORK_NEW(work, double, n, &filter.weights);
    filter.likelihood = work_alloc(work, (uint64_t)n * sizeof(double));
    filter.sums = work_alloc(work, blocks_of(n, THREADS) * sizeof(double));
    uint8_t *video = WORK_NEW(work, uint8_t, side * side * frames, &filter.video);
    make_video(work, &filter, video);
    view.video = video;
    filter.points = make_disc(view.object);
    filter.pixels = work_alloc(work, (uint64_t)n * (uint64_t)filter.points * sizeof(int32_t));
    for (int32_t i = 0; i < n; i++) view.new_x[i] = view.new_y[i] = side / 2;
    for (int32_t k = 1; k < frames && !host_failed(work->host); k++) track(work, &filter, &view, k, work->size[3]);
}

static const struct work_size sizes[] = {
    {"tiny", {200, 64, 2}},
    {"small", {4096, 128, 3}},
    {"bypass", {1000, 128, 10}},
    {"bypass-kernel", {1000, 128, 2, true}},
};

WORKLOAD(ptf, "ptf", .help = "particle filter for object tracking",
         .parameters = "particles side frames likelihood_only");
