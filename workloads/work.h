/* Bundled workloads: the programs that the four papers evaluate. NAME.c is the host program: it generates inputs from a
 * fixed seed, launches the kernels of NAME.ptx (compiled from NAME.cu) in the order of the original program, and checks
 * the results against a CPU reference.
 *
 * A workload is one directory and one line in workloads.def, which adds it to `sluice list workloads`, `sluice run
 * NAME:SIZE` and the table of docs/workloads.md. */
#ifndef SLUICE_WORKLOADS_WORK_H
#define SLUICE_WORKLOADS_WORK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/embed.h"
#include "host/source.h"

enum { WORK_PARAMETERS = 8 };

/* One size: its name and the values of the workload's parameters, in order. `tiny` is for tests, `small` is large
 * enough for the mechanisms under study to take effect, and one for each paper that uses the program (adaptive, icc,
 * selrep, bypass) matches that paper. */
struct work_size {
    const char *name;
    int64_t value[WORK_PARAMETERS];
};

/* A run of a workload. */
struct work {
    struct host *host;
    const int64_t *size; /* values of the parameters */
    bool verify;
    uint64_t random; /* state of the generator: the same in every run */
    bool wrong;
    char found[256];     /* the first difference from the reference */
    struct arena *spare; /* see work_view(); freed when the program has ended */
};

struct workload {
    const char *name, *aliases; /* aliases: separated by spaces; NULL if there are none */
    const char *help;
    const char *parameters; /* names of the sizes' values, separated by spaces */
    const struct work_size *sizes;
    unsigned size_count;
    const char *ptx, *ptx_end;
    void (*run)(struct work *work);
};

/* The PTX of workloads/NAME/NAME.ptx, embedded in the program as symbols NAME_ptx and NAME_ptx_end. */
#define WORK_PTX(symbol, path) EMBED(symbol##_ptx, path)

#define WORKLOAD(symbol, name_, ...) \
    const struct workload workload_##symbol = {.name = name_, \
                                               .sizes = sizes, \
                                               .size_count = COUNT_OF(sizes), \
                                               .ptx = symbol##_ptx, \
                                               .ptx_end = symbol##_ptx_end, \
                                               .run = run, \
                                               __VA_ARGS__}

/* --- shared by host programs --- */

/* Device memory of `count` elements with direct access from the host. */
uint64_t work_alloc(struct work *work, uint64_t bytes);
void *work_view(struct work *work, uint64_t address, uint64_t bytes);
#define WORK_NEW(work, type, count, address) \
    (*(address) = work_alloc(work, (uint64_t)(count) * sizeof(type)), \
     (type *)work_view(work, *(address), (uint64_t)(count) * sizeof(type)))

/* Random numbers: below a bound; between two reals. */
uint32_t work_below(struct work *work, uint32_t bound);
float work_between(struct work *work, float low, float high);
void work_fill(struct work *work, float *data, uint64_t count, float low, float high);

/* A copy of the current data, to compute a reference from; the caller frees it. */
void *work_copy(const void *data, uint64_t bytes);

/* Compares results with the reference: equal, or within `tolerance` of the larger of |expected| and `scale`. Only the
 * first difference is recorded. */
void work_expect_i32(struct work *work, const char *what, const int32_t *found, const int32_t *expected,
                     uint64_t count);
void work_expect_f32(struct work *work, const char *what, const float *found, const float *expected, uint64_t count,
                     double tolerance, double scale);
void work_expect_f64(struct work *work, const char *what, const double *found, const double *expected, uint64_t count,
                     double tolerance, double scale);
void work_expect(struct work *work, bool holds, const char *what);

/* Launch with arguments written as HOST_...(x). Addresses are HOST_U64. */
#define WORK_LAUNCH(work, kernel, grid, block, ...) HOST_LAUNCH((work)->host, kernel, grid, block, 0, __VA_ARGS__)
/* DIM(x), DIM(x, y) or DIM(x, y, z). */
#define DIM(...) work_dim((const uint32_t[3]){__VA_ARGS__})
static inline struct dim work_dim(const uint32_t *d) { return (struct dim){d[0], d[1], d[2]}; }
static inline uint32_t blocks_of(int64_t count, int64_t block) { return (uint32_t)((count + block - 1) / block); }

/* --- the catalogue --- */

extern const struct workload *const workloads[];
extern const unsigned workload_total;

/* The workload with the name or alias, or NULL. */
const struct workload *work_find(const char *name);

/* The current name of a size: `adaptive` for its former name `s000`, any other name unchanged. The first use of a
 * former name in a process prints a deprecation line on standard error. */
const char *work_size_name(const char *name);

/* "NAME" or "NAME:SIZE" with the current name of the size; the caller frees it. */
char *work_current_name(const char *name);

/* The workload's name, or the closest name to the part before the colon; NULL if none is close. */
const char *work_near(const char *name);

/* The stream of "NAME" or "NAME:SIZE" (without a size: small). NULL with an error that suggests similar names. */
struct stream_source *work_open(const char *name, bool verify, struct error *err);

#endif
