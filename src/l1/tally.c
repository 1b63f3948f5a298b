#include "l1/tally.h"

#include <stdlib.h>
#include <string.h>

void tally_release(struct tally *tally) {
    free(tally->entry);
    *tally = (struct tally){0};
}

void tally_clear(struct tally *tally) {
    if (tally->used) memset(tally->entry, 0, tally->room * sizeof *tally->entry);
    tally->used = 0;
}

/* Where the key is or would be. There is always an empty place. */
static struct tally_entry *place_of(const struct tally *tally, uint64_t key) {
    uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    while (tally->entry[at & (tally->room - 1)].count && tally->entry[at & (tally->room - 1)].key != key) at++;
    return &tally->entry[at & (tally->room - 1)];
}

static void grow(struct tally *tally) {
    struct tally old = *tally;
    tally->room = old.room ? 2 * old.room : 256;
    tally->entry = mem_alloc(tally->room, sizeof *tally->entry);
    for (uint32_t i = 0; i < old.room; i++)
        if (old.entry[i].count) *place_of(tally, old.entry[i].key) = old.entry[i];
    free(old.entry);
}

void tally_add(struct tally *tally, uint64_t key, uint64_t count) {
    if (4 * (uint64_t)tally->used >= 3 * (uint64_t)tally->room) grow(tally);
    struct tally_entry *entry = place_of(tally, key);
    tally->used += entry->count == 0;
    *entry = (struct tally_entry){key, entry->count + count};
}

uint64_t tally_of(const struct tally *tally, uint64_t key) { return tally->used ? place_of(tally, key)->count : 0; }

static int by_key(const void *a, const void *b) {
    uint64_t left = ((const struct tally_entry *)a)->key, right = ((const struct tally_entry *)b)->key;
    return (left > right) - (left < right);
}

struct tally_entry *tally_sorted(const struct tally *tally) {
    struct tally_entry *sorted = mem_alloc(tally->used + 1u, sizeof *sorted);
    uint32_t count = 0;
    for (uint32_t i = 0; i < tally->room; i++)
        if (tally->entry[i].count) sorted[count++] = tally->entry[i];
    qsort(sorted, count, sizeof *sorted, by_key);
    return sorted;
}
