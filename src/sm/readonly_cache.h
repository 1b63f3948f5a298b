/* The SM's instruction, constant and read-only (texture) caches: three small caches that are only read. They are filled
 * through the L1 organisation's way to the network, but not through its data cache.
 *
 * A miss waits in a queue until the SM sends it; a line that comes wakes all who wait for it at once.
 */
#ifndef SLUICE_SM_READONLY_CACHE_H
#define SLUICE_SM_READONLY_CACHE_H

#include "cache/cache.h"
#include "cache/mshr.h"
#include "l1/l1.h"

struct readonly_cache {
    struct cache cache;
    struct mshr_table mshrs;
    uint64_t *miss;  /* line addresses still to be sent, by MSHR */
    uint16_t *queue; /* MSHRs whose request is still to be sent */
    uint32_t queue_mask, queue_head, queue_tail;
    unsigned line_log2;
    uint32_t token_kind;
    uint8_t program, flags;
    uint32_t *unsent; /* the owner's count of misses that are to be sent, over all its caches */
};

enum readonly_outcome { READONLY_HIT, READONLY_WAIT, READONLY_REFUSED };

struct readonly_geometry {
    int64_t size_kb, ways, mshrs, merges;
    unsigned line_log2;
    uint32_t token_kind;
    uint8_t flags; /* of its requests: MESSAGE_READ_ONLY if these are loads of global data */
};

void readonly_init(struct readonly_cache *cache, const struct readonly_geometry *geometry, const struct config *config,
                   uint32_t *unsent);
void readonly_release(struct readonly_cache *cache);
/* Looks up the line at `address`; `waiter` is kept if it has to wait. */
enum readonly_outcome readonly_access(struct readonly_cache *cache, uint64_t address, uint8_t program, uint32_t waiter);
/* Sends the oldest miss that has not been sent; false if there is none or the L1 refuses it. */
bool readonly_send(struct readonly_cache *cache, struct l1 *l1, unsigned sm, uint64_t now);
static inline bool readonly_wants_to_send(const struct readonly_cache *cache) {
    return cache->queue_head != cache->queue_tail;
}
/* The line of MSHR `index` has come. Waiters are then read with mshr_next_waiter until mshr_answer says it was the
 * last. */
void readonly_fill(struct readonly_cache *cache, unsigned index);
bool readonly_busy(const struct readonly_cache *cache);
void readonly_flush(struct readonly_cache *cache);

#endif
