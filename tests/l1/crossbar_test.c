/* The crossbar of a group, alone: tests push packets in and take them out, cycle by cycle. */
#include "base/random.h"
#include "fixture.h"
#include "l1/crossbar.h"

enum { MEMBERS = 4 };

struct crossbar_fixture {
    struct engine *engine;
    struct stats *stats;
    struct crossbar *crossbar;
    uint64_t now;
};

static struct crossbar_fixture crossbar_fixture_of(unsigned inputs, unsigned outputs, unsigned switch_cycles,
                                                   unsigned link_cycles, unsigned queue) {
    struct crossbar_fixture fixture = {.engine = engine_create(), .stats = stats_create()};
    unsigned ids[GROUP_MEMBERS];
    for (unsigned i = 0; i < inputs || i < outputs; i++) ids[i] = add_neighbour(fixture.engine, i);
    struct group_config group = {.switch_cycles = switch_cycles, .link_cycles = link_cycles};
    struct crossbar_plan plan = {"test", &crossbar_request_table, &group, inputs, outputs, queue, queue, ids, ids};
    fixture.crossbar = crossbar_create(&plan, fixture.engine, fixture.stats, 0);
    return fixture;
}

static struct crossbar_fixture crossbar_fixture_make(unsigned switch_cycles, unsigned link_cycles, unsigned queue) {
    return crossbar_fixture_of(MEMBERS, MEMBERS, switch_cycles, link_cycles, queue);
}

static void crossbar_fixture_release(struct crossbar_fixture *fixture) {
    char text[160];
    CHECK(!engine_in_flight(fixture->engine, text, sizeof text));
    crossbar_destroy(fixture->crossbar);
    stats_destroy(fixture->stats);
    engine_destroy(fixture->engine);
}

static bool push(struct crossbar_fixture *fixture, unsigned from, unsigned to, unsigned flits, uint32_t token) {
    struct port *port = crossbar_input(fixture->crossbar, from);
    if (!port_can_push(port, fixture->now)) return false;
    struct group_packet packet = {
        .request.token = token, .from = (uint8_t)from, .to = (uint8_t)to, .flits = (uint8_t)flits};
    port_push(port, fixture->now, &packet, sizeof packet);
    return true;
}

/* The packet at the output; its token is 0 if there is none. */
static struct group_packet take(struct crossbar_fixture *fixture, unsigned output) {
    struct port *port = crossbar_output(fixture->crossbar, output);
    struct group_packet none = {0};
    return port_peek(port, fixture->now) ? *(const struct group_packet *)port_take(port, fixture->now) : none;
}

static void step(struct crossbar_fixture *fixture) {
    run_cycle(fixture->engine);
    fixture->now++;
}

/* Cycles until the packet with `token` arrives. */
static uint64_t until(struct crossbar_fixture *fixture, unsigned output, uint32_t token) {
    uint64_t start = fixture->now;
    while (fixture->now < start + 100) {
        step(fixture);
        if (take(fixture, output).request.token == token) return fixture->now - start;
    }
    return NEVER;
}

TEST("a packet takes one cycle per flit plus the latency of switch and link") {
    static const unsigned cases[][4] = {{1, 1, 1, 2}, {1, 1, 5, 6}, {3, 2, 5, 9}};
    for (unsigned i = 0; i < 3; i++) {
        struct crossbar_fixture fixture = crossbar_fixture_make(cases[i][0], cases[i][1], 4);
        step(&fixture);
        push(&fixture, 1, 2, cases[i][2], 7);
        CHECK_EQ(until(&fixture, 2, 7), cases[i][3]);
        crossbar_fixture_release(&fixture);
    }
}

TEST("packets to different outputs do not interfere, and those to one output take turns") {
    struct crossbar_fixture fixture = crossbar_fixture_make(1, 1, 8);
    unsigned came[MEMBERS] = {0}, last = MEMBERS;
    step(&fixture);
    for (uint32_t i = 0; i < 2 * MEMBERS; i++) push(&fixture, i % MEMBERS, 3, 5, 1 + i % MEMBERS);
    for (unsigned cycle = 0; cycle < 41; cycle++) {
        step(&fixture);
        struct group_packet packet = take(&fixture, 3);
        if (!packet.request.token) continue;
        CHECK(packet.from != last);
        last = packet.from;
        came[packet.from]++;
    }
    for (unsigned i = 0; i < MEMBERS; i++) CHECK_EQ(came[i], 2u); /* one flit per cycle: 40, plus the latency */
    for (unsigned i = 0; i < MEMBERS; i++) push(&fixture, i, (i + 1) % MEMBERS, 5, 100 + i);
    for (unsigned i = 0; i < 6; i++) step(&fixture);
    for (unsigned i = 0; i < MEMBERS; i++) CHECK_EQ(take(&fixture, (i + 1) % MEMBERS).request.token, 100 + i);
    crossbar_fixture_release(&fixture);
}

TEST("a packet whose receiver is full blocks those behind it until an entry is free") {
    struct crossbar_fixture fixture = crossbar_fixture_make(1, 1, 1);
    step(&fixture);
    push(&fixture, 0, 1, 1, 1);
    for (unsigned i = 0; i < 4; i++) step(&fixture);
    CHECK(push(&fixture, 0, 1, 1, 2));
    for (unsigned i = 0; i < 20; i++) step(&fixture);
    CHECK(!push(&fixture, 0, 2, 1, 3)); /* the injection queue holds one packet */
    CHECK_EQ(take(&fixture, 1).request.token, 1u);
    CHECK_EQ(until(&fixture, 1, 2), 2u); /* the credit, then the link */
    CHECK(push(&fixture, 0, 2, 1, 3));
    CHECK_EQ(until(&fixture, 2, 3), 2u);
    crossbar_fixture_release(&fixture);
}

TEST("every packet arrives once, in order between an input and an output, also with queues of one entry") {
    for (unsigned queue = 1; queue < 4; queue++) {
        struct crossbar_fixture fixture = crossbar_fixture_make(1, 1, queue);
        uint64_t random = 17;
        uint32_t sent[MEMBERS][MEMBERS] = {0}, seen[MEMBERS][MEMBERS] = {0}, flits = 0, total = 0, out = 0;
        for (unsigned cycle = 0; cycle < 4000; cycle++) {
            step(&fixture);
            for (unsigned i = 0; i < MEMBERS && cycle < 3000; i++) {
                unsigned to = (unsigned)random_below(&random, MEMBERS), length = 1 + (unsigned)random_below(&random, 5);
                if (random_below(&random, 3) || !push(&fixture, i, to, length, sent[i][to] + 1)) continue;
                sent[i][to]++;
                total++;
                flits += length;
            }
            for (unsigned i = 0; i < MEMBERS; i++) {
                struct group_packet packet = random_below(&random, 2) ? take(&fixture, i) : (struct group_packet){0};
                if (!packet.request.token) continue;
                CHECK_EQ(packet.to, i);
                CHECK_EQ(packet.request.token, ++seen[packet.from][i]);
                out++;
            }
        }
        CHECK(total > 1000);
        CHECK_EQ(out, total);
        CHECK_EQ(count_in(fixture.stats, "l1.request_crossbar.packets"), total);
        CHECK_EQ(count_in(fixture.stats, "l1.request_crossbar.flits"), flits);
        crossbar_fixture_release(&fixture);
    }
}

/* Members on both sides of each boundary between the words of a bit set. */
static const unsigned edges[] = {0, 1, 63, 64, 65, 127, 128, 191, 192, 254, 255};
enum { EDGES = COUNT_OF(edges) };

TEST("inputs of a crossbar with more than 64 members take turns in ascending order, also across 64 and its multiples") {
    for (unsigned output = 0; output < EDGES; output++) {
        struct crossbar_fixture fixture = crossbar_fixture_of(GROUP_MEMBERS, GROUP_MEMBERS, 1, 1, 4);
        step(&fixture);
        for (uint32_t round = 0; round < 3; round++)
            for (unsigned i = 0; i < EDGES; i++) CHECK(push(&fixture, edges[i], edges[output], 1, 1 + i));
        for (unsigned i = 0; i < 2; i++) step(&fixture);
        for (unsigned i = 0; i < 3 * EDGES; i++, step(&fixture)) {
            struct group_packet packet = take(&fixture, edges[output]);
            CHECK_EQ(packet.request.token, 1 + i % EDGES);
            CHECK_EQ(packet.from, edges[i % EDGES]);
        }
        crossbar_fixture_release(&fixture);
    }
}

TEST("more than 64 inputs send to as many outputs in the same cycle") {
    struct crossbar_fixture fixture = crossbar_fixture_of(GROUP_MEMBERS, GROUP_MEMBERS, 1, 1, 4);
    step(&fixture);
    for (unsigned i = 0; i < GROUP_MEMBERS; i++) CHECK(push(&fixture, i, (i + 63) % GROUP_MEMBERS, 3, 1 + i));
    for (unsigned i = 0; i < 4; i++) step(&fixture);
    for (unsigned i = 0; i < GROUP_MEMBERS; i++)
        CHECK_EQ(take(&fixture, (i + 63) % GROUP_MEMBERS).request.token, 1 + i);
    crossbar_fixture_release(&fixture);
}

TEST("every packet of a crossbar with more inputs or more outputs than 64 arrives once and in order") {
    static const unsigned shapes[][2] = {{65, 3}, {3, 65}, {128, 64}, {64, 129}, {GROUP_MEMBERS, 200}};
    for (unsigned shape = 0; shape < COUNT_OF(shapes); shape++) {
        unsigned inputs = shapes[shape][0], outputs = shapes[shape][1], total = 0, out = 0;
        struct crossbar_fixture fixture = crossbar_fixture_of(inputs, outputs, 1, 1, 2);
        uint64_t random = 1 + shape;
        uint32_t(*sent)[GROUP_MEMBERS] = mem_alloc(GROUP_MEMBERS, sizeof *sent),
        (*seen)[GROUP_MEMBERS] = mem_alloc(GROUP_MEMBERS, sizeof *seen);
        for (unsigned cycle = 0; cycle < 1500; cycle++) {
            step(&fixture);
            for (unsigned i = 0; i < inputs && cycle < 300; i++) {
                unsigned to = (unsigned)random_below(&random, outputs);
                if (random_below(&random, 8) || !push(&fixture, i, to, 1 + i % 3, sent[i][to] + 1)) continue;
                sent[i][to]++;
                total++;
            }
            for (unsigned i = 0; i < outputs; i++) {
                struct group_packet packet = take(&fixture, i);
                if (!packet.request.token) continue;
                CHECK_EQ(packet.to, i);
                CHECK_EQ(packet.request.token, ++seen[packet.from][i]);
                out++;
            }
        }
        CHECK(total > 100);
        CHECK_EQ(out, total);
        free(sent);
        free(seen);
        crossbar_fixture_release(&fixture);
    }
}
