/* Register liveness by backward dataflow over a function's blocks. It yields the number of registers a thread needs and
 * the register numbers that the scoreboard uses.
 *
 * Registers needed: the largest number of 32-bit units live at once (a 64-bit register counts two, a 16-bit register
 * one, a predicate none); at a call, including the callee's.
 *
 * Numbers 1..255 are assigned to live ranges in order of their start, least recently freed first, so that reuse rarely
 * creates false dependences. Predicates share these numbers. If more than 255 ranges overlap, further ones share
 * numbers round robin. A range extends from the first to the last operation at which the register is live.
 *
 * A guarded write keeps the old value in the lanes that the guard masks, so it does not end a range. */
#ifndef SLUICE_PTX_LIVENESS_H
#define SLUICE_PTX_LIVENESS_H

#include "ptx/cfg.h"
#include "ptx/lower.h"

struct call_site {
    uint32_t op, units; /* live across it */
};

struct liveness {
    uint32_t units;  /* largest number at once, without calls */
    uint8_t *number; /* of each register of the function */
    struct call_site *calls;
    uint32_t call_count;
};

struct liveness *liveness_create(struct arena *arena, const struct lowering *l, const struct cfg *cfg);

#endif
