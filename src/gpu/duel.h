/* SM dueling, control-plane side: SM 0 uses the L1's insertion policy, SM 1 the plain cache, and the other SMs follow
 * the one with the lower miss rate ("Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 4.3 and Table 3).
 *
 * Both contestants report once per interval in which they read. A decision needs both reports of the same interval, and
 * each must cover enough reads. The followers start with the plain cache.
 *
 * The paper applies the decision to all SMs. Contestants that follow therefore use the better cache themselves, and the
 * duel pauses, since they no longer differ. It resumes with a new round: each kernel begins one, and `round_cycles` after
 * a verdict another; the paper does not state when. Reports of an earlier round are ignored. Contestants that stay
 * compete all the time, and half of a program that runs on these two SMs only can never use the policy.
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
    uint32_t round;
    bool policy;  /* the followers use the policy */
    bool decided; /* contestants that follow: this round has its verdict */
};

/* Returns whether L1s must be steered: the followers change, or, if contestants follow, the round has its verdict. */
bool duel_receive(struct duel *duel, unsigned contestant, const struct duel_report *report);
/* Begins a round of contestants that follow. */
void duel_begin_round(struct duel *duel);
/* What a contestant uses during a round. */
static inline bool duel_contestant_plain(unsigned contestant) { return contestant == 1; }

#endif
