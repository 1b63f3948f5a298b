/* All runs of an experiment with their identities. Runs with the same identity, of any experiment, are simulated
 * once. */
#ifndef SLUICE_LAB_PLAN_H
#define SLUICE_LAB_PLAN_H

#include <string.h>

#include "lab/experiment.h"
#include "lab/identity.h"

struct planned_run {
    char identity[IDENTITY_LENGTH + 1];
    unsigned workload, design, point, seed;
    int candidate;                   /* of a search, else -1 */
    int after;                       /* index of the run whose file this one reads, else -1: see lab_design.uses */
    const char *gpu, *base;          /* as for --gpu and --design; base may be NULL */
    const char *job;                 /* "mm:small" */
    const struct program_file *file; /* the program if it is a launch file or a recording, else NULL */
    struct lab_settings settings;    /* all of them, in order, as for --set */
    uint64_t max_insts, sample_cycles;
    const char *asked;             /* the effective settings in order of their names, "a=1; b=2" */
    char key[IDENTITY_LENGTH + 1]; /* of what was asked for, independent of the model: see lab/kept.h */
    const char *sample_units;      /* counters that are sampled per unit, separated by blanks; or NULL */
    bool kept;                     /* a kept result of this model makes the run unnecessary: kept_mark() */
};

/* A setting of a design. Unused: no machine of the design has the part that it configures. */
struct planned_setting {
    const char *key;
    unsigned design;
    struct lab_place place;
    bool used;
    const char *because; /* "llc.organisation is shared", or "" */
};

/* One run per cell and candidate of the figure; identities may repeat. */
struct plan {
    const struct experiment *experiment; /* must outlive the plan */
    struct planned_run *runs;
    unsigned count;
    int *alone; /* by workload, point, seed and program: index of its run alone; NULL: no metric uses `alone.*` */
    char *configuration;              /* of the first run, effective, as YAML */
    struct planned_setting *settings; /* each setting of each design, once */
    unsigned setting_count;
    struct arena *arena;
};

/* Builds and checks every configuration and every counter of a metric, so that errors are found before anything runs.
 * `size`, if not NULL, replaces the size of every workload. */
struct plan *plan_create(const struct experiment *experiment, const char *size, struct error *err);
void plan_free(struct plan *plan);

/* Index of the run of a cell; `candidate` < 0: the first or only one. */
unsigned plan_find(const struct plan *plan, unsigned workload, unsigned design, unsigned point, unsigned seed,
                   int candidate);

/* Index of the run of a program of the workload alone, or -1. */
int plan_find_alone(const struct plan *plan, unsigned workload, unsigned point, unsigned seed, unsigned program);

/* Whether the name is a result that metrics can use besides counters: "ipc", "cycles", ... */
bool plan_is_result(const char *name);

/* Prefix of names of runs alone. */
#define PLAN_ALONE "alone."
static inline const char *plan_alone_name(const char *name) {
    return strncmp(name, PLAN_ALONE, strlen(PLAN_ALONE)) == 0 ? name + strlen(PLAN_ALONE) : NULL;
}

#endif
