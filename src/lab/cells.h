/* The numbers behind a figure: for each metric a value for each workload, design and point, from the runs in the store (of
 * a search from the best one, or put together from the best parts: lab/composition.h); compared with the baseline as the
 * metric says, and taken together over workloads and points.
 *
 * A run that is not there makes every number that it is part of missing (NaN), means too: a mean over what happens to be
 * there would say something else each time. A value that a run does not have (nothing was accessed, so there is no miss
 * rate) is left out of means. */
#ifndef SLUICE_LAB_CELLS_H
#define SLUICE_LAB_CELLS_H

#include "lab/plan.h"
#include "lab/store.h"

enum cell_state { CELL_MISSING = -1, CELL_COMPOSED = -2 };

struct cells {
    const struct plan *plan;
    unsigned points;
    double *raw; /* by metric, workload, design, point */
    int *run; /* by workload, design, point: index of the run, the best of its candidates, or one of enum cell_state */
    char **choice; /* by the same: what a search chose, or why it could not; NULL: no search, or runs are missing */
};

void cells_load(struct cells *cells, const struct plan *plan, struct store *store);
void cells_release(struct cells *cells);

/* Index of the run that a cell shows; below 0: it shows none, or parts of several. */
int cells_run(const struct cells *cells, unsigned workload, unsigned design, unsigned point);
/* "16", or of each launch "16, 1"; NULL: nothing was searched for, or not all of it is there. */
const char *cells_choice(const struct cells *cells, unsigned workload, unsigned design, unsigned point);

/* Over which workloads and points; -1: all. */
struct cell_set {
    int group, workload, point;
};
double cells_statistic(const struct cells *cells, unsigned metric, enum lab_relation relation,
                       enum lab_statistic statistic, unsigned design, struct cell_set set);

/* A run's values as an expression sees them. */
struct expression_view stored_run_view(struct stored_run *run);

#endif
