/* Which registers hold values that are still wanted, by backward dataflow over a function's blocks, and what follows:
 * how many registers a thread needs, and the numbers by which a scoreboard tells them apart.
 *
 * Registers needed are the 32-bit units live at once at the worst place (a 64-bit register counts two, one of 16 bits
 * one, a predicate none), at a call with those of what is called.
 *
 * Numbers 1..255 are given to live ranges in the order in which they begin, the number that has been free longest
 * first, so that a number comes back late and two instructions seldom look dependent that are not. Predicates have
 * numbers of the same kind. Where more than 255 ranges overlap, further ones share numbers in turn. A range is taken
 * as one stretch of the text from first to last place where the register lives.
 *
 * A guarded write leaves the old value to the lanes that the guard holds back, so it does not end a range. */
#ifndef SLUICE_PTX_LIVENESS_H
#define SLUICE_PTX_LIVENESS_H

#include "ptx/cfg.h"
#include "ptx/lower.h"

struct call_site {
    uint32_t op, units; /* live across it */
};

struct liveness {
    uint32_t units;  /* most at once, calls left out */
    uint8_t *number; /* of each register of the function */
    struct call_site *calls;
    uint32_t call_count;
};

struct liveness *liveness_create(struct arena *arena, const struct lowering *l, const struct cfg *cfg);

#endif
