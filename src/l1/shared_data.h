/* An observer of the L1s: which lines several SMs use in the same kernel, whether that kernel only reads them, and how many
 * reads of them an L1 serves by itself. Figures 4 and 7 of "Selective Replication in Memory-Side GPU Caches". It changes
 * nothing, and is not there unless l1.observe_shared_data asks for it.
 *
 * Shared is a line that a second SM accesses and somebody reads; from then on its accesses count, and those before. Lines in
 * which only results of several SMs meet are not shared data. A line's history ends with its kernel, where L1s are emptied. Of two
 * programs at once, the end of either's kernel ends that of all lines.
 *
 * Left out: thread-local memory, and what SMs read through their instruction, constant and read-only caches.
 */
#ifndef SLUICE_L1_SHARED_DATA_H
#define SLUICE_L1_SHARED_DATA_H

#include "l1/l1.h"

#define SHARED_DATA_STATS(S) \
    S(SUM, lines, "lines", "lines that several SMs used and some read, summed over kernels") \
    S(SUM, read_only_lines, "lines", "of these: that nobody wrote in the kernel") \
    S(SUM, hits, "accesses", "reads of shared lines that an L1 served") \
    S(SUM, pending, "accesses", "reads of shared lines that waited for an earlier one's reply") \
    S(SUM, misses, "accesses", "reads of shared lines that were sent to the LLC")

STATS_STRUCT(shared_data_stats, SHARED_DATA_STATS);

/* Puts the observer between the SMs and their L1s. It goes with the L1. */
void shared_data_observe(struct l1 *l1, const struct l1_context *context);

#endif
