/* LLC slice parallelism (LSP): the average number of slices accessed in parallel, total accesses divided by those of
 * the busiest slice ("Adaptive Memory-Side Last-Level GPU Caching", ISCA 2019, section 4.4). It is 1 if one slice
 * receives all accesses, and the number of slices if all receive the same number.
 *
 * Over a long time a good address mapping balances all slices even if they are imbalanced at every moment. Accesses can
 * therefore be counted in windows, each of which takes as long as its busiest slice: the sum of accesses over the sum
 * of the windows' maxima. A single window is the paper's formula. The counters have 16 bits; when one saturates, all
 * are halved.
 *
 * An access belongs to a window by its cycle, and only completed windows count, so that the order of accesses within a
 * cycle does not matter.
 */
#ifndef SLUICE_LLC_LSP_H
#define SLUICE_LLC_LSP_H

#include "base/base.h"

struct lsp {
    unsigned targets;
    uint64_t window_cycles, from, until; /* counts in cycles [from, until) */
    uint64_t window_end;
    uint32_t *count; /* [targets], of the current window */
    uint64_t sum, most;
    bool full; /* a counter saturated in full_at: all are halved before the next cycle's accesses */
    uint64_t full_at;
};

void lsp_init(struct lsp *lsp, unsigned targets);
void lsp_release(struct lsp *lsp);
/* Counts from `from` on for `cycles`, in windows of `window_cycles`; 0: a single window. */
void lsp_begin(struct lsp *lsp, uint64_t from, uint64_t cycles, uint64_t window_cycles);
void lsp_count(struct lsp *lsp, unsigned target, uint64_t cycle);
/* The LSP; 0 if there was no access. To be called no earlier than `until`. */
double lsp_end(struct lsp *lsp);

#endif
