/* The runs that remain to be made: those of some plans, each identity once, without what the store has. Each is a command
 * line of `sluice run` with the place of its result, so that it can be made here (lab/runner.h) or be written to a file and
 * made elsewhere (lab/slurm.h).
 *
 * The work folder, STORE.work, has three parts: `local` and `slurm`, where results appear by rename as IDENTITY.json until
 * they are taken into the store, and `files`, what runs write for others. All of it can be made again. */
#ifndef SLUICE_LAB_BATCH_H
#define SLUICE_LAB_BATCH_H

#include "lab/plan.h"
#include "lab/store.h"

enum batch_state { BATCH_WAITING, BATCH_RUNNING, BATCH_DONE, BATCH_FAILED };

struct batch_run {
    char identity[IDENTITY_LENGTH + 1];
    char *job;    /* "mm:small" */
    char *title;  /* for people: "mm:small, private, noc.channel_bytes=32" */
    char **words; /* after `sluice run`, without the job and without --json */
    unsigned word_count;
    int after;     /* index of the run that writes the file that this one reads, else -1 */
    bool in_files; /* it runs in the folder of files, since it reads or writes one there */
    bool whole;    /* it runs to its end: a recorded stream serves it as well */
    double expected_seconds;
    bool guessed; /* no earlier run says how long it takes */
    enum batch_state state;
    char *why; /* it failed */
};

struct batch {
    struct batch_run *runs;
    unsigned count;
    unsigned asked, distinct, stored; /* cells of all plans; runs that they come to; of these, in the store */
};

/* `store` may be NULL: then everything remains. `files` is the folder of files. */
struct batch *batch_create(const struct plan *const *plans, unsigned plan_count, struct store *store,
                           const char *files);
void batch_free(struct batch *batch);
/* Seconds that the waiting runs will take one after the other, as far as one can tell. */
double batch_expected_seconds(const struct batch *batch);

/* A line of a task file, which batch_run_read() takes back: fields with a tab between them. */
void batch_run_write(FILE *out, const struct batch_run *run);
bool batch_run_read(struct batch_run *run, char *line);
void batch_run_release(struct batch_run *run);

#endif
