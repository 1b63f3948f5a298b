/* A map from lines to two words each, for observers: emptied at no cost, and as large as it was ever needed, which is
 * nothing before the first line. Open
 * addressing, at most half full; an entry of an older epoch is an empty one. */
#ifndef SLUICE_BASE_LINE_MAP_H
#define SLUICE_BASE_LINE_MAP_H

#include "base/base.h"

struct line_entry {
    uint64_t line, epoch;
    uint64_t value[2]; /* the user's; 0 at first */
};

struct line_map {
    struct line_entry *entry;
    uint64_t mask, used, epoch; /* epochs from 1 on */
};

static inline void line_map_init(struct line_map *map) { *map = (struct line_map){.epoch = 1}; }
void line_map_release(struct line_map *map);
/* The entry of `line`, added if there was none; good until the next call. */
struct line_entry *line_map_at(struct line_map *map, uint64_t line);
/* The same without adding: NULL if there is none. */
const struct line_entry *line_map_find(const struct line_map *map, uint64_t line);

static inline void line_map_clear(struct line_map *map) { map->epoch++, map->used = 0; }

/* The next entry after `entry` (NULL: the first), in no particular order; NULL after the last. */
static inline struct line_entry *line_map_next(const struct line_map *map, struct line_entry *entry) {
    if (!map->used) return NULL;
    struct line_entry *end = map->entry + map->mask + 1;
    for (entry = entry ? entry + 1 : map->entry; entry < end; entry++)
        if (entry->epoch == map->epoch) return entry;
    return NULL;
}

#endif
