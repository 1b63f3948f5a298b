/* SM dueling, the control plane's part: SM 0 tries the L1's insertion policy and SM 1 the plain cache, and the other SMs
 * follow the one that misses less ("Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 4.3 and Table 3).
 *
 * Both send a report for each interval in which they read anything. A decision is made when those of the same interval
 * have come; reports of few reads decide nothing. The followers begin with the plain cache.
 *
 * The paper's threshold is a difference of 10 %, and does not say of what. Here it is 10 % of the plain cache's miss
 * rate: ten points could never turn the policy off where it misses in less than a tenth of all reads, that is, for the
 * very workloads that the duel is to protect. The other reading is a choice.
 */
#ifndef SLUICE_GPU_DUEL_H
#define SLUICE_GPU_DUEL_H

#include "l1/insertion.h"

enum { DUEL_CONTESTANTS = 2 };

struct duel {
    struct duel_rule rule;
    struct duel_report report[DUEL_CONTESTANTS]; /* the last of each; no reads: none yet */
    bool policy;                                 /* the followers use the policy */
};

/* Returns whether the followers are to change over. */
bool duel_receive(struct duel *duel, unsigned contestant, const struct duel_report *report);

#endif
