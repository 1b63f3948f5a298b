/* Least recently used. The lines of a set are linked in the order of their last use, so that a touch and the choice of
 * a victim take the same few steps whatever the associativity. */
#include <stdlib.h>

#include "cache/cache.h"

struct link {
    uint16_t newer, older; /* ways */
};

/* The lines of a set form a ring that its head closes: newer than the newest and older than the oldest. */
struct lru {
    unsigned ways;
    struct link *link; /* [sets][ways + 1], the last of a set its head */
};

static inline struct link *links_of(const struct lru *lru, unsigned set) {
    return &lru->link[(size_t)set * (lru->ways + 1)];
}

static void *lru_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)values, (void)seed;
    struct lru *lru = mem_alloc(1, sizeof *lru);
    *lru = (struct lru){.ways = ways, .link = mem_alloc_lines((size_t)sets * (ways + 1), sizeof *lru->link)};
    for (unsigned set = 0; set < sets; set++)
        for (unsigned way = 0; way <= ways; way++)
            links_of(lru, set)[way] =
                (struct link){.newer = (uint16_t)(way < ways ? way + 1 : 0), .older = (uint16_t)(way ? way - 1 : ways)};
    return lru;
}

static void lru_destroy(void *state) {
    struct lru *lru = state;
    free(lru->link);
    free(lru);
}

static void lru_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    const struct lru *lru = state;
    struct link *links = links_of(lru, set), *head = &links[lru->ways], old = links[way];
    links[old.older].newer = old.newer;
    links[old.newer].older = old.older;
    links[way] = (struct link){.newer = (uint16_t)lru->ways, .older = head->older};
    links[head->older].newer = (uint16_t)way;
    head->older = (uint16_t)way;
}

static int lru_victim(void *state, unsigned set, const struct cache_line *lines) {
    const struct lru *lru = state;
    const struct link *links = links_of(lru, set);
    for (unsigned way = links[lru->ways].newer; way != lru->ways; way = links[way].newer)
        if (lines[way].state != LINE_RESERVED) return (int)way;
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
