/* Zero-load latency: what the description adds up to, to the cycle. */
#include "noc/traffic.h"
#include "test.h"

static uint64_t seen; /* when the only packet of a run was seen by its destination */

static void note(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)traffic, (void)destination;
    seen = now - message->address;
}

/* Cycles from pushing a packet into an idle network until its destination sees it. */
static uint64_t latency(const char *const *settings, enum network_direction direction, struct network_shape shape,
                        unsigned flits, unsigned source, unsigned destination) {
    struct traffic traffic;
    struct error err = {0};
    seen = 0;
    if (!traffic_open(&traffic, settings, direction, shape, flits, &err)) CHECK_TEXT(err.text, "no error");
    traffic.observe = note;
    traffic_packet(&traffic, source, destination, 10);
    engine_run_until(traffic.engine, 1000);
    CHECK_EQ(traffic.packets_out, 1u);
    char text[256] = "";
    if (!network_conserved(traffic.network, text, sizeof text)) CHECK_TEXT(text, "nothing amiss");
    CHECK_EQ(network_unloaded_cycles(traffic.config, &shape, 1400000, flits), seen);
    traffic_close(&traffic);
    return seen;
}

static const struct network_shape machine = {80, 64, 8, 8};

TEST("a full crossbar takes 2 + 5 cycles with one-cycle links, and one more per further flit") {
    const char *const settings[] = {"noc.topology=full", "noc.long_link_cycles=1", NULL};
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 1, 0, 0), 7u);
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 5, 79, 63), 11u);
    CHECK_EQ(latency(settings, NETWORK_REPLY, machine, 1, 63, 79), 7u);
    CHECK_EQ(latency(settings, NETWORK_REPLY, machine, 5, 17, 40), 11u);
}

TEST("a concentrated crossbar takes as long as a full one, a concentrator and a distributor") {
    const char *const settings[] = {"noc.topology=concentrated", "noc.concentration=8", "noc.long_link_cycles=1", NULL};
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 1, 79, 63), 7u + 2);
    CHECK_EQ(latency(settings, NETWORK_REPLY, machine, 5, 9, 70), 11u + 2);
    const char *const slow[] = {"noc.topology=concentrated", "noc.concentrator_cycles=7", "noc.long_link_cycles=1",
                                NULL};
    CHECK_EQ(latency(slow, NETWORK_REQUEST, machine, 1, 79, 63), 7u + 2 * 7);
    const char *const alone[] = {"noc.topology=concentrated", "noc.concentration=1", "noc.long_link_cycles=1", NULL};
    CHECK_EQ(latency(alone, NETWORK_REQUEST, machine, 1, 79, 63), 7u);
}

TEST("a hierarchical crossbar takes 2 + 2 × 5 cycles with one-cycle links") {
    const char *const settings[] = {"noc.topology=hierarchical", "noc.long_link_cycles=1", NULL};
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 1, 0, 63), 12u);
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 5, 79, 1), 16u);
    CHECK_EQ(latency(settings, NETWORK_REPLY, machine, 1, 63, 0), 12u);
    CHECK_EQ(latency(settings, NETWORK_REPLY, machine, 5, 5, 75), 16u);
    const struct network_shape selective = {64, 64, 16, 4};
    CHECK_EQ(latency(settings, NETWORK_REPLY, selective, 5, 5, 61), 16u);
}

TEST("link length, pipeline depth, lookahead and internal speedup change latency by their parameters") {
    const char *const links[] = {"noc.topology=hierarchical", "noc.link_cycles=3", "noc.long_link_cycles=4", NULL};
    CHECK_EQ(latency(links, NETWORK_REQUEST, machine, 1, 0, 0), 12u + 2 + 2 + 3);
    /* The links between the L1s and a single crossbar are as long as those between two stages, in both directions. */
    const char *const full[] = {"noc.topology=full", "noc.link_cycles=3", "noc.long_link_cycles=4", NULL};
    CHECK_EQ(latency(full, NETWORK_REQUEST, machine, 1, 0, 0), 7u + 3 + 2);
    CHECK_EQ(latency(full, NETWORK_REPLY, machine, 1, 0, 0), 7u + 3 + 2);
    const char *const shared[] = {"noc.topology=concentrated", "noc.long_link_cycles=6", NULL};
    CHECK_EQ(latency(shared, NETWORK_REQUEST, machine, 1, 0, 0), 7u + 5 + 2);
    CHECK_EQ(latency(shared, NETWORK_REPLY, machine, 1, 0, 0), 7u + 5 + 2);
#define SHORT_LINKS "noc.topology=full", "noc.long_link_cycles=1"
    const char *const deep[] = {SHORT_LINKS, "noc.stages=6", NULL};
    CHECK_EQ(latency(deep, NETWORK_REQUEST, machine, 1, 0, 0), 9u);
    const char *const lookahead[] = {SHORT_LINKS, "noc.lookahead=true", NULL};
    CHECK_EQ(latency(lookahead, NETWORK_REQUEST, machine, 5, 0, 0), 10u);
    const char *const fast[] = {SHORT_LINKS, "noc.internal_speedup=2", NULL};
    CHECK_EQ(latency(fast, NETWORK_REQUEST, machine, 1, 0, 0), 5u);
    const char *const fast_deep[] = {SHORT_LINKS, "noc.internal_speedup=2", "noc.stages=7", NULL};
    CHECK_EQ(latency(fast_deep, NETWORK_REQUEST, machine, 1, 0, 0), 7u);
    const char *const fast_vcs[] = {SHORT_LINKS, "noc.internal_speedup=2", "noc.vcs=4", NULL};
    CHECK_EQ(latency(fast_vcs, NETWORK_REQUEST, machine, 5, 0, 0), 9u);
    const char *const fast_lookahead[] = {SHORT_LINKS, "noc.internal_speedup=2", "noc.lookahead=true", NULL};
    CHECK_EQ(latency(fast_lookahead, NETWORK_REQUEST, machine, 1, 0, 0), 5u);
}

TEST("VCs, buffers and iterations do not change the zero-load latency") {
    const char *const settings[] = {SHORT_LINKS,        "noc.vcs=3",           "noc.vc_flits=20",
                                    "noc.iterations=4", "noc.input_speedup=2", NULL};
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 5, 3, 9), 11u);
}

TEST("a buffer smaller than the credit loop adds cycles to a packet") {
    /* Two places, and a credit comes back six cycles after the flit left: two flits in six cycles. */
    const char *const settings[] = {SHORT_LINKS, "noc.vc_flits=2", NULL};
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, machine, 5, &err));
    traffic.observe = note;
    traffic_packet(&traffic, 0, 0, 0);
    engine_run_until(traffic.engine, 1000);
    CHECK_EQ(traffic.packets_out, 1u);
    CHECK_EQ(seen, 7u + 2 * 6);
    traffic_close(&traffic);
}

TEST("the ideal network takes its latency plus serialisation") {
    const char *const settings[] = {"noc.topology=ideal", "noc.ideal.latency_cycles=20", NULL};
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 1, 0, 0), 22u);
    CHECK_EQ(latency(settings, NETWORK_REPLY, machine, 5, 63, 79), 26u);
}

TEST("additional cycles of MC-routers delay requests and not replies") {
    const char *const settings[] = {"noc.topology=hierarchical", "noc.mc_router_cycles=3", NULL}, *const none[] = {
                                                                                                      settings[0],
                                                                                                      NULL};
    CHECK_EQ(latency(settings, NETWORK_REQUEST, machine, 1, 0, 0),
             3 + latency(none, NETWORK_REQUEST, machine, 1, 0, 0));
    struct traffic traffic;
    struct error err = {0};
    uint64_t before = latency(none, NETWORK_REPLY, machine, 5, 63, 79);
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REPLY, machine, 5, &err));
    traffic.observe = note;
    traffic_packet(&traffic, 63, 79, 10);
    engine_run_until(traffic.engine, 1000);
    CHECK_EQ(seen, before);
    traffic_close(&traffic);
}

TEST("a slower network clock increases the latency in core cycles") {
    const char *const settings[] = {SHORT_LINKS, "noc.clock_mhz=700", NULL};
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, machine, 1, &err));
    traffic.observe = note;
    traffic_packet(&traffic, 0, 0, 9); /* can be seen in core cycle 10, when a network cycle begins */
    engine_run_until(traffic.engine, 1000);
    CHECK_EQ(seen, 2u + 2 * 5);
    CHECK_EQ(network_unloaded_cycles(traffic.config, &machine, 1400000, 1), 12u);
    traffic_close(&traffic);
}
