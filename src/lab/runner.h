/* Simulates the runs of a batch, several in parallel, each in its own process: `sluice run JOB ... --json
 * FOLDER/IDENTITY.json`. The file appears by rename, so it is complete or absent, even if a process is killed.
 *
 * If several runs of a job are left, its stream is recorded once and the runs simulate the recording, with the same
 * result. A failed run is recorded with its error, and the others continue. */
#ifndef SLUICE_LAB_RUNNER_H
#define SLUICE_LAB_RUNNER_H

#include "lab/batch.h"

/* A process under way. */
struct runner_job {
    const char *title;     /* of the run, or the job whose stream is recorded */
    bool records;          /* a stream */
    double share, seconds; /* done, from 0 to 1 (0: unknown); since its start */
    bool reports;          /* it has reported: */
    uint64_t cycles, thread_instructions;
    double issuing, l1_hits, llc_hits; /* so far, in %; -1: unknown */
};

struct runner_progress {
    unsigned total, done, failed, running;
    const struct runner_job *jobs; /* by process; the title of an idle one is NULL */
    unsigned job_count;
    double share;        /* of the expected time, from 0 to 1 */
    double left_seconds; /* estimated from finished and stored runs, and from the progress of those under way */
};

struct runner_options {
    const char *program;         /* the sluice to run */
    const char *results, *files; /* folders, absolute */
    unsigned processes;
    /* Called for a result; moves it away from `path`. False with an error ends the batch: results cannot be stored. */
    bool (*take)(void *user, const struct batch_run *run, const char *path, struct error *err);
    /* Called for a failed run; run->why is the error. */
    bool (*failed)(void *user, const struct batch_run *run, struct error *err);
    /* Called for a run or recording that warned of written read-only data (--on-violation warn), and
     * for the first of a trace that warned of unknown opcodes. */
    void (*warned)(void *user, const char *title, const char *warning);
    bool (*step)(void *user, const struct runner_progress *progress); /* called periodically; false ends the batch */
    void *user;
};

/* False with an error if it cannot continue. Unfinished runs are then still BATCH_WAITING, as after `step` ended it. */
bool runner_run(struct batch *batch, const struct runner_options *options, struct error *err);

#endif
