/* The atomics' LLC: one small cache per memory controller, shared by all SMs, for the atomics of a program whose LLC is
 * private. Proposed in "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019, section 4.1).
 *
 *     slice 0 ──┐
 *     slice 1 ──┼── hub ── atomics' slice ── memory controller
 *     slice 2 ──┘
 *
 * In private mode every atomic, with or without bypassed MC-routers, goes to its cluster's own slice, which forwards
 * it; the reply takes the same path back and leaves through that slice's data port. So all atomics to a word are
 * performed in one place. The atomics' slice is the same component as the others (slice.c), with its own cache, latency
 * and counters, and is one more requester of its controller. The hub forwards one request per cycle, round robin over
 * the slices, and one reply per cycle. Nothing here waits for a slice's lookups, only for replies to leave, so that
 * slices blocked by atomics cannot deadlock.
 *
 * A line that an atomic has modified is written to memory when it is evicted, or flushed with the slices: at the
 * kernel's end and in every reconfiguration. Until then a plain read may return the old value, from its cluster's slice
 * or from memory, and a plain write goes to memory without updating the line held here. As between clusters of a
 * private LLC, software must not depend on this within a kernel.
 *
 * Assumed: size, ways, latency and the path to it, which the paper does not give. Not modelled: the cost of the wires.
 */
#ifndef SLUICE_LLC_ATOMICS_H
#define SLUICE_LLC_ATOMICS_H

#include "llc/llc.h"

struct atomics_config {
    int64_t size_kb, ways;
    int64_t latency_cycles, pass_cycles;
};

extern const struct section atomics_section;

/* Slices of the atomics' LLC: one per controller, or none if no atomic can reach a private LLC. They are numbered after
 * all others. */
unsigned atomics_slices(const struct config *config);
unsigned atomics_sets(const struct config *config);

struct atomics;
/* Creates the hubs, and the ports from and to all slices, whose components are given. */
struct atomics *atomics_create(const struct config *config, struct engine *engine, const unsigned *slice_component);
void atomics_destroy(struct atomics *atomics);
/* Sets a slice's ports to the hub of its controller; for a slice of the atomics' LLC, the hub takes the place of the
 * network. */
void atomics_connect(struct atomics *atomics, unsigned slice, struct slice_ports *ports);

#endif
