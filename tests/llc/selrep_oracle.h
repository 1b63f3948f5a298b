/* Selective replication as its paper describes it: the replication degree directory, slice parallelism (Equation 1) and
 * the bandwidth model (Equation 2), computed at the end of an epoch from a record of its requests. From "Selective
 * Replication in Memory-Side GPU Caches", section III-A (which slice serves a request at each degree), section III-B
 * (the directory) and section III-C (the equations).
 *
 * Variants that are not the paper's are the configuration's: a directory per degree whose groups have an equal share of
 * the ways, or one that receives what the degree would send to slice 0; the demand and the gain below which nothing is
 * replicated, both 0 in the paper.
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

enum rdd_oracle_kind { ORACLE_SHARED, ORACLE_EACH, ORACLE_SLICE };

/* The directory: some sets of one slice. With one directory for all degrees list[0][0] is used, with the directories of
 * a slice list[i][0]. */
struct rdd_oracle {
    unsigned clusters, slices, degrees, sampled_sets, slice_sets, ways;
    enum rdd_oracle_kind kind;
    struct lru_list list[SELREP_ORACLE_DEGREES][SELREP_ORACLE_GROUPS][SELREP_ORACLE_SETS];
};

/* The number of the set among the sampled ones; -1 if it is not sampled. */
static inline int rdd_oracle_sample(const struct rdd_oracle *rdd, unsigned set) {
    unsigned sampled = rdd->sampled_sets < rdd->slice_sets ? rdd->sampled_sets : rdd->slice_sets;
    for (unsigned i = 0; i < sampled; i++)
        if (set == i * (rdd->slice_sets / sampled)) return (int)i;
    return -1;
}

/* The slice of a controller that serves a read-only request: the group of the cluster has an equal share of the slices,
 * among which the home chooses. */
static inline unsigned selrep_oracle_slice(unsigned clusters, unsigned slices, unsigned degree, unsigned home,
                                           unsigned cluster) {
    unsigned share = slices / degree;
    return rdd_oracle_group(cluster, clusters, degree) * share + home % share;
}

/* Sets hit[i] to whether the request would hit at degree 2^i: its tag matches, and its group has accessed the line
 * since the tag was brought in. */
static inline void rdd_oracle_access(struct rdd_oracle *rdd, unsigned sample, uint64_t line, unsigned cluster,
                                     bool hit[SELREP_ORACLE_DEGREES]) {
    struct lru_line before;
    for (unsigned i = 0; i < rdd->degrees; i++) {
        unsigned degree = 1u << i, group = rdd_oracle_group(cluster, rdd->clusters, degree);
        if (rdd->kind == ORACLE_EACH) {
            unsigned ways = rdd->ways / degree > 0 ? rdd->ways / degree : 1;
            hit[i] = lru_list_access(&rdd->list[i][group][sample], ways, line, &before);
            continue;
        }
        bool found = i == 0 ? lru_list_access(&rdd->list[0][0][sample], rdd->ways, line, &before) : hit[0];
        hit[i] = found && i == 0;
        for (unsigned other = 0; found && other < rdd->clusters; other++)
            if (before.used_by[other] && rdd_oracle_group(other, rdd->clusters, degree) == group) hit[i] = true;
    }
    if (rdd->kind == ORACLE_SHARED) rdd->list[0][0][sample].at[0].used_by[cluster] = true;
}

/* Slice 0 at each degree, with the home of every line as its only user. Sets hit[i] if the request goes there at degree
 * 2^i and hits, and here[i] if it goes there. */
static inline void rdd_oracle_access_slice(struct rdd_oracle *rdd, unsigned sample, uint64_t line, unsigned home,
                                           unsigned cluster, bool read_only, bool here[SELREP_ORACLE_DEGREES],
                                           bool hit[SELREP_ORACLE_DEGREES]) {
    struct lru_line before;
    for (unsigned i = 0; i < rdd->degrees; i++) {
        unsigned slice = read_only ? selrep_oracle_slice(rdd->clusters, rdd->slices, 1u << i, home, cluster) : home;
        here[i] = slice == 0;
        if (!here[i]) continue;
        hit[i] = lru_list_access(&rdd->list[i][0][sample], rdd->ways, line, &before);
        rdd->list[i][0][sample].at[0].used_by[home] = true;
    }
}

/* Removes the lines of a list whose home is another slice. */
static inline void rdd_oracle_keep_home(struct lru_list *list) {
    unsigned kept = 0;
    for (unsigned i = 0; i < list->count; i++)
        if (list->at[i].used_by[0]) list->at[kept++] = list->at[i];
    list->count = kept;
}

/* A flush of all lines, or of replicas: lines of slice 0 stay there, in the group of the first cluster. One directory
 * for all degrees knows of no group smaller than a cluster. */
static inline void rdd_oracle_flush(struct rdd_oracle *rdd, bool whole) {
    for (unsigned i = 0; i < SELREP_ORACLE_DEGREES; i++)
        for (unsigned group = 0; group < SELREP_ORACLE_GROUPS; group++)
            for (unsigned set = 0; set < rdd->sampled_sets && set < SELREP_ORACLE_SETS; set++) {
                struct lru_list *list = &rdd->list[i][group][set];
                if (whole || group > 0) list->count = 0;
                if (rdd->kind == ORACLE_SLICE) rdd_oracle_keep_home(list);
                for (unsigned line = 0; line < list->count; line++)
                    for (unsigned cluster = 1; cluster < LRU_LIST_USERS; cluster++)
                        list->at[line].used_by[cluster] = false;
            }
}

/* A request to the first controller. */
struct selrep_request {
    uint64_t cycle, line;
    unsigned set, cluster, home;
    bool read_only;
};

struct selrep_oracle {
    /* The machine, and the choices. */
    unsigned clusters, slices, degrees;
    double slice_bytes, memory_bytes; /* per cycle: of one slice, and its share of memory */
    uint64_t epoch_cycles, window_cycles;
    unsigned least_samples, demand_percent, gain_percent, memory_percent; /* of memory_bytes; 0: all */
    struct rdd_oracle rdd;
    /* The state. */
    unsigned degree;  /* chosen last */
    unsigned ordered; /* set externally for the next epoch; 0: none */
    uint64_t from, until;
    unsigned requests, entered; /* recorded, and entered into the directory */
    struct selrep_request request[SELREP_ORACLE_RECORDS];
    uint64_t sectors; /* of read-only reads looked up */
    uint64_t looked_up, looked_up_hits;
    uint64_t samples[SELREP_ORACLE_DEGREES], hits[SELREP_ORACLE_DEGREES]; /* of the epoch */
    uint64_t all_samples[SELREP_ORACLE_DEGREES], all_hits[SELREP_ORACLE_DEGREES], all_requests;
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

/* By cycle, then by line, then by cluster; of one cluster, those that are not read-only first. */
static inline int selrep_oracle_order(const void *a, const void *b) {
    const struct selrep_request *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->cluster != y->cluster) return (int)x->cluster - (int)y->cluster;
    return x->read_only - y->read_only;
}

/* Enters all requests before `until` into the directory. */
static inline void selrep_oracle_enter(struct selrep_oracle *oracle, uint64_t until) {
    qsort(&oracle->request[oracle->entered], oracle->requests - oracle->entered, sizeof *oracle->request,
          selrep_oracle_order);
    for (; oracle->entered < oracle->requests && oracle->request[oracle->entered].cycle < until; oracle->entered++) {
        const struct selrep_request *request = &oracle->request[oracle->entered];
        int sample = rdd_oracle_sample(&oracle->rdd, request->set);
        bool here[SELREP_ORACLE_DEGREES] = {true, true, true, true, true}, hit[SELREP_ORACLE_DEGREES] = {0};
        if (sample < 0) continue;
        if (oracle->rdd.kind == ORACLE_SLICE) {
            rdd_oracle_access_slice(&oracle->rdd, (unsigned)sample, request->line, request->home, request->cluster,
                                    request->read_only, here, hit);
        } else {
            if (request->home != 0 || !request->read_only) continue;
            rdd_oracle_access(&oracle->rdd, (unsigned)sample, request->line, request->cluster, hit);
        }
        if (!request->read_only || !selrep_oracle_counts(oracle, request->cycle)) continue;
        for (unsigned i = 0; i < oracle->degrees; i++) {
            oracle->samples[i] += here[i];
            oracle->all_samples[i] += here[i];
            oracle->hits[i] += hit[i];
            oracle->all_hits[i] += hit[i];
        }
    }
}

/* Of the degree with the fewest. */
static inline uint64_t selrep_oracle_samples(const struct selrep_oracle *oracle) {
    uint64_t least = oracle->samples[0];
    for (unsigned i = 1; i < oracle->degrees; i++)
        if (oracle->samples[i] < least) least = oracle->samples[i];
    return least;
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
            if (!request->read_only || request->cycle < from || request->cycle >= from + window ||
                request->cycle >= oracle->until)
                continue;
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
        expected.hit_rate[i] = oracle->samples[i] ? (double)oracle->hits[i] / (double)oracle->samples[i] : 0;
        expected.lsp[i] = selrep_oracle_lsp(oracle, 1u << i);
        expected.bandwidth[i] = selrep_oracle_bandwidth(oracle, expected.lsp[i], expected.hit_rate[i]);
        oracle->bandwidth_sum[i] += expected.bandwidth[i];
    }
    if (oracle->ordered) {
        expected.degree = oracle->ordered;
        expected.reason = "set externally";
    } else if (selrep_oracle_samples(oracle) >= oracle->least_samples) {
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
    oracle->sectors = oracle->looked_up = oracle->looked_up_hits = 0;
    memset(oracle->samples, 0, sizeof oracle->samples);
    memset(oracle->hits, 0, sizeof oracle->hits);
}

#endif
