/* Many small counters side by side: bit i of plane p is bit p of counter i. To count one up or down in any of 64 counters at once costs a few instructions
 * for all of them, because most carries end in the first planes. Credits are kept so: what is returned or spent in a cycle is a mask.
 */
#ifndef SLUICE_NOC_TALLY_H
#define SLUICE_NOC_TALLY_H

#include <stdlib.h>

#include "base/base.h"

enum { TALLY_UNROLLED = 4 }; /* planes that there always are */

struct tally {
    unsigned planes;
    uint64_t *plane; /* [words][planes] */
};

/* Counters of value 0 that can go up to `most`. */
static inline void tally_init(struct tally *tally, unsigned words, unsigned most) {
    tally->planes = log2_floor(most) + 1 < TALLY_UNROLLED ? TALLY_UNROLLED : log2_floor(most) + 1;
    tally->plane = mem_alloc((size_t)words * tally->planes, sizeof *tally->plane);
}

static inline void tally_release(struct tally *tally) { free(tally->plane); }

/* One more in every counter of `mask`. */
static inline void tally_add(struct tally *tally, unsigned word, uint64_t mask) {
    uint64_t *plane = &tally->plane[word * tally->planes];
    for (; mask; plane++) {
        uint64_t carry = *plane & mask;
        *plane ^= mask;
        mask = carry;
    }
}

/* One less in every counter of `mask`, none of which is 0. Returns those that are not 0 then, of all counters of the word. */
static inline uint64_t tally_take(struct tally *tally, unsigned word, uint64_t mask) {
    uint64_t *plane = &tally->plane[word * tally->planes], some = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < TALLY_UNROLLED; i++) {
        uint64_t borrow = ~plane[i] & mask;
        some |= plane[i] ^= mask;
        mask = borrow;
    }
    for (unsigned i = TALLY_UNROLLED; i < tally->planes; i++) {
        uint64_t borrow = ~plane[i] & mask;
        some |= plane[i] ^= mask;
        mask = borrow;
    }
    assert(mask == 0);
    return some;
}

static inline unsigned tally_value(const struct tally *tally, unsigned index) {
    unsigned value = 0;
    for (unsigned i = 0; i < tally->planes; i++)
        value |= (unsigned)(tally->plane[index / 64 * tally->planes + i] >> (index % 64) & 1) << i;
    return value;
}

static inline void tally_set(struct tally *tally, unsigned index, unsigned value) {
    for (unsigned i = 0; i < tally->planes; i++) {
        uint64_t *plane = &tally->plane[index / 64 * tally->planes + i], bit = UINT64_C(1) << (index % 64);
        *plane = value >> i & 1 ? *plane | bit : *plane & ~bit;
    }
}

#endif
