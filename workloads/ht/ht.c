/* Heart wall tracking: one launch per frame. Every frame is checked from its initial points and templates. */
#include "work.h"

WORK_PTX(ht, "ht/ht.ptx");

enum { THREADS = 256, DRIFT = 2 };

/* As in the kernel. */
struct tracker {
    uint64_t templates, scores, row, column;
    int32_t columns, radius, reach;
};

struct view {
    float *templates, *scores;
    int32_t *row, *column;
};

/* Synthetic ultrasound: speckle, smooth over a few pixels, that drifts from frame to frame. */
static float *make_tissue(struct work *work, int64_t rows, int64_t columns) {
    float *noise = mem_alloc((size_t)(rows * columns), sizeof *noise);
    float *tissue = mem_alloc((size_t)(rows * columns), sizeof *tissue);
    work_fill(work, noise, (uint64_t)(rows * columns), 0, 1);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t i = 0; i < 9; i++)
                tissue[r * columns + c] += noise[(r + i / 3) % rows * columns + (c + i % 3) % columns] / 9;
    free(noise);
    return tissue;
}

static void make_frame(struct work *work, const float *tissue, float *frame, int64_t rows, int64_t columns,
                       int64_t shift) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            frame[r * columns + c] =
                tissue[(r + shift) % rows * columns + (c + 2 * shift) % columns] + work_between(work, -0.02f, 0.02f);
}

static void cut_template(float *to, const float *frame, int32_t columns, int32_t row, int32_t column, int32_t radius) {
    for (int32_t i = -radius; i <= radius; i++)
        for (int32_t j = -radius; j <= radius; j++) *to++ = frame[(row + i) * columns + column + j];
}

static double correlation(const float *a, const float *b, int32_t stride, int32_t side) {
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0, n = side * side;
    for (int32_t i = 0; i < side; i++)
        for (int32_t j = 0; j < side; j++) {
            double x = (double)a[i * side + j], y = (double)b[i * stride + j];
            sa += x, sb += y, saa += x * x, sbb += y * y, sab += x * y;
        }
    return (sab / n - sa / n * sb / n) / sqrt((saa / n - sa / n * sa / n) * (sbb / n - sb / n * sb / n));
}

/* One point of one frame. Sums of squares of some thousand floats minus the square of their mean lose about three
 * digits, hence 1e-3 of a correlation between -1 and 1. The position follows exactly from the scores. */
static void verify_point(struct work *work, const struct tracker *tracker, const float *frame, const float *template,
                         const float *follower, const float *scores, const int32_t was[2], const int32_t is[2]) {
    int32_t radius = tracker->radius, reach = tracker->reach, side = 2 * radius + 1, window = 2 * reach + 1, best = 0;
    for (int32_t o = 0; o < window * window; o++) {
        int32_t row = was[0] + o / window - reach - radius, column = was[1] + o % window - reach - radius;
        float expected = (float)correlation(template, frame + row * tracker->columns + column, tracker->columns, side);
        work_expect_f32(work, "score", &scores[o], &expected, 1, 1e-3, 1);
        if (scores[o] > scores[best]) best = o;
    }
    int32_t place[2] = {was[0] + best / window - reach, was[1] + best % window - reach};
    work_expect_i32(work, "place", is, place, 2);
    float *cut = mem_alloc((size_t)(side * side), sizeof *cut);
    cut_template(cut, frame, tracker->columns, place[0], place[1], radius);
    for (int32_t i = 0; i < side * side; i++) cut[i] = 0.9f * template[i] + 0.1f * cut[i];
    work_expect_f32(work, "template", follower, cut, (uint64_t)(side * side), 1e-6, 1);
    free(cut);
}

static void track(struct work *work, const struct tracker *tracker, const struct view *view, uint64_t frame,
                  const float *hframe, uint32_t points) {
    int32_t side = 2 * tracker->radius + 1, window = 2 * tracker->reach + 1;
    size_t area = (size_t)(side * side);
    float *templates = work_copy(view->templates, points * area * sizeof *templates);
    int32_t *row = work_copy(view->row, points * sizeof *row), *column = work_copy(view->column, points * sizeof *row);
    WORK_LAUNCH(work, "ht_track", DIM(points), DIM(THREADS), HOST_U64(frame), HOST_BYTES(tracker, sizeof *tracker));
    for (uint32_t p = 0; p < points && work->verify && !work->wrong; p++)
        verify_point(work, tracker, hframe, templates + p * area, view->templates + p * area,
                     view->scores + p * (size_t)(window * window), (int32_t[]){row[p], column[p]},
                     (int32_t[]){view->row[p], view->column[p]});
    free(templates);
    free(row);
    free(column);
}

static void run(struct work *work) {
    const int64_t *size = work->size;
    uint32_t points = (uint32_t)size[2];
    int64_t rows = size[0], columns = size[1], frames = size[5];
    struct tracker tracker = {.columns = (int32_t)columns, .radius = (int32_t)size[3], .reach = (int32_t)size[4]};
    int32_t side = 2 * tracker.radius + 1, window = 2 * tracker.reach + 1;
    uint64_t frame;
    float *hframe = WORK_NEW(work, float, rows *columns, &frame);
    struct view view = {.templates = WORK_NEW(work, float, points *(uint32_t)(side * side), &tracker.templates),
                        .scores = WORK_NEW(work, float, points *(uint32_t)(window * window), &tracker.scores),
                        .row = WORK_NEW(work, int32_t, points, &tracker.row),
                        .column = WORK_NEW(work, int32_t, points, &tracker.column)};
    float *tissue = make_tissue(work, rows, columns);
    make_frame(work, tissue, hframe, rows, columns, 0);
    int32_t margin = tracker.radius + (int32_t)frames * tracker.reach;
    for (uint32_t p = 0; p < points; p++) {
        view.row[p] = margin + (int32_t)work_below(work, (uint32_t)(rows - 2 * margin));
        view.column[p] = margin + (int32_t)work_below(work, (uint32_t)(columns - 2 * margin));
        cut_template(view.templates + p * (size_t)(side * side), hframe, tracker.columns, view.row[p], view.column[p],
                     tracker.radius);
    }
    for (int64_t k = 1; k <= frames && !host_failed(work->host) && !work->wrong; k++) {
        make_frame(work, tissue, hframe, rows, columns, k * DRIFT);
        track(work, &tracker, &view, frame, hframe, points);
    }
    free(tissue);
}

static const struct work_size sizes[] = {
    {"tiny", {64, 64, 4, 4, 5, 2}},
    {"small", {609, 590, 51, 8, 8, 5}},
    {"bypass", {609, 590, 51, 25, 10, 1}},
};

WORKLOAD(ht, "ht", .help = "heart wall tracking by template correlation",
         .parameters = "rows columns points radius reach frames");
