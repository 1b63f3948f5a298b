/* Auxiliary tag directory: estimates the hit rate of a private LLC from the requests to a shared one.
 *
 * Some sets of one slice are shadowed by tags, each with one bit per cluster: whether it has accessed the line since
 * the tag was allocated. An access by a cluster whose bit is set would have hit in that cluster's own slice. From
 * "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019, section 4.4), with sets chosen by dynamic set sampling:
 * every n-th. The paper's text describes only the router that accessed the line last, but its storage of 432 bytes
 * holds one bit per router; with the last router alone, a line that all clusters share would appear never to hit. Both
 * variants are implemented.
 *
 * Not modelled: the tags are those of the shared slice, so that the capacity that replicas take in private slices is
 * not seen.
 */
#ifndef SLUICE_LLC_ATD_H
#define SLUICE_LLC_ATD_H

#include "base/base.h"

struct atd {
    unsigned sets, ways, every; /* shadows the sets 0, every, 2 every, ... */
    bool last_only;             /* keeps only the cluster that accessed the line last */
    struct atd_entry {
        uint64_t key, clusters, used;
    } * entry; /* [sets][ways]; used 0: empty */
    uint64_t uses;
};

/* At most `sets` of `slice_sets` sets with `ways` lines each are shadowed. */
void atd_init(struct atd *atd, unsigned sets, unsigned slice_sets, unsigned ways, bool last_only);
void atd_release(struct atd *atd);
void atd_clear(struct atd *atd);

static inline bool atd_shadows(const struct atd *atd, unsigned set) {
    return set % atd->every == 0 && set / atd->every < atd->sets;
}
/* State of a line before this access: its tag is present, and the clusters that have accessed it since its
 * allocation. */
struct atd_seen {
    bool found;
    uint64_t clusters;
};
struct atd_seen atd_use(struct atd *atd, unsigned row, uint64_t key, unsigned cluster);

/* Whether the access would hit in the cluster's own slice. The set must be shadowed. */
static inline bool atd_access(struct atd *atd, unsigned set, uint64_t key, unsigned cluster) {
    return atd_use(atd, set / atd->every, key, cluster).clusters >> cluster & 1;
}

#endif
