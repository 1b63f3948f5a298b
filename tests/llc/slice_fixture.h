/* An LLC slice with fake networks, a fake memory and, on request, a fake control plane. */
#ifndef SLUICE_TESTS_LLC_SLICE_FIXTURE_H
#define SLUICE_TESTS_LLC_SLICE_FIXTURE_H

#include <stdlib.h>

#include "fixture.h"
#include "llc/llc.h"
#include "llc/route.h"
#include "test.h"

/* A slice without a machine. The test acts as the networks and memory: in each cycle first, then the slice ticks. */
struct slice_fixture {
    struct fixture base;
    struct slice *slice;
    struct port from_network, to_network, from_memory, to_memory, commands, reports, to_atomics, from_atomics;
    uint64_t memory_cycles; /* from a request's arrival at memory to its answer's departure; 0: the test answers */
    bool deaf_network;      /* takes no replies */
    bool deaf_memory;       /* takes no requests */
    struct message reply[512], request[512];
    uint64_t replied_at[512], requested_at[512]; /* when the network or memory saw it */
    unsigned replies, requests;
    uint64_t flushed_at; /* when the control plane saw the last report */
    unsigned flushes;
};

struct slice_options {
    unsigned memory_entries; /* depth of the port to memory; 0: 16 */
    bool commands;           /* there is a control plane, whose part is the test's as well */
    bool atomics;            /* and an atomics' LLC; the port to it has two entries */
    unsigned index;          /* of the slice */
};

static inline struct slice_fixture *slice_fixture_create_with(const char *const *settings,
                                                              struct slice_options options) {
    static const char *const common[] = {ONE_OF_EACH, "llc.latency_cycles=20", NULL};
    struct slice_fixture *slice = mem_alloc(1, sizeof *slice);
    fixture_init(&slice->base, common, settings);
    struct engine *engine = slice->base.engine;
    slice->slice = slice_create(slice->base.config, slice->base.llc, engine, slice->base.stats, options.index);
    unsigned id = slice_component(slice->slice), neighbour = add_neighbour(engine, 0);
    port_init(&slice->from_network, engine, "from network", neighbour, id, 512, 1);
    port_init(&slice->to_network, engine, "to network", id, neighbour, 4, 1);
    port_init(&slice->from_memory, engine, "from memory", neighbour, id, 512, 1);
    port_init(&slice->to_memory, engine, "to memory", id, neighbour,
              options.memory_entries ? options.memory_entries : 16, 1);
    port_init(&slice->commands, engine, "commands", neighbour, id, 2, 1);
    port_init(&slice->reports, engine, "reports", id, neighbour, 2, 1);
    port_init(&slice->to_atomics, engine, "to atomics", id, neighbour, 2, 1);
    port_init(&slice->from_atomics, engine, "from atomics", neighbour, id, 16, 1);
    struct slice_ports ports = {.from_network = &slice->from_network,
                                .to_network = &slice->to_network,
                                .from_memory = &slice->from_memory,
                                .to_memory = &slice->to_memory,
                                .commands = options.commands ? &slice->commands : NULL,
                                .reports = options.commands ? &slice->reports : NULL,
                                .to_atomics = options.atomics ? &slice->to_atomics : NULL,
                                .from_atomics = options.atomics ? &slice->from_atomics : NULL};
    slice_connect(slice->slice, &ports, 8);
    slice->memory_cycles = 100;
    return slice;
}

static inline struct slice_fixture *slice_fixture_create(const char *const *settings) {
    return slice_fixture_create_with(settings, (struct slice_options){0});
}

static inline void slice_fixture_destroy(struct slice_fixture *slice) {
    slice_destroy(slice->slice);
    port_release(&slice->from_network);
    port_release(&slice->to_network);
    port_release(&slice->from_memory);
    port_release(&slice->to_memory);
    port_release(&slice->commands);
    port_release(&slice->reports);
    port_release(&slice->to_atomics);
    port_release(&slice->from_atomics);
    fixture_release(&slice->base);
    free(slice);
}

static inline void memory_answers(struct slice_fixture *slice, struct message message, uint64_t extra) {
    message.kind = message.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    port_push_late(&slice->from_memory, slice->base.engine->now, extra, &message, sizeof message);
}

/* One cycle: the network and memory, then the slice. */
static inline void cycle(struct slice_fixture *slice) {
    uint64_t now = slice->base.engine->now;
    const struct message *message;
    while (!slice->deaf_network && (message = port_peek(&slice->to_network, now))) {
        REQUIRE(slice->replies < 512);
        slice->replied_at[slice->replies] = now;
        slice->reply[slice->replies++] = *message;
        port_pop(&slice->to_network, now);
    }
    while (!slice->deaf_memory && (message = port_peek(&slice->to_memory, now))) {
        REQUIRE(slice->requests < 512);
        struct message request = *message;
        slice->requested_at[slice->requests] = now;
        slice->request[slice->requests++] = request;
        port_pop(&slice->to_memory, now);
        if (slice->memory_cycles) memory_answers(slice, request, slice->memory_cycles - 1);
    }
    while (port_peek(&slice->reports, now)) {
        port_pop(&slice->reports, now);
        slice->flushed_at = now;
        slice->flushes++;
    }
    run_cycle(slice->base.engine);
}

static inline void cycles(struct slice_fixture *slice, unsigned count) {
    for (unsigned i = 0; i < count; i++) cycle(slice);
}

/* Until nothing is left to do. */
static inline void settle(struct slice_fixture *slice) {
    cycles(slice, 3000);
    engine_settle(slice->base.engine, slice->base.engine->now);
    char text[160] = "";
    engine_in_flight(slice->base.engine, text, sizeof text);
    CHECK_EQ((const char *)text, "");
}

static inline void ask(struct slice_fixture *slice, struct message message) {
    if (message.sectors == 0) message.sectors = 0x0F;
    route(slice->base.llc, &message, 0, 0); /* which says where in the slice's memory it is */
    port_push(&slice->from_network, slice->base.engine->now, &message, sizeof message);
}
static inline void ask_read(struct slice_fixture *slice, uint64_t address, uint32_t tag) {
    ask(slice, (struct message){.address = address, .tag = tag, .kind = MESSAGE_READ});
}
static inline void ask_write(struct slice_fixture *slice, uint64_t address, uint8_t sectors, uint8_t flags) {
    ask(slice, (struct message){.address = address, .kind = MESSAGE_WRITE, .sectors = sectors, .flags = flags});
}
static inline void ask_atomic(struct slice_fixture *slice, uint64_t address, uint8_t conflicts) {
    ask(slice, (struct message){.address = address, .kind = MESSAGE_ATOMIC, .sectors = 0x01, .conflicts = conflicts});
}

/* Fetches a line, and clears the recorded messages. */
static inline void bring(struct slice_fixture *slice, uint64_t address) {
    ask_read(slice, address, 0);
    settle(slice);
    slice->replies = slice->requests = 0;
}

/* Sends a flush command of the control plane. */
static inline void command_flush(struct slice_fixture *slice, struct slice_command command) {
    port_push(&slice->commands, slice->base.engine->now, &command, sizeof command);
}

#endif
