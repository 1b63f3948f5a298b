/* Replication of lines that a kernel only reads, for static.c and selrep.c: which of a controller's slices holds the
 * replica that a cluster accesses. From "Selective Replication in Memory-Side GPU Caches", sections III-A and III-B.
 *
 * A replication degree D, a power of two, splits the clusters into D groups of neighbours and the slices of every
 * controller into D groups; each group has its own replica, in the slice of its group that the low bits of the line's
 * home choose. D = 1 is a shared LLC. With D equal to the number of slices, each group has one slice for every line, as
 * in a private LLC. Only reads marked read-only are routed this way; all other requests go to the line's home slice.
 *
 * Replicas are fetched from memory, like any line. So that no replica is older than the writes of an earlier kernel,
 * modified lines are written to memory before a kernel's first replica; so that no replica outlives the guarantee that
 * its data is only read, replicas are invalidated at the kernel's end (gpu/kernel.h, gpu/reconfiguration.h). The paper
 * flushes the LLC at every kernel boundary (section III-E), which does both.
 */
#ifndef SLUICE_LLC_REPLICATION_H
#define SLUICE_LLC_REPLICATION_H

#include "llc/organisation.h"

enum { REPLICATION_DEGREES = 7 }; /* for 1 to 64 slices per controller */

struct replication {
    unsigned clusters_log2, slices_log2;
    unsigned degrees; /* number of degrees: 1, 2, 4, ... */
};

struct replication replication_of(const struct config *config);

/* The controller's slice that holds the replica of a line with home slice `home`, at degree 1 << degree_log2. */
static inline unsigned replication_slice(const struct replication *replication, unsigned degree_log2, unsigned home,
                                         unsigned cluster) {
    unsigned slices_log2 = replication->slices_log2 - degree_log2;
    unsigned group = cluster >> (replication->clusters_log2 - degree_log2);
    return group << slices_log2 | (home & (unsigned)low_mask(slices_log2));
}

static inline bool replication_concerns(const struct message *message) {
    return message->kind == MESSAGE_READ && message->flags & MESSAGE_READ_ONLY;
}

/* Checks that clusters and slices per controller are powers of two, and that replicas can be reached. */
bool replication_check(const struct config *config, struct error *err);

/* Which lines are invalidated at a kernel's end. With `always` memory holds every line that an earlier kernel has
 * modified, so that a kernel may have replicas from its beginning on. */
extern const struct family replication_flush_family;
extern const struct policy replication_flush_replicas, replication_flush_always;

#endif
