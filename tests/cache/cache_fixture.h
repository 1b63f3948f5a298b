/* A cache without a machine, for tests of the cache engine and its replacement policies. */
#ifndef SLUICE_TESTS_CACHE_CACHE_FIXTURE_H
#define SLUICE_TESTS_CACHE_CACHE_FIXTURE_H

#include <string.h>

#include "cache/cache.h"
#include "l1/l1.h"
#include "settings.h"
#include "test.h"

static inline const struct policy *replacement_named(const char *name) {
    for (unsigned i = 0; i < replacement_family.count; i++)
        if (strcmp(replacement_family.members[i]->name, name) == 0) return replacement_family.members[i];
    REQUIRE(!"a replacement policy of that name");
    return NULL;
}

/* With the parameters of an L1 that has these settings. */
static inline void cache_init_with(struct cache *cache, unsigned sets, unsigned ways, const char *replacement,
                                   const char *const *settings) {
    struct config *config = config_with(settings);
    struct cache_geometry geometry = {.sets = sets, .ways = ways};
    cache_init(cache, &geometry, replacement_named(replacement), config, &l1_section, 1);
    config_destroy(config);
}

static inline void cache_init_as(struct cache *cache, unsigned sets, unsigned ways, const char *replacement) {
    cache_init_with(cache, sets, ways, replacement, NO_SETTINGS);
}

static inline struct cache_access access_to(unsigned set, uint64_t key) {
    return (struct cache_access){.key = key, .set = set};
}

/* Looks up a line and allocates it on a miss. Returns whether it hit; `evicted` is the evicted key, or 0. */
static inline bool use_by(struct cache *cache, unsigned set, uint64_t key, uint32_t instr, uint64_t *evicted) {
    struct cache_access access = {.key = key, .instr = instr, .set = set};
    struct cache_line *line = cache_lookup(cache, set, key);
    *evicted = 0;
    if (line) {
        cache_touch(cache, line, &access);
        return true;
    }
    struct cache_line *victim = cache_victim(cache, set);
    REQUIRE(victim);
    if (victim->state != LINE_INVALID) *evicted = victim->key;
    cache_place(cache, victim, &access, LINE_VALID);
    return false;
}

static inline bool use(struct cache *cache, unsigned set, uint64_t key, uint64_t *evicted) {
    return use_by(cache, set, key, 0, evicted);
}

/* The expected results of a sequence of accesses to set 0. The hundreds of a key are the instruction. */
struct use {
    uint64_t key;
    bool hit;
    uint64_t evicted;
};

static inline void replay(struct cache *cache, const struct use *uses, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint64_t evicted;
        bool good = CHECK_EQ(use_by(cache, 0, uses[i].key, (uint32_t)uses[i].key / 100, &evicted), uses[i].hit);
        good = CHECK_EQ(evicted, uses[i].evicted) && good;
        if (!good) printf("    at use %u\n", i);
    }
}

#endif
