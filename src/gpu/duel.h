/* SM dueling, the control plane's part: SM 0 tries the L1's insertion policy and SM 1 the plain cache, and the other SMs
 * follow the one that misses less ("Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 4.3 and Table 3).
 *
 * Both send a report for each interval in which they read anything. A decision is made when those of the same interval
 * have come; an interval in which either read little decides nothing. The followers begin with the plain cache.
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
bool duel_hear(struct duel *duel, unsigned contestant, const struct duel_report *report);

#endif
