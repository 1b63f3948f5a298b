/* Lookahead: finds the best of several choices by simulating each of them for an interval.
 *
 * Each choice is simulated in a child process (fork(2)), which inherits the complete machine state and discards it when
 * it exits; its score comes back through a pipe. Trials run one after the other, so that a run uses one core. No other
 * thread of the process may run meanwhile: streams have to be in step (stream/stream.h).
 *
 *     unsigned choice;
 *     if (!lookahead_choose(&lookahead, choices, &choice, err)) fail;
 *     continue with `choice`;
 *     if (lookahead_on_trial(&lookahead)) lookahead_report(&lookahead, score);
 */
#ifndef SLUICE_GPU_LOOKAHEAD_H
#define SLUICE_GPU_LOOKAHEAD_H

#include "base/base.h"
#include "base/error.h"

struct lookahead {
    int report; /* of a trial: file descriptor for its score, plus 1 */
};

static inline bool lookahead_on_trial(const struct lookahead *lookahead) { return lookahead->report != 0; }

/* Sets the choice to continue with: in each trial the one under test, afterwards the one with the highest score (the
 * first, if equal). Returns false if a trial failed. */
bool lookahead_choose(struct lookahead *lookahead, unsigned choices, unsigned *choice, struct error *err);
/* Ends a trial. */
_Noreturn void lookahead_report(const struct lookahead *lookahead, double score);

#endif
