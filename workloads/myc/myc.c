/* Cardiac myocyte: the host integrates by Fehlberg's method of order 7(8), one launch per stage (thirteen). */
#include "work.h"

WORK_PTX(myc, "myc/myc.ptx");

enum { MEMBRANE = 46, GATES = 40, COMPARTMENT = 15, COMPARTMENTS = 3, PARAMETERS = 16, STAGES = 13, THREADS = 32 };
enum { EQUATIONS = MEMBRANE + COMPARTMENTS * COMPARTMENT };

/* Fehlberg, NASA TR R-287 (1968), order 7(8): the time of each stage, and its weights of the earlier ones. */
static const double at[STAGES] = {0, 2. / 27, 1. / 9, 1. / 6, 5. / 12, 1. / 2, 5. / 6, 1. / 6, 2. / 3, 1. / 3, 1, 0, 1};
static const double from[STAGES][STAGES - 1] = {
    {0},
    {2. / 27},
    {1. / 36, 1. / 12},
    {1. / 24, 0, 1. / 8},
    {5. / 12, 0, -25. / 16, 25. / 16},
    {1. / 20, 0, 0, 1. / 4, 1. / 5},
    {-25. / 108, 0, 0, 125. / 108, -65. / 27, 125. / 54},
    {31. / 300, 0, 0, 0, 61. / 225, -2. / 9, 13. / 900},
    {2, 0, 0, -53. / 6, 704. / 45, -107. / 9, 67. / 90, 3},
    {-91. / 108, 0, 0, 23. / 108, -976. / 135, 311. / 54, -19. / 60, 17. / 6, -1. / 12},
    {2383. / 4100, 0, 0, -341. / 164, 4496. / 1025, -301. / 82, 2133. / 4100, 45. / 82, 45. / 164, 18. / 41},
    {3. / 205, 0, 0, 0, 0, -6. / 41, -3. / 205, -3. / 41, 3. / 41, 6. / 41},
    {-1777. / 4100, 0, 0, -341. / 164, 4496. / 1025, -289. / 82, 2193. / 4100, 51. / 82, 33. / 164, 12. / 41, 0, 1},
};
static const double result[STAGES] = {0,       0,        0,        0, 0,         34. / 105, 9. / 35,
                                      9. / 35, 9. / 280, 9. / 280, 0, 41. / 840, 41. / 840};

/* Period and strength of the stimulus; midpoint of the gates; conductances of sodium, potassium and calcium; pump,
 * leak, uptake. */
static const float parameters[PARAMETERS] = {1000, 10, -40, 0.3f, 0.2f, 0.02f, 0.5f, 0.05f, 1e-3f};

struct cell {
    uint64_t y, p, f;
    float *hy, *hf;
};

static void begin(float *y) {
    y[0] = -80, y[1] = 10, y[2] = 140, y[3] = 1e-4f, y[4] = 0.5f, y[5] = 0.1f;
    for (int i = 6; i < EQUATIONS; i++) y[i] = i < MEMBRANE ? 0.5f : 1.0f / COMPARTMENT;
}

static void membrane(double time, const float *y, double *f) {
    const float *p = parameters;
    double v = (double)y[0], sodium = (double)y[1], potassium = (double)y[2], calcium = (double)y[3], current[3] = {0};
    double rest[3] = {26.7 * log(140 / sodium), 26.7 * log(5.4 / potassium), 13.35 * log(1.8 / calcium)};
    for (int g = 0; g < GATES; g++) {
        double x = v - ((double)p[2] + 2 * (g - GATES / 2)), slope = 4 + 0.2 * (g % 7);
        double open = 1 / (1 + exp(-x / slope)), rate = 0.02 + 0.5 * exp(-x * x / (50 + slope * slope));
        f[6 + g] = ((g % 3 == 2 ? 1 - open : open) - (double)y[6 + g]) * rate;
    }
    for (int g = 0; g < GATES; g += 4) {
        const float *gate = y + 6 + g;
        int ion = g / 4 % 3;
        current[ion] += (double)(p[3 + ion] * gate[0] * gate[1] * gate[2] * gate[3]) * (v - rest[ion]);
    }
    double pump = (double)p[6] * sodium / (sodium + 10), leak = (double)p[7] * (v + 80);
    double ratio = pow(calcium / 0.0003, 2), uptake = (double)p[8] * ratio / (1 + ratio);
    double release = 1e-3 * (double)(y[4] * y[6]);
    f[0] = -(current[0] + current[1] + current[2] + pump + leak) + (fmod(time, (double)p[0]) < 5 ? (double)p[1] : 0);
    f[1] = -1e-4 * (current[0] + 3 * pump);
    f[2] = -1e-4 * (current[1] - 2 * pump);
    f[3] = -1e-6 * current[2] - 1e-3 * uptake + 1e-4 * (double)y[5];
    f[4] = 1e-3 * uptake - release;
    f[5] = release - 1e-3 * (double)y[5];
}

static void calmodulin(const float *y, double calcium, double *f) {
    double before = 0;
    for (int i = 0; i < COMPARTMENT; i++) {
        double after = 0;
        if (i + 1 < COMPARTMENT)
            after = (0.1 + 0.02 * (i + 1)) * pow(calcium * 1000, (i + 1) % 2 ? 1 : 0.5) * (double)y[i] -
                    (0.05 + 0.01 * (i + 1)) * (double)y[i + 1];
        f[i] = before - after;
        before = after;
    }
}

/* The derivatives of one launch, each a sum of terms of at most about 1, for the voltage about 10: six digits of a
 * float, minus one for the number of terms. */
static void verify_stage(struct work *work, const struct cell *cell, double time) {
    double f[EQUATIONS];
    membrane(time, cell->hy, f);
    for (int c = 0; c < COMPARTMENTS; c++)
        calmodulin(cell->hy + MEMBRANE + c * COMPARTMENT, (double)cell->hy[3] * (1 + 0.5 * c),
                   f + MEMBRANE + c * COMPARTMENT);
    for (int i = 0; i < EQUATIONS; i++) {
        float expected = (float)f[i];
        work_expect_f32(work, "derivative", &cell->hf[i], &expected, 1, 1e-5, i == 0 ? 10 : i < 6 ? 1e-4 : 1);
    }
}

/* One step of the solver, of `step` milliseconds. */
static void advance(struct work *work, struct cell *cell, double time, double step) {
    float y[EQUATIONS];
    double f[STAGES][EQUATIONS];
    memcpy(y, cell->hy, sizeof y);
    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < EQUATIONS; i++) {
            double sum = 0;
            for (int k = 0; k < s; k++) sum += from[s][k] * f[k][i];
            cell->hy[i] = (float)((double)y[i] + step * sum);
        }
        float now = (float)(time + at[s] * step);
        WORK_LAUNCH(work, "myc_derivatives", DIM(2), DIM(THREADS), HOST_F32(now), HOST_U64(cell->y), HOST_U64(cell->p),
                    HOST_U64(cell->f));
        for (int i = 0; i < EQUATIONS; i++) f[s][i] = (double)cell->hf[i];
        if (work->verify) verify_stage(work, cell, (double)now);
    }
    for (int i = 0; i < EQUATIONS; i++) {
        double sum = 0;
        for (int s = 0; s < STAGES; s++) sum += result[s] * f[s][i];
        cell->hy[i] = (float)((double)y[i] + step * sum);
    }
}

static void run(struct work *work) {
    struct cell cell;
    cell.hy = WORK_NEW(work, float, EQUATIONS, &cell.y);
    float *p = WORK_NEW(work, float, PARAMETERS, &cell.p);
    cell.hf = WORK_NEW(work, float, EQUATIONS, &cell.f);
    memcpy(p, parameters, sizeof parameters);
    for (int64_t i = 0; i < work->size[0] * work->size[1] && !host_failed(work->host); i++) {
        int64_t step = i % work->size[0];
        if (step == 0) begin(cell.hy);
        advance(work, &cell, (double)step, 1);
    }
}

static const struct work_size sizes[] = {
    {"tiny", {1, 1}},
    {"small", {2, 1}},
    {"bypass", {312, 2}},
};

WORKLOAD(myc, "myc", .help = "cardiac myocyte model: 91 differential equations, very small launches",
         .parameters = "steps cells");
