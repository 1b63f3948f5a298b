/* Experiments on the command line: lab_make.c simulates their runs into a store, lab.c queries the store. */
#ifndef SLUICE_CLI_LAB_H
#define SLUICE_CLI_LAB_H

#include "cli/command.h"
#include "lab/intake.h"

#define DEFAULT_STORE "results.sqlite"

/* Options of all subcommands; NULL, 0 or false if not given. */
struct lab_values {
    const char *store, *size, *csv, *json, *kept, *partition, *time, *on_violation;
    uint64_t processes, memory_mb, runs_per_task;
    bool dry_run, slurm, wait, watch, salvage, partial;
};

/* The experiments named on the command line, with their plans (request.c). */
struct request {
    struct experiment **experiments;
    struct plan **plans;
    unsigned count;
    const char *size;         /* replaces the size of every workload, or NULL */
    const char *on_violation; /* of the runs, or NULL */
    bool unplanned;           /* plans are NULL */
};

bool request_read(struct request *request, const char *const *words, unsigned count, const char *size,
                  struct error *err);
/* Only the experiments, without plans. */
bool request_read_experiments(struct request *request, const char *const *words, unsigned count, struct error *err);
/* The experiments of the store, each with the size that it was run with. */
bool request_read_stored(struct request *request, struct store *store, struct error *err);
void request_free(struct request *request);
struct batch *request_batch(const struct request *request, struct store *store, const struct intake *intake);

/* Simulates the runs that are not in the store, or with dry_run reports their number. Prints one line with the counts,
 * and the error of each failed run. Uses the options of `lab run`. */
enum status lab_run(const char *const *experiments, unsigned count, const struct lab_values *values);
/* The same for one task of a Slurm job array. */
enum status lab_task(const char *path, uint64_t index);

/* For commands that simulate experiments on this machine first. */
struct lab_request {
    const char *const *experiments; /* names, sets or files */
    unsigned count;
    const char *store;        /* NULL: DEFAULT_STORE */
    const char *size;         /* replaces the size of every workload, or NULL */
    uint64_t processes;       /* 0: one per processor */
    const char *on_violation; /* as the option of `lab run`, or NULL */
};
enum status lab_make(const struct lab_request *request);

/* The number of parallel runs: `asked`, or one per processor for 0. */
uint64_t lab_processes(uint64_t asked);

/* "s" unless count is 1. */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

#endif
