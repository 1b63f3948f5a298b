#include "noc/timeline.h"

#include <stdlib.h>

void timeline_init(struct timeline *time, uint64_t longest, const uint32_t capacity[TIMELINE_LISTS], const uint32_t words[TIMELINE_MASKS]) {
    uint32_t slots = (uint32_t)round_up_power_of_two(max_u64(longest + 1, 64));
    *time = (struct timeline){
        .mask = slots - 1,
        .occupied = mem_alloc(slots / 64, sizeof *time->occupied),
        .count = mem_alloc((size_t)slots * TIMELINE_LISTS, sizeof *time->count),
    };
    for (unsigned i = 0; i < TIMELINE_LISTS; i++) {
        time->capacity[i] = capacity[i];
        time->event[i] = mem_alloc((size_t)slots * capacity[i], sizeof *time->event[i]);
    }
    for (unsigned i = 0; i < TIMELINE_MASKS; i++) {
        time->words[i] = words[i];
        time->credit[i] = mem_alloc((size_t)slots * words[i], sizeof *time->credit[i]);
    }
}

void timeline_release(struct timeline *time) {
    for (unsigned i = 0; i < TIMELINE_LISTS; i++) free(time->event[i]);
    for (unsigned i = 0; i < TIMELINE_MASKS; i++) free(time->credit[i]);
    free(time->count);
    free(time->occupied);
}

uint64_t timeline_next(const struct timeline *time, uint64_t cycle) {
    uint32_t start = (uint32_t)(cycle + 1) & time->mask, words = time->mask / 64 + 1;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (start / 64 + i) & (words - 1);
        uint64_t bits = time->occupied[word];
        if (i == 0) bits = bits >> (start % 64) << (start % 64);
        if (bits) return cycle + 1 + ((word * 64 + lowest_bit(bits) - start) & time->mask);
    }
    return NEVER;
}
