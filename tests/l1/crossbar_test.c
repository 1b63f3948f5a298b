/* The crossbar of a group, alone: tests push packets in and take them out, cycle by cycle. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "l1/crossbar.h"

enum { MEMBERS = 4 };

struct bench {
    struct engine *engine;
    struct stats *stats;
    struct crossbar *crossbar;
    uint64_t now;
};

static void nothing(void *self, uint64_t now) { (void)self, (void)now; }

static struct bench bench_make(unsigned switch_cycles, unsigned link_cycles, unsigned queue) {
    static const struct component_ops nobody = {.kind = "nobody", .tick = nothing};
    struct bench bench = {.engine = engine_create(), .stats = stats_create()};
    unsigned ids[MEMBERS];
    for (unsigned i = 0; i < MEMBERS; i++) ids[i] = engine_add(bench.engine, &nobody, NULL, i);
    struct group_config group = {.switch_cycles = switch_cycles, .link_cycles = link_cycles};
    struct crossbar_plan plan = {"test", &crossbar_request_table, &group, MEMBERS, MEMBERS, queue, queue, ids, ids};
    bench.crossbar = crossbar_create(&plan, bench.engine, bench.stats, 0);
    return bench;
}

static void bench_end(struct bench *bench) {
    char text[160];
    CHECK(!engine_in_flight(bench->engine, text, sizeof text));
    crossbar_destroy(bench->crossbar);
    stats_destroy(bench->stats);
    engine_destroy(bench->engine);
}

static bool push(struct bench *bench, unsigned from, unsigned to, unsigned flits, uint32_t token) {
    struct port *port = crossbar_input(bench->crossbar, from);
    if (!port_can_push(port, bench->now)) return false;
    struct group_packet packet = {
        .request.token = token, .from = (uint8_t)from, .to = (uint8_t)to, .flits = (uint8_t)flits};
    port_push(port, bench->now, &packet, sizeof packet);
    return true;
}

/* The packet that has come out, if one has; its token is 0 if none. */
static struct group_packet take(struct bench *bench, unsigned output) {
    struct port *port = crossbar_output(bench->crossbar, output);
    struct group_packet none = {0};
    return port_peek(port, bench->now) ? *(const struct group_packet *)port_take(port, bench->now) : none;
}

static void step(struct bench *bench) {
    engine_run_until(bench->engine, bench->now + 1);
    bench->engine->now = ++bench->now;
}

/* Cycles until the packet of `token` comes out. */
static uint64_t until(struct bench *bench, unsigned output, uint32_t token) {
    uint64_t start = bench->now;
    while (bench->now < start + 100) {
        step(bench);
        if (take(bench, output).request.token == token) return bench->now - start;
    }
    return NEVER;
}

TEST("a packet takes a cycle for each flit, and what switch and link take") {
    static const unsigned cases[][4] = {{1, 1, 1, 2}, {1, 1, 5, 6}, {3, 2, 5, 9}};
    for (unsigned i = 0; i < 3; i++) {
        struct bench bench = bench_make(cases[i][0], cases[i][1], 4);
        step(&bench);
        push(&bench, 1, 2, cases[i][2], 7);
        CHECK_EQ(until(&bench, 2, 7), cases[i][3]);
        bench_end(&bench);
    }
}

TEST("packets for different outputs do not see each other, and those for one take turns") {
    struct bench bench = bench_make(1, 1, 8);
    unsigned came[MEMBERS] = {0}, last = MEMBERS;
    step(&bench);
    for (uint32_t i = 0; i < 2 * MEMBERS; i++) push(&bench, i % MEMBERS, 3, 5, 1 + i % MEMBERS);
    for (unsigned cycle = 0; cycle < 41; cycle++) {
        step(&bench);
        struct group_packet packet = take(&bench, 3);
        if (!packet.request.token) continue;
        CHECK(packet.from != last);
        last = packet.from;
        came[packet.from]++;
    }
    for (unsigned i = 0; i < MEMBERS; i++) CHECK_EQ(came[i], 2u); /* a flit in every cycle: 40, and the way */
    for (unsigned i = 0; i < MEMBERS; i++) push(&bench, i, (i + 1) % MEMBERS, 5, 100 + i);
    for (unsigned i = 0; i < 6; i++) step(&bench);
    for (unsigned i = 0; i < MEMBERS; i++) CHECK_EQ(take(&bench, (i + 1) % MEMBERS).request.token, 100 + i);
    bench_end(&bench);
}

TEST("a packet whose receiver has no place waits and holds up those behind it, and goes on with the place") {
    struct bench bench = bench_make(1, 1, 1);
    step(&bench);
    push(&bench, 0, 1, 1, 1);
    for (unsigned i = 0; i < 4; i++) step(&bench);
    CHECK(push(&bench, 0, 1, 1, 2));
    for (unsigned i = 0; i < 20; i++) step(&bench);
    CHECK(!push(&bench, 0, 2, 1, 3)); /* the injection queue is of one packet */
    CHECK_EQ(take(&bench, 1).request.token, 1u);
    CHECK_EQ(until(&bench, 1, 2), 2u); /* the credit, then the link */
    CHECK(push(&bench, 0, 2, 1, 3));
    CHECK_EQ(until(&bench, 2, 3), 2u);
    bench_end(&bench);
}

TEST("whatever goes in comes out once, in order between an input and an output, also at queues of one") {
    for (unsigned queue = 1; queue < 4; queue++) {
        struct bench bench = bench_make(1, 1, queue);
        uint64_t random = 17;
        uint32_t sent[MEMBERS][MEMBERS] = {0}, seen[MEMBERS][MEMBERS] = {0}, flits = 0, total = 0, out = 0;
        for (unsigned cycle = 0; cycle < 4000; cycle++) {
            step(&bench);
            for (unsigned i = 0; i < MEMBERS && cycle < 3000; i++) {
                unsigned to = (unsigned)random_below(&random, MEMBERS), length = 1 + (unsigned)random_below(&random, 5);
                if (random_below(&random, 3) || !push(&bench, i, to, length, sent[i][to] + 1)) continue;
                sent[i][to]++;
                total++;
                flits += length;
            }
            for (unsigned i = 0; i < MEMBERS; i++) {
                struct group_packet packet = random_below(&random, 2) ? take(&bench, i) : (struct group_packet){0};
                if (!packet.request.token) continue;
                CHECK_EQ(packet.to, i);
                CHECK_EQ(packet.request.token, ++seen[packet.from][i]);
                out++;
            }
        }
        CHECK(total > 1000);
        CHECK_EQ(out, total);
        CHECK_EQ(stats_get(bench.stats, "l1.request_crossbar.packets", NULL), total);
        CHECK_EQ(stats_get(bench.stats, "l1.request_crossbar.flits", NULL), flits);
        bench_end(&bench);
    }
}
