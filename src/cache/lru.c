/* Least recently used: every line remembers when it was last touched, by a clock that counts accesses of this cache. */
#include <stdlib.h>

#include "cache/cache.h"

struct lru {
    unsigned ways;
    uint64_t clock;
    uint64_t *last; /* [sets][ways] */
};

static void *lru_create(const struct config *config, unsigned sets, unsigned ways, uint64_t seed) {
    (void)config, (void)seed;
    struct lru *lru = mem_alloc(1, sizeof *lru);
    *lru = (struct lru){.ways = ways, .last = mem_alloc((size_t)sets * ways, sizeof *lru->last)};
    return lru;
}

static void lru_destroy(void *state) {
    struct lru *lru = state;
    free(lru->last);
    free(lru);
}

static void lru_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    struct lru *lru = state;
    lru->last[(size_t)set * lru->ways + way] = ++lru->clock;
}

static int lru_victim(void *state, unsigned set, const struct cache_line *lines) {
    const struct lru *lru = state;
    const uint64_t *last = &lru->last[(size_t)set * lru->ways];
    int oldest = -1;
    for (unsigned way = 0; way < lru->ways; way++)
        if (lines[way].state != LINE_RESERVED && (oldest < 0 || last[way] < last[oldest])) oldest = (int)way;
    return oldest;
}

const struct replacement_ops replacement_lru = {
    .policy = {"lru", "evicts the line that was used least recently", NULL},
    .create = lru_create,
    .destroy = lru_destroy,
    .touch = lru_touch,
    .insert = lru_touch,
    .victim = lru_victim,
};
