/* An observer of the L1s: accesses per line, and the number of accesses between two accesses to the same line, as in
 * Figures 3, 4, 5b and 11 of "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015). It does not affect timing and
 * exists only if l1.observe_reuse is set.
 *
 * Counted is the access stream of each SM into its L1: hits, pending hits and misses. Accesses that bypass the L1, by
 * request or by the insertion policy, are excluded, so the counters show how a policy changes the stream and its
 * footprint. Writes also look up the L1 and are counted on request; atomics are not. An access with reservation
 * failures counts once, when it is accepted.
 *
 * The history of a line ends when the SM's L1 is invalidated, by default at the end of a kernel.
 *
 * The reuse distance is the number of accesses in between, to any line: 2 in A B C A, and in A B B A.
 */
#ifndef SLUICE_L1_REUSE_H
#define SLUICE_L1_REUSE_H

#include "l1/l1.h"

#define REUSE_STATS(S) \
    S(SUM, accesses, "accesses", "accesses to the L1, without bypasses") \
    S(SUM, lines_1, "lines", "footprint: lines accessed, once per SM and kernel") \
    S(SUM, lines_2, "lines", "lines accessed at least 2 times") \
    S(SUM, lines_3, "lines", "lines accessed at least 3 times") \
    S(SUM, lines_4, "lines", "lines accessed at least 4 times") \
    S(SUM, lines_8, "lines", "lines accessed at least 8 times") \
    S(SUM, lines_16, "lines", "lines accessed at least 16 times") \
    S(SUM, lines_32, "lines", "lines accessed at least 32 times") \
    S(SUM, distance_0, "accesses", "reuses at distance 0") \
    S(SUM, distance_1, "accesses", "reuses at distance 1") \
    S(SUM, distance_2, "accesses", "reuses at distance 2") \
    S(SUM, distance_4, "accesses", "reuses at distance 3 or 4") \
    S(SUM, distance_8, "accesses", "reuses at distance 5 to 8") \
    S(SUM, distance_16, "accesses", "reuses at distance 9 to 16") \
    S(SUM, distance_32, "accesses", "reuses at distance 17 to 32") \
    S(SUM, distance_64, "accesses", "reuses at distance 33 to 64") \
    S(SUM, distance_128, "accesses", "reuses at distance 65 to 128") \
    S(SUM, distance_256, "accesses", "reuses at distance 129 to 256") \
    S(SUM, distance_512, "accesses", "reuses at distance 257 to 512") \
    S(SUM, distance_1024, "accesses", "reuses at distance 513 to 1024") \
    S(SUM, distance_2048, "accesses", "reuses at distance 1025 to 2048") \
    S(SUM, distance_more, "accesses", "reuses at a distance of more than 2048")

STATS_STRUCT(reuse_stats, REUSE_STATS);

/* Observed accesses: off, reads, all. */
extern const struct family reuse_family;

/* Inserts the observer between the SMs and their L1s, unless `which` is off. The L1 owns it. */
void reuse_observe(struct l1 *l1, const struct policy *which, const struct l1_context *context);

#endif
