#include "llc/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "base/line_map.h"
#include "sim/message.h"

STATS_TABLE(sharing_stat_table, "sharing", sharing_stats, SHARING_STATS);

struct sharing {
    uint64_t window_cycles, window; /* the current one */
    struct line_map
        lines; /* of the current window: one bit per cluster, and per SM that reads the line as read-only; the
                              last of 64 bits stands for all others */
    uint16_t *cluster_of;
    struct sharing_stats stats;
};

struct sharing *sharing_create(uint64_t window_cycles, const uint16_t *cluster_of, unsigned endpoints,
                               struct stats *stats) {
    struct sharing *sharing = mem_alloc(1, sizeof *sharing);
    sharing->window_cycles = window_cycles;
    line_map_init(&sharing->lines);
    sharing->cluster_of = mem_alloc(endpoints, sizeof *sharing->cluster_of);
    memcpy(sharing->cluster_of, cluster_of, endpoints * sizeof *cluster_of);
    stats_add(stats, &sharing_stat_table, &sharing->stats);
    return sharing;
}

void sharing_destroy(struct sharing *sharing) {
    if (!sharing) return;
    line_map_release(&sharing->lines);
    free(sharing->cluster_of);
    free(sharing);
}

enum { CLUSTERS, READERS }; /* values of a line */

/* Bins 1, 2, then powers of two; `bits` is not 0. */
static unsigned bin_of(uint64_t bits) {
    return log2_floor(round_up_power_of_two((uint64_t)__builtin_popcountll(bits)));
}

static void count(struct sharing_stats *stats, const uint64_t *bits) {
    enum { MORE_CLUSTERS = 4 };
    (&stats->lines_1)[min_u64(bin_of(bits[CLUSTERS]), MORE_CLUSTERS)]++;
    int readers = __builtin_popcountll(bits[READERS]);
    if (readers == 0) return;
    if (readers <= 8)
        (&stats->read_only_1)[bin_of(bits[READERS])]++;
    else
        *(readers == 9 ? &stats->read_only_9 : &stats->read_only_more) += 1;
}

void sharing_finish(struct sharing *sharing) {
    const struct line_map *lines = &sharing->lines;
    for (struct line_entry *entry = line_map_next(lines, NULL); entry; entry = line_map_next(lines, entry))
        count(&sharing->stats, entry->value);
    line_map_clear(&sharing->lines);
}

static void observe(void *user, unsigned slice, enum slice_event event, uint64_t key, const struct message *message,
                    uint64_t now) {
    struct sharing *sharing = user;
    (void)slice, (void)key;
    if (event != SLICE_READ && event != SLICE_WRITE && event != SLICE_THROUGH) return;
    uint64_t window = now / sharing->window_cycles;
    if (window != sharing->window) {
        sharing_finish(sharing);
        sharing->window = window;
    }
    struct line_entry *line = line_map_at(&sharing->lines, message_place_in_memory(message));
    line->value[CLUSTERS] |= UINT64_C(1) << min_u64(sharing->cluster_of[message->source], 63);
    if (message->kind == MESSAGE_READ && message->flags & MESSAGE_READ_ONLY)
        line->value[READERS] |= UINT64_C(1) << min_u64(message->source, 63);
}

void sharing_observe(struct sharing *sharing, struct slice *slice) { slice_observe(slice, observe, sharing); }
