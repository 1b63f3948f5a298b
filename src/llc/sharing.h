/* An observer of the LLC: how many clusters want the same line at about the same time. Time is cut into windows; of every
 * line that is accessed in a window the clusters that access it are counted ("inter-cluster locality", Figure 3 of
 * Adaptive Memory-Side Last-Level GPU Caching, ISCA 2019, which uses windows of 1,000 cycles). It changes nothing, and is
 * not there unless llc.sharing_window asks for it. */
#ifndef SLUICE_LLC_SHARING_H
#define SLUICE_LLC_SHARING_H

#include "llc/llc.h"

#define SHARING_STATS(S) \
    S(SUM, lines_1, "lines", "lines of a window that one cluster accessed, summed over windows") \
    S(SUM, lines_2, "lines", "lines of a window that 2 clusters accessed") \
    S(SUM, lines_4, "lines", "lines of a window that 3 or 4 clusters accessed") \
    S(SUM, lines_8, "lines", "lines of a window that 5 to 8 clusters accessed") \
    S(SUM, lines_more, "lines", "lines of a window that more than 8 clusters accessed")

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
