/* Sectored slices: what is fetched and written back, write-validate, order within a line, and equality with whole
 * lines. Random requests against a shadow of every sector: sectored_oracle_test.c. */
#include "llc/slice_fixture.h"

#include "base/random.h"

#define SECTORED "llc.sector_bytes=32"
#define VALIDATE "llc.write_allocate=validate"

static void ask_sectors(struct slice_fixture *slice, uint64_t address, uint8_t sectors, uint32_t tag) {
    ask(slice, (struct message){.address = address, .tag = tag, .kind = MESSAGE_READ, .sectors = sectors});
}

/* The requests to memory so far are these; the next call starts with those that follow. */
struct to_memory {
    enum message_kind kind;
    uint8_t sectors;
};
static void check_memory(struct slice_fixture *slice, const struct to_memory *expected, unsigned count) {
    settle(slice);
    REQUIRE(slice->requests == count);
    for (unsigned i = 0; i < count; i++) {
        CHECK_EQ(slice->request[i].kind, expected[i].kind);
        CHECK_EQ(slice->request[i].sectors, expected[i].sectors);
    }
    slice->requests = slice->replies = 0;
}
#define CHECK_MEMORY(slice, ...) \
    check_memory(slice, (const struct to_memory[]){__VA_ARGS__}, COUNT_OF(((const struct to_memory[]){__VA_ARGS__})))
static void check_no_memory(struct slice_fixture *slice) { check_memory(slice, NULL, 0); }

TEST("a read miss fetches its sectors, and a later read the absent ones of its own") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED));
    ask_sectors(slice, 0x1000, 0x2, 1);
    CHECK_MEMORY(slice, {MESSAGE_READ, 0x2});
    ask_sectors(slice, 0x1000, 0x2, 2);
    check_no_memory(slice);
    ask_sectors(slice, 0x1000, 0xB, 3);
    CHECK_MEMORY(slice, {MESSAGE_READ, 0x9});
    CHECK_EQ(COUNTER(slice, "llc.read_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.read_misses"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.misses"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.fetched"), 3u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.read"), 5u);
    CHECK_EQ(COUNTER(slice, "llc.data_port_cycles"), 5u); /* a reply carries the sectors of its request */
    CHECK_EQ(COUNTER(slice, "llc.fills"), 2u);
    slice_fixture_destroy(slice);
}

TEST("a miss fetches aligned groups of fetch_bytes, without the sectors that are present or in flight") {
    static const struct {
        const char *line, *fetch;
        uint8_t asked, fetched, next; /* the next read wants the first sector of the last group */
    } cases[] = {
        {"gpu.line_bytes=128", "llc.fetch_bytes=32", 0x2, 0x2, 0x8},
        {"gpu.line_bytes=128", "llc.fetch_bytes=64", 0x2, 0x3, 0xC},
        {"gpu.line_bytes=128", "llc.fetch_bytes=64", 0x6, 0xF, 0},
        {"gpu.line_bytes=128", "llc.fetch_bytes=128", 0x4, 0xF, 0},
        {"gpu.line_bytes=256", "llc.fetch_bytes=64", 0x20, 0x30, 0xC0},
        {"gpu.line_bytes=256", "llc.fetch_bytes=128", 0x20, 0xF0, 0},
        {"gpu.line_bytes=64", "llc.fetch_bytes=64", 0x1, 0x3, 0},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED, cases[i].line, cases[i].fetch));
        ask_sectors(slice, 0x1000, cases[i].asked, 1);
        CHECK_MEMORY(slice, {MESSAGE_READ, cases[i].fetched});
        uint8_t last = cases[i].line[15] == '2' ? 0x80 : cases[i].line[15] == '1' ? 0x08 : 0x02;
        ask_sectors(slice, 0x1000, last, 2);
        if (cases[i].next)
            CHECK_MEMORY(slice, {MESSAGE_READ, cases[i].next});
        else
            check_no_memory(slice);
        slice_fixture_destroy(slice);
    }
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED, VALIDATE, "llc.fetch_bytes=128"));
    ask_write(slice, 0x1000, 0x4, 0);
    ask_sectors(slice, 0x1000, 0x1, 1);
    ask_sectors(slice, 0x1000, 0x8, 2); /* in flight, since fetched together */
    CHECK_MEMORY(slice, {MESSAGE_READ, 0xB});
    CHECK_EQ(COUNTER(slice, "llc.read_pending_hits"), 1u);
    slice_fixture_destroy(slice);
}

TEST("with write-validate a write fetches nothing; a read fetches what writes have not covered") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED, VALIDATE));
    uint64_t arrives = slice->base.engine->now + 1;
    ask_write(slice, 0x1000, 0x1, 0);
    ask_write(slice, 0x1000, 0x6, MESSAGE_PARTIAL);
    settle(slice);
    REQUIRE(slice->replies == 2);
    CHECK_EQ(slice->replied_at[0], arrives + 20 + 1); /* acknowledged like a hit */
    ask_sectors(slice, 0x1000, 0x1, 1);
    check_no_memory(slice);
    ask_write(slice, 0x1000, 0x4, 0); /* completes one of the two */
    ask_sectors(slice, 0x1000, 0x7, 2);
    CHECK_MEMORY(slice, {MESSAGE_READ, 0x2});
    CHECK_EQ(COUNTER(slice, "llc.write_misses"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.write_hits"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.merged"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.partial"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.written"), 4u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.misses"), 1u);
    ask_sectors(slice, 0x1000, 0x7, 3);
    ask_write(slice, 0x1000, 0x2, MESSAGE_PARTIAL); /* of a sector that is present: it stays complete */
    ask_sectors(slice, 0x1000, 0x2, 4);
    check_no_memory(slice);
    slice_fixture_destroy(slice);
}

TEST("an atomic fetches its sector unless a write has covered it") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED, VALIDATE));
    ask_write(slice, 0x1000, 0x1, 0);
    ask_atomic(slice, 0x1000, 1);
    check_no_memory(slice);
    ask_write(slice, 0x2000, 0x1, MESSAGE_PARTIAL);
    ask_atomic(slice, 0x2000, 1);
    CHECK_MEMORY(slice, {MESSAGE_READ, 0x1});
    CHECK_EQ(COUNTER(slice, "llc.atomic_hits"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.atomic_misses"), 1u);
    slice_fixture_destroy(slice);
}

TEST("with fetch on write a write that leaves bytes of a sector unwritten fetches its sectors, and no other does") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED));
    ask_write(slice, 0x1000, 0x3, 0);
    check_no_memory(slice);
    ask_write(slice, 0x1000, 0x6, MESSAGE_PARTIAL);
    CHECK_MEMORY(slice, {MESSAGE_READ, 0x4}); /* the other is complete */
    CHECK_EQ(COUNTER(slice, "llc.sectors.partial"), 0u);
    slice_fixture_destroy(slice);
}

TEST("an evicted line writes its modified sectors back, partial ones included, and no others") {
    struct slice_fixture *slice =
        slice_fixture_create(SETTINGS(SECTORED, VALIDATE, "llc.slice_kb=1", "llc.ways=1")); /* eight sets */
    ask_sectors(slice, 0x0000, 0x1, 1);
    settle(slice);
    ask_write(slice, 0x0000, 0x2, 0);
    ask_write(slice, 0x0000, 0x8, MESSAGE_PARTIAL);
    settle(slice);
    slice->requests = 0;
    ask_sectors(slice, 0x0400, 0x1, 2);
    CHECK_MEMORY(slice, {MESSAGE_WRITE, 0xA}, {MESSAGE_READ, 0x1});
    CHECK_EQ(COUNTER(slice, "llc.sectors.written_back"), 2u);
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 1u);
    ask_sectors(slice, 0x0000, 0x8, 3); /* the written bytes are in memory */
    CHECK_MEMORY(slice, {MESSAGE_READ, 0x8});
    slice_fixture_destroy(slice);
}

TEST("requests to a line in flight share an MSHR; hits on its other sectors do not wait, and none overtakes a change") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED, VALIDATE, "llc.mshrs=1"));
    ask_write(slice, 0x1000, 0x8, 0);
    settle(slice);
    slice->replies = slice->requests = 0;
    ask_sectors(slice, 0x1000, 0x1, 1);
    ask_sectors(slice, 0x1000, 0x2, 2);                                                               /* fetches */
    ask_sectors(slice, 0x1000, 0x8, 3);                                                               /* a hit */
    ask(slice, (struct message){.address = 0x1000, .tag = 4, .kind = MESSAGE_WRITE, .sectors = 0x2}); /* behind 2 */
    ask(slice, (struct message){
                   .address = 0x1000, .tag = 5, .kind = MESSAGE_ATOMIC, .sectors = 0xA, .conflicts = 1}); /* behind 4 */
    ask_sectors(slice, 0x1000, 0x8, 6);                                                                   /* behind 5 */
    ask(slice, (struct message){.address = 0x1000, .tag = 7, .kind = MESSAGE_WRITE, .sectors = 0x4});     /* a hit */
    settle(slice);
    REQUIRE(slice->replies == 7 && slice->requests == 2);
    static const uint32_t order[] = {3, 7, 1, 2, 4, 5, 6};
    for (unsigned i = 0; i < 7; i++) CHECK_EQ(slice->reply[i].tag, order[i]);
    CHECK_EQ(slice->request[0].sectors, 0x1);
    CHECK_EQ(slice->request[1].sectors, 0x2);
    CHECK_EQ(COUNTER(slice, "llc.mshrs_peak"), 1u);
    CHECK_EQ(COUNTER(slice, "llc.sectors.misses"), 2u);
    slice_fixture_destroy(slice);
}

TEST("waiters whose sectors have arrived are answered while others of the line are in flight") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED));
    slice->memory_cycles = 0;
    ask_sectors(slice, 0x1000, 0x1, 1);
    ask_sectors(slice, 0x1000, 0x3, 2);
    cycles(slice, 40);
    REQUIRE(slice->requests == 2);
    memory_answers(slice, slice->request[0], 0);
    cycles(slice, 10);
    REQUIRE(slice->replies == 1);
    CHECK_EQ(slice->reply[0].tag, 1u);
    ask_sectors(slice, 0x1000, 0x1, 3);
    cycles(slice, 40);
    REQUIRE(slice->replies == 2); /* a hit */
    memory_answers(slice, slice->request[1], 0);
    settle(slice);
    REQUIRE(slice->replies == 3);
    CHECK_EQ(slice->reply[2].tag, 2u);
    slice_fixture_destroy(slice);
}

TEST("at the merge limit requests to a sectored line in flight are replayed as sectors arrive") {
    struct slice_fixture *slice = slice_fixture_create(SETTINGS(SECTORED, "llc.mshr_merges=2", "llc.replay_queue=2"));
    for (uint32_t i = 0; i < 6; i++) ask_sectors(slice, 0x1000, (uint8_t)(1u << i % 3), i);
    settle(slice);
    REQUIRE(slice->replies == 6);
    static const uint32_t order[] = {0, 1, 3, 4, 2, 5}; /* 2 fetches; 3 and 4 are hits by then */
    for (uint32_t i = 0; i < 6; i++) CHECK_EQ(slice->reply[i].tag, order[i]);
    CHECK_EQ(slice->requests, 3u);
    CHECK(COUNTER(slice, "llc.replayed") > 0);
    CHECK(COUNTER(slice, "llc.reservation_fail.mshr_merge") > 0);
    slice_fixture_destroy(slice);
}

TEST("a background flush writes back the modified sectors of a line that has others in flight") {
    struct slice_fixture *slice =
        slice_fixture_create_with(SETTINGS(SECTORED, VALIDATE), (struct slice_options){.commands = true});
    slice->memory_cycles = 0;
    ask_write(slice, 0x1000, 0x3, 0);
    ask_sectors(slice, 0x1000, 0x4, 1);
    cycles(slice, 40);
    REQUIRE(slice->requests == 1);
    command_flush(slice, (struct slice_command){.keep_lines = true, .background = true});
    cycles(slice, 40);
    REQUIRE(slice->requests == 2);
    CHECK_EQ(slice->request[1].kind, MESSAGE_WRITE);
    CHECK_EQ(slice->request[1].sectors, 0x3);
    memory_answers(slice, slice->request[1], 0);
    cycles(slice, 10);
    CHECK_EQ(slice->flushes, 1u);
    memory_answers(slice, slice->request[0], 0);
    settle(slice);
    ask_sectors(slice, 0x1000, 0x7, 2);
    settle(slice);
    CHECK_EQ(slice->requests, 2u); /* all present, none modified */
    CHECK_EQ(COUNTER(slice, "llc.write_backs"), 1u);
    slice_fixture_destroy(slice);
}

TEST("requests for whole lines have the same replies and counters in a sectored slice as in a plain one") {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const char *merges = seed % 2 ? "llc.mshr_merges=2" : "llc.mshr_merges=8";
        const char *replay = seed % 3 ? "llc.replay_queue=3" : "llc.replay_queue=0";
        const char *const common[] = {"llc.slice_kb=1", "llc.ways=2", "llc.mshrs=3", "llc.reply_queue=2",
                                      merges,           replay,       NULL,          NULL};
        const char *with[COUNT_OF(common)];
        memcpy(with, common, sizeof common);
        with[6] = SECTORED;
        struct slice_fixture *slice[] = {slice_fixture_create_with(common, (struct slice_options){.memory_entries = 2}),
                                         slice_fixture_create_with(with, (struct slice_options){.memory_entries = 2})};
        for (unsigned which = 0; which < 2; which++) {
            uint64_t random = seed * 31337;
            for (uint32_t i = 0; i < 400; i++) {
                struct message message = {.address = random_below(&random, 20) * 128, .tag = i, .conflicts = 1};
                uint64_t kind = random_below(&random, 6);
                message.kind = kind < 3 ? MESSAGE_READ : kind == 5 ? MESSAGE_ATOMIC : MESSAGE_WRITE;
                if (kind == 4) message.flags = MESSAGE_PARTIAL;
                ask(slice[which], message);
                cycles(slice[which], (unsigned)random_below(&random, 12));
            }
            cycles(slice[which], 30000);
            settle(slice[which]);
        }
        REQUIRE(slice[0]->replies == 400 && slice[1]->replies == 400);
        for (unsigned i = 0; i < 400; i++) {
            CHECK_EQ(slice[0]->reply[i].tag, slice[1]->reply[i].tag);
            CHECK_EQ(slice[0]->replied_at[i], slice[1]->replied_at[i]);
        }
        REQUIRE(slice[0]->requests == slice[1]->requests);
        for (unsigned i = 0; i < slice[0]->requests; i++) {
            CHECK_EQ(slice[0]->requested_at[i], slice[1]->requested_at[i]);
            CHECK_EQ(slice[0]->request[i].address, slice[1]->request[i].address);
            CHECK_EQ(slice[0]->request[i].sectors, slice[1]->request[i].sectors);
        }
        static const char *const counters[] = {"read_hits",
                                               "read_pending_hits",
                                               "read_misses",
                                               "write_hits",
                                               "write_misses",
                                               "atomic_hits",
                                               "atomic_misses",
                                               "evictions",
                                               "write_backs",
                                               "replayed",
                                               "fills",
                                               "data_port_cycles",
                                               "mshrs_peak",
                                               "reservation_fail.mshr",
                                               "reservation_fail.mshr_merge",
                                               "reservation_fail.line",
                                               "reservation_fail.reply_queue",
                                               "reservation_fail.memory_queue"};
        for (unsigned i = 0; i < COUNT_OF(counters); i++) {
            char name[64];
            snprintf(name, sizeof name, "llc.%s", counters[i]);
            if (!CHECK_EQ(COUNTER(slice[0], name), COUNTER(slice[1], name))) printf("    %s\n", name);
        }
        CHECK_EQ(COUNTER(slice[1], "llc.sectors.misses"), 0u);
        for (unsigned i = 0; i < 2; i++) slice_fixture_destroy(slice[i]);
    }
}

TEST("a configuration that sectored LLCs do not model is rejected with its reason") {
    static const struct {
        const char *settings[4], *reason;
    } cases[] = {
        {{"llc.sector_bytes=8"}, "must be 0 (whole lines) or 32"},
        {{"llc.fetch_bytes=64"}, "requires a sectored LLC"},
        {{VALIDATE}, "validate requires a sectored LLC"},
        {{SECTORED, "llc.fetch_bytes=96"}, "a power of two from 32 to gpu.line_bytes (128), not 96"},
        {{SECTORED, "llc.fetch_bytes=16"}, "a power of two from 32"},
        {{SECTORED, "llc.fetch_bytes=256"}, "to gpu.line_bytes (128), not 256"},
        {{SECTORED, "llc.write_allocate=through"}, "through fetches whole lines"},
        {{SECTORED, "llc.whole_write_backs=true"}, "does not hold whole lines"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        CHECK(!config_checked(NO_SETTINGS, cases[i].settings, &err));
        CHECK_TEXT(err.text, cases[i].reason);
    }
}
