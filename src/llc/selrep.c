/* Selective replication: lines that a kernel only reads have as many replicas as are beneficial. From "Selective
 * Replication in Memory-Side GPU Caches", section III.
 *
 * Time is divided into epochs, which continue across kernels. Each epoch estimates two quantities for all replication
 * degrees at once (replication.h), independent of the current degree: the hit rate (rdd.h), and the slice parallelism,
 * from counters of the slices to which each degree would have sent the requests (lsp.h, Equation 1). Equation 2
 * combines them to a bandwidth; the degree with the highest bandwidth is used in the next epoch.
 *
 * The defaults are the paper's. Variants that are not: directories that see the capacity of replicas, achievable instead
 * of peak memory bandwidth, thresholds of demand and gain, and a flush of replicas only; docs/model/llc.md compares them
 * with the paper's text.
 *
 * The machine does not stop for a change. Requests follow the new degree once it has reached all MC-routers
 * (`router_cycles`); replicas are fetched on misses, and those no longer accessed are eventually evicted.
 *
 * Directory and counters are at one MC-router, that of the first controller. They see its requests from all clusters in
 * the cycle in which these are sent, the directory those to some sets (rdd.h). Requests sent in the cycle of a decision
 * belong to no epoch, and the requests of one cycle enter the directory in sorted order, so that results do not depend
 * on the order in which SMs are ticked.
 *
 * Not modelled: the time from sending a request, when its slice is chosen, to its arrival at the MC-router.
 */
#include "llc/selrep.h"

#include <stdlib.h>

#include "base/base.h"
#include "cache/cache.h"
#include "dram/dram_config.h"
#include "llc/llc.h"
#include "llc/lsp.h"
#include "llc/rdd.h"
#include "sim/gpu_config.h"

const struct llc_organisation_ops llc_organisation_selrep;

static const struct policy kinds[] = {
    [RDD_SHARED] = {"shared", "one directory, with one bit per cluster in each tag", NULL},
    [RDD_EACH] = {"each", "one directory per degree, with the capacity that replicas leave", NULL},
    [RDD_SLICE] = {"slice",
                   "one directory per degree, which receives all requests that the degree would send to one slice",
                   NULL},
};
static const struct policy *const directories[] = {&kinds[RDD_SHARED], &kinds[RDD_EACH], &kinds[RDD_SLICE]};
static const struct family directories_family = {"kind of directory", directories, COUNT_OF(directories)};

struct selrep_config {
    int64_t epoch_cycles, router_cycles;
    int64_t sets;
    const struct policy *directories;
    int64_t window_cycles, least_samples, memory_percent, demand_percent, gain_percent;
    const struct policy *flush;
    bool look_ahead;
};

static const struct param params[] = {
    P_INT(struct selrep_config, epoch_cycles, 20000, 2, 1000000000, "cycles", "interval between decisions"),
    P_INT(struct selrep_config, router_cycles, 32, 1, 1000000, "cycles",
          "latency from a decision until all MC-routers apply it"),
    P_INT(struct selrep_config, sets, 2, 1, 65536, "sets", "sets of the first slice that a directory shadows"),
    P_CHOICE(struct selrep_config, directories, directories_family, "shared",
             "directories that estimate the hit rate at each degree"),
    P_INT(struct selrep_config, window_cycles, 0, 0, 1000000000, "cycles",
          "window for slice parallelism; 0: the whole epoch"),
    P_INT(struct selrep_config, least_samples, 1, 1, 1000000, "requests",
          "samples that a decision needs at every degree; with fewer the degree does not change"),
    P_INT(struct selrep_config, memory_percent, 100, 1, 100, "%",
          "memory bandwidth of Equation 2, relative to the peak; 100: the paper's"),
    P_INT(
        struct selrep_config, demand_percent, 0, 0, 1000, "%",
        "demand, relative to the predicted bandwidth at degree 1, below which nothing is replicated; 0: the paper's rule"),
    P_INT(struct selrep_config, gain_percent, 0, 0, 1000, "%",
          "predicted gain over degree 1 needed to start replication, which continues as long as there is any gain; "
          "0: the paper's rule"),
    P_CHOICE(struct selrep_config, flush, replication_flush_family, "always",
             "lines that slices invalidate at a kernel's end"),
    P_BOOL(struct selrep_config, look_ahead, false,
           "oracle: use the degree with the highest IPC in the next epoch, found by simulating each"),
};

static enum rdd_kind kind_of(const struct selrep_config *values) {
    return (enum rdd_kind)(values->directories - kinds);
}

static bool check(const struct config *config, struct error *err);
static unsigned storage(const struct config *config, struct storage_item *items);

static const struct section selrep_section = {
    .path = "selrep",
    .help = "replication degree of an LLC with selective replication",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct selrep_config),
    .check = check,
    .storage = storage,
};

static bool check(const struct config *config, struct error *err) {
    const struct selrep_config *values = config_get(config, &selrep_section);
    if (values->router_cycles < values->epoch_cycles) return true;
    return config_error(
        config, "llc.selrep.router_cycles", err,
        "must be less than llc.selrep.epoch_cycles=%lld, not %lld: a decision applies before the next one",
        (long long)values->epoch_cycles, (long long)values->router_cycles);
}

/* Section III-D: 172 bytes of counters, 86 of 16 bits, and 520 of directory, 32 entries of 130 bits. The entry of
 * Figure 10 has 50: a tag (16: an address without line, controller and set) with its LRU rank (4), and vectors of 2 + 4
 * + 8 + 16 clusters. 130 bits would be five such tags and the vectors. */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct selrep_config *values = config_get(config, &selrep_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    struct replication replication = replication_of(config);
    unsigned sets = (unsigned)min_u64((uint64_t)values->sets, llc_sets(config)), count = 0;
    unsigned tag_bits = llc_tag_bits(config) - log2_floor((uint64_t)dram->mcs);
    items[count++] = (struct storage_item){"replication degree directory: tags of a set", 1, sets,
                                           rdd_tag_bits(&replication, (unsigned)llc->ways, kind_of(values), tag_bits)};
    if (kind_of(values) == RDD_SHARED)
        items[count++] =
            (struct storage_item){"replication degree directory: ClusterID vectors", 1, sets * (uint64_t)llc->ways,
                                  (UINT64_C(2) << (replication.degrees - 1)) - 2};
    items[count++] = (struct storage_item){"requests of each slice, at each degree", 1,
                                           replication.degrees * (uint64_t)llc->slices_per_mc, 16};
    unsigned samples = kind_of(values) == RDD_SLICE ? replication.degrees : 1;
    items[count++] = (struct storage_item){"hits at each degree, and accesses", 1, replication.degrees + samples, 16};
    return count;
}

STATS_TABLE(selrep_stat_table, "selrep", selrep_stats, SELREP_STATS);

static const char MECHANISM[] = "selective replication";

struct llc_selrep {
    struct llc_organisation base;
    const struct selrep_config *values;
    struct journal *journal;
    struct replication replication;
    unsigned slices, line_log2, sets;
    double slice_bytes, memory_bytes;

    uint64_t from, until;                /* the epoch counts in cycles [from, until) */
    struct lsp lsp[REPLICATION_DEGREES]; /* slices to which each degree would send requests */
    struct rdd rdd;
    uint64_t samples[REPLICATION_DEGREES], hits[REPLICATION_DEGREES]; /* of the epoch */
    struct rdd_request *waiting; /* requests of cycle waiting_since, to be entered into the directory */
    unsigned waiting_count, waiting_room;
    uint64_t waiting_since;
    struct seen { /* read-only reads that a slice of the first controller has looked up in the epoch */
        uint64_t reads, hits, sectors;
    } * seen;

    /* Degrees, as logarithms. */
    unsigned chosen;       /* by the last decision */
    unsigned degree, next; /* used before, and from, adopt_at */
    uint64_t adopt_at;
    unsigned ordered; /* the next decision, set externally, plus 1; 0: none */
    uint64_t settled;
    struct selrep_stats stats;
};

static void begin_epoch(struct llc_selrep *s, uint64_t now) {
    uint64_t epoch = (uint64_t)s->values->epoch_cycles;
    s->until = (now / epoch + 1) * epoch;
    s->from = now ? now + 1 : 0;
    for (unsigned i = 0; i < s->replication.degrees; i++) {
        lsp_begin(&s->lsp[i], s->from, s->until - s->from, (uint64_t)s->values->window_cycles);
        s->samples[i] = s->hits[i] = 0;
    }
    for (unsigned i = 0; i < s->slices; i++) s->seen[i] = (struct seen){0};
}

static struct llc_organisation *selrep_create(const struct llc_context *context, struct error *err) {
    (void)err;
    const struct llc_config *llc = config_get(context->config, &llc_section);
    const struct gpu_config *gpu = config_get(context->config, &gpu_section);
    struct llc_selrep *s = mem_alloc(1, sizeof *s);
    s->values = config_get(context->config, &selrep_section);
    s->base = (struct llc_organisation){.ops = &llc_organisation_selrep,
                                        .map = context->map,
                                        .mode = {.replicas = s->values->flush == &replication_flush_always,
                                                 .invalidate_all = s->values->flush != &replication_flush_replicas}};
    s->journal = context->journal;
    s->replication = replication_of(context->config);
    s->slices = address_map_slices_per_mc(context->map);
    s->line_log2 = log2_floor((uint64_t)gpu->line_bytes);
    s->sets = llc_sets(context->config);
    s->slice_bytes = (double)llc->port_bytes;
    s->memory_bytes = dram_peak_bytes_per_us(context->config) * 1000 / (double)gpu_core_khz(context->config) /
                      (address_map_mcs(context->map) * s->slices) * (double)s->values->memory_percent / 100;
    rdd_init(&s->rdd, &s->replication, (unsigned)s->values->sets, s->sets, (unsigned)llc->ways, kind_of(s->values));
    for (unsigned i = 0; i < s->replication.degrees; i++) lsp_init(&s->lsp[i], s->slices);
    s->seen = mem_alloc(s->slices, sizeof *s->seen);
    begin_epoch(s, 0);
    stats_add(context->stats, &selrep_stat_table, &s->stats);
    journal_announce(s->journal, &(struct journal_mechanism){
                                     .name = MECHANISM,
                                     .mode = "degree 1",
                                     .undecided = "the run ended before the first epoch of #",
                                     .length = (uint64_t)s->values->epoch_cycles,
                                     .unit = "cycles",
                                     .shown = {"hit_rate", "bytes_per_cycle", "samples"},
                                 });
    return &s->base;
}

static void selrep_destroy(struct llc_organisation *organisation) {
    struct llc_selrep *s = (struct llc_selrep *)organisation;
    for (unsigned i = 0; i < s->replication.degrees; i++) lsp_release(&s->lsp[i]);
    rdd_release(&s->rdd);
    free(s->seen);
    free(s->waiting);
    free(s);
}

/* Profiling. */

static bool counts(const struct llc_selrep *s, uint64_t cycle) { return cycle >= s->from && cycle < s->until; }

static int compare_requests(const void *a, const void *b) {
    const struct rdd_request *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    return x->read_only - y->read_only;
}

/* Enters the requests of a completed cycle into the directory. */
static void enter_requests(struct llc_selrep *s) {
    if (s->waiting_count > 1) qsort(s->waiting, s->waiting_count, sizeof *s->waiting, compare_requests);
    for (unsigned i = 0; i < s->waiting_count; i++) {
        struct rdd_seen seen = rdd_access(&s->rdd, &s->waiting[i]);
        if (!counts(s, s->waiting_since)) continue;
        for (unsigned degree = 0; degree < s->replication.degrees; degree++) {
            s->samples[degree] += seen.sampled >> degree & 1;
            s->hits[degree] += seen.hits >> degree & 1;
            (&s->stats.samples_1)[degree] += seen.sampled >> degree & 1;
            (&s->stats.hits_1)[degree] += seen.hits >> degree & 1;
        }
    }
    s->waiting_count = 0;
}

static void add_request(struct llc_selrep *s, const struct rdd_request *request, uint64_t now) {
    if (s->waiting_count && s->waiting_since != now) enter_requests(s);
    s->waiting_since = now;
    if (s->waiting_count == s->waiting_room) {
        s->waiting_room = s->waiting_room ? 2 * s->waiting_room : 16;
        s->waiting = mem_grow(s->waiting, s->waiting_room, sizeof *s->waiting);
    }
    s->waiting[s->waiting_count++] = *request;
}

static void selrep_sent(struct llc_organisation *organisation, const struct message *message, unsigned mc,
                        unsigned home, uint64_t cycle) {
    struct llc_selrep *s = (struct llc_selrep *)organisation;
    struct rdd_request request = {.key = cache_key(message->address >> s->line_log2, message->program),
                                  .set = (unsigned)((message->place >> s->line_log2) % s->sets),
                                  .home = home,
                                  .cluster = message->cluster,
                                  .read_only = replication_concerns(message)};
    (void)mc;
    s->stats.requests += request.read_only;
    for (unsigned i = 0; request.read_only && i < s->replication.degrees; i++)
        lsp_count(&s->lsp[i], replication_slice(&s->replication, i, home, request.cluster), cycle);
    if (rdd_shadows(&s->rdd, &request)) add_request(s, &request, cycle);
}

static unsigned degree_at(const struct llc_selrep *s, uint64_t now) { return now < s->adopt_at ? s->degree : s->next; }

static unsigned selrep_target(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                              unsigned home, unsigned cluster, uint64_t now) {
    const struct llc_selrep *s = (const struct llc_selrep *)organisation;
    unsigned first = mc * s->slices;
    if (!replication_concerns(message)) return first + home;
    return first + replication_slice(&s->replication, degree_at(s, now), home, cluster);
}

/* Directory and counters are at the first controller's MC-router. Only the directory of a slice uses requests that are
 * not read-only. */
static bool selrep_counts(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                          uint64_t now) {
    (void)now;
    return mc == 0 &&
           (replication_concerns(message) || ((const struct llc_selrep *)organisation)->rdd.kind == RDD_SLICE);
}

static void selrep_looked_up(struct llc_organisation *organisation, unsigned slice, const struct message *message,
                             const struct cache_access *access, bool hit, uint64_t now) {
    struct llc_selrep *s = (struct llc_selrep *)organisation;
    (void)access;
    if (slice >= s->slices || !replication_concerns(message) || !counts(s, now)) return;
    s->seen[slice].reads++;
    s->seen[slice].hits += hit;
    s->seen[slice].sectors += (unsigned)__builtin_popcount(message->sectors);
}

/* Decisions. */

double selrep_bandwidth(const struct selrep_profile *profile, unsigned degree_log2) {
    double hits = profile->hits[degree_log2], misses = (1 - hits) * profile->slice_bytes;
    return profile->lsp[degree_log2] *
           (hits * profile->slice_bytes + (misses < profile->memory_bytes ? misses : profile->memory_bytes));
}

unsigned selrep_best(const struct selrep_profile *profile, enum selrep_verdict *verdict) {
    double home = selrep_bandwidth(profile, 0);
    unsigned best = 0;
    for (unsigned i = 1; i < profile->degrees; i++)
        if (selrep_bandwidth(profile, i) > selrep_bandwidth(profile, best)) best = i;
    *verdict = SELREP_SUPPLIES_MOST;
    if (profile->demand_bytes < profile->demand_share * home)
        *verdict = SELREP_LITTLE_DEMAND;
    else if (best > 0 && !profile->copies && selrep_bandwidth(profile, best) < (1 + profile->gain_share) * home)
        *verdict = SELREP_LITTLE_GAIN;
    return *verdict == SELREP_SUPPLIES_MOST ? best : 0;
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

static const char *const degree_names[REPLICATION_DEGREES] = {"degree 1",  "degree 2",  "degree 4", "degree 8",
                                                              "degree 16", "degree 32", "degree 64"};

/* Sum over the slices of the first controller. */
static struct seen sum_seen(const struct llc_selrep *s) {
    struct seen all = {0};
    for (unsigned i = 0; i < s->slices; i++) {
        all.reads += s->seen[i].reads;
        all.hits += s->seen[i].hits;
        all.sectors += s->seen[i].sectors;
    }
    return all;
}

/* Samples of the degree that has the fewest. */
static uint64_t least_samples(const struct llc_selrep *s) {
    uint64_t least = s->samples[0];
    for (unsigned i = 1; i < s->replication.degrees; i++) least = min_u64(least, s->samples[i]);
    return least;
}

/* Predictions for each degree, and measurements at the current one. */
static void write_journal(struct llc_selrep *s, const struct selrep_profile *profile, const char *reason,
                          uint64_t now) {
    static const char *const names[REPLICATION_DEGREES][3] = {
        {"hit_rate_1", "lsp_1", "bytes_per_cycle_1"},    {"hit_rate_2", "lsp_2", "bytes_per_cycle_2"},
        {"hit_rate_4", "lsp_4", "bytes_per_cycle_4"},    {"hit_rate_8", "lsp_8", "bytes_per_cycle_8"},
        {"hit_rate_16", "lsp_16", "bytes_per_cycle_16"}, {"hit_rate_32", "lsp_32", "bytes_per_cycle_32"},
        {"hit_rate_64", "lsp_64", "bytes_per_cycle_64"}};
    struct journal_entry entry = {.cycle = now,
                                  .mechanism = MECHANISM,
                                  .program = s->base.program,
                                  .decision = degree_names[s->chosen],
                                  .reason = reason};
    struct seen all = sum_seen(s);
    const struct journal_input measured[] = {
        {"degree", (double)(1u << degree_at(s, now - 1))},
        {"hit_rate", share(all.hits, all.reads)},
        {"bytes_per_cycle", profile->demand_bytes},
        {"reads", (double)all.reads},
        {"samples", (double)least_samples(s)},
    };
    for (unsigned i = 0; i < COUNT_OF(measured); i++) entry.input[entry.count++] = measured[i];
    for (unsigned i = 0; i < profile->degrees; i++) {
        double values[] = {profile->hits[i], profile->lsp[i], selrep_bandwidth(profile, i)};
        for (unsigned k = 0; k < COUNT_OF(values); k++)
            entry.input[entry.count++] = (struct journal_input){names[i][k], values[k]};
    }
    journal_add(s->journal, &entry);
}

static void choose(struct llc_selrep *s, uint64_t now) {
    struct selrep_profile profile = {.degrees = s->replication.degrees,
                                     .slice_bytes = s->slice_bytes,
                                     .memory_bytes = s->memory_bytes,
                                     .demand_bytes = share(SECTOR_BYTES * sum_seen(s).sectors, s->until - s->from),
                                     .demand_share = (double)s->values->demand_percent / 100,
                                     .copies = s->chosen > 0,
                                     .gain_share = (double)s->values->gain_percent / 100};
    if (s->waiting_since < now) enter_requests(s);
    for (unsigned i = 0; i < profile.degrees; i++) {
        profile.hits[i] = share(s->hits[i], s->samples[i]);
        profile.lsp[i] = lsp_end(&s->lsp[i]);
    }
    static const char *const reasons[] = {[SELREP_SUPPLIES_MOST] = "highest bandwidth",
                                          [SELREP_LITTLE_DEMAND] = "demand too low for replication",
                                          [SELREP_LITTLE_GAIN] = "gain too low for replication"};
    unsigned before = s->chosen;
    enum selrep_verdict verdict;
    const char *reason;
    if (s->ordered) {
        s->chosen = s->ordered - 1;
        s->ordered = 0;
        reason = "set externally";
    } else if (least_samples(s) < (uint64_t)s->values->least_samples) {
        reason = "too few samples";
    } else {
        s->chosen = selrep_best(&profile, &verdict);
        reason = reasons[verdict];
    }
    for (unsigned i = 0; i < profile.degrees; i++)
        (&s->stats.bandwidth_1)[i] += (uint64_t)(1000 * selrep_bandwidth(&profile, i));
    s->stats.epochs++;
    s->stats.changes += s->chosen != before;
    write_journal(s, &profile, reason, now);
}

static void selrep_settle(struct llc_organisation *organisation, uint64_t now) {
    struct llc_selrep *s = (struct llc_selrep *)organisation;
    if (now <= s->settled) return;
    uint64_t *cycles = &s->stats.cycles_1, middle = min_u64(max_u64(s->adopt_at, s->settled), now);
    cycles[s->degree] += middle - s->settled;
    cycles[s->next] += now - middle;
    s->settled = now;
}

/* Requests follow the chosen degree once all MC-routers have received it. */
static void adopt(struct llc_selrep *s, uint64_t now) {
    if (s->chosen == s->next) return;
    s->degree = degree_at(s, now);
    s->next = s->chosen;
    s->adopt_at = now + (uint64_t)s->values->router_cycles;
}

static struct llc_mode selrep_decide(struct llc_organisation *organisation, enum llc_occasion occasion, uint64_t now,
                                     uint64_t *again) {
    struct llc_selrep *s = (struct llc_selrep *)organisation;
    struct llc_mode wanted = organisation->mode;
    selrep_settle(organisation, now);
    if (occasion == LLC_TIMER && now >= s->until) {
        choose(s, now);
        begin_epoch(s, now);
    }
    if (wanted.replicas || s->chosen == 0) adopt(s, now);
    if (occasion == LLC_KERNEL_ENDS) { /* nothing is in flight */
        s->adopt_at = min_u64(s->adopt_at, now);
        enter_requests(s);
        if (wanted.replicas) rdd_flush(&s->rdd, wanted.invalidate_all);
        wanted.replicas = s->next > 0 || s->values->flush == &replication_flush_always;
    } else {
        wanted.replicas |= s->chosen > 0;
    }
    *again = s->until;
    return wanted;
}

static bool selrep_set_degree(struct llc_organisation *organisation, unsigned degree) {
    struct llc_selrep *s = (struct llc_selrep *)organisation;
    if (degree && (!is_power_of_two(degree) || log2_floor(degree) >= s->replication.degrees)) return false;
    s->ordered = degree ? 1 + log2_floor(degree) : 0;
    return true;
}

static uint64_t selrep_look_ahead_cycles(const struct llc_organisation *organisation) {
    const struct selrep_config *values = ((const struct llc_selrep *)organisation)->values;
    return values->look_ahead ? (uint64_t)values->epoch_cycles : 0;
}

const struct llc_organisation_ops llc_organisation_selrep = {
    .policy = {"selrep",
               "read-only lines are replicated to the degree with the highest bandwidth; others have one home slice",
               &selrep_section},
    .check = replication_check,
    .create = selrep_create,
    .destroy = selrep_destroy,
    .target = selrep_target,
    .profile = &(const struct llc_profile_ops){selrep_counts, selrep_sent, selrep_looked_up},
    .control = &(const struct llc_control_ops){selrep_decide, selrep_settle},
    .degrees = &(const struct llc_degree_ops){selrep_set_degree, selrep_look_ahead_cycles},
};
