/* Ways between the slices of a controller, by which atomics come to the home of their line while MC-routers are bypassed and a
 * cluster reaches its own slices only.
 *
 * "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019, section 4.1) proposes, for atomics under a private LLC, a small LLC near
 * the memory controller that all SMs always share. Here it is the homes that lines have in a shared LLC: an atomic that arrives in
 * a slice that is not its line's home is passed on to that, performed there, and answered by the way it came. It takes room
 * and lookups from the slice it is passed to, and none of its own.
 *
 * A slice has at most PEER_ATOMICS under way to each other one, for which ports have room, so that none of them is ever
 * full. Left out: what these wires cost in area and energy.
 */
#ifndef SLUICE_LLC_PEERS_H
#define SLUICE_LLC_PEERS_H

#include "gpu/port.h"

enum { PEER_ATOMICS = 8 };

struct peers {
    unsigned mcs, slices;            /* slices of a controller */
    struct port *requests, *replies; /* [mcs][from][to], by slice of the controller */
};

struct peers *peers_create(struct engine *engine, unsigned mcs, unsigned slices, const unsigned *slice_component,
                           unsigned latency_cycles);
void peers_destroy(struct peers *peers);

static inline unsigned peers_index(const struct peers *peers, unsigned mc, unsigned from, unsigned to) {
    return (mc * peers->slices + from) * peers->slices + to;
}

struct slice;
void slice_connect_peers(struct slice *slice, struct peers *peers);

#endif
