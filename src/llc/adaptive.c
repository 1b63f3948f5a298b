/* Adaptive LLC: shared by default, private while a profile predicts a benefit. From "Adaptive Memory-Side Last-Level
 * GPU Caching" (ISCA 2019, sections 4.1 to 4.4).
 *
 * Every kernel, and every epoch of a long one, starts with a profiling phase in shared mode. It measures the read miss
 * rate of the shared LLC, and estimates that of a private one (atd.h) and the slice parallelism of both at one
 * SM-router (lsp.h). Then
 *   rule 1: private if the two miss rates are similar: little is shared, and the MC-routers can be powered off;
 *   rule 2: private if it has more bandwidth: hit rate × parallelism × slice bandwidth + miss rate × memory bandwidth;
 *   rule 3: back to shared at the next epoch or kernel.
 * Each of two programs decides for itself, as if it had all slices and all of memory. A reconfiguration stops and
 * drains the machine, or one program's partition (gpu/reconfiguration.h): to private mode, modified lines are written
 * to memory and lines stay in place; to shared mode, all lines are invalidated.
 *
 * Parallelism of a private LLC: a cluster reaches one slice of each controller, so that it is the parallelism over
 * controllers, times the clusters. With `all_routers` it is counted over all slices for both modes: a single router
 * does not see conflicts between clusters, and with few accesses 8 counters appear more balanced than 64.
 *
 * A program with atomics needs one place for a word. The paper names two ways: the LLC stays shared, or atomics are
 * performed in an LLC that is always shared; `atomics` selects the second (atomics.h).
 *
 * The profile is used `report_cycles` after the end of its phase: the time to collect the counters.
 */
#include <stdlib.h>

#include "cache/cache.h"
#include "dram/dram_config.h"
#include "llc/adaptive.h"
#include "llc/atd.h"
#include "llc/llc.h"
#include "llc/lsp.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"

const struct llc_organisation_ops llc_organisation_adaptive;

struct adaptive_config {
    int64_t profile_cycles, epoch_cycles, report_cycles;
    double similar;
    int64_t sets;
    bool last_only, warm_directory, sampled_rate;
    int64_t window_cycles;
    bool all_routers, power_gating, atomics, acts, outlasts_kernels;
};

static const struct param params[] = {
    P_INT(struct adaptive_config, profile_cycles, 50000, 1, 1000000000, "cycles", "length of a profiling phase"),
    P_INT(struct adaptive_config, epoch_cycles, 1000000, 1, 1000000000, "cycles", "interval between profiling phases"),
    P_INT(struct adaptive_config, report_cycles, 16, 1, 100000, "cycles",
          "latency from the end of a profiling phase to the decision"),
    P_REAL(struct adaptive_config, similar, 0.02, 0, 1, "of reads",
           "maximum difference of similar miss rates (rule 1)"),
    P_INT(struct adaptive_config, sets, 8, 1, 65536, "sets",
          "sets of the first slice that the auxiliary tag directory shadows"),
    P_BOOL(struct adaptive_config, last_only, false,
           "the tag directory keeps only the last cluster that accessed a line; off: all of them"),
    P_BOOL(
        struct adaptive_config, warm_directory, false,
        "the tag directory keeps its entries across profiling phases and is updated between them in shared mode; off: a phase starts with an empty one"),
    P_BOOL(struct adaptive_config, sampled_rate, false,
           "measure the shared miss rate in the shadowed sets only; off: in all slices"),
    P_INT(struct adaptive_config, window_cycles, 0, 0, 1000000000, "cycles",
          "window for slice parallelism; 0: the whole profiling phase"),
    P_BOOL(struct adaptive_config, all_routers, false,
           "measure slice parallelism at all SM-routers, including conflicts between clusters; off: at the first one"),
    P_BOOL(struct adaptive_config, power_gating, true,
           "bypass and power off MC-routers in private mode; off: they stay on"),
    P_BOOL(struct adaptive_config, atomics, false,
           "allow private mode with atomics, which are performed in a separate LLC (atomics.*); off: such a program "
           "stays shared"),
    P_BOOL(struct adaptive_config, acts, true, "apply the decisions; off: profile and decide, but stay shared"),
    P_BOOL(
        struct adaptive_config, outlasts_kernels, false,
        "private mode continues across kernels until its epoch ends, with a flush at each kernel's end; off: each kernel starts shared"),
};

static bool check(const struct config *config, struct error *err);
static unsigned storage(const struct config *config, struct storage_item *items);

static const struct section adaptive_section = {
    .path = "adaptive",
    .help = "profiling and decisions of an adaptive LLC",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct adaptive_config),
    .check = check,
    .storage = storage,
};

/* Section 5: 432 bytes of tag directory (128 entries of a tag and one bit per SM-router) and 16 of counters, one of 16
 * bits per slice that a cluster uses in private mode. The paper does not count those of shared mode, one per slice. */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct adaptive_config *values = config_get(config, &adaptive_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    uint64_t sets = min_u64((uint64_t)values->sets, llc_sets(config));
    items[0] = (struct storage_item){"auxiliary tag directory: tag and one bit per cluster", 1,
                                     sets * (uint64_t)llc->ways, llc_tag_bits(config) + (uint64_t)gpu->clusters};
    uint64_t slices = (uint64_t)(dram->mcs * llc->slices_per_mc);
    items[1] = (struct storage_item){"access counters of private slices", 1,
                                     values->all_routers ? slices : (uint64_t)dram->mcs, 16};
    items[2] = (struct storage_item){"access counters of shared slices, not in the paper", 1, slices, 16};
    return 3;
}

static bool check(const struct config *config, struct error *err) {
    const struct adaptive_config *values = config_get(config, &adaptive_section);
    if (values->power_gating && !noc_can_bypass(config))
        return config_error(config, "llc.adaptive.power_gating", err,
                            "there are no MC-routers to power off; set noc.topology=hierarchical, or this to false");
    if (values->profile_cycles + values->report_cycles < values->epoch_cycles) return true;
    return config_error(
        config, "llc.adaptive.epoch_cycles", err,
        "an epoch of %lld cycles is too short for a profiling phase of %lld cycles and %lld until the decision",
        (long long)values->epoch_cycles, (long long)values->profile_cycles, (long long)values->report_cycles);
}

STATS_TABLE(adaptive_stat_table, "adaptive", adaptive_stats, ADAPTIVE_STATS);

/* Reads that a slice has seen in this profiling phase. */
struct seen {
    uint64_t reads, hits;
};

struct llc_adaptive {
    struct llc_organisation base;
    const struct adaptive_config *values;
    struct journal *journal;
    unsigned slices, slices_per_mc, mcs;
    double slice_bytes, memory_bytes; /* per cycle */
    uint64_t epoch_from, profile_from, profile_until;
    bool profiling;      /* the decision of this epoch is pending */
    struct seen *seen;   /* [slices] */
    struct seen sampled; /* in the sets that the directory shadows */
    uint64_t private_hits;
    struct atd atd;
    struct lsp shared, private;
    uint64_t settled;
    struct adaptive_stats stats;
};

static const char *mechanism_of(const struct llc_adaptive *a) {
    return a->values->acts ? "adaptive LLC" : "adaptive LLC (llc.adaptive.acts is off: not applied)";
}

static struct llc_organisation *adaptive_create(const struct llc_context *context, struct error *err) {
    (void)err;
    const struct llc_config *llc = config_get(context->config, &llc_section);
    struct llc_adaptive *a = mem_alloc(1, sizeof *a);
    a->base.ops = &llc_organisation_adaptive;
    a->values = config_get(context->config, &adaptive_section);
    a->base.map = context->map;
    a->journal = context->journal;
    a->slices_per_mc = address_map_slices_per_mc(context->map);
    a->mcs = address_map_mcs(context->map);
    a->slices = a->mcs * a->slices_per_mc;
    a->slice_bytes = (double)llc->port_bytes;
    a->memory_bytes = dram_peak_bytes_per_us(context->config) * 1000 / (double)gpu_core_khz(context->config);
    a->seen = mem_alloc(a->slices, sizeof *a->seen);
    atd_init(&a->atd, (unsigned)a->values->sets, llc_sets(context->config), (unsigned)llc->ways, a->values->last_only);
    lsp_init(&a->shared, a->slices);
    lsp_init(&a->private, a->values->all_routers ? a->slices : a->mcs);
    stats_add(context->stats, &adaptive_stat_table, &a->stats);
    journal_announce(a->journal, &(struct journal_mechanism){
                                     .name = mechanism_of(a),
                                     .mode = a->values->acts ? "shared" : NULL,
                                     .undecided = "the run ended before the first profile of #",
                                     .length = (uint64_t)a->values->profile_cycles,
                                     .unit = "cycles",
                                     .shown = {"shared_miss_rate", "private_miss_rate", "shared_bytes_per_cycle",
                                               "private_bytes_per_cycle"},
                                 });
    return &a->base;
}

static void adaptive_destroy(struct llc_organisation *organisation) {
    struct llc_adaptive *a = (struct llc_adaptive *)organisation;
    atd_release(&a->atd);
    lsp_release(&a->shared);
    lsp_release(&a->private);
    free(a->seen);
    free(a);
}

static unsigned adaptive_target(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                                unsigned home, unsigned cluster, uint64_t now) {
    const struct llc_adaptive *a = (const struct llc_adaptive *)organisation;
    assert(message->kind != MESSAGE_ATOMIC || !organisation->mode.is_private || a->values->atomics);
    (void)message, (void)now;
    return mc * a->slices_per_mc + (organisation->mode.is_private ? cluster : home);
}

static bool profiles(const struct llc_adaptive *a, uint64_t cycle) {
    return cycle >= a->profile_from && cycle < a->profile_until;
}

/* The counters are at the SM-router of the first cluster, or at all. */
static bool adaptive_counts(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                            uint64_t now) {
    const struct llc_adaptive *a = (const struct llc_adaptive *)organisation;
    (void)mc;
    return !organisation->mode.is_private && (message->cluster == 0 || a->values->all_routers) && profiles(a, now);
}

static void adaptive_sent(struct llc_organisation *organisation, const struct message *message, unsigned mc,
                          unsigned home, uint64_t cycle) {
    struct llc_adaptive *a = (struct llc_adaptive *)organisation;
    unsigned first = mc * a->slices_per_mc;
    lsp_count(&a->shared, first + home, cycle);
    lsp_count(&a->private, a->values->all_routers ? first + message->cluster : mc, cycle);
}

static void adaptive_looked_up(struct llc_organisation *organisation, unsigned slice, const struct message *message,
                               const struct cache_access *access, bool hit, uint64_t now) {
    struct llc_adaptive *a = (struct llc_adaptive *)organisation;
    bool profiled = profiles(a, now), observed = a->values->warm_directory && !organisation->mode.is_private;
    if (message->kind != MESSAGE_READ || !(profiled || observed)) return;
    if (profiled) {
        a->seen[slice].reads++;
        a->seen[slice].hits += hit;
    }
    if (slice != 0 || !atd_shadows(&a->atd, access->set)) return;
    bool private_hit = atd_access(&a->atd, access->set, access->key, message->cluster);
    if (!profiled) return;
    a->sampled.reads++;
    a->sampled.hits += hit;
    a->private_hits += private_hit;
    a->stats.directory_reads++;
    a->stats.directory_hits += private_hit;
}

static void begin_profile(struct llc_adaptive *a, uint64_t now) {
    uint64_t cycles = (uint64_t)a->values->profile_cycles, window = (uint64_t)a->values->window_cycles;
    a->profiling = true;
    a->profile_from = now + 1; /* requests and lookups of this cycle are not counted */
    a->profile_until = a->profile_from + cycles;
    a->private_hits = 0;
    a->sampled = (struct seen){0};
    for (unsigned i = 0; i < a->slices; i++) a->seen[i] = (struct seen){0};
    if (!a->values->warm_directory) atd_clear(&a->atd);
    lsp_begin(&a->shared, a->profile_from, cycles, window);
    lsp_begin(&a->private, a->profile_from, cycles, window);
}

double adaptive_bandwidth(const struct adaptive_profile *profile, double hits, double lsp) {
    return hits * lsp * profile->slice_bytes + (1 - hits) * profile->memory_bytes;
}

enum adaptive_verdict adaptive_rule(const struct adaptive_profile *profile) {
    if (profile->shared_hits - profile->private_hits <= profile->similar &&
        profile->private_hits - profile->shared_hits <= profile->similar)
        return ADAPTIVE_RULE_1;
    return adaptive_bandwidth(profile, profile->private_hits, profile->private_lsp) >
                   adaptive_bandwidth(profile, profile->shared_hits, profile->shared_lsp)
               ? ADAPTIVE_RULE_2
               : ADAPTIVE_STAY;
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* Because of atomics. */
static bool must_stay_shared(const struct llc_adaptive *a) { return a->base.atomics && !a->values->atomics; }

/* Applies the rules to the profile. */
static bool private_pays(struct llc_adaptive *a, uint64_t now) {
    struct seen all = {0};
    for (unsigned i = 0; i < a->slices; i++) {
        all.reads += a->seen[i].reads;
        all.hits += a->seen[i].hits;
    }
    const struct seen *rate = a->values->sampled_rate ? &a->sampled : &all;
    struct adaptive_profile profile = {
        .shared_hits = share(rate->hits, rate->reads),
        .private_hits = share(a->private_hits, a->sampled.reads),
        .shared_lsp = lsp_end(&a->shared),
        .private_lsp = lsp_end(&a->private) * (a->values->all_routers ? 1 : a->slices_per_mc),
        .slice_bytes = a->slice_bytes,
        .memory_bytes = a->memory_bytes,
        .similar = a->values->similar,
    };
    enum adaptive_verdict rule = adaptive_rule(&profile);
    if (must_stay_shared(a)) rule = ADAPTIVE_ATOMICS;
    if (!all.reads || !a->sampled.reads) rule = ADAPTIVE_NOTHING;
    static const char *const reason[] = {[ADAPTIVE_STAY] = "shared mode has more bandwidth",
                                         [ADAPTIVE_RULE_1] = "rule 1: similar miss rates",
                                         [ADAPTIVE_RULE_2] = "rule 2: private mode has more bandwidth",
                                         [ADAPTIVE_ATOMICS] = "the program has atomics",
                                         [ADAPTIVE_NOTHING] = "no shadowed set was read"};
    bool private = rule == ADAPTIVE_RULE_1 || rule == ADAPTIVE_RULE_2;
    a->stats.decisions++;
    a->stats.rule_1 += rule == ADAPTIVE_RULE_1;
    a->stats.rule_2 += rule == ADAPTIVE_RULE_2;
    struct journal_entry entry = {
        .cycle = now,
        .mechanism = mechanism_of(a),
        .program = a->base.program,
        .decision = private ? "private" : "shared",
        .reason = reason[rule],
        .unmeasured = rule == ADAPTIVE_NOTHING,
        .count = 8,
        .input = {{"shared_miss_rate", 1 - profile.shared_hits},
                  {"private_miss_rate", 1 - profile.private_hits},
                  {"shared_lsp", profile.shared_lsp},
                  {"private_lsp", profile.private_lsp},
                  {"shared_bytes_per_cycle", adaptive_bandwidth(&profile, profile.shared_hits, profile.shared_lsp)},
                  {"private_bytes_per_cycle", adaptive_bandwidth(&profile, profile.private_hits, profile.private_lsp)},
                  {"reads", (double)all.reads},
                  {"sampled_reads", (double)a->sampled.reads}},
    };
    journal_add(a->journal, &entry);
    return private;
}

/* All lines are invalidated, so that the directory becomes empty, too. */
static void leave_private(struct llc_adaptive *a, const char *why, uint64_t now) {
    a->stats.rule_3++;
    atd_clear(&a->atd);
    journal_add(a->journal, &(struct journal_entry){.cycle = now,
                                                    .mechanism = mechanism_of(a),
                                                    .program = a->base.program,
                                                    .decision = "shared",
                                                    .reason = why});
}

static void adaptive_settle(struct llc_organisation *organisation, uint64_t now) {
    struct llc_adaptive *a = (struct llc_adaptive *)organisation;
    if (now <= a->settled) return;
    uint64_t cycles = now - a->settled;
    *(organisation->mode.is_private ? &a->stats.private_cycles : &a->stats.shared_cycles) += cycles;
    uint64_t from = max_u64(a->settled, a->profile_from), until = min_u64(now, a->profile_until);
    if (until > from) a->stats.profile_cycles += until - from;
    a->settled = now;
}

/* From private mode, the profile starts after the reconfiguration. */
static void begin_epoch(struct llc_adaptive *a, bool private, const char *why, uint64_t now) {
    a->epoch_from = now;
    if (private)
        leave_private(a, why, now);
    else
        begin_profile(a, now);
}

static struct llc_mode adaptive_decide(struct llc_organisation *organisation, enum llc_occasion occasion, uint64_t now,
                                       uint64_t *again) {
    struct llc_adaptive *a = (struct llc_adaptive *)organisation;
    const struct llc_mode shared = {0}, private = {.is_private = true, .bypass = a->values->power_gating};
    struct llc_mode wanted = organisation->mode.is_private ? private : shared;
    adaptive_settle(organisation, now);
    switch (occasion) {
    case LLC_KERNEL_ENDS:
        if (wanted.is_private && a->values->outlasts_kernels) break;
        if (wanted.is_private) leave_private(a, "rule 3: the kernel ends", now);
        if (a->profiling)
            journal_count(a->journal, mechanism_of(a), a->base.program, NULL,
                          "the kernel ended before its profile of #", now);
        a->profiling = false;
        wanted = shared;
        break;
    case LLC_KERNEL_BEGINS:
        if (wanted.is_private && !must_stay_shared(a)) break; /* the epoch continues */
        begin_epoch(a, wanted.is_private, "the program has atomics", now);
        wanted = shared;
        break;
    case LLC_RECONFIGURED:
        if (!wanted.is_private) begin_profile(a, now);
        break;
    case LLC_TIMER:
        if (a->profiling) {
            a->profiling = false;
            wanted = private_pays(a, now) && a->values->acts ? private : shared;
        } else {
            begin_epoch(a, wanted.is_private, "rule 3: a new epoch", now);
            wanted = shared;
        }
    }
    *again = a->profiling ? a->profile_until + (uint64_t)a->values->report_cycles
                          : a->epoch_from + (uint64_t)a->values->epoch_cycles;
    return wanted;
}

static bool adaptive_atomics(const struct config *config) {
    const struct adaptive_config *values = config_get(config, &adaptive_section);
    return values->atomics && values->acts;
}

const struct llc_organisation_ops llc_organisation_adaptive = {
    .policy = {"adaptive", "shared; private while a profile of the kernel predicts a benefit", &adaptive_section},
    .private_atomics = adaptive_atomics,
    .check = llc_private_check,
    .create = adaptive_create,
    .destroy = adaptive_destroy,
    .target = adaptive_target,
    .profile = &(const struct llc_profile_ops){adaptive_counts, adaptive_sent, adaptive_looked_up},
    .control = &(const struct llc_control_ops){adaptive_decide, adaptive_settle},
};
