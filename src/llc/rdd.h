/* Replication degree directory: what the hit rate of lines that are only read would be at every degree of replication, told from
 * the requests of all clusters, whatever the degree in force. From "Selective Replication in Memory-Side GPU Caches", section III-B.
 *
 * Some sets of one home slice are shadowed by tags, each with a bit for every cluster that has used the line since the tag came in
 * (atd.h). A request would hit at degree D if its line's tag is there and a cluster of its group has used it: the ClusterID
 * vector of a smaller degree is that of the largest with neighbours joined, so one is kept. For a shared LLC the tag is enough.
 *
 * One directory for all degrees sees how often copies are reused, but not the room that they take: at degree D the lines of D home
 * slices meet in each slice. With a directory of its own each degree has, for each of its groups, 1/D of the ways, which is what is
 * left of a set for the lines of one home slice: as many tags in all.
 *
 * Left out: lines that are not read-only, which take room in slices as well.
 */
#ifndef SLUICE_LLC_RDD_H
#define SLUICE_LLC_RDD_H

#include "llc/atd.h"
#include "llc/replication.h"

struct rdd {
    struct replication replication;
    bool each; /* a directory for each degree */
    struct atd directory[REPLICATION_DEGREES];
};

/* Of `slice_sets` sets with `ways` lines each, at most `sets` are shadowed. */
void rdd_init(struct rdd *rdd, const struct replication *replication, unsigned sets, unsigned slice_sets, unsigned ways,
              bool each);
void rdd_release(struct rdd *rdd);

static inline bool rdd_shadows(const struct rdd *rdd, unsigned set) { return atd_shadows(&rdd->directory[0], set); }
/* The degrees at which the request would hit: bit i is 1 << i copies. The set is one that is shadowed. */
unsigned rdd_access(struct rdd *rdd, unsigned set, uint64_t key, unsigned cluster);
/* Slices forget all lines, or replicas only; the home slice, 0, is the first group's. */
void rdd_flush(struct rdd *rdd, bool whole);

#endif
