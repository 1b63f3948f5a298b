/* The part common to all topologies, and the interface of a topology. Private to this module. */
#ifndef SLUICE_NOC_NETWORK_H
#define SLUICE_NOC_NETWORK_H

#include "noc/noc.h"
#include "sim/clock.h"

/* Counters of a whole network. Those of its routers are in fabric.h. */
#define NETWORK_STATS(S) \
    S(SUM, packets_injected, "packets", "packets that left their injection queue") \
    S(SUM, packets_ejected, "packets", "packets delivered to their destination") \
    S(SUM, flits_injected, "flits", "flits sent over injection links") \
    S(SUM, flits_ejected, "flits", "flits that arrived at their destination") \
    S(SUM, flit_hops, "flits", "flits that left a router through its switch, summed over routers") \
    S(SUM, packet_cycles, "network cycles", \
      "packet latency from leaving the injection queue to the arrival of the last flit, summed over packets") \
    S(SUM, ejection_stalls, "packets", "packets whose head flit arrived at a full ejection queue")
STATS_STRUCT(network_stats, NETWORK_STATS);

struct network {
    const struct topology *topology;
    const struct noc_config *config;
    enum network_direction direction;
    struct network_shape shape;
    unsigned sources, destinations;
    struct port *input, *output; /* [sources], [destinations] */
    struct engine *engine;
    unsigned id;        /* component number */
    struct waker waker; /* of the component */
    struct clock clock;
    void *state; /* of the topology */
    bool bypassed;
    struct port *commands; /* from the control plane; NULL: none */
    struct network_stats stats;
};

/* A topology connects sources to destinations.
 *   1. `build` is called once, when ports and clock are ready; it rejects a shape with config_error.
 *   2. `component` is ticked with the network as self.
 *   3. `conserved` and `unloaded_cycles` (zero-load latency) are as in noc.h, the latter in network cycles without ports.
 *   4. `plan` returns the plan of its fabric; NULL if it is not built as one.
 *   5. A topology whose routers can be bypassed has the four functions for that, the others have none of them.
 *      `set_bypass` is called for a drained network whose shape passes `can_bypass`, and only to change the mode.
 *      Nothing moves before core cycle `from`; routers count as powered off from `from` on, as powered on from `now`
 *      on. `freeze` is as in noc.h.
 */
struct fabric_plan;

struct topology {
    struct policy policy;
    const struct component_ops *component;
    bool keeps_order; /* for any number of VCs */
    bool (*build)(struct network *network, const struct config *config, struct stats *stats, struct error *err);
    void (*destroy)(struct network *network);
    bool (*conserved)(const struct network *network, char *text, size_t size);
    uint64_t (*unloaded_cycles)(const struct config *config, const struct network_shape *shape, unsigned flits);
    struct fabric_plan (*plan)(const struct noc_config *noc, enum network_direction direction,
                               const struct network_shape *shape);
    bool (*can_bypass)(const struct network_shape *shape);
    void (*set_bypass)(struct network *network, bool on, uint64_t now, uint64_t from);
    uint64_t (*bypassed_cycles)(const struct config *config, const struct network_shape *shape, unsigned flits);
    void (*freeze)(struct network *network, uint64_t now);
};

/* Powers the MC-routers of a drained network off or on in cycle `now`. Returns the first cycle in which it can be used
 * again; `now` if the mode does not change. */
uint64_t network_set_bypass(struct network *network, bool on, uint64_t now);

/* Executes a command that becomes visible in this cycle. */
void network_take_command(struct network *network, uint64_t now) __attribute__((noinline, cold));
static inline void network_take_commands(struct network *network, uint64_t now) {
    if (UNLIKELY(network->commands != NULL) && UNLIKELY(port_next_visible(network->commands) <= now))
        network_take_command(network, now);
}

static inline unsigned network_destination(const struct network *network, const struct message *message) {
    return network->direction == NETWORK_REQUEST ? message->target : message->source;
}

static inline const char *network_name(const struct network *network) {
    return network->direction == NETWORK_REQUEST ? "request" : "reply";
}

#endif
