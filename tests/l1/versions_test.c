/* Cooperating groups with random reads and writes of few lines: no fill, from whatever source and however late, is
 * older than coherence allows.
 *
 * A store creates a new version of its line when it reaches the LLC. The test keeps versions outside of the machine:
 * those in the LLC, those of lines in the nodes, and those of lines in flight, which are written into the messages: in
 * `place` of replies of the LLC, in `since` of answers of another group. The test reads them from the ports between
 * two cycles. It checks two properties:
 *   - A fill is no older than the last store of its group before the request, and no older than any store of earlier
 *     kernels.
 *   - A fill that is kept is no older than any store of its group.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cache/cache.h"
#include "fixture.h"
#include "l1/cooperation.h"

enum {
    STORES = 4096,
    SMS = 8,
    GROUPS = 4,
    NODES = 2,
    L1S = GROUPS * NODES,
    LINES = 24,
    LINE_LOG2 = 7,
    EVENTS = 64,
    PENDING = 512
};

struct event {
    enum l1_event event;
    unsigned node, line;
};

/* The L1s of all groups. The test acts as the SMs, the network, the LLC and the control plane. */
struct l1s_fixture {
    struct l1_watch watch; /* the first member: `see` is called with it */
    struct fixture base;
    struct l1 *l1;
    unsigned sm_component[SMS], network;
    struct port to_network[L1S], from_network[L1S], commands[L1S], reports[L1S];
    struct port *replies_out[L1S], *replies_in[L1S]; /* Q3, Q7 */
    uint32_t outstanding;
    uint64_t random, now;

    struct event event[EVENTS]; /* of this cycle */
    unsigned events;
    uint32_t version;       /* the newest of any line */
    uint32_t memory[LINES]; /* in the LLC, */
    uint32_t at_end[LINES]; /* and what it was when the last kernel ended */
    struct stores {
        unsigned sent, done;      /* stores that were sent, and that have reached the LLC */
        uint32_t version[STORES]; /* made by each, the first being number 1 */
    } stores[GROUPS][LINES];
    unsigned floor[L1S][LINES]; /* stores of the group when the line was asked for */
    uint32_t held[L1S][LINES];  /* by the node; 0: it is not there */
    uint64_t fills[L1S];        /* counted by the nodes */
    unsigned remote_fills;
};

static void see(struct l1_watch *watch, unsigned node, enum l1_event event, uint64_t key, uint64_t now) {
    struct l1s_fixture *fixture = (struct l1s_fixture *)watch;
    (void)now;
    if (event == L1_EVENT_INVALIDATE) return;
    REQUIRE(fixture->events < EVENTS);
    fixture->event[fixture->events++] = (struct event){event, node, (unsigned)key};
}

static void connect(struct l1s_fixture *fixture, unsigned node) {
    unsigned component = fixture->l1->ops->endpoint_component(fixture->l1, node);
    port_init(&fixture->to_network[node], fixture->base.engine, "to network", component, fixture->network, 2, 1);
    port_init(&fixture->from_network[node], fixture->base.engine, "from network", fixture->network, component, PENDING,
              1);
    port_init(&fixture->commands[node], fixture->base.engine, "commands", fixture->network, component, 2, 1);
    port_init(&fixture->reports[node], fixture->base.engine, "reports", component, fixture->network, 2, 1);
    fixture->l1->ops->connect(fixture->l1, node,
                              &(struct l1_ports){&fixture->to_network[node], &fixture->from_network[node], NULL});
    fixture->l1->ops->connect_control(fixture->l1, node, &fixture->commands[node], &fixture->reports[node]);
    for (unsigned i = 0; i < fixture->base.engine->port_count; i++) {
        struct port *port = fixture->base.engine->ports[i];
        if (port->sender == component && strcmp(port->name, "replies to other groups") == 0)
            fixture->replies_out[node] = port;
        if (port->receiver == component && strcmp(port->name, "replies from other groups") == 0)
            fixture->replies_in[node] = port;
    }
    REQUIRE(fixture->replies_out[node] && fixture->replies_in[node]);
}

static struct l1s_fixture *l1s_fixture_create(const char *const *settings, uint64_t seed) {
    static const char *const common[] = {
        "sm.count=8",   "gpu.clusters=4", "group.nodes=2",     "llc.slices_per_mc=1", "dram.mcs=1",
        "l1.size_kb=1", "l1.ways=2",      "noc.topology=full", "dram.mapping=linear", NULL};
    struct l1s_fixture *fixture = mem_alloc(1, sizeof *fixture);
    fixture_init(&fixture->base, common, settings);
    fixture->watch.observe = see;
    fixture->random = seed;
    for (unsigned i = 0; i < SMS; i++) fixture->sm_component[i] = add_neighbour(fixture->base.engine, i);
    fixture->network = add_neighbour(fixture->base.engine, 0);
    fixture->l1 = fixture_create_l1(&fixture->base, (struct l1_context){.sms = SMS,
                                                                        .clusters = GROUPS,
                                                                        .sm_component = fixture->sm_component,
                                                                        .watch = &fixture->watch});
    for (unsigned node = 0; node < L1S; node++) connect(fixture, node);
    return fixture;
}

static void l1s_fixture_destroy(struct l1s_fixture *fixture) {
    char text[160];
    CHECK(!engine_in_flight(fixture->base.engine, text, sizeof text));
    fixture->l1->ops->destroy(fixture->l1);
    for (unsigned i = 0; i < L1S; i++) {
        port_release(&fixture->to_network[i]);
        port_release(&fixture->from_network[i]);
        port_release(&fixture->commands[i]);
        port_release(&fixture->reports[i]);
    }
    fixture_release(&fixture->base);
    free(fixture);
}

static uint64_t below(struct l1s_fixture *fixture, uint64_t bound) { return random_below(&fixture->random, bound); }

static unsigned line_of(const struct message *message) { return (unsigned)(message->address >> LINE_LOG2); }

/* The LLC accepts requests at random times, and answers those of a node in order. */
static void play_llc(struct l1s_fixture *fixture) {
    for (unsigned node = 0; node < L1S; node++) {
        const struct message *request = port_peek(&fixture->to_network[node], fixture->now);
        if (!request || below(fixture, 4)) continue;
        struct message reply = *request;
        port_pop(&fixture->to_network[node], fixture->now);
        unsigned line = line_of(&reply);
        if (reply.kind == MESSAGE_READ) {
            reply.kind = MESSAGE_DATA;
            reply.place = fixture->memory[line];
        } else {
            struct stores *stores = &fixture->stores[node / NODES][line];
            REQUIRE(stores->done < stores->sent && stores->sent < STORES);
            fixture->memory[line] = stores->version[++stores->done] = ++fixture->version;
            reply.kind = reply.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
        }
        port_push_late(&fixture->from_network[node], fixture->now, below(fixture, 60), &reply, sizeof reply);
    }
}

static void play_sm(struct l1s_fixture *fixture, unsigned sm, bool busy) {
    uint32_t token[L1_COMPLETIONS];
    fixture->outstanding -= fixture->l1->ops->tick(fixture->l1, sm, fixture->now, token);
    if (!busy || below(fixture, 3)) return;
    struct l1_request request = {.address = below(fixture, LINES) << LINE_LOG2,
                                 .kind = MESSAGE_READ,
                                 .sectors = 0x0F,
                                 .conflicts = 1,
                                 .warp = (uint8_t)below(fixture, 8)};
    if (below(fixture, 24) == 0) request.kind = below(fixture, 4) ? MESSAGE_WRITE : MESSAGE_ATOMIC;
    request.bypass = request.kind == MESSAGE_READ && below(fixture, 20) == 0;
    fixture->outstanding += fixture->l1->ops->access(fixture->l1, sm, &request, fixture->now) < L1_ACCEPTED;
}

struct arrival {
    uint32_t version; /* 0: no fill */
    unsigned line;
    bool remote;
};

/* The fill of a node in this cycle, if there is one. */
static struct arrival arrival_at(const struct l1s_fixture *fixture, unsigned node, const uint32_t *popped) {
    const struct port *network = &fixture->from_network[node], *others = fixture->replies_in[node];
    if (network->popped != popped[0]) {
        const struct message *reply = (const void *)network->slot[(network->popped - 1) & network->mask].message;
        bool past = reply->tag >> 30 == 1; /* a bypassing access */
        return (struct arrival){past ? 0 : (uint32_t)reply->place, line_of(reply), false};
    }
    if (others->popped == popped[1]) return (struct arrival){0};
    const struct coop_message *answer = (const void *)others->slot[(others->popped - 1) & others->mask].message;
    return (struct arrival){answer->kind == COOP_DATA ? answer->since : 0, (unsigned)answer->key, true};
}

/* Whether the version has the first `number` stores in it. */
static bool has_stores(const struct stores *stores, unsigned number, uint32_t version) {
    return stores->done >= number && version >= stores->version[number];
}

/* Follows a node through a cycle: at most one fill, then at most one lookup. */
static void follow(struct l1s_fixture *fixture, unsigned node, const uint32_t *popped, uint32_t pushed) {
    struct arrival arrival = arrival_at(fixture, node, popped);
    unsigned line = arrival.line;
    struct stores *stores = fixture->stores[node / NODES];
    uint64_t fills = stats_instance(fixture->base.stats, (unsigned)stats_find(fixture->base.stats, "l1.fills"), node);
    bool taken = fills != fixture->fills[node]; /* else it was late or stale */
    fixture->fills[node] = fills;
    if (taken) {
        REQUIRE(arrival.version);
        CHECK(has_stores(&stores[line], fixture->floor[node][line], arrival.version));
        CHECK(arrival.version >= fixture->at_end[line]);
        fixture->remote_fills += arrival.remote;
    }
    for (unsigned i = 0; i < fixture->events; i++) {
        const struct event *event = &fixture->event[i];
        if (event->node != node) continue;
        switch (event->event) {
        case L1_EVENT_INSERT:
            REQUIRE(taken && event->line == line);
            CHECK(has_stores(&stores[line], stores[line].sent, arrival.version));
            fixture->held[node][line] = arrival.version;
            break;
        case L1_EVENT_REMOVE: fixture->held[node][event->line] = 0; break;
        case L1_EVENT_MISS: fixture->floor[node][event->line] = stores[event->line].sent; break;
        case L1_EVENT_STORE: stores[event->line].sent++; break;
        case L1_EVENT_INVALIDATE: break;
        }
    }
    struct port *out = fixture->replies_out[node];
    if (out->pushed == pushed) return;
    struct coop_message *answer = (void *)out->slot[(out->pushed - 1) & out->mask].message;
    if (answer->kind != COOP_DATA) return;
    answer->since = fixture->held[node][answer->key];
    CHECK(answer->since > 0); /* it holds the line */
}

static void cycle(struct l1s_fixture *fixture, bool busy) {
    uint32_t popped[L1S][2], pushed[L1S];
    fixture->events = 0;
    for (unsigned sm = 0; sm < SMS; sm++) play_sm(fixture, sm, busy);
    play_llc(fixture);
    for (unsigned node = 0; node < L1S; node++) {
        popped[node][0] = fixture->from_network[node].popped;
        popped[node][1] = fixture->replies_in[node]->popped;
        pushed[node] = fixture->replies_out[node]->pushed;
    }
    run_cycle(fixture->base.engine);
    for (unsigned node = 0; node < L1S; node++) follow(fixture, node, popped[node], pushed[node]);
    fixture->now++;
}

/* Waits until every access is answered, then invalidates all nodes. */
static void end_kernel(struct l1s_fixture *fixture) {
    for (unsigned i = 0; i < 4000 && fixture->outstanding; i++) cycle(fixture, false);
    REQUIRE(fixture->outstanding == 0);
    struct l1_command flush = {.kind = L1_COMMAND_FLUSH};
    for (unsigned node = 0; node < L1S; node++) port_push(&fixture->commands[node], fixture->now, &flush, sizeof flush);
    for (unsigned i = 0; i < 4; i++) cycle(fixture, false);
    for (unsigned node = 0; node < L1S; node++) {
        CHECK(port_peek(&fixture->reports[node], fixture->now) != NULL);
        port_pop(&fixture->reports[node], fixture->now);
        for (unsigned line = 0; line < LINES; line++)
            CHECK_EQ(fixture->stores[node / NODES][line].sent, fixture->stores[node / NODES][line].done);
    }
    memset(fixture->held, 0, sizeof fixture->held);
    memcpy(fixture->at_end, fixture->memory, sizeof fixture->at_end);
}

/* The counter `happens` is one of those that must count something, or NULL. */
static void check_versions_where(const char *happens, const char *const *settings, uint64_t seed, bool all_ways) {
    struct l1s_fixture *fixture = l1s_fixture_create(settings, seed);
    for (unsigned i = 0; i < LINES; i++) fixture->memory[i] = ++fixture->version;
    for (unsigned kernel = 0; kernel < 3; kernel++) {
        for (unsigned i = 0; i < 2500; i++) cycle(fixture, true);
        end_kernel(fixture);
    }
    for (unsigned i = 0; i < 300; i++) cycle(fixture, false); /* late answers */
    CHECK(COUNTER(fixture, "l1.fills") > 500);
    if (all_ways) CHECK(fixture->remote_fills > 50);
    if (happens) CHECK(COUNTER(fixture, happens) > 0);
    l1s_fixture_destroy(fixture);
}

static void check_versions(const char *const *settings, uint64_t seed, bool all_ways) {
    check_versions_where(NULL, settings, seed, all_ways);
}

TEST("no group gets an older version of a line that it wrote from an adjacent group") {
    for (uint64_t seed = 1; seed < 4; seed++) {
        check_versions(SETTINGS("l1.organisation=icc-agc"), seed, true);
        check_versions(SETTINGS("l1.organisation=icc-agc", "l1.icc-agc.queue=1", "l1.icc-agc.hash_bits=1"), seed, true);
        check_versions(SETTINGS("l1.organisation=icc-agc", "l1.mshrs=2", "l1.miss_queue=1"), seed, false);
    }
}

TEST("no group gets an older version of a line that it wrote from any group of the ring") {
    for (uint64_t seed = 1; seed < 4; seed++) {
        check_versions(SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=0"), seed, true);
        check_versions(SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=0", "l1.icc-mgc.queue=1"), seed, true);
        check_versions(SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=8", "l1.icc-mgc.executed=30",
                                "l1.mshrs=2", "l1.miss_queue=1", "group.reply_queue=1", "group.request_queue=1"),
                       seed, false);
        /* Answers wait on the ring for a Q7 that empties slowly. */
        check_versions_where("l1.mulnet.channel_wait_cycles",
                             SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=0", "l1.icc-mgc.queue=1",
                                      "l1.icc-mgc.channel_queue=2", "l1.miss_queue=1"),
                             seed, true);
    }
}
