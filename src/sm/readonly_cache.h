/* The SM's instruction, constant and read-only (texture) caches. They are read-only, and are filled through the L1
 * organisation's network endpoint, bypassing its data cache.
 *
 * A miss is queued until the SM sends it. A fill wakes all waiters of the line in the same cycle.
 */
#ifndef SLUICE_SM_READONLY_CACHE_H
#define SLUICE_SM_READONLY_CACHE_H

#include "cache/cache.h"
#include "cache/mshr.h"
#include "l1/l1.h"

struct readonly_cache {
    struct cache cache;
    struct mshr_table mshrs;
    uint64_t *last_hit; /* [sets]: key of the last access if it hit, else CACHE_NO_KEY */
    uint64_t *miss;     /* address of the missing line, per MSHR */
    uint16_t *queue;    /* MSHRs whose request has not been sent */
    uint32_t queue_mask, queue_head, queue_tail;
    unsigned line_log2;
    uint32_t token_kind;
    uint8_t program, flags;
    uint32_t *unsent; /* the SM's count of unsent misses, over its three caches */
};

enum readonly_outcome { READONLY_HIT, READONLY_WAIT, READONLY_REFUSED };

struct readonly_geometry {
    int64_t size_kb, ways, mshrs, merges;
    unsigned line_log2;
    uint32_t token_kind;
    uint8_t flags; /* of its requests: MESSAGE_READ_ONLY for loads of global data */
};

void readonly_init(struct readonly_cache *cache, const struct readonly_geometry *geometry, const struct config *config,
                   uint32_t *unsent);
void readonly_release(struct readonly_cache *cache);
/* Looks up the lines of count > 0 addresses if all are present; else returns false, and nothing changes. */
bool readonly_hits(struct readonly_cache *cache, const uint64_t *address, unsigned count, uint8_t program);
/* Looks up the line at `address`; `waiter` is recorded on a miss. */
enum readonly_outcome readonly_access(struct readonly_cache *cache, uint64_t address, uint8_t program, uint32_t waiter);
/* Sends the oldest unsent miss; false if there is none or the L1 does not accept it. */
bool readonly_send(struct readonly_cache *cache, struct l1 *l1, unsigned sm, uint64_t now);
static inline bool readonly_wants_to_send(const struct readonly_cache *cache) {
    return cache->queue_head != cache->queue_tail;
}
/* Fills the line of MSHR `index`. Waiters are then read with mshr_next_waiter until mshr_answer returns true. */
void readonly_fill(struct readonly_cache *cache, unsigned index);
bool readonly_busy(const struct readonly_cache *cache);
void readonly_flush(struct readonly_cache *cache);

#endif
