/* A slice of the LLC: timing, misses, writes, atomics and the resources that block a lookup. Flushes: flush_test.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llc/slice_fixture.h"

TEST("a hit is answered latency_cycles after its arrival") {
    static const unsigned latencies[] = {1, 20, 120};
    for (unsigned i = 0; i < COUNT_OF(latencies); i++) {
        char setting[40];
        snprintf(setting, sizeof setting, "llc.latency_cycles=%u", latencies[i]);
        struct slice_fixture *slice = slice_fixture_create(SETTINGS(setting));
        bring(slice, 0x1000);
        uint64_t arrives = slice->base.engine->now + 1;
        ask(slice, (struct message){.address = 0x1000, .tag = 77, .source = 5, .kind = MESSAGE_READ});
        settle(slice);
        REQUIRE(slice->replies == 1);
        CHECK_EQ(slice->replied_at[0], arrives + latencies[i] + 1); /* the way out takes a cycle */
        CHECK_EQ(slice->reply[0].kind, MESSAGE_DATA);
        CHECK_EQ(slice->reply[0].tag, 77u);
        CHECK_EQ(slice->reply[0].source, 5);
        CHECK_EQ(slice->requests, 0u);
        CHECK_EQ(COUNTER(slice, "llc.read_hits"), 1u);
        CHECK_EQ(COUNTER(slice, "llc.read_misses"), 1u);
        slice_fixture_destroy(slice);
    }
}

TEST("a miss is sent to memory at its lookup and answered in the cycle in which its line arrives") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    uint64_t arrives = slice->base.engine->now + 1;
    ask_read(slice, 0x1000, 1);
    settle(slice);
    REQUIRE(slice->replies == 1 && slice->requests == 1);
    CHECK_EQ(slice->requested_at[0], arrives + 20 + 1);
    CHECK_EQ(slice->request[0].kind, MESSAGE_READ);
    CHECK_EQ(slice->request[0].address, 0x1000u);
    CHECK_EQ(slice->request[0].sectors, 0x0F);
    CHECK_EQ(slice->replied_at[0], arrives + 20 + 1 + 100 + 1);
    CHECK_EQ(COUNTER(slice, "llc.fills"), 1u);
    slice_fixture_destroy(slice);
}

TEST("a 128-byte line occupies a 32-byte data port for four cycles, a sector for one, an acknowledgement for one") {
    static const struct {
        const char *port;
        uint8_t sectors;
        unsigned cycles;
    } cases[] = {{"llc.port_bytes=32", 0x0F, 4}, {"llc.port_bytes=32", 0x01, 1},  {"llc.port_bytes=32", 0x05, 2},
                 {"llc.port_bytes=64", 0x0F, 2}, {"llc.port_bytes=128", 0x0F, 1}, {"llc.port_bytes=24", 0x0F, 6}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct slice_fixture *slice = slice_fixture_create(SETTINGS(cases[i].port));
        bring(slice, 0x1000);
        uint64_t busy = COUNTER(slice, "llc.data_port_cycles");
        for (unsigned n = 0; n < 20; n++)
            ask(slice, (struct message){.address = 0x1000, .kind = MESSAGE_READ, .sectors = cases[i].sectors});
        settle(slice);
        REQUIRE(slice->replies == 20);
        for (unsigned n = 1; n < 20; n++) CHECK_EQ(slice->replied_at[n], slice->replied_at[n - 1] + cases[i].cycles);
        CHECK_EQ(COUNTER(slice, "llc.data_port_cycles") - busy, 20u * cases[i].cycles);
        slice_fixture_destroy(slice);
    }
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    for (unsigned n = 0; n < 10; n++) ask_write(slice, 0x1000, 0x0F, 0);
    settle(slice);
    for (unsigned n = 1; n < 10; n++) CHECK_EQ(slice->replied_at[n], slice->replied_at[n - 1] + 1);
    slice_fixture_destroy(slice);
}

TEST("requests for a line in flight fetch it once and are answered in order, one line transfer apart") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    for (uint32_t i = 0; i < 10; i++) ask_read(slice, 0x1000, i);
    settle(slice);
    CHECK_EQ(slice->requests, 1u);
    REQUIRE(slice->replies == 10);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQ(slice->reply[i].tag, i);
        CHECK_EQ(slice->replied_at[i], slice->replied_at[0] + 4 * i);
    }
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.read_pending_hits"), 9u);
    CHECK_EQ(COUNTER(slice, "llc.mshrs_peak"), 1u);
    slice_fixture_destroy(slice);
}

TEST("a write of a whole line fetches nothing; a partial one fetches the line and is acknowledged after the fill") {
    static const struct {
        uint8_t sectors, flags;
        bool fetches;
    } cases[] = {{0x0F, 0, false}, {0x07, 0, true}, {0x01, 0, true}, {0x0F, MESSAGE_PARTIAL, true}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
        uint64_t arrives = slice->base.engine->now + 1;
        ask_write(slice, 0x1000, cases[i].sectors, cases[i].flags);
        settle(slice);
        REQUIRE(slice->replies == 1);
        CHECK_EQ(slice->reply[0].kind, MESSAGE_ACK);
        CHECK_EQ(slice->requests, cases[i].fetches ? 1u : 0u);
        CHECK_EQ(slice->replied_at[0], arrives + 20 + (cases[i].fetches ? 101 : 0) + 1);
        ask_read(slice, 0x1000, 0);
        settle(slice);
        CHECK_EQ(COUNTER(slice, "llc.write_misses"), 1u);
        CHECK_EQ(COUNTER(slice, "llc.read_hits"), 1u);
        slice_fixture_destroy(slice);
    }
}

TEST("a write hit or pending hit sends nothing to memory") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    bring(slice, 0x1000);
    ask_write(slice, 0x1000, 0x01, 0);
    settle(slice);
    CHECK_EQ(slice->requests, 0u);
    ask_read(slice, 0x2000, 0);
    ask_write(slice, 0x2000, 0x01, 0);
    settle(slice);
    CHECK_EQ(slice->requests, 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 2u);
    slice_fixture_destroy(slice);
}

TEST("with write_allocate=through a write miss goes to memory, which acknowledges it, and fetches its line") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.write_allocate=through"));
    ask_write(slice, 0x1000, 0x0F, 0); /* even one of the whole line */
    ask_write(slice, 0x1000, 0x02, 0); /* a pending hit: written through to memory, without a fetch */
    settle(slice);
    REQUIRE(slice->requests == 3);
    CHECK_EQ(slice->request[0].kind, MESSAGE_WRITE);
    CHECK_EQ(slice->request[0].sectors, 0x0F);
    CHECK_EQ(slice->request[1].kind, MESSAGE_READ);
    CHECK_EQ(slice->request[2].kind, MESSAGE_WRITE);
    CHECK_EQ(slice->request[2].sectors, 0x02);
    REQUIRE(slice->replies == 2);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(slice->reply[i].kind, MESSAGE_ACK);
        CHECK(slice->replied_at[i] > slice->requested_at[2 * i] + 100);
    }
    CHECK_EQ(COUNTER(slice, "llc.write_misses"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.writes_through"), 2u);
    ask_write(slice, 0x1000, 0x01, 0); /* a hit stays in the slice */
    settle(slice);
    CHECK_EQ(slice->requests, 3u);
    slice_fixture_destroy(slice);
}

TEST("a line fetched by a written-through miss is clean and is evicted without a write-back") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.write_allocate=through", "llc.slice_kb=1", "llc.ways=1"));
    ask_write(slice, 0x0000, 0x01, 0);
    settle(slice);
    ask_read(slice, 0x0400, 0); /* the same set */
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.evictions"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 0u);
    slice_fixture_destroy(slice);
}

TEST("with whole_write_backs a modified line is written back with all its sectors") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.whole_write_backs=true", "llc.slice_kb=1", "llc.ways=1"));
    bring(slice, 0x0000);
    ask_write(slice, 0x0000, 0x02, 0);
    ask_read(slice, 0x0400, 0);
    settle(slice);
    REQUIRE(slice->requests == 2);
    CHECK_EQ(slice->request[0].kind, MESSAGE_WRITE);
    CHECK_EQ(slice->request[0].sectors, 0x0F);
    slice_fixture_destroy(slice);
}

/* A slice of eight lines: one set. */
#define ONE_SET "llc.slice_kb=1", "llc.ways=8"

TEST("an evicted line is written back with its written sectors if it is modified, and not otherwise") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(ONE_SET));
    for (unsigned i = 0; i < 8; i++) bring(slice, 0x1000 * i);
    ask_write(slice, 0x0000, 0x02, 0);
    ask_write(slice, 0x0000, 0x08, 0);
    settle(slice);
    ask_atomic(slice, 0x2000, 1);
    settle(slice);
    slice->requests = 0;
    for (unsigned i = 8; i < 16; i++) {
        ask_read(slice, 0x1000 * i, 0);
        settle(slice);
    }
    REQUIRE(slice->requests ==
            10); /* eight fetches and two write-backs, each before the fetch that replaces its line */
    unsigned backs = 0;
    for (unsigned i = 0; i < 10; i++) {
        if (slice->request[i].kind == MESSAGE_READ) continue;
        CHECK_EQ(slice->request[i].kind, MESSAGE_WRITE);
        CHECK_EQ(slice->request[i].address, backs ? 0x2000u : 0x0000u); /* in the order of their last use */
        CHECK_EQ(slice->request[i].sectors, backs ? 0x01 : 0x0A);
        CHECK_EQ(slice->request[i + 1].kind, MESSAGE_READ);
        backs++;
    }
    CHECK_EQ(backs, 2u);
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.evictions"), 8u);
    ask_read(slice, 0x0000, 0);
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 17u);
    slice_fixture_destroy(slice);
}

TEST("a line that was written back and is fetched again is clean") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.slice_kb=1", "llc.ways=1")); /* eight sets of one line */
    ask_write(slice, 0x0000, 0x0F, 0);
    settle(slice);
    for (unsigned i = 1; i <= 4; i++) {
        ask_read(slice, 0x0400 * (i % 2), 0); /* two lines of one set in turns */
        settle(slice);
    }
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.evictions"), 4u);
    slice_fixture_destroy(slice);
}

TEST("an atomic occupies the lookup for as many cycles as lanes access the same word") {
    static const struct {
        const char *cycles;
        uint8_t conflicts;
        unsigned apart;
    } cases[] = {{"llc.atomic_cycles=1", 1, 1},
                 {"llc.atomic_cycles=1", 8, 8},
                 {"llc.atomic_cycles=3", 8, 24},
                 {"llc.atomic_cycles=1", 32, 32}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct slice_fixture *slice = slice_fixture_create(SETTINGS(cases[i].cycles));
        bring(slice, 0x1000);
        for (unsigned n = 0; n < 5; n++) ask_atomic(slice, 0x1000, cases[i].conflicts);
        settle(slice);
        REQUIRE(slice->replies == 5);
        for (unsigned n = 1; n < 5; n++) CHECK_EQ(slice->replied_at[n], slice->replied_at[n - 1] + cases[i].apart);
        CHECK_EQ(slice->reply[0].kind, MESSAGE_DATA);
        CHECK_EQ(COUNTER(slice, "llc.atomic_hits"), 5u);
        slice_fixture_destroy(slice);
    }
}

TEST("an atomic that misses fetches its line first") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    ask_atomic(slice, 0x1000, 1);
    ask_atomic(slice, 0x1000, 1);
    settle(slice);
    CHECK_EQ(slice->requests, 1u);
    CHECK_EQ(slice->replies, 2u);
    CHECK_EQ(COUNTER(slice, "llc.atomic_misses"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.atomic_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.read_misses") + COUNTER(slice, "llc.read_pending_hits"), 0u);
    slice_fixture_destroy(slice);
}

TEST("with every MSHR in use a miss blocks the requests behind it, even hits, until one is free") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.mshrs=1"));
    bring(slice, 0x1000);
    ask_read(slice, 0x2000, 1);
    ask_read(slice, 0x3000, 2);
    ask_read(slice, 0x1000, 3);
    settle(slice);
    REQUIRE(slice->replies == 3);
    CHECK_EQ(slice->reply[0].tag, 1u);
    /* The second is looked up a cycle after the first and fetched the cycle after the first has been answered; the
     * third hits and overtakes it. */
    CHECK_EQ(slice->requested_at[1], slice->requested_at[0] + 102);
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.mshr"), 101u);
    CHECK_EQ(slice->reply[1].tag, 3u);
    CHECK_EQ(slice->reply[2].tag, 2u);
    slice_fixture_destroy(slice);
}

TEST("a request at the MSHR merge limit blocks the requests behind it if there is no replay queue") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.mshr_merges=2", "llc.replay_queue=0"));
    bring(slice, 0x1000);
    for (uint32_t i = 0; i < 3; i++) ask_read(slice, 0x2000, i);
    ask_read(slice, 0x1000, 3);
    settle(slice);
    REQUIRE(slice->replies == 4);
    for (uint32_t i = 0; i < 4; i++) CHECK_EQ(slice->reply[i].tag, i);
    CHECK_EQ(slice->requests, 1u);
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.mshr_merge"),
             99u); /* from its lookup, two cycles after the first one's, until the line is there */
    slice_fixture_destroy(slice);
}

TEST("a request in the replay queue lets others pass and is answered when its line arrives") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.mshr_merges=2", "llc.replay_queue=2"));
    bring(slice, 0x1000);
    for (uint32_t i = 0; i < 4; i++) ask_read(slice, 0x2000, i);
    ask_read(slice, 0x1000, 9);
    settle(slice);
    REQUIRE(slice->replies == 5);
    CHECK_EQ(slice->reply[0].tag, 9u);
    for (uint32_t i = 0; i < 4; i++) CHECK_EQ(slice->reply[i + 1].tag, i);
    CHECK_EQ(slice->requests, 1u);
    CHECK_EQ(COUNTER(slice, "llc.replayed"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.mshr_merge"), 0u);
    slice_fixture_destroy(slice);
}

TEST("a write-through behind a read in the replay queue waits for it, and writes to other lines pass") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.organisation=private", "llc.mshr_merges=2", "llc.replay_queue=2"));
    slice->memory_cycles = 0;
    for (uint32_t i = 0; i < 3; i++) ask_read(slice, 0x2000, i); /* the last one goes to the replay queue */
    ask_write(slice, 0x2000, 0x01, 0);
    ask_write(slice, 0x3000, 0x02, 0);
    cycles(slice, 50);
    REQUIRE(slice->requests == 2);
    CHECK_EQ(slice->request[0].kind, MESSAGE_READ);
    CHECK_EQ(slice->request[1].address, 0x3000u);
    CHECK_EQ(COUNTER(slice, "llc.replayed"), 2u);
    memory_answers(slice, slice->request[0], 0);
    cycles(slice, 50);
    REQUIRE(slice->requests == 3); /* after the read that was before it */
    CHECK_EQ(slice->request[2].address, 0x2000u);
    CHECK_EQ(slice->request[2].sectors, 0x01);
    CHECK_EQ(slice->replies, 3u);
    for (unsigned i = 1; i < 3; i++) memory_answers(slice, slice->request[i], 0);
    settle(slice);
    CHECK_EQ(slice->replies, 5u);
    slice_fixture_destroy(slice);
}

TEST("a set whose lines are all being fetched delays a further miss to it") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.slice_kb=1", "llc.ways=1"));
    ask_read(slice, 0x0000, 1);
    ask_read(slice, 0x0400, 2); /* of the same set */
    settle(slice);
    CHECK_EQ(slice->replies, 2u);
    CHECK_EQ(slice->requested_at[1], slice->requested_at[0] + 101); /* looked up when the first line is there */
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.line"), 100u);
    slice_fixture_destroy(slice);
}

TEST("lookups stop when the reply queue is full, while the network accepts no replies") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.reply_queue=3"));
    bring(slice, 0x1000);
    slice->deaf_network = true;
    for (uint32_t i = 0; i < 12; i++) ask_read(slice, 0x1000, i);
    cycles(slice, 500);
    engine_settle(slice->base.engine, slice->base.engine->now);
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), 4u + 3); /* four in the network's queue, three in the slice's */
    uint64_t blocked = COUNTER(slice, "llc.reservation_fail.reply_queue");
    CHECK(blocked > 400);
    slice->deaf_network = false;
    settle(slice);
    REQUIRE(slice->replies == 12);
    for (uint32_t i = 0; i < 12; i++) CHECK_EQ(slice->reply[i].tag, i);
    slice_fixture_destroy(slice);
}

TEST("misses stop when the memory queue is full, and hits behind them wait") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    bring(slice, 0x10000);
    slice->deaf_memory = true;
    for (uint32_t i = 0; i < 18; i++) ask_read(slice, 0x1000 + 128 * i, i);
    ask_read(slice, 0x10000, 99);
    cycles(slice, 500);
    engine_settle(slice->base.engine, slice->base.engine->now);
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 1u + 16); /* as many as the port takes */
    CHECK_EQ(slice->replies, 0u);
    CHECK(COUNTER(slice, "llc.reservation_fail.memory_queue") > 400);
    slice->deaf_memory = false;
    settle(slice);
    CHECK_EQ(slice->replies, 19u);
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), 1u);
    slice_fixture_destroy(slice);
}

TEST("modified lines are evicted also if memory accepts one request at a time") {
    struct slice_fixture *slice = slice_fixture_create_with(
        SETTINGS(ONE_SET, "llc.mshrs=1", "llc.mshr_merges=1", "llc.replay_queue=0", "llc.reply_queue=1"),
        (struct slice_options){.memory_entries = 1});
    for (unsigned i = 0; i < 8; i++) ask_write(slice, 0x1000 * i, 0x0F, 0);
    for (unsigned i = 8; i < 16; i++) ask_read(slice, 0x1000 * i, 0);
    for (unsigned i = 16; i < 24; i++) ask_write(slice, 0x1000 * i, 0x01, 0);
    settle(slice);
    CHECK_EQ(slice->replies, 24u);
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 8u);
    slice_fixture_destroy(slice);
}

TEST("one request is looked up per cycle") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    for (unsigned i = 0; i < 10; i++) ask_read(slice, 0x1000 + 128 * i, i);
    settle(slice);
    REQUIRE(slice->requests == 10);
    for (unsigned i = 1; i < 10; i++) CHECK_EQ(slice->requested_at[i], slice->requested_at[i - 1] + 1);
    slice_fixture_destroy(slice);
}

TEST("a slice holds as many lines as its size, also in 48 sets") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS("llc.slice_kb=96", "llc.ways=16", "llc.latency_cycles=1", "llc.mshrs=1024"));
    slice->memory_cycles = 5;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned line = 0; line < 768; line++) {
            ask_read(slice, 128 * line, 0);
            cycles(slice, 4);
            slice->replies = slice->requests = 0;
        }
    settle(slice);
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 768u);
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), 768u);
    CHECK_EQ(COUNTER(slice, "llc.evictions"), 0u);
    slice_fixture_destroy(slice);
}

TEST("a line of one program is a miss for another, and its memory requests carry its program") {
    struct slice_fixture *slice = slice_fixture_create(NO_SETTINGS);
    slice->base.llc->next_program = slice->base.llc;
    bring(slice, 0x1000);
    ask(slice, (struct message){.address = 0x1000, .kind = MESSAGE_READ, .program = 1});
    settle(slice);
    REQUIRE(slice->requests == 1);
    CHECK_EQ(slice->request[0].program, 1);
    CHECK_EQ(slice->request[0].address, 0x1000u);
    slice_fixture_destroy(slice);
}

TEST("the profile of an organisation sees every read of a slice once, pending hits as hits") {
    struct slice_fixture *slice = slice_fixture_create(
        SETTINGS("llc.organisation=adaptive", "llc.adaptive.power_gating=false", "llc.adaptive.profile_cycles=5000",
                 "llc.adaptive.epoch_cycles=10000", "llc.mshr_merges=2"));
    struct llc_organisation *llc = slice->base.llc;
    uint64_t again;
    llc->ops->control->decide(llc, LLC_KERNEL_BEGINS, slice->base.engine->now, &again);
    cycles(slice, 2);
    for (unsigned i = 0; i < 4; i++) ask_read(slice, 0x1000, 0); /* a miss, a pending hit, two of the replay queue */
    cycles(slice, 200);
    ask_read(slice, 0x1000, 0); /* a hit */
    ask_read(slice, 0x2000, 0); /* a miss */
    ask_write(slice, 0x1000, 0x01, 0);
    settle(slice);
    while (slice->base.engine->now < again) cycle(slice);
    llc->ops->control->decide(llc, LLC_TIMER, again, &again);
    REQUIRE(slice->base.journal.count == 1);
    const struct journal_entry *entry = &slice->base.journal.entries[0];
    for (unsigned i = 0; i < entry->count; i++) {
        const struct journal_input *input = &entry->input[i];
        if (!strcmp(input->name, "reads")) CHECK_EQ(input->value, 6.0);
        if (!strcmp(input->name, "shared_miss_rate")) CHECK_NEAR(input->value, 2.0 / 6, 1e-9);
    }
    slice_fixture_destroy(slice);
}

TEST("a waiting slice reports what it waits for") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS("llc.mshrs=1"));
    slice->memory_cycles = 0;
    ask_read(slice, 0x1000, 0);
    ask_read(slice, 0x2000, 0);
    cycles(slice, 50);
    char *told;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    engine_explain(slice->base.engine, out);
    fclose(out);
    CHECK_TEXT(told, "slice 0");
    CHECK_TEXT(told, "waits for an MSHR");
    CHECK_TEXT(told, "1 lines being fetched");
    free(told);
    slice_fixture_destroy(slice);
}

/* The lines that remain of 16 in a set of eight, with random replacement. */
static unsigned lines_left(unsigned index) {
    struct slice_fixture *slice =
        slice_fixture_create_with(SETTINGS(ONE_SET, "llc.replacement=random"), (struct slice_options){.index = index});
    unsigned left = 0;
    for (unsigned line = 0; line < 16; line++) bring(slice, line * 128);
    for (unsigned line = 0; line < 16; line++) {
        slice->deaf_memory = true;
        ask_read(slice, line * 128, 0);
        cycles(slice, 100);
        left |= (unsigned)(slice->replies == 1) << line;
        slice->deaf_memory = false;
        settle(slice);
        slice->replies = slice->requests = 0;
        if (!(left >> line & 1)) break; /* the miss has evicted a line */
    }
    slice_fixture_destroy(slice);
    return left;
}

TEST("random replacement chooses other victims in each slice, and the same in each run") {
    unsigned same = 0;
    for (unsigned index = 0; index < 8; index++) {
        CHECK_EQ(lines_left(index), lines_left(index));
        same += lines_left(index) == lines_left(0);
    }
    CHECK(same < 8);
}
