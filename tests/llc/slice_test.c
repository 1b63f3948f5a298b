#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "llc/llc.h"
#include "llc/organisation.h"
#include "llc/route.h"

/* A slice by itself. The test plays the networks and memory: it acts in a cycle, then the slice has its turn in it. */
struct lone_slice {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct llc_organisation *organisation;
    struct slice *slice;
    struct port from_network, to_network, from_memory, to_memory;
    uint64_t memory_cycles; /* from a request's arrival at memory to its answer's departure; 0: the test answers */
    bool deaf_network;      /* takes no replies */
    bool deaf_memory;       /* takes no requests */
    struct message reply[512], request[512];
    uint64_t replied_at[512], requested_at[512]; /* when the network or memory saw it */
    unsigned replies, requests;
};

static void no_tick(void *self, uint64_t now) { (void)self, (void)now; }

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_SETTINGS   ((const char *const[]){NULL})

static struct lone_slice *lone_slice_with(const char *const *settings, unsigned memory_room) {
    static const struct component_ops nobody = {.kind = "nobody", .tick = no_tick};
    static const char *const always[] = {"sm.count=1", "gpu.clusters=1",      "llc.slices_per_mc=1",
                                         "dram.mcs=1", "dram.mapping=linear", "llc.latency_cycles=20",
                                         NULL};
    struct lone_slice *lone = mem_alloc(1, sizeof *lone);
    struct error err = {0};
    lone->config = config_create(config_sections, config_section_count);
    for (unsigned i = 0; always[i]; i++) REQUIRE(config_set(lone->config, always[i], &err));
    for (; *settings; settings++) REQUIRE(config_set(lone->config, *settings, &err));
    config_check(lone->config, &err);
    CHECK_EQ((const char *)err.text, "");
    lone->engine = engine_create();
    lone->stats = stats_create();
    lone->map = address_map_create(lone->config, &err);
    struct llc_context llc_context = {lone->config, lone->map, lone->stats, NULL};
    lone->organisation = llc_organisation_create(&llc_context, &err);
    REQUIRE(lone->organisation);
    lone->slice = slice_create(lone->config, lone->organisation, lone->engine, lone->stats, 0);
    unsigned id = slice_component(lone->slice), other = engine_add(lone->engine, &nobody, NULL, 0);
    port_init(&lone->from_network, lone->engine, "from network", other, id, 512, 1);
    port_init(&lone->to_network, lone->engine, "to network", id, other, 4, 1);
    port_init(&lone->from_memory, lone->engine, "from memory", other, id, 512, 1);
    port_init(&lone->to_memory, lone->engine, "to memory", id, other, memory_room, 1);
    struct slice_ports ports = {.from_network = &lone->from_network,
                                .to_network = &lone->to_network,
                                .from_memory = &lone->from_memory,
                                .to_memory = &lone->to_memory};
    slice_connect(lone->slice, &ports, 8);
    lone->memory_cycles = 100;
    return lone;
}

static struct lone_slice *lone_slice(const char *const *settings) { return lone_slice_with(settings, 16); }

static void lone_slice_destroy(struct lone_slice *lone) {
    slice_destroy(lone->slice);
    lone->organisation->ops->destroy(lone->organisation);
    address_map_destroy(lone->map);
    port_release(&lone->from_network);
    port_release(&lone->to_network);
    port_release(&lone->from_memory);
    port_release(&lone->to_memory);
    stats_destroy(lone->stats);
    engine_destroy(lone->engine);
    config_destroy(lone->config);
    free(lone);
}

static void memory_answers(struct lone_slice *lone, struct message message, uint64_t extra) {
    message.kind = message.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    port_push_late(&lone->from_memory, lone->engine->now, extra, &message, sizeof message);
}

/* One cycle: the network and memory, then the slice. */
static void cycle(struct lone_slice *lone) {
    uint64_t now = lone->engine->now;
    const struct message *message;
    while (!lone->deaf_network && (message = port_peek(&lone->to_network, now))) {
        REQUIRE(lone->replies < 512);
        lone->replied_at[lone->replies] = now;
        lone->reply[lone->replies++] = *message;
        port_pop(&lone->to_network, now);
    }
    while (!lone->deaf_memory && (message = port_peek(&lone->to_memory, now))) {
        REQUIRE(lone->requests < 512);
        struct message request = *message;
        lone->requested_at[lone->requests] = now;
        lone->request[lone->requests++] = request;
        port_pop(&lone->to_memory, now);
        if (lone->memory_cycles) memory_answers(lone, request, lone->memory_cycles - 1);
    }
    engine_run_until(lone->engine, now + 1);
    lone->engine->now = now + 1;
}

static void cycles(struct lone_slice *lone, unsigned count) {
    for (unsigned i = 0; i < count; i++) cycle(lone);
}

/* Until nothing is left to do. */
static void settle(struct lone_slice *lone) {
    cycles(lone, 3000);
    engine_settle(lone->engine, lone->engine->now);
    char text[160] = "";
    engine_in_flight(lone->engine, text, sizeof text);
    CHECK_EQ((const char *)text, "");
}

static void ask(struct lone_slice *lone, struct message message) {
    if (message.sectors == 0) message.sectors = 0x0F;
    route(lone->organisation, &message, 0, 0); /* which says where in the slice's memory it is */
    port_push(&lone->from_network, lone->engine->now, &message, sizeof message);
}
static void ask_read(struct lone_slice *lone, uint64_t address, uint32_t tag) {
    ask(lone, (struct message){.address = address, .tag = tag, .kind = MESSAGE_READ});
}
static void ask_write(struct lone_slice *lone, uint64_t address, uint8_t sectors, uint8_t flags) {
    ask(lone, (struct message){.address = address, .kind = MESSAGE_WRITE, .sectors = sectors, .flags = flags});
}
static void ask_atomic(struct lone_slice *lone, uint64_t address, uint8_t conflicts) {
    ask(lone, (struct message){.address = address, .kind = MESSAGE_ATOMIC, .sectors = 0x01, .conflicts = conflicts});
}

/* Brings a line in, and forgets that it did. */
static void bring(struct lone_slice *lone, uint64_t address) {
    ask_read(lone, address, 0);
    settle(lone);
    lone->replies = lone->requests = 0;
}

static uint64_t count(const struct lone_slice *lone, const char *name) {
    bool found;
    uint64_t value = stats_get(lone->stats, name, &found);
    REQUIRE(found);
    return value;
}

TEST("a hit is answered latency_cycles after its arrival") {
    static const unsigned latencies[] = {1, 20, 120};
    for (unsigned i = 0; i < COUNT_OF(latencies); i++) {
        char setting[40];
        snprintf(setting, sizeof setting, "llc.latency_cycles=%u", latencies[i]);
        struct lone_slice *lone = lone_slice(SETTINGS(setting));
        bring(lone, 0x1000);
        uint64_t arrives = lone->engine->now + 1;
        ask(lone, (struct message){.address = 0x1000, .tag = 77, .source = 5, .kind = MESSAGE_READ});
        settle(lone);
        REQUIRE(lone->replies == 1);
        CHECK_EQ(lone->replied_at[0], arrives + latencies[i] + 1); /* the way out takes a cycle */
        CHECK_EQ(lone->reply[0].kind, MESSAGE_DATA);
        CHECK_EQ(lone->reply[0].tag, 77u);
        CHECK_EQ(lone->reply[0].source, 5);
        CHECK_EQ(lone->requests, 0u);
        CHECK_EQ(count(lone, "llc.read_hits"), 1u);
        CHECK_EQ(count(lone, "llc.read_misses"), 1u);
        lone_slice_destroy(lone);
    }
}

TEST("a miss goes to memory at its lookup and is answered in the cycle in which its line comes") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    uint64_t arrives = lone->engine->now + 1;
    ask_read(lone, 0x1000, 1);
    settle(lone);
    REQUIRE(lone->replies == 1 && lone->requests == 1);
    CHECK_EQ(lone->requested_at[0], arrives + 20 + 1);
    CHECK_EQ(lone->request[0].kind, MESSAGE_READ);
    CHECK_EQ(lone->request[0].address, 0x1000u);
    CHECK_EQ(lone->request[0].sectors, 0x0F);
    CHECK_EQ(lone->replied_at[0], arrives + 20 + 1 + 100 + 1);
    CHECK_EQ(count(lone, "llc.fills"), 1u);
    lone_slice_destroy(lone);
}

TEST("a line of 128 B keeps a data port of 32 B for four cycles, a sector for one, and an acknowledgement for one") {
    static const struct {
        const char *port;
        uint8_t sectors;
        unsigned cycles;
    } cases[] = {{"llc.port_bytes=32", 0x0F, 4}, {"llc.port_bytes=32", 0x01, 1},  {"llc.port_bytes=32", 0x05, 2},
                 {"llc.port_bytes=64", 0x0F, 2}, {"llc.port_bytes=128", 0x0F, 1}, {"llc.port_bytes=24", 0x0F, 6}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct lone_slice *lone = lone_slice(SETTINGS(cases[i].port));
        bring(lone, 0x1000);
        uint64_t busy = count(lone, "llc.data_port_cycles");
        for (unsigned n = 0; n < 20; n++)
            ask(lone, (struct message){.address = 0x1000, .kind = MESSAGE_READ, .sectors = cases[i].sectors});
        settle(lone);
        REQUIRE(lone->replies == 20);
        for (unsigned n = 1; n < 20; n++) CHECK_EQ(lone->replied_at[n], lone->replied_at[n - 1] + cases[i].cycles);
        CHECK_EQ(count(lone, "llc.data_port_cycles") - busy, 20u * cases[i].cycles);
        lone_slice_destroy(lone);
    }
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    for (unsigned n = 0; n < 10; n++) ask_write(lone, 0x1000, 0x0F, 0);
    settle(lone);
    for (unsigned n = 1; n < 10; n++) CHECK_EQ(lone->replied_at[n], lone->replied_at[n - 1] + 1);
    lone_slice_destroy(lone);
}

TEST("requests for one line that is on its way fetch it once, and are answered in order, a line's time apart") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    for (uint32_t i = 0; i < 10; i++) ask_read(lone, 0x1000, i);
    settle(lone);
    CHECK_EQ(lone->requests, 1u);
    REQUIRE(lone->replies == 10);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQ(lone->reply[i].tag, i);
        CHECK_EQ(lone->replied_at[i], lone->replied_at[0] + 4 * i);
    }
    CHECK_EQ(count(lone, "llc.read_misses"), 1u);
    CHECK_EQ(count(lone, "llc.read_pending_hits"), 9u);
    CHECK_EQ(count(lone, "llc.mshrs_peak"), 1u);
    lone_slice_destroy(lone);
}

TEST("a write of a whole line fetches nothing; one of a part of it does, and is acknowledged when the line is there") {
    static const struct {
        uint8_t sectors, flags;
        bool fetches;
    } cases[] = {{0x0F, 0, false}, {0x07, 0, true}, {0x01, 0, true}, {0x0F, MESSAGE_PARTIAL, true}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct lone_slice *lone = lone_slice(NO_SETTINGS);
        uint64_t arrives = lone->engine->now + 1;
        ask_write(lone, 0x1000, cases[i].sectors, cases[i].flags);
        settle(lone);
        REQUIRE(lone->replies == 1);
        CHECK_EQ(lone->reply[0].kind, MESSAGE_ACK);
        CHECK_EQ(lone->requests, cases[i].fetches ? 1u : 0u);
        CHECK_EQ(lone->replied_at[0], arrives + 20 + (cases[i].fetches ? 101 : 0) + 1);
        ask_read(lone, 0x1000, 0);
        settle(lone);
        CHECK_EQ(count(lone, "llc.write_misses"), 1u);
        CHECK_EQ(count(lone, "llc.read_hits"), 1u);
        lone_slice_destroy(lone);
    }
}

TEST("a write to a line that is there, or on its way, asks nothing of memory") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    bring(lone, 0x1000);
    ask_write(lone, 0x1000, 0x01, 0);
    settle(lone);
    CHECK_EQ(lone->requests, 0u);
    ask_read(lone, 0x2000, 0);
    ask_write(lone, 0x2000, 0x01, 0);
    settle(lone);
    CHECK_EQ(lone->requests, 1u);
    CHECK_EQ(count(lone, "llc.write_hits"), 2u);
    lone_slice_destroy(lone);
}

TEST("with write_allocate=through a write that misses goes to memory, which acknowledges it, and fetches its line") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.write_allocate=through"));
    ask_write(lone, 0x1000, 0x0F, 0); /* even one of the whole line */
    ask_write(lone, 0x1000, 0x02, 0); /* finds it on its way: goes on to memory, but fetches nothing */
    settle(lone);
    REQUIRE(lone->requests == 3);
    CHECK_EQ(lone->request[0].kind, MESSAGE_WRITE);
    CHECK_EQ(lone->request[0].sectors, 0x0F);
    CHECK_EQ(lone->request[1].kind, MESSAGE_READ);
    CHECK_EQ(lone->request[2].kind, MESSAGE_WRITE);
    CHECK_EQ(lone->request[2].sectors, 0x02);
    REQUIRE(lone->replies == 2);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(lone->reply[i].kind, MESSAGE_ACK);
        CHECK(lone->replied_at[i] > lone->requested_at[2 * i] + 100);
    }
    CHECK_EQ(count(lone, "llc.write_misses"), 1u);
    CHECK_EQ(count(lone, "llc.write_hits"), 1u);
    CHECK_EQ(count(lone, "llc.writes_through"), 2u);
    ask_write(lone, 0x1000, 0x01, 0); /* a hit stays in the slice */
    settle(lone);
    CHECK_EQ(lone->requests, 3u);
    lone_slice_destroy(lone);
}

TEST("a line that such a write has fetched is not modified, and is replaced without being written back") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.write_allocate=through", "llc.slice_kb=1", "llc.ways=1"));
    ask_write(lone, 0x0000, 0x01, 0);
    settle(lone);
    ask_read(lone, 0x0400, 0); /* the same set */
    settle(lone);
    CHECK_EQ(count(lone, "llc.evictions"), 1u);
    CHECK_EQ(count(lone, "llc.write_backs"), 0u);
    lone_slice_destroy(lone);
}

TEST("with whole_write_backs a modified line goes to memory with all its sectors") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.whole_write_backs=true", "llc.slice_kb=1", "llc.ways=1"));
    bring(lone, 0x0000);
    ask_write(lone, 0x0000, 0x02, 0);
    ask_read(lone, 0x0400, 0);
    settle(lone);
    REQUIRE(lone->requests == 2);
    CHECK_EQ(lone->request[0].kind, MESSAGE_WRITE);
    CHECK_EQ(lone->request[0].sectors, 0x0F);
    lone_slice_destroy(lone);
}

/* A slice of eight lines: one set. */
#define ONE_SET "llc.slice_kb=1", "llc.ways=8"

TEST("a modified line is written back when it is replaced, with the sectors that were written; another is not") {
    struct lone_slice *lone = lone_slice(SETTINGS(ONE_SET));
    for (unsigned i = 0; i < 8; i++) bring(lone, 0x1000 * i);
    ask_write(lone, 0x0000, 0x02, 0);
    ask_write(lone, 0x0000, 0x08, 0);
    settle(lone);
    ask_atomic(lone, 0x2000, 1);
    settle(lone);
    lone->requests = 0;
    for (unsigned i = 8; i < 16; i++) {
        ask_read(lone, 0x1000 * i, 0);
        settle(lone);
    }
    REQUIRE(lone->requests == 10); /* eight fetches and two write-backs, each before the fetch that needs its room */
    unsigned backs = 0;
    for (unsigned i = 0; i < 10; i++) {
        if (lone->request[i].kind == MESSAGE_READ) continue;
        CHECK_EQ(lone->request[i].kind, MESSAGE_WRITE);
        CHECK_EQ(lone->request[i].address, backs ? 0x2000u : 0x0000u); /* in the order of their last use */
        CHECK_EQ(lone->request[i].sectors, backs ? 0x01 : 0x0A);
        CHECK_EQ(lone->request[i + 1].kind, MESSAGE_READ);
        backs++;
    }
    CHECK_EQ(backs, 2u);
    CHECK_EQ(count(lone, "llc.write_backs"), 2u);
    CHECK_EQ(count(lone, "llc.evictions"), 8u);
    ask_read(lone, 0x0000, 0);
    settle(lone);
    CHECK_EQ(count(lone, "llc.read_misses"), 17u);
    lone_slice_destroy(lone);
}

TEST("what was written back and comes again is no longer modified") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.slice_kb=1", "llc.ways=1")); /* eight sets of one line */
    ask_write(lone, 0x0000, 0x0F, 0);
    settle(lone);
    for (unsigned i = 1; i <= 4; i++) {
        ask_read(lone, 0x0400 * (i % 2), 0); /* two lines of one set in turns */
        settle(lone);
    }
    CHECK_EQ(count(lone, "llc.write_backs"), 1u);
    CHECK_EQ(count(lone, "llc.evictions"), 4u);
    lone_slice_destroy(lone);
}

TEST("atomics keep the lookup for as many cycles as lanes meet on a word") {
    static const struct {
        const char *cycles;
        uint8_t conflicts;
        unsigned apart;
    } cases[] = {{"llc.atomic_cycles=1", 1, 1},
                 {"llc.atomic_cycles=1", 8, 8},
                 {"llc.atomic_cycles=3", 8, 24},
                 {"llc.atomic_cycles=1", 32, 32}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct lone_slice *lone = lone_slice(SETTINGS(cases[i].cycles));
        bring(lone, 0x1000);
        for (unsigned n = 0; n < 5; n++) ask_atomic(lone, 0x1000, cases[i].conflicts);
        settle(lone);
        REQUIRE(lone->replies == 5);
        for (unsigned n = 1; n < 5; n++) CHECK_EQ(lone->replied_at[n], lone->replied_at[n - 1] + cases[i].apart);
        CHECK_EQ(lone->reply[0].kind, MESSAGE_DATA);
        CHECK_EQ(count(lone, "llc.atomic_hits"), 5u);
        lone_slice_destroy(lone);
    }
}

TEST("an atomic that misses fetches its line first") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    ask_atomic(lone, 0x1000, 1);
    ask_atomic(lone, 0x1000, 1);
    settle(lone);
    CHECK_EQ(lone->requests, 1u);
    CHECK_EQ(lone->replies, 2u);
    CHECK_EQ(count(lone, "llc.atomic_misses"), 1u);
    CHECK_EQ(count(lone, "llc.atomic_hits"), 1u);
    lone_slice_destroy(lone);
}

TEST("with every MSHR in use a miss holds up what is behind it, even a hit, until one is free") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.mshrs=1"));
    bring(lone, 0x1000);
    ask_read(lone, 0x2000, 1);
    ask_read(lone, 0x3000, 2);
    ask_read(lone, 0x1000, 3);
    settle(lone);
    REQUIRE(lone->replies == 3);
    CHECK_EQ(lone->reply[0].tag, 1u);
    /* The second is looked up a cycle after the first and fetched the cycle after the first has been answered; the
     * third hits and overtakes it. */
    CHECK_EQ(lone->requested_at[1], lone->requested_at[0] + 102);
    CHECK_EQ(count(lone, "llc.reservation_fail.mshr"), 101u);
    CHECK_EQ(lone->reply[1].tag, 3u);
    CHECK_EQ(lone->reply[2].tag, 2u);
    lone_slice_destroy(lone);
}

TEST("a request whose line has no room for one more waiter holds up what is behind it, if nothing can be set aside") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.mshr_merges=2", "llc.replay_queue=0"));
    bring(lone, 0x1000);
    for (uint32_t i = 0; i < 3; i++) ask_read(lone, 0x2000, i);
    ask_read(lone, 0x1000, 3);
    settle(lone);
    REQUIRE(lone->replies == 4);
    for (uint32_t i = 0; i < 4; i++) CHECK_EQ(lone->reply[i].tag, i);
    CHECK_EQ(lone->requests, 1u);
    CHECK_EQ(count(lone, "llc.reservation_fail.mshr_merge"),
             99u); /* from its lookup, two cycles after the first one's, until the line is there */
    lone_slice_destroy(lone);
}

TEST("where it can be set aside, others pass, and it is answered when the line has come") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.mshr_merges=2", "llc.replay_queue=2"));
    bring(lone, 0x1000);
    for (uint32_t i = 0; i < 4; i++) ask_read(lone, 0x2000, i);
    ask_read(lone, 0x1000, 9);
    settle(lone);
    REQUIRE(lone->replies == 5);
    CHECK_EQ(lone->reply[0].tag, 9u);
    for (uint32_t i = 0; i < 4; i++) CHECK_EQ(lone->reply[i + 1].tag, i);
    CHECK_EQ(lone->requests, 1u);
    CHECK_EQ(count(lone, "llc.replayed"), 2u);
    CHECK_EQ(count(lone, "llc.reservation_fail.mshr_merge"), 0u);
    lone_slice_destroy(lone);
}

TEST("a set whose lines are all on their way holds up a further miss to it") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.slice_kb=1", "llc.ways=1"));
    ask_read(lone, 0x0000, 1);
    ask_read(lone, 0x0400, 2); /* of the same set */
    settle(lone);
    CHECK_EQ(lone->replies, 2u);
    CHECK_EQ(lone->requested_at[1], lone->requested_at[0] + 101); /* looked up when the first line is there */
    CHECK_EQ(count(lone, "llc.reservation_fail.line"), 100u);
    lone_slice_destroy(lone);
}

TEST("while the network takes no replies, lookups stop when the reply queue is full") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.reply_queue=3"));
    bring(lone, 0x1000);
    lone->deaf_network = true;
    for (uint32_t i = 0; i < 12; i++) ask_read(lone, 0x1000, i);
    cycles(lone, 500);
    engine_settle(lone->engine, lone->engine->now);
    CHECK_EQ(count(lone, "llc.read_hits"), 4u + 3); /* four in the network's queue, three in the slice's */
    uint64_t blocked = count(lone, "llc.reservation_fail.reply_queue");
    CHECK(blocked > 400);
    lone->deaf_network = false;
    settle(lone);
    REQUIRE(lone->replies == 12);
    for (uint32_t i = 0; i < 12; i++) CHECK_EQ(lone->reply[i].tag, i);
    lone_slice_destroy(lone);
}

TEST("while memory takes nothing, misses stop when the way to it is full, and hits behind them wait") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    bring(lone, 0x10000);
    lone->deaf_memory = true;
    for (uint32_t i = 0; i < 18; i++) ask_read(lone, 0x1000 + 128 * i, i);
    ask_read(lone, 0x10000, 99);
    cycles(lone, 500);
    engine_settle(lone->engine, lone->engine->now);
    CHECK_EQ(count(lone, "llc.read_misses"), 1u + 16); /* as many as the port takes */
    CHECK_EQ(lone->replies, 0u);
    CHECK(count(lone, "llc.reservation_fail.memory_queue") > 400);
    lone->deaf_memory = false;
    settle(lone);
    CHECK_EQ(lone->replies, 19u);
    CHECK_EQ(count(lone, "llc.read_hits"), 1u);
    lone_slice_destroy(lone);
}

TEST("modified lines are replaced also where memory takes one request at a time") {
    struct lone_slice *lone = lone_slice_with(
        SETTINGS(ONE_SET, "llc.mshrs=1", "llc.mshr_merges=1", "llc.replay_queue=0", "llc.reply_queue=1"), 1);
    for (unsigned i = 0; i < 8; i++) ask_write(lone, 0x1000 * i, 0x0F, 0);
    for (unsigned i = 8; i < 16; i++) ask_read(lone, 0x1000 * i, 0);
    for (unsigned i = 16; i < 24; i++) ask_write(lone, 0x1000 * i, 0x01, 0);
    settle(lone);
    CHECK_EQ(lone->replies, 24u);
    CHECK_EQ(count(lone, "llc.write_backs"), 8u);
    lone_slice_destroy(lone);
}

TEST("one request is looked up in a cycle") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    for (unsigned i = 0; i < 10; i++) ask_read(lone, 0x1000 + 128 * i, i);
    settle(lone);
    REQUIRE(lone->requests == 10);
    for (unsigned i = 1; i < 10; i++) CHECK_EQ(lone->requested_at[i], lone->requested_at[i - 1] + 1);
    lone_slice_destroy(lone);
}

TEST("a slice holds as many lines as its size says, also in 48 sets") {
    struct lone_slice *lone =
        lone_slice(SETTINGS("llc.slice_kb=96", "llc.ways=16", "llc.latency_cycles=1", "llc.mshrs=1024"));
    lone->memory_cycles = 5;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned line = 0; line < 768; line++) {
            ask_read(lone, 128 * line, 0);
            cycles(lone, 4);
            lone->replies = lone->requests = 0;
        }
    settle(lone);
    CHECK_EQ(count(lone, "llc.read_misses"), 768u);
    CHECK_EQ(count(lone, "llc.read_hits"), 768u);
    CHECK_EQ(count(lone, "llc.evictions"), 0u);
    lone_slice_destroy(lone);
}

TEST("a line of one program is not a hit for another, and memory is told whose it is") {
    struct lone_slice *lone = lone_slice(NO_SETTINGS);
    lone->organisation->next_program = lone->organisation;
    bring(lone, 0x1000);
    ask(lone, (struct message){.address = 0x1000, .kind = MESSAGE_READ, .program = 1});
    settle(lone);
    REQUIRE(lone->requests == 1);
    CHECK_EQ(lone->request[0].program, 1);
    CHECK_EQ(lone->request[0].address, 0x1000u);
    lone_slice_destroy(lone);
}

TEST("a slice that waits says what for") {
    struct lone_slice *lone = lone_slice(SETTINGS("llc.mshrs=1"));
    lone->memory_cycles = 0;
    ask_read(lone, 0x1000, 0);
    ask_read(lone, 0x2000, 0);
    cycles(lone, 50);
    char *told;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    engine_explain(lone->engine, out);
    fclose(out);
    CHECK_TEXT(told, "slice 0");
    CHECK_TEXT(told, "waits for an MSHR");
    CHECK_TEXT(told, "1 lines fetched from memory");
    free(told);
    lone_slice_destroy(lone);
}
