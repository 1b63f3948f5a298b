/* What the policies of re-reference interval prediction have in common ("High Performance Cache Replacement Using
 * Re-Reference Interval Prediction (RRIP)", ISCA 2010): a line has a prediction of M bits of how far away its next use
 * is, from 0 (near) to 2^M - 1 (distant). A distant line goes, the first by its way; if none is distant, all lines age
 * until one is. The policies differ in what they predict of a line when it is placed.
 *
 * Ageing is put off until the victim is replaced: until then the victim is the first of those with the largest
 * prediction, which is the same line, and asking changes nothing. Reserved lines age but are passed over.
 *
 * A policy's state begins with a `struct rrip`, so that the functions below are its operations.
 */
#ifndef SLUICE_CACHE_RRIP_H
#define SLUICE_CACHE_RRIP_H

#include "cache/cache.h"

struct rrip {
    unsigned ways;
    uint8_t distant;     /* the largest prediction */
    uint8_t *prediction; /* [sets][ways] */
};

#define RRIP_BITS(owner) P_INT(owner, bits, 2, 1, 6, "bits", "of a line's predicted distance to its next use")

/* Of `size` bytes, which begin with a struct rrip. */
void *rrip_create(size_t size, unsigned sets, unsigned ways, int64_t bits);
void rrip_destroy(void *state);
void rrip_touch(void *state, unsigned set, unsigned way, const struct cache_access *access);
void rrip_evict(void *state, unsigned set, unsigned way);
int rrip_victim(void *state, unsigned set, const struct cache_line *lines);

static inline uint8_t *rrip_prediction(const struct rrip *rrip, unsigned set, unsigned way) {
    return &rrip->prediction[(size_t)set * rrip->ways + way];
}

/* What a new line is given that is likely to be used again, if not soon. */
static inline uint8_t rrip_long(const struct rrip *rrip) { return (uint8_t)(rrip->distant - 1); }

/* Bimodal insertion: of a working set that does not fit, some lines stay. */
struct bimodal {
    unsigned one_in, placed;
};

#define RRIP_ONE_IN(owner) \
    P_INT(owner, one_in, 32, 1, 65536, "lines", "of which one is expected to be used again, in bimodal insertion")

static inline uint8_t bimodal_next(struct bimodal *bimodal, const struct rrip *rrip) {
    if (++bimodal->placed < bimodal->one_in) return rrip->distant;
    bimodal->placed = 0;
    return rrip_long(rrip);
}

#endif
