/* The hierarchical crossbar (H-Xbar; ISCA 2019, section 3): one SM-router per cluster and one MC-router per memory
 * controller, with a link between every SM-router and every MC-router. A request passes an SM-router, a long link and
 * an MC-router; a reply takes the reverse path in its own network.
 *
 * With as many slices per controller as clusters, the MC-routers can be bypassed (section 4.1): cluster c then reaches
 * only slice c of each controller, and that slice only the cluster.
 */
#include "noc/fabric.h"

/* Sources and destinations are divided evenly into groups of neighbours. */
static unsigned hierarchical_route(const struct fabric_plan *plan, unsigned stage, unsigned destination) {
    unsigned members = plan->stage[1].outputs;
    return stage == 0 ? destination / members : destination % members;
}

/* Output o of router r is wired to input r of router o. */
static unsigned hierarchical_wire(const struct fabric_plan *plan, unsigned stage, unsigned output) {
    unsigned router = output / plan->stage[stage].outputs, port = output % plan->stage[stage].outputs;
    return port * plan->stage[stage + 1].inputs + router;
}

static struct fabric_plan hierarchical_plan(const struct noc_config *noc, enum network_direction direction,
                                            const struct network_shape *shape) {
    bool request = direction == NETWORK_REQUEST;
    unsigned near = request ? shape->clusters : shape->mcs, far = request ? shape->mcs : shape->clusters;
    unsigned sources = request ? shape->l1_endpoints : shape->slices,
             destinations = request ? shape->slices : shape->l1_endpoints;
    const struct stat_table *sm = sm_router_tables[direction], *mc = mc_router_tables[direction];
    return (struct fabric_plan){
        .direction = direction,
        .stages = 2,
        .stage = {{request ? sm : mc, near, sources / near, far}, {request ? mc : sm, far, near, destinations / far}},
        .added_cycles = {[1] = request ? (unsigned)noc->mc_router_cycles : 0},
        .concentration = 1,
        .route = hierarchical_route,
        .wire = hierarchical_wire,
    };
}

static bool hierarchical_build(struct network *network, const struct config *config, struct stats *stats,
                               struct error *err) {
    const struct network_shape *shape = &network->shape;
    if (shape->l1_endpoints % shape->clusters || shape->slices % shape->mcs)
        return config_error(
            config, "noc.topology", err,
            "hierarchical needs %u L1 endpoints to be divisible by %u clusters and %u slices by %u memory controllers",
            shape->l1_endpoints, shape->clusters, shape->slices, shape->mcs);
    if ((uint64_t)shape->clusters * shape->mcs > UINT16_MAX)
        return config_error(
            config, "noc.topology", err,
            "hierarchical links each of %u SM-routers to each of %u MC-routers, which exceeds the limit",
            shape->clusters, shape->mcs);
    struct fabric_plan plan = hierarchical_plan(network->config, network->direction, shape);
    return fabric_build(network, &plan, stats);
}

static bool hierarchical_can_bypass(const struct network_shape *shape) {
    return shape->slices == shape->mcs * shape->clusters;
}

/* The MC-router is the last stage of a request and the first of a reply. */
static unsigned mc_stage(enum network_direction direction) { return direction == NETWORK_REQUEST ? 1 : 0; }

static void hierarchical_set_bypass(struct network *network, bool on, uint64_t now, uint64_t from) {
    fabric_set_bypass(network, mc_stage(network->direction), on, now, from);
}

static uint64_t unloaded_cycles(const struct config *config, const struct network_shape *shape, unsigned bypassed,
                                unsigned flits) {
    const struct noc_config *noc = config_get(config, &noc_section);
    /* Both directions have the same latency except for noc.mc_router_cycles, which apply to requests. */
    struct fabric_plan plan = hierarchical_plan(noc, NETWORK_REQUEST, shape);
    return fabric_unloaded_cycles(noc, &plan, bypassed, flits);
}

static uint64_t hierarchical_unloaded_cycles(const struct config *config, const struct network_shape *shape,
                                             unsigned flits) {
    return unloaded_cycles(config, shape, NO_STAGE, flits);
}

static uint64_t hierarchical_bypassed_cycles(const struct config *config, const struct network_shape *shape,
                                             unsigned flits) {
    return unloaded_cycles(config, shape, mc_stage(NETWORK_REQUEST), flits);
}

const struct topology topology_hierarchical = {
    .policy = {"hierarchical", "an SM-router for each cluster, an MC-router for each memory controller", NULL},
    .component = &fabric_component,
    .build = hierarchical_build,
    .destroy = fabric_destroy,
    .conserved = fabric_conserved,
    .unloaded_cycles = hierarchical_unloaded_cycles,
    .plan = hierarchical_plan,
    .can_bypass = hierarchical_can_bypass,
    .set_bypass = hierarchical_set_bypass,
    .bypassed_cycles = hierarchical_bypassed_cycles,
    .freeze = fabric_freeze,
};
