#include "sm/readonly_cache.h"

#include <stdlib.h>

static void forget_hits(struct readonly_cache *cache) {
    for (unsigned set = 0; set < cache->cache.sets; set++) cache->last_hit[set] = CACHE_NO_KEY;
}

void readonly_init(struct readonly_cache *cache, const struct readonly_geometry *geometry, const struct config *config,
                   uint32_t *unsent) {
    if (geometry->size_kb == 0) return; /* no such cache: never accessed */
    unsigned lines = (unsigned)(geometry->size_kb * 1024 >> geometry->line_log2);
    struct cache_geometry shape = {.sets = lines / (unsigned)geometry->ways, .ways = (unsigned)geometry->ways};
    cache_init(&cache->cache, &shape, &replacement_lru.policy, config, NULL, 0);
    mshr_init(&cache->mshrs, (unsigned)geometry->mshrs, (unsigned)geometry->merges, sizeof(uint32_t));
    cache->miss = mem_alloc((size_t)geometry->mshrs, sizeof *cache->miss);
    cache->queue_mask = (uint32_t)round_up_power_of_two((uint64_t)geometry->mshrs) - 1;
    cache->queue = mem_alloc(cache->queue_mask + 1, sizeof *cache->queue);
    cache->line_log2 = geometry->line_log2;
    cache->token_kind = geometry->token_kind;
    cache->flags = geometry->flags;
    cache->last_hit = mem_alloc(shape.sets, sizeof *cache->last_hit);
    forget_hits(cache);
    cache->unsent = unsent;
}

void readonly_release(struct readonly_cache *cache) {
    cache_release(&cache->cache);
    mshr_release(&cache->mshrs);
    free(cache->last_hit);
    free(cache->miss);
    free(cache->queue);
    *cache = (struct readonly_cache){0};
}

/* Returns whether the access hits. `line` is set unless the line is the most recently used one of its set. */
static inline bool look_up(struct readonly_cache *cache, const struct cache_access *access, struct cache_line **line) {
    uint64_t *last_hit = &cache->last_hit[access->set];
    if (LIKELY(access->key == *last_hit)) return true;
    *line = cache_lookup(&cache->cache, access->set, access->key);
    if (!*line || (*line)->state == LINE_RESERVED) return false;
    cache_touch(&cache->cache, *line, access);
    *last_hit = access->key;
    return true;
}

static inline struct cache_access access_to(const struct readonly_cache *cache, uint64_t number, uint8_t program) {
    return (struct cache_access){.key = cache_key(number, program), .set = cache_set_of(&cache->cache, number)};
}

bool readonly_hits(struct readonly_cache *cache, const uint64_t *address, unsigned count, uint8_t program) {
    struct cache_line *line;
    for (unsigned i = 1; i < count; i++) {
        struct cache_access access = access_to(cache, address[i] >> cache->line_log2, program);
        line = cache_lookup(&cache->cache, access.set, access.key);
        if (!line || line->state == LINE_RESERVED) return false;
    }
    for (unsigned i = 0; i < count; i++) {
        struct cache_access access = access_to(cache, address[i] >> cache->line_log2, program);
        if (!look_up(cache, &access, &line)) return false; /* only the first */
    }
    return true;
}

enum readonly_outcome readonly_access(struct readonly_cache *cache, uint64_t address, uint8_t program,
                                      uint32_t waiter) {
    uint64_t number = address >> cache->line_log2;
    struct cache_access access = access_to(cache, number, program);
    struct cache_line *line;
    if (look_up(cache, &access, &line)) return READONLY_HIT;
    cache->last_hit[access.set] = CACHE_NO_KEY;
    if (line) {
        if (!mshr_can_merge(&cache->mshrs, line->mshr)) return READONLY_REFUSED;
        mshr_add(&cache->mshrs, line->mshr, &waiter, sizeof waiter);
        return READONLY_WAIT;
    }
    struct cache_line *victim = mshr_full(&cache->mshrs) ? NULL : cache_victim(&cache->cache, access.set);
    if (!victim) return READONLY_REFUSED;
    unsigned index = mshr_take(&cache->mshrs);
    cache_place(&cache->cache, victim, &access, LINE_RESERVED);
    victim->mshr = (uint16_t)index;
    cache->mshrs.mshr[index].set = access.set;
    cache->mshrs.mshr[index].way = (uint16_t)cache_way_of(&cache->cache, access.set, victim);
    mshr_add(&cache->mshrs, index, &waiter, sizeof waiter);
    cache->miss[index] = number << cache->line_log2;
    cache->program = program;
    cache->queue[cache->queue_tail++ & cache->queue_mask] = (uint16_t)index;
    ++*cache->unsent;
    return READONLY_WAIT;
}

bool readonly_send(struct readonly_cache *cache, struct l1 *l1, unsigned sm, uint64_t now) {
    if (!readonly_wants_to_send(cache)) return false;
    unsigned index = cache->queue[cache->queue_head & cache->queue_mask];
    struct l1_request request = {
        .address = cache->miss[index],
        .token = cache->token_kind | index,
        .kind = MESSAGE_READ,
        .sectors = (uint8_t)low_mask((1u << cache->line_log2) / SECTOR_BYTES),
        .flags = cache->flags,
        .program = cache->program,
        .bypass = true,
        .warp = L1_NO_WARP,
    };
    if (l1->ops->access(l1, sm, &request, now) >= L1_ACCEPTED) return false;
    cache->queue_head++;
    --*cache->unsent;
    return true;
}

void readonly_fill(struct readonly_cache *cache, unsigned index) {
    const struct mshr *mshr = &cache->mshrs.mshr[index];
    cache_line_at(&cache->cache, mshr->set, mshr->way)->state = LINE_VALID;
}

bool readonly_busy(const struct readonly_cache *cache) { return cache->mshrs.in_use != 0; }

void readonly_flush(struct readonly_cache *cache) {
    forget_hits(cache);
    if (cache->cache.sets) cache_invalidate(&cache->cache);
}
