#include "sim/latency.h"

#include <stdlib.h>

/* ---- counters ---------------------------------------------------------------------------------------------------- */

#define STAGE_ROW_(name, queue, title, help) {#name, "cycles", help, STAT_SUM},
#define BUCKET_ROW_(bound, help)             {"from_" #bound, "loads", help, STAT_SUM},
static const struct stat rows[] = {{"loads", "loads", "loads that this level supplied last", STAT_SUM},
                                   LATENCY_STAGES(STAGE_ROW_) LATENCY_BUCKETS(BUCKET_ROW_)};
_Static_assert(sizeof(struct latency_stats) == COUNT_OF(rows) * sizeof(uint64_t), "plain counters, in order");

#define LEVEL_TABLE_(name, title) {"latency." #name, rows, COUNT_OF(rows)},
const struct stat_table latency_stat_tables[] = {LATENCY_LEVELS(LEVEL_TABLE_)};

#define STAGE_NAME_(name, queue, title, help) {#name, title, queue},
#define LEVEL_NAME_(name, title)              {#name, title},
#define BUCKET_BOUND_(bound, help)            bound,
const struct latency_stage_name latency_stage_names[] = {LATENCY_STAGES(STAGE_NAME_)};
const struct latency_level_name latency_level_names[] = {LATENCY_LEVELS(LEVEL_NAME_)};
const unsigned latency_bucket_bounds[] = {LATENCY_BUCKETS(BUCKET_BOUND_)};

enum latency_bucket latency_bucket_of(uint64_t cycles) {
    enum { FIRST_LOG2 = 4 }; /* of the second bucket's bound */
    if (cycles < 1u << FIRST_LOG2) return 0;
    unsigned octave = log2_floor(cycles), half = (unsigned)(cycles >> (octave - 1)) & 1;
    return (enum latency_bucket)min_u64(1 + 2 * (octave - FIRST_LOG2) + half, LATENCY_BUCKET_COUNT - 1);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

enum { SEGMENTS_MAX = 48 }; /* more than the longest path has: a far copy's miss in an L1 behind a group's crossbars */

struct path {
    uint64_t key;
    uint64_t begun_at, until;
    uint8_t level; /* enum latency_level; LATENCY_LEVEL_COUNT: not known */
    uint8_t segments;
    struct {
        uint32_t end; /* relative to begun_at */
        uint8_t stage;
    } segment[SEGMENTS_MAX];
};

/* Open paths, in a hash table with linear probing. */
struct latency {
    bool shared;
    latency_zero_load *zero_load;
    const void *user;
    struct path **slot; /* [slots] NULL: empty */
    unsigned slots_log2, used;
    struct path **spare; /* closed paths */
    unsigned spares, spare_room;
    struct latency_stats stats[LATENCY_LEVEL_COUNT];
};

enum { FIRST_SLOTS_LOG2 = 12 };

struct latency *latency_create(bool shared, latency_zero_load *zero_load, const void *user) {
    struct latency *latency = mem_alloc(1, sizeof *latency);
    latency->shared = shared;
    latency->zero_load = zero_load;
    latency->user = user;
    latency->slots_log2 = FIRST_SLOTS_LOG2;
    latency->slot = mem_alloc((size_t)1 << FIRST_SLOTS_LOG2, sizeof(struct path *));
    return latency;
}

void latency_destroy(struct latency *latency) {
    if (!latency) return;
    for (size_t i = 0; i < (size_t)1 << latency->slots_log2; i++) free(latency->slot[i]);
    for (unsigned i = 0; i < latency->spares; i++) free(latency->spare[i]);
    free(latency->slot);
    free(latency->spare);
    free(latency);
}

void latency_add_stats(struct latency *latency, struct stats *stats) {
    for (unsigned i = 0; i < LATENCY_LEVEL_COUNT; i++) stats_add(stats, &latency_stat_tables[i], &latency->stats[i]);
}

uint64_t latency_access_key(const struct latency *latency, unsigned sm, uint32_t token) {
    return latency_key(latency->shared ? LATENCY_SHARED : LATENCY_ACCESS, sm, token, 0);
}

static size_t home_of(const struct latency *latency, uint64_t key) {
    return key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - latency->slots_log2);
}

/* The slot of the key, or the empty one where it belongs. */
static size_t find(const struct latency *latency, uint64_t key) {
    size_t mask = ((size_t)1 << latency->slots_log2) - 1, i = home_of(latency, key);
    while (latency->slot[i] && latency->slot[i]->key != key) i = (i + 1) & mask;
    return i;
}

static struct path *path_of(const struct latency *latency, uint64_t key) { return latency->slot[find(latency, key)]; }

static void grow(struct latency *latency) {
    struct path **old = latency->slot;
    size_t count = (size_t)1 << latency->slots_log2++;
    latency->slot = mem_alloc(2 * count, sizeof *old);
    for (size_t i = 0; i < count; i++)
        if (old[i]) latency->slot[find(latency, old[i]->key)] = old[i];
    free(old);
}

static struct path *spare_path(struct latency *latency) {
    return latency->spares ? latency->spare[--latency->spares] : mem_alloc(1, sizeof(struct path));
}

void latency_open(struct latency *latency, uint64_t key, uint64_t now) {
    size_t i = find(latency, key);
    if (!latency->slot[i]) {
        if (2 * (latency->used + 1) > 1u << latency->slots_log2) {
            grow(latency);
            i = find(latency, key);
        }
        latency->slot[i] = spare_path(latency);
        latency->used++;
    }
    struct path *path = latency->slot[i];
    path->key = key;
    path->begun_at = path->until = now;
    path->level = LATENCY_LEVEL_COUNT;
    path->segments = 0;
}

void latency_close(struct latency *latency, uint64_t key) {
    size_t mask = ((size_t)1 << latency->slots_log2) - 1, gap = find(latency, key);
    if (!latency->slot[gap]) return;
    if (latency->spares == latency->spare_room) {
        latency->spare_room = latency->spare_room ? 2 * latency->spare_room : 256;
        latency->spare = mem_grow(latency->spare, latency->spare_room, sizeof *latency->spare);
    }
    latency->spare[latency->spares++] = latency->slot[gap];
    latency->slot[gap] = NULL;
    latency->used--;
    /* Moves those back that had to pass the slot. */
    for (size_t i = (gap + 1) & mask; latency->slot[i]; i = (i + 1) & mask) {
        size_t home = home_of(latency, latency->slot[i]->key);
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        latency->slot[gap] = latency->slot[i];
        latency->slot[i] = NULL;
        gap = i;
    }
}

static void extend(struct path *path, enum latency_stage stage, uint64_t until) {
    if (until <= path->until) return;
    bool same = path->segments && path->segment[path->segments - 1].stage == stage;
    assert(same || path->segments < SEGMENTS_MAX);
    if (!same && path->segments < SEGMENTS_MAX) path->segment[path->segments++].stage = (uint8_t)stage;
    path->segment[path->segments - 1].end = (uint32_t)(until - path->begun_at);
    path->until = until;
}

void latency_mark(struct latency *latency, uint64_t key, enum latency_stage stage, uint64_t until) {
    struct path *path = path_of(latency, key);
    if (path) extend(path, stage, until);
}

void latency_mark_loaded(struct latency *latency, uint64_t key, enum latency_stage queue, enum latency_stage stage,
                         uint64_t zero_load, uint64_t until) {
    struct path *path = path_of(latency, key);
    if (!path || until <= path->until) return;
    extend(path, queue, until - min_u64(zero_load, until - path->until));
    extend(path, stage, until);
}

void latency_cross(struct latency *latency, const struct message *message, bool reply, uint64_t until) {
    latency_mark_loaded(latency, latency_message_key(message), reply ? LATENCY_reply_queue : LATENCY_request_queue,
                        reply ? LATENCY_reply_network : LATENCY_request_network,
                        latency->zero_load(latency->user, reply, message), until);
}

void latency_supply(struct latency *latency, uint64_t key, enum latency_level level) {
    struct path *path = path_of(latency, key);
    if (path && path->level == LATENCY_LEVEL_COUNT) path->level = (uint8_t)level;
}

void latency_join(struct latency *latency, uint64_t key, uint64_t other, enum latency_stage gap) {
    struct path *path = path_of(latency, key);
    const struct path *source = path_of(latency, other);
    if (!path) return;
    assert(source && "the path of a reply is open");
    if (!source) return;
    extend(path, gap, source->begun_at);
    for (unsigned i = 0; i < source->segments; i++)
        extend(path, source->segment[i].stage, source->begun_at + source->segment[i].end);
    if (path->level == LATENCY_LEVEL_COUNT) path->level = source->level;
}

void latency_count(struct latency *latency, uint64_t key) {
    const struct path *path = path_of(latency, key);
    assert(path && path->level < LATENCY_LEVEL_COUNT && "a load has been supplied");
    if (!path || path->level == LATENCY_LEVEL_COUNT) return;
    struct latency_stats *stats = &latency->stats[path->level];
    stats->loads++;
    stats->bucket[latency_bucket_of(path->until - path->begun_at)]++;
    for (uint32_t i = 0, begun = 0; i < path->segments; begun = path->segment[i++].end)
        stats->stage[path->segment[i].stage] += path->segment[i].end - begun;
    latency_close(latency, key);
}

unsigned latency_open_paths(const struct latency *latency) { return latency->used; }
