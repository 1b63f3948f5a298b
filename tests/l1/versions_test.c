/* Cooperating groups with random reads and writes of few lines: whatever is fetched, from wherever and however late, is
 * never older than what coherence allows. The tests are the SMs, the network, the LLC and the control plane.
 *
 * A store makes a new version of its line when it reaches the LLC. What is known of versions is kept beside the machine:
 * those in the LLC, those of lines in the nodes, and those of lines on their way, which are written into the messages: in
 * `place` of what the LLC answers, in `since` of what another group does. They are found by looking at the ports between
 * two cycles. Then two things are checked:
 *   - A line that comes is no older than what its group had stored when it was asked for, nor than anything stored in
 *     kernels before.
 *   - A line that comes and stays is no older than anything its group has stored.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cache/cache.h"
#include "l1/cooperation.h"
#include "l1/l1.h"
#include "llc/organisation.h"

#ifndef SETTINGS
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#endif

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

struct world {
    struct l1_watch watch;
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct llc_organisation *llc;
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
        unsigned sent, done;      /* stores that went down, and that have reached the LLC */
        uint32_t version[STORES]; /* made by each, the first being number 1 */
    } stores[GROUPS][LINES];
    unsigned floor[L1S][LINES]; /* stores of the group when the line was asked for */
    uint32_t held[L1S][LINES];  /* by the node; 0: it is not there */
    uint64_t fills[L1S];        /* counted by the nodes */
    unsigned remote_fills;
};

static void see(struct l1_watch *watch, unsigned node, enum l1_event event, uint64_t key, uint64_t now) {
    struct world *world = (struct world *)watch;
    (void)now;
    if (event == L1_EVENT_INVALIDATE) return;
    REQUIRE(world->events < EVENTS);
    world->event[world->events++] = (struct event){event, node, (unsigned)key};
}

static void nothing(void *self, uint64_t now) { (void)self, (void)now; }

static void connect(struct world *world, unsigned node) {
    unsigned component = world->l1->ops->endpoint_component(world->l1, node);
    port_init(&world->to_network[node], world->engine, "to network", component, world->network, 2, 1);
    port_init(&world->from_network[node], world->engine, "from network", world->network, component, PENDING, 1);
    port_init(&world->commands[node], world->engine, "commands", world->network, component, 2, 1);
    port_init(&world->reports[node], world->engine, "reports", component, world->network, 2, 1);
    world->l1->ops->connect(world->l1, node,
                            &(struct l1_ports){&world->to_network[node], &world->from_network[node], NULL});
    world->l1->ops->connect_control(world->l1, node, &world->commands[node], &world->reports[node]);
    for (unsigned i = 0; i < world->engine->port_count; i++) {
        struct port *port = world->engine->ports[i];
        if (port->sender == component && strcmp(port->name, "replies to other groups") == 0)
            world->replies_out[node] = port;
        if (port->receiver == component && strcmp(port->name, "replies of other groups") == 0)
            world->replies_in[node] = port;
    }
    REQUIRE(world->replies_out[node] && world->replies_in[node]);
}

static struct world *world_make(const char *const *settings, uint64_t seed) {
    static const struct component_ops nobody = {.kind = "nobody", .tick = nothing};
    static const char *const always[] = {
        "sm.count=8",   "gpu.clusters=4", "group.nodes=2",     "llc.slices_per_mc=1", "dram.mcs=1",
        "l1.size_kb=1", "l1.ways=2",      "noc.topology=full", "dram.mapping=linear", NULL};
    struct world *world = mem_alloc(1, sizeof *world);
    struct error err = {0};
    world->watch.observe = see;
    world->random = seed;
    world->config = config_create(config_sections, config_section_count);
    for (unsigned i = 0; always[i]; i++) REQUIRE(config_set(world->config, always[i], &err));
    for (; *settings; settings++) REQUIRE(config_set(world->config, *settings, &err));
    config_check(world->config, &err);
    CHECK_EQ((const char *)err.text, "");
    world->engine = engine_create();
    world->stats = stats_create();
    world->map = address_map_create(world->config, &err);
    struct llc_context llc_context = {world->config, world->map, world->stats, NULL};
    world->llc = llc_organisation_create(&llc_context, &err);
    for (unsigned i = 0; i < SMS; i++) world->sm_component[i] = engine_add(world->engine, &nobody, NULL, i);
    world->network = engine_add(world->engine, &nobody, NULL, 0);
    struct l1_context context = {.config = world->config,
                                 .engine = world->engine,
                                 .stats = world->stats,
                                 .llc = world->llc,
                                 .sms = SMS,
                                 .clusters = GROUPS,
                                 .sm_component = world->sm_component,
                                 .watch = &world->watch};
    world->l1 = l1_create(&context, &err);
    REQUIRE(world->l1);
    for (unsigned node = 0; node < L1S; node++) connect(world, node);
    return world;
}

static void world_end(struct world *world) {
    char text[160];
    CHECK(!engine_in_flight(world->engine, text, sizeof text));
    world->l1->ops->destroy(world->l1);
    world->llc->ops->destroy(world->llc);
    address_map_destroy(world->map);
    for (unsigned i = 0; i < L1S; i++) {
        port_release(&world->to_network[i]);
        port_release(&world->from_network[i]);
        port_release(&world->commands[i]);
        port_release(&world->reports[i]);
    }
    stats_destroy(world->stats);
    engine_destroy(world->engine);
    config_destroy(world->config);
    free(world);
}

static uint64_t below(struct world *world, uint64_t bound) { return random_below(&world->random, bound); }

static unsigned line_of(const struct message *message) { return (unsigned)(message->address >> LINE_LOG2); }

/* The LLC takes requests when it likes, and answers each node's in order. */
static void play_llc(struct world *world) {
    for (unsigned node = 0; node < L1S; node++) {
        const struct message *request = port_peek(&world->to_network[node], world->now);
        if (!request || below(world, 4)) continue;
        struct message reply = *request;
        port_pop(&world->to_network[node], world->now);
        unsigned line = line_of(&reply);
        if (reply.kind == MESSAGE_READ) {
            reply.kind = MESSAGE_DATA;
            reply.place = world->memory[line];
        } else {
            struct stores *stores = &world->stores[node / NODES][line];
            REQUIRE(stores->done < stores->sent && stores->sent < STORES);
            world->memory[line] = stores->version[++stores->done] = ++world->version;
            reply.kind = reply.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
        }
        port_push_late(&world->from_network[node], world->now, below(world, 60), &reply, sizeof reply);
    }
}

static void play_sm(struct world *world, unsigned sm, bool busy) {
    uint32_t token[L1_COMPLETIONS];
    world->outstanding -= world->l1->ops->tick(world->l1, sm, world->now, token);
    if (!busy || below(world, 3)) return;
    struct l1_request request = {.address = below(world, LINES) << LINE_LOG2,
                                 .kind = MESSAGE_READ,
                                 .sectors = 0x0F,
                                 .conflicts = 1,
                                 .warp = (uint8_t)below(world, 8)};
    if (below(world, 24) == 0) request.kind = below(world, 4) ? MESSAGE_WRITE : MESSAGE_ATOMIC;
    request.bypass = request.kind == MESSAGE_READ && below(world, 20) == 0;
    world->outstanding += world->l1->ops->access(world->l1, sm, &request, world->now) < L1_ACCEPTED;
}

struct arrival {
    uint32_t version; /* 0: nothing has come */
    unsigned line;
    bool remote;
};

/* The line that has come to a node in this cycle, if one has. */
static struct arrival arrival_at(const struct world *world, unsigned node, const uint32_t *popped) {
    const struct port *network = &world->from_network[node], *others = world->replies_in[node];
    if (network->popped != popped[0]) {
        const struct message *reply = (const void *)network->slot[(network->popped - 1) & network->mask].message;
        bool past = reply->tag >> 30 == 1; /* an access past the cache */
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

/* What a node has done in this cycle: at most one line has come, and after that at most one access was looked up. */
static void follow(struct world *world, unsigned node, const uint32_t *popped, uint32_t pushed) {
    struct arrival arrival = arrival_at(world, node, popped);
    unsigned line = arrival.line;
    struct stores *stores = world->stores[node / NODES];
    uint64_t fills = stats_instance(world->stats, (unsigned)stats_find(world->stats, "l1.fills"), node);
    bool taken = fills != world->fills[node]; /* or it was too late, or too old */
    world->fills[node] = fills;
    if (taken) {
        REQUIRE(arrival.version);
        CHECK(has_stores(&stores[line], world->floor[node][line], arrival.version));
        CHECK(arrival.version >= world->at_end[line]);
        world->remote_fills += arrival.remote;
    }
    for (unsigned i = 0; i < world->events; i++) {
        const struct event *event = &world->event[i];
        if (event->node != node) continue;
        switch (event->event) {
        case L1_EVENT_INSERT:
            REQUIRE(taken && event->line == line);
            CHECK(has_stores(&stores[line], stores[line].sent, arrival.version));
            world->held[node][line] = arrival.version;
            break;
        case L1_EVENT_REMOVE: world->held[node][event->line] = 0; break;
        case L1_EVENT_MISS: world->floor[node][event->line] = stores[event->line].sent; break;
        case L1_EVENT_STORE: stores[event->line].sent++; break;
        case L1_EVENT_INVALIDATE: break;
        }
    }
    struct port *out = world->replies_out[node];
    if (out->pushed == pushed) return;
    struct coop_message *answer = (void *)out->slot[(out->pushed - 1) & out->mask].message;
    if (answer->kind != COOP_DATA) return;
    answer->since = world->held[node][answer->key];
    CHECK(answer->since > 0); /* it has what it gives */
}

static void cycle(struct world *world, bool busy) {
    uint32_t popped[L1S][2], pushed[L1S];
    world->events = 0;
    for (unsigned sm = 0; sm < SMS; sm++) play_sm(world, sm, busy);
    play_llc(world);
    for (unsigned node = 0; node < L1S; node++) {
        popped[node][0] = world->from_network[node].popped;
        popped[node][1] = world->replies_in[node]->popped;
        pushed[node] = world->replies_out[node]->pushed;
    }
    engine_run_until(world->engine, world->now + 1);
    for (unsigned node = 0; node < L1S; node++) follow(world, node, popped[node], pushed[node]);
    world->engine->now = ++world->now;
}

/* Every access is answered; then all nodes are emptied. */
static void end_kernel(struct world *world) {
    for (unsigned i = 0; i < 4000 && world->outstanding; i++) cycle(world, false);
    REQUIRE(world->outstanding == 0);
    struct l1_command flush = {.kind = L1_COMMAND_FLUSH};
    for (unsigned node = 0; node < L1S; node++) port_push(&world->commands[node], world->now, &flush, sizeof flush);
    for (unsigned i = 0; i < 4; i++) cycle(world, false);
    for (unsigned node = 0; node < L1S; node++) {
        CHECK(port_peek(&world->reports[node], world->now) != NULL);
        port_pop(&world->reports[node], world->now);
        for (unsigned line = 0; line < LINES; line++)
            CHECK_EQ(world->stores[node / NODES][line].sent, world->stores[node / NODES][line].done);
    }
    memset(world->held, 0, sizeof world->held);
    memcpy(world->at_end, world->memory, sizeof world->at_end);
}

static void run_world(const char *const *settings, uint64_t seed, bool all_ways) {
    struct world *world = world_make(settings, seed);
    for (unsigned i = 0; i < LINES; i++) world->memory[i] = ++world->version;
    for (unsigned kernel = 0; kernel < 3; kernel++) {
        for (unsigned i = 0; i < 2500; i++) cycle(world, true);
        end_kernel(world);
    }
    for (unsigned i = 0; i < 300; i++) cycle(world, false); /* what nobody waits for */
    CHECK(stats_get(world->stats, "l1.fills", NULL) > 500);
    if (all_ways) CHECK(world->remote_fills > 50);
    world_end(world);
}

TEST("no group takes back an older copy of what it wrote, when it asks adjacent groups") {
    for (uint64_t seed = 1; seed < 4; seed++) {
        run_world(SETTINGS("l1.organisation=icc-agc"), seed, true);
        run_world(SETTINGS("l1.organisation=icc-agc", "l1.icc-agc.queue=1", "l1.icc-agc.hash_bits=1"), seed, true);
        run_world(SETTINGS("l1.organisation=icc-agc", "l1.mshrs=2", "l1.miss_queue=1"), seed, false);
    }
}

TEST("no group takes back an older copy of what it wrote, when it asks all groups") {
    for (uint64_t seed = 1; seed < 4; seed++) {
        run_world(SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=0"), seed, true);
        run_world(SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=0", "l1.icc-mgc.queue=1"), seed, true);
        run_world(SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.sampled=8", "l1.icc-mgc.executed=30", "l1.mshrs=2",
                           "l1.miss_queue=1", "group.reply_queue=1", "group.request_queue=1"),
                  seed, false);
    }
}
