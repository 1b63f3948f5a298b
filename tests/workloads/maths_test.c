/* The mathematical functions of workloads/cuda.h, executed in the emulator (maths.cu) and compared with the host's
 * library: functions that are one instruction must be exact, the others within the error that cuda.h states for each
 * (`NAME: N ulp`). Zeros of either sign are equal. */
#include <float.h>
#include <math.h>

#include "base/random.h"
#include "emu/run_ptx.h"

enum { BLOCKS = 16, THREADS = 128, COUNT = BLOCKS * THREADS, ROUNDS = 4 };

/* A line of maths.def for the host. */
struct maths {
    const char *name;
    bool exact, is_double;
    long double (*truth)(long double x, long double y, long double z);
    bool (*promised)(long double x, long double y);
    long double span;
};

#define EXACT(real, name, arguments) \
    static long double truth_##name(long double x_, long double y_, long double z_) { \
        const real x = (real)x_, y = (real)y_, z = (real)z_; \
        (void)x, (void)y, (void)z; \
        return name arguments; \
    } \
    static bool promised_##name(long double x, long double y) { return (void)x, (void)y, true; }
#define NEAR(real, name, arguments, value, span, condition) \
    static long double truth_##name(long double x, long double y, long double z) { \
        return (void)x, (void)y, (void)z, value; \
    } \
    static bool promised_##name(long double x, long double y) { return (void)x, (void)y, condition; }
#include "workloads/maths.def"
#undef EXACT
#undef NEAR

#define LINE(real, name, exact, span) \
    {#name, exact, sizeof(real) == sizeof(double), truth_##name, promised_##name, span},
#define EXACT(real, name, arguments)                        LINE(real, name, true, 100)
#define NEAR(real, name, arguments, value, span, condition) LINE(real, name, false, span)
static const struct maths functions[] = {
#include "workloads/maths.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* --- arguments and results --- */

/* An array of float or double. */
static long double real_get(const struct maths *f, const void *array, unsigned i) {
    return f->is_double ? (long double)((const double *)array)[i] : (long double)((const float *)array)[i];
}
static void real_put(const struct maths *f, void *array, unsigned i, long double value) {
    if (f->is_double)
        ((double *)array)[i] = (double)value;
    else
        ((float *)array)[i] = (float)value;
}

/* First all pairs of edge cases (kinds of numbers, boundaries of polynomials, multiples of pi / 2, limits of
 * exponentials), then alternating numbers of the span and random bits. */
static void argument_put(const struct maths *f, void *array, unsigned at, unsigned place, unsigned i,
                         uint64_t *random) {
#define OF(constant) (f->is_double ? DBL_##constant : FLT_##constant)
    const long double tiny = OF(TRUE_MIN), normal = OF(MIN), most = OF(MAX), step = OF(EPSILON);
#undef OF
    const long double edges[] = {
        0,           INFINITY,    NAN,   tiny,   normal - tiny, normal,   most,   1 / step, 1e4L, 1 - step / 2,
        1,           1 + step,    0.5L,  0.55L,  2 / 3.0L,      4 / 3.0L, 2,      2.5L,     3,    1.5707963L,
        989.601807L, 69738.6484L, 88.7L, 103.9L, 104,           709.7L,   745.1L, 746,      800};
    const unsigned total = 2 * sizeof edges / sizeof *edges;
    const uint64_t bits = random_next(random);
    const unsigned which[] = {i % total, i / total, (unsigned)(bits % total)};
    if (i < total * total)
        real_put(f, array, at, edges[which[place] / 2] * (which[place] % 2 ? -1 : 1));
    else if (i % 2)
        real_put(f, array, at, f->span * (long double)(int64_t)bits * 0x1p-63L);
    else
        memcpy((char *)array + at * (f->is_double ? 8 : 4), &bits, f->is_double ? 8 : 4);
}

/* The distance in units in the last place of the exact result in the function's type. */
static double ulps(const struct maths *f, long double found, long double truth) {
    const long double rounded = f->is_double ? (long double)(double)truth : (long double)(float)truth;
    if (isnan(found) || isnan(truth)) return isnan(found) && isnan(truth) ? 0 : INFINITY;
    if (isinf(found) || isinf(rounded)) return found == rounded ? 0 : INFINITY;
    const int digits = f->is_double ? DBL_MANT_DIG : FLT_MANT_DIG, least = f->is_double ? DBL_MIN_EXP : FLT_MIN_EXP;
    const int exponent = ilogbl(truth) + 1;
    return (double)scalbnl(fabsl(found - truth), digits - (exponent < least ? least : exponent));
}

struct worst {
    double ulps;
    long double x, y, found, truth;
};

static struct worst maths_run(struct ptx_run *run, const struct maths *f) {
    char kernel[32];
    snprintf(kernel, sizeof kernel, "maths_%s", f->name);
    const uint64_t parameters[2] = {run->out, run->in};
    struct launch launch = run_launch_of(run, BLOCKS, THREADS, parameters);
    launch.kernel = program_kernel(loaded_program(run->loaded), kernel);
    struct worst worst = {.ulps = -1};
    uint64_t random = 1;
    void *in = run_input(run);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned at = 0; at < 3 * COUNT; at++)
            argument_put(f, in, at, at / COUNT, round * COUNT + at % COUNT, &random);
        REQUIRE(launch.kernel && emu_run(&run->device, &launch, NULL, &run->counts, &run->err));
        for (unsigned i = 0; i < COUNT; i++) {
            const long double x = real_get(f, in, i), y = real_get(f, in, COUNT + i);
            if (!f->promised(x, y)) continue;
            const long double found = real_get(f, run_u32(run), i),
                              truth = f->truth(x, y, real_get(f, in, 2 * COUNT + i));
            const double distance = ulps(f, found, truth);
            if (distance > worst.ulps) worst = (struct worst){distance, x, y, found, truth};
        }
    }
    return worst;
}

/* --- the error bounds of cuda.h --- */

static const char *file_text(const char *path, char *text, size_t room) {
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    return text;
}

static const char *header_text(void) {
    static char text[64 * 1024];
    return file_text(SLUICE_SOURCE_DIR "/workloads/cuda.h", text, sizeof text);
}

/* The N of ` NAME: N ulp`; -1 if not stated. */
static double stated_ulps(const char *header, const char *name) {
    char mark[32];
    snprintf(mark, sizeof mark, " %s: ", name);
    const char *at = strstr(header, mark);
    return at ? strtod(at + strlen(mark), NULL) : -1;
}

TEST("the real functions of workloads/cuda.h are within their stated error of the host's library") {
    static char ptx[256 * 1024];
    const char *header = header_text();
    struct ptx_run run;
    REQUIRE(run_load(&run, file_text(SLUICE_SOURCE_DIR "/tests/workloads/maths.ptx", ptx, sizeof ptx)));
    for (const struct maths *f = functions; f < functions + FUNCTIONS; f++) {
        const struct worst worst = maths_run(&run, f);
        const double stated = f->exact ? 0 : stated_ulps(header, f->name);
        if (!CHECK(worst.ulps >= 0 && worst.ulps <= stated))
            printf("    %s(%.9Lg, %.9Lg) is %.9Lg, expected %.9Lg: error of %.3g ulp, stated bound %g\n", f->name,
                   worst.x, worst.y, worst.found, worst.truth, worst.ulps, stated);
    }
    run_end(&run);
}

TEST("every real function of workloads/cuda.h is tested") {
    unsigned found = 0;
    for (const char *at = strstr(header_text(), "/* Float:"); at && (at = strstr(at, "\nSLUICE_INLINE ")); at++) {
        char name[32];
        REQUIRE(sscanf(at, " SLUICE_INLINE %*[a-z] %31[^(]", name) == 1);
        if (strncmp(name, "sluice_", 7) == 0) continue; /* a helper of others */
        found++;
        unsigned i = 0;
        while (i < FUNCTIONS && strcmp(functions[i].name, name) != 0) i++;
        if (!CHECK(i < FUNCTIONS)) printf("    %s is not in maths.def\n", name);
    }
    CHECK_EQ(found, (unsigned)FUNCTIONS);
}
