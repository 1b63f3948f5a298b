/* Common to all networks: parameters, ports on both sides, choice of topology. */
#include "noc/noc.h"

#include <stdlib.h>

#include "noc/fabric.h"
#include "noc/network.h"

#define TOPOLOGY(name) extern const struct topology topology_##name;
#include "noc/topologies.def"
#undef TOPOLOGY

static const struct policy *const members[] = {
#define TOPOLOGY(name) &topology_##name.policy,
#include "noc/topologies.def"
#undef TOPOLOGY
};

const struct family topology_family = {"topology", members, COUNT_OF(members)};

static const struct param params[] = {
    P_CHOICE(struct noc_config, topology, topology_family, "hierarchical",
             "topology of the request and reply networks"),
    P_INT(struct noc_config, channel_bytes, 32, 4, 256, "B", "channel width, that is, flit size"),
    P_INT(struct noc_config, clock_mhz, 0, 0, 10000, "MHz", "clock of both networks; 0: core clock"),
    P_INT(struct noc_config, vcs, 1, 1, NOC_MAX_VCS, "", "virtual channels per physical channel"),
    P_INT(struct noc_config, vc_flits, 8, 1, NOC_MAX_VC_FLITS, "flits", "input buffer depth per virtual channel"),
    P_INT(
        struct noc_config, vc_bytes, 0, 0, 256 * NOC_MAX_VC_FLITS, "B",
        "input buffer size per virtual channel, instead of vc_flits, which follows from it and channel_bytes; 0: unused"),
    P_INT(
        struct noc_config, stages, 4, 4, 8, "cycles",
        "router pipeline depth: routing, VC allocation, switch allocation, traversal; depths above 4 lengthen traversal"),
    P_INT(struct noc_config, mc_router_cycles, 0, 0, 32, "cycles",
          "hierarchical: extra latency of a request in an MC-router, for a slower choice of the slice"),
    P_BOOL(struct noc_config, lookahead, false,
           "lookahead routing: the route is computed one router ahead, without a routing stage"),
    P_INT(struct noc_config, internal_speedup, 1, 1, 2, "",
          "router pipeline steps per cycle; a link still carries one flit per cycle"),
    P_INT(struct noc_config, input_speedup, 1, 1, 2, "",
          "crossbar inputs per input port, among which its VCs are divided"),
    P_INT(struct noc_config, iterations, 1, 1, 16, "", "iSLIP iterations per VC and switch allocation"),
    P_INT(struct noc_config, link_cycles, 1, 1, 32, "cycles", "latency of a short link, of energy.link_mm"),
    P_INT(
        struct noc_config, long_link_cycles, 2, 1, 32, "cycles",
        "latency of a link across the chip, of energy.long_link_mm: between the stages of a hierarchical crossbar, or between SMs and another crossbar"),
    P_INT(struct noc_config, credit_cycles, 1, 0, 32, "cycles",
          "credit processing in a router, after the credit's return over the link"),
    P_INT(struct noc_config, injection_packets, 4, 1, 256, "packets", "injection queue depth per source"),
    P_INT(struct noc_config, ejection_packets, 8, 1, 256, "packets", "ejection queue depth per destination"),
    P_INT(struct noc_config, concentration, 2, 1, 64, "endpoints",
          "concentrated: sources that share a router's input, destinations that share an output"),
    P_INT(struct noc_config, concentrator_cycles, 1, 0, 32, "cycles",
          "concentrated: latency of a concentrator and of a distributor, including the links to their endpoints"),
    P_BOOL(struct noc_config, bypass, false,
           "hierarchical: power off and bypass the MC-routers; a cluster then reaches only its own slices"),
    P_INT(struct noc_config, gating_cycles, 30, 0, 1000000, "cycles", "time to power MC-routers off or on"),
};

static const struct topology *topology_of(const struct noc_config *noc) {
    return (const struct topology *)noc->topology;
}

static bool bytes_agree(const struct noc_config *noc) {
    return !noc->vc_bytes || noc->vc_bytes == noc->vc_flits * noc->channel_bytes;
}

/* A buffer given in bytes keeps its size when the channel width changes. */
static void derive(struct config *config) {
    const struct noc_config *noc = config_get(config, &noc_section);
    if (bytes_agree(noc)) return;
    int64_t flits = noc->vc_bytes / noc->channel_bytes;
    if (config_is_newer(config, "noc.vc_flits", "noc.vc_bytes"))
        config_derive(config, "noc.vc_bytes", "noc.vc_flits", 0);
    else if ((config_is_newer(config, "noc.vc_bytes", "noc.vc_flits") ||
              config_is_newer(config, "noc.channel_bytes", "noc.vc_flits")) &&
             flits * noc->channel_bytes == noc->vc_bytes && flits <= NOC_MAX_VC_FLITS)
        config_derive(config, "noc.vc_flits", "noc.vc_bytes", flits);
}

static bool check_buffers(const struct config *config, struct error *err) {
    const struct noc_config *noc = config_get(config, &noc_section);
    long long bytes = noc->vc_bytes, width = noc->channel_bytes, flits = noc->vc_flits;
    if (bytes_agree(noc)) return true;
    if (bytes % width)
        return config_error(config, "noc.vc_bytes", err, "%lld B are not a whole number of flits of %lld B%s", bytes,
                            width, " (noc.channel_bytes)");
    if (bytes / width > NOC_MAX_VC_FLITS)
        return config_error(config, "noc.vc_bytes", err, "%lld B are %lld flits of %lld B; at most %d are supported",
                            bytes, bytes / width, width, NOC_MAX_VC_FLITS);
    return config_error(config, "noc.vc_bytes", err,
                        "%lld B are not noc.vc_flits x noc.channel_bytes = %lld x %lld = %lld B; set only one of "
                        "noc.vc_bytes and noc.vc_flits",
                        bytes, flits, width, flits * width);
}

static bool check(const struct config *config, struct error *err) {
    const struct noc_config *noc = config_get(config, &noc_section);
    if (!check_buffers(config, err)) return false;
    if (!noc->bypass || topology_of(noc)->can_bypass) return true;
    return config_error(config, "noc.bypass", err,
                        "topology %s has no MC-routers to bypass; set noc.topology=hierarchical",
                        topology_of(noc)->policy.name);
}

const struct section noc_section = {
    .path = "noc",
    .help = "the request and reply networks between L1s and LLC slices",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct noc_config),
    .check = check,
    .derive = derive,
};

STATS_TABLE(noc_request_table, "noc.request", network_stats, NETWORK_STATS);
STATS_TABLE(noc_reply_table, "noc.reply", network_stats, NETWORK_STATS);

static void add_ports(struct network *network, const struct network_peers *peers) {
    bool request = network->direction == NETWORK_REQUEST;
    const unsigned *sources = request ? peers->l1_component : peers->slice_component;
    const unsigned *destinations = request ? peers->slice_component : peers->l1_component;
    char name[40];
    for (unsigned i = 0; i < network->sources; i++) {
        snprintf(name, sizeof name, "noc.%s.in%u", network_name(network), i);
        port_init(&network->input[i], network->engine, name, sources[i], network->id,
                  (unsigned)network->config->injection_packets, 1);
    }
    for (unsigned i = 0; i < network->destinations; i++) {
        snprintf(name, sizeof name, "noc.%s.out%u", network_name(network), i);
        port_init(&network->output[i], network->engine, name, network->id, destinations[i],
                  (unsigned)network->config->ejection_packets, 1);
    }
}

/* Bypassed from the first cycle on: no gating time applies. */
static bool start_bypassed(struct network *network, const struct config *config, struct error *err) {
    const struct network_shape *shape = &network->shape;
    if (!network->config->bypass) return true;
    if (!network_can_bypass(network))
        return config_error(
            config, "noc.bypass", err,
            "a bypassed MC-router needs one slice per cluster, but there are %u slices per memory controller and %u clusters; make them equal",
            shape->slices / shape->mcs, shape->clusters);
    network->topology->set_bypass(network, true, 0, 0);
    network->bypassed = true;
    return true;
}

unsigned noc_routers(const struct config *config, enum network_direction direction, const struct network_shape *shape,
                     struct noc_links *injection, struct router_group group[NOC_ROUTER_GROUPS]) {
    const struct noc_config *noc = config_get(config, &noc_section);
    if (!topology_of(noc)->plan) return 0;
    struct fabric_plan plan = topology_of(noc)->plan(noc, direction, shape);
    unsigned count = 0, share = plan.concentration;
    const struct noc_links stub = {.across = false, .cycles = 1}; /* to an endpoint */
    const struct stage_plan *first = plan.stage, *last = &plan.stage[plan.stages - 1];
    const char *name = (direction == NETWORK_REQUEST ? &noc_request_table : &noc_reply_table)->prefix;
    *injection = share > 1 ? stub : fabric_links(noc, &plan, 0);
    if (share > 1)
        group[count++] = (struct router_group){
            name, CONCENTRATOR, first->routers * first->inputs, share, 1, fabric_links(noc, &plan, 0)};
    for (unsigned i = 0; i < plan.stages; i++) {
        const struct stage_plan *stage = &plan.stage[i];
        group[count++] = (struct router_group){stage->table->prefix, ROUTER,         stage->routers,
                                               stage->inputs,        stage->outputs, fabric_links(noc, &plan, i + 1)};
    }
    if (share > 1)
        group[count++] = (struct router_group){name, DISTRIBUTOR, last->routers * last->outputs, 1, share, stub};
    return count;
}

struct network *network_create(const struct config *config, enum network_direction direction,
                               const struct network_shape *shape, const struct network_peers *peers,
                               struct engine *engine, uint64_t core_khz, struct stats *stats, struct error *err) {
    const struct noc_config *noc = config_get(config, &noc_section);
    bool request = direction == NETWORK_REQUEST;
    struct network *network = mem_alloc(1, sizeof *network);
    *network = (struct network){
        .topology = topology_of(noc),
        .config = noc,
        .direction = direction,
        .shape = *shape,
        .sources = request ? shape->l1_endpoints : shape->slices,
        .destinations = request ? shape->slices : shape->l1_endpoints,
        .engine = engine,
        .clock = clock_of(noc->clock_mhz ? (uint64_t)noc->clock_mhz * 1000 : core_khz, core_khz),
    };
    if (shape->l1_endpoints > NOC_MAX_ENDPOINTS || shape->slices > NOC_MAX_ENDPOINTS) {
        config_error(config, "noc.topology", err,
                     "a network supports at most %d L1 endpoints and as many LLC slices, not %u and %u",
                     NOC_MAX_ENDPOINTS, shape->l1_endpoints, shape->slices);
        free(network);
        return NULL;
    }
    assert(network->sources > 0 && network->destinations > 0);
    network->input = mem_alloc(network->sources, sizeof *network->input);
    network->output = mem_alloc(network->destinations, sizeof *network->output);
    network->id = engine_add(engine, network->topology->component, network, direction);
    network->waker = waker_of(engine, network->id);
    add_ports(network, peers);
    stats_add(stats, request ? &noc_request_table : &noc_reply_table, &network->stats);
    if (!network->topology->build(network, config, stats, err) || !start_bypassed(network, config, err)) {
        network_destroy(network);
        return NULL;
    }
    return network;
}

void network_destroy(struct network *network) {
    if (!network) return;
    network->topology->destroy(network);
    for (unsigned i = 0; i < network->sources; i++) port_release(&network->input[i]);
    for (unsigned i = 0; i < network->destinations; i++) port_release(&network->output[i]);
    free(network->input);
    free(network->output);
    free(network);
}

struct port *network_input(struct network *network, unsigned source) {
    assert(source < network->sources);
    return &network->input[source];
}

struct port *network_output(struct network *network, unsigned destination) {
    assert(destination < network->destinations);
    return &network->output[destination];
}

bool network_keeps_order(const struct config *config) {
    const struct noc_config *noc = config_get(config, &noc_section);
    return noc->vcs == 1 || topology_of(noc)->keeps_order;
}

bool network_conserved(struct network *network, char *text, size_t size) {
    const struct network_stats *stats = &network->stats;
    const struct component_ops *component = network->topology->component;
    if (component->settle) component->settle(network, network->engine->now);
    if (stats->packets_injected != stats->packets_ejected || stats->flits_injected != stats->flits_ejected) {
        snprintf(text, size, "%s network: %llu packets of %llu flits injected, %llu of %llu ejected",
                 network_name(network), (unsigned long long)stats->packets_injected,
                 (unsigned long long)stats->flits_injected, (unsigned long long)stats->packets_ejected,
                 (unsigned long long)stats->flits_ejected);
        return false;
    }
    return network->topology->conserved(network, text, size);
}

bool noc_can_bypass(const struct config *config) {
    return topology_of(config_get(config, &noc_section))->can_bypass != NULL;
}

bool network_can_bypass(const struct network *network) {
    return network->topology->can_bypass && network->topology->can_bypass(&network->shape);
}

static bool drained(struct network *network) {
    char text[160];
    for (unsigned i = 0; i < network->sources; i++)
        if (network->input[i].pushed != network->input[i].popped) return false;
    return network_conserved(network, text, sizeof text);
}

uint64_t network_set_bypass(struct network *network, bool on, uint64_t now) {
    assert(network_can_bypass(network));
    if (on == network->bypassed) return now;
    bool empty = drained(network);
    assert(empty), (void)empty;
    uint64_t from = now + (uint64_t)network->config->gating_cycles;
    network->topology->set_bypass(network, on, now, from);
    network->bypassed = on;
    return from;
}

unsigned network_component(const struct network *network) { return network->id; }

void network_connect_control(struct network *network, struct port *commands) { network->commands = commands; }

void network_take_command(struct network *network, uint64_t now) {
    const struct network_command *command = port_take(network->commands, now);
    network_set_bypass(network, command->bypass, now - network->commands->latency);
}

void network_freeze(struct network *network, uint64_t now) {
    if (network->topology->freeze) network->topology->freeze(network, now);
}

uint64_t network_unloaded_cycles(const struct config *config, const struct network_shape *shape, uint64_t core_khz,
                                 unsigned flits) {
    const struct noc_config *noc = config_get(config, &noc_section);
    const struct topology *topology = topology_of(noc);
    struct clock clock = clock_of(noc->clock_mhz ? (uint64_t)noc->clock_mhz * 1000 : core_khz, core_khz);
    uint64_t cycles = (noc->bypass ? topology->bypassed_cycles : topology->unloaded_cycles)(config, shape, flits);
    return 2 + clock_core_cycle(clock, cycles); /* both ports */
}

uint64_t network_zero_load_cycles(const struct network *network, const struct config *config,
                                  const struct message *message) {
    const struct topology *topology = network->topology;
    unsigned flits = message_flits(message, (unsigned)network->config->channel_bytes);
    uint64_t cycles =
        (network->bypassed ? topology->bypassed_cycles : topology->unloaded_cycles)(config, &network->shape, flits);
    return 2 + clock_core_cycle(network->clock, cycles); /* both ports */
}
