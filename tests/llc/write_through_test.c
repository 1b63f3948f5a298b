/* A slice of a private LLC: writes are written through, with and without their line. */
#include <stdlib.h>

#include "llc/slice_fixture.h"

/* Eight sets of one line. */
#define ONE_WAY "llc.slice_kb=1", "llc.ways=1"

TEST("a write-through that hits updates its line without modifying it, and one that misses does not allocate") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.organisation=private", ONE_WAY));
    bring(slice, 0x0000);
    uint64_t arrives = slice->base.engine->now + 1;
    ask_write(slice, 0x0000, 0x02, 0);
    ask_write(slice, 0x0080, 0x0F, 0);
    settle(slice);
    REQUIRE(slice->requests == 2 && slice->replies == 2);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(slice->request[i].kind, MESSAGE_WRITE);
        CHECK_EQ(slice->request[i].address, 0x80u * i);
        CHECK_EQ(slice->request[i].sectors, i ? 0x0F : 0x02);
        CHECK_EQ(slice->reply[i].kind, MESSAGE_ACK);
        CHECK_EQ(slice->replied_at[i], arrives + 20 + i + 1 + 100 + 1); /* when memory has acknowledged it */
    }
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_misses"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.writes_through"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.atomic_hits") + COUNTER(slice, "llc.atomic_misses"), 0u);
    ask_read(slice, 0x0000, 0); /* still present */
    ask_read(slice, 0x0080, 0); /* never was */
    ask_read(slice, 0x0400, 0); /* evicts the first, which has nothing to write back */
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.evictions"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 0u);
    CHECK_EQ(slice->requests, 4u);
    slice_fixture_destroy(slice);
}

TEST("a write-through that hits makes its line the most recently used") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.organisation=private", "llc.slice_kb=1", "llc.ways=8"));
    for (unsigned i = 0; i < 8; i++) bring(slice, 0x1000 * i);
    ask_write(slice, 0x0000, 0x01, 0);
    ask_read(slice, 0x8000, 0); /* evicts the second line */
    ask_read(slice, 0x0000, 0);
    ask_read(slice, 0x1000, 0);
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 8u + 2);
    slice_fixture_destroy(slice);
}

TEST("a write-through to a line being fetched is sent at once, and its fill answers the reads") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.organisation=private"));
    slice->memory_cycles = 0;
    ask_read(slice, 0x1000, 7);
    ask_write(slice, 0x1000, 0x01, 0);
    cycles(slice, 40);
    REQUIRE(slice->requests == 2);
    CHECK_EQ(slice->request[1].kind, MESSAGE_WRITE);
    memory_answers(slice, slice->request[1], 0);
    cycles(slice, 10);
    REQUIRE(slice->replies == 1);
    CHECK_EQ(slice->reply[0].kind, MESSAGE_ACK);
    memory_answers(slice, slice->request[0], 0);
    settle(slice);
    REQUIRE(slice->replies == 2);
    CHECK_EQ(slice->reply[1].tag, 7u);
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 1u);
    slice_fixture_destroy(slice);
}

TEST("at most 256 write-throughs await their acknowledgement, and the next is sent when one has it") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.organisation=private", "llc.latency_cycles=1"));
    slice->memory_cycles = 0;
    for (uint32_t i = 0; i < 260; i++) {
        struct message message = {.address = 0x80 * i, .tag = i, .kind = MESSAGE_WRITE};
        ask(slice, message);
        cycle(slice);
    }
    cycles(slice, 300);
    REQUIRE(slice->requests == 256);
    CHECK_EQ(slice->replies, 0u);
    for (unsigned i = 0; i < 260; i++) { /* in reverse order of the sets, to tell the entries apart */
        memory_answers(slice, slice->request[i < 256 ? 255 - i : i], 0);
        cycles(slice, 5);
        CHECK_EQ(slice->requests, i < 4 ? 257 + i : 260u);
        REQUIRE(slice->replies == i + 1);
        CHECK_EQ(slice->reply[i].tag, i < 256 ? 255 - i : i);
    }
    settle(slice);
    CHECK(COUNTER(slice, "llc.reservation_fail.memory_queue") > 250);
    slice_fixture_destroy(slice);
}

TEST("with write_allocate=through a write waits until memory can accept all that it sends") {
    /* A write-back of the victim, the write and the fetch. The port to memory has three entries. */
    for (unsigned free_entries = 0; free_entries <= 3; free_entries++)
        for (unsigned modified = 0; modified < 2; modified++) {
            struct slice_fixture *slice = slice_fixture_create_with(SETTINGS("llc.write_allocate=through", ONE_WAY),
                                                                    (struct slice_options){.memory_entries = 3});
            bring(slice, 0x0000);
            if (modified) ask_write(slice, 0x0000, 0x01, 0);
            settle(slice);
            slice->requests = slice->replies = 0;
            slice->deaf_memory = true;
            for (unsigned i = free_entries; i < 3; i++) ask_read(slice, 0x0080 * (1 + i), 0);
            cycles(slice, 50);
            ask_write(slice, 0x0400, 0x02, 0);
            cycles(slice, 50);
            bool sent = free_entries >= 2 + modified;
            CHECK_EQ(COUNTER(slice, "llc.writes_through"), sent);
            CHECK_EQ(COUNTER(slice, "llc.write_backs"), sent && modified);
            slice->deaf_memory = false;
            settle(slice);
            CHECK_EQ(COUNTER(slice, "llc.writes_through"), 1u);
            CHECK_EQ(COUNTER(slice, "llc.write_backs"), modified);
            CHECK_EQ(slice->requests, 3 - free_entries + 2 + modified);
            CHECK_EQ(slice->replies, 3 - free_entries + 1);
            slice_fixture_destroy(slice);
        }
}

TEST("with write_allocate=through a pending write occupies a cycle of the data port without a reply") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.write_allocate=through"));
    slice->memory_cycles = 0;
    ask_read(slice, 0x1000, 1);
    ask_write(slice, 0x1000, 0x01, 0);
    ask_write(slice, 0x1000, 0x02, 0);
    ask_read(slice, 0x1000, 2);
    cycles(slice, 50);
    REQUIRE(slice->requests == 3);
    memory_answers(slice, slice->request[0], 0);
    cycles(slice, 50);
    REQUIRE(slice->replies == 2);
    CHECK_EQ(slice->replied_at[1], slice->replied_at[0] + 4 + 2); /* a line of four cycles, and two writes */
    for (unsigned i = 1; i < 3; i++) memory_answers(slice, slice->request[i], 0);
    settle(slice);
    CHECK_EQ(slice->replies, 4u);
    slice_fixture_destroy(slice);
}
