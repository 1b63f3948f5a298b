/* The progress line of a run, and the signals that end it. */
#ifndef SLUICE_CLI_PROGRESS_H
#define SLUICE_CLI_PROGRESS_H

#include "gpu/machine.h"

struct progress {
    bool shown;           /* standard error is a terminal */
    bool drawn;           /* the line is on the terminal */
    uint64_t expected;    /* warp instructions of the whole run, 0 if unknown */
    double started, next; /* seconds */
};

double progress_clock(void);
void progress_start(struct progress *progress, uint64_t expected);
/* For run_options: false after a signal. */
bool progress_step(void *user, const struct run_progress *now);
/* Removes the line. */
void progress_end(struct progress *progress);

/* From now on Ctrl-C and TERM make progress_step end the run; a second Ctrl-C ends the program immediately. */
void signals_catch(void);
/* Whether a signal has arrived. */
bool signals_caught(void);

#endif
