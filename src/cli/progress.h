/* What happens beside a run: a line of progress on a terminal, and the signals that ask it to end. */
#ifndef SLUICE_CLI_PROGRESS_H
#define SLUICE_CLI_PROGRESS_H

#include "gpu/machine.h"

struct progress {
    bool shown;           /* standard error is a terminal */
    bool drawn;           /* a line stands there now */
    uint64_t expected;    /* warp instructions of the whole run, 0 if unknown */
    double started, next; /* seconds */
};

double progress_clock(void);
void progress_start(struct progress *progress, uint64_t expected);
/* For run_options: false once a signal has asked the run to end. */
bool progress_step(void *user, const struct run_progress *now);
/* Takes the line away again. */
void progress_end(struct progress *progress);

/* From here on Ctrl-C and TERM ask progress_step to end the run; a second one ends the program at once. */
void signals_catch(void);
/* Whether they have asked. */
bool signals_caught(void);

#endif
