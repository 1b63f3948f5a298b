/* Experiments on the command line: the runs that they come to are made into a store (lab_make.c, also for commands that
 * begin with it), and the store is looked at (lab.c). */
#ifndef SLUICE_CLI_LAB_H
#define SLUICE_CLI_LAB_H

#include "cli/command.h"
#include "lab/intake.h"

#define DEFAULT_STORE "results.sqlite"

/* Options of all subcommands; NULL, 0 and false where nothing was said. */
struct lab_values {
    const char *store, *size, *csv, *json, *partition, *time;
    uint64_t processes, memory_mb, runs_per_task;
    bool dry_run, slurm, wait;
};

/* The experiments that words of the command line name, with their plans (request.c). */
struct request {
    struct experiment **experiments;
    struct plan **plans;
    unsigned count;
    const char *size; /* of every workload instead of its own, or NULL */
};

bool request_read(struct request *request, const char *const *words, unsigned count, const char *size,
                  struct error *err);
/* Those that were run into the store, each in the size that it was run in. */
bool request_read_stored(struct request *request, struct store *store, struct error *err);
void request_free(struct request *request);
struct batch *request_batch(const struct request *request, struct store *store, const struct intake *intake);

/* Makes the runs that the store does not have, or says how many these are; says in one line how many there were, and what
 * failed and why. Of the values it takes those of `lab run`. */
enum status lab_run(const char *const *experiments, unsigned count, const struct lab_values *values);
/* The same for one task of a cluster's job. */
enum status lab_task(const char *path, uint64_t index);

/* For commands that begin with making runs on this machine. */
struct lab_request {
    const char *const *experiments; /* names, sets or files */
    unsigned count;
    const char *store;  /* NULL: DEFAULT_STORE */
    const char *size;   /* of every workload instead of its own, or NULL */
    uint64_t processes; /* 0: one for each processor */
};
enum status lab_make(const struct lab_request *request);

/* "s" unless there is one. */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

#endif
