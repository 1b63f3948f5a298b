/* The adaptive LLC as its paper describes it: a model that records all requests and lookups of a profiling phase, and
 * computes every decision from the records when it is due. From "Adaptive Memory-Side Last-Level GPU Caching" (ISCA
 * 2019), section 4.3 (the three rules, epochs and kernels) and section 4.4 (tag directory, slice parallelism, bandwidth
 * model).
 *
 * Where the paper leaves a choice, the model takes that of the configuration: which lines the directory samples (every
 * n-th set of the first slice), whether it keeps the last or all clusters of a line, where the shared miss rate and the
 * slice parallelism are measured, and for how long.
 *
 * Not modelled: the saturation of 16-bit counters.
 */
#ifndef SLUICE_TESTS_LLC_ADAPTIVE_ORACLE_H
#define SLUICE_TESTS_LLC_ADAPTIVE_ORACLE_H

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "llc/lru_list.h"
#include "llc/organisation.h"

/* The auxiliary tag directory of one slice: one list per sampled set. */
struct atd_oracle {
    unsigned sampled_sets, slice_sets, ways;
    bool last_only;
    struct lru_list *set; /* [sampled_sets] */
};

static inline struct atd_oracle atd_oracle_create(unsigned sampled_sets, unsigned slice_sets, unsigned ways,
                                                  bool last_only) {
    if (sampled_sets > slice_sets) sampled_sets = slice_sets;
    return (struct atd_oracle){sampled_sets, slice_sets, ways, last_only,
                               mem_alloc(sampled_sets, sizeof(struct lru_list))};
}

/* The number of the set among the sampled ones, which are equally far apart; -1 if it is not sampled. */
static inline int atd_oracle_sample(const struct atd_oracle *atd, unsigned set) {
    for (unsigned i = 0; i < atd->sampled_sets; i++)
        if (set == i * (atd->slice_sets / atd->sampled_sets)) return (int)i;
    return -1;
}

/* A hit of the private LLC: the tag is present, and the access is from a router that is stored with it. */
static inline bool atd_oracle_access(struct atd_oracle *atd, unsigned sample, uint64_t line, unsigned cluster) {
    struct lru_line before;
    bool found = lru_list_access(&atd->set[sample], atd->ways, line, &before);
    struct lru_line *now = &atd->set[sample].at[0];
    if (atd->last_only) memset(now->used_by, 0, sizeof now->used_by);
    now->used_by[cluster] = true;
    return found && before.used_by[cluster];
}

/* A request that left an SM-router, and a read that a slice looked up. */
struct adaptive_request {
    uint64_t cycle;
    unsigned cluster, mc, home;
};
struct adaptive_read {
    uint64_t cycle, line;
    unsigned slice, set, cluster;
    bool hit;
    bool kept_hit; /* of a private LLC, by the directory that is kept */
};

enum { ADAPTIVE_ORACLE_RECORDS = 20000, ADAPTIVE_ORACLE_SLICES = 64 };

struct adaptive_oracle {
    /* The machine. */
    unsigned clusters, mcs, sampled_sets, slice_sets, ways;
    double slice_bytes, memory_bytes;
    /* The choices. */
    uint64_t profile_cycles, epoch_cycles, report_cycles, window_cycles;
    double similar;
    bool last_only, warm, sampled_rate, all_routers, power_gating, atomics_allowed, acts, outlasts_kernels;
    /* The state. */
    bool has_atomics, is_private, phase_pending;
    uint64_t epoch_from, phase_from;
    unsigned requests, reads;
    struct adaptive_request request[ADAPTIVE_ORACLE_RECORDS];
    struct adaptive_read read[ADAPTIVE_ORACLE_RECORDS];
    struct atd_oracle kept; /* warm: the directory */
    unsigned decisions, rule[4];
    uint64_t directory_reads, directory_hits;
};

/* The result of a decision. */
struct adaptive_expected {
    bool is_private;
    uint64_t again;
    unsigned rule; /* 1 to 3; 0: none */
    bool profiled; /* the rest is valid */
    unsigned reads, sampled_reads;
    double miss_rate[2], lsp[2], bandwidth[2]; /* shared, private */
};

static inline bool adaptive_oracle_records(const struct adaptive_oracle *oracle, uint64_t cycle) {
    return oracle->phase_pending && cycle >= oracle->phase_from && cycle < oracle->phase_from + oracle->profile_cycles;
}

static inline void adaptive_oracle_request(struct adaptive_oracle *oracle, struct adaptive_request request) {
    if (adaptive_oracle_records(oracle, request.cycle)) oracle->request[oracle->requests++] = request;
}

static inline void adaptive_oracle_empty_directory(struct adaptive_oracle *oracle) {
    free(oracle->kept.set);
    oracle->kept = atd_oracle_create(oracle->sampled_sets, oracle->slice_sets, oracle->ways, oracle->last_only);
}

static inline void adaptive_oracle_read(struct adaptive_oracle *oracle, struct adaptive_read read) {
    int sample =
        oracle->warm && !oracle->is_private && read.slice == 0 ? atd_oracle_sample(&oracle->kept, read.set) : -1;
    if (sample >= 0) read.kept_hit = atd_oracle_access(&oracle->kept, (unsigned)sample, read.line, read.cluster);
    if (adaptive_oracle_records(oracle, read.cycle)) oracle->read[oracle->reads++] = read;
}

/* LSP of the requests that one router, or all routers, have sent: their number, divided by that of the busiest slice.
 * In windows: both are summed over the windows. A private LLC sends the request of a cluster to the cluster's slice. At
 * one router it is the parallelism over controllers, at each of which every cluster has a slice of its own. */
static inline double adaptive_oracle_lsp(const struct adaptive_oracle *oracle, bool private) {
    uint64_t window = oracle->window_cycles ? oracle->window_cycles : oracle->profile_cycles;
    double all = 0, busiest = 0;
    for (uint64_t from = 0; from < oracle->profile_cycles; from += window) {
        unsigned accesses[ADAPTIVE_ORACLE_SLICES] = {0}, most = 0;
        for (unsigned i = 0; i < oracle->requests; i++) {
            const struct adaptive_request *r = &oracle->request[i];
            uint64_t at = r->cycle - oracle->phase_from;
            if (at < from || at >= from + window || (r->cluster != 0 && !oracle->all_routers)) continue;
            unsigned slice = r->mc * oracle->clusters + (private ? r->cluster : r->home);
            if (++accesses[slice] > most) most = accesses[slice];
            all++;
        }
        busiest += most;
    }
    double lsp = all > 0 ? all / busiest : 0;
    return private && !oracle->all_routers ? lsp * oracle->clusters : lsp;
}

static inline double adaptive_oracle_bandwidth(const struct adaptive_oracle *oracle, double miss_rate, double lsp) {
    return (1 - miss_rate) * lsp * oracle->slice_bytes + miss_rate * oracle->memory_bytes;
}

static inline void adaptive_oracle_profile(struct adaptive_oracle *oracle, struct adaptive_expected *expected) {
    struct atd_oracle atd =
        atd_oracle_create(oracle->sampled_sets, oracle->slice_sets, oracle->ways, oracle->last_only);
    unsigned misses = 0, sampled = 0, sampled_misses = 0, private_hits = 0;
    for (unsigned i = 0; i < oracle->reads; i++) {
        const struct adaptive_read *read = &oracle->read[i];
        misses += !read->hit;
        int sample = read->slice == 0 ? atd_oracle_sample(&atd, read->set) : -1;
        if (sample < 0) continue;
        sampled++;
        sampled_misses += !read->hit;
        bool fresh_hit = atd_oracle_access(&atd, (unsigned)sample, read->line, read->cluster);
        private_hits += oracle->warm ? read->kept_hit : fresh_hit;
    }
    free(atd.set);
    expected->profiled = true;
    expected->reads = oracle->reads;
    expected->sampled_reads = sampled;
    if (oracle->sampled_rate)
        expected->miss_rate[0] = sampled ? (double)sampled_misses / sampled : 1;
    else
        expected->miss_rate[0] = oracle->reads ? (double)misses / oracle->reads : 1;
    expected->miss_rate[1] = sampled ? 1 - (double)private_hits / sampled : 1;
    for (unsigned i = 0; i < 2; i++) {
        expected->lsp[i] = adaptive_oracle_lsp(oracle, i);
        expected->bandwidth[i] = adaptive_oracle_bandwidth(oracle, expected->miss_rate[i], expected->lsp[i]);
    }
    oracle->directory_reads += sampled;
    oracle->directory_hits += private_hits;
}

static inline bool adaptive_oracle_must_share(const struct adaptive_oracle *oracle) {
    return oracle->has_atomics && !oracle->atomics_allowed;
}

/* The end of a profiling phase: Rule 1 or Rule 2, or neither. */
static inline unsigned adaptive_oracle_rule(const struct adaptive_oracle *oracle,
                                            const struct adaptive_expected *expected) {
    if (expected->sampled_reads == 0 || adaptive_oracle_must_share(oracle)) return 0;
    if (fabs(expected->miss_rate[0] - expected->miss_rate[1]) <= oracle->similar) return 1;
    return expected->bandwidth[1] > expected->bandwidth[0] ? 2 : 0;
}

static inline void adaptive_oracle_begin_phase(struct adaptive_oracle *oracle, uint64_t now) {
    oracle->phase_pending = true;
    oracle->phase_from = now + 1;
    oracle->requests = oracle->reads = 0;
}

/* `mode` of the machine is `is_private` of the oracle, which the caller sets when the machine has changed. */
static inline struct adaptive_expected adaptive_oracle_decide(struct adaptive_oracle *oracle,
                                                              enum llc_occasion occasion, uint64_t now) {
    struct adaptive_expected expected = {.is_private = oracle->is_private};
    if (occasion == LLC_KERNEL_ENDS && !(oracle->is_private && oracle->outlasts_kernels)) {
        struct adaptive_expected unused;
        if (oracle->phase_pending) adaptive_oracle_profile(oracle, &unused); /* counted, without a decision */
        oracle->phase_pending = false;
        expected.is_private = false;
        if (oracle->is_private) expected.rule = 3;
    } else if (occasion == LLC_RECONFIGURED && !oracle->is_private) {
        adaptive_oracle_begin_phase(oracle, now);
    } else if (occasion == LLC_TIMER && oracle->phase_pending) {
        adaptive_oracle_profile(oracle, &expected);
        oracle->phase_pending = false;
        oracle->decisions++;
        expected.rule = adaptive_oracle_rule(oracle, &expected);
        expected.is_private = expected.rule && oracle->acts;
    } else if (occasion == LLC_TIMER ||
               (occasion == LLC_KERNEL_BEGINS && (!oracle->is_private || adaptive_oracle_must_share(oracle)))) {
        oracle->epoch_from = now;
        expected.is_private = false;
        if (oracle->is_private) /* the profile follows the reconfiguration */
            expected.rule = 3;
        else
            adaptive_oracle_begin_phase(oracle, now);
    }
    oracle->rule[expected.rule]++;
    if (expected.rule == 3) adaptive_oracle_empty_directory(oracle); /* as all slices */
    expected.again = oracle->phase_pending ? oracle->phase_from + oracle->profile_cycles + oracle->report_cycles
                                           : oracle->epoch_from + oracle->epoch_cycles;
    return expected;
}

#endif
