/* A map from lines to two words each, used by observers. Clearing it is O(1); it grows on demand and allocates nothing
 * before the first insertion. Open addressing, at most half full; an entry of an older epoch counts as empty. */
#ifndef SLUICE_BASE_LINE_MAP_H
#define SLUICE_BASE_LINE_MAP_H

#include "base/base.h"

struct line_entry {
    uint64_t line, epoch;
    uint64_t value[2]; /* owned by the caller; initially 0 */
};

struct line_map {
    struct line_entry *entry;
    uint64_t mask, used, epoch; /* epochs start at 1 */
};

static inline void line_map_init(struct line_map *map) { *map = (struct line_map){.epoch = 1}; }
void line_map_release(struct line_map *map);
/* The entry of `line`, inserted if missing; valid until the next call. */
struct line_entry *line_map_at(struct line_map *map, uint64_t line);
/* As line_map_at without inserting: NULL if missing. */
const struct line_entry *line_map_find(const struct line_map *map, uint64_t line);

static inline void line_map_clear(struct line_map *map) { map->epoch++, map->used = 0; }

/* Iterates in unspecified order: the entry after `entry` (NULL: the first); NULL after the last. */
static inline struct line_entry *line_map_next(const struct line_map *map, struct line_entry *entry) {
    if (!map->used) return NULL;
    struct line_entry *end = map->entry + map->mask + 1;
    for (entry = entry ? entry + 1 : map->entry; entry < end; entry++)
        if (entry->epoch == map->epoch) return entry;
    return NULL;
}

#endif
