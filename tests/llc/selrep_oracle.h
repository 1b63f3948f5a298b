/* Selective replication as its paper describes it: the replication degree directory, slice parallelism (Equation 1) and
 * the bandwidth model (Equation 2), computed at the end of an epoch from a record of its requests. From "Selective
 * Replication in Memory-Side GPU Caches", section III-A (which slice serves a request at each degree), section III-B
 * (the directory) and section III-C (the equations).
 *
 * Where the paper leaves a choice, the model takes that of the configuration: one directory for all degrees or one per
 * degree, whose groups have an equal share of the ways; the demand and the gain below which nothing is replicated, both
 * 0 in the paper.
 *
 * Not modelled: the saturation of 16-bit counters.
 */
#ifndef SLUICE_TESTS_LLC_SELREP_ORACLE_H
#define SLUICE_TESTS_LLC_SELREP_ORACLE_H

#include <stdlib.h>

#include "base/base.h"
#include "llc/lru_list.h"

enum { SELREP_ORACLE_DEGREES = 5, SELREP_ORACLE_GROUPS = 16, SELREP_ORACLE_SETS = 32, SELREP_ORACLE_RECORDS = 20000 };

/* The group of a cluster: at degree D, neighbours form D groups of equal size. */
static inline unsigned rdd_oracle_group(unsigned cluster, unsigned clusters, unsigned degree) {
    return cluster / (clusters / degree);
}

/* The directory: some sets of one home slice. With one directory for all degrees, list[0][0] is used. */
struct rdd_oracle {
    unsigned clusters, degrees, sampled_sets, slice_sets, ways;
    bool each;
    struct lru_list list[SELREP_ORACLE_DEGREES][SELREP_ORACLE_GROUPS][SELREP_ORACLE_SETS];
};

/* The number of the set among the sampled ones; -1 if it is not sampled. */
static inline int rdd_oracle_sample(const struct rdd_oracle *rdd, unsigned set) {
    unsigned sampled = rdd->sampled_sets < rdd->slice_sets ? rdd->sampled_sets : rdd->slice_sets;
    for (unsigned i = 0; i < sampled; i++)
        if (set == i * (rdd->slice_sets / sampled)) return (int)i;
    return -1;
}

/* Sets hit[i] to whether the request would hit at degree 2^i: its tag matches, and its group has accessed the line
 * since the tag was brought in. */
static inline void rdd_oracle_access(struct rdd_oracle *rdd, unsigned sample, uint64_t line, unsigned cluster,
                                     bool hit[SELREP_ORACLE_DEGREES]) {
    struct lru_line before;
    for (unsigned i = 0; i < rdd->degrees; i++) {
        unsigned degree = 1u << i, group = rdd_oracle_group(cluster, rdd->clusters, degree);
        if (rdd->each) {
            unsigned ways = rdd->ways / degree > 0 ? rdd->ways / degree : 1;
            hit[i] = lru_list_access(&rdd->list[i][group][sample], ways, line, &before);
            continue;
        }
        bool found = i == 0 ? lru_list_access(&rdd->list[0][0][sample], rdd->ways, line, &before) : hit[0];
        hit[i] = found && i == 0;
        for (unsigned other = 0; found && other < rdd->clusters; other++)
            if (before.used_by[other] && rdd_oracle_group(other, rdd->clusters, degree) == group) hit[i] = true;
    }
    if (!rdd->each) rdd->list[0][0][sample].at[0].used_by[cluster] = true;
}

/* A flush of all lines, or of replicas: lines of slice 0 stay there, in the group of the first cluster. One directory
 * for all degrees knows of no group smaller than a cluster. */
static inline void rdd_oracle_flush(struct rdd_oracle *rdd, bool whole) {
    for (unsigned i = 0; i < SELREP_ORACLE_DEGREES; i++)
        for (unsigned group = 0; group < SELREP_ORACLE_GROUPS; group++)
            for (unsigned set = 0; set < rdd->sampled_sets && set < SELREP_ORACLE_SETS; set++) {
                struct lru_list *list = &rdd->list[i][group][set];
                if (whole || group > 0) list->count = 0;
                for (unsigned line = 0; line < list->count; line++)
                    for (unsigned cluster = 1; cluster < LRU_LIST_USERS; cluster++)
                        list->at[line].used_by[cluster] = false;
            }
}

/* The slice of a controller that serves a read-only request: the group of the cluster has an equal share of the slices,
 * among which the home chooses. */
static inline unsigned selrep_oracle_slice(unsigned clusters, unsigned slices, unsigned degree, unsigned home,
                                           unsigned cluster) {
    unsigned share = slices / degree;
    return rdd_oracle_group(cluster, clusters, degree) * share + home % share;
}

/* A read-only request to the first controller. */
struct selrep_request {
    uint64_t cycle, line;
    unsigned set, cluster, home;
};

struct selrep_oracle {
    /* The machine, and the choices. */
    unsigned clusters, slices, degrees;
    double slice_bytes, memory_bytes; /* per cycle: of one slice, and its share of memory */
    uint64_t epoch_cycles, window_cycles;
    unsigned least_samples, demand_percent, gain_percent;
    struct rdd_oracle rdd;
    /* The state. */
    unsigned degree;  /* chosen last */
    unsigned ordered; /* set externally for the next epoch; 0: none */
    uint64_t from, until;
    unsigned requests, entered; /* recorded, and entered into the directory */
    struct selrep_request request[SELREP_ORACLE_RECORDS];
    uint64_t sectors; /* of read-only reads looked up */
    uint64_t looked_up, looked_up_hits;
    uint64_t samples, hits[SELREP_ORACLE_DEGREES]; /* of the epoch */
    uint64_t all_samples, all_hits[SELREP_ORACLE_DEGREES], all_requests;
    double bandwidth_sum[SELREP_ORACLE_DEGREES];
    unsigned epochs, changes;
};

struct selrep_expected {
    unsigned degree;
    double hit_rate[SELREP_ORACLE_DEGREES], lsp[SELREP_ORACLE_DEGREES], bandwidth[SELREP_ORACLE_DEGREES];
    double demand;
    const char *reason;
};

static inline bool selrep_oracle_counts(const struct selrep_oracle *oracle, uint64_t cycle) {
    return cycle >= oracle->from && cycle < oracle->until;
}

/* By cycle, then by line, then by cluster. */
static inline int selrep_oracle_order(const void *a, const void *b) {
    const struct selrep_request *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (int)x->cluster - (int)y->cluster;
}

/* Enters all requests before `until` into the directory. */
static inline void selrep_oracle_enter(struct selrep_oracle *oracle, uint64_t until) {
    qsort(&oracle->request[oracle->entered], oracle->requests - oracle->entered, sizeof *oracle->request,
          selrep_oracle_order);
    for (; oracle->entered < oracle->requests && oracle->request[oracle->entered].cycle < until; oracle->entered++) {
        const struct selrep_request *request = &oracle->request[oracle->entered];
        int sample = request->home == 0 ? rdd_oracle_sample(&oracle->rdd, request->set) : -1;
        if (sample < 0) continue;
        bool hit[SELREP_ORACLE_DEGREES] = {0};
        rdd_oracle_access(&oracle->rdd, (unsigned)sample, request->line, request->cluster, hit);
        if (!selrep_oracle_counts(oracle, request->cycle)) continue;
        oracle->samples++;
        oracle->all_samples++;
        for (unsigned i = 0; i < oracle->degrees; i++) oracle->hits[i] += hit[i];
        for (unsigned i = 0; i < oracle->degrees; i++) oracle->all_hits[i] += hit[i];
    }
}

/* Equation 1 over the slices to which the degree would have sent the requests of the epoch. In windows: requests and
 * maxima are summed over the windows. */
static inline double selrep_oracle_lsp(const struct selrep_oracle *oracle, unsigned degree) {
    uint64_t epoch = oracle->until - oracle->from, window = oracle->window_cycles ? oracle->window_cycles : epoch;
    double all = 0, busiest = 0;
    for (uint64_t from = oracle->from; from < oracle->until; from += window) {
        unsigned count[64] = {0}, most = 0;
        for (unsigned i = 0; i < oracle->requests; i++) {
            const struct selrep_request *request = &oracle->request[i];
            if (request->cycle < from || request->cycle >= from + window || request->cycle >= oracle->until) continue;
            unsigned slice =
                selrep_oracle_slice(oracle->clusters, oracle->slices, degree, request->home, request->cluster);
            if (++count[slice] > most) most = count[slice];
            all++;
        }
        busiest += most;
    }
    return all > 0 ? all / busiest : 0;
}

/* Equation 2. */
static inline double selrep_oracle_bandwidth(const struct selrep_oracle *oracle, double lsp, double hit_rate) {
    double from_memory = (1 - hit_rate) * oracle->slice_bytes;
    if (from_memory > oracle->memory_bytes) from_memory = oracle->memory_bytes;
    return lsp * (hit_rate * oracle->slice_bytes + from_memory);
}

/* The degree with the highest bandwidth. */
static inline void selrep_oracle_choose(const struct selrep_oracle *oracle, struct selrep_expected *expected) {
    unsigned best = 0;
    for (unsigned i = 0; i < oracle->degrees; i++)
        if (expected->bandwidth[i] > expected->bandwidth[best]) best = i;
    double home = expected->bandwidth[0];
    expected->degree = 1;
    if (expected->demand < oracle->demand_percent / 100.0 * home) {
        expected->reason = "demand too low for replication";
    } else if (oracle->degree == 1 && best > 0 &&
               expected->bandwidth[best] < (1 + oracle->gain_percent / 100.0) * home) {
        expected->reason = "gain too low for replication";
    } else {
        expected->degree = 1u << best;
        expected->reason = "highest bandwidth";
    }
}

/* The decision at the end of an epoch, in cycle `now`; the next epoch counts from the next cycle on. */
static inline struct selrep_expected selrep_oracle_decide(struct selrep_oracle *oracle, uint64_t now) {
    struct selrep_expected expected = {.degree = oracle->degree, .reason = "too few samples"};
    selrep_oracle_enter(oracle, now);
    expected.demand = 32.0 * (double)oracle->sectors / (double)(oracle->until - oracle->from);
    for (unsigned i = 0; i < oracle->degrees; i++) {
        expected.hit_rate[i] = oracle->samples ? (double)oracle->hits[i] / (double)oracle->samples : 0;
        expected.lsp[i] = selrep_oracle_lsp(oracle, 1u << i);
        expected.bandwidth[i] = selrep_oracle_bandwidth(oracle, expected.lsp[i], expected.hit_rate[i]);
        oracle->bandwidth_sum[i] += expected.bandwidth[i];
    }
    if (oracle->ordered) {
        expected.degree = oracle->ordered;
        expected.reason = "set externally";
    } else if (oracle->samples >= oracle->least_samples) {
        selrep_oracle_choose(oracle, &expected);
    }
    oracle->ordered = 0;
    oracle->epochs++;
    oracle->changes += expected.degree != oracle->degree;
    oracle->degree = expected.degree;
    return expected;
}

/* Clears what has been entered; what has not been entered was sent in the cycle of the decision. */
static inline void selrep_oracle_begin(struct selrep_oracle *oracle, uint64_t now) {
    oracle->requests -= oracle->entered;
    memmove(oracle->request, &oracle->request[oracle->entered], oracle->requests * sizeof *oracle->request);
    oracle->entered = 0;
    oracle->until = (now / oracle->epoch_cycles + 1) * oracle->epoch_cycles;
    oracle->from = now + 1;
    oracle->sectors = oracle->looked_up = oracle->looked_up_hits = oracle->samples = 0;
    memset(oracle->hits, 0, sizeof oracle->hits);
}

#endif
