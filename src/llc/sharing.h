/* An observer of the LLC: how many clusters access the same line at about the same time. Time is divided into windows;
 * for each line accessed in a window the clusters that access it are counted ("inter-cluster locality", Figure 3 of
 * Adaptive Memory-Side Last-Level GPU Caching, ISCA 2019, which uses windows of 1,000 cycles), and for read-only lines
 * the SMs, too (Figure 5 of Selective Replication in Memory-Side GPU Caches, whose text gives the shares of more than 2
 * and of more than 9). An SM here is a sender of requests: an L1, if several SMs share one. The observer changes
 * nothing, and exists only if llc.sharing_window is set. */
#ifndef SLUICE_LLC_SHARING_H
#define SLUICE_LLC_SHARING_H

#include "llc/llc.h"

#define SHARING_STATS(S) \
    S(SUM, lines_1, "lines", "lines accessed by one cluster in a window, summed over windows") \
    S(SUM, lines_2, "lines", "lines accessed by 2 clusters in a window") \
    S(SUM, lines_4, "lines", "lines accessed by 3 or 4 clusters in a window") \
    S(SUM, lines_8, "lines", "lines accessed by 5 to 8 clusters in a window") \
    S(SUM, lines_more, "lines", "lines accessed by more than 8 clusters in a window") \
    S(SUM, read_only_1, "lines", "read-only lines read by one SM in a window, summed over windows") \
    S(SUM, read_only_2, "lines", "read-only lines read by 2 SMs in a window") \
    S(SUM, read_only_4, "lines", "read-only lines read by 3 or 4 SMs in a window") \
    S(SUM, read_only_8, "lines", "read-only lines read by 5 to 8 SMs in a window") \
    S(SUM, read_only_9, "lines", "read-only lines read by 9 SMs in a window") \
    S(SUM, read_only_more, "lines", "read-only lines read by more than 9 SMs in a window")

STATS_STRUCT(sharing_stats, SHARING_STATS);

struct sharing;

/* `cluster_of` is the cluster of each of the `endpoints` that send requests; it is copied. */
struct sharing *sharing_create(uint64_t window_cycles, const uint16_t *cluster_of, unsigned endpoints,
                               struct stats *stats);
void sharing_destroy(struct sharing *sharing);
void sharing_observe(struct sharing *sharing, struct slice *slice);
/* Counts the current window; to be called at the end of a run. */
void sharing_finish(struct sharing *sharing);

#endif
