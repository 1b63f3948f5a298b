/* All runs of an experiment, each with its identity: equal identities are the same run, whichever experiment asks. */
#ifndef SLUICE_LAB_PLAN_H
#define SLUICE_LAB_PLAN_H

#include <string.h>

#include "lab/experiment.h"
#include "lab/identity.h"

struct planned_run {
    char identity[IDENTITY_LENGTH + 1];
    unsigned workload, design, point;
    int candidate;                /* of a best-of search, else -1 */
    int after;                    /* index of the run whose file this one reads, else -1: see lab_design.uses */
    const char *gpu, *base;       /* as for --gpu and --design; base may be NULL */
    const char *job;              /* "mm:small" */
    struct lab_settings settings; /* all of them, in order, as for --set */
    uint64_t max_insts, sample_cycles;
    const char *sample_units; /* counters that are sampled for each unit, with blanks between them; NULL if none are */
};

/* One run for each cell (and candidate) of the figure, with repetition of identities: a runner unifies them. */
struct plan {
    const struct experiment *experiment; /* must outlive the plan */
    struct planned_run *runs;
    unsigned count;
    int *
        alone; /* by workload, point and program: index of the program's run alone, behind those of cells; NULL: no metric
                   names one */
    char *configuration; /* of the first run, effective, as YAML */
    struct arena *arena;
};

/* Every configuration is built and checked here, and every counter of a metric looked for, so that what is wrong is found
 * before anything runs. `size`, if not NULL, replaces every workload's size. */
struct plan *plan_create(const struct experiment *experiment, const char *size, struct error *err);
void plan_free(struct plan *plan);

/* The run of a cell; `candidate` below 0 is the first, or only, one. */
unsigned plan_find(const struct plan *plan, unsigned workload, unsigned design, unsigned point, int candidate);

/* The run of one of the workload's programs alone; -1: there is none. */
int plan_find_alone(const struct plan *plan, unsigned workload, unsigned point, unsigned program);

/* Whether a metric may name this, other than a counter: "ipc", "cycles", ... */
bool plan_is_result(const char *name);

/* What is named of runs alone has this before it. */
#define PLAN_ALONE "alone."
static inline const char *plan_alone_name(const char *name) {
    return strncmp(name, PLAN_ALONE, strlen(PLAN_ALONE)) == 0 ? name + strlen(PLAN_ALONE) : NULL;
}

#endif
