/* Miss-status holding registers: one entry per line in flight, with the list of its waiters.
 *
 * A waiter is defined by the user: a load/store unit token in an L1, a message in an LLC slice. Entries come from a
 * free list, so allocation, merging and release take constant time. `cache_line.mshr` is the entry of a reserved line.
 */
#ifndef SLUICE_CACHE_MSHR_H
#define SLUICE_CACHE_MSHR_H

#include <string.h>

#include "base/base.h"

enum { MSHR_NONE = 0xFFFF };

struct mshr {
    uint32_t set;     /* set of the line in flight */
    uint16_t way;     /* way of the line; CACHE_NONE if none is reserved */
    uint16_t waiters; /* number of waiters, the first included */
    uint16_t drained; /* waiters already answered */
    uint16_t next;    /* free list */
};

struct mshr_table {
    unsigned entries, merges; /* merges: maximum number of waiters per entry, the first included */
    unsigned in_use;
    uint16_t free;
    size_t waiter_bytes;
    struct mshr *mshr;
    unsigned char *waiter; /* [entries][merges] */
};

void mshr_init(struct mshr_table *table, unsigned entries, unsigned merges, size_t waiter_bytes);
void mshr_release(struct mshr_table *table);

static inline bool mshr_full(const struct mshr_table *table) { return table->free == MSHR_NONE; }

static inline bool mshr_can_merge(const struct mshr_table *table, unsigned index) {
    return table->mshr[index].waiters < table->merges;
}

static inline unsigned mshr_take(struct mshr_table *table) {
    assert(!mshr_full(table));
    unsigned index = table->free;
    table->free = table->mshr[index].next;
    table->mshr[index] = (struct mshr){.next = MSHR_NONE};
    table->in_use++;
    return index;
}

static inline void *mshr_waiter(const struct mshr_table *table, unsigned index, unsigned i) {
    return &table->waiter[((size_t)index * table->merges + i) * table->waiter_bytes];
}

static inline void mshr_add(struct mshr_table *table, unsigned index, const void *waiter, size_t size) {
    assert(mshr_can_merge(table, index));
    memcpy(mshr_waiter(table, index, table->mshr[index].waiters++), waiter, size);
}

/* The oldest waiter that has not been answered. */
static inline const void *mshr_next_waiter(const struct mshr_table *table, unsigned index) {
    return mshr_waiter(table, index, table->mshr[index].drained);
}

/* Marks that waiter answered. Frees the entry and returns true if it was the last. */
static inline bool mshr_answer(struct mshr_table *table, unsigned index) {
    struct mshr *mshr = &table->mshr[index];
    if (++mshr->drained < mshr->waiters) return false;
    mshr->next = table->free;
    table->free = (uint16_t)index;
    table->in_use--;
    return true;
}

#endif
