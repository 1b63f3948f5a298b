/* The fabric as a whole: counters of a blocked network, backlogs of links, and timing after a bypass. */
#include "noc/fabric.h"

#include "noc/traffic.h"
#include "test.h"

TEST("in a blocked network buffer writes are ahead of buffer reads by the flits in the buffers") {
    static const struct network_shape shape = {2, 2, 1, 1};
    const char *const settings[] = {"noc.topology=full", "noc.ejection_packets=2", "noc.vc_flits=8", NULL};
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 3, &err));
    traffic.take_every = 100000;
    for (unsigned i = 0; i < 12; i++) traffic_packet(&traffic, 0, 1, 1);
    engine_run_until(traffic.engine, 500);
    engine_settle(traffic.engine, 500);
    /* Two packets of three flits are at the destination, eight flits before it, and eight in the router. */
    CHECK_EQ(stats_get(traffic.stats, "noc.request.flits_ejected", NULL), 6u);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.router.buffer_reads", NULL), 6u + 8);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.router.buffer_writes", NULL), 6u + 8 + 8);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.flits_injected", NULL), 6u + 8 + 8);
    traffic_close(&traffic);
}

TEST("a link with a backlog of hundreds of flits loses none of them, nor their credits") {
    static const struct network_shape shape = {16, 2, 1, 1};
    const char *const settings[] = {"noc.topology=full",      "noc.vcs=8",           "noc.vc_flits=64",
                                    "noc.internal_speedup=2", "noc.input_speedup=2", NULL};
    struct traffic traffic;
    struct error err = {0};
    char text[256] = "";
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 5, &err));
    for (unsigned source = 0; source < 16; source++)
        for (unsigned i = 0; i < 40; i++) traffic_packet(&traffic, source, 0, 0);
    engine_run_until(traffic.engine, 10000);
    CHECK_EQ(traffic.packets_out, 16u * 40);
    CHECK(network_conserved(traffic.network, text, sizeof text));
    traffic_close(&traffic);
}

static uint64_t seen;

static void note(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)traffic, (void)destination;
    seen = now - message->address;
}

/* The latency of a packet so long that it waits for credits of every buffer on its path. */
static uint64_t latency_in(struct traffic *traffic, uint64_t at) {
    traffic_packet(traffic, 0, 0, at);
    engine_run_until(traffic->engine, at + 500);
    traffic->engine->now = at + 500;
    return seen;
}

TEST("after a bypass and back a network has the timing that it had before") {
    static const struct network_shape shape = {12, 8, 4, 2};
    for (enum network_direction direction = NETWORK_REQUEST; direction <= NETWORK_REPLY; direction++) {
        const char *const settings[] = {"noc.topology=hierarchical", "noc.vc_flits=2", "noc.credit_cycles=3",
                                        "noc.gating_cycles=0", NULL};
        struct traffic traffic;
        struct error err = {0};
        REQUIRE(traffic_open(&traffic, settings, direction, shape, 9, &err));
        traffic.observe = note;
        uint64_t before = latency_in(&traffic, 0);
        network_set_bypass(traffic.network, true, 500);
        uint64_t bypassed = latency_in(&traffic, 600);
        network_set_bypass(traffic.network, false, 1100);
        CHECK_EQ(latency_in(&traffic, 1200), before);
        network_set_bypass(traffic.network, true, 1700);
        CHECK_EQ(latency_in(&traffic, 1800), bypassed);
        CHECK_EQ(traffic.packets_out, 4u);
        traffic_close(&traffic);
    }
}

TEST("a network with a packet in flight is not conserved, and says what has entered and left") {
    static const struct network_shape shape = {2, 2, 1, 1};
    const char *const settings[] = {"noc.topology=full", NULL};
    struct traffic traffic;
    struct error err = {0};
    char text[256] = "";
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REPLY, shape, 3, &err));
    traffic_packet(&traffic, 0, 1, 1);
    traffic_packet(&traffic, 1, 0, 1);
    engine_run_until(traffic.engine, 5);
    CHECK(!network_conserved(traffic.network, text, sizeof text));
    CHECK_TEXT(text, "reply network: 2 packets of 6 flits injected, 0 of 0 ejected");
    engine_run_until(traffic.engine, 100);
    traffic.engine->now = 100; /* credits may return without a tick */
    CHECK(network_conserved(traffic.network, text, sizeof text));
    traffic.network->stats.packets_injected++; /* a lost packet */
    CHECK(!network_conserved(traffic.network, text, sizeof text));
    CHECK_TEXT(text, "reply network: 3 packets of 6 flits injected, 2 of 6 ejected");
    traffic_close(&traffic);
}

TEST("the router stages of a network are listed from its sources on, with ports and links") {
    static const struct network_shape shape = {12, 8, 4, 2};
    const char *const settings[] = {"noc.topology=hierarchical", "noc.link_cycles=1", "noc.long_link_cycles=3", NULL};
    struct traffic traffic;
    struct error err = {0};
    struct router_group group[NOC_ROUTER_GROUPS];
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 1, &err));
    struct noc_links injection;
    CHECK_EQ(noc_routers(traffic.config, NETWORK_REQUEST, &shape, &injection, group), 2u);
    CHECK_EQ(injection.across, false);
    CHECK_EQ(injection.cycles, 1u);
    CHECK_EQ(group[0].name, "noc.request.sm_router"); /* one per cluster: its L1s to all controllers */
    CHECK_EQ(group[0].routers, 4u);
    CHECK_EQ(group[0].inputs, 3u);
    CHECK_EQ(group[0].outputs, 2u);
    CHECK_EQ(group[0].links.across, true);
    CHECK_EQ(group[0].links.cycles, 3u);
    CHECK_EQ(group[1].name, "noc.request.mc_router"); /* one per controller: all clusters to its slices */
    CHECK_EQ(group[1].routers, 2u);
    CHECK_EQ(group[1].inputs, 4u);
    CHECK_EQ(group[1].outputs, 4u);
    CHECK_EQ(group[1].links.across, false);
    CHECK_EQ(group[1].links.cycles, 1u);
    traffic_close(&traffic);
}

TEST("a concentrated crossbar has concentrators and distributors, with short links to their endpoints") {
    static const struct network_shape shape = {12, 8, 4, 2};
    const char *const settings[] = {"noc.topology=concentrated", "noc.concentration=4", "noc.long_link_cycles=3", NULL};
    struct traffic traffic;
    struct error err = {0};
    struct router_group group[NOC_ROUTER_GROUPS];
    struct noc_links injection;
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 1, &err));
    CHECK_EQ(noc_routers(traffic.config, NETWORK_REQUEST, &shape, &injection, group), 3u);
    static const struct {
        enum router_kind kind;
        unsigned routers, inputs, outputs, link_cycles;
    } expected[] = {{CONCENTRATOR, 3, 4, 1, 3}, {ROUTER, 1, 3, 2, 1}, {DISTRIBUTOR, 2, 1, 4, 1}};
    CHECK_EQ(injection.across, false);
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        CHECK_EQ(group[i].kind, expected[i].kind);
        CHECK_EQ(group[i].routers, expected[i].routers);
        CHECK_EQ(group[i].inputs, expected[i].inputs);
        CHECK_EQ(group[i].outputs, expected[i].outputs);
        CHECK_EQ(group[i].links.cycles, expected[i].link_cycles);
        CHECK_EQ(group[i].links.across, i == 0);
    }
    traffic_close(&traffic);
}

TEST("the links between L1s and a single crossbar cross the chip, those of the slices do not") {
    static const struct network_shape shape = {12, 8, 4, 2};
    static const char *const topologies[] = {"noc.topology=full", "noc.topology=concentrated"};
    for (unsigned t = 0; t < COUNT_OF(topologies); t++)
        for (unsigned direction = 0; direction < 2; direction++) {
            const char *const settings[] = {topologies[t], "noc.link_cycles=1", "noc.long_link_cycles=3",
                                            "noc.concentration=1", NULL};
            struct traffic traffic;
            struct error err = {0};
            struct router_group group[NOC_ROUTER_GROUPS];
            struct noc_links injection;
            bool request = direction == NETWORK_REQUEST;
            REQUIRE(traffic_open(&traffic, settings, direction, shape, 1, &err));
            CHECK_EQ(noc_routers(traffic.config, direction, &shape, &injection, group), 1u);
            CHECK_EQ(injection.across, request);
            CHECK_EQ(injection.cycles, request ? 3u : 1u);
            CHECK_EQ(group[0].links.across, !request);
            CHECK_EQ(group[0].links.cycles, request ? 1u : 3u);
            traffic_close(&traffic);
        }
}
