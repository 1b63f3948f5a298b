/* The control-flow graph of a lowered function and the reconvergence point of each branch: its immediate
 * post-dominator, the first block that every path to the function's end passes.
 *
 * Computed as in Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reverse graph with a
 * virtual exit after every block that leaves. A loop without an exit counts as leaving from its last block. */
#ifndef SLUICE_PTX_CFG_H
#define SLUICE_PTX_CFG_H

#include "base/arena.h"
#include "ptx/program.h"

struct cfg_block {
    uint32_t first, end;       /* operations */
    uint32_t successor, count; /* in `successors`: blocks; cfg->count is the exit */
    uint32_t ipdom;            /* block, or cfg->count */
};

struct cfg {
    struct cfg_block *blocks;
    uint32_t count;
    uint32_t *block_of; /* of each operation */
    uint32_t *successors, successor_count;
};

struct cfg *cfg_create(struct arena *arena, const struct program_function *function);
/* Sets op.reconverge of every branch. */
void cfg_reconverge(const struct cfg *cfg, struct program_function *function);

#endif
