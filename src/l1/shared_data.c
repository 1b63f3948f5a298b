#include "l1/shared_data.h"

#include <stdlib.h>

#include "base/line_map.h"

STATS_TABLE(shared_data_stat_table, "shared_data", shared_data_stats, SHARED_DATA_STATS);

/* A line in the current kernel. */
struct use {
    uint64_t hits, pending, misses; /* reads, to be counted once the line is shared */
    unsigned first_sm;
    bool several, written;
};

/* The organisation's operations, some of them wrapped by observing ones (reuse.c). */
struct shared_data {
    struct l1_ops ops;
    const struct l1_ops *inner;
    struct line_map lines; /* index of its use, from 1 */
    struct use *use;
    unsigned count, room;
    struct shared_data_stats stats;
};

static struct shared_data *shared_data_of(const struct l1 *l1) { return (struct shared_data *)(uintptr_t)l1->ops; }

static struct use *use_of(struct shared_data *d, uint64_t key, unsigned sm) {
    uint64_t *number = line_map_at(&d->lines, key)->value;
    if (*number) return &d->use[*number - 1];
    if (d->count == d->room) {
        d->room = d->room ? 2 * d->room : 1024;
        d->use = mem_grow(d->use, d->room, sizeof *d->use);
    }
    d->use[d->count] = (struct use){.first_sm = sm};
    *number = ++d->count;
    return &d->use[*number - 1];
}

static bool is_shared(const struct use *use) { return use->several && use->hits + use->pending + use->misses > 0; }

static void observe(struct shared_data *d, unsigned sm, const struct l1_request *request, enum l1_outcome outcome) {
    struct use *use = use_of(d, request->address | (uint64_t)request->program << 56, sm);
    struct shared_data_stats *stats = &d->stats;
    bool shared = is_shared(use), constant = shared && !use->written, read = request->kind == MESSAGE_READ;
    uint64_t hit = read && outcome == L1_HIT, pending = read && outcome == L1_PENDING_HIT,
             miss = read && !hit && !pending;
    use->several |= sm != use->first_sm;
    use->written |= !read;
    use->hits += hit;
    use->pending += pending;
    use->misses += miss;
    if (!is_shared(use)) return;
    stats->lines += !shared;
    stats->read_only_lines += (uint64_t)!use->written - (uint64_t)constant;
    stats->hits += shared ? hit : use->hits;
    stats->pending += shared ? pending : use->pending;
    stats->misses += shared ? miss : use->misses;
}

static enum l1_outcome shared_data_access(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now) {
    struct shared_data *d = shared_data_of(l1);
    enum l1_outcome outcome = d->inner->access(l1, sm, request, now);
    if (outcome < L1_ACCEPTED && !request->local && request->warp != L1_NO_WARP) observe(d, sm, request, outcome);
    return outcome;
}

static void shared_data_flush(struct l1 *l1, unsigned sm) {
    struct shared_data *d = shared_data_of(l1);
    line_map_clear(&d->lines);
    d->count = 0;
    d->inner->flush(l1, sm);
}

static void shared_data_destroy(struct l1 *l1) {
    struct shared_data *d = shared_data_of(l1);
    l1->ops = d->inner;
    l1->ops->destroy(l1);
    line_map_release(&d->lines);
    free(d->use);
    free(d);
}

void shared_data_observe(struct l1 *l1, const struct l1_context *context) {
    struct shared_data *d = mem_alloc(1, sizeof *d);
    *d = (struct shared_data){.ops = *l1->ops, .inner = l1->ops};
    d->ops.access = shared_data_access;
    d->ops.hits = NULL;
    d->ops.flush = shared_data_flush;
    d->ops.destroy = shared_data_destroy;
    line_map_init(&d->lines);
    stats_add(context->stats, &shared_data_stat_table, &d->stats);
    l1->ops = &d->ops;
}
