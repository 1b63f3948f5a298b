/* Least recently used (lru.h). */
#include "cache/lru.h"

#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"

struct lru {
    unsigned places;       /* per set: the head and the ways */
    struct lru_link *link; /* [sets][places] */
};

static inline struct lru_link *links_of(const struct lru *lru, unsigned set) {
    return &lru->link[(size_t)set * lru->places];
}

static void *lru_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)values, (void)seed;
    struct lru *lru = mem_alloc(1, sizeof *lru);
    *lru = (struct lru){.places = ways + 1, .link = mem_alloc_lines((size_t)sets * (ways + 1), sizeof *lru->link)};
    for (unsigned place = 0; place <= ways; place++)
        lru->link[place] = (struct lru_link){.newer = (uint16_t)(place < ways ? place + 1 : 0),
                                             .older = (uint16_t)(place ? place - 1 : ways)};
    for (unsigned set = 1; set < sets; set++) memcpy(links_of(lru, set), lru->link, (ways + 1) * sizeof *lru->link);
    return lru;
}

static void lru_destroy(void *state) {
    struct lru *lru = state;
    free(lru->link);
    free(lru);
}

struct lru_link *lru_links(void *state) {
    return ((struct lru *)state)->link;
}

static void lru_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    lru_use(links_of(state, set), way);
}

static int lru_victim(void *state, unsigned set, const struct cache_line *lines) {
    const struct lru_link *head = links_of(state, set);
    for (unsigned place = head->newer; place; place = head[place].newer)
        if (lines[place - 1].state != LINE_RESERVED) return (int)place - 1;
    return -1;
}

static unsigned lru_preferred(void *state, unsigned set) { return lru_oldest(links_of(state, set)); }

const struct replacement_ops replacement_lru = {
    .policy = {"lru", "evicts the least recently used line", NULL},
    .create = lru_create,
    .destroy = lru_destroy,
    .touch = lru_touch,
    .insert = lru_touch,
    .victim = lru_victim,
    .preferred = lru_preferred,
};
