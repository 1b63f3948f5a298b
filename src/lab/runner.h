/* Makes the runs of a batch, several at once, each in a process of its own: `sluice run JOB ... --json FOLDER/IDENTITY.json`.
 * The file appears by rename, so it is there whole or not at all, whatever happens to the process or to this one.
 *
 * Equal functional work is done once: where several runs of a job remain, its stream is recorded first and the others
 * simulate the recording, with the same result. A run that fails is noted with what it said, and the others go on. */
#ifndef SLUICE_LAB_RUNNER_H
#define SLUICE_LAB_RUNNER_H

#include "lab/batch.h"

struct runner_progress {
    unsigned total, done, failed, running;
    double left_seconds; /* by what runs took so far, and earlier ones */
};

struct runner_options {
    const char *program;         /* the sluice to run */
    const char *results, *files; /* folders, absolute */
    unsigned processes;
    /* A result is there: takes it away from `path`. False with an error ends everything: results can no longer be kept. */
    bool (*take)(void *user, const struct batch_run *run, const char *path, struct error *err);
    /* The run has failed, and why: run->why. */
    bool (*failed)(void *user, const struct batch_run *run, struct error *err);
    bool (*step)(void *user, const struct runner_progress *progress); /* now and then; false ends everything */
    void *user;
};

/* False with an error if it could not go on; runs that have not been made are then still waiting, as they are when `step`
 * has ended it. */
bool runner_run(struct batch *batch, const struct runner_options *options, struct error *err);

#endif
