/* An observer of the L1s: how many other groups hold a line that a group misses. Figures 4, 5 and 6 of "GPU Performance
 * Optimization via Inter-group Cache Cooperation". It does not affect timing and exists only if l1.observe_duplication
 * is set.
 *
 * A group is a set of L1s over which the address space is interleaved, so it holds a line at most once; a private L1 is
 * its own group. For each read miss that allocates, the other groups that hold the line at the beginning of the cycle
 * are counted, twice: without lines in flight, which a group has requested and not received, and with them (`all_*`).
 * The paper does not say which it counts. A line in flight becomes stale by a store of its group and is not counted from
 * then on, since it will be dropped.
 */
#ifndef SLUICE_L1_DUPLICATION_H
#define SLUICE_L1_DUPLICATION_H

#include "l1/l1.h"

enum { DUPLICATION_GROUPS_MAX = 64, DUPLICATION_NAMED = 16 /* groups with their own counter */ };

/* One instance per group, for the misses of that group. */
#define DUPLICATION_STATS(S) \
    S(SUM, misses, "accesses", "read misses that allocate") \
    S(SUM, copies_0, "accesses", "misses with no other group holding the line") \
    S(SUM, copies_1, "accesses", "misses with 1 other group holding the line") \
    S(SUM, copies_2, "accesses", "misses with 2 other groups holding the line") \
    S(SUM, copies_4, "accesses", "misses with 3 or 4 other groups holding the line") \
    S(SUM, copies_7, "accesses", "misses with 5 to 7 other groups holding the line") \
    S(SUM, copies_more, "accesses", "misses with 8 or more other groups holding the line") \
    S(SUM, adjacent, "accesses", "misses with the previous or next group of the ring holding the line") \
    S(SUM, all_copies_0, "accesses", "misses with no other group holding or fetching the line") \
    S(SUM, all_copies_1, "accesses", "misses with 1 other group holding or fetching the line") \
    S(SUM, all_copies_2, "accesses", "misses with 2 other groups holding or fetching the line") \
    S(SUM, all_copies_4, "accesses", "misses with 3 or 4 other groups holding or fetching the line") \
    S(SUM, all_copies_7, "accesses", "misses with 5 to 7 other groups holding or fetching the line") \
    S(SUM, all_copies_more, "accesses", "misses with 8 or more other groups holding or fetching the line") \
    S(SUM, all_adjacent, "accesses", "misses with the previous or next group holding or fetching the line") \
    S(SUM, held_by_0, "accesses", "misses with group 0 holding the line") \
    S(SUM, held_by_1, "accesses", "misses with group 1 holding the line") \
    S(SUM, held_by_2, "accesses", "misses with group 2 holding the line") \
    S(SUM, held_by_3, "accesses", "misses with group 3 holding the line") \
    S(SUM, held_by_4, "accesses", "misses with group 4 holding the line") \
    S(SUM, held_by_5, "accesses", "misses with group 5 holding the line") \
    S(SUM, held_by_6, "accesses", "misses with group 6 holding the line") \
    S(SUM, held_by_7, "accesses", "misses with group 7 holding the line") \
    S(SUM, held_by_8, "accesses", "misses with group 8 holding the line") \
    S(SUM, held_by_9, "accesses", "misses with group 9 holding the line") \
    S(SUM, held_by_10, "accesses", "misses with group 10 holding the line") \
    S(SUM, held_by_11, "accesses", "misses with group 11 holding the line") \
    S(SUM, held_by_12, "accesses", "misses with group 12 holding the line") \
    S(SUM, held_by_13, "accesses", "misses with group 13 holding the line") \
    S(SUM, held_by_14, "accesses", "misses with group 14 holding the line") \
    S(SUM, held_by_15, "accesses", "misses with group 15 holding the line")

STATS_STRUCT(duplication_stats, DUPLICATION_STATS);

/* Attaches the observer to the L1s of an organisation, which then owns it. */
void duplication_observe(struct l1 *l1, struct l1_shape shape, struct stats *stats);

#endif
