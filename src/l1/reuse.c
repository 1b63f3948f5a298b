#include "l1/reuse.h"

#include <stdlib.h>

#include "base/line_map.h"

STATS_TABLE(reuse_stat_table, "reuse", reuse_stats, REUSE_STATS);

static const struct policy off = {"off", "no accesses, no counters", NULL};
static const struct policy reads = {"reads", "loads", NULL};
static const struct policy all = {"all", "loads and stores", NULL};
static const struct policy *const members[] = {&off, &reads, &all};
const struct family reuse_family = {"observed kind of access", members, COUNT_OF(members)};

enum value { COUNT, LAST }; /* of a line: number of accesses, and sequence number of the last */

struct observed {
    struct line_map lines;
    struct reuse_stats stats;
};

/* The organisation's operations, some of them wrapped by observing ones. They are the first member, so an L1's `ops`
 * points to this struct. */
struct reuse {
    struct l1_ops ops;
    const struct l1_ops *inner;
    bool writes;
    unsigned sms;
    struct observed *observed; /* [sms] */
};

static struct reuse *reuse_of(const struct l1 *l1) { return (struct reuse *)(uintptr_t)l1->ops; }

static void count_line(struct reuse_stats *stats, uint64_t accesses) {
    switch (accesses) {
    case 1: stats->lines_1++; break;
    case 2: stats->lines_2++; break;
    case 3: stats->lines_3++; break;
    case 4: stats->lines_4++; break;
    case 8: stats->lines_8++; break;
    case 16: stats->lines_16++; break;
    case 32: stats->lines_32++; break;
    }
}

/* Bins: 0, 1, 2, then powers of two. */
static void count_distance(struct reuse_stats *stats, uint64_t distance) {
    enum { FIRST = offsetof(struct reuse_stats, distance_0) / sizeof(uint64_t) };
    enum { LAST_BIN = offsetof(struct reuse_stats, distance_more) / sizeof(uint64_t) - FIRST };
    uint64_t bin = distance == 0 ? 0 : 1 + log2_floor(round_up_power_of_two(distance));
    ((uint64_t *)stats)[FIRST + min_u64(bin, LAST_BIN)]++;
}

static void observe(struct observed *observed, const struct l1_request *request) {
    struct line_entry *line = line_map_at(&observed->lines, request->address | (uint64_t)request->program << 56);
    uint64_t number = ++observed->stats.accesses;
    count_line(&observed->stats, ++line->value[COUNT]);
    if (line->value[COUNT] > 1) count_distance(&observed->stats, number - line->value[LAST] - 1);
    line->value[LAST] = number;
}

static enum l1_outcome reuse_access(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now) {
    const struct reuse *reuse = reuse_of(l1);
    enum l1_outcome outcome = reuse->inner->access(l1, sm, request, now);
    bool read = request->kind == MESSAGE_READ, write = request->kind == MESSAGE_WRITE && reuse->writes;
    if (outcome < L1_ACCEPTED && outcome != L1_BYPASS && (read || write)) observe(&reuse->observed[sm], request);
    return outcome;
}

static void reuse_flush(struct l1 *l1, unsigned sm) {
    const struct reuse *reuse = reuse_of(l1);
    line_map_clear(&reuse->observed[sm].lines);
    reuse->inner->flush(l1, sm);
}

static void reuse_destroy(struct l1 *l1) {
    struct reuse *reuse = reuse_of(l1);
    l1->ops = reuse->inner;
    l1->ops->destroy(l1);
    for (unsigned sm = 0; sm < reuse->sms; sm++) line_map_release(&reuse->observed[sm].lines);
    free(reuse->observed);
    free(reuse);
}

void reuse_observe(struct l1 *l1, const struct policy *which, const struct l1_context *context) {
    if (which == &off) return;
    struct reuse *reuse = mem_alloc(1, sizeof *reuse);
    *reuse = (struct reuse){.ops = *l1->ops,
                            .inner = l1->ops,
                            .writes = which == &all,
                            .sms = context->sms,
                            .observed = mem_alloc(context->sms, sizeof *reuse->observed)};
    reuse->ops.access = reuse_access;
    reuse->ops.hits = NULL;
    reuse->ops.flush = reuse_flush;
    reuse->ops.destroy = reuse_destroy;
    for (unsigned sm = 0; sm < context->sms; sm++) {
        line_map_init(&reuse->observed[sm].lines);
        stats_add(context->stats, &reuse_stat_table, &reuse->observed[sm].stats);
    }
    l1->ops = &reuse->ops;
}
