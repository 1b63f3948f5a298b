/* Ejection: packets that wait in several VCs for a place at their destination. */
#include "noc/traffic.h"
#include "test.h"

enum { SOURCES = 4 };

/* How far behind later packets of its source a packet has arrived, at most. */
struct overtaking {
    uint32_t newest[SOURCES];
    uint32_t most;
};

static void watch_order(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)destination, (void)now;
    struct overtaking *overtaking = traffic->observer;
    uint32_t *newest = &overtaking->newest[message->source];
    if (message->tag > *newest) *newest = message->tag;
    if (*newest - message->tag > overtaking->most) overtaking->most = *newest - message->tag;
}

static struct overtaking run_blocked(const char *vcs, const char *topology, unsigned flits, unsigned take_every) {
    struct network_shape shape = {.l1_endpoints = SOURCES, .slices = 2, .clusters = 2, .mcs = 2};
    struct overtaking overtaking = {0};
    struct traffic traffic;
    struct error err = {0};
    const char *const settings[] = {vcs, topology, "noc.concentration=2", NULL};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, flits, &err));
    traffic.observe = watch_order;
    traffic.observer = &overtaking;
    traffic.take_every = take_every;
    traffic_start(&traffic, TRAFFIC_UNIFORM, 1);
    engine_run_until(traffic.engine, 20000);
    CHECK(traffic.packets_out > 1000);
    traffic_close(&traffic);
    return overtaking;
}

TEST("packets that wait for a place at their destination leave the VCs in turn: none is overtaken for ever") {
    static const char *const vcs[] = {"noc.vcs=2", "noc.vcs=3", "noc.vcs=4"};
    static const char *const topologies[] = {"noc.topology=full", "noc.topology=concentrated"};
    static const unsigned intervals[] = {7, 5, 7}; /* no multiple of the VCs */
    for (unsigned i = 0; i < COUNT_OF(vcs); i++)
        for (unsigned t = 0; t < COUNT_OF(topologies); t++) {
            CHECK(run_blocked(vcs[i], topologies[t], 1, intervals[i]).most < 100);
            CHECK(run_blocked(vcs[i], topologies[t], 2, intervals[i]).most < 100);
        }
}

TEST(
    "a packet's cycles run from its injection to its last flit, and a head without a place at its destination stalls once") {
    struct network_shape shape = {.l1_endpoints = 2, .slices = 2, .clusters = 1, .mcs = 1};
    struct traffic traffic;
    struct error err = {0};
    const char *const settings[] = {"noc.topology=full", "noc.long_link_cycles=1", "noc.ejection_packets=2", NULL};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 3, &err));
    traffic_packet(&traffic, 0, 1, 10);
    engine_run_until(traffic.engine, 100);
    engine_settle(traffic.engine, 100);
    /* One link, four stages, two flits behind the head; the ports' cycles do not count. */
    CHECK_EQ(stats_get(traffic.stats, "noc.request.packet_cycles", NULL), 1u + 4 + 2);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.ejection_stalls", NULL), 0u);
    /* The destination takes nothing for 300 cycles: two packets fill its queue, and the head of the third is blocked;
     * the flits behind it, and the fourth packet, only wait. */
    traffic.take_every = 1000;
    for (unsigned i = 0; i < 4; i++) traffic_packet(&traffic, 0, 1, 100 + i);
    engine_run_until(traffic.engine, 400);
    engine_settle(traffic.engine, 400);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.packets_ejected", NULL), 3u);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.ejection_stalls", NULL), 1u);
    traffic_close(&traffic);
}

TEST("packets stay in the network while the gate of their destination is closed, and leave when it opens") {
    struct network_shape shape = {.l1_endpoints = 2, .slices = 2, .clusters = 1, .mcs = 1};
    struct traffic traffic;
    struct error err = {0};
    const char *const settings[] = {"noc.topology=full", "noc.ejection_packets=8", NULL};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 3, &err));
    port_gate(network_output(traffic.network, 1), 2);
    traffic.take_every = 1000;
    for (unsigned i = 0; i < 4; i++) traffic_packet(&traffic, 0, 1, 100 + i);
    engine_run_until(traffic.engine, 400);
    engine_settle(traffic.engine, 400);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.packets_ejected", NULL), 2u);
    CHECK(stats_get(traffic.stats, "noc.request.ejection_stalls", NULL) > 0);
    engine_run_until(traffic.engine, 3000);
    engine_settle(traffic.engine, 3000);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.packets_ejected", NULL), 4u);
    traffic_close(&traffic);
}

TEST("an output ejects one flit per cycle, of flits that waited and flits that arrive") {
    struct network_shape shape = {.l1_endpoints = SOURCES, .slices = 1, .clusters = 1, .mcs = 1};
    const char *const settings[] = {"noc.topology=full", "noc.vcs=4", "noc.ejection_packets=4", NULL};
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 2, &err));
    traffic.take_every = 3;
    traffic_start(&traffic, TRAFFIC_UNIFORM, 0.35);
    uint64_t before = 0, most = 0;
    for (uint64_t now = 1; now < 3000; now++) {
        if (now % 500 == 0) traffic.take_every = traffic.take_every ? 0 : 3; /* blocked, then free */
        engine_run_until(traffic.engine, now);
        traffic.engine->now = now;
        uint64_t ejected = stats_get(traffic.stats, "noc.request.flits_ejected", NULL);
        most = max_u64(most, ejected - before);
        before = ejected;
    }
    CHECK_EQ(most, 1u);
    traffic_close(&traffic);
}

TEST("packets leave the VCs in turn also if the interval of the destination is a multiple of the number of VCs") {
    CHECK(run_blocked("noc.vcs=2", "noc.topology=full", 1, 2).most < 100);
    CHECK(run_blocked("noc.vcs=2", "noc.topology=full", 1, 4).most < 100);
    CHECK(run_blocked("noc.vcs=4", "noc.topology=full", 1, 8).most < 100);
}
