/* Flushes of a slice, with traffic before, during and after them. */
#include <stdlib.h>

#include "llc/slice_fixture.h"

static struct slice_fixture *slice_with_commands(const char *const *settings) {
    return slice_fixture_create_with(settings, (struct slice_options){.commands = true});
}

static void flush(struct slice_fixture *slice, struct slice_command command) {
    unsigned before = slice->flushes;
    command_flush(slice, command);
    settle(slice);
    CHECK_EQ(slice->flushes, before + 1);
}

/* Whether the line is present. Fetches it if it is not. */
static bool is_present(struct slice_fixture *slice, uint64_t address) {
    unsigned before = slice->requests;
    ask_read(slice, address, 0);
    settle(slice);
    return slice->requests == before;
}

/* Write-backs and write-throughs that memory has received. */
static unsigned writes(const struct slice_fixture *slice) {
    unsigned count = 0;
    for (unsigned i = 0; i < slice->requests; i++) count += slice->request[i].kind == MESSAGE_WRITE;
    return count;
}

/* Two slices: lines alternate between them, and the slice under test is the first. */
#define TWO_SLICES "llc.slices_per_mc=2"

TEST("a flush of replicas invalidates them and leaves the lines of the slice itself in place") {
    struct slice_fixture *slice = slice_with_commands(SETTINGS(TWO_SLICES));
    uint64_t home[2], replica[2], address = 0;
    unsigned homes = 0, replicas = 0;
    for (; homes < 2 || replicas < 2; address += 128) {
        struct location location;
        address_map_locate(slice->base.map, address, &location);
        if (location.slice == 0 && homes < 2) home[homes++] = address;
        if (location.slice == 1 && replicas < 2) replica[replicas++] = address;
    }
    for (unsigned i = 0; i < 2; i++) {
        bring(slice, home[i]);
        bring(slice, replica[i]);
    }
    ask_write(slice, home[1], 0x01, 0);
    settle(slice);
    flush(slice, (struct slice_command){.keep_home = true});
    CHECK_EQ(writes(slice), 1u);
    CHECK_EQ(COUNTER(slice, "llc.replicas_invalidated"), 2u);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(is_present(slice, home[i]));
        CHECK(!is_present(slice, replica[i]));
    }
    flush(slice, (struct slice_command){0}); /* of all lines */
    for (unsigned i = 0; i < 2; i++) CHECK(!is_present(slice, home[i]));
    CHECK_EQ(COUNTER(slice, "llc.replicas_invalidated"), 2u);
    slice_fixture_destroy(slice);
}

TEST("a line that was written back and kept is written back again with its new sectors only") {
    struct slice_fixture *slice = slice_with_commands(NO_SETTINGS);
    bring(slice, 0x1000);
    for (unsigned i = 0; i < 3; i++) {
        ask_write(slice, 0x1000, (uint8_t)(1u << i), 0);
        settle(slice);
        slice->requests = 0;
        flush(slice, (struct slice_command){.keep_lines = true});
        REQUIRE(slice->requests == 1);
        CHECK_EQ(slice->request[0].address, 0x1000u);
        CHECK_EQ(slice->request[0].sectors, 1u << i);
    }
    flush(slice, (struct slice_command){.keep_lines = true}); /* nothing is modified any more */
    CHECK_EQ(slice->requests, 1u);
    slice_fixture_destroy(slice);
}

TEST("a flush waits for the acknowledgement of every earlier write; in the background, of its own writes") {
    for (unsigned background = 0; background < 2; background++)
        for (unsigned modified = 0; modified < 2; modified++) {
            struct slice_fixture *slice = slice_with_commands(SETTINGS("llc.slice_kb=1", "llc.ways=1"));
            bring(slice, 0x0000);
            bring(slice, 0x0080);
            ask_write(slice, 0x0000, 0x01, 0);
            if (modified) ask_write(slice, 0x0080, 0x01, 0);
            settle(slice);
            slice->memory_cycles = 0;
            ask_read(slice, 0x0400, 0); /* evicts the first */
            cycles(slice, 50);
            REQUIRE(slice->requests == 2);
            CHECK_EQ(slice->request[0].kind, MESSAGE_WRITE);
            memory_answers(slice, slice->request[1], 0);
            command_flush(slice, (struct slice_command){.keep_lines = true, .background = background});
            cycles(slice, 100);
            REQUIRE(slice->requests == 2 + modified);
            CHECK_EQ(slice->flushes, background && !modified);
            if (modified) memory_answers(slice, slice->request[2], 0);
            cycles(slice, 100);
            CHECK_EQ(slice->flushes, background);
            memory_answers(slice, slice->request[0], 0);
            settle(slice);
            CHECK_EQ(slice->flushes, 1u);
            slice_fixture_destroy(slice);
        }
}

TEST("a flush writes back one modified line per cycle, and then takes the time of the scan") {
    static const struct {
        const char *rate;
        bool keeps;
        unsigned modified, scan_cycles;
    } cases[] = {{"llc.flush_lines=8", false, 0, 6},  {"llc.flush_lines=5", false, 0, 10},
                 {"llc.flush_lines=48", false, 0, 1}, {"llc.flush_lines=8", true, 0, 0},
                 {"llc.flush_lines=8", false, 4, 6},  {"llc.flush_lines=8", true, 4, 0}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        /* 12 sets of 4 lines. */
        struct slice_fixture *slice = slice_with_commands(SETTINGS("llc.slice_kb=6", "llc.ways=4", cases[i].rate));
        for (unsigned n = 0; n < cases[i].modified; n++) ask_write(slice, 0x1000 + 128 * n, 0x0F, 0);
        settle(slice);
        uint64_t seen = slice->base.engine->now + 1;
        flush(slice, (struct slice_command){.keep_lines = cases[i].keeps});
        unsigned modified = cases[i].modified;
        REQUIRE(slice->requests == modified);
        for (unsigned n = 0; n < modified; n++) CHECK_EQ(slice->requested_at[n], seen + n + 1);
        /* The acknowledgement of the last write takes a cycle to the slice. */
        uint64_t written = modified ? slice->requested_at[modified - 1] + 100 : seen;
        CHECK_EQ(slice->flushed_at, written + cases[i].scan_cycles + 1);
        CHECK_EQ(COUNTER(slice, "llc.flush_cycles"), slice->flushed_at - 1 - seen);
        CHECK_EQ(COUNTER(slice, "llc.flushes"), 1u);
        slice_fixture_destroy(slice);
    }
}

static void ask_read_of(struct slice_fixture *slice, uint64_t address, uint8_t program) {
    ask(slice, (struct message){.address = address, .kind = MESSAGE_READ, .program = program});
}

TEST("a flush leaves the other program's lines, modified or not, and serves it while memory acknowledges") {
    struct slice_fixture *slice = slice_with_commands(NO_SETTINGS);
    slice->base.llc->next_program = slice->base.llc;
    for (uint8_t program = 0; program < 2; program++) {
        ask(slice, (struct message){.address = 0x1000, .kind = MESSAGE_WRITE, .program = program});
        ask(slice, (struct message){.address = 0x2000, .kind = MESSAGE_READ, .program = program});
    }
    settle(slice);
    slice->requests = slice->replies = 0;
    slice->memory_cycles = 0;
    command_flush(slice, (struct slice_command){.program = 1});
    cycles(slice, 10);
    REQUIRE(slice->requests == 1);
    CHECK_EQ(slice->request[0].program, 1);
    ask_read_of(slice, 0x1000, 0);
    cycles(slice, 40);
    CHECK_EQ(slice->replies, 1u);
    CHECK_EQ(slice->flushes, 0u);
    memory_answers(slice, slice->request[0], 0);
    settle(slice);
    CHECK_EQ(slice->flushes, 1u);
    ask_read_of(slice, 0x1000, 0);
    ask_read_of(slice, 0x2000, 0);
    settle(slice);
    CHECK_EQ(slice->requests, 1u);
    slice->memory_cycles = 100;
    ask_read_of(slice, 0x1000, 1);
    ask_read_of(slice, 0x2000, 1);
    settle(slice);
    CHECK_EQ(slice->requests, 3u);
    slice->base.llc->next_program = NULL;
    slice_fixture_destroy(slice);
}

TEST("a lookup waits for the scan of a flush, and fails no reservation meanwhile") {
    struct slice_fixture *slice = slice_with_commands(SETTINGS("llc.slice_kb=6", "llc.ways=4", "llc.flush_lines=1"));
    bring(slice, 0x1000);
    uint64_t seen = slice->base.engine->now + 1;
    command_flush(slice, (struct slice_command){.keep_home = true}); /* of one slice: every line is at home */
    ask_read(slice, 0x1000, 0);                                      /* is to be looked up 20 cycles later */
    settle(slice);
    REQUIRE(slice->replies == 1);
    CHECK_EQ(slice->requests, 0u);
    CHECK_EQ(slice->flushed_at, seen + 48 + 1);
    CHECK_EQ(slice->replied_at[0], seen + 48 + 1); /* looked up in the cycle in which the flush ends */
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.mshr"), 0u);
    CHECK_EQ(COUNTER(slice, "llc.reservation_fail.reply_queue"), 0u);
    slice_fixture_destroy(slice);
}

TEST("from a flush on, writes are written through or back as its command says") {
    struct slice_fixture *slice = slice_with_commands(NO_SETTINGS);
    bring(slice, 0x1000);
    for (unsigned i = 0; i < 4; i++) {
        bool through = i % 2;
        flush(slice, (struct slice_command){.keep_lines = true, .write_through = through});
        slice->requests = 0;
        ask_write(slice, 0x1000, 0x02, 0);
        settle(slice);
        CHECK_EQ(slice->requests, through);
        CHECK_EQ(COUNTER(slice, "llc.writes_through"), (i + 1) / 2);
    }
    slice_fixture_destroy(slice);
}

TEST("a line modified behind a flush in the background stays modified") {
    struct slice_fixture *slice =
        slice_fixture_create_with(SETTINGS("llc.slice_kb=1", "llc.ways=1", "llc.latency_cycles=1"),
                                  (struct slice_options){.memory_entries = 1, .commands = true});
    bring(slice, 0x0000);
    for (unsigned set = 4; set < 8; set++) ask_write(slice, 0x80 * set, 0x0F, 0);
    settle(slice);
    slice->deaf_memory = true;
    command_flush(slice, (struct slice_command){.keep_lines = true, .background = true});
    cycles(slice, 10); /* the first write-back waits in the port, and the scan is past the first line */
    ask_write(slice, 0x0000, 0x04, 0);
    cycles(slice, 10);
    CHECK_EQ(slice->replies, 5u); /* the program is served meanwhile */
    slice->deaf_memory = false;
    settle(slice);
    CHECK_EQ(slice->flushes, 1u);
    CHECK_EQ(writes(slice), 4u);
    flush(slice, (struct slice_command){.keep_lines = true});
    REQUIRE(slice->requests == 5);
    CHECK_EQ(slice->request[4].address, 0u);
    CHECK_EQ(slice->request[4].sectors, 0x04);
    slice_fixture_destroy(slice);
}
