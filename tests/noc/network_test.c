/* What every network must hold: nothing is lost, credits come back, order is kept, nobody starves, and when it is
 * ticked makes no difference. */
#include "base/random.h"
#include "noc/traffic.h"
#include "settings.h"
#include "test.h"

static const struct network_shape small = {12, 8, 4, 2};

/* Runs traffic for a while, lets it drain, and checks that everything is back where it was. Returns packets delivered.
 */
static uint64_t run_and_drain(const char *const *settings, enum network_direction direction, unsigned flits,
                              enum traffic_pattern pattern, double rate, uint64_t cycles) {
    struct traffic traffic;
    struct error err = {0};
    if (!traffic_open(&traffic, settings, direction, small, flits, &err)) {
        CHECK_TEXT(err.text, "no error");
        return 0;
    }
    traffic_start(&traffic, pattern, rate);
    traffic.stop = cycles;
    CHECK_EQ((int)engine_run_until(traffic.engine, cycles * 60), (int)ENGINE_QUIET);
    traffic.engine->now = cycles * 60; /* credits may return without a tick */
    char text[256] = "conserved";
    network_conserved(traffic.network, text, sizeof text);
    CHECK_TEXT(text, "conserved");
    const char *in_flight = engine_in_flight(traffic.engine, text, sizeof text);
    if (in_flight) CHECK_TEXT(in_flight, "nothing in flight");
    uint64_t out = traffic.packets_out;
    traffic_close(&traffic);
    return out;
}

TEST("every flit leaves and every credit returns, for every topology, direction and router") {
    static const char *const topologies[] = {"noc.topology=full", "noc.topology=concentrated",
                                             "noc.topology=hierarchical", "noc.topology=ideal"};
    static const char *const routers[][4] = {{NULL},
                                             {"noc.internal_speedup=2", NULL},
                                             {"noc.vcs=4", NULL},
                                             {"noc.vcs=4", "noc.internal_speedup=2", "noc.input_speedup=2", NULL},
                                             {"noc.vcs=3", "noc.iterations=3", "noc.lookahead=true", NULL},
                                             {"noc.internal_speedup=2", "noc.stages=6", "noc.credit_cycles=0", NULL},
                                             {"noc.vc_flits=33", "noc.vcs=2", "noc.long_link_cycles=9", NULL}};
    for (unsigned t = 0; t < COUNT_OF(topologies); t++)
        for (unsigned r = 0; r < COUNT_OF(routers); r++)
            for (unsigned direction = 0; direction < 2; direction++) {
                const char *settings[8] = {topologies[t]};
                for (unsigned i = 0; routers[r][i]; i++) settings[i + 1] = routers[r][i];
                CHECK(run_and_drain(settings, direction, 5, TRAFFIC_UNIFORM, 0.9, 300) > 300);
            }
}

TEST("buffers of one flit and queues of one packet deliver all packets") {
    static const char *const topologies[] = {"noc.topology=full", "noc.topology=concentrated",
                                             "noc.topology=hierarchical"};
    for (unsigned t = 0; t < COUNT_OF(topologies); t++)
        for (unsigned vcs = 1; vcs <= 4; vcs += 3) {
            const char *const settings[] = {topologies[t],
                                            "noc.vc_flits=1",
                                            "noc.injection_packets=1",
                                            "noc.ejection_packets=1",
                                            vcs == 1 ? "noc.vcs=1" : "noc.vcs=4",
                                            NULL};
            CHECK(run_and_drain(settings, NETWORK_REPLY, 5, TRAFFIC_WEIGHTED_HOTSPOT, 1.0, 200) > 20);
        }
}

TEST("packets of 34 flits over a 4-byte channel arrive") {
    const char *const settings[] = {"noc.topology=hierarchical", "noc.vcs=2", NULL};
    CHECK(run_and_drain(settings, NETWORK_REPLY, 34, TRAFFIC_UNIFORM, 0.5, 1000) > 50);
}

TEST("destinations that accept packets only now and then lose no packet and no credit") {
    static const char *const routers[][4] = {{"noc.topology=full", NULL},
                                             {"noc.topology=hierarchical", "noc.vcs=4", NULL},
                                             {"noc.topology=concentrated", "noc.internal_speedup=2", NULL},
                                             {"noc.topology=full", "noc.internal_speedup=2", "noc.vcs=2", NULL},
                                             {"noc.topology=full", "noc.clock_mhz=1600", "noc.vcs=2", NULL}};
    for (unsigned r = 0; r < COUNT_OF(routers); r++)
        for (unsigned every = 2; every <= 13; every += 3)
            for (unsigned flits = 1; flits <= 5; flits += 2) {
                const char *settings[8] = {"noc.ejection_packets=2", "noc.vc_flits=3"};
                for (unsigned i = 0; routers[r][i]; i++) settings[i + 2] = routers[r][i];
                struct traffic traffic;
                struct error err = {0};
                REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, small, flits, &err));
                traffic.take_every = every;
                traffic_start(&traffic, TRAFFIC_UNIFORM, 0.5);
                traffic.stop = 300;
                CHECK_EQ((int)engine_run_until(traffic.engine, 100000), (int)ENGINE_QUIET);
                traffic.engine->now = 100000;
                char text[256] = "conserved";
                network_conserved(traffic.network, text, sizeof text);
                CHECK_TEXT(text, "conserved");
                CHECK_EQ(traffic.packets_out, stats_get(traffic.stats, "noc.request.packets_injected", NULL));
                traffic_close(&traffic);
            }
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

struct order {
    uint32_t next[12][12]; /* [source][destination]: least tag that may come next */
    unsigned wrong;
};

static void check_order(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)now;
    struct order *order = traffic->observer;
    unsigned source = traffic->direction == NETWORK_REQUEST ? message->source : message->target;
    order->wrong += message->tag < order->next[source][destination];
    order->next[source][destination] = message->tag + 1;
}

TEST("with one VC the packets of a source for one destination keep their order") {
    static const char *const topologies[] = {"noc.topology=full", "noc.topology=concentrated",
                                             "noc.topology=hierarchical", "noc.topology=ideal"};
    for (unsigned t = 0; t < COUNT_OF(topologies); t++)
        for (unsigned fast = 0; fast < 2; fast++) {
            const char *const settings[] = {topologies[t], fast ? "noc.internal_speedup=2" : "noc.internal_speedup=1",
                                            NULL};
            struct traffic traffic;
            struct error err = {0};
            struct order order = {0};
            REQUIRE(traffic_open(&traffic, settings, NETWORK_REPLY, small, 3, &err));
            traffic.observe = check_order;
            traffic.observer = &order;
            traffic_start(&traffic, TRAFFIC_UNIFORM, 1.0);
            engine_run_until(traffic.engine, 2000);
            CHECK(traffic.packets_out > 500);
            CHECK_EQ(order.wrong, 0u);
            traffic_close(&traffic);
        }
}

TEST("with several VCs packets overtake each other, except in the ideal network, and the network reports it") {
    static const struct {
        const char *topology;
        bool keeps_order;
    } cases[] = {{"noc.topology=full", false},
                 {"noc.topology=concentrated", false},
                 {"noc.topology=hierarchical", false},
                 {"noc.topology=ideal", true}};
    for (unsigned t = 0; t < COUNT_OF(cases); t++) {
        const char *const settings[] = {cases[t].topology, "noc.vcs=4", NULL};
        struct traffic traffic;
        struct error err = {0};
        struct order order = {0};
        REQUIRE(traffic_open(&traffic, settings, NETWORK_REPLY, small, 3, &err));
        CHECK_EQ(network_keeps_order(traffic.config), cases[t].keeps_order);
        traffic.observe = check_order;
        traffic.observer = &order;
        traffic_start(&traffic, TRAFFIC_UNIFORM, 1.0);
        engine_run_until(traffic.engine, 2000);
        CHECK_EQ(order.wrong == 0, cases[t].keeps_order);
        traffic_close(&traffic);
    }
}

/* ---- fairness --------------------------------------------------------------------------------------------------- */

static void count_sources(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)destination, (void)now;
    ((unsigned *)traffic->observer)[message->source]++;
}

TEST("sources that all send to one destination get equal shares, also behind a concentrator") {
    static const char *const topologies[] = {"noc.topology=full", "noc.topology=concentrated",
                                             "noc.topology=hierarchical"};
    for (unsigned t = 0; t < COUNT_OF(topologies); t++) {
        const char *const settings[] = {topologies[t], "noc.concentration=4", NULL};
        struct traffic traffic;
        struct error err = {0};
        unsigned share[12] = {0};
        REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, small, 1, &err));
        traffic.observe = count_sources;
        traffic.observer = share;
        for (unsigned i = 0; i < 12; i++)
            for (unsigned n = 0; n < 200; n++) traffic_packet(&traffic, i, 3, 0);
        engine_run_until(traffic.engine, 2000);
        CHECK(traffic.packets_out > 500);
        for (unsigned i = 0; i < 12; i++) CHECK_NEAR(share[i], (double)traffic.packets_out / 12, 0.08);
        traffic_close(&traffic);
    }
}

/* ---- a destination that does not take its packets --------------------------------------------------------------- */

TEST("a full destination blocks its own packets and those behind them, and no others") {
    const char *const settings[] = {"noc.topology=full", "noc.ejection_packets=2", "noc.vc_flits=4", NULL};
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, small, 5, &err));
    for (unsigned i = 0; i < 8; i++) traffic_packet(&traffic, i, i < 6 ? 0 : 1, 0);
    traffic.destinations = 0; /* nobody takes them: two fill the queue of the first destination, and four are held up */
    engine_run_until(traffic.engine, 500);
    CHECK_EQ(port_peek(network_output(traffic.network, 1), 500) != NULL, true);
    char text[256];
    CHECK(!network_conserved(traffic.network, text, sizeof text));
    CHECK_EQ(engine_in_flight(traffic.engine, text, sizeof text) != NULL, true);
    traffic.destinations = small.slices;
    engine_wake(traffic.engine, traffic.id, traffic.engine->now);
    engine_run_until(traffic.engine, 5000);
    traffic.engine->now = 5000;
    CHECK_EQ(traffic.packets_out, 8u);
    CHECK(network_conserved(traffic.network, text, sizeof text));
    traffic_close(&traffic);
}

/* ---- ticks ------------------------------------------------------------------------------------------------------ */

/* Counters after a run in which components are polled, shuffled, or neither. */
static void run_for_counters(const char *const *settings, bool poll, uint64_t shuffle, uint64_t *counters,
                             unsigned count) {
    struct traffic traffic;
    struct error err = {0};
    if (!traffic_open(&traffic, settings, NETWORK_REPLY, small, 5, &err)) {
        CHECK_TEXT(err.text, "no error");
        return;
    }
    traffic.engine->poll = poll;
    traffic.engine->shuffle = shuffle;
    traffic_start(&traffic, TRAFFIC_UNIFORM, 0.25);
    traffic.stop = 1000;
    engine_run_until(traffic.engine, 4000);
    engine_settle(traffic.engine, 4000);
    CHECK(stats_count(traffic.stats) < count);
    for (unsigned i = 0; i < stats_count(traffic.stats); i++) counters[i] = stats_total(traffic.stats, i);
    counters[count - 1] = traffic.latency;
    traffic_close(&traffic);
}

TEST("polling every cycle and ticking in random order give the same counters as sleeping") {
    static const char *const settings[][4] = {{"noc.topology=hierarchical", NULL},
                                              {"noc.topology=full", "noc.internal_speedup=2", NULL},
                                              {"noc.topology=concentrated", "noc.vcs=4", NULL},
                                              {"noc.topology=hierarchical", "noc.clock_mhz=900", NULL},
                                              {"noc.topology=hierarchical", "noc.clock_mhz=3000", "noc.vcs=2", NULL},
                                              {"noc.topology=ideal", NULL}};
    for (unsigned s = 0; s < COUNT_OF(settings); s++) {
        uint64_t sleeping[64] = {0}, polled[64] = {0}, shuffled[64] = {0};
        run_for_counters(settings[s], false, 0, sleeping, 64);
        run_for_counters(settings[s], true, 0, polled, 64);
        run_for_counters(settings[s], true, 99, shuffled, 64);
        CHECK(sleeping[0] > 100);
        for (unsigned i = 0; i < 64; i++) {
            if (sleeping[i] != polled[i]) CHECK_EQ(sleeping[i], polled[i]);
            if (sleeping[i] != shuffled[i]) CHECK_EQ(sleeping[i], shuffled[i]);
        }
    }
}

TEST("every flit is written, granted the switch and read once in each router on its path") {
    const char *const settings[] = {"noc.topology=hierarchical", NULL};
    struct traffic traffic;
    struct error err = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, small, 5, &err));
    traffic_start(&traffic, TRAFFIC_UNIFORM, 0.2);
    traffic.stop = 1000;
    engine_run_until(traffic.engine, 3000);
    engine_settle(traffic.engine, 3000);
    uint64_t flits = stats_get(traffic.stats, "noc.request.flits_injected", NULL);
    CHECK(flits > 1000);
    CHECK_EQ(stats_get(traffic.stats, "noc.request.flit_hops", NULL), 2 * flits);
    static const char *const counters[] = {"buffer_writes", "buffer_reads", "switch_allocations", "crossbar_traversals",
                                           "link_traversals"};
    for (unsigned i = 0; i < COUNT_OF(counters); i++) {
        char name[64];
        snprintf(name, sizeof name, "noc.request.sm_router.%s", counters[i]);
        CHECK_EQ(stats_get(traffic.stats, name, NULL), flits);
        snprintf(name, sizeof name, "noc.request.mc_router.%s", counters[i]);
        CHECK_EQ(stats_get(traffic.stats, name, NULL), flits);
    }
    CHECK_EQ(stats_get(traffic.stats, "noc.request.mc_router.vc_allocations", NULL), flits / 5);
    traffic_close(&traffic);
}

TEST("counters read during a run equal the flits that have passed") {
    static const char *const variants[] = {"noc.vcs=1", "noc.vcs=3", "noc.internal_speedup=2"};
    for (unsigned i = 0; i < COUNT_OF(variants); i++) {
        const char *const settings[] = {"noc.topology=hierarchical", variants[i], NULL};
        struct traffic traffic;
        struct error err = {0};
        REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, small, 5, &err));
        traffic_start(&traffic, TRAFFIC_UNIFORM, 0.6);
        for (uint64_t now = 10; now < 400; now++) {
            engine_run_until(traffic.engine, now);
            engine_settle(traffic.engine, now);
            /* Each stage has counted at most as many flits as the previous one. */
            static const char *const way[] = {"flits_injected",         "sm_router.buffer_writes",
                                              "sm_router.buffer_reads", "mc_router.buffer_writes",
                                              "mc_router.buffer_reads", "flits_ejected"};
            uint64_t before = UINT64_MAX, passed = 0;
            for (unsigned k = 0; k < COUNT_OF(way); k++, before = passed) {
                char name[64];
                snprintf(name, sizeof name, "noc.request.%s", way[k]);
                passed = stats_get(traffic.stats, name, NULL);
                if (passed > before) CHECK_EQ(passed, before);
            }
        }
        traffic_close(&traffic);
    }
}

/* ---- settings --------------------------------------------------------------------------------------------------- */

static void refused(const char *const *settings, const char *part) {
    struct traffic traffic;
    struct error err = {0};
    CHECK(!traffic_open(&traffic, settings, NETWORK_REQUEST, small, 1, &err));
    CHECK_TEXT(err.text, part);
    traffic_close(&traffic);
}

TEST("a network that cannot be built is rejected with the reason") {
    refused(SETTINGS("noc.topology=concentrated", "noc.concentration=8"),
            "must divide both 12 L1 endpoints and 8 LLC slices");
    refused(SETTINGS("noc.vcs=9"), "noc.vcs");
    refused(SETTINGS("noc.vc_flits=0"), "noc.vc_flits");
    refused(SETTINGS("noc.vc_bytes=256", "noc.vc_flits=8", "noc.channel_bytes=16"),
            "noc.vc_bytes: 256 B are not noc.vc_flits x noc.channel_bytes = 8 x 16 = 128 B; set only one");
    refused(SETTINGS("noc.vc_bytes=100"), "noc.vc_bytes: 100 B are not a whole number of flits of 32 B");
    refused(SETTINGS("noc.vc_bytes=16"), "noc.vc_bytes: 16 B are not a whole number of flits of 32 B");
    refused(SETTINGS("noc.vc_bytes=4096", "noc.channel_bytes=4"), "4096 B are 1024 flits of 4 B; at most 512");
    refused(SETTINGS("noc.channel_bytes=2"), "noc.channel_bytes");
    refused(SETTINGS("noc.topology=mesh"), "noc.topology");
}

static int64_t flits_with(const char *description, const char *const *settings) {
    static const struct section *const sections[] = {&noc_section};
    struct config *config = config_create(sections, 1);
    struct error err = {0};
    bool good = config_read_text(config, "gpu", description, strlen(description), &err);
    for (unsigned i = 0; good && settings[i]; i++) good = config_set(config, settings[i], &err);
    good = good && config_check(config, &err);
    CHECK_EQ((const char *)err.text, "");
    const struct noc_config *noc = config_get(config, &noc_section);
    if (noc->vc_bytes) CHECK_EQ(noc->vc_bytes, noc->vc_flits * noc->channel_bytes);
    int64_t flits = good ? noc->vc_flits : 0;
    config_destroy(config);
    return flits;
}

TEST("buffers given in bytes hold as many flits as fit; of bytes and flits the later one counts") {
    static const char bytes[] = "noc: {channel_bytes: 32, vc_bytes: 256}",
                      flits[] = "noc: {channel_bytes: 32, vc_flits: 8}",
                      both[] = "noc: {channel_bytes: 32, vc_flits: 8, vc_bytes: 256}";
    CHECK_EQ(flits_with(bytes, SETTINGS("noc.vcs=1")), 8);
    CHECK_EQ(flits_with(bytes, SETTINGS("noc.channel_bytes=4")), 64);
    CHECK_EQ(flits_with(both, SETTINGS("noc.channel_bytes=4")), 64);
    CHECK_EQ(flits_with(bytes, SETTINGS("noc.vc_flits=5")), 5);
    CHECK_EQ(flits_with(flits, SETTINGS("noc.channel_bytes=4")), 8);
    CHECK_EQ(flits_with(flits, SETTINGS("noc.vc_bytes=128")), 4);
    CHECK_EQ(flits_with(flits, SETTINGS("noc.channel_bytes=4", "noc.vc_bytes=256")), 64);
    CHECK_EQ(flits_with(both, SETTINGS("noc.vc_bytes=0", "noc.channel_bytes=16")), 8);
}
