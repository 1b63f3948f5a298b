/* Kept results: the runs that a page of docs/reproduction shows, as a CSV file per experiment in data/results, written
 * by `sluice lab export --kept`. Pages are generated from them, and `sluice reproduce --verify` reruns them.
 *
 * A row has what was asked for (workload with its size, GPU, design, settings, seed, limits), the identity and the model
 * digest of the run, the values that the metrics of the experiment use, and a checksum of the row. A row is found by what
 * was asked for, not by its identity, so that it stays readable after the model has changed. Not kept: time series. */
#ifndef SLUICE_LAB_KEPT_H
#define SLUICE_LAB_KEPT_H

#include "lab/plan.h"
#include "lab/store.h"

/* "DIR/icc/fig13.csv"; with another size than the experiment's "DIR/icc/fig13@small.csv". `folder` NULL: the bundled
 * data/results. The caller frees it. */
char *kept_path(const char *folder, const struct experiment *experiment, const char *size);

/* Writes the rows of all runs of the plan. A run that is not in the store takes the row that this model has in the file
 * `before` or in another file of its folder, since experiments share runs; so an experiment can be completed on several
 * machines. `before` may be NULL, or not exist. Runs without a row are counted in `missing`; if that is NULL, they are
 * an error. */
bool kept_write(const struct plan *plan, struct store *store, const char *before, unsigned *missing, FILE *out,
                struct error *err);
/* Marks the runs of the plan that have a row by this model, with the values of the experiment, in the file or in another
 * file of its folder. */
bool kept_mark(struct plan *plan, const char *path, struct error *err);

/* The rows of one file, as a store in memory in which the runs have the identities of the plan. */
struct kept {
    struct store *store;
    const char **model; /* by run of the plan: the model digest; NULL: the run is not kept */
    double *seconds;    /* by run of the plan: host time */
    unsigned runs;      /* of the plan */
    unsigned count;     /* kept ones */
    const char **name;  /* of the kept values: counters, "units:COUNTER", "launches" */
    unsigned names;
    const char *const **value; /* by run of the plan, then by name: as text; NULL: the run is not kept */
    struct arena *arena;
};
bool kept_open(struct kept *kept, const struct plan *plan, const char *path, struct error *err);
void kept_close(struct kept *kept);
/* The model digest of the kept runs; "several" if they differ, "" without any. */
const char *kept_model(const struct kept *kept);
/* The value as it is kept, "" if the run does not have it; NULL with an error. The caller frees it. */
char *kept_value(struct stored_run *run, const char *name, struct error *err);

/* Host seconds of the kept runs in all files of data/results, for estimates. A file that cannot be read is omitted. */
struct kept_times *kept_times_open(void);
void kept_times_close(struct kept_times *times);
/* Mean seconds and the most warp instructions of the runs of a job, "mm:small"; unchanged if none is kept. */
void kept_times_find(const struct kept_times *times, const char *job, double *seconds, uint64_t *warp_instructions);

#endif
