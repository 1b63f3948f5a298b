/* Barnes-Hut: seven launches per step. Each step is checked from its initial bodies: the tree contains all of them,
 * forces are close to a direct sum, and bodies move according to these forces. */
#include "work.h"

WORK_PTX(bh, "bh/bh.ptx");

enum { OCTANTS = 8, SAMPLES = 64 };

/* CTAs per SM and threads per CTA, as in the original's launches for Fermi. */
static const struct {
    const char *name;
    uint32_t ctas, threads;
} kernels[] = {{"bh_box", 3, 512}, {"bh_clear", 1, 1024}, {"bh_build", 3, 512}, {"bh_summarise", 6, 128},
               {"bh_sort", 6, 64}, {"bh_force", 5, 256},  {"bh_move", 1, 1024}};
enum { FORCE = 5, MOVE };

/* As in the kernels. */
struct space {
    uint64_t x[3], mass, v[3], a[3], child, count, start, sorted, box, state, radius;
    int32_t bodies, nodes;
};

struct view {
    float *x[3], *mass, *v[3], *a[3];
    int32_t *count, *sorted;
};

static const float step = 0.025f, softening2 = 0.0025f, open2 = 4; /* theta = 0.5 */

/* A cluster that is denser towards its centre: uniform in direction and in distance. */
static void make_bodies(struct work *work, const struct space *space, const struct view *view) {
    for (int32_t i = 0; i < space->bodies; i++) {
        float p[3], r2;
        do {
            for (int d = 0; d < 3; d++) p[d] = work_between(work, -1, 1);
            r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
        } while (r2 > 1 || r2 < 1e-4f);
        float scale = work_between(work, 0.02f, 4) / sqrtf(r2);
        for (int d = 0; d < 3; d++) {
            view->x[d][i] = p[d] * scale;
            view->v[d][i] = work_between(work, -0.1f, 0.1f);
        }
        view->mass[i] = 1.0f / (float)space->bodies;
    }
}

static void launch(struct work *work, const struct space *space, unsigned k, uint32_t sms) {
    struct dim grid = DIM(kernels[k].ctas * sms), block = DIM(kernels[k].threads);
    struct host_argument all = HOST_BYTES(space, sizeof *space);
    if (k == FORCE)
        WORK_LAUNCH(work, kernels[k].name, grid, block, all, HOST_F32(open2), HOST_F32(softening2));
    else if (k == MOVE)
        WORK_LAUNCH(work, kernels[k].name, grid, block, all, HOST_F32(step));
    else
        WORK_LAUNCH(work, kernels[k].name, grid, block, all);
}

/* Sums in float over all bodies: 1e-4. */
static void verify_tree(struct work *work, const struct space *space, const struct view *view) {
    int32_t n = space->bodies, root = space->nodes - 1;
    uint8_t *seen = mem_alloc((size_t)n, 1);
    work_expect_i32(work, "bodies under the root", &view->count[root], &n, 1);
    for (int32_t i = 0; i < n && !work->wrong; i++) {
        int32_t body = view->sorted[i];
        work_expect(work, body >= 0 && body < n && !seen[body]++, "the sorted bodies are not all of them");
    }
    free(seen);
    double mass = 0, centre[3] = {0};
    for (int32_t i = 0; i < n; i++) {
        mass += (double)view->mass[i];
        for (int d = 0; d < 3; d++) centre[d] += (double)(view->mass[i] * view->x[d][i]);
    }
    float expected = (float)mass;
    work_expect_f32(work, "mass of the root", &view->mass[root], &expected, 1, 1e-4, 0);
    for (int d = 0; d < 3; d++) {
        expected = (float)(centre[d] / mass);
        work_expect_f32(work, "centre of the root", &view->x[d][root], &expected, 1, 1e-4, 1);
    }
}

/* Compares the accelerations of some bodies with a direct sum. A cell is opened within twice its side, so its neglected
 * quadrupole is at most a few percent of its force, and these errors mostly cancel: 5 % for one body, 1 % (root mean
 * square) for all. */
static void verify_forces(struct work *work, const struct space *space, const struct view *view) {
    double error2 = 0, total2 = 0;
    int32_t samples = space->bodies < SAMPLES ? space->bodies : SAMPLES;
    for (int32_t s = 0; s < samples; s++) {
        int32_t i = s * (space->bodies / samples);
        double a[3] = {0}, own2 = 0, wrong2 = 0;
        for (int32_t j = 0; j < space->bodies; j++) {
            double dx[3], d2 = (double)softening2;
            for (int d = 0; d < 3; d++) dx[d] = (double)view->x[d][j] - (double)view->x[d][i], d2 += dx[d] * dx[d];
            for (int d = 0; d < 3; d++) a[d] += (double)view->mass[j] * dx[d] / (d2 * sqrt(d2));
        }
        for (int d = 0; d < 3; d++) {
            own2 += a[d] * a[d];
            wrong2 += ((double)view->a[d][i] - a[d]) * ((double)view->a[d][i] - a[d]);
        }
        work_expect(work, wrong2 <= 0.05 * 0.05 * own2, "a body's acceleration is not that of a direct sum");
        error2 += wrong2, total2 += own2;
    }
    work_expect(work, error2 <= 0.01 * 0.01 * total2, "accelerations are not those of a direct sum");
}

static void verify_move(struct work *work, const struct view *view, float *const *x, float *const *v, int32_t bodies) {
    for (int d = 0; d < 3; d++)
        for (int32_t i = 0; i < bodies && !work->wrong; i++) {
            float half = view->a[d][i] * 0.5f * step, middle = v[d][i] + half, end = middle + half;
            float place = x[d][i] + middle * step;
            work_expect_f32(work, "velocity", &view->v[d][i], &end, 1, 1e-6, 1);
            work_expect_f32(work, "position", &view->x[d][i], &place, 1, 1e-6, 1);
        }
}

static void advance(struct work *work, const struct space *space, const struct view *view, uint32_t sms) {
    for (unsigned k = 0; k < MOVE; k++) launch(work, space, k, sms);
    float *x[3], *v[3];
    for (int d = 0; d < 3; d++) {
        x[d] = work_copy(view->x[d], (uint64_t)space->bodies * sizeof(float));
        v[d] = work_copy(view->v[d], (uint64_t)space->bodies * sizeof(float));
    }
    if (work->verify) {
        verify_tree(work, space, view);
        verify_forces(work, space, view);
    }
    launch(work, space, MOVE, sms);
    if (work->verify) verify_move(work, view, x, v, space->bodies);
    for (int d = 0; d < 3; d++) {
        free(x[d]);
        free(v[d]);
    }
}

static void run(struct work *work) {
    int32_t bodies = (int32_t)work->size[0], nodes = 2 * bodies;
    uint32_t sms = (uint32_t)work->size[2];
    struct space space = {.bodies = bodies, .nodes = nodes};
    struct view view;
    for (int d = 0; d < 3; d++) {
        view.x[d] = WORK_NEW(work, float, nodes, &space.x[d]);
        view.v[d] = WORK_NEW(work, float, bodies, &space.v[d]);
        view.a[d] = WORK_NEW(work, float, bodies, &space.a[d]);
    }
    view.mass = WORK_NEW(work, float, nodes, &space.mass);
    view.count = WORK_NEW(work, int32_t, nodes, &space.count);
    view.sorted = WORK_NEW(work, int32_t, bodies, &space.sorted);
    space.child = work_alloc(work, (uint64_t)nodes * OCTANTS * sizeof(int32_t));
    space.start = work_alloc(work, (uint64_t)nodes * sizeof(int32_t));
    space.box = work_alloc(work, kernels[0].ctas * sms * 6 * sizeof(float));
    space.state = work_alloc(work, 2 * sizeof(int32_t));
    space.radius = work_alloc(work, sizeof(float));
    make_bodies(work, &space, &view);
    for (int64_t i = 0; i < work->size[1] && !host_failed(work->host) && !work->wrong; i++)
        advance(work, &space, &view, sms);
}

static const struct work_size sizes[] = {
    {"tiny", {128, 1, 2}},
    {"small", {2048, 1, 15}},
    {"bypass", {256, 1, 15}},
};

WORKLOAD(bh, "bh", .help = "Barnes-Hut n-body simulation with an octree", .parameters = "bodies steps sms");
