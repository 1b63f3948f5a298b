/* Replication of lines that a kernel only reads, as static.c and selrep.c share it: which of a controller's slices holds the
 * copy that a cluster uses. From "Selective Replication in Memory-Side GPU Caches", sections III-A and III-B.
 *
 * A degree of D, a power of two, splits the clusters into D groups of neighbours and the slices of every controller into as many;
 * each group has a copy of its own in its slices, in the one that the low bits of the line's home choose. D = 1 is a shared LLC. A
 * D of all slices gives each group one slice, for every line, as a private LLC does. Only reads that are marked read-only follow
 * this; everything else goes to the line's home.
 *
 * Replicas come from memory, as any line does. So that none is older than what an earlier kernel wrote, modified lines have to be in
 * memory before replicas are made in a kernel; and so that none outlives the promise that its data is only read, they are forgotten
 * at the kernel's end (gpu/control.c).
 */
#ifndef SLUICE_LLC_REPLICATION_H
#define SLUICE_LLC_REPLICATION_H

#include "llc/organisation.h"

enum { REPLICATION_DEGREES = 7 }; /* 1 to 64 slices of a controller */

struct replication {
    unsigned clusters_log2, slices_log2;
    unsigned degrees; /* 1, 2, 4, ...: so many of them */
};

struct replication replication_of(const struct config *config);

/* Of the controller's slices, that which holds the copy of a line whose home is slice `home`, at a degree of 1 << degree_log2. */
static inline unsigned replication_slice(const struct replication *replication, unsigned degree_log2, unsigned home,
                                         unsigned cluster) {
    unsigned slices_log2 = replication->slices_log2 - degree_log2;
    unsigned group = cluster >> (replication->clusters_log2 - degree_log2);
    return group << slices_log2 | (home & (unsigned)low_mask(slices_log2));
}

static inline bool replication_concerns(const struct message *message) {
    return message->kind == MESSAGE_READ && message->flags & MESSAGE_READ_ONLY;
}

/* Clusters and slices of a controller are powers of two, and replicas within reach. */
bool replication_check(const struct config *config, struct error *err);

/* What is forgotten with a kernel's end. */
extern const struct family replication_flush_family;
extern const struct policy replication_flush_whole;

#endif
