/* PDP: a line is protected until its set has been read a given number of times since the line's last use, the
 * protecting distance; a read miss in a set whose lines are all protected bypasses the cache ("Improving Cache
 * Management Policies Using Dynamic Reuse Distances", MICRO 2012; "PDP-best" in Locality-Driven Dynamic GPU Cache
 * Bypassing, ICS 2015, section 6.1, is the static variant with the best distance for each workload).
 *
 * Each line has a remaining distance. Every read of the set first decrements those of all lines, or every Nth read if
 * they have few bits; allocation and hits reset the line's own to the protecting distance. Victims are lines with
 * remaining distance 0, in the order of the replacement policy. Reserved lines are no victims; without an unprotected
 * victim the read bypasses the cache.
 *
 * Dynamic variant: a fraction of the reads of some sets is sampled into a FIFO per set. A read found there is a reuse
 * at the distance given by its position. After a number of reads, the protecting distance becomes the d that maximises
 * the hits per occupied space:
 *     E(d) = sum of N_i, i <= d, over (sum of i N_i, i <= d, + (N - sum of N_i, i <= d) (d + ways))
 * with N_i reuses at distance i among N samples. Each L1 has its own distance.
 *
 * Not modelled: the variant without bypassing; writes, which neither protect nor age lines.
 */
#include <stdlib.h>
#include <string.h>

#include "l1/insertion.h"

struct pdp_config {
    int64_t distance, bits;
    bool dynamic;
    int64_t sampled_sets, sampler_entries, recompute_reads;
};

enum { DISTANCE_MAX = 256, BUCKET = 4, BUCKETS = DISTANCE_MAX / BUCKET };

static const struct param params[] = {
    P_INT(struct pdp_config, distance, 16, 1, DISTANCE_MAX, "reads", "protecting distance; the initial one if dynamic"),
    P_INT(struct pdp_config, bits, 8, 1, 8, "bits",
          "width of a line's remaining distance; below 8 it is decremented every 2, 4, … reads of the set"),
    P_BOOL(struct pdp_config, dynamic, false, "derive the distance from the reuse distances in sampled sets"),
    P_INT(struct pdp_config, sampled_sets, 32, 1, 65536, "sets", "sampled sets, at most all"),
    P_INT(struct pdp_config, sampler_entries, 32, 1, DISTANCE_MAX, "entries", "sampler entries per set"),
    P_INT(struct pdp_config, recompute_reads, 524288, 16, 1000000000, "reads",
          "reads between two updates of the distance"),
};

static const struct section pdp_section = {
    .path = "pdp",
    .help = "protecting distance policy",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct pdp_config),
};

#define PDP_STATS(S) \
    S(SUM, bypasses, "accesses", "reads that bypassed the L1 because all lines of the set were protected") \
    S(SUM, recomputed, "times", "updates of the protecting distance") \
    S(MIN, distance_min, "reads", "minimum protecting distance") \
    S(MAX, distance_max, "reads", "maximum protecting distance")

STATS_STRUCT(pdp_stats, PDP_STATS);
STATS_TABLE(pdp_stat_table, "l1.pdp", pdp_stats, PDP_STATS);

/* The latest samples of a set, newest at `head`. */
struct sampler {
    uint64_t *key;        /* [entries] */
    unsigned head, since; /* reads of the set since the newest sample */
};

struct pdp_l1 {
    struct cache *cache;
    uint16_t *remaining;     /* [sets][ways] */
    uint16_t *reads;         /* [sets] reads since the last decrement */
    unsigned distance;       /* in units of the remaining distances */
    struct cache_line *seen; /* [ways] the lines of a set, protected ones marked as reserved */
    /* Dynamic only. */
    struct sampler *sampler; /* [sampled sets] */
    uint64_t reuses[BUCKETS], samples, reads_made;
    struct pdp_stats stats;
};

struct pdp {
    unsigned sms, step, sampled, sample_every, entries;
    uint64_t recompute_reads;
    struct pdp_l1 *l1; /* [sms] */
};

static void use_distance(const struct pdp *pdp, struct pdp_l1 *l1, unsigned reads) {
    l1->distance = (unsigned)div_up(reads, pdp->step);
    stat_min(&l1->stats.distance_min, reads);
    stat_max(&l1->stats.distance_max, reads);
}

static void samplers_init(const struct pdp *pdp, struct pdp_l1 *l1) {
    l1->sampler = mem_alloc(pdp->sampled, sizeof *l1->sampler);
    for (unsigned set = 0; set < pdp->sampled; set++) {
        l1->sampler[set].key = mem_alloc(pdp->entries, sizeof *l1->sampler[set].key);
        for (unsigned i = 0; i < pdp->entries; i++) l1->sampler[set].key[i] = CACHE_NO_KEY;
    }
}

static void *pdp_create(const struct insertion_context *context, struct error *err) {
    (void)err;
    const struct pdp_config *values = config_get(context->config, &pdp_section);
    unsigned sets = context->cache[0]->sets, ways = context->cache[0]->ways,
             entries = (unsigned)values->sampler_entries;
    struct pdp *pdp = mem_alloc(1, sizeof *pdp);
    *pdp = (struct pdp){
        .sms = context->l1s,
        .step = DISTANCE_MAX >> values->bits,
        .sampled = values->dynamic ? (unsigned)min_u64(sets, (uint64_t)values->sampled_sets) : 0,
        .sample_every = (unsigned)div_up(DISTANCE_MAX, entries),
        .entries = entries,
        .recompute_reads = (uint64_t)values->recompute_reads,
        .l1 = mem_alloc(context->l1s, sizeof *pdp->l1),
    };
    for (unsigned sm = 0; sm < context->l1s; sm++) {
        struct pdp_l1 *l1 = &pdp->l1[sm];
        l1->cache = context->cache[sm];
        l1->remaining = mem_alloc((size_t)sets * ways, sizeof *l1->remaining);
        l1->reads = mem_alloc(sets, sizeof *l1->reads);
        l1->seen = mem_alloc(ways, sizeof *l1->seen);
        samplers_init(pdp, l1);
        use_distance(pdp, l1, (unsigned)values->distance);
        stats_add(context->stats, &pdp_stat_table, &l1->stats);
    }
    return pdp;
}

static void pdp_destroy(void *state) {
    struct pdp *pdp = state;
    for (unsigned sm = 0; sm < pdp->sms; sm++) {
        for (unsigned set = 0; set < pdp->sampled; set++) free(pdp->l1[sm].sampler[set].key);
        free(pdp->l1[sm].sampler);
        free(pdp->l1[sm].remaining);
        free(pdp->l1[sm].reads);
        free(pdp->l1[sm].seen);
    }
    free(pdp->l1);
    free(pdp);
}

/* The decrement of the remaining distances by this read. */
static unsigned sinks_by(const struct pdp *pdp, const struct pdp_l1 *l1, unsigned set) {
    return l1->reads[set] + 1u == pdp->step;
}

/* The victim of this read, or NULL. */
static struct cache_line *unprotected(const struct pdp *pdp, const struct pdp_l1 *l1, unsigned set) {
    struct cache *cache = l1->cache;
    const uint16_t *remaining = &l1->remaining[(size_t)set * cache->ways];
    unsigned sinks = sinks_by(pdp, l1, set);
    for (unsigned way = 0; way < cache->ways; way++) {
        l1->seen[way] = *cache_line_at(cache, set, way);
        if (l1->seen[way].state == LINE_INVALID) return cache_line_at(cache, set, way);
        if (remaining[way] > sinks) l1->seen[way].state = LINE_RESERVED;
    }
    int way = cache->replacement->victim(cache->replacement_state, set, l1->seen);
    return way < 0 ? NULL : cache_line_at(cache, set, (unsigned)way);
}

static bool pdp_admit(void *state, unsigned sm, const struct cache_access *access) {
    const struct pdp *pdp = state;
    return unprotected(pdp, &pdp->l1[sm], access->set) != NULL;
}

static struct cache_line *pdp_victim(void *state, unsigned sm, unsigned set) {
    const struct pdp *pdp = state;
    return unprotected(pdp, &pdp->l1[sm], set);
}

/* Selects the distance that maximises E; without any reuse it is unchanged. */
static void recompute(const struct pdp *pdp, struct pdp_l1 *l1) {
    uint64_t reuses = 0, room = 0, best_reuses = 0, best_cost = 1;
    unsigned best = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        unsigned distance = (i + 1) * BUCKET;
        reuses += l1->reuses[i];
        room += l1->reuses[i] * distance;
        uint64_t missed = l1->samples - min_u64(reuses, l1->samples); /* samples before the last update may be reused */
        uint64_t cost = room + missed * (distance + l1->cache->ways);
        if (reuses * best_cost <= best_reuses * cost) continue;
        best = distance, best_reuses = reuses, best_cost = cost;
    }
    if (best) use_distance(pdp, l1, best);
    l1->stats.recomputed++;
    memset(l1->reuses, 0, sizeof l1->reuses);
    l1->samples = l1->reads_made = 0;
}

static void sample(const struct pdp *pdp, struct pdp_l1 *l1, struct sampler *sampler, uint64_t key) {
    for (unsigned i = 0; i < pdp->entries; i++) {
        uint64_t *entry = &sampler->key[(sampler->head + pdp->entries - i) % pdp->entries];
        if (*entry != key) continue;
        unsigned distance = i * pdp->sample_every + sampler->since + 1;
        if (distance <= DISTANCE_MAX) l1->reuses[(distance - 1) / BUCKET]++;
        *entry = CACHE_NO_KEY;
        break;
    }
    if (++sampler->since < pdp->sample_every) return;
    sampler->since = 0;
    sampler->head = (sampler->head + 1) % pdp->entries;
    sampler->key[sampler->head] = key;
    l1->samples++;
}

static void pdp_note(void *state, unsigned sm, const struct insertion_event *event) {
    struct pdp *pdp = state;
    struct pdp_l1 *l1 = &pdp->l1[sm];
    unsigned set = event->access->set, ways = l1->cache->ways, sinks = sinks_by(pdp, l1, set);
    uint16_t *remaining = &l1->remaining[(size_t)set * ways];
    l1->reads[set] = (uint16_t)(sinks ? 0 : l1->reads[set] + 1);
    for (unsigned way = 0; sinks && way < ways; way++)
        remaining[way] = (uint16_t)(remaining[way] - (remaining[way] > 0));
    if (event->line) remaining[cache_way_of(l1->cache, set, event->line)] = (uint16_t)l1->distance;
    l1->stats.bypasses += !event->line;
    if (!pdp->sampled) return;
    if (set < pdp->sampled) sample(pdp, l1, &l1->sampler[set], event->access->key);
    if (++l1->reads_made == pdp->recompute_reads) recompute(pdp, l1);
}

const struct insertion_ops insertion_pdp = {
    .policy = {"pdp", "allocates only if the set has a line past its protecting distance", &pdp_section},
    .create = pdp_create,
    .destroy = pdp_destroy,
    .admit = pdp_admit,
    .victim = pdp_victim,
    .note = pdp_note,
};
