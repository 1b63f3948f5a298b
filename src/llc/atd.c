#include "llc/atd.h"

#include <stdlib.h>
#include <string.h>

void atd_init(struct atd *atd, unsigned sets, unsigned slice_sets, unsigned ways, bool last_only) {
    if (sets > slice_sets) sets = slice_sets;
    *atd = (struct atd){.sets = sets, .ways = ways, .every = slice_sets / sets, .last_only = last_only};
    atd->entry = mem_alloc((size_t)sets * ways, sizeof *atd->entry);
}

void atd_release(struct atd *atd) { free(atd->entry); }

void atd_clear(struct atd *atd) { memset(atd->entry, 0, (size_t)atd->sets * atd->ways * sizeof *atd->entry); }

struct atd_seen atd_use(struct atd *atd, unsigned row, uint64_t key, unsigned cluster) {
    struct atd_entry *entry = atd->entry + (size_t)row * atd->ways, *place = entry;
    uint64_t bit = UINT64_C(1) << cluster;
    bool found = false;
    for (unsigned way = 0; way < atd->ways && !found; way++) {
        found = entry[way].used && entry[way].key == key;
        if (found || entry[way].used < place->used) place = &entry[way];
    }
    struct atd_seen seen = {found, found ? place->clusters : 0};
    place->clusters = found && !atd->last_only ? place->clusters | bit : bit;
    place->key = key;
    place->used = ++atd->uses;
    return seen;
}
