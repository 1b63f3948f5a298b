/* 64 small counters in bit-sliced form: bit i of plane p is bit p of counter i. Any subset of them is incremented or
 * decremented in a few instructions. Credits and buffer occupancies are kept this way: the changes of a cycle are a
 * mask. */
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

/* The number of planes that counters up to `most` need, an argument of the functions below. */
static inline unsigned tally_planes(unsigned most) {
    assert(most < 1u << TALLY_PLANES);
    return log2_floor(most) + 1 < TALLY_UNROLLED ? TALLY_UNROLLED : log2_floor(most) + 1;
}

/* Increments every counter of `mask`. */
static inline void tally_add(struct tally *tally, uint64_t mask) {
    uint64_t *plane = tally->plane;
#pragma GCC unroll 4
    do {
        uint64_t sum = *plane ^ mask;
        *plane++ = sum;
        mask &= ~sum; /* where the bit was 1, it is carried */
    } while (mask);
}

/* Decrements every counter of `mask`, none of which is 0. Returns which of all 64 counters are not 0 afterwards. */
static inline uint64_t tally_take(struct tally *tally, unsigned planes, uint64_t mask) {
    uint64_t some = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < TALLY_UNROLLED; i++) {
        uint64_t plane = tally->plane[i] ^= mask;
        some |= plane;
        mask &= plane; /* where the bit was 0, the next plane lends */
    }
    for (unsigned i = TALLY_UNROLLED; i < planes; i++) {
        uint64_t plane = tally->plane[i] ^= mask;
        some |= plane;
        mask &= plane; /* where the bit was 0, the next plane lends */
    }
    assert(mask == 0);
    return some;
}

/* Sets a counter that is 0 to `value`, which is not. */
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
