/* The loops over a router's cycle that are specialised for its parameters against the general one, which polling uses
 * (src/noc/router.c): the same packets arrive in the same cycles, and the counters are the same. */
#include "noc/traffic.h"
#include "test.h"

static void note_arrival(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    uint64_t *hash = traffic->observer;
    uint64_t value = now << 40 ^ (uint64_t)destination << 30 ^ (uint64_t)message->source << 20 ^
                     (uint64_t)message->target << 10 ^ message->tag;
    *hash += (value + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 7; /* a sum: arrivals of one cycle in any order */
}

/* Every arrival and every counter, as one number. */
static uint64_t run_once(const char *const *settings, struct network_shape shape, unsigned flits, bool poll,
                         unsigned take_every) {
    struct traffic traffic;
    struct error err = {0};
    uint64_t hash = 0;
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, flits, &err));
    traffic.engine->poll = poll;
    traffic.observe = note_arrival;
    traffic.observer = &hash;
    traffic.take_every = take_every;
    traffic_start(&traffic, TRAFFIC_WEIGHTED_HOTSPOT, 0.5);
    traffic.stop = 250;
    engine_run_until(traffic.engine, 1500);
    engine_settle(traffic.engine, 1500);
    CHECK(traffic.packets_out > 20);
    for (unsigned i = 0; i < stats_count(traffic.stats); i++)
        hash = hash * UINT64_C(0x9E3779B97F4A7C15) + stats_total(traffic.stats, i);
    traffic_close(&traffic);
    return hash;
}

TEST("the loop for a router's parameters moves every flit in the cycle of the general loop") {
    static const struct network_shape small = {8, 8, 2, 4}, wide = {70, 8, 2, 4};
    static const char *const stages[] = {"noc.stages=4", "noc.stages=5", "noc.stages=6", "noc.stages=7",
                                         "noc.stages=8"};
    static const char *const speedups[] = {"noc.internal_speedup=1", "noc.internal_speedup=2"};
    static const char *const others[] = {"noc.lookahead=false", "noc.lookahead=true", "noc.vc_flits=20",
                                         "noc.vc_flits=3", "noc.credit_cycles=0"};
    for (unsigned s = 0; s < COUNT_OF(stages); s++)
        for (unsigned i = 0; i < COUNT_OF(speedups); i++)
            for (unsigned o = 0; o < COUNT_OF(others); o++) {
                const char *const settings[] = {"noc.topology=hierarchical", stages[s], speedups[i], others[o], NULL};
                unsigned flits = 1 + 4 * (s % 2), take_every = o == 1 ? 3 : 0;
                uint64_t sleeping = run_once(settings, small, flits, false, take_every);
                if (sleeping != run_once(settings, small, flits, true, take_every)) {
                    printf("%s %s %s\n", stages[s], speedups[i], others[o]);
                    CHECK(!"the loops agree");
                }
            }
    for (unsigned i = 0; i < COUNT_OF(speedups); i++) { /* more than 64 inputs */
        const char *const settings[] = {"noc.topology=full", speedups[i], "noc.stages=5", NULL};
        CHECK_EQ(run_once(settings, wide, 2, false, 0), run_once(settings, wide, 2, true, 0));
        const char *const words[] = {"noc.topology=hierarchical", speedups[i], NULL}; /* over two words of a stage */
        CHECK_EQ(run_once(words, wide, 2, false, 0), run_once(words, wide, 2, true, 0));
    }
}

TEST("the loop for several VCs moves every flit in the cycle of the general loop") {
    static const struct network_shape shapes[] = {{8, 8, 2, 4}, {24, 24, 3, 2}, {64, 64, 16, 4}};
    static const char *const vcs[] = {"noc.vcs=2", "noc.vcs=3", "noc.vcs=4"};
    static const char *const others[] = {"noc.lookahead=false", "noc.lookahead=true",  "noc.vc_flits=3",
                                         "noc.vc_flits=20",     "noc.credit_cycles=0", "noc.stages=5",
                                         "noc.iterations=2",    "noc.input_speedup=2", "noc.internal_speedup=2"};
    for (unsigned s = 0; s < COUNT_OF(shapes); s++)
        for (unsigned v = 0; v < COUNT_OF(vcs); v++)
            for (unsigned o = 0; o < COUNT_OF(others); o++) {
                const char *const settings[] = {"noc.topology=hierarchical", vcs[v], others[o], NULL};
                unsigned flits = 1 + 4 * (o % 2), take_every = o % 3 == 2 ? 3 : 0;
                uint64_t sleeping = run_once(settings, shapes[s], flits, false, take_every);
                if (sleeping != run_once(settings, shapes[s], flits, true, take_every)) {
                    printf("shape %u %s %s\n", s, vcs[v], others[o]);
                    CHECK(!"the loops agree");
                }
            }
}

TEST("flits that wait for a destination leave in the cycles in which they would if every cycle were looked at") {
    static const struct network_shape small = {8, 8, 2, 4};
    static const char *const vcs[] = {"noc.vcs=1", "noc.vcs=2", "noc.vcs=4"};
    for (unsigned i = 0; i < COUNT_OF(vcs); i++)
        for (unsigned take_every = 2; take_every <= 40; take_every += 19) {
            const char *const settings[] = {"noc.topology=hierarchical", vcs[i], "noc.ejection_packets=2", NULL};
            CHECK_EQ(run_once(settings, small, 3, false, take_every), run_once(settings, small, 3, true, take_every));
        }
}

static uint64_t seen;

static void note_latency(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)traffic, (void)destination;
    seen = now - message->address;
}

TEST("a router takes its stages in steps of its internal speedup, rounded up, without routing under lookahead") {
    for (unsigned stages = 4; stages <= 8; stages++)
        for (unsigned speedup = 1; speedup <= 2; speedup++)
            for (unsigned lookahead = 0; lookahead < 2; lookahead++)
                for (unsigned vcs = 1; vcs <= 2; vcs++) {
                    char text[4][32];
                    snprintf(text[0], sizeof text[0], "noc.stages=%u", stages);
                    snprintf(text[1], sizeof text[1], "noc.internal_speedup=%u", speedup);
                    snprintf(text[2], sizeof text[2], "noc.lookahead=%s", lookahead ? "true" : "false");
                    snprintf(text[3], sizeof text[3], "noc.vcs=%u", vcs);
                    const char *const settings[] = {
                        "noc.topology=full", "noc.long_link_cycles=1", text[0], text[1], text[2], text[3], NULL};
                    struct network_shape shape = {4, 4, 1, 1};
                    struct traffic traffic;
                    struct error err = {0};
                    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 3, &err));
                    traffic.observe = note_latency;
                    traffic_packet(&traffic, 1, 2, 10);
                    engine_run_until(traffic.engine, 100);
                    /* Ports of one cycle on both sides, a link of one cycle, and two flits behind the head. */
                    CHECK_EQ(seen, 2 + 1 + (stages - lookahead + speedup - 1) / speedup + 2);
                    traffic_close(&traffic);
                }
}
