#include "cache/cache.h"

#include <stdlib.h>
#include <string.h>

void cache_init(struct cache *cache, const struct cache_geometry *geometry, const struct policy *replacement,
                const struct config *config, const struct section *owner, uint64_t seed) {
    unsigned tag_ways = geometry->tag_ways ? geometry->tag_ways : geometry->ways;
    unsigned hints = (unsigned)div_up(tag_ways, CACHE_HINTS) * CACHE_HINTS;
    size_t tags = (size_t)geometry->sets * tag_ways, lines = (size_t)geometry->sets * geometry->ways;
    const struct replacement_ops *ops = (const struct replacement_ops *)replacement;
    const void *values = replacement->section ? config_get_in(config, owner, replacement->section) : NULL;
    *cache = (struct cache){
        .sets = geometry->sets,
        .ways = geometry->ways,
        .tag_ways = tag_ways,
        .set_mask = is_power_of_two(geometry->sets) ? geometry->sets - 1 : 0,
        .key = mem_alloc_lines(tags, sizeof *cache->key),
        .hint = mem_alloc_lines((size_t)geometry->sets * hints, sizeof *cache->hint),
        .hints = hints,
        .free_from = mem_alloc(geometry->sets, sizeof *cache->free_from),
        .line_of = mem_alloc(tags, sizeof *cache->line_of),
        .line = mem_alloc_lines(lines, sizeof *cache->line),
        .replacement = ops,
        .replacement_state = ops->create(values, geometry->sets, geometry->ways, seed),
    };
    for (size_t tag = 0; tag < tags; tag++) cache->key[tag] = CACHE_NO_KEY;
    for (size_t tag = 0; tag < tags; tag++) cache->line_of[tag] = CACHE_NONE;
    for (size_t line = 0; line < lines; line++) cache->line[line].tag = CACHE_NONE;
}

void cache_release(struct cache *cache) {
    if (cache->replacement) cache->replacement->destroy(cache->replacement_state);
    free(cache->key);
    free(cache->hint);
    free(cache->free_from);
    free(cache->line_of);
    free(cache->line);
    *cache = (struct cache){0};
}

void cache_free_tag(struct cache *cache, unsigned set, const struct cache_line *line) {
    size_t tag = (size_t)set * cache->tag_ways + line->tag;
    cache->key[tag] = CACHE_NO_KEY;
    cache->line_of[tag] = CACHE_NONE;
}

void cache_drop(struct cache *cache, unsigned set, struct cache_line *line) {
    if (line->tag != CACHE_NONE) cache_free_tag(cache, set, line);
    uint16_t way = (uint16_t)cache_way_of(cache, set, line);
    if (way < cache->free_from[set]) cache->free_from[set] = way;
    *line = (struct cache_line){.tag = CACHE_NONE};
}

void cache_invalidate(struct cache *cache) {
    for (unsigned set = 0; set < cache->sets; set++)
        for (unsigned way = 0; way < cache->ways; way++) {
            struct cache_line *line = cache_line_at(cache, set, way);
            if (line->state != LINE_INVALID && line->state != LINE_RESERVED) cache_drop(cache, set, line);
        }
}

/* Four lines at a time, since every run counts those of all its caches at its end. */
unsigned cache_reserved_lines(const struct cache *cache) {
    typedef uint64_t four_lines __attribute__((vector_size(32)));
    _Static_assert(sizeof(four_lines) == 4 * sizeof *cache->line, "a line is one word");
    const struct cache_line all_bits = {.state = UINT8_MAX}, reserved = {.state = LINE_RESERVED};
    uint64_t mask, wanted;
    memcpy(&mask, &all_bits, sizeof mask);
    memcpy(&wanted, &reserved, sizeof wanted);
    size_t lines = (size_t)cache->sets * cache->ways, line = 0;
    four_lines sum = {0};
    for (; line + 4 <= lines; line += 4) {
        four_lines four;
        memcpy(&four, &cache->line[line], sizeof four);
        sum -= (four_lines)((four & mask) == wanted); /* a lane that is equal is -1 */
    }
    uint64_t count = sum[0] + sum[1] + sum[2] + sum[3];
    for (; line < lines; line++) count += cache->line[line].state == LINE_RESERVED;
    return (unsigned)count;
}
