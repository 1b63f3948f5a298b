/* L1s of several groups of SMs, one node per group, or of one group with up to four nodes. The test acts as the SMs, the network and the LLC.
 *
 *     struct groups_fixture *groups = groups_fixture_create(SETTINGS("l1.organisation=icc-agc"));
 *     read_by(groups, 0, 0x1000);               an SM of group 0
 *     finish(groups);                           runs until everything is answered
 *     CHECK_EQ(count_of_node(groups, "l1.fills", 0), 1u);
 *     groups_fixture_destroy(groups);
 */
#ifndef SLUICE_TESTS_L1_GROUPS_FIXTURE_H
#define SLUICE_TESTS_L1_GROUPS_FIXTURE_H

#include "fixture.h"
#include "sim/gpu_config.h"

enum { GROUPS = 4, GROUP_SMS = 4, SMS = GROUPS * GROUP_SMS, LLC_QUEUE = 512, LLC_LOG = 256 };

struct groups_fixture {
    struct fixture base;
    struct l1 *l1;
    unsigned sm_component[SMS], network;
    struct port to_network[GROUPS], from_network[GROUPS], commands[GROUPS], reports[GROUPS];
    uint64_t now, llc_cycles;      /* latency of the LLC; NEVER: the test answers with llc_answer() */
    struct message asked[LLC_LOG]; /* requests that reached the LLC, the latest LLC_LOG */
    unsigned asked_count, outstanding, nodes;
    bool blocked; /* the network accepts no request */
    bool deaf;    /* the SMs accept no completion */
};

static inline void connect_node(struct groups_fixture *groups, unsigned node) {
    struct engine *engine = groups->base.engine;
    unsigned component = groups->l1->ops->endpoint_component(groups->l1, node), network = groups->network;
    port_init(&groups->to_network[node], engine, "to network", component, network, 4, 1);
    port_init(&groups->from_network[node], engine, "from network", network, component, LLC_QUEUE, 1);
    port_init(&groups->commands[node], engine, "commands", network, component, 2, 1);
    port_init(&groups->reports[node], engine, "reports", component, network, 2, 1);
    groups->l1->ops->connect(groups->l1, node,
                             &(struct l1_ports){&groups->to_network[node], &groups->from_network[node], NULL});
    groups->l1->ops->connect_control(groups->l1, node, &groups->commands[node], &groups->reports[node]);
}

static inline struct groups_fixture *groups_fixture_create(const char *const *settings) {
    struct groups_fixture *groups = mem_alloc(1, sizeof *groups);
    fixture_init(&groups->base,
                 SETTINGS("sm.count=16", "gpu.clusters=4", "group.nodes=1", "llc.slices_per_mc=1", "dram.mcs=1",
                          "noc.topology=full", "dram.mapping=linear"),
                 settings);
    for (unsigned sm = 0; sm < SMS; sm++) groups->sm_component[sm] = add_neighbour(groups->base.engine, sm);
    groups->network = add_neighbour(groups->base.engine, 0);
    groups->llc_cycles = 100;
    const struct gpu_config *gpu = config_get(groups->base.config, &gpu_section);
    groups->l1 = fixture_create_l1(
        &groups->base,
        (struct l1_context){.sms = SMS, .clusters = (unsigned)gpu->clusters, .sm_component = groups->sm_component});
    groups->nodes = groups->l1->ops->endpoints(groups->l1);
    REQUIRE(groups->nodes <= GROUPS);
    for (unsigned node = 0; node < groups->nodes; node++) connect_node(groups, node);
    return groups;
}

static inline void groups_fixture_destroy(struct groups_fixture *groups) {
    groups->l1->ops->destroy(groups->l1);
    for (unsigned node = 0; node < groups->nodes; node++) {
        port_release(&groups->to_network[node]);
        port_release(&groups->from_network[node]);
        port_release(&groups->commands[node]);
        port_release(&groups->reports[node]);
    }
    fixture_release(&groups->base);
    free(groups);
}

/* Sends the LLC's answer to a request, which the node sees `cycles` later. */
static inline void llc_answer(struct groups_fixture *groups, struct message request, uint64_t cycles) {
    request.kind = request.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    port_push_late(&groups->from_network[request.source], groups->now, cycles - 1, &request, sizeof request);
}

/* One cycle: completions, the LLC, then the components. */
static inline void step(struct groups_fixture *groups) {
    uint32_t token[L1_COMPLETIONS];
    for (unsigned sm = 0; sm < SMS && !groups->deaf; sm++)
        groups->outstanding -= groups->l1->ops->tick(groups->l1, sm, groups->now, token);
    for (unsigned node = 0; node < groups->nodes && !groups->blocked; node++)
        while (port_peek(&groups->to_network[node], groups->now)) {
            struct message request = *(const struct message *)port_take(&groups->to_network[node], groups->now);
            groups->asked[groups->asked_count++ % LLC_LOG] = request;
            if (groups->llc_cycles != NEVER) llc_answer(groups, request, groups->llc_cycles);
        }
    run_cycle(groups->base.engine);
    groups->now++;
}

static inline void steps(struct groups_fixture *groups, unsigned count) {
    for (unsigned i = 0; i < count; i++) step(groups);
}

/* Runs until every access is answered, and then until nothing moves between groups. */
static inline void finish(struct groups_fixture *groups) {
    for (unsigned i = 0; i < 2000 && groups->outstanding; i++) step(groups);
    REQUIRE(groups->outstanding == 0);
    steps(groups, 50);
}

static inline bool access_by_sm(struct groups_fixture *groups, unsigned sm, struct l1_request request) {
    request.sectors = 0x0F;
    request.conflicts = 1;
    bool accepted = groups->l1->ops->access(groups->l1, sm, &request, groups->now) < L1_ACCEPTED;
    groups->outstanding += accepted;
    return accepted;
}

static inline bool request_by(struct groups_fixture *groups, unsigned sm, uint64_t address, enum message_kind kind) {
    return access_by_sm(groups, sm, (struct l1_request){.address = address, .kind = (uint8_t)kind});
}
static inline void read_by(struct groups_fixture *groups, unsigned group, uint64_t address) {
    REQUIRE(request_by(groups, group * GROUP_SMS, address, MESSAGE_READ));
}
static inline void write_by(struct groups_fixture *groups, unsigned group, uint64_t address) {
    REQUIRE(request_by(groups, group * GROUP_SMS, address, MESSAGE_WRITE));
}

static inline uint64_t count_of_node(const struct groups_fixture *groups, const char *name, unsigned node) {
    int index = stats_find(groups->base.stats, name);
    REQUIRE(index >= 0);
    return stats_instance(groups->base.stats, (unsigned)index, node);
}

#endif
