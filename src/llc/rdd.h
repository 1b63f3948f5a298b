/* Replication degree directory: estimates the hit rate of read-only lines at every replication degree from the requests
 * of all clusters, independent of the current degree. From "Selective Replication in Memory-Side GPU Caches", section
 * III-B.
 *
 * Some sets of one home slice are shadowed by tags, each with one bit per cluster that has accessed the line since the
 * tag was allocated (atd.h). A request would hit at degree D if its line has a tag and a cluster of its group has
 * accessed it. The ClusterID vector of a smaller degree is that of the largest with neighbours joined, so that one
 * vector suffices. For a shared LLC the tag suffices.
 *
 * A single directory for all degrees sees how often replicas are reused, but not the capacity that they take: at degree
 * D each slice holds lines of D home slices. With one directory per degree, each group of degree D has 1/D of the ways,
 * which is the share of a set for the lines of one home slice; the total number of tags per degree is the same.
 *
 * Not modelled: the capacity taken by lines that are not read-only.
 */
#ifndef SLUICE_LLC_RDD_H
#define SLUICE_LLC_RDD_H

#include "llc/atd.h"
#include "llc/replication.h"

struct rdd {
    struct replication replication;
    bool each; /* one directory per degree */
    struct atd directory[REPLICATION_DEGREES];
};

/* At most `sets` of `slice_sets` sets with `ways` lines each are shadowed. */
void rdd_init(struct rdd *rdd, const struct replication *replication, unsigned sets, unsigned slice_sets, unsigned ways,
              bool each);
void rdd_release(struct rdd *rdd);

static inline bool rdd_shadows(const struct rdd *rdd, unsigned set) { return atd_shadows(&rdd->directory[0], set); }
/* The degrees at which the request would hit: bit i is degree 1 << i. The set must be shadowed. */
unsigned rdd_access(struct rdd *rdd, unsigned set, uint64_t key, unsigned cluster);
/* Slices invalidate all lines, or only replicas; the home slice, 0, belongs to the first group. */
void rdd_flush(struct rdd *rdd, bool whole);

#endif
