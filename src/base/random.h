/* A small random number generator (splitmix64): one word of state, the same sequence on every host. */
#ifndef SLUICE_BASE_RANDOM_H
#define SLUICE_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A number below `bound`; the bias is below 2^-32 for the bounds used here. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
    return (uint64_t)(((unsigned __int128)random_next(state) * bound) >> 64);
}

#endif
