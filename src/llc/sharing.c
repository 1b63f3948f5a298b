#include "llc/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "noc/message.h"

STATS_TABLE(sharing_stat_table, "sharing", sharing_stats, SHARING_STATS);

/* A line of the open window. An entry of an older window is an empty one, so that a new window costs nothing. */
struct entry {
    uint64_t line, window;
    uint64_t clusters; /* a bit for each; the 64th stands for all beyond */
};

struct sharing {
    uint64_t window_cycles, window; /* the open one, from 1 on */
    struct entry *table;            /* open addressing, at most half full */
    uint64_t mask, used;
    uint16_t *cluster_of;
    struct sharing_stats stats;
};

struct sharing *sharing_create(uint64_t window_cycles, const uint16_t *cluster_of, unsigned endpoints,
                               struct stats *stats) {
    struct sharing *sharing = mem_alloc(1, sizeof *sharing);
    sharing->window_cycles = window_cycles;
    sharing->mask = 1023;
    sharing->table = mem_alloc(sharing->mask + 1, sizeof *sharing->table);
    sharing->cluster_of = mem_alloc(endpoints, sizeof *sharing->cluster_of);
    memcpy(sharing->cluster_of, cluster_of, endpoints * sizeof *cluster_of);
    stats_add(stats, &sharing_stat_table, &sharing->stats);
    return sharing;
}

void sharing_destroy(struct sharing *sharing) {
    if (!sharing) return;
    free(sharing->table);
    free(sharing->cluster_of);
    free(sharing);
}

static struct entry *find(struct sharing *sharing, uint64_t line) {
    uint64_t at = (line * UINT64_C(0x9E3779B97F4A7C15)) >> 20;
    for (;; at++) {
        struct entry *entry = &sharing->table[at & sharing->mask];
        if (entry->window != sharing->window || entry->line == line) return entry;
    }
}

static void count(struct sharing *sharing, const struct entry *entry) {
    int clusters = __builtin_popcountll(entry->clusters);
    uint64_t *bin = clusters == 1   ? &sharing->stats.lines_1
                    : clusters == 2 ? &sharing->stats.lines_2
                    : clusters <= 4 ? &sharing->stats.lines_4
                    : clusters <= 8 ? &sharing->stats.lines_8
                                    : &sharing->stats.lines_more;
    (*bin)++;
}

void sharing_finish(struct sharing *sharing) {
    for (uint64_t i = 0; i <= sharing->mask && sharing->used > 0; i++)
        if (sharing->table[i].window == sharing->window) count(sharing, &sharing->table[i]);
    sharing->used = 0;
}

static void grow(struct sharing *sharing) {
    struct entry *old = sharing->table;
    uint64_t old_count = sharing->mask + 1;
    sharing->mask = 2 * old_count - 1;
    sharing->table = mem_alloc(sharing->mask + 1, sizeof *sharing->table);
    for (uint64_t i = 0; i < old_count; i++)
        if (old[i].window == sharing->window) *find(sharing, old[i].line) = old[i];
    free(old);
}

static void observe(void *user, unsigned slice, enum slice_event event, uint64_t key, const struct message *message,
                    uint64_t now) {
    struct sharing *sharing = user;
    (void)slice, (void)key;
    if (event != SLICE_READ && event != SLICE_WRITE && event != SLICE_THROUGH) return;
    uint64_t window = now / sharing->window_cycles + 1;
    if (window != sharing->window) {
        sharing_finish(sharing);
        sharing->window = window;
    }
    struct entry *entry = find(sharing, message->address);
    if (entry->window != window) {
        *entry = (struct entry){.line = message->address, .window = window};
        sharing->used++;
    }
    entry->clusters |= UINT64_C(1) << min_u64(sharing->cluster_of[message->source], 63);
    if (sharing->used * 2 > sharing->mask) grow(sharing);
}

void sharing_observe(struct sharing *sharing, struct slice *slice) { slice_observe(slice, observe, sharing); }
