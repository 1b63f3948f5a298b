/* Least recently used. The lines of a set are linked in the order of their last use, so that a touch and the choice of
 * a victim take the same few steps whatever the associativity. */
#include <stdlib.h>

#include "cache/cache.h"

struct link {
    uint16_t newer, older; /* ways; CACHE_NONE at the ends */
};

struct lru {
    unsigned ways;
    struct link *link;         /* [sets][ways] */
    uint16_t *newest, *oldest; /* [sets] */
};

static void *lru_create(const struct config *config, unsigned sets, unsigned ways, uint64_t seed) {
    (void)config, (void)seed;
    struct lru *lru = mem_alloc(1, sizeof *lru);
    *lru = (struct lru){
        .ways = ways,
        .link = mem_alloc_lines((size_t)sets * ways, sizeof *lru->link),
        .newest = mem_alloc(sets, sizeof *lru->newest),
        .oldest = mem_alloc(sets, sizeof *lru->oldest),
    };
    for (unsigned set = 0; set < sets; set++) {
        lru->newest[set] = (uint16_t)(ways - 1);
        for (unsigned way = 0; way < ways; way++)
            lru->link[(size_t)set * ways + way] =
                (struct link){.newer = (uint16_t)(way + 1 < ways ? way + 1 : CACHE_NONE),
                              .older = (uint16_t)(way ? way - 1 : CACHE_NONE)};
    }
    return lru;
}

static void lru_destroy(void *state) {
    struct lru *lru = state;
    free(lru->link);
    free(lru->newest);
    free(lru->oldest);
    free(lru);
}

static void lru_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    struct lru *lru = state;
    struct link *links = &lru->link[(size_t)set * lru->ways], *link = &links[way];
    if (link->newer == CACHE_NONE) return; /* the newest already */
    *(link->older == CACHE_NONE ? &lru->oldest[set] : &links[link->older].newer) = link->newer;
    links[link->newer].older = link->older;
    links[lru->newest[set]].newer = (uint16_t)way;
    *link = (struct link){.newer = CACHE_NONE, .older = lru->newest[set]};
    lru->newest[set] = (uint16_t)way;
}

static int lru_victim(void *state, unsigned set, const struct cache_line *lines) {
    const struct lru *lru = state;
    const struct link *links = &lru->link[(size_t)set * lru->ways];
    for (uint16_t way = lru->oldest[set]; way != CACHE_NONE; way = links[way].newer)
        if (lines[way].state != LINE_RESERVED) return way;
    return -1;
}

const struct replacement_ops replacement_lru = {
    .policy = {"lru", "evicts the line that was used least recently", NULL},
    .create = lru_create,
    .destroy = lru_destroy,
    .touch = lru_touch,
    .insert = lru_touch,
    .victim = lru_victim,
};
