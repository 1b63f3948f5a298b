/* The atomics' LLC: at every memory controller a small cache that all SMs share, for the atomics of a program whose LLC is private.
 * "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019, section 4.1) proposes it.
 *
 *     slice 0 ──┐
 *     slice 1 ──┼── hub ── atomics' slice ── memory controller
 *     slice 2 ──┘
 *
 * Every atomic of a program in private mode, MC-routers bypassed or not, goes to its cluster's own slice, which passes it on;
 * its answer goes back by the way it came and leaves by that slice's data port. All atomics to a word so meet in one place. The
 * atomics' slice is the component that the others are (slice.c), with a cache, a latency and counters of its own, and one more
 * requester of its controller. The hub carries a request in a cycle, the slices in turn, and an answer. Nothing here waits for a
 * slice's lookups, only for answers to leave, so that slices held up by their atomics cannot lock up.
 *
 * What an atomic has modified reaches memory when the line is replaced or flushed, with the slices: at the kernel's end and in
 * every switch. Until then a plain read may find the value from before, in its cluster's slice or in memory, and a
 * plain write goes to memory past the line that is held here: as between clusters of a private LLC, software sees to it that
 * nothing depends on that within a kernel.
 *
 * Assumed: its size, ways, latency and the way to it, of which the paper says nothing. Left out: what the wires cost.
 */
#ifndef SLUICE_LLC_ATOMICS_H
#define SLUICE_LLC_ATOMICS_H

#include "llc/llc.h"

struct atomics_config {
    int64_t size_kb, ways;
    int64_t latency_cycles, pass_cycles;
};

extern const struct section atomics_section;

/* Slices of the atomics' LLC: one for each controller, or none where no atomic can come to a private LLC. They are numbered
 * after all others. */
unsigned atomics_slices(const struct config *config);
unsigned atomics_sets(const struct config *config);

struct atomics;
/* Hubs, and ways from and to all slices, whose components these are. */
struct atomics *atomics_create(const struct config *config, struct engine *engine, const unsigned *slice_component);
void atomics_destroy(struct atomics *atomics);
/* Fills in a slice's ports to the hub of its controller; for one of the atomics' LLC, which knows no other, those to the network. */
void atomics_connect(struct atomics *atomics, unsigned slice, struct slice_ports *ports);

#endif
