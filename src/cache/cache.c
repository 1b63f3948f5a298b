#include "cache/cache.h"

#include <stdlib.h>
#include <string.h>

void cache_init(struct cache *cache, const struct cache_geometry *geometry, const struct policy *replacement,
                const struct config *config, const struct section *owner, uint64_t seed) {
    unsigned hints = (unsigned)div_up(geometry->ways, CACHE_HINTS) * CACHE_HINTS;
    size_t lines = (size_t)geometry->sets * geometry->ways;
    const struct replacement_ops *ops = (const struct replacement_ops *)replacement;
    const void *values = replacement->section ? config_get_in(config, owner, replacement->section) : NULL;
    *cache = (struct cache){
        .sets = geometry->sets,
        .ways = geometry->ways,
        .set_mask = is_power_of_two(geometry->sets) ? geometry->sets - 1 : 0,
        .hint = mem_alloc_lines((size_t)geometry->sets * hints, sizeof *cache->hint),
        .hints = hints,
        .free_from = mem_alloc(geometry->sets, sizeof *cache->free_from),
        .line = mem_alloc_lines(lines, sizeof *cache->line),
        .replacement = ops,
        .replacement_state = ops->create(values, geometry->sets, geometry->ways, seed),
    };
    cache->lru = ops == &replacement_lru ? lru_links(cache->replacement_state) : NULL;
    for (size_t line = 0; line < lines; line++) cache->line[line].key = CACHE_NO_KEY;
}

void cache_release(struct cache *cache) {
    if (cache->replacement) cache->replacement->destroy(cache->replacement_state);
    free(cache->hint);
    free(cache->free_from);
    free(cache->line);
    *cache = (struct cache){0};
}

void cache_drop(struct cache *cache, unsigned set, struct cache_line *line) {
    uint16_t way = (uint16_t)cache_way_of(cache, set, line);
    if (way < cache->free_from[set]) cache->free_from[set] = way;
    *line = (struct cache_line){.key = CACHE_NO_KEY};
}

void cache_invalidate(struct cache *cache) {
    for (unsigned set = 0; set < cache->sets; set++)
        for (unsigned way = 0; way < cache->ways; way++) {
            struct cache_line *line = cache_line_at(cache, set, way);
            if (line->state != LINE_INVALID && line->state != LINE_RESERVED) cache_drop(cache, set, line);
        }
}

/* Without a branch per line, since every run counts those of all its caches at its end. */
unsigned cache_reserved_lines(const struct cache *cache) {
    size_t lines = (size_t)cache->sets * cache->ways;
    unsigned count = 0;
    for (size_t line = 0; line < lines; line++) count += cache->line[line].state == LINE_RESERVED;
    return count;
}
