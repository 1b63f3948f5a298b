/* An observer of the LLC: how many clusters want the same line at about the same time. Time is cut into windows; of every
 * line that is accessed in a window the clusters that access it are counted ("inter-cluster locality", Figure 3 of
 * Adaptive Memory-Side Last-Level GPU Caching, ISCA 2019, which uses windows of 1,000 cycles), and of those that their
 * kernel only reads the SMs, too (Figure 5 of Selective Replication in Memory-Side GPU Caches, where the text tells of
 * more than 2 and of more than 9). An SM is here what sends requests: an L1, where several SMs share one. It changes
 * nothing, and is not there unless llc.sharing_window asks for it. */
#ifndef SLUICE_LLC_SHARING_H
#define SLUICE_LLC_SHARING_H

#include "llc/llc.h"

#define SHARING_STATS(S) \
    S(SUM, lines_1, "lines", "lines of a window that one cluster accessed, summed over windows") \
    S(SUM, lines_2, "lines", "lines of a window that 2 clusters accessed") \
    S(SUM, lines_4, "lines", "lines of a window that 3 or 4 clusters accessed") \
    S(SUM, lines_8, "lines", "lines of a window that 5 to 8 clusters accessed") \
    S(SUM, lines_more, "lines", "lines of a window that more than 8 clusters accessed") \
    S(SUM, read_only_1, "lines", "lines of a window that one SM read, of what its kernel only reads") \
    S(SUM, read_only_2, "lines", "such lines that 2 SMs read") \
    S(SUM, read_only_4, "lines", "such lines that 3 or 4 SMs read") \
    S(SUM, read_only_8, "lines", "such lines that 5 to 8 SMs read") \
    S(SUM, read_only_9, "lines", "such lines that 9 SMs read") \
    S(SUM, read_only_more, "lines", "such lines that more than 9 SMs read")

STATS_STRUCT(sharing_stats, SHARING_STATS);

struct sharing;

/* `cluster_of` gives the cluster of each endpoint that sends requests, `endpoints` of them; copied. */
struct sharing *sharing_create(uint64_t window_cycles, const uint16_t *cluster_of, unsigned endpoints,
                               struct stats *stats);
void sharing_destroy(struct sharing *sharing);
void sharing_observe(struct sharing *sharing, struct slice *slice);
/* Counts the window that is open; at the end of a run. */
void sharing_finish(struct sharing *sharing);

#endif
