/* Auxiliary tag directory: what the hit rate of a private LLC would be, told from the requests that a shared one gets.
 *
 * Some sets of one slice are shadowed by tags that each keep a bit for every cluster: whether it has used the line since
 * the tag came in. An access by a cluster whose bit is set would have hit in that cluster's own slice. From "Adaptive
 * Memory-Side Last-Level GPU Caching" (ISCA 2019, section 4.4), with sets chosen as in dynamic set sampling: every n-th.
 * The text speaks of the router that accessed the line last; the storage it states (432 bytes) holds a bit for each,
 * and with the last one only a line that all clusters share would look as if it never hit. Both are here.
 *
 * Left out: the tags are those of the shared slice, so the room that copies take in private slices is not seen.
 */
#ifndef SLUICE_LLC_ATD_H
#define SLUICE_LLC_ATD_H

#include "base/base.h"

struct atd {
    unsigned sets, ways, every; /* shadows the sets 0, every, 2 every, ... */
    bool last_only;             /* keeps the cluster that accessed the line last and no other */
    struct atd_entry {
        uint64_t key, clusters, used;
    } * entry; /* [sets][ways]; used 0: empty */
    uint64_t uses;
};

/* Of `slice_sets` sets with `ways` lines each, at most `sets` are shadowed. */
void atd_init(struct atd *atd, unsigned sets, unsigned slice_sets, unsigned ways, bool last_only);
void atd_release(struct atd *atd);
void atd_clear(struct atd *atd);

static inline bool atd_shadows(const struct atd *atd, unsigned set) {
    return set % atd->every == 0 && set / atd->every < atd->sets;
}
/* What a row of tags knew of a line before this access: its tag, and the clusters that have used it since that came in. */
struct atd_seen {
    bool found;
    uint64_t clusters;
};
struct atd_seen atd_use(struct atd *atd, unsigned row, uint64_t key, unsigned cluster);

/* Whether the access would hit in the cluster's own slice. The set is one that is shadowed. */
static inline bool atd_access(struct atd *atd, unsigned set, uint64_t key, unsigned cluster) {
    return atd_use(atd, set / atd->every, key, cluster).clusters >> cluster & 1;
}

#endif
