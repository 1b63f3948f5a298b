/* MC-routers that are bypassed and powered off: the latency and rate of packets, the counters, and reconfiguration in
 * both directions. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noc/network.h"
#include "noc/traffic.h"
#include "settings.h"
#include "test.h"

static const struct network_shape machine = {80, 64, 8, 8}, small = {12, 8, 4, 2}, square = {16, 16, 4, 4};

static void open_or_end(struct traffic *traffic, const char *const *settings, enum network_direction direction,
                        struct network_shape shape, unsigned flits) {
    struct error err = {0};
    bool good = traffic_open(traffic, settings, direction, shape, flits, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(good);
}

static void check_conserved(const struct traffic *traffic) {
    char text[256] = "conserved";
    network_conserved(traffic->network, text, sizeof text);
    CHECK_EQ((const char *)text, "conserved");
}

/* ---- latency ---------------------------------------------------------------------------------------------------- */

static uint64_t seen; /* when the only packet of a run was seen by its destination */

static void note(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    (void)traffic, (void)destination;
    seen = now - message->address;
}

/* Cycles from pushing a packet into an idle network, bypassed from the start, until its destination sees it. */
static uint64_t latency(const char *const *settings, enum network_direction direction, unsigned flits, unsigned source,
                        unsigned other) {
    struct traffic traffic;
    seen = 0;
    open_or_end(&traffic, settings, direction, machine, flits);
    traffic.observe = note;
    traffic_packet(&traffic, source, traffic_own(&traffic, source, other), 10);
    engine_run_until(traffic.engine, 1000);
    CHECK_EQ(traffic.packets_out, 1u);
    check_conserved(&traffic);
    traffic_close(&traffic);
    return seen;
}

/* Zero-load latency computed from the configuration. */
static uint64_t computed(const char *const *settings, enum network_direction direction, unsigned flits) {
    struct traffic traffic;
    open_or_end(&traffic, settings, direction, machine, flits);
    uint64_t cycles = network_unloaded_cycles(traffic.config, &machine, 1400000, flits);
    traffic_close(&traffic);
    return cycles;
}

/* The measured latency, which must be the computed one. */
static uint64_t zero_load(const char *const *settings, enum network_direction direction, unsigned flits,
                          unsigned source, unsigned other) {
    uint64_t cycles = latency(settings, direction, flits, source, other);
    CHECK_EQ(computed(settings, direction, flits), cycles);
    return cycles;
}

TEST("a packet crosses a bypassed MC-router in one cycle instead of four") {
    const char *const settings[] = {"noc.bypass=true", NULL}; /* 2 + 4 + 2 + 1 + 1 */
    CHECK_EQ(zero_load(settings, NETWORK_REQUEST, 1, 0, 0), 10u);
    CHECK_EQ(zero_load(settings, NETWORK_REQUEST, 5, 79, 7), 14u);
    CHECK_EQ(zero_load(settings, NETWORK_REQUEST, 5, 43, 2), 14u);
    CHECK_EQ(zero_load(settings, NETWORK_REPLY, 1, 63, 9), 10u);
    CHECK_EQ(zero_load(settings, NETWORK_REPLY, 5, 0, 0), 14u);
    CHECK_EQ(zero_load(settings, NETWORK_REPLY, 5, 29, 4), 14u);
}

TEST("links, stages, lookahead, speedup and VCs of the other routers have their usual latencies") {
    const char *const links[] = {"noc.bypass=true", "noc.link_cycles=3", "noc.long_link_cycles=4", NULL};
    CHECK_EQ(zero_load(links, NETWORK_REQUEST, 1, 0, 0), 10u + 2 + 2 + 2);
    CHECK_EQ(zero_load(links, NETWORK_REPLY, 1, 0, 0), 10u + 2 + 2 + 2);
    const char *const deep[] = {"noc.bypass=true", "noc.stages=6", NULL};
    CHECK_EQ(zero_load(deep, NETWORK_REQUEST, 1, 7, 7), 12u);
    const char *const lookahead[] = {"noc.bypass=true", "noc.lookahead=true", NULL};
    CHECK_EQ(zero_load(lookahead, NETWORK_REPLY, 5, 7, 7), 13u);
    const char *const fast[] = {"noc.bypass=true", "noc.internal_speedup=2", NULL};
    CHECK_EQ(zero_load(fast, NETWORK_REQUEST, 1, 50, 3), 8u);
    CHECK_EQ(zero_load(fast, NETWORK_REPLY, 5, 50, 3), 12u);
    const char *const fast_vcs[] = {"noc.bypass=true", "noc.internal_speedup=2", "noc.vcs=4", NULL};
    CHECK_EQ(zero_load(fast_vcs, NETWORK_REQUEST, 5, 50, 3), 12u);
    CHECK_EQ(zero_load(fast_vcs, NETWORK_REPLY, 5, 50, 3), 12u);
}

TEST("credits in front of a bypassed router are those of the buffer behind it, and return over both links") {
    const char *const settings[] = {"noc.bypass=true", "noc.vc_flits=2", NULL};
    /* A request's flit is at the slice 5 cycles after switch allocation, its credit back 6 later: 2 flits in 11. */
    CHECK_EQ(latency(settings, NETWORK_REQUEST, 5, 0, 0), 10u + 2 * 11);
    /* A reply's flit is at the SM-router after 4 and its credit back after 4; there a head waits 2 for its output. */
    CHECK_EQ(latency(settings, NETWORK_REPLY, 5, 0, 0), 10u + (8 + 2) + 8 - 2);
}

/* ---- rate ------------------------------------------------------------------------------------------------------- */

/* Flits per cycle and pair, of pairs that always have one more packet of `flits`. */
static double rate(const char *const *settings, enum network_direction direction, unsigned flits) {
    struct traffic traffic;
    open_or_end(&traffic, settings, direction, square, flits);
    traffic_start(&traffic, TRAFFIC_OWN_PAIRS, 2.0); /* twice what a link can carry */
    traffic_measure(&traffic, 500, 3000, 0);
    double accepted = traffic_accepted(&traffic);
    traffic_close(&traffic);
    return accepted;
}

TEST("with enough credits a bypass carries one flit per cycle") {
    const char *const settings[] = {"noc.bypass=true", "noc.vcs=4", NULL};
    CHECK_NEAR(rate(settings, NETWORK_REQUEST, 5), 1.0, 0.005);
    CHECK_NEAR(rate(settings, NETWORK_REPLY, 5), 1.0, 0.005);
    const char *const deep[] = {"noc.bypass=true", "noc.vc_flits=12", NULL};
    CHECK_NEAR(rate(deep, NETWORK_REQUEST, 34), 34 / 36.0, 0.01); /* with one VC the SM-router idles between packets */
}

TEST("a buffer smaller than the credit loop limits the rate to its flits per loop") {
    for (unsigned flits = 2; flits <= 8; flits += 3) { /* packets so long that what is between them does not count */
        char depth[32];
        snprintf(depth, sizeof depth, "noc.vc_flits=%u", flits);
        const char *const settings[] = {"noc.bypass=true", depth, NULL};
        CHECK_NEAR(rate(settings, NETWORK_REQUEST, 34), flits / 11.0, 0.03);
    }
    const char *const reply[] = {"noc.bypass=true", "noc.vc_flits=4", NULL};
    CHECK_NEAR(rate(reply, NETWORK_REPLY, 34), 4 / 8.0, 0.02);
}

TEST("with one VC of 8 flits a bypass costs replies nothing, and requests of several flits part of their rate") {
    const char *const on[] = {"noc.bypass=true", "noc.internal_speedup=2", NULL};
    const char *const off[] = {"noc.internal_speedup=2", NULL};
    CHECK_NEAR(rate(on, NETWORK_REPLY, 5), rate(off, NETWORK_REPLY, 5), 0.002);
    CHECK_NEAR(rate(on, NETWORK_REQUEST, 1), rate(off, NETWORK_REQUEST, 1), 0.002);
    CHECK_NEAR(rate(off, NETWORK_REQUEST, 5), 0.91, 0.005);
    CHECK_NEAR(rate(on, NETWORK_REQUEST, 5), 0.77, 0.005);
}

/* ---- conservation ----------------------------------------------------------------------------------------------- */

static const char *const routers[][4] = {{NULL},
                                         {"noc.internal_speedup=2", NULL},
                                         {"noc.vcs=4", NULL},
                                         {"noc.vcs=4", "noc.internal_speedup=2", "noc.input_speedup=2", NULL},
                                         {"noc.vcs=3", "noc.iterations=3", "noc.lookahead=true", NULL},
                                         {"noc.internal_speedup=2", "noc.stages=6", "noc.credit_cycles=0", NULL},
                                         {"noc.vc_flits=33", "noc.vcs=2", "noc.long_link_cycles=9", NULL},
                                         {"noc.vcs=2", "noc.clock_mhz=900", NULL},
                                         {"noc.vc_flits=1", "noc.injection_packets=1", "noc.ejection_packets=1", NULL},
                                         {"noc.vc_flits=1", "noc.vcs=4", "noc.internal_speedup=2", NULL}};

/* `routers[r]` after up to three settings. */
static const char *const *with_router(const char **settings, unsigned r, const char *a, const char *b) {
    unsigned count = 0;
    settings[count++] = a;
    if (b) settings[count++] = b;
    for (unsigned i = 0; routers[r][i]; i++) settings[count++] = routers[r][i];
    settings[count] = NULL;
    return settings;
}

TEST("every flit leaves and every credit returns with bypassed routers, also with buffers of one flit") {
    for (unsigned r = 0; r < COUNT_OF(routers); r++)
        for (unsigned direction = 0; direction < 2; direction++)
            for (unsigned every = 0; every <= 7; every += 7) { /* destinations that always take, or now and then */
                const char *settings[8];
                struct traffic traffic;
                open_or_end(&traffic, with_router(settings, r, "noc.bypass=true", NULL), direction, small, 5);
                traffic.take_every = every;
                traffic_start(&traffic, TRAFFIC_OWN, 0.9);
                traffic.stop = 300;
                CHECK_EQ((int)engine_run_until(traffic.engine, 60000), (int)ENGINE_QUIET);
                CHECK(traffic.packets_out > 300);
                check_conserved(&traffic);
                char text[256] = "";
                CHECK(!engine_in_flight(traffic.engine, text, sizeof text));
                traffic_close(&traffic);
            }
}

/* ---- reconfiguration -------------------------------------------------------------------------------------------------- */

static uint64_t count(const struct traffic *traffic, const char *name) {
    char full[64];
    bool found;
    snprintf(full, sizeof full, "noc.%s.%s", traffic->direction == NETWORK_REQUEST ? "request" : "reply", name);
    uint64_t value = stats_get(traffic->stats, full, &found);
    CHECK(found);
    return value;
}

/* Traffic for a while from the current cycle on, and on to cycle `until`, when nothing is inside any more. */
static void spell(struct traffic *traffic, enum traffic_pattern pattern, uint64_t until) {
    struct engine *engine = traffic->engine;
    traffic_start(traffic, pattern, 0.4);
    traffic->stop = engine->now + 200;
    engine_run_until(engine, until);
    engine->now = until; /* with nothing due, time does not pass by itself */
    check_conserved(traffic);
}

/* Powered, bypassed and powered again, each with traffic, under which nothing may be lost. */
struct switched {
    uint64_t packets, flits, hops, bypassed, links, writes, gated, cycles;
};

static struct switched to_and_fro(unsigned r, enum network_direction direction, bool poll, uint64_t shuffle) {
    const char *settings[8];
    struct traffic traffic;
    open_or_end(&traffic, with_router(settings, r, "noc.gating_cycles=25", NULL), direction, small, 3);
    traffic.engine->poll = poll;
    traffic.engine->shuffle = shuffle;
    CHECK(network_can_bypass(traffic.network));
    spell(&traffic, TRAFFIC_UNIFORM, 3000);
    uint64_t before = traffic.packets_out;
    CHECK(before > 30);
    CHECK_EQ(network_set_bypass(traffic.network, false, 3000), 3000u); /* so it is already */
    CHECK_EQ(network_set_bypass(traffic.network, true, 3000), 3025u);
    spell(&traffic, TRAFFIC_OWN, 6000);
    uint64_t while_bypassed = traffic.packets_out - before;
    CHECK(while_bypassed > 30);
    engine_settle(traffic.engine, 6000);
    CHECK_EQ(count(&traffic, "mc_router.bypassed_flits"), while_bypassed * 3);
    CHECK_EQ(network_set_bypass(traffic.network, false, 6000), 6025u);
    spell(&traffic, TRAFFIC_UNIFORM, 9000);
    CHECK(traffic.packets_out > before + while_bypassed + 30);
    engine_settle(traffic.engine, 9000);
    struct switched result = {
        .packets = traffic.packets_out,
        .flits = count(&traffic, "flits_ejected"),
        .hops = count(&traffic, "flit_hops"),
        .bypassed = count(&traffic, "mc_router.bypassed_flits"),
        .links = count(&traffic, "mc_router.link_traversals"),
        .writes = count(&traffic, "mc_router.buffer_writes"),
        .gated = count(&traffic, "mc_router.gated_cycles"),
        .cycles = count(&traffic, "packet_cycles"),
    };
    CHECK_EQ(result.packets, count(&traffic, "packets_injected"));
    CHECK_EQ(result.bypassed, while_bypassed * 3);
    CHECK_EQ(count(&traffic, "sm_router.gated_cycles"), 0u);
    CHECK_EQ(count(&traffic, "sm_router.bypassed_flits"), 0u);
    traffic_close(&traffic);
    return result;
}

TEST("a drained network changes to the bypass and back, and packets sent before, in between and after arrive") {
    for (unsigned r = 0; r < COUNT_OF(routers); r++)
        for (unsigned direction = 0; direction < 2; direction++) {
            struct switched result = to_and_fro(r, direction, false, 0);
            CHECK_EQ(result.flits, result.packets * 3);
            CHECK_EQ(result.links, result.flits);                    /* every flit leaves an MC-router's place once, */
            CHECK_EQ(result.writes, result.flits - result.bypassed); /* and is in its buffer only if it is on */
            CHECK_EQ(result.hops, 2 * result.flits - result.bypassed); /* SM-routers are never off */
            CHECK_EQ(result.gated, (6000u - 3025) * small.mcs);
        }
}

TEST("polling and the order of ticks do not change the counters of a network that is reconfigured") {
    for (unsigned r = 0; r < COUNT_OF(routers); r += 3)
        for (unsigned direction = 0; direction < 2; direction++) {
            struct switched asleep = to_and_fro(r, direction, false, 0), polled = to_and_fro(r, direction, true, 0),
                            shuffled = to_and_fro(r, direction, true, 99);
            CHECK(memcmp(&asleep, &polled, sizeof asleep) == 0);
            CHECK(memcmp(&asleep, &shuffled, sizeof asleep) == 0);
        }
}

TEST("packets pushed during a reconfiguration wait for its end") {
    const char *const bypass[] = {"noc.bypass=true", NULL};
    for (unsigned direction = 0; direction < 2; direction++) {
        struct traffic traffic;
        open_or_end(&traffic, NULL, direction, machine, 5);
        traffic.observe = note;
        uint64_t bypassed = computed(bypass, direction, 5), powered = computed(NULL, direction, 5);
        CHECK_EQ(bypassed + 3, powered);
        CHECK_EQ(network_set_bypass(traffic.network, true, 0), 30u);
        traffic_packet(&traffic, 1, traffic_own(&traffic, 1, 3), 0);
        engine_run_until(traffic.engine, 500);
        CHECK_EQ(seen, 30 + bypassed - 1); /* as if it had just come to be seen then */
        traffic.engine->now = 500;
        CHECK_EQ(network_set_bypass(traffic.network, false, 500), 530u);
        traffic_packet(&traffic, 1, traffic_own(&traffic, 1, 3), 520);
        engine_run_until(traffic.engine, 1000);
        CHECK_EQ(seen, 10 + powered - 1);
        CHECK_EQ(traffic.packets_out, 2u);
        check_conserved(&traffic);
        traffic_close(&traffic);
    }
}

/* ---- what is counted -------------------------------------------------------------------------------------------- */

TEST("a bypassed router is gated from the first cycle on and counts only link traversals") {
    for (unsigned direction = 0; direction < 2; direction++) {
        const char *const settings[] = {"noc.bypass=true", NULL};
        struct traffic traffic;
        open_or_end(&traffic, settings, direction, small, 5);
        spell(&traffic, TRAFFIC_OWN, 2000);
        engine_settle(traffic.engine, 2000);
        uint64_t flits = traffic.packets_out * 5;
        CHECK(flits > 500);
        CHECK_EQ(count(&traffic, "mc_router.link_traversals"), flits);
        CHECK_EQ(count(&traffic, "mc_router.bypassed_flits"), flits);
        CHECK_EQ(count(&traffic, "mc_router.gated_cycles"), 2000u * small.mcs);
        CHECK_EQ(count(&traffic, "mc_router.buffer_writes"), 0u);
        CHECK_EQ(count(&traffic, "mc_router.buffer_reads"), 0u);
        CHECK_EQ(count(&traffic, "mc_router.vc_allocations"), 0u);
        CHECK_EQ(count(&traffic, "mc_router.switch_allocations"), 0u);
        CHECK_EQ(count(&traffic, "mc_router.crossbar_traversals"), 0u);
        CHECK_EQ(count(&traffic, "sm_router.crossbar_traversals"), flits);
        CHECK_EQ(count(&traffic, "flit_hops"), flits);
        network_freeze(traffic.network, 2000);
        engine_settle(traffic.engine, 3000);
        CHECK_EQ(count(&traffic, "mc_router.gated_cycles"), 2000u * small.mcs);
        traffic_close(&traffic);
    }
}

/* ---- what cannot be --------------------------------------------------------------------------------------------- */

static void check_refused(const char *const *settings, struct network_shape shape, const char *why) {
    struct traffic traffic;
    struct error err = {0};
    CHECK(!traffic_open(&traffic, settings, NETWORK_REQUEST, shape, 1, &err));
    CHECK_TEXT(err.text, "noc.bypass");
    CHECK_TEXT(err.text, why);
    traffic_close(&traffic);
}

TEST("noc.bypass is rejected for a network without MC-routers") {
    static const char *const topologies[] = {"full", "concentrated", "ideal"};
    for (unsigned i = 0; i < COUNT_OF(topologies); i++) {
        char setting[40];
        snprintf(setting, sizeof setting, "noc.topology=%s", topologies[i]);
        CHECK_REJECTED(config_with(SETTINGS("noc.bypass=true", "llc.organisation=private", setting)), "noc.bypass",
                       "has no MC-routers to bypass; set noc.topology=hierarchical");
    }
}

TEST("noc.bypass is rejected unless each controller has one slice per cluster") {
    const char *const bypass[] = {"noc.bypass=true", NULL};
    check_refused(bypass, (struct network_shape){12, 8, 4, 4}, "2 slices per memory controller and 4 clusters");
    struct traffic traffic;
    open_or_end(&traffic, NULL, NETWORK_REPLY, (struct network_shape){12, 8, 4, 4}, 1);
    CHECK(!network_can_bypass(traffic.network));
    traffic_close(&traffic);
}

#ifndef NDEBUG
static void send_astray(struct traffic *traffic) {
    traffic_packet(traffic, 0, 1, 0); /* slice 1 is the second cluster's */
    engine_run_until(traffic->engine, 100);
}

static void switch_undrained(struct traffic *traffic) {
    traffic_packet(traffic, 0, 0, 0);
    engine_run_until(traffic->engine, 5);
    network_set_bypass(traffic->network, false, 5);
}

/* Whether an assertion fails in `act`, executed in a forked process. */
static bool asserts(void (*act)(struct traffic *traffic)) {
    const char *const settings[] = {"noc.bypass=true", NULL};
    struct traffic traffic;
    open_or_end(&traffic, settings, NETWORK_REQUEST, small, 1);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        fclose(stderr);
        act(&traffic);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    traffic_close(&traffic);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST("a packet for another cluster's slice, and a reconfiguration with a packet in flight, are detected") {
    CHECK(asserts(send_astray));
    CHECK(asserts(switch_undrained));
}
#endif
