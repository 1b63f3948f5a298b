/* The full crossbar: one router with a dedicated port for each source and each destination (ISCA 2019, section 3). */
#include "noc/fabric.h"

static unsigned full_route(const struct fabric_plan *plan, unsigned stage, unsigned destination) {
    (void)plan, (void)stage;
    return destination;
}

static struct fabric_plan full_plan(const struct noc_config *noc, enum network_direction direction,
                                    const struct network_shape *shape) {
    (void)noc;
    bool request = direction == NETWORK_REQUEST;
    unsigned sources = request ? shape->l1_endpoints : shape->slices,
             destinations = request ? shape->slices : shape->l1_endpoints;
    return (struct fabric_plan){
        .direction = direction,
        .stages = 1,
        .stage = {{router_tables[direction], 1, sources, destinations}},
        .concentration = 1,
        .route = full_route,
    };
}

static bool full_build(struct network *network, const struct config *config, struct stats *stats, struct error *err) {
    (void)config, (void)err;
    struct fabric_plan plan = full_plan(network->config, network->direction, &network->shape);
    return fabric_build(network, &plan, stats);
}

static uint64_t full_unloaded_cycles(const struct config *config, const struct network_shape *shape, unsigned flits) {
    const struct noc_config *noc = config_get(config, &noc_section);
    struct fabric_plan plan = full_plan(noc, NETWORK_REQUEST, shape);
    return fabric_unloaded_cycles(noc, &plan, NO_STAGE, flits);
}

const struct topology topology_full = {
    .policy = {"full", "one crossbar with a port for each source and destination", NULL},
    .component = &fabric_component,
    .build = full_build,
    .destroy = fabric_destroy,
    .conserved = fabric_conserved,
    .unloaded_cycles = full_unloaded_cycles,
    .plan = full_plan,
};
