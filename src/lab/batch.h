/* The runs left to simulate: those of some plans, each identity once, without the stored ones. Each is a command line
 * of `sluice run` with the path of its result, executed here (lab/runner.h) or written to a file and executed on a
 * cluster (lab/slurm.h).
 *
 * The work directory, STORE.work, has three parts: `local` and `slurm`, where results appear by rename as
 * IDENTITY.json until they are imported into the store, and `files`, output files that other runs read. All of it
 * is reproducible. */
#ifndef SLUICE_LAB_BATCH_H
#define SLUICE_LAB_BATCH_H

#include "lab/plan.h"
#include "lab/store.h"

enum batch_state { BATCH_WAITING, BATCH_RUNNING, BATCH_DONE, BATCH_FAILED };

struct batch_run {
    char identity[IDENTITY_LENGTH + 1];
    char *job;                     /* "mm:small" */
    char *option, *path, *content; /* of a program that is a file, as in lab/program_file.h; else NULL */
    char *workload;                /* its name in results, to find earlier runs */
    char *title;                   /* for messages: "mm:small, private, noc.channel_bytes=32" */
    char **words;                  /* after `sluice run`, without the job and without --json */
    unsigned word_count;
    int after;     /* index of the run that writes the file that this one reads, else -1 */
    bool in_files; /* runs in `files`, since it reads or writes a file there */
    bool whole;    /* runs to completion, so a recorded stream can be used */
    double expected_seconds;
    uint64_t expected_instructions; /* warp instructions; 0: unknown */
    bool guessed;                   /* no earlier run of the workload is known */
    bool opcodes_warned;            /* the warning of unknown opcodes of its trace has been passed on */
    enum batch_state state;
    char *why; /* the error of a failed run */
};

struct batch {
    struct batch_run *runs;
    unsigned count;
    unsigned asked, distinct, stored; /* cells of all plans; distinct runs; stored runs */
    unsigned kept;                    /* runs that only kept results have: kept_mark() */
};

/* `store` may be NULL: nothing is stored. `files` is the directory of output files. */
struct batch *batch_create(const struct plan *const *plans, unsigned plan_count, struct store *store,
                           const char *files);
void batch_free(struct batch *batch);
/* Adds an option to the command lines of all runs: one that changes no result and is not part of their identities. */
void batch_add_option(struct batch *batch, const char *name, const char *value);
/* The option of runs and recordings for kernels that write data that they load as read-only, and how its warning starts. */
#define VIOLATION_OPTION  "--on-violation"
#define VIOLATION_WARNING "read-only data is written: "
/* Expected seconds of the waiting runs with this many processes. Earlier runs are found by lab/past.h. */
double batch_expected_seconds(const struct batch *batch, unsigned processes);

/* One line of a task file, fields separated by tabs; batch_run_read() parses it. */
void batch_run_write(FILE *out, const struct batch_run *run);
bool batch_run_read(struct batch_run *run, char *line);
void batch_run_release(struct batch_run *run);

#endif
