/* SM dueling, control-plane side: SM 0 uses the L1's insertion policy, SM 1 the plain cache, and the other SMs follow
 * the one with the lower miss rate ("Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 4.3 and Table 3).
 *
 * Both contestants report once per interval in which they read. A decision needs both reports of the same interval, and
 * each must cover enough reads. The followers start with the plain cache.
 *
 * The paper's threshold is a difference of 10 %; it does not state of what. Here it is 10 % of the plain cache's miss
 * rate: with ten percentage points the policy could never be turned off where it misses in less than a tenth of all
 * reads, and these are the workloads that the duel protects. The other reading is selectable.
 */
#ifndef SLUICE_GPU_DUEL_H
#define SLUICE_GPU_DUEL_H

#include "l1/insertion.h"

enum { DUEL_CONTESTANTS = 2 };

struct duel {
    struct duel_rule rule;
    struct duel_report report[DUEL_CONTESTANTS]; /* latest of each; no reads: none yet */
    bool policy;                                 /* the followers use the policy */
};

/* Returns whether the followers change. */
bool duel_receive(struct duel *duel, unsigned contestant, const struct duel_report *report);

#endif
