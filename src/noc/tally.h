/* Many small counters side by side: bit i of plane p is bit p of counter i, so a word has 64 of them. To count up or
 * down by one in any of them at once costs a few instructions for all. Credits and fill levels are kept so: what is
 * spent, returned, filled or emptied in a cycle is a mask.
 */
#ifndef SLUICE_NOC_TALLY_H
#define SLUICE_NOC_TALLY_H

#include "base/base.h"

enum {
    TALLY_PLANES = 10,  /* counts up to 1023 */
    TALLY_UNROLLED = 4, /* planes that are always in use */
};

struct tally {
    uint64_t plane[TALLY_PLANES];
};

/* How many planes counters up to `most` need: what the functions below are told. */
static inline unsigned tally_planes(unsigned most) {
    assert(most < 1u << TALLY_PLANES);
    return log2_floor(most) + 1 < TALLY_UNROLLED ? TALLY_UNROLLED : log2_floor(most) + 1;
}

/* One more in every counter of `mask`. */
static inline void tally_add(struct tally *tally, uint64_t mask) {
    for (uint64_t *plane = tally->plane; mask; plane++) {
        uint64_t carry = *plane & mask;
        *plane ^= mask;
        mask = carry;
    }
}

/* One less in every counter of `mask`, none of which is 0. Returns those of all 64 that are not 0 then. */
static inline uint64_t tally_take(struct tally *tally, unsigned planes, uint64_t mask) {
    uint64_t some = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < TALLY_UNROLLED; i++) {
        uint64_t plane = tally->plane[i];
        some |= tally->plane[i] = plane ^ mask;
        mask &= ~plane;
    }
    for (unsigned i = TALLY_UNROLLED; i < planes; i++) {
        uint64_t plane = tally->plane[i];
        some |= tally->plane[i] = plane ^ mask;
        mask &= ~plane;
    }
    assert(mask == 0);
    return some;
}

/* A counter that is 0 becomes `value`, which is not. */
static inline void tally_start(struct tally *tally, unsigned index, unsigned value) {
    assert(value);
    do tally->plane[lowest_bit(value)] |= UINT64_C(1) << index;
    while (value &= value - 1);
}

static inline unsigned tally_value(const struct tally *tally, unsigned index) {
    unsigned value = 0;
    for (unsigned i = 0; i < TALLY_PLANES; i++) value |= (unsigned)(tally->plane[i] >> index & 1) << i;
    return value;
}

static inline void tally_set(struct tally *tally, unsigned index, unsigned value) {
    for (unsigned i = 0; i < TALLY_PLANES; i++) {
        uint64_t bit = UINT64_C(1) << index;
        tally->plane[i] = value >> i & 1 ? tally->plane[i] | bit : tally->plane[i] & ~bit;
    }
}

#endif
