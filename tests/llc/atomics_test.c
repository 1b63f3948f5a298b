/* The hub of the atomics' LLC, between fake slices and a fake atomics' slice: whose turn it is, and what a step costs. */
#include <stdlib.h>

#include "fixture.h"
#include "llc/atomics.h"
#include "llc/llc.h"
#include "test.h"

enum { SLICES = 4, MCS = 2, PASS_CYCLES = 3 };

/* The test acts for the slices of both controllers and for those of the atomics' LLC. */
struct hub_fixture {
    struct fixture base;
    struct atomics *atomics;
    struct slice_ports slice[SLICES * MCS], shared[MCS];
};

static struct hub_fixture *hub_fixture_create(void) {
    static const char *const common[] = {"gpu.clusters=4",        "sm.count=4",
                                         "llc.slices_per_mc=4",   "llc.organisation=private",
                                         "atomics.pass_cycles=3", NULL};
    struct hub_fixture *hub = mem_alloc(1, sizeof *hub);
    unsigned component[SLICES * MCS + MCS];
    fixture_init(&hub->base, common, SETTINGS("dram.mcs=2"));
    CHECK_EQ(atomics_slices(hub->base.config), MCS);
    for (unsigned i = 0; i < COUNT_OF(component); i++) component[i] = add_neighbour(hub->base.engine, i);
    hub->atomics = atomics_create(hub->base.config, hub->base.engine, component);
    for (unsigned i = 0; i < SLICES * MCS; i++) atomics_connect(hub->atomics, i, &hub->slice[i]);
    for (unsigned i = 0; i < MCS; i++) atomics_connect(hub->atomics, SLICES * MCS + i, &hub->shared[i]);
    return hub;
}

static void hub_fixture_destroy(struct hub_fixture *hub) {
    atomics_destroy(hub->atomics);
    fixture_release(&hub->base);
    free(hub);
}

static uint64_t hub_now(const struct hub_fixture *hub) { return hub->base.engine->now; }

/* An atomic of a slice, numbered by its tag. Returns false if the port has no credit. */
static bool send(struct hub_fixture *hub, unsigned slice, uint32_t tag) {
    struct port *port = hub->slice[slice].to_atomics;
    if (!port_can_push(port, hub_now(hub))) return false;
    struct message message = {.kind = MESSAGE_ATOMIC, .target = (uint16_t)slice, .tag = tag};
    port_push(port, hub_now(hub), &message, sizeof message);
    return true;
}

TEST("slices that always have atomics to send take turns at the hub, one request per cycle") {
    struct hub_fixture *hub = hub_fixture_create();
    static const unsigned senders[] = {0, 1, 3}; /* the third has nothing to send */
    unsigned served[SLICES] = {0}, last = 0, count = 0;
    for (unsigned cycle = 0; cycle < 200; cycle++) {
        for (unsigned i = 0; i < COUNT_OF(senders); i++) send(hub, SLICES + senders[i], cycle);
        const struct message *message = port_peek(hub->shared[1].from_network, hub_now(hub));
        if (message) {
            unsigned slice = message->target - SLICES;
            if (count++) CHECK_EQ(slice, last == 3 ? 0u : last == 1 ? 3u : 1u);
            served[slice]++;
            last = slice;
            port_pop(hub->shared[1].from_network, hub_now(hub));
        }
        CHECK(!port_peek(hub->shared[0].from_network, hub_now(hub))); /* the other controller's */
        run_cycle(hub->base.engine);
    }
    CHECK_EQ(count, 200u - PASS_CYCLES - 1); /* from the first one's arrival on, one in each cycle */
    for (unsigned i = 0; i < COUNT_OF(senders); i++) CHECK(served[senders[i]] >= count / 3);
    CHECK_EQ(served[2], 0u);
    hub_fixture_destroy(hub);
}

TEST("an atomic reaches the atomics' slice after the pass and a cycle, and its reply returns to its own slice") {
    struct hub_fixture *hub = hub_fixture_create();
    for (unsigned slice = 0; slice < SLICES * MCS; slice++) {
        uint64_t sent = hub_now(hub);
        struct slice_ports *shared = &hub->shared[slice / SLICES];
        CHECK(send(hub, slice, 100 + slice));
        while (!port_peek(shared->from_network, hub_now(hub)) && hub_now(hub) < sent + 50) run_cycle(hub->base.engine);
        CHECK_EQ(hub_now(hub), sent + PASS_CYCLES + 1);
        struct message reply = *(const struct message *)port_take(shared->from_network, hub_now(hub));
        CHECK_EQ(reply.tag, 100 + slice);
        reply.kind = MESSAGE_DATA;
        port_push(shared->to_network, hub_now(hub), &reply, sizeof reply);
        sent = hub_now(hub);
        for (unsigned cycle = 0; cycle < 50; cycle++) {
            for (unsigned other = 0; other < SLICES * MCS; other++) {
                const struct message *answer = port_peek(hub->slice[other].from_atomics, hub_now(hub));
                if (!answer) continue;
                CHECK_EQ(other, slice);
                CHECK_EQ(answer->tag, 100 + slice);
                CHECK_EQ(hub_now(hub), sent + 1 + PASS_CYCLES);
                port_pop(hub->slice[other].from_atomics, hub_now(hub));
                sent = 0;
            }
            run_cycle(hub->base.engine);
        }
        CHECK_EQ(sent, 0u);
    }
    hub_fixture_destroy(hub);
}

TEST("a hub whose atomics' slice accepts nothing keeps all requests, and hands on every one of them later") {
    struct hub_fixture *hub = hub_fixture_create();
    unsigned sent = 0, received = 0;
    for (unsigned cycle = 0; cycle < 100; cycle++) {
        for (unsigned slice = 0; slice < SLICES; slice++) sent += send(hub, slice, sent);
        run_cycle(hub->base.engine);
    }
    CHECK_EQ(sent, SLICES * 2u * PASS_CYCLES + 2); /* as many as the ports hold */
    for (unsigned cycle = 0; cycle < 100; cycle++) {
        if (port_peek(hub->shared[0].from_network, hub_now(hub))) {
            port_pop(hub->shared[0].from_network, hub_now(hub));
            received++;
        }
        run_cycle(hub->base.engine);
    }
    CHECK_EQ(received, sent);
    hub_fixture_destroy(hub);
}
