/* The values of a figure: for each metric one value per workload, design and point, from the stored runs (for a search
 * from the best run, or from a composition of the best parts: lab/composition.h), related to the baseline, and averaged
 * over workloads and points. With seeds, every value is computed for each seed separately, a relation between runs of
 * the same seed; shown are the mean over the seeds and the range.
 *
 * A missing run makes every value that depends on it missing (NaN), means included: a mean over the runs that happen to
 * be stored would change with every new run. A value that a run does not have (no accesses, hence no miss rate) is
 * excluded from means. */
#ifndef SLUICE_LAB_CELLS_H
#define SLUICE_LAB_CELLS_H

#include "lab/plan.h"
#include "lab/store.h"

enum cell_state { CELL_MISSING = -1, CELL_COMPOSED = -2 };

struct cells {
    const struct plan *plan;
    unsigned points, seeds;
    double *raw;   /* by metric, workload, design, point, seed */
    int *run;      /* by workload, design, point, seed: index of the run or of the best candidate, or enum cell_state */
    char **choice; /* by the same: result of a search, or why it failed; NULL: no search, or runs are missing */
};

void cells_load(struct cells *cells, const struct plan *plan, struct store *store);
void cells_release(struct cells *cells);

/* Index of the run that a cell shows, of the first seed; negative: enum cell_state. */
int cells_run(const struct cells *cells, unsigned workload, unsigned design, unsigned point);
/* "16", or per launch "16, 1", of the first seed; NULL: no search, or runs are missing. */
const char *cells_choice(const struct cells *cells, unsigned workload, unsigned design, unsigned point);

/* A selection of workloads and points; -1: all. */
struct cell_set {
    int group, workload, point;
};
struct cell_value {
    double mean, low, high; /* over the seeds */
};
struct cell_value cells_value(const struct cells *cells, unsigned metric, enum lab_relation relation,
                              enum lab_statistic statistic, unsigned design, struct cell_set set);
/* Only the mean over the seeds. */
double cells_statistic(const struct cells *cells, unsigned metric, enum lab_relation relation,
                       enum lab_statistic statistic, unsigned design, struct cell_set set);

/* A run's values for an expression. */
struct expression_view stored_run_view(struct stored_run *run);

#endif
