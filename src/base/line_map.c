#include "base/line_map.h"

#include <stdlib.h>

enum { FIRST_SIZE = 256 };

void line_map_release(struct line_map *map) {
    free(map->entry);
    *map = (struct line_map){0};
}

/* The entry of the line, or the empty entry where it would be inserted. */
static struct line_entry *find(const struct line_map *map, uint64_t line) {
    for (uint64_t at = (line * UINT64_C(0x9E3779B97F4A7C15)) >> 20;; at++) {
        struct line_entry *entry = &map->entry[at & map->mask];
        if (entry->epoch != map->epoch || entry->line == line) return entry;
    }
}

static void grow(struct line_map *map) {
    struct line_map old = *map;
    map->mask = old.entry ? 2 * old.mask + 1 : FIRST_SIZE - 1;
    map->entry = mem_alloc(map->mask + 1, sizeof *map->entry);
    for (struct line_entry *entry = line_map_next(&old, NULL); entry; entry = line_map_next(&old, entry))
        *find(map, entry->line) = *entry;
    free(old.entry);
}

const struct line_entry *line_map_find(const struct line_map *map, uint64_t line) {
    const struct line_entry *entry = map->used ? find(map, line) : NULL;
    return entry && entry->epoch == map->epoch ? entry : NULL;
}

struct line_entry *line_map_at(struct line_map *map, uint64_t line) {
    if (UNLIKELY(!map->entry)) grow(map);
    struct line_entry *entry = find(map, line);
    if (entry->epoch == map->epoch) return entry;
    if (2 * ++map->used > map->mask) {
        grow(map);
        entry = find(map, line);
    }
    *entry = (struct line_entry){.line = line, .epoch = map->epoch};
    return entry;
}
