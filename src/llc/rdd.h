/* Replication degree directory: estimates the hit rate of read-only lines at every replication degree from the requests
 * of all clusters, independent of the current degree. From "Selective Replication in Memory-Side GPU Caches", section
 * III-B. The kinds differ in what they know of the capacity that replicas take: at degree D each slice holds lines of D
 * home slices.
 *
 * RDD_SHARED, the paper's (Figure 10): some sets of home slice 0 are shadowed by tags, each with one bit per cluster
 * that has accessed the line since the tag was allocated (atd.h). A request would hit at degree D if its line has a tag
 * and a cluster of its group has accessed it. The ClusterID vector of a smaller degree is that of the largest with
 * neighbours joined, so that one vector suffices. For a shared LLC the tag suffices. It sees how often replicas are
 * reused, but not the capacity that they take.
 *
 * RDD_EACH: the same sets have a directory per degree, in which each group of degree D has 1/D of the ways: the share
 * of a set for the lines of one home slice, if those of all home slices were used equally. The total number of tags per
 * degree is the same.
 *
 * RDD_SLICE: a directory per degree shadows some sets of slice 0 with all their ways, and receives the requests that
 * this degree would send there: read-only ones of the first group to D home slices, and all others to home slice 0,
 * which take capacity and are not counted. Each degree has its own sample; all have about the same size.
 *
 * Not modelled: by the first two kinds the capacity taken by lines that are not read-only; by all, replicas left over
 * from another degree, and, if the LLC has another replacement policy, that policy instead of LRU.
 */
#ifndef SLUICE_LLC_RDD_H
#define SLUICE_LLC_RDD_H

#include "llc/atd.h"
#include "llc/replication.h"

enum rdd_kind { RDD_SHARED, RDD_EACH, RDD_SLICE };

struct rdd {
    struct replication replication;
    enum rdd_kind kind;
    struct atd directory[REPLICATION_DEGREES];
};

/* At most `sets` of `slice_sets` sets with `ways` lines each are shadowed. */
void rdd_init(struct rdd *rdd, const struct replication *replication, unsigned sets, unsigned slice_sets, unsigned ways,
              enum rdd_kind kind);
void rdd_release(struct rdd *rdd);
/* Bits of all tags that shadow one set, each with its LRU rank. */
uint64_t rdd_tag_bits(const struct replication *replication, unsigned ways, enum rdd_kind kind, unsigned tag_bits);

struct rdd_request {
    uint64_t key;
    unsigned set, home, cluster;
    bool read_only; /* it may be served by a replica */
};
/* Degrees at which the request is a sample, and of those the ones at which it would hit: bit i is degree 1 << i. */
struct rdd_seen {
    unsigned sampled, hits;
};

/* Whether the request is to be entered into the directory. */
static inline bool rdd_shadows(const struct rdd *rdd, const struct rdd_request *request) {
    bool concerned =
        rdd->kind == RDD_SLICE ? request->read_only || request->home == 0 : request->read_only && request->home == 0;
    return concerned && atd_shadows(&rdd->directory[0], request->set);
}
struct rdd_seen rdd_access(struct rdd *rdd, const struct rdd_request *request);
/* Slices invalidate all lines, or only replicas; the home slice, 0, belongs to the first group. */
void rdd_flush(struct rdd *rdd, bool whole);

#endif
