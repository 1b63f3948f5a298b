#include "l1/duplication.h"

#include <stdlib.h>

#include "base/line_map.h"

STATS_TABLE(duplication_stat_table, "duplication", duplication_stats, DUPLICATION_STATS);

/* A line inserted or removed in this cycle. The L1s report in any order, so changes take effect in the next cycle. */
struct change {
    uint64_t key;
    unsigned l1;
    enum l1_event event;
};

struct duplication {
    struct l1_ops ops; /* the organisation's operations, except `destroy` */
    struct l1_watch watch;
    const struct l1_ops *inner;
    unsigned groups, per_group;
    struct line_map *place; /* [per_group] lines at that position in a group: bit mask of the groups that hold it */
    uint64_t cycle;         /* cycle of the changes */
    struct change *change;
    unsigned change_count, change_room;
    struct duplication_stats *stats; /* [groups] */
};

static void count(const struct duplication *d, unsigned group, uint64_t holders) {
    struct duplication_stats *stats = &d->stats[group];
    holders &= ~(UINT64_C(1) << group);
    int copies = __builtin_popcountll(holders);
    uint64_t *bin = copies == 0   ? &stats->copies_0
                    : copies == 1 ? &stats->copies_1
                    : copies == 2 ? &stats->copies_2
                    : copies <= 4 ? &stats->copies_4
                    : copies <= 7 ? &stats->copies_7
                                  : &stats->copies_more;
    stats->misses++;
    (*bin)++;
    unsigned before = (group + d->groups - 1) % d->groups, behind = (group + 1) % d->groups;
    stats->adjacent += (holders >> before | holders >> behind) & 1;
    for (uint64_t rest = holders & low_mask(DUPLICATION_NAMED); rest; rest &= rest - 1)
        (&stats->held_by_0)[lowest_bit(rest)]++;
}

static void apply(const struct duplication *d, const struct change *change) {
    struct line_map *lines = &d->place[change->l1 % d->per_group];
    uint64_t bit = UINT64_C(1) << change->l1 / d->per_group, held = 0;
    if (change->event == L1_EVENT_INSERT) line_map_at(lines, change->key)->value[0] |= bit;
    if (change->event == L1_EVENT_REMOVE) line_map_at(lines, change->key)->value[0] &= ~bit;
    if (change->event != L1_EVENT_INVALIDATE) return;
    for (struct line_entry *line = line_map_next(lines, NULL); line; line = line_map_next(lines, line))
        held |= line->value[0] &= ~bit;
    if (!held) line_map_clear(lines);
}

static void note(struct duplication *d, struct change change) {
    if (d->change_count == d->change_room) {
        d->change_room = d->change_room ? 2 * d->change_room : 64;
        d->change = mem_grow(d->change, d->change_room, sizeof *d->change);
    }
    d->change[d->change_count++] = change;
}

static void see(struct l1_watch *watch, unsigned l1, enum l1_event event, uint64_t key, uint64_t now) {
    struct duplication *d = (struct duplication *)((char *)watch - offsetof(struct duplication, watch));
    if (now != d->cycle) {
        for (unsigned i = 0; i < d->change_count; i++) apply(d, &d->change[i]);
        d->change_count = 0;
        d->cycle = now;
    }
    if (event == L1_EVENT_MISS) {
        const struct line_entry *line = line_map_find(&d->place[l1 % d->per_group], key);
        count(d, l1 / d->per_group, line ? line->value[0] : 0);
    } else if (event != L1_EVENT_STORE)
        note(d, (struct change){key, l1, event});
}

static void destroy(struct l1 *l1) {
    struct duplication *d = (struct duplication *)(uintptr_t)l1->ops;
    l1->ops = d->inner;
    l1->ops->destroy(l1);
    for (unsigned i = 0; i < d->per_group; i++) line_map_release(&d->place[i]);
    free(d->place);
    free(d->change);
    free(d->stats);
    free(d);
}

void duplication_observe(struct l1 *l1, struct l1_shape shape, struct stats *stats) {
    assert(shape.groups <= DUPLICATION_GROUPS_MAX);
    struct duplication *d = mem_alloc(1, sizeof *d);
    *d = (struct duplication){.ops = *l1->ops,
                              .watch = {see},
                              .inner = l1->ops,
                              .groups = shape.groups,
                              .per_group = shape.per_group,
                              .place = mem_alloc(shape.per_group, sizeof *d->place),
                              .stats = mem_alloc(shape.groups, sizeof *d->stats)};
    d->ops.destroy = destroy;
    for (unsigned i = 0; i < shape.per_group; i++) line_map_init(&d->place[i]);
    for (unsigned i = 0; i < shape.groups; i++) stats_add(stats, &duplication_stat_table, &d->stats[i]);
    l1->ops = &d->ops;
    l1->watch = &d->watch;
}
