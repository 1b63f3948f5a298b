/* LLC slice parallelism: the average number of slices that are accessed at once, sum of accesses over the most that one
 * slice gets ("Adaptive Memory-Side Last-Level GPU Caching", ISCA 2019, section 4.4). It is 1 if one slice gets all and the number
 * of slices if all get as many.
 *
 * Over a long time a good address mapping makes all slices equal, however unequal they are at any moment; so accesses can be
 * counted in windows, each of which takes as long as its busiest slice: the sum of accesses over the sum of the
 * windows' maxima. One window is the paper's formula. The counters have 16 bits; when one is full, all are halved.
 *
 * An access belongs to a window by its cycle, and only windows that have ended count, so that it does not matter in which
 * order the accesses of a cycle come.
 */
#ifndef SLUICE_LLC_LSP_H
#define SLUICE_LLC_LSP_H

#include "base/base.h"

struct lsp {
    unsigned targets;
    uint64_t window_cycles, from, until; /* counts in cycles of [from, until) */
    uint64_t window_end;
    uint32_t *count; /* [targets], of the open window */
    uint64_t sum, most;
    bool full; /* a counter, since full_at: all are halved before the next cycle's accesses */
    uint64_t full_at;
};

void lsp_init(struct lsp *lsp, unsigned targets);
void lsp_release(struct lsp *lsp);
/* Counts from `from` on for `cycles`, in windows of `window_cycles`; 0: one window. */
void lsp_begin(struct lsp *lsp, uint64_t from, uint64_t cycles, uint64_t window_cycles);
void lsp_count(struct lsp *lsp, unsigned target, uint64_t cycle);
/* At a time not before `until`. 0 if there was no access. */
double lsp_end(struct lsp *lsp);

#endif
