/* Bridges between the two partitions of an LLC (llc.partitions=2), as in the A100 and the H100.
 *
 *     networks, clusters of partition 0             networks, clusters of partition 1
 *        │                                                                 │
 *        ├── copies of b's lines ── bridge ── copies of a's lines ─────────┤
 *        │                            │                                    │
 *        └── slice a ─────────────────┴───────────────────────── slice b ──┘
 *               │                                                   │
 *        controller of partition 0                        controller of partition 1
 *
 * Controllers and clusters are divided into halves, in order of their numbers; slice i of a controller of one half and
 * slice i of the corresponding controller of the other are mirrors of each other and share a bridge, which is in front of
 * both. A request of a far cluster, and its reply, cross the bridge between network and slice.
 *
 * With the organisation `partitioned`, a part of the ways of each slice holds copies of its mirror's lines. It is looked
 * up, filled and replaced as a slice (slice.c) of its own, whose memory is the mirror: a miss crosses the bridge and is
 * looked up there, and the data cross back.
 *
 * A message that crosses takes bridge.cycles and occupies its direction, of requests or of replies, for its size over
 * bridge.bytes; any other takes a cycle in the bridge.
 *
 * No deadlock: copies wait for their home; a slice's own lines wait only for memory and for the reply network. Fetches
 * cross without waiting for requests of the networks, since they have entries for all MSHRs, and replies always find
 * the MSHR that waits for them.
 *
 * Not modelled: ways whose use adapts to the demand for copies; the energy of the wires between the partitions. */
#ifndef SLUICE_LLC_BRIDGE_H
#define SLUICE_LLC_BRIDGE_H

#include "llc/llc.h"

struct bridge_config {
    int64_t cycles, bytes, copy_ways;
};

extern const struct section bridge_section;

/* Whether the LLC has two partitions. */
bool bridges_exist(const struct config *config);
/* Ways of a slice for copies; 0: there are none. */
unsigned bridge_copy_ways(const struct config *config);
/* The partition of a controller or of a cluster: 0 or 1. */
static inline unsigned bridge_side(unsigned index, unsigned count) { return 2 * index / count; }

struct bridges;
/* `copies_component` may be NULL. */
struct bridges *bridges_create(const struct config *config, const struct address_map *map, struct engine *engine,
                               const unsigned *slice_component, const unsigned *copies_component, struct stats *stats);
void bridges_destroy(struct bridges *bridges);
/* The component that takes the slice's place for the networks. */
unsigned bridges_component(const struct bridges *bridges, unsigned slice);
/* The ports of a slice lead to the networks. Afterwards they lead to its bridge. */
void bridges_connect(struct bridges *bridges, unsigned slice, struct slice_ports *ports);
/* Sets the ports of the copies at this slice. */
void bridges_connect_copies(struct bridges *bridges, unsigned slice, struct slice_ports *ports);

#endif
