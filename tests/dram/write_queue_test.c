/* The write queue and the requests around it: which reads it can answer, and that refresh completes what has begun.
 *
 * One channel of GDDR5 at the core's clock, with two 64-byte bursts per 128-byte line: tRCD 12, tRCDW 7. A request that
 * is sent in cycle t enters the queue in t + 1 and can have a command from t + 2 on. */
#include <stdio.h>
#include <string.h>

#include "dram/dram_fixture.h"
#include "dram/zero_load.h"

#define WRITE_QUEUE \
    "dram.mcs=1", "llc.slices_per_mc=1", "dram.mapping=hynix", "dram.clock_mhz=0", "dram.write_drain=true"

/* A write of `written` sectors waits in the write queue while reads of another bank are served; then a read of `read`
 * sectors of the same line comes. Returns whether it is answered from the queue. */
static bool forwards(uint8_t written, uint8_t read) {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(WRITE_QUEUE));
    for (unsigned i = 0; i < 12; i++) add_request(fixture, address_at(fixture, 0, 0, i, 0), false, 0);
    unsigned write_index = add_request(fixture, address_at(fixture, 0, 7, 5, 256), true, 5);
    unsigned read_index = add_request(fixture, address_at(fixture, 0, 7, 5, 256), false, 20);
    fixture->request[write_index].sectors = written;
    fixture->request[read_index].sectors = read;
    CHECK(run_requests(fixture, 100000));
    uint64_t count = COUNTER(fixture, "dram.forwards");
    uint64_t waited = fixture->request[read_index].answered - fixture->request[read_index].sent;
    if (count) CHECK(waited < dram_zero_load_cycles(fixture->base.config, 0) / 2);
    CHECK_EQ(COUNTER(fixture, "dram.reads"), 13u);
    uint64_t bytes = 12 * 128 + (count ? 0 : 64u * ((read & 3 ? 1 : 0) + (read & 12 ? 1 : 0)));
    CHECK_EQ(COUNTER(fixture, "dram.read_bytes"), bytes);
    dram_fixture_destroy(fixture);
    return count == 1;
}

TEST("a read is answered from a queued write that covers all of its bursts, and not from one that covers a part") {
    CHECK(forwards(0xF, 0xF));
    CHECK(forwards(0xF, 0x1));
    CHECK(forwards(0x1, 0x2)); /* the same burst */
    CHECK(!forwards(0x3, 0xF));
    CHECK(!forwards(0xC, 0xF));
    CHECK(!forwards(0x3, 0xC));
    CHECK(!forwards(0x8, 0x1));
}

TEST("a read of another line of the row is not answered from the write queue") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(WRITE_QUEUE));
    for (unsigned i = 0; i < 12; i++) add_request(fixture, address_at(fixture, 0, 0, i, 0), false, 0);
    add_request(fixture, address_at(fixture, 0, 7, 5, 256), true, 5);
    add_request(fixture, address_at(fixture, 0, 7, 5, 384), false, 20);
    add_request(fixture, address_at(fixture, 0, 7, 6, 256), false, 20);
    CHECK(run_requests(fixture, 100000));
    CHECK_EQ(COUNTER(fixture, "dram.forwards"), 0u);
    CHECK_EQ(COUNTER(fixture, "dram.read_bytes"), 14u * 128);
    dram_fixture_destroy(fixture);
}

TEST("a read that is answered from the write queue takes one memory cycle, between two ports") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(WRITE_QUEUE, "dram.drain_idle_writes=2"));
    add_request(fixture, address_at(fixture, 0, 7, 5, 256), true,
                0); /* stays in the queue until a second write comes */
    unsigned read = add_request(fixture, address_at(fixture, 0, 7, 5, 256), false, 100);
    add_request(fixture, address_at(fixture, 0, 7, 6, 0), true, 200);
    CHECK(run_requests(fixture, 10000));
    CHECK_EQ(fixture->request[read].answered, 100u + 1 + 1 + 1);
    CHECK_EQ(COUNTER(fixture, "dram.read_cycles"), 1u);
    dram_fixture_destroy(fixture);
}

TEST("after a starved write is served, reads go on at once") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(WRITE_QUEUE, "dram.gddr5.burst_bytes=128", "dram.starvation_cycles=1000"));
    for (unsigned i = 0; i < 8; i++) add_request(fixture, (uint64_t)i * 128, false, 0);
    unsigned write = add_request(fixture, address_at(fixture, 0, 3, 50, 0), true, 1), first = fixture->count;
    for (unsigned i = 0; i < 2000; i++) add_request(fixture, (uint64_t)i * 128, false, 2);
    CHECK(run_requests(fixture, 100000));
    CHECK(fixture->request[write].answered - fixture->request[write].sent >= 1000);
    uint64_t longest = 0, last = fixture->request[first].answered;
    for (unsigned i = first; i < fixture->count; i++) {
        uint64_t answered = fixture->request[i].answered;
        if (answered > last) longest = max_u64(longest, answered - last);
        last = max_u64(last, answered);
    }
    CHECK(longest < 150); /* a row opened and closed for the write, and turn-arounds */
    dram_fixture_destroy(fixture);
}

/* --------------------------------------------------------------------- refresh */

enum { LOG_TEXT = 400, REFRESH_AT = 3000 };

struct log {
    char text[LOG_TEXT];
    size_t length;
};

static void log_see(void *user, const struct dram_log_entry *entry) {
    struct log *log = user;
    if (log->length + 20 > sizeof log->text) return;
    log->length += (size_t)snprintf(log->text + log->length, sizeof log->text - log->length, "%s%s%u@%llu",
                                    log->length ? " " : "", dram_command_name((enum dram_command)entry->command),
                                    entry->bank, (unsigned long long)entry->cycle);
}

/* The commands for one request that is sent in cycle `sent`, in a memory that is refreshed first in REFRESH_AT. Polling
 * changes nothing. */
static struct log around_refresh(bool write_drain, bool write, uint64_t sent) {
    struct log log[2] = {{{0}, 0}, {{0}, 0}};
    for (unsigned polls = 0; polls < 2; polls++) {
        struct dram_fixture *fixture = dram_fixture_create(SETTINGS(
            WRITE_QUEUE, write_drain ? "dram.drain_idle_writes=1" : "dram.write_drain=false",
            "dram.gddr5.burst_bytes=128", "dram.gddr5.refresh=true", "dram.gddr5.tREFI=3000", "dram.gddr5.tRFC=100"));
        fixture->base.engine->poll = polls;
        dram_set_log(fixture->dram, log_see, &log[polls]);
        add_request(fixture, address_at(fixture, 0, 3, 1, 0), write, sent);
        CHECK(run_requests(fixture, 5000));
        engine_run_until(fixture->base.engine, 5000);
        engine_settle(fixture->base.engine, 5000);
        dram_fixture_destroy(fixture);
    }
    CHECK_EQ((const char *)log[0].text, (const char *)log[1].text);
    return log[0];
}

TEST("a row opened for a request is used before a refresh closes it, for writes in their own queue, too") {
    /* The activate comes two cycles before the refresh is due. tRAS 28 and tRP 12 follow. */
    CHECK_EQ((const char *)around_refresh(false, false, REFRESH_AT - 4).text,
             "ACT3@2998 RD3@3010 PREA0@3026 REF0@3038");
    CHECK_EQ((const char *)around_refresh(false, true, REFRESH_AT - 4).text, "ACT3@2998 WR3@3005 PREA0@3026 REF0@3038");
    CHECK_EQ((const char *)around_refresh(true, false, REFRESH_AT - 4).text, "ACT3@2998 RD3@3010 PREA0@3026 REF0@3038");
    CHECK_EQ((const char *)around_refresh(true, true, REFRESH_AT - 4).text, "ACT3@2998 WR3@3005 PREA0@3026 REF0@3038");
}

TEST("a request that arrives when a refresh is due waits for it, and its row is opened tRFC later") {
    CHECK_EQ((const char *)around_refresh(false, false, REFRESH_AT - 2).text, "REF0@3000 ACT3@3100 RD3@3112");
    CHECK_EQ((const char *)around_refresh(true, true, REFRESH_AT - 2).text, "REF0@3000 ACT3@3100 WR3@3107");
    CHECK_EQ((const char *)around_refresh(true, true, REFRESH_AT + 50).text, "REF0@3000 ACT3@3100 WR3@3107");
}
