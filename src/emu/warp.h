/* A warp as its operations see it: 32 lanes, registers side by side. The files that execute operations (integer.c,
 * floating.c, half.c, convert.c, ...) are lists of small functions over this; warp.c decides which one runs next. */
#ifndef SLUICE_EMU_WARP_H
#define SLUICE_EMU_WARP_H

#include "ptx/program.h"

struct cta;

struct warp {
    uint8_t *base[PLACE_BLOCKS]; /* where a place's offset counts from: window, constants, special registers */
    uint32_t *predicates;        /* of the running function; [0] is all ones */
    const uint32_t *elements;    /* of the running function: its element list (pack, unpack) */
    uint32_t carry;              /* the condition code, a bit for each lane */
    struct cta *cta;
};

/* Executes `op` for the lanes in `mask`: reads all sources before it writes, and leaves other lanes alone. */
typedef void op_handler(struct warp *warp, const struct op *op, uint32_t mask);

/* What executes an operation that concerns only registers; NULL if there is no such combination. Asked once for each
 * operation of a program, when it is loaded. */
op_handler *op_handler_find(const struct op *op);

static inline void *warp_place(const struct warp *warp, uint32_t place) {
    return warp->base[place >> PLACE_SHIFT] + (place & ((UINT32_C(1) << PLACE_SHIFT) - 1));
}
static inline uint32_t warp_predicate(const struct warp *warp, uint32_t operand) {
    return warp->predicates[operand >> 1] ^ -(operand & 1);
}
static inline void warp_set_predicate(struct warp *warp, uint32_t operand, uint32_t value, uint32_t mask) {
    uint32_t *p = &warp->predicates[operand >> 1];
    *p = (*p & ~mask) | (value & mask);
}

#endif
