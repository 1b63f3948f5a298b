/* Common part of the re-reference interval prediction policies ("High Performance Cache Replacement Using Re-Reference
 * Interval Prediction (RRIP)", ISCA 2010): each line has an M-bit prediction of its next use, from 0 (near) to 2^M - 1
 * (distant). The victim is the first distant line in way order; if no line is distant, all lines age until one is. The
 * policies differ in the prediction at insertion.
 *
 * Ageing is deferred until the victim is replaced. Until then the victim is the first line with the largest prediction,
 * which is the same line, and selecting it changes no state. Reserved lines age but are not selected.
 *
 * A policy's state begins with a `struct rrip`, so the functions below are its operations.
 */
#ifndef SLUICE_CACHE_RRIP_H
#define SLUICE_CACHE_RRIP_H

#include "cache/cache.h"

struct rrip {
    unsigned ways;
    uint8_t distant;     /* largest prediction, 2^M - 1 */
    uint8_t *prediction; /* [sets][ways] */
};

#define RRIP_BITS(owner) P_INT(owner, bits, 2, 1, 6, "bits", "width of the re-reference prediction (RRPV)")

/* Allocates `size` bytes that begin with a struct rrip. */
void *rrip_create(size_t size, unsigned sets, unsigned ways, int64_t bits);
void rrip_destroy(void *state);
void rrip_touch(void *state, unsigned set, unsigned way, const struct cache_access *access);
void rrip_evict(void *state, unsigned set, unsigned way);
int rrip_victim(void *state, unsigned set, const struct cache_line *lines);

static inline uint8_t *rrip_prediction(const struct rrip *rrip, unsigned set, unsigned way) {
    return &rrip->prediction[(size_t)set * rrip->ways + way];
}

/* The insertion value of SRRIP: reuse is likely, but not soon. */
static inline uint8_t rrip_long(const struct rrip *rrip) { return (uint8_t)(rrip->distant - 1); }

/* Bimodal insertion: retains part of a working set larger than the cache. */
struct bimodal {
    unsigned one_in, placed;
};

#define RRIP_ONE_IN(owner) \
    P_INT(owner, one_in, 32, 1, 65536, "lines", \
          "bimodal insertion: 1 of N lines is inserted with a long instead of a distant prediction")

static inline uint8_t bimodal_next(struct bimodal *bimodal, const struct rrip *rrip) {
    if (++bimodal->placed < bimodal->one_in) return rrip->distant;
    bimodal->placed = 0;
    return rrip_long(rrip);
}

#endif
