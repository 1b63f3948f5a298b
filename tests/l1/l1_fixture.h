/* An L1 without an SM: the test makes the accesses and acts as the network.
 *
 *     struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.mshrs=2"));
 *     cycle(l1);
 *     CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS);
 *     settle(l1);                                   answers every request
 *     l1_fixture_destroy(l1);
 */
#ifndef SLUICE_TESTS_L1_L1_FIXTURE_H
#define SLUICE_TESTS_L1_L1_FIXTURE_H

#include "fixture.h"

struct l1_fixture {
    struct fixture base;
    struct l1 *l1;
    struct port to_network, from_network;
    unsigned sm_id;
    uint64_t now;
    uint32_t woken[256]; /* tokens, in order of completion */
    uint64_t woken_at[256];
    unsigned woken_count;
};

static inline struct l1_fixture *l1_fixture_create(const char *const *settings) {
    struct l1_fixture *l1 = mem_alloc(1, sizeof *l1);
    fixture_init(&l1->base, SETTINGS(ONE_OF_EACH), settings);
    l1->sm_id = add_neighbour(l1->base.engine, 0);
    unsigned network = add_neighbour(l1->base.engine, 1);
    l1->l1 = fixture_create_l1(&l1->base, (struct l1_context){.sms = 1, .clusters = 1, .sm_component = &l1->sm_id});
    port_init(&l1->to_network, l1->base.engine, "to network", l1->sm_id, network, 2, 1);
    port_init(&l1->from_network, l1->base.engine, "from network", network, l1->sm_id, 256, 1);
    l1->l1->ops->connect(l1->l1, 0, &(struct l1_ports){&l1->to_network, &l1->from_network, NULL});
    return l1;
}

static inline void l1_fixture_destroy(struct l1_fixture *l1) {
    l1->l1->ops->destroy(l1->l1);
    port_release(&l1->to_network);
    port_release(&l1->from_network);
    fixture_release(&l1->base);
    free(l1);
}

/* The next cycle begins as an SM begins it: the L1 sends and receives, and what completes is collected. */
static inline void cycle(struct l1_fixture *l1) {
    l1->base.engine->now = ++l1->now;
    uint32_t token[L1_COMPLETIONS];
    unsigned completions = l1->l1->ops->tick(l1->l1, 0, l1->now, token);
    for (unsigned i = 0; i < completions; i++) {
        REQUIRE(l1->woken_count < 256);
        l1->woken_at[l1->woken_count] = l1->now;
        l1->woken[l1->woken_count++] = token[i];
    }
}

static inline void cycles(struct l1_fixture *l1, unsigned count) {
    for (unsigned i = 0; i < count; i++) cycle(l1);
}

/* The oldest request at the network; the test fails if there is none. */
static inline struct message take(struct l1_fixture *l1) {
    const struct message *message = port_peek(&l1->to_network, l1->now);
    REQUIRE(message);
    struct message taken = *message;
    port_pop(&l1->to_network, l1->now);
    return taken;
}

static inline void answer(struct l1_fixture *l1, struct message message) {
    message.kind = message.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    port_push(&l1->from_network, l1->now, &message, sizeof message);
}

/* Answers every request until none is pending. */
static inline void settle(struct l1_fixture *l1) {
    for (unsigned i = 0; i < 200; i++) {
        cycle(l1);
        while (port_peek(&l1->to_network, l1->now)) answer(l1, take(l1));
    }
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
}

static inline enum l1_outcome access_by(struct l1_fixture *l1, struct l1_request request) {
    if (request.sectors == 0) request.sectors = 0x0F;
    return l1->l1->ops->access(l1->l1, 0, &request, l1->now);
}

static inline enum l1_outcome read_line(struct l1_fixture *l1, uint64_t address, uint32_t token) {
    return access_by(l1, (struct l1_request){.address = address, .token = token, .kind = MESSAGE_READ});
}
static inline enum l1_outcome write_line(struct l1_fixture *l1, uint64_t address, uint32_t token) {
    return access_by(l1, (struct l1_request){.address = address, .token = token, .kind = MESSAGE_WRITE});
}
static inline enum l1_outcome write_local(struct l1_fixture *l1, uint64_t address, uint8_t sectors) {
    return access_by(l1,
                     (struct l1_request){.address = address, .kind = MESSAGE_WRITE, .sectors = sectors, .local = true});
}

/* Comparisons of outcomes, whose type has no place in a test's values. */
#define CHECK_OUTCOME(outcome, expected) CHECK_EQ((int)(outcome), (int)(expected))

/* Reads lines one after the other, each after the previous one has completed, and checks the outcomes: `h`it, `m`iss
 * or `b`ypass. */
static inline void replay(struct l1_fixture *l1, const char *outcomes, const uint64_t *lines) {
    for (unsigned i = 0; outcomes[i]; i++) {
        enum l1_outcome outcome = read_line(l1, lines[i], i);
        char seen = outcome == L1_HIT ? 'h' : outcome == L1_MISS ? 'm' : outcome == L1_BYPASS ? 'b' : '?';
        if (!CHECK_EQ(seen, outcomes[i])) printf("    read %u of \"%s\"\n", i, outcomes);
        l1->woken_count = 0;
        settle(l1);
    }
}
#define REPLAY(l1, outcomes, ...) replay(l1, outcomes, (const uint64_t[]){__VA_ARGS__})

#endif
