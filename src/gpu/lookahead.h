/* Looking ahead: finds the best of several choices by simulating each of them for a while.
 *
 * Every choice is tried in a child of this process (fork(2)), which has all of the machine's state and throws it away with itself;
 * what comes back, through a pipe, is how well it went. Trials are made one after the other, so that a run takes one processor.
 * Nothing else of the process may be running meanwhile: streams have to be in step (stream/stream.h).
 *
 *     unsigned choice;
 *     if (!lookahead_choose(&lookahead, choices, &choice, err)) fail;
 *     go on with `choice`;
 *     if (lookahead_on_trial(&lookahead)) lookahead_report(&lookahead, how well);
 */
#ifndef SLUICE_GPU_LOOKAHEAD_H
#define SLUICE_GPU_LOOKAHEAD_H

#include "base/base.h"
#include "base/error.h"

struct lookahead {
    int report; /* of a trial: where it says how it went, plus 1 */
};

static inline bool lookahead_on_trial(const struct lookahead *lookahead) { return lookahead->report != 0; }

/* The choice to go on with: for each trial the one that it tries; afterwards the best, and of equals the first. Returns false if
 * there is no telling. */
bool lookahead_choose(struct lookahead *lookahead, unsigned choices, unsigned *choice, struct error *err);
/* Ends a trial. */
_Noreturn void lookahead_report(const struct lookahead *lookahead, double score);

#endif
