/* The network that is simulated packet by packet (src/noc/wormhole.c) against the same network flit by flit, which
 * polling uses: every packet leaves its source and reaches its destination in the same cycle, and every counter has the
 * same value in every cycle. */
#include "noc/traffic.h"
#include "test.h"

enum { CYCLES = 700, COUNTERS_MAX = 64 };

/* What can be observed of a run: sums over the events of a cycle, and the counters at its end. */
struct record {
    uint64_t accepted[CYCLES]; /* packets taken from injection queues, as a hash */
    uint64_t arrived[CYCLES];
    uint64_t counter[CYCLES][COUNTERS_MAX];
    bool conserved[CYCLES];
    uint64_t packets;
};

static uint64_t mix(uint64_t value) { return (value + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 7; }

static void note_arrival(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    struct record *record = traffic->observer;
    if (now < CYCLES)
        record->arrived[now] += mix((uint64_t)destination << 50 ^ (uint64_t)message->source << 40 ^
                                    (uint64_t)message->target << 30 ^ message->tag);
}

struct load {
    struct network_shape shape;
    enum network_direction direction;
    unsigned flits;
    enum traffic_pattern pattern;
    double rate;
    unsigned take_every;
    unsigned delay; /* of the ports into the network */
};

static void record_run(const char *const *settings, const struct load *load, bool poll, struct record *record) {
    struct traffic traffic;
    struct error err = {0};
    memset(record, 0, sizeof *record);
    REQUIRE(traffic_open(&traffic, settings, load->direction, load->shape, load->flits, &err));
    traffic.engine->poll = poll;
    traffic.observe = note_arrival;
    traffic.observer = record;
    traffic.take_every = load->take_every;
    for (unsigned i = 0; load->delay && i < traffic.sources; i++)
        port_lengthen(network_input(traffic.network, i), 1 + i % load->delay, 2);
    traffic_start(&traffic, load->pattern, load->rate);
    traffic.stop = CYCLES / 2;
    REQUIRE(stats_count(traffic.stats) <= COUNTERS_MAX);
    unsigned sectors = traffic.sectors;
    for (uint64_t now = 1; now < CYCLES; now++) {
        if (now % 4 == 1) traffic.sectors = (uint8_t)(now % 16 == 1 ? 0 : sectors >> now / 4 % 4); /* mixed lengths */
        engine_run_until(traffic.engine, now);
        traffic.engine->now = now;
        char text[256];
        record->conserved[now] = network_conserved(traffic.network, text, sizeof text);
        if (now % 3 == 0) engine_settle(traffic.engine, now); /* also several cycles without */
        for (unsigned i = 0; i < traffic.sources; i++)
            record->accepted[now] += mix((uint64_t)i << 32 ^ network_input(traffic.network, i)->popped);
        for (unsigned i = 0; now % 3 == 0 && i < stats_count(traffic.stats); i++)
            record->counter[now][i] = stats_total(traffic.stats, i);
    }
    record->packets = traffic.packets_out;
    traffic_close(&traffic);
}

/* Whether both ways of simulating the network agree. Adds to the packets delivered. */
static bool agree(const char *const *settings, const struct load *load, uint64_t *delivered) {
    static struct record packets, flits;
    record_run(settings, load, false, &packets);
    record_run(settings, load, true, &flits);
    *delivered += packets.packets;
    for (unsigned now = 1; now < CYCLES; now++) {
        const char *what = packets.accepted[now] != flits.accepted[now]     ? "accepted packets"
                           : packets.arrived[now] != flits.arrived[now]     ? "arrivals"
                           : packets.conserved[now] != flits.conserved[now] ? "conservation"
                           : memcmp(packets.counter[now], flits.counter[now], sizeof flits.counter[now]) ? "counters"
                                                                                                         : NULL;
        if (!what) continue;
        printf("%s differ in cycle %u:", what, now);
        for (unsigned i = 0; settings[i]; i++) printf(" %s", settings[i]);
        printf("; %u flits, pattern %u, rate %.2f, take every %u\n", load->flits, (unsigned)load->pattern, load->rate,
               load->take_every);
        return false;
    }
    return true;
}

TEST("packet by packet and flit by flit, a network is the same in every cycle, for every parameter of its router") {
    static const char *const stages[] = {"noc.stages=4", "noc.stages=5", "noc.stages=8"};
    static const char *const routing[] = {"noc.lookahead=false", "noc.lookahead=true"};
    static const char *const buffers[] = {"noc.vc_flits=8", "noc.vc_flits=1", "noc.vc_flits=2", "noc.vc_flits=5",
                                          "noc.vc_flits=40"};
    static const char *const links[] = {"noc.link_cycles=1", "noc.link_cycles=6"};
    static const char *const credits[] = {"noc.credit_cycles=0", "noc.credit_cycles=3"};
    static const unsigned flits[] = {1, 2, 5, 34};
    unsigned n = 0;
    uint64_t delivered = 0;
    for (unsigned s = 0; s < COUNT_OF(stages); s++)
        for (unsigned r = 0; r < COUNT_OF(routing); r++)
            for (unsigned b = 0; b < COUNT_OF(buffers); b++)
                for (unsigned l = 0; l < COUNT_OF(links); l++)
                    for (unsigned f = 0; f < COUNT_OF(flits); f++, n++) {
                        const char *const settings[] = {
                            "noc.topology=full", stages[s], routing[r], buffers[b], links[l], credits[n % 2], NULL};
                        struct load load = {
                            {8, 6, 2, 2}, n % 2,         flits[f], n % 3 ? TRAFFIC_UNIFORM : TRAFFIC_WEIGHTED_HOTSPOT,
                            0.6,          n % 5 ? 0 : 9, n % 4};
                        CHECK(agree(settings, &load, &delivered));
                    }
    CHECK(delivered > 10000);
}

TEST("the same holds from an almost empty to an overloaded network, and if destinations accept packets now and then") {
    static const double rates[] = {0.02, 0.3, 1.0};
    static const unsigned intervals[] = {0, 2, 7, 30};
    static const char *const queues[] = {"noc.ejection_packets=1", "noc.ejection_packets=2", "noc.ejection_packets=8"};
    static const struct network_shape shapes[] = {{8, 6, 2, 2}, {64, 2, 2, 2}, {3, 64, 1, 2}};
    uint64_t delivered = 0;
    for (unsigned s = 0; s < COUNT_OF(shapes); s++)
        for (unsigned r = 0; r < COUNT_OF(rates); r++)
            for (unsigned i = 0; i < COUNT_OF(intervals); i++)
                for (unsigned q = 0; q < COUNT_OF(queues); q++)
                    for (unsigned flits = 1; flits <= 5; flits += 4) {
                        const char *const settings[] = {
                            "noc.topology=full", queues[q], q % 2 ? "noc.lookahead=true" : "noc.lookahead=false",
                            i % 2 ? "noc.injection_packets=1" : "noc.injection_packets=4", NULL};
                        struct load load = {
                            shapes[s], (s + q) % 2,  flits, i % 2 ? TRAFFIC_UNIFORM : TRAFFIC_WEIGHTED_HOTSPOT,
                            rates[r],  intervals[i], q};
                        CHECK(agree(settings, &load, &delivered));
                    }
    CHECK(delivered > 10000);
}
