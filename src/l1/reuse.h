/* An observer of the L1s: how often lines are accessed, and how many other accesses lie between two accesses to the
 * same line, as in Figures 3, 4, 5b and 11 of "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015). It changes
 * nothing, and is not there unless l1.observe_reuse asks for it.
 *
 * What is counted is the stream of accesses that enter an L1, as each SM makes them: those that hit, wait for a line
 * or fetch it. What goes past the L1, by itself or because the insertion policy says so, is not in it; so the same
 * counters show how a policy shapes the stream and what is left of its footprint. Writes look up the L1, too, and are
 * counted where that is asked for; atomics are not. An access that is refused counts once, when it is accepted.
 *
 * A line's history ends when its SM's L1 is emptied, by default at a kernel's end.
 *
 * The reuse distance is the number of accesses in between, to whatever lines: 2 in A B C A, and in A B B A.
 */
#ifndef SLUICE_L1_REUSE_H
#define SLUICE_L1_REUSE_H

#include "l1/l1.h"

#define REUSE_STATS(S) \
    S(SUM, accesses, "accesses", "accesses that entered the L1") \
    S(SUM, lines_1, "lines", "lines accessed, each once per SM and kernel: the footprint") \
    S(SUM, lines_2, "lines", "of these: accessed twice or more often") \
    S(SUM, lines_3, "lines", "of these: accessed 3 times or more often") \
    S(SUM, lines_4, "lines", "of these: accessed 4 times or more often") \
    S(SUM, lines_8, "lines", "of these: accessed 8 times or more often") \
    S(SUM, lines_16, "lines", "of these: accessed 16 times or more often") \
    S(SUM, lines_32, "lines", "of these: accessed 32 times or more often") \
    S(SUM, distance_0, "accesses", "accesses to the line of the access before") \
    S(SUM, distance_1, "accesses", "accesses to a line with 1 access to others since the last to it") \
    S(SUM, distance_2, "accesses", "accesses to a line with 2 accesses since the last to it") \
    S(SUM, distance_4, "accesses", "accesses to a line with 3 or 4 accesses since the last to it") \
    S(SUM, distance_8, "accesses", "accesses to a line with 5 to 8 accesses since the last to it") \
    S(SUM, distance_16, "accesses", "accesses to a line with 9 to 16 accesses since the last to it") \
    S(SUM, distance_32, "accesses", "accesses to a line with 17 to 32 accesses since the last to it") \
    S(SUM, distance_64, "accesses", "accesses to a line with 33 to 64 accesses since the last to it") \
    S(SUM, distance_128, "accesses", "accesses to a line with 65 to 128 accesses since the last to it") \
    S(SUM, distance_256, "accesses", "accesses to a line with 129 to 256 accesses since the last to it") \
    S(SUM, distance_512, "accesses", "accesses to a line with 257 to 512 accesses since the last to it") \
    S(SUM, distance_1024, "accesses", "accesses to a line with 513 to 1024 accesses since the last to it") \
    S(SUM, distance_2048, "accesses", "accesses to a line with 1025 to 2048 accesses since the last to it") \
    S(SUM, distance_more, "accesses", "accesses to a line with more than 2048 accesses since the last to it")

STATS_STRUCT(reuse_stats, REUSE_STATS);

/* Which accesses: off, reads, all. */
extern const struct family reuse_family;

/* Puts the observer between the SMs and their L1s, unless `which` is off. It goes with the L1. */
void reuse_observe(struct l1 *l1, const struct policy *which, const struct l1_context *context);

#endif
