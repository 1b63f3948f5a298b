/* An observer of the L1s: how many other groups hold a line that a group reads and does not have. Figures 4, 5 and 6 of
 * "GPU Performance Optimization via Inter-group Cache Cooperation". It changes nothing, and is not there unless
 * l1.observe_duplication asks for it.
 *
 * A group is a set of L1s that share an address range, so that it holds a line at most once; a private L1 is one by itself.
 * Counted are reads that fetch their line, each with the groups that hold it at the beginning of the cycle, its own
 * excepted. A line on its way is not held.
 */
#ifndef SLUICE_L1_DUPLICATION_H
#define SLUICE_L1_DUPLICATION_H

#include "l1/l1.h"

enum { DUPLICATION_GROUPS_MAX = 64, DUPLICATION_NAMED = 16 /* groups that have a counter of their own */ };

/* One instance for each group: of the misses of that group. */
#define DUPLICATION_STATS(S) \
    S(SUM, misses, "accesses", "reads that fetched their line") \
    S(SUM, copies_0, "accesses", "of these: no other group held the line") \
    S(SUM, copies_1, "accesses", "of these: 1 other group did") \
    S(SUM, copies_2, "accesses", "of these: 2 other groups did") \
    S(SUM, copies_4, "accesses", "of these: 3 or 4 other groups did") \
    S(SUM, copies_7, "accesses", "of these: 5 to 7 other groups did") \
    S(SUM, copies_more, "accesses", "of these: 8 or more other groups did") \
    S(SUM, adjacent, "accesses", "of the misses: the group before or behind, in a ring, held the line") \
    S(SUM, held_by_0, "accesses", "of the misses: group 0 held the line") \
    S(SUM, held_by_1, "accesses", "of the misses: group 1 held the line") \
    S(SUM, held_by_2, "accesses", "of the misses: group 2 held the line") \
    S(SUM, held_by_3, "accesses", "of the misses: group 3 held the line") \
    S(SUM, held_by_4, "accesses", "of the misses: group 4 held the line") \
    S(SUM, held_by_5, "accesses", "of the misses: group 5 held the line") \
    S(SUM, held_by_6, "accesses", "of the misses: group 6 held the line") \
    S(SUM, held_by_7, "accesses", "of the misses: group 7 held the line") \
    S(SUM, held_by_8, "accesses", "of the misses: group 8 held the line") \
    S(SUM, held_by_9, "accesses", "of the misses: group 9 held the line") \
    S(SUM, held_by_10, "accesses", "of the misses: group 10 held the line") \
    S(SUM, held_by_11, "accesses", "of the misses: group 11 held the line") \
    S(SUM, held_by_12, "accesses", "of the misses: group 12 held the line") \
    S(SUM, held_by_13, "accesses", "of the misses: group 13 held the line") \
    S(SUM, held_by_14, "accesses", "of the misses: group 14 held the line") \
    S(SUM, held_by_15, "accesses", "of the misses: group 15 held the line")

STATS_STRUCT(duplication_stats, DUPLICATION_STATS);

/* Watches the L1s of an organisation. It goes with them. */
void duplication_observe(struct l1 *l1, struct l1_shape shape, struct stats *stats);

#endif
