/* Decoupled L1D: a line is allocated once its address has been referenced often enough in a short time
 * ("Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, sections 4.1 to 4.3).
 *
 * The tag store is separate from the data store, with more entries than there are data lines and its own sets. An entry
 * counts the references to its address (RC, six bits). A read without an entry takes that with the smallest RC (LFU)
 * and bypasses the cache; a read whose count has reached the threshold allocates a data line. On an allocation the
 * former owner of the line restarts from 0, and all other counts of the tag set decrease by one (dynamic aging). The
 * replacement policy selects the data line. Entries with a data line are called committed, the others candidates.
 *
 * Position: the position stored in an entry is valid only if the data line there belongs to the entry. A store that
 * invalidates a line thus turns its entry into a candidate with an unchanged count. Free_Line: cache_victim() selects
 * invalid lines first.
 *
 * Not specified by the paper: a new entry counts 1 (Figure 3 counts a line that is referenced once as 1); a committed
 * entry is replaced only if its tag set has no candidate, and its line is then invalidated, or, if that is dirty or
 * reserved, nothing is recorded; ties are broken by LRU; an allocation that evicts ages once; writes change nothing.
 *
 * Section 4.2 has a probe miss return a bypass whatever the threshold, so with a threshold of 1 a line is allocated at
 * its second reference, too; 1 and 2 differ after an eviction (count 0) and by aging. Counts increase only for
 * candidates, as there: a request that finds its data proceeds as a hit.
 *
 * SM dueling: while SM 0 and SM 1 duel, SM 0 uses this policy and SM 1 the plain cache; the others follow the command
 * of the control plane (gpu/duel.h). An interval of 500 cycles has few reads, so by default the comparison covers all
 * reads since the duel began and the L1s were last invalidated, that is, since the start of the kernel. The plain cache
 * does not use the tag store; on the change back to the policy, all valid lines get entries with counts equal to the
 * threshold. The probe takes its additional cycle in both modes.
 */
#include <stdlib.h>
#include <string.h>

#include "l1/insertion.h"
#include "sim/gpu_config.h"
#include "sim/port.h"

struct decoupled_config {
    int64_t tag_sets, tag_ways, threshold, first_count;
    bool count_hits;
    int64_t probe_cycles;
    bool dueling;
    int64_t duel_interval_cycles, duel_threshold_percent, duel_least_reads;
    bool duel_in_points, duel_by_interval;
    const struct policy *duel_contestants;
    int64_t duel_round_cycles;
};

static const struct policy contestants_follow = {"follow", "use the better cache themselves until the next round",
                                                 NULL};
static const struct policy contestants_stay = {"stay", "compete all the time", NULL};
static const struct policy *const contestants[] = {&contestants_follow, &contestants_stay};
static const struct family contestants_family = {"behaviour of contestants", contestants, COUNT_OF(contestants)};

enum { RC_MAX = 63, DUEL_READS_MAX = 1 << 24 };

static const struct param params[] = {
    P_INT(struct decoupled_config, tag_sets, 0, 0, 65536, "sets", "sets of the tag store; 0: as in the L1"),
    P_INT(struct decoupled_config, tag_ways, 0, 0, 65535, "entries", "entries per tag set; 0: twice l1.ways"),
    P_INT(struct decoupled_config, threshold, 2, 0, RC_MAX, "references",
          "references needed to allocate a data line; 0: allocate always, as a plain cache"),
    P_INT(struct decoupled_config, first_count, 1, 0, RC_MAX, "references", "initial reference count of an entry"),
    P_BOOL(struct decoupled_config, count_hits, false, "hits count as references, too"),
    P_INT(struct decoupled_config, probe_cycles, 1, 0, 64, "cycles",
          "additional lookup latency of the larger tag store"),
    P_BOOL(struct decoupled_config, dueling, true,
           "SM dueling: SM 0 uses the policy, SM 1 the plain cache, the others follow the better one"),
    P_INT(struct decoupled_config, duel_interval_cycles, 500, 16, 1000000000, "cycles", "interval between comparisons"),
    P_INT(struct decoupled_config, duel_threshold_percent, 10, 0, 100, "%",
          "relative excess of SM 0's miss rate over SM 1's up to which SM 0 is followed"),
    P_INT(struct decoupled_config, duel_least_reads, 32, 1, 1000000, "reads",
          "minimum number of reads of each SM for a decision"),
    P_BOOL(struct decoupled_config, duel_in_points, false, "duel_threshold_percent is in percentage points instead"),
    P_BOOL(struct decoupled_config, duel_by_interval, false,
           "compare the miss rates of the interval instead of those since the start of the kernel"),
    P_CHOICE(struct decoupled_config, duel_contestants, contestants_family, "follow",
             "what SM 0 and SM 1 do after a verdict"),
    P_INT(struct decoupled_config, duel_round_cycles, 0, 0, 1000000000, "cycles",
          "contestants that follow: time from a verdict to the next round; 0: rounds begin with kernels only"),
};

static unsigned gcd(unsigned a, unsigned b) { return b ? gcd(b, a % b) : a; }

static const struct section decoupled_section;

static const struct decoupled_config *values_of(const struct config *config) {
    return config_get(config, &decoupled_section);
}

struct geometry {
    unsigned sets, ways;
};

static struct geometry geometry_of(const struct config *config) {
    const struct decoupled_config *values = values_of(config);
    const struct l1_config *l1 = config_get(config, &l1_section);
    return (struct geometry){(unsigned)(values->tag_sets ? values->tag_sets : l1_sets(config)),
                             (unsigned)(values->tag_ways ? values->tag_ways : 2 * l1->ways)};
}

static bool check(const struct config *config, struct error *err) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    struct geometry tags = geometry_of(config);
    /* Set indices are line numbers modulo the number of sets, so this many data sets can map to one tag set. */
    unsigned sets = l1_sets(config) / gcd(l1_sets(config), tags.sets);
    if (tags.ways < sets * (unsigned)l1->ways)
        return config_error(config, "l1.decoupled.tag_ways", err,
                            "%u entries are too few for the %u data lines that map to one of %u tag sets", tags.ways,
                            sets * (unsigned)l1->ways, tags.sets);
    if (values_of(config)->dueling && l1_count(config) < 2)
        return config_error(config, "l1.decoupled.dueling", err,
                            "SM dueling needs two L1s, and there is one; set l1.decoupled.dueling=false");
    return true;
}

/* Section 6.5: a larger tag store, reference counts of 6 bits and positions in all its entries, free-line counters. */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    struct geometry tags = geometry_of(config);
    uint64_t l1s = l1_count(config), sets = l1_sets(config), entries = (uint64_t)tags.sets * tags.ways,
             lines = sets * (uint64_t)l1->ways, way_bits = log2_floor(round_up_power_of_two((uint64_t)l1->ways));
    items[0] =
        (struct storage_item){"additional tags", l1s, entries > lines ? entries - lines : 0, l1_tag_bits(config)};
    items[1] = (struct storage_item){"reference counts", l1s, entries, log2_floor(RC_MAX) + 1};
    items[2] = (struct storage_item){"data line positions", l1s, entries, way_bits};
    items[3] = (struct storage_item){"free-line counters", l1s, sets, way_bits};
    return 4;
}

static const struct section decoupled_section = {
    .path = "decoupled",
    .help = "L1 with a decoupled, larger tag store that allocates reused lines only",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct decoupled_config),
    .check = check,
    .storage = storage,
};

#define DECOUPLED_STATS(S) \
    S(SUM, first_touches, "accesses", "reads without an entry in the tag store") \
    S(SUM, below_threshold, "accesses", "reads with an entry below the threshold, which bypass the L1") \
    S(SUM, admissions, "accesses", "reads that allocate a data line") \
    S(SUM, tags_replaced, "tags", "candidate entries replaced") \
    S(SUM, lines_lost, "lines", "lines invalidated because their entry was replaced") \
    S(SUM, untracked, "accesses", "reads not recorded because no tag entry could be replaced") \
    S(SUM, switched_on, "times", "changes from the plain cache to the policy") \
    S(SUM, switched_off, "times", "changes from the policy to the plain cache")

STATS_STRUCT(decoupled_stats, DECOUPLED_STATS);
STATS_TABLE(decoupled_stat_table, "l1.decoupled", decoupled_stats, DECOUPLED_STATS);

struct tag {
    uint64_t key;     /* CACHE_NO_KEY if the entry is free */
    uint64_t used_at; /* time of the last use, in references to this tag store */
    uint16_t position;
    uint8_t count; /* RC */
};

/* A leader of the SM dueling. */
struct contestant {
    struct port *control;
    uint64_t interval, ends_at;
    uint32_t reads, misses, round;
};

struct tag_store {
    struct cache *data;
    struct tag *tag; /* [sets][ways] */
    uint64_t references;
    bool plain;
    struct contestant contestant; /* without a port: not a leader */
    struct decoupled_stats stats;
};

struct decoupled {
    struct geometry geometry;
    unsigned sms, homes;
    uint8_t threshold, first_count;
    bool count_hits, by_interval;
    uint64_t interval_cycles;
    struct tag_store *store; /* [sms] */
};

static void clear(const struct decoupled *d, struct tag_store *store) {
    for (size_t i = 0; i < (size_t)d->geometry.sets * d->geometry.ways; i++)
        store->tag[i] = (struct tag){.key = CACHE_NO_KEY, .position = CACHE_NONE};
}

static void *decoupled_create(const struct insertion_context *context, struct error *err) {
    (void)err;
    const struct decoupled_config *values = values_of(context->config);
    struct decoupled *d = mem_alloc(1, sizeof *d);
    *d = (struct decoupled){
        .geometry = geometry_of(context->config),
        .sms = context->l1s,
        .homes = context->homes,
        .threshold = (uint8_t)values->threshold,
        .first_count = (uint8_t)values->first_count,
        .count_hits = values->count_hits,
        .by_interval = values->duel_by_interval,
        .interval_cycles = (uint64_t)values->duel_interval_cycles,
        .store = mem_alloc(context->l1s, sizeof *d->store),
    };
    for (unsigned sm = 0; sm < context->l1s; sm++) {
        struct tag_store *store = &d->store[sm];
        store->data = context->cache[sm];
        store->tag = mem_alloc((size_t)d->geometry.sets * d->geometry.ways, sizeof *store->tag);
        store->plain = values->dueling && sm > 0;
        clear(d, store);
        stats_add(context->stats, &decoupled_stat_table, &store->stats);
    }
    return d;
}

static void decoupled_destroy(void *state) {
    struct decoupled *d = state;
    for (unsigned sm = 0; sm < d->sms; sm++) free(d->store[sm].tag);
    free(d->store);
    free(d);
}

/* The index of a line among those of this L1. */
static uint64_t index_of(const struct decoupled *d, uint64_t key) { return (key & low_mask(56)) / d->homes; }

static struct tag *tag_set(const struct decoupled *d, const struct tag_store *store, uint64_t key) {
    return &store->tag[index_of(d, key) % d->geometry.sets * d->geometry.ways];
}

static struct tag *find(const struct decoupled *d, const struct tag_store *store, uint64_t key) {
    struct tag *tags = tag_set(d, store, key);
    for (unsigned i = 0; i < d->geometry.ways; i++)
        if (tags[i].key == key) return &tags[i];
    return NULL;
}

static unsigned data_set(const struct decoupled *d, const struct tag_store *store, uint64_t key) {
    return cache_set_of(store->data, index_of(d, key));
}

/* The data line of a committed entry; NULL for a candidate. */
static struct cache_line *data_line(const struct decoupled *d, const struct tag_store *store, const struct tag *tag) {
    if (tag->position == CACHE_NONE) return NULL;
    unsigned set = data_set(d, store, tag->key);
    struct cache_line *line = cache_line_at(store->data, set, tag->position);
    return line->state != LINE_INVALID && line->key == tag->key ? line : NULL;
}

static bool goes_before(const struct tag *a, const struct tag *b) {
    return !b || (a->count != b->count ? a->count < b->count : a->used_at < b->used_at);
}

/* An entry for a new address: a free one, else the candidate with the fewest references, else a committed entry with a
 * clean line, which is invalidated. NULL if there is none. */
static struct tag *make_room(const struct decoupled *d, struct tag_store *store, uint64_t key) {
    struct tag *tags = tag_set(d, store, key), *candidate = NULL, *committed = NULL;
    for (struct tag *tag = tags; tag < tags + d->geometry.ways; tag++) {
        if (tag->key == CACHE_NO_KEY) return tag;
        const struct cache_line *line = data_line(d, store, tag);
        if (!line && goes_before(tag, candidate)) candidate = tag;
        if (line && line->state == LINE_VALID && goes_before(tag, committed)) committed = tag;
    }
    if (candidate) {
        store->stats.tags_replaced++;
        return candidate;
    }
    if (committed) {
        cache_drop(store->data, data_set(d, store, committed->key), data_line(d, store, committed));
        store->stats.lines_lost++;
    }
    return committed;
}

static bool decoupled_admit(void *state, unsigned sm, const struct cache_access *access) {
    const struct decoupled *d = state;
    const struct tag_store *store = &d->store[sm];
    if (store->plain) return true;
    const struct tag *tag = find(d, store, access->key);
    return tag ? tag->count + 1 >= d->threshold : d->threshold == 0;
}

static void age_others(const struct decoupled *d, struct tag_store *store, const struct tag *but) {
    struct tag *tags = tag_set(d, store, but->key);
    for (struct tag *tag = tags; tag < tags + d->geometry.ways; tag++)
        if (tag != but) tag->count = (uint8_t)(tag->count - (tag->count > 0));
}

static void decoupled_evict(void *state, unsigned sm, const struct cache_line *line) {
    struct decoupled *d = state;
    struct tag_store *store = &d->store[sm];
    struct tag *owner = store->plain ? NULL : find(d, store, line->key);
    if (!owner) return;
    owner->count = 0;
    owner->position = CACHE_NONE;
}

/* Reports an interval at the first read after its end, so an idle SM causes no events. */
static void count_for_duel(const struct decoupled *d, struct contestant *contestant, bool missed, uint64_t now) {
    if (now >= contestant->ends_at) {
        struct duel_report report = {contestant->interval, contestant->reads, contestant->misses, contestant->round};
        if (report.reads) port_push(contestant->control, now, &report, sizeof report);
        contestant->interval = now / d->interval_cycles;
        contestant->ends_at = (contestant->interval + 1) * d->interval_cycles;
        if (d->by_interval) contestant->reads = contestant->misses = 0;
    }
    if (contestant->reads == DUEL_READS_MAX) { /* limit of the counters; the ratio is preserved */
        contestant->reads /= 2;
        contestant->misses /= 2;
    }
    contestant->reads++;
    contestant->misses += missed;
}

/* Figure 7 of the paper, for an accepted access. */
static void decoupled_note(void *state, unsigned sm, const struct insertion_event *event) {
    struct decoupled *d = state;
    struct tag_store *store = &d->store[sm];
    bool there = event->outcome == L1_HIT || event->outcome == L1_PENDING_HIT;
    if (store->contestant.control) count_for_duel(d, &store->contestant, !there, event->now);
    if (store->plain) return;
    uint64_t key = event->access->key;
    struct tag *tag = find(d, store, key);
    if (!tag) {
        tag = make_room(d, store, key);
        uint64_t *counter = tag ? &store->stats.first_touches : &store->stats.untracked;
        ++*counter;
        if (!tag) return;
        *tag = (struct tag){.key = key, .position = CACHE_NONE, .count = d->first_count};
    } else if (!there || d->count_hits) {
        tag->count = (uint8_t)(tag->count + (tag->count < RC_MAX));
        store->stats.below_threshold += event->outcome == L1_BYPASS;
    }
    tag->used_at = ++store->references;
    if (event->outcome != L1_MISS) return;
    tag->position = (uint16_t)cache_way_of(store->data, event->access->set, event->line);
    age_others(d, store, tag);
    store->stats.admissions++;
}

static void decoupled_flush(void *state, unsigned sm) {
    struct decoupled *d = state;
    clear(d, &d->store[sm]);
    d->store[sm].contestant.reads = d->store[sm].contestant.misses = 0;
}

static unsigned decoupled_probe_cycles(const struct config *config) {
    return (unsigned)values_of(config)->probe_cycles;
}

static bool decoupled_duel(const struct config *config, struct duel_rule *rule) {
    const struct decoupled_config *values = values_of(config);
    *rule = (struct duel_rule){(uint64_t)values->duel_interval_cycles,
                               (unsigned)values->duel_threshold_percent,
                               (unsigned)values->duel_least_reads,
                               values->duel_in_points,
                               values->duel_contestants == &contestants_follow,
                               (uint64_t)values->duel_round_cycles};
    return values->dueling;
}

static void decoupled_report_to(void *state, unsigned sm, struct port *control) {
    struct decoupled *d = state;
    d->store[sm].contestant = (struct contestant){.control = control, .ends_at = d->interval_cycles};
}

/* Creates entries for all valid lines, which the plain cache allocated. */
static void commit_all(struct decoupled *d, struct tag_store *store) {
    const struct cache *data = store->data;
    for (unsigned set = 0; set < data->sets; set++)
        for (unsigned way = 0; way < data->ways; way++) {
            const struct cache_line *line = cache_line_at(data, set, way);
            if (line->state == LINE_INVALID) continue;
            uint64_t key = line->key;
            struct tag *tag = make_room(d, store, key);
            assert(tag && "a tag set has an entry for each data line that maps to it");
            *tag = (struct tag){.key = key, .position = (uint16_t)way, .count = d->threshold};
        }
}

static void decoupled_steer(void *state, unsigned sm, bool plain, uint32_t round) {
    struct decoupled *d = state;
    struct tag_store *store = &d->store[sm];
    store->contestant.round = round;
    store->contestant.reads = store->contestant.misses = 0;
    if (store->plain == plain) return;
    store->plain = plain;
    uint64_t *counter = plain ? &store->stats.switched_off : &store->stats.switched_on;
    ++*counter;
    clear(d, store);
    if (!plain) commit_all(d, store);
}

const struct insertion_ops insertion_decoupled = {
    .policy = {"decoupled", "allocates lines referenced repeatedly, by a decoupled tag store", &decoupled_section},
    .create = decoupled_create,
    .destroy = decoupled_destroy,
    .admit = decoupled_admit,
    .evict = decoupled_evict,
    .note = decoupled_note,
    .flush = decoupled_flush,
    .probe_cycles = decoupled_probe_cycles,
    .duel = decoupled_duel,
    .report_to = decoupled_report_to,
    .steer = decoupled_steer,
};
