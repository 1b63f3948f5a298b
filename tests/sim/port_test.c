#include "test.h"

#include <stdlib.h>

#include "base/random.h"
#include "fixture.h"
#include "sim/port.h"

/* A port between two components that do nothing by themselves: the test acts for both. */
struct port_fixture {
    struct engine *engine;
    struct port port;
};

static struct port_fixture *port_fixture_create(unsigned capacity, unsigned latency) {
    struct port_fixture *fixture = mem_alloc(1, sizeof *fixture);
    fixture->engine = engine_create();
    unsigned sender = add_neighbour(fixture->engine, 0);
    unsigned receiver = add_neighbour(fixture->engine, 1);
    port_init(&fixture->port, fixture->engine, "port", sender, receiver, capacity, latency);
    return fixture;
}

static void port_fixture_destroy(struct port_fixture *fixture) {
    port_release(&fixture->port);
    engine_destroy(fixture->engine);
    free(fixture);
}

static void push(struct port_fixture *fixture, uint64_t now, uint32_t value) {
    fixture->engine->now = now;
    port_push(&fixture->port, now, &value, sizeof value);
}

static void pop(struct port_fixture *fixture, uint64_t now) {
    fixture->engine->now = now;
    port_pop(&fixture->port, now);
}

static uint32_t peek(struct port_fixture *fixture, uint64_t now) {
    const uint32_t *value = port_peek(&fixture->port, now);
    return value ? *value : 0;
}

TEST("a message is visible after the latency, and not a cycle earlier") {
    static const unsigned latencies[] = {1, 2, 7, 100};
    for (unsigned i = 0; i < COUNT_OF(latencies); i++) {
        unsigned latency = latencies[i];
        struct port_fixture *fixture = port_fixture_create(4, latency);
        push(fixture, 10, 42);
        CHECK_EQ(port_next_visible(&fixture->port), 10 + latency);
        CHECK_EQ(peek(fixture, 10 + latency - 1), 0u);
        CHECK_EQ(peek(fixture, 10 + latency), 42u);
        port_fixture_destroy(fixture);
    }
}

TEST("an empty port has no message and no arrival time") {
    struct port_fixture *fixture = port_fixture_create(1, 1);
    CHECK(!port_peek(&fixture->port, 1000));
    CHECK_EQ(port_next_visible(&fixture->port), NEVER);
    push(fixture, 0, 1);
    pop(fixture, 1);
    CHECK(!port_peek(&fixture->port, 1000));
    CHECK_EQ(port_next_visible(&fixture->port), NEVER);
    port_fixture_destroy(fixture);
}

TEST("the credit of a pop arrives one latency later") {
    static const unsigned latencies[] = {1, 3, 50};
    for (unsigned i = 0; i < COUNT_OF(latencies); i++) {
        unsigned latency = latencies[i];
        struct port_fixture *fixture = port_fixture_create(1, latency);
        push(fixture, 0, 1);
        uint64_t popped = latency + 5;
        CHECK(!port_can_push(&fixture->port, popped));
        pop(fixture, popped);
        CHECK(!port_can_push(&fixture->port, popped));
        CHECK(!port_can_push(&fixture->port, popped + latency - 1));
        CHECK(port_can_push(&fixture->port, popped + latency));
        port_fixture_destroy(fixture);
    }
}

TEST("a full port accepts nothing, for every capacity, and each pop frees one entry") {
    for (unsigned capacity = 1; capacity <= 9; capacity++) {
        struct port_fixture *fixture = port_fixture_create(capacity, 1);
        for (unsigned i = 0; i < capacity; i++) {
            CHECK_EQ(port_credits(&fixture->port, 0), capacity - i);
            push(fixture, 0, i + 1);
        }
        CHECK(!port_can_push(&fixture->port, 0));
        CHECK(!port_can_push(&fixture->port, 100));
        pop(fixture, 100);
        CHECK_EQ(port_credits(&fixture->port, 101), 1u);
        push(fixture, 101, 77);
        CHECK(!port_can_push(&fixture->port, 200));
        port_fixture_destroy(fixture);
    }
}

TEST("messages leave in the order of their arrival, also around the end of the ring") {
    struct port_fixture *fixture = port_fixture_create(3, 1);
    uint64_t now = 0;
    for (uint32_t i = 1, out = 1; out < 100; now++) {
        if (peek(fixture, now)) {
            CHECK_EQ(peek(fixture, now), out);
            pop(fixture, now);
            out++;
        }
        if (port_can_push(&fixture->port, now)) push(fixture, now, i++);
    }
    port_fixture_destroy(fixture);
}

TEST("a message never overtakes one that was pushed with a delay") {
    struct port_fixture *fixture = port_fixture_create(4, 2);
    uint32_t slow = 1, quick = 2;
    port_push_late(&fixture->port, 0, 10, &slow, sizeof slow);
    fixture->engine->now = 1;
    port_push_late(&fixture->port, 1, 0, &quick, sizeof quick);
    CHECK_EQ(peek(fixture, 11), 0u);
    CHECK_EQ(peek(fixture, 12), 1u);
    pop(fixture, 12);
    CHECK_EQ(port_next_visible(&fixture->port), 12u);
    CHECK_EQ(peek(fixture, 12), 2u);
    port_fixture_destroy(fixture);
}

TEST("a lengthened port delays messages and holds as many more, and its credits take no longer") {
    struct port_fixture *fixture = port_fixture_create(2, 3);
    port_lengthen(&fixture->port, 20, 5);
    CHECK_EQ(port_credits(&fixture->port, 0), 7u);
    for (uint32_t i = 0; i < 7; i++) push(fixture, i, i + 1);
    CHECK(!port_can_push(&fixture->port, 22));
    CHECK_EQ(peek(fixture, 22), 0u);
    CHECK_EQ(peek(fixture, 23), 1u);
    pop(fixture, 23);
    CHECK(!port_can_push(&fixture->port, 25));
    CHECK(port_can_push(&fixture->port, 26));
    for (uint32_t i = 1; i < 7; i++) {
        CHECK_EQ(peek(fixture, 23 + i), i + 1);
        pop(fixture, 23 + i);
    }
    port_fixture_destroy(fixture);
}

TEST("a gate closes its port while that many messages are visible and their credits have not returned") {
    struct port_fixture *fixture = port_fixture_create(8, 1);
    struct port *port = &fixture->port;
    port_lengthen(port, 20, 0);
    CHECK(port_is_open(port, 0));
    port_gate(port, 2);
    for (uint32_t i = 0; i < 3; i++) push(fixture, i, i + 1); /* visible in 21, 22 and 23 */
    CHECK(port_is_open(port, 21));
    CHECK(!port_is_open(port, 22));
    pop(fixture, 22); /* which the sender sees in 23 */
    CHECK(!port_is_open(port, 22));
    port_credits(port, 23);
    CHECK(!port_is_open(port, 23)); /* the third message is visible as well */
    pop(fixture, 23);
    pop(fixture, 23);
    CHECK(!port_is_open(port, 23));
    port_credits(port, 24);
    CHECK(port_is_open(port, 24));
    port_fixture_destroy(fixture);
}

TEST("a lengthened port equals a port with a pipeline behind it, for senders and receivers") {
    enum { DELAY = 9, DEPTH = 3, CAPACITY = 4, CYCLES = 4000 };
    uint64_t random = 7;
    struct port_fixture *lengthened = port_fixture_create(CAPACITY, 1),
                        *plain = port_fixture_create(CAPACITY + DELAY + DEPTH, 1);
    port_lengthen(&lengthened->port, DELAY, DELAY + DEPTH);
    unsigned pushed = 0, popped = 0, full = 0, patience = 0;
    for (uint64_t now = 1; now < CYCLES; now++) {
        uint64_t arrived = port_next_visible(&plain->port);
        uint32_t due = arrived != NEVER && arrived + DELAY <= now ? peek(plain, now)
                                                                  : 0; /* held back in the pipeline until then */
        CHECK_EQ(peek(lengthened, now), due);
        CHECK_EQ(port_credits(&lengthened->port, now), port_credits(&plain->port, now));
        full += !port_can_push(&plain->port, now);
        if (now % 200 == 0)
            patience =
                (unsigned)random_below(&random, 4); /* a receiver that is now faster, now slower than its sender */
        if (due && random_below(&random, 4) >= patience) {
            pop(lengthened, now);
            pop(plain, now);
            popped++;
        }
        if (port_can_push(&plain->port, now) && random_below(&random, 4)) {
            push(lengthened, now, ++pushed);
            push(plain, now, pushed);
        }
    }
    CHECK(popped > CYCLES / 8 && full > CYCLES / 40);
    port_fixture_destroy(lengthened);
    port_fixture_destroy(plain);
}

TEST("a watched port sets its receiver's bit at the push, in the word of the cycle in which the message is visible") {
    for (unsigned latency = 1; latency <= 4; latency++) {
        struct port_fixture *fixture = port_fixture_create(4, latency);
        uint64_t word[2] = {0, 0};
        port_watch(&fixture->port, word, 7);
        push(fixture, 10, 1);
        CHECK_EQ(word[(10 + latency + 1) % 2], UINT64_C(1) << 7);
        CHECK_EQ(word[(10 + latency) % 2], 0u);
        port_fixture_destroy(fixture);
    }
}

/* A sender that pushes whenever it can and sleeps on the credit when it cannot, and a receiver that pops a message a
 * while after it came. */
struct pair {
    struct engine *engine;
    struct port port;
    unsigned sender, receiver;
    uint32_t sent, received, total;
    unsigned dawdle; /* cycles between pops */
    uint64_t next_pop;
    uint64_t pushed_at[64];
    uint64_t popped_at[64];
    unsigned sender_ticks, idle_sender_ticks;
    bool awaits;
    uint64_t credit_at; /* of the awaited credit */
};

static void sender_tick(void *self, uint64_t now) {
    struct pair *pair = self;
    pair->sender_ticks++;
    if (pair->sent == pair->total) return;
    if (pair->awaits) CHECK_EQ(port_can_push(&pair->port, now), pair->credit_at <= now);
    pair->awaits = false;
    if (port_can_push(&pair->port, now)) {
        pair->pushed_at[pair->sent] = now;
        pair->sent++;
        port_push(&pair->port, now, &pair->sent, sizeof pair->sent);
    } else {
        pair->idle_sender_ticks++;
    }
    if (pair->sent == pair->total) return;
    if (port_can_push(&pair->port, now)) {
        engine_wake(pair->engine, pair->sender, now + 1);
    } else {
        pair->awaits = true;
        pair->credit_at = NEVER;
        port_await_credit_at(&pair->port, now, &pair->credit_at);
    }
}

static void receiver_tick(void *self, uint64_t now) {
    struct pair *pair = self;
    const uint32_t *value = port_peek(&pair->port, now);
    if (value && now >= pair->next_pop) {
        CHECK_EQ(*value, pair->received + 1);
        pair->popped_at[pair->received++] = now;
        pair->next_pop = now + pair->dawdle;
        port_pop(&pair->port, now);
    }
    uint64_t next = port_next_visible(&pair->port);
    if (next != NEVER) engine_wake(pair->engine, pair->receiver, max_u64(max_u64(next, pair->next_pop), now + 1));
}

static const struct component_ops sender_ops = {.kind = "sender", .tick = sender_tick};
static const struct component_ops receiver_ops = {.kind = "receiver", .tick = receiver_tick};

struct pair_order {
    bool receiver_first, poll;
    uint64_t shuffle;
};

static void pair_run(struct pair *pair, struct pair_order order, unsigned capacity, unsigned latency, unsigned dawdle) {
    *pair = (struct pair){.engine = engine_create(), .total = 40, .dawdle = dawdle};
    if (order.receiver_first) pair->receiver = engine_add(pair->engine, &receiver_ops, pair, 0);
    pair->sender = engine_add(pair->engine, &sender_ops, pair, 0);
    if (!order.receiver_first) pair->receiver = engine_add(pair->engine, &receiver_ops, pair, 0);
    port_init(&pair->port, pair->engine, "pair", pair->sender, pair->receiver, capacity, latency);
    pair->engine->poll = order.poll;
    pair->engine->shuffle = order.shuffle;
    engine_wake(pair->engine, pair->sender, 0);
    enum engine_state state = engine_run_until(pair->engine, 5000);
    CHECK_EQ((int)state, (int)(order.poll ? ENGINE_RUNNING : ENGINE_QUIET));
    CHECK_EQ(pair->received, pair->total);
    port_release(&pair->port);
    engine_destroy(pair->engine);
}

TEST(
    "a waiting sender learns when a credit arrives, and is woken exactly then, in whatever order components are ticked") {
    static const struct pair_order orders[] = {
        {.receiver_first = true}, {.shuffle = 1}, {.shuffle = 12345}, {.poll = true}, {.poll = true, .shuffle = 7}};
    for (unsigned latency = 1; latency <= 4; latency++)
        for (unsigned dawdle = 1; dawdle <= 6; dawdle++) {
            struct pair first, other;
            pair_run(&first, (struct pair_order){0}, 2, latency, dawdle);
            CHECK_EQ(first.idle_sender_ticks, 0u); /* every wake found its credit: none came early or twice */
            for (unsigned i = 2; i < first.total; i++)
                CHECK_EQ(first.pushed_at[i], first.popped_at[i - 2] + latency); /* and none late */
            for (unsigned i = 0; i < COUNT_OF(orders); i++) {
                pair_run(&other, orders[i], 2, latency, dawdle);
                CHECK(memcmp(first.pushed_at, other.pushed_at, sizeof first.pushed_at) == 0);
                CHECK(memcmp(first.popped_at, other.popped_at, sizeof first.popped_at) == 0);
            }
        }
}

TEST("a credit does not postpone an earlier time of its sender") {
    struct engine *engine = engine_create();
    unsigned sender = add_neighbour(engine, 0), receiver = add_neighbour(engine, 1);
    struct port port;
    port_init(&port, engine, "port", sender, receiver, 1, 2);
    uint32_t value = 1;
    uint64_t at = 3;
    port_push(&port, 0, &value, sizeof value);
    port_await_credit_at(&port, 0, &at);
    port_pop(&port, 5); /* the credit arrives in cycle 7 */
    CHECK_EQ(at, 3u);
    port_await_credit_at(&port, 5, &at);
    CHECK_EQ(at, 3u);
    at = NEVER;
    port_await_credit_at(&port, 5, &at);
    CHECK_EQ(at, 7u);
    port_release(&port);
    engine_destroy(engine);
}

TEST("a port with a capacity of twice its latency runs at full rate, and with one less it does not") {
    for (unsigned latency = 1; latency <= 5; latency++) {
        struct pair pair;
        pair_run(&pair, (struct pair_order){0}, 2 * latency, latency, 1);
        CHECK_EQ(pair.pushed_at[39] - pair.pushed_at[0], 39u);
        if (latency == 1) continue;
        pair_run(&pair, (struct pair_order){0}, 2 * latency - 1, latency, 1);
        CHECK(pair.pushed_at[39] - pair.pushed_at[0] > 39u);
    }
}
