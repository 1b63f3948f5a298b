/* An observer of the L1s: which lines several SMs use in the same kernel, whether the kernel only reads them, and how
 * many reads of them the L1s serve. Figures 4 and 7 of "Selective Replication in Memory-Side GPU Caches". It does not
 * affect timing and exists only if l1.observe_shared_data is set.
 *
 * A line is shared once a second SM has accessed it and any SM has read it; then all its accesses count, earlier ones
 * included. Lines that several SMs only write are not shared data. The history of a line ends with the kernel, when the
 * L1s are invalidated. With two programs, the end of a kernel of either ends the history of all lines.
 *
 * Not modelled: thread-local memory, and reads through the instruction, constant and read-only caches.
 */
#ifndef SLUICE_L1_SHARED_DATA_H
#define SLUICE_L1_SHARED_DATA_H

#include "l1/l1.h"

#define SHARED_DATA_STATS(S) \
    S(SUM, lines, "lines", "lines shared by several SMs, summed over kernels") \
    S(SUM, read_only_lines, "lines", "shared lines not written in the kernel") \
    S(SUM, hits, "accesses", "L1 read hits on shared lines") \
    S(SUM, pending, "accesses", "L1 read pending hits on shared lines") \
    S(SUM, misses, "accesses", "L1 read misses on shared lines, sent to the LLC")

STATS_STRUCT(shared_data_stats, SHARED_DATA_STATS);

/* Inserts the observer between the SMs and their L1s. The L1 owns it. */
void shared_data_observe(struct l1 *l1, const struct l1_context *context);

#endif
