/* The values of a points-to analysis (pointers.h): how they flow from operands to results, and their sets at the fixed
 * point. */
#ifndef SLUICE_PTX_FLOWS_H
#define SLUICE_PTX_FLOWS_H

#include "ptx/lower.h"

/* How the operands of an instruction determine its result; the head of pointers.h gives the rules. */
enum flow_kind {
    FLOW_COPY,       /* the same bits */
    FLOW_NUMBER,     /* a number computed from them */
    FLOW_SUM,        /* a + b */
    FLOW_DIFFERENCE, /* a - b */
    FLOW_BITS,       /* a | b, a ^ b */
};

struct flow {
    enum flow_kind kind;
    uint32_t from, other, to;
};

/* The value points to the object, or is derived from its address. */
struct seed {
    uint32_t object, value;
    bool derived;
};

/* The number of words of half a set. */
static inline uint32_t flows_words(uint32_t object_count) { return (object_count + 63) / 64; }

/* The sets of all values, from lists of struct flow and struct seed. The value 0 has no flows. */
uint64_t *flows_solve(struct arena *arena, const struct list *flows, const struct list *seeds, uint32_t value_count,
                      uint32_t words);

#endif
