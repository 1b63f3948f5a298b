/* A FIFO of 32-bit numbers with a fixed capacity; the caller guarantees that a push fits. */
#ifndef SLUICE_BASE_RING_H
#define SLUICE_BASE_RING_H

#include <stdlib.h>

#include "base/base.h"

struct ring {
    uint32_t *item;
    uint32_t mask, pushed, popped; /* free-running counts */
};

static inline void ring_init(struct ring *ring, uint64_t room) {
    *ring = (struct ring){.mask = (uint32_t)round_up_power_of_two(room) - 1};
    ring->item = mem_alloc((size_t)ring->mask + 1, sizeof *ring->item);
}
static inline void ring_release(struct ring *ring) { free(ring->item); }

static inline uint32_t ring_count(const struct ring *ring) { return ring->pushed - ring->popped; }
static inline bool ring_empty(const struct ring *ring) { return ring->pushed == ring->popped; }
static inline void ring_push(struct ring *ring, uint32_t item) { ring->item[ring->pushed++ & ring->mask] = item; }
static inline uint32_t ring_first(const struct ring *ring) { return ring->item[ring->popped & ring->mask]; }
static inline uint32_t ring_pop(struct ring *ring) { return ring->item[ring->popped++ & ring->mask]; }

#endif
