/* A warp as operations see it: 32 lanes, with the registers of a lane row contiguous. Operations (integer.c,
 * floating.c, half.c, convert.c, ...) are lists of small functions on it; warp.c selects the next one. */
#ifndef SLUICE_EMU_WARP_H
#define SLUICE_EMU_WARP_H

#include "ptx/program.h"

struct cta;

struct warp {
    uint8_t *base[PLACE_BLOCKS]; /* base addresses of places: window, constants, special registers */
    uint32_t *predicates;        /* of the running function; [0] is all ones */
    const uint32_t *elements;    /* element list of the running function (pack, unpack) */
    uint32_t carry;              /* the condition code, one bit per lane */
    struct cta *cta;
};

/* Executes `op` for the lanes in `mask`: reads all sources before writing, and does not change other lanes. */
typedef void op_handler(struct warp *warp, const struct op *op, uint32_t mask);

/* The handler of an operation that accesses only registers; NULL if the combination is not supported. Called once for
 * each operation when a program is loaded. */
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
