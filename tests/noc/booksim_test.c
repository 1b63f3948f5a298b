/* The networks against BookSim 2: a few of the configurations that bench/noc compares in full (data/reference/booksim),
 * at short length. Latencies are BookSim's at that load; saturation is what the network accepts when every source
 * always has a packet. */
#include "noc/traffic.h"
#include "test.h"

struct case_ {
    const char *settings[6];
    enum network_direction direction;
    struct network_shape shape;
    unsigned flits;
    enum traffic_pattern pattern;
    double load, latency, saturation;
};

static void compare(const struct case_ *c) {
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, c->settings, c->direction, c->shape, c->flits, &err));
    traffic_start(&traffic, c->pattern, c->load);
    traffic_measure(&traffic, 1000, 4000, 10000);
    CHECK_EQ(traffic.delivered, traffic.created);
    CHECK_NEAR(traffic_latency(&traffic), c->latency, 0.10);
    traffic_close(&traffic);

    REQUIRE(traffic_open(&traffic, c->settings, c->direction, c->shape, c->flits, &err));
    traffic_start(&traffic, c->pattern, 1.0);
    traffic_measure(&traffic, 500, 1500, 0);
    CHECK_NEAR(traffic_accepted(&traffic), c->saturation, 0.05);
    traffic_close(&traffic);
}

static const struct network_shape square = {64, 64, 8, 8}, machine = {80, 64, 8, 8};

TEST("a 64 × 64 router with one VC loses as much between packets as BookSim's") {
    compare(&(struct case_){{"noc.topology=full", "noc.long_link_cycles=1"},
                            NETWORK_REQUEST,
                            square,
                            1,
                            TRAFFIC_UNIFORM,
                            0.2,
                            12.11,
                            0.253});
}

TEST("one VC carries one packet at a time: a permutation reaches L / (L + 2)") {
    compare(&(struct case_){{"noc.topology=full", "noc.long_link_cycles=1"},
                            NETWORK_REQUEST,
                            square,
                            5,
                            TRAFFIC_COMPLEMENT,
                            0.5,
                            18.2,
                            5.0 / 7});
    compare(&(struct case_){{"noc.topology=full", "noc.long_link_cycles=1"},
                            NETWORK_REQUEST,
                            square,
                            1,
                            TRAFFIC_COMPLEMENT,
                            0.2,
                            8.5,
                            1.0 / 3});
}

TEST("the H-Xbar's reply network saturates where BookSim's does, with one VC") {
    compare(&(struct case_){{"noc.topology=hierarchical", "noc.long_link_cycles=1"},
                            NETWORK_REPLY,
                            machine,
                            5,
                            TRAFFIC_UNIFORM,
                            0.26,
                            24.19,
                            0.3846});
}

TEST("the H-Xbar's reply network saturates where BookSim's does, with four VCs") {
    compare(&(struct case_){{"noc.topology=hierarchical", "noc.long_link_cycles=1", "noc.vcs=4"},
                            NETWORK_REPLY,
                            machine,
                            5,
                            TRAFFIC_UNIFORM,
                            0.5,
                            31.3,
                            0.6307});
}

TEST("internal speedup gains as much for the H-Xbar as in BookSim") {
    compare(&(struct case_){{"noc.topology=hierarchical", "noc.long_link_cycles=1", "noc.internal_speedup=2"},
                            NETWORK_REPLY,
                            machine,
                            5,
                            TRAFFIC_UNIFORM,
                            0.4,
                            18.69,
                            0.5626});
}

TEST("several iterations of iSLIP gain as much for a four-VC router as in BookSim") {
    compare(&(struct case_){{"noc.topology=full", "noc.long_link_cycles=1", "noc.vcs=4", "noc.iterations=4"},
                            NETWORK_REQUEST,
                            square,
                            5,
                            TRAFFIC_UNIFORM,
                            0.5,
                            20.3,
                            0.7104});
}

TEST("the GTX480 router of GPGPU-Sim 3.2.2 behaves like BookSim's") {
    compare(&(struct case_){{"noc.topology=full", "noc.long_link_cycles=1", "noc.lookahead=true", "noc.input_speedup=2",
                             "noc.credit_cycles=0"},
                            NETWORK_REQUEST,
                            machine,
                            1,
                            TRAFFIC_UNIFORM,
                            0.2,
                            9.21,
                            0.261});
}
