/* Miss-status holding registers: one entry for each line that was asked for and has not come, with the list of those
 * who wait for it.
 *
 * What waits is the user's: a token of the load/store unit in an L1, a whole message in an LLC slice. Entries are
 * taken from a free list, so finding room, adding and releasing do not search. The line's own record (cache_line.mshr)
 * leads to the entry.
 */
#ifndef SLUICE_CACHE_MSHR_H
#define SLUICE_CACHE_MSHR_H

#include <string.h>

#include "base/base.h"

enum { MSHR_NONE = 0xFFFF };

struct mshr {
    uint32_t set;     /* where the line is that waits */
    uint16_t way;     /* CACHE_NONE if no line was reserved */
    uint16_t waiters; /* how many wait, the first included */
    uint16_t drained; /* how many of them have been answered */
    uint16_t next;    /* free list */
};

struct mshr_table {
    unsigned entries, merges; /* merges: most waiters of an entry, the first included */
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

/* The oldest waiter that has not been answered yet. */
static inline const void *mshr_next_waiter(const struct mshr_table *table, unsigned index) {
    return mshr_waiter(table, index, table->mshr[index].drained);
}

/* Marks it answered; gives the entry back and returns true if it was the last. */
static inline bool mshr_answer(struct mshr_table *table, unsigned index) {
    struct mshr *mshr = &table->mshr[index];
    if (++mshr->drained < mshr->waiters) return false;
    mshr->next = table->free;
    table->free = (uint16_t)index;
    table->in_use--;
    return true;
}

#endif
