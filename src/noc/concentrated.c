/* The concentrated crossbar: sources share the router's inputs, destinations its outputs (ISCA 2019, section 3). A
 * concentrator serves its sources round robin, packet by packet; a distributor delivers each packet to its destination.
 * Each takes noc.concentrator_cycles, in which a flit also passes the link to or from its endpoint, and carries one flit
 * per cycle. The buffers of a concentrator are the injection queues of its sources, and those of a distributor are the
 * buffers behind the last link: a packet without a place at its destination blocks those behind it. */
#include "noc/fabric.h"

static unsigned concentrated_route(const struct fabric_plan *plan, unsigned stage, unsigned destination) {
    (void)stage;
    return destination / plan->concentration;
}

static struct fabric_plan concentrated_plan(const struct noc_config *noc, enum network_direction direction,
                                            const struct network_shape *shape) {
    bool request = direction == NETWORK_REQUEST;
    unsigned sources = request ? shape->l1_endpoints : shape->slices,
             destinations = request ? shape->slices : shape->l1_endpoints;
    unsigned share = (unsigned)noc->concentration;
    return (struct fabric_plan){
        .direction = direction,
        .stages = 1,
        .stage = {{router_tables[direction], 1, sources / share, destinations / share}},
        .concentration = share,
        .route = concentrated_route,
    };
}

static bool concentrated_build(struct network *network, const struct config *config, struct stats *stats,
                               struct error *err) {
    const struct noc_config *noc = network->config;
    unsigned share = (unsigned)noc->concentration;
    if (network->sources % share || network->destinations % share)
        return config_error(config, "noc.concentration", err, "%u must divide both %u L1 endpoints and %u LLC slices",
                            share, network->shape.l1_endpoints, network->shape.slices);
    struct fabric_plan plan = concentrated_plan(noc, network->direction, &network->shape);
    return fabric_build(network, &plan, stats);
}

static uint64_t concentrated_unloaded_cycles(const struct config *config, const struct network_shape *shape,
                                             unsigned flits) {
    const struct noc_config *noc = config_get(config, &noc_section);
    struct fabric_plan plan = concentrated_plan(noc, NETWORK_REQUEST, shape);
    return fabric_unloaded_cycles(noc, &plan, NO_STAGE, flits);
}

const struct topology topology_concentrated = {
    .policy = {"concentrated", "one crossbar whose ports are shared by several endpoints", NULL},
    .component = &fabric_component,
    .build = concentrated_build,
    .destroy = fabric_destroy,
    .conserved = fabric_conserved,
    .unloaded_cycles = concentrated_unloaded_cycles,
    .plan = concentrated_plan,
};
