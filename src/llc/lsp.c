#include "llc/lsp.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTER_MAX = 0xFFFF };

void lsp_init(struct lsp *lsp, unsigned targets) {
    *lsp = (struct lsp){.targets = targets, .count = mem_alloc(targets, sizeof *lsp->count)};
}

void lsp_release(struct lsp *lsp) { free(lsp->count); }

void lsp_begin(struct lsp *lsp, uint64_t from, uint64_t cycles, uint64_t window_cycles) {
    lsp->from = from;
    lsp->until = from + cycles;
    lsp->window_cycles = window_cycles ? window_cycles : cycles;
    lsp->window_end = from + lsp->window_cycles;
    lsp->sum = lsp->most = 0;
    lsp->full = false;
    memset(lsp->count, 0, lsp->targets * sizeof *lsp->count);
}

static void close_window(struct lsp *lsp) {
    uint32_t most = 0;
    for (unsigned i = 0; i < lsp->targets; i++) {
        lsp->sum += lsp->count[i];
        most = lsp->count[i] > most ? lsp->count[i] : most;
        lsp->count[i] = 0;
    }
    lsp->most += most;
}

void lsp_count(struct lsp *lsp, unsigned target, uint64_t cycle) {
    if (cycle < lsp->from || cycle >= lsp->until) return;
    if (cycle >= lsp->window_end) {
        close_window(lsp);
        lsp->window_end += ((cycle - lsp->window_end) / lsp->window_cycles + 1) * lsp->window_cycles;
    }
    if (lsp->full && cycle > lsp->full_at) {
        for (unsigned i = 0; i < lsp->targets; i++) lsp->count[i] /= 2;
        lsp->full = false;
    }
    if (++lsp->count[target] < COUNTER_MAX) return;
    lsp->full = true;
    lsp->full_at = cycle;
}

double lsp_end(struct lsp *lsp) {
    close_window(lsp);
    return lsp->most ? (double)lsp->sum / (double)lsp->most : 0;
}
