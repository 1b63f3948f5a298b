/* Things that will happen to flits and credits: for each of the coming cycles a slot, with a list for each place where flits arrive and a mask for each
 * place where credits do. So what is on its way costs nothing until it arrives, and the next cycle with anything in it is found by a scan of bits.
 */
#ifndef SLUICE_NOC_TIMELINE_H
#define SLUICE_NOC_TIMELINE_H

#include "base/base.h"

#define TIMELINE_LISTS 4u
#define TIMELINE_MASKS 3u

struct timeline {
    uint32_t mask;                     /* slots - 1 */
    uint64_t *occupied;                /* a bit for each slot: there is something in it */
    uint16_t *count;                   /* [slots][TIMELINE_LISTS] */
    uint64_t *event[TIMELINE_LISTS];   /* [slots][capacity] */
    uint32_t capacity[TIMELINE_LISTS];
    uint64_t *credit[TIMELINE_MASKS];  /* [slots][words] */
    uint32_t words[TIMELINE_MASKS];
};

void timeline_init(struct timeline *time, uint64_t longest, const uint32_t capacity[TIMELINE_LISTS], const uint32_t words[TIMELINE_MASKS]);
void timeline_release(struct timeline *time);

/* A flit on a link: what, and the place that it arrives at. */
static inline uint64_t event_of(uint32_t flit, uint64_t target) { return target << 32 | flit; }

static inline void timeline_mark(struct timeline *time, uint64_t cycle) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    time->occupied[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* The end of a list, where more may be written; timeline_close then says up to where. */
static inline uint64_t *timeline_open(const struct timeline *time, unsigned list, uint64_t cycle) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    return time->event[list] + (size_t)slot * time->capacity[list] + time->count[slot * TIMELINE_LISTS + list];
}

static inline void timeline_close(struct timeline *time, unsigned list, uint64_t cycle, const uint64_t *end) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    ptrdiff_t count = end - (time->event[list] + (size_t)slot * time->capacity[list]);
    assert(count <= time->capacity[list]);
    time->count[slot * TIMELINE_LISTS + list] = (uint16_t)count;
    timeline_mark(time, cycle);
}

static inline void timeline_push(struct timeline *time, unsigned list, uint64_t cycle, uint64_t event) {
    uint64_t *end = timeline_open(time, list, cycle);
    *end = event;
    timeline_close(time, list, cycle, end + 1);
}

/* The words of a mask. Whoever sets bits in it marks the cycle. */
static inline uint64_t *timeline_credits(const struct timeline *time, unsigned mask, uint64_t cycle) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    return time->credit[mask] + (size_t)slot * time->words[mask];
}

/* The first cycle after `cycle` that is marked, NEVER if there is none. */
uint64_t timeline_next(const struct timeline *time, uint64_t cycle);

#endif
