/* The coming cycles of a fabric, as a ring of rows. Events in flight (flits on links, returning credits) are bits in
 * the row of the cycle in which they arrive, and cost nothing until then. One bit per row marks rows that are not
 * empty, so that a scan finds the next cycle with an event. */
#ifndef SLUICE_NOC_TIMELINE_H
#define SLUICE_NOC_TIMELINE_H

#include <stdlib.h>

#include "base/base.h"

struct timeline {
    uint32_t mask; /* rows - 1 */
    uint32_t row_shift;
    uint64_t *occupied; /* a bit for each row */
    uint64_t *row;      /* [rows] of 1 << row_shift words */
};

/* Enough rows of `words` words for events up to `longest` cycles ahead. */
static inline void timeline_init(struct timeline *time, uint64_t longest, unsigned words) {
    uint32_t rows = (uint32_t)round_up_power_of_two(max_u64(longest + 1, 64));
    *time = (struct timeline){.mask = rows - 1,
                              .row_shift = log2_floor(round_up_power_of_two(words)),
                              .occupied = mem_alloc(rows / 64, sizeof *time->occupied)};
    time->row = mem_alloc_lines((size_t)rows << time->row_shift, sizeof *time->row);
}

static inline void timeline_release(struct timeline *time) {
    free(time->row);
    free(time->occupied);
}

/* The row of a cycle. The writer also marks the cycle. */
static inline uint64_t *timeline_row(const struct timeline *time, uint64_t cycle) {
    return time->row + ((size_t)((uint32_t)cycle & time->mask) << time->row_shift);
}

static inline void timeline_mark(struct timeline *time, uint64_t cycle) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    time->occupied[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* Clears the cycle's mark. Returns whether it was set. */
static inline bool timeline_take(struct timeline *time, uint64_t cycle) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    uint64_t bit = UINT64_C(1) << (slot % 64), marked = time->occupied[slot / 64] & bit;
    time->occupied[slot / 64] ^= marked;
    return marked != 0;
}

/* The first marked cycle after `cycle`; NEVER if there is none. */
static inline uint64_t timeline_next(const struct timeline *time, uint64_t cycle) {
    uint32_t start = (uint32_t)(cycle + 1) & time->mask, words = time->mask / 64 + 1;
    if (LIKELY(words == 1)) {
        uint64_t ahead = time->occupied[0] >> start | time->occupied[0] << (-start & 63);
        return ahead ? cycle + 1 + lowest_bit(ahead) : NEVER;
    }
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (start / 64 + i) & (words - 1);
        uint64_t bits = time->occupied[word];
        if (i == 0) bits = bits >> (start % 64) << (start % 64);
        if (bits) return cycle + 1 + ((word * 64 + lowest_bit(bits) - start) & time->mask);
    }
    return NEVER;
}

#endif
