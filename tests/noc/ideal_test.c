/* The ideal network: a fixed latency, and links at both ends that carry one flit per cycle. */
#include "noc/traffic.h"
#include "test.h"

enum { PACKETS = 4, FLITS = 5, LATENCY = 20 };

static struct {
    uint64_t at[PACKETS];
    unsigned count;
} arrivals;

static void note(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)traffic, (void)destination, (void)message;
    if (arrivals.count < PACKETS) arrivals.at[arrivals.count++] = now;
}

static void open_ideal(struct traffic *traffic, const char *ejection) {
    static const struct network_shape shape = {4, 4, 1, 1};
    const char *const settings[] = {"noc.topology=ideal", "noc.ideal.latency_cycles=20", ejection, NULL};
    struct error err = {0};
    REQUIRE(traffic_open(traffic, settings, NETWORK_REQUEST, shape, FLITS, &err));
    traffic->observe = note;
    arrivals.count = 0;
}

TEST("ideal: the packets of one source follow each other at one flit per cycle, wherever they go") {
    struct traffic traffic;
    open_ideal(&traffic, "noc.ejection_packets=8");
    for (unsigned i = 0; i < PACKETS; i++) traffic_packet(&traffic, 2, i, 0);
    engine_run_until(traffic.engine, 200);
    REQUIRE(arrivals.count == PACKETS);
    for (unsigned i = 0; i < PACKETS; i++) CHECK_EQ(arrivals.at[i], 2u + LATENCY + FLITS - 1 + i * FLITS);
    traffic_close(&traffic);
}

TEST("ideal: packets of several sources enter one destination at one flit per cycle") {
    struct traffic traffic;
    open_ideal(&traffic, "noc.ejection_packets=8");
    for (unsigned i = 0; i < PACKETS; i++) traffic_packet(&traffic, i, 3, 0);
    engine_run_until(traffic.engine, 200);
    REQUIRE(arrivals.count == PACKETS);
    for (unsigned i = 0; i < PACKETS; i++) CHECK_EQ(arrivals.at[i], 2u + LATENCY + FLITS - 1 + i * FLITS);
    traffic_close(&traffic);
}

TEST("ideal: packets of different sources for different destinations do not delay each other") {
    struct traffic traffic;
    open_ideal(&traffic, "noc.ejection_packets=8");
    for (unsigned i = 0; i < PACKETS; i++) traffic_packet(&traffic, i, PACKETS - 1 - i, 0);
    engine_run_until(traffic.engine, 200);
    REQUIRE(arrivals.count == PACKETS);
    for (unsigned i = 0; i < PACKETS; i++) CHECK_EQ(arrivals.at[i], 2u + LATENCY + FLITS - 1);
    traffic_close(&traffic);
}

TEST("ideal: the time that a packet waits for its destination is not that of the network") {
    struct traffic traffic;
    open_ideal(&traffic, "noc.ejection_packets=1");
    traffic.take_every = 400;
    for (unsigned i = 0; i < 2; i++) traffic_packet(&traffic, i, 0, 10);
    engine_run_until(traffic.engine, 1000);
    engine_settle(traffic.engine, 1000);
    CHECK_EQ(arrivals.count, 2u);
    /* The second packet's flits follow the first's. */
    CHECK_EQ(stats_get(traffic.stats, "noc.request.packet_cycles", NULL), 2u * (LATENCY + FLITS - 1) + FLITS);
    traffic_close(&traffic);
}
