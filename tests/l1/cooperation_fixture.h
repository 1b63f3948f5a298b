/* A network between groups with nodes that hold the lines that the test gives them, probe when it tells them to, and
 * answer as L1s do: a probe is taken only if Q3 has space for its answer, and forwarded only if Q6 has space.
 *
 *     struct cooperation_fixture *fixture = cooperation_fixture_create(true, 5, 2, 7);   a ring, queues of 5, MNQ 2 and 7
 *     fixture->holders[1] = 1 << 4;                                                      group 4 holds line 1
 *     run(fixture, 10);
 *     ask(&fixture->node[3], 1, COOP_LEFT, 9);                                           group 3 misses line 1
 *     run(fixture, 60);                                                                  node[3].answered has the answers
 *     cooperation_fixture_destroy(fixture);
 */
#ifndef SLUICE_TESTS_L1_COOPERATION_FIXTURE_H
#define SLUICE_TESTS_L1_COOPERATION_FIXTURE_H

#include "fixture.h"
#include "l1/cooperation.h"

enum { GROUPS = 8, LOG = 64 };

struct event {
    uint64_t cycle;
    struct coop_message message;
};

struct log {
    unsigned count;
    struct event event[LOG];
};

struct cooperation_fixture;

struct test_node {
    struct cooperation_fixture *fixture;
    unsigned group, component;
    struct coop_ports ports;
    struct log probed, answered;      /* the first LOG of each */
    unsigned asks, probes, answers;   /* still to make; taken; had */
    unsigned data;                    /* answers with a line */
    unsigned probe_every, take_every; /* cycles; 0: never */
};

struct cooperation_fixture {
    struct engine *engine;
    struct stats *stats;
    struct coop_network *network;
    uint64_t holders[4]; /* of lines 0 to 3: a bit for each group */
    struct test_node node[GROUPS];
    uint64_t end;
};

static inline void log_add(struct log *log, const struct coop_message *message, uint64_t now) {
    if (log->count < LOG) log->event[log->count++] = (struct event){now, *message};
}

static inline void node_probe(struct test_node *node, uint64_t now) {
    const struct coop_message *head = port_peek(node->ports.requests_in, now);
    if (!head || !port_can_push(node->ports.replies_out, now)) return;
    struct coop_message message = *head;
    port_pop(node->ports.requests_in, now);
    log_add(&node->probed, &message, now);
    node->probes++;
    CHECK(message.source != node->group);
    bool hit = node->fixture->holders[message.key % 4] >> node->group & 1;
    if (!hit && message.queries > 0 && port_can_push(node->ports.requests_out, now)) {
        port_push(node->ports.requests_out, now, &message, sizeof message);
        return;
    }
    message.kind = hit ? COOP_DATA : COOP_MISS;
    message.target = (uint8_t)node->group;
    port_push(node->ports.replies_out, now, &message, sizeof message);
}

static inline void node_take(struct test_node *node, uint64_t now) {
    const struct coop_message *answer = port_peek(node->ports.replies_in, now);
    if (!answer) return;
    CHECK_EQ(answer->source, node->group);
    log_add(&node->answered, answer, now);
    node->answers++;
    node->data += answer->kind == COOP_DATA;
    port_pop(node->ports.replies_in, now);
}

static inline void ask(struct test_node *node, uint64_t line, enum coop_direction direction, uint64_t now) {
    struct coop_message message = {
        .key = line, .kind = COOP_PROBE, .direction = (uint8_t)direction, .source = (uint8_t)node->group};
    message.pursuit = (uint32_t)line * 100 + node->group;
    message.since = (uint32_t)now;
    port_push(node->ports.requests_out, now, &message, sizeof message);
}

static inline void l1_controller_tick(void *self, uint64_t now) {
    struct test_node *node = self;
    if (now >= node->fixture->end) return;
    if (node->probe_every && now % node->probe_every == 0) node_probe(node, now);
    if (node->take_every && now % node->take_every == 0) node_take(node, now);
    if (node->asks && port_can_push(node->ports.requests_out, now))
        ask(node, node->asks, node->asks % 2 ? COOP_LEFT : COOP_RIGHT, now), node->asks--;
    engine_wake(node->fixture->engine, node->component, now + 1);
}

static const struct component_ops node_ops = {.kind = "node", .tick = l1_controller_tick};

static inline struct cooperation_fixture *cooperation_fixture_create_with(unsigned groups, bool ring, unsigned queue,
                                                                          unsigned channel, unsigned short_queries,
                                                                          unsigned long_queries) {
    struct cooperation_fixture *fixture = mem_alloc(1, sizeof *fixture);
    *fixture = (struct cooperation_fixture){.engine = engine_create(), .stats = stats_create(), .end = 100000};
    unsigned component[GROUPS];
    for (unsigned g = 0; g < groups; g++) {
        component[g] = engine_add(fixture->engine, &node_ops, &fixture->node[g], g);
        fixture->node[g] = (struct test_node){
            .fixture = fixture, .group = g, .component = component[g], .probe_every = 1, .take_every = 1};
        engine_wake(fixture->engine, component[g], 0);
    }
    struct coop_context context = {.engine = fixture->engine,
                                   .stats = fixture->stats,
                                   .groups = groups,
                                   .queue = queue,
                                   .channel = channel,
                                   .short_queries = short_queries,
                                   .long_queries = long_queries,
                                   .component = component};
    fixture->network = ring ? ring_create(&context) : adjacent_create(&context);
    for (unsigned g = 0; g < groups; g++) fixture->node[g].ports = coop_network_ports(fixture->network, g);
    return fixture;
}

static inline struct cooperation_fixture *cooperation_fixture_create_of(unsigned groups, bool ring, unsigned queue,
                                                                        unsigned short_queries, unsigned long_queries) {
    return cooperation_fixture_create_with(groups, ring, queue, queue + 1, short_queries, long_queries);
}

static inline struct cooperation_fixture *cooperation_fixture_create(bool ring, unsigned queue, unsigned short_queries,
                                                                     unsigned long_queries) {
    return cooperation_fixture_create_of(GROUPS, ring, queue, short_queries, long_queries);
}

/* Everything that was asked must be answered, and nothing left in the network. */
static inline void cooperation_fixture_destroy(struct cooperation_fixture *fixture) {
    char text[200];
    const char *left = engine_in_flight(fixture->engine, text, sizeof text);
    if (!CHECK(left == NULL)) engine_explain(fixture->engine, stdout);
    coop_network_destroy(fixture->network);
    stats_destroy(fixture->stats);
    engine_destroy(fixture->engine);
    free(fixture);
}

static inline void run(struct cooperation_fixture *fixture, uint64_t cycles) {
    engine_run_until(fixture->engine, fixture->engine->now + cycles);
}

static inline uint64_t count(const struct cooperation_fixture *fixture, const char *name) {
    return count_in(fixture->stats, name);
}

#endif
