/* A slice that is blocked continues as soon as the resource it waits for is free, with no other event to wake it; and
 * the atomics that it forwards. */
#include <stdlib.h>

#include "base/random.h"
#include "llc/slice_fixture.h"

TEST("a miss that waits for the queue to memory is sent when memory has accepted the one before it") {
    struct slice_fixture *slice = slice_fixture_create_with(NO_SETTINGS, (struct slice_options){.memory_entries = 1});
    slice->memory_cycles = 0; /* it answers nothing: only the credit wakes the slice */
    uint64_t arrives = slice->base.engine->now + 1;
    for (unsigned i = 0; i < 3; i++) ask_read(slice, 0x1000 * i, i);
    cycles(slice, 100);
    REQUIRE(slice->requests == 3);
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(slice->requested_at[i], arrives + 20 + 1 + 2 * i);
    for (unsigned i = 0; i < 3; i++) memory_answers(slice, slice->request[i], 0);
    settle(slice);
    CHECK_EQ(slice->replies, 3u);
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.memory_queue"), 2u);
    slice_fixture_destroy(slice);
}

TEST("a write-back by a flush waits for the queue to memory, and continues when memory has accepted one") {
    struct slice_fixture *slice =
        slice_fixture_create_with(NO_SETTINGS, (struct slice_options){.memory_entries = 1, .commands = true});
    for (unsigned i = 0; i < 4; i++) ask_write(slice, 0x1000 * i, 0x0F, 0);
    settle(slice);
    slice->memory_cycles = 0;
    command_flush(slice, (struct slice_command){.keep_lines = true});
    cycles(slice, 100);
    REQUIRE(slice->requests == 4);
    for (unsigned i = 1; i < 4; i++) CHECK_EQ(slice->requested_at[i], slice->requested_at[0] + 2 * i);
    for (unsigned i = 0; i < 4; i++) memory_answers(slice, slice->request[i], 0);
    settle(slice);
    CHECK_EQ(slice->flushes, 1u);
    slice_fixture_destroy(slice);
}

TEST("with write_allocate=through a pending write waits until memory can accept it") {
    struct slice_fixture *slice =
        slice_fixture_create_with(SETTINGS("llc.write_allocate=through"), (struct slice_options){.memory_entries = 3});
    slice->memory_cycles = 0;
    ask_read(slice, 0x1000, 0);
    cycles(slice, 30);
    slice->deaf_memory = true;
    for (unsigned i = 2; i < 5; i++) ask_read(slice, 0x1000 * i, 0);
    ask_write(slice, 0x1000, 0x01, 0);
    cycles(slice, 50);
    CHECK_EQ(COUNTER(slice, "llc.writes_through"), 0u);
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 0u);
    slice->deaf_memory = false;
    slice->memory_cycles = 100;
    memory_answers(slice, slice->request[0], 200);
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.writes_through"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 1u);
    CHECK_EQ(slice->replies, 5u);
    slice_fixture_destroy(slice);
}

TEST("a hit makes its line the most recently used, whatever it is a hit of") {
    for (enum message_kind kind = MESSAGE_READ; kind <= MESSAGE_ATOMIC; kind++) {
        struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.slice_kb=1", "llc.ways=8"));
        for (unsigned i = 0; i < 8; i++) bring(slice, 0x1000 * i);
        ask(slice, (struct message){.address = 0, .kind = (uint8_t)kind, .sectors = 1});
        settle(slice);
        ask_read(slice, 0x8000, 0); /* evicts the second line */
        settle(slice);
        slice->requests = 0;
        ask_read(slice, 0x0000, 0);
        settle(slice);
        CHECK_EQ(slice->requests, 0u);
        ask_read(slice, 0x1000, 0);
        settle(slice);
        CHECK_EQ(slice->request[slice->requests - 1].address, 0x1000u);
        slice_fixture_destroy(slice);
    }
}

TEST("requests in the replay queue are looked up when their line arrives, although a miss waits for an MSHR") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.mshrs=2", "llc.mshr_merges=1", "llc.replay_queue=2"));
    bring(slice, 0x1000);
    slice->memory_cycles = 0;
    slice->deaf_network = true;
    for (uint32_t i = 0; i < 5; i++) ask_read(slice, 0x1000, 0); /* fill the port to the network */
    cycles(slice, 60);
    ask_read(slice, 0x2000, 0);
    ask_read(slice, 0x2000, 0); /* goes to the replay queue */
    ask_read(slice, 0x3000, 0);
    ask_read(slice, 0x4000, 0); /* has no MSHR */
    cycles(slice, 60);
    REQUIRE(slice->requests == 2);
    uint64_t hits = COUNTER(slice, "llc.read_hits");
    memory_answers(slice, slice->request[0], 0);
    cycles(slice, 20);
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), hits + 1);
    slice->deaf_network = false;
    slice->memory_cycles = 100;
    memory_answers(slice, slice->request[1], 0);
    settle(slice);
    CHECK_EQ(slice->replies, 9u);
    slice_fixture_destroy(slice);
}

TEST("with a full reply queue a miss is fetched, and a write of a whole line waits") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.reply_queue=2"));
    bring(slice, 0x1000);
    slice->deaf_network = true;
    for (unsigned i = 0; i < 4 + 2; i++) ask_read(slice, 0x1000, 0); /* four in the port, two in the queue */
    ask_read(slice, 0x2000, 0);
    ask_write(slice, 0x3000, 0x0F, 0);
    cycles(slice, 200);
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 1u + 1);
    CHECK_EQ(COUNTER(slice, "llc.fills"), 1u + 1);
    CHECK_EQ(COUNTER(slice, "llc.write_misses"), 0u);
    slice->deaf_network = false;
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.write_misses"), 1u);
    CHECK_EQ(slice->replies, 8u);
    slice_fixture_destroy(slice);
}

/* Hits that keep the reply queue full and a few misses among them, or mostly misses; and pauses. */
static void ask_randomly(struct slice_fixture *slice, bool misses, uint64_t *random) {
    uint64_t now = slice->base.engine->now;
    if (now % 300 > 200 || random_below(random, 3) == 0 || !port_can_push(&slice->from_network, now)) return;
    static const enum message_kind kinds[] = {MESSAGE_READ, MESSAGE_READ, MESSAGE_WRITE, MESSAGE_ATOMIC};
    unsigned lines = misses ? 24 : random_below(random, 8) ? 4 : 16;
    ask(slice, (struct message){.address = (misses ? 0x200 : 0x1000) * random_below(random, lines),
                                .kind = (uint8_t)kinds[random_below(random, 40) < 34 ? 0 : random_below(random, 4)],
                                .sectors = (uint8_t)(random_below(random, 4) ? 0x0F : 0x01),
                                .conflicts = 1});
}

TEST("a blocked slice has the counters and replies of one that is ticked every cycle, in every cycle") {
    static const char *const few_replies[] = {"llc.reply_queue=2", NULL};
    static const char *const few_mshrs[] = {"llc.reply_queue=3", "llc.mshrs=2", "llc.mshr_merges=2",
                                            "llc.replay_queue=1", NULL};
    static const char *const fast[] = {"llc.reply_queue=2", "llc.port_bytes=64", "llc.latency_cycles=1", NULL};
    static const char *const misses[] = {"llc.mshrs=4", "llc.slice_kb=4", "llc.ways=4", NULL};
    static const char *const more_ways[] = {"llc.mshrs=6", "llc.slice_kb=8", "llc.ways=8", NULL};
    const char *const *const described[] = {few_replies, few_mshrs, fast, misses, more_ways};
    for (unsigned v = 0; v < COUNT_OF(described); v++) {
        bool hits = v < 3;
        struct slice_fixture *slice[2];
        uint64_t random[2] = {v + 1, v + 1};
        for (unsigned polls = 0; polls < 2; polls++) {
            slice[polls] = slice_fixture_create(described[v]);
            slice[polls]->base.engine->poll = polls;
            slice[polls]->memory_cycles = 30;
            port_gate(&slice[polls]->from_network, 3);
        }
        unsigned different = 0;
        while (slice[0]->replies < 400 && slice[0]->base.engine->now < 5000 && !different) {
            for (unsigned polls = 0; polls < 2; polls++) {
                slice[polls]->deaf_network = slice[polls]->base.engine->now % 64 < 16;
                ask_randomly(slice[polls], !hits, &random[polls]);
                cycle(slice[polls]);
                engine_settle(slice[polls]->base.engine, slice[polls]->base.engine->now);
            }
            for (unsigned i = 0; i < stats_count(slice[0]->base.stats); i++)
                different += stats_total(slice[0]->base.stats, i) != stats_total(slice[1]->base.stats, i);
            uint64_t now = slice[0]->base.engine->now;
            different += port_credits(&slice[0]->from_network, now) != port_credits(&slice[1]->from_network, now);
            for (uint64_t at = now; at < now + 4; at++)
                different += port_is_open(&slice[0]->from_network, at) != port_is_open(&slice[1]->from_network, at);
        }
        CHECK_EQ(different, 0u);
        CHECK_EQ(slice[0]->replies, slice[1]->replies);
        for (unsigned i = 0; i < slice[0]->replies; i++) CHECK_EQ(slice[0]->replied_at[i], slice[1]->replied_at[i]);
        CHECK(slice[0]->replies >= 400);
        CHECK(COUNTER(slice[0], hits ? "llc.reservation_fail.reply_queue" : "llc.reservation_fail.mshr") > 200);
        CHECK(hits || COUNTER(slice[0], "llc.evictions") > 100);
        for (unsigned polls = 0; polls < 2; polls++) slice_fixture_destroy(slice[polls]);
    }
}

static bool is_busy(const struct slice_fixture *slice) {
    char text[160];
    return engine_in_flight(slice->base.engine, text, sizeof text);
}

TEST("a slice is busy with a fetch, an unacknowledged write or a flush alone, and not otherwise") {
    struct slice_fixture *slice = slice_fixture_create_with(
        SETTINGS("llc.slice_kb=1", "llc.ways=1", "llc.flush_lines=1"), (struct slice_options){.commands = true});
    slice->memory_cycles = 0;
    ask_read(slice, 0x0000, 0);
    cycles(slice, 50);
    REQUIRE(slice->requests == 1);
    CHECK(is_busy(slice)); /* with the fetch */
    memory_answers(slice, slice->request[0], 0);
    cycles(slice, 20);
    CHECK(!is_busy(slice));
    ask_write(slice, 0x0000, 0x01, 0);
    cycles(slice, 50);
    CHECK(!is_busy(slice));
    command_flush(slice, (struct slice_command){.keep_lines = true, .background = true});
    cycles(slice, 10);
    CHECK(is_busy(slice)); /* with the write and the flush */
    memory_answers(slice, slice->request[1], 0);
    cycles(slice, 10);
    CHECK(!is_busy(slice));
    ask_write(slice, 0x0000, 0x01, 0);
    ask_read(slice, 0x0400, 0);
    cycles(slice, 50);
    REQUIRE(slice->requests == 4);
    memory_answers(slice, slice->request[3], 0);
    cycles(slice, 20);
    CHECK(is_busy(slice)); /* with the write-back of the victim */
    memory_answers(slice, slice->request[2], 0);
    cycles(slice, 20);
    CHECK(!is_busy(slice));
    command_flush(slice, (struct slice_command){0});
    cycles(slice, 5);
    CHECK(is_busy(slice)); /* with the scan */
    cycles(slice, 20);
    CHECK(!is_busy(slice));
    slice_fixture_destroy(slice);
}

static struct slice_fixture *slice_with_atomics(void) {
    return slice_fixture_create_with(SETTINGS("llc.organisation=private"),
                                     (struct slice_options){.commands = true, .atomics = true});
}

/* The oldest atomic that the slice has forwarded; the test ends if there is none. */
static struct message take_forwarded(struct slice_fixture *slice) {
    const struct message *message = port_peek(&slice->to_atomics, slice->base.engine->now);
    REQUIRE(message);
    struct message copy = *message;
    port_pop(&slice->to_atomics, slice->base.engine->now);
    return copy;
}

TEST("a slice of a private LLC forwards atomics and sends their replies through its data port, before its own") {
    struct slice_fixture *slice = slice_with_atomics();
    bring(slice, 0x1000);
    ask(slice, (struct message){.address = 0x1000, .kind = MESSAGE_ATOMIC, .tag = 9, .sectors = 3, .conflicts = 8});
    cycles(slice, 40);
    struct message atomic = take_forwarded(slice);
    CHECK_EQ(atomic.tag, 9u);
    CHECK_EQ(atomic.conflicts, 8);
    CHECK_EQ(slice->replies + slice->requests, 0u);
    CHECK_EQ(COUNTER(slice, "llc.atomics_forwarded"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.atomic_hits") + COUNTER(slice, "llc.atomic_misses"), 0u);
    for (uint32_t i = 0; i < 3; i++) ask_read(slice, 0x1000, i); /* occupy the data port for four cycles each */
    cycles(slice, 21);
    atomic.kind = MESSAGE_DATA;
    port_push(&slice->from_atomics, slice->base.engine->now, &atomic, sizeof atomic);
    settle(slice);
    REQUIRE(slice->replies == 4);
    CHECK_EQ(slice->reply[0].tag, 0u);
    CHECK_EQ(slice->reply[1].tag, 9u); /* overtakes the reads in the reply queue */
    CHECK_EQ(slice->reply[1].kind, MESSAGE_DATA);
    CHECK_EQ(slice->replied_at[1], slice->replied_at[0] + 4);
    CHECK_EQ(slice->replied_at[2], slice->replied_at[1] + 2); /* two sectors */
    slice_fixture_destroy(slice);
}

TEST("the reply of a forwarded atomic leaves in the cycle in which the data port is free") {
    struct slice_fixture *slice = slice_with_atomics();
    bring(slice, 0x1000);
    ask_atomic(slice, 0x2000, 1);
    ask_read(slice, 0x1000, 0); /* occupies the data port for four cycles; nothing else is waiting */
    while (slice->replies == 0 && slice->base.engine->now < 10000) cycle(slice);
    struct message atomic = take_forwarded(slice);
    atomic.kind = MESSAGE_DATA;
    port_push(&slice->from_atomics, slice->base.engine->now, &atomic, sizeof atomic);
    settle(slice);
    REQUIRE(slice->replies == 2);
    CHECK_EQ(slice->replied_at[1], slice->replied_at[0] + 4);
    slice_fixture_destroy(slice);
}

TEST("an atomic that cannot be forwarded blocks the requests behind it until there is a credit") {
    struct slice_fixture *slice = slice_with_atomics();
    bring(slice, 0x1000);
    for (uint32_t i = 0; i < 3; i++) ask_atomic(slice, 0x2000, 1); /* the port has two entries */
    ask_read(slice, 0x1000, 5);
    cycles(slice, 60);
    CHECK_EQ(COUNTER(slice, "llc.atomics_forwarded"), 2u);
    CHECK_EQ(slice->replies, 0u);
    take_forwarded(slice);
    cycles(slice, 10);
    CHECK_EQ(COUNTER(slice, "llc.atomics_forwarded"), 3u);
    REQUIRE(slice->replies == 1);
    CHECK_EQ(slice->reply[0].tag, 5u);
    for (unsigned i = 0; i < 2; i++) take_forwarded(slice);
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.memory_queue") + COUNTER(slice, "llc.reservation_fail.mshr"), 0u);
    slice_fixture_destroy(slice);
}

TEST("a slice that writes back performs atomics itself, also if there is an atomics' LLC") {
    struct slice_fixture *slice = slice_with_atomics();
    command_flush(slice, (struct slice_command){.write_through = false});
    settle(slice);
    ask_atomic(slice, 0x2000, 1);
    settle(slice);
    CHECK_EQ(slice->replies, 1u);
    CHECK_EQ(COUNTER(slice, "llc.atomics_forwarded"), 0u);
    CHECK_EQ(COUNTER(slice, "llc.atomic_misses"), 1u);
    slice_fixture_destroy(slice);
}
