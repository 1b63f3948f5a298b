#include "llc/peers.h"

#include <stdio.h>
#include <stdlib.h>

struct peers *peers_create(struct engine *engine, unsigned mcs, unsigned slices, const unsigned *slice_component,
                           unsigned latency_cycles) {
    struct peers *peers = mem_alloc(1, sizeof *peers);
    size_t ways = (size_t)mcs * slices * slices;
    *peers =
        (struct peers){mcs, slices, mem_alloc(ways, sizeof *peers->requests), mem_alloc(ways, sizeof *peers->replies)};
    for (unsigned from = 0; from < mcs * slices; from++)
        for (unsigned to = 0; to < slices; to++) {
            unsigned mc = from / slices, index = peers_index(peers, mc, from % slices, to);
            unsigned sender = slice_component[from], receiver = slice_component[mc * slices + to];
            char name[40];
            snprintf(name, sizeof name, "slice %u to slice %u", from, mc * slices + to);
            port_init(&peers->requests[index], engine, name, sender, receiver, PEER_ATOMICS, latency_cycles);
            port_init(&peers->replies[index], engine, name, sender, receiver, PEER_ATOMICS, latency_cycles);
        }
    return peers;
}

void peers_destroy(struct peers *peers) {
    if (!peers) return;
    for (unsigned i = 0; i < peers->mcs * peers->slices * peers->slices; i++) {
        port_release(&peers->requests[i]);
        port_release(&peers->replies[i]);
    }
    free(peers->requests);
    free(peers->replies);
    free(peers);
}
