#include "l1/duplication.h"

#include <stdlib.h>

#include "base/line_map.h"

STATS_TABLE(duplication_stat_table, "duplication", duplication_stats, DUPLICATION_STATS);

/* A line whose state changes in this cycle. The L1s report in any order, so changes take effect in the next cycle. */
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
    struct line_map *place; /* [per_group] lines at that position in a group: masks of the groups in each state */
    uint64_t cycle;         /* cycle of the changes */
    struct change *change;
    unsigned change_count, change_room;
    struct duplication_stats *stats; /* [groups] */
};

/* The groups that hold a line, and those that have it in flight: value[] of its entry. */
enum state { HELD, IN_FLIGHT };

/* Counts a miss by the number of groups: `first` is copies_0 or all_copies_0, followed by the other bins and adjacent. */
static void count_copies(const struct duplication *d, unsigned group, uint64_t groups, uint64_t *first) {
    enum { COPIES_0, COPIES_1, COPIES_2, COPIES_4, COPIES_7, COPIES_MORE, ADJACENT };
    int copies = __builtin_popcountll(groups);
    unsigned bin = copies <= 2   ? COPIES_0 + (unsigned)copies
                   : copies <= 4 ? COPIES_4
                   : copies <= 7 ? COPIES_7
                                 : COPIES_MORE;
    unsigned before = (group + d->groups - 1) % d->groups, behind = (group + 1) % d->groups;
    first[bin]++;
    first[ADJACENT] += (groups >> before | groups >> behind) & 1;
}

static void count(const struct duplication *d, unsigned group, const struct line_entry *line) {
    struct duplication_stats *stats = &d->stats[group];
    uint64_t others = ~(UINT64_C(1) << group), holders = line ? line->value[HELD] & others : 0,
             fetching = line ? line->value[IN_FLIGHT] & others : 0;
    stats->misses++;
    count_copies(d, group, holders, &stats->copies_0);
    count_copies(d, group, holders | fetching, &stats->all_copies_0);
    for (uint64_t rest = holders & low_mask(DUPLICATION_NAMED); rest; rest &= rest - 1)
        (&stats->held_by_0)[lowest_bit(rest)]++;
}

static void apply(const struct duplication *d, const struct change *change) {
    struct line_map *lines = &d->place[change->l1 % d->per_group];
    uint64_t bit = UINT64_C(1) << change->l1 / d->per_group, left = 0;
    if (change->event != L1_EVENT_INVALIDATE) {
        struct line_entry *line = line_map_at(lines, change->key);
        switch (change->event) {
        case L1_EVENT_MISS: line->value[IN_FLIGHT] |= bit; return;
        case L1_EVENT_INSERT: line->value[HELD] |= bit; break;
        case L1_EVENT_REMOVE: line->value[HELD] &= ~bit; return;
        default: break;
        }
        line->value[IN_FLIGHT] &= ~bit; /* filled, or stale by a store */
        return;
    }
    for (struct line_entry *line = line_map_next(lines, NULL); line; line = line_map_next(lines, line)) {
        line->value[HELD] &= ~bit;
        left |= line->value[HELD] | line->value[IN_FLIGHT];
    }
    if (!left) line_map_clear(lines);
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
    const struct line_entry *line = line_map_find(&d->place[l1 % d->per_group], key);
    if (event == L1_EVENT_STORE && !line) return;
    if (event == L1_EVENT_MISS) count(d, l1 / d->per_group, line);
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
