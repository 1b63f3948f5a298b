/* Tests of the schedulers and row policies: which command is issued in which cycle, that skipping cycles changes nothing
 * under any of them, and what each guarantees under random traffic.
 *
 * One channel of GDDR5 with 128-byte bursts, at the core's clock: tRCD 12, tRP 12, tRAS 28, tRC 40, tRTP 2, tCCD 2,
 * tRRD 6. A request that is sent in cycle t enters the queue in t + 1 and can have a command from t + 2 on. */
#include <stdio.h>
#include <string.h>

#include "dram/dram_fixture.h"

#define ONE_CHANNEL \
    "dram.mcs=1", "llc.slices_per_mc=1", "dram.mapping=hynix", "dram.clock_mhz=0", "dram.gddr5.burst_bytes=128", \
        "dram.gddr5.tCCDL=2"

enum { LOG_MAX = 256, LOG_TEXT = LOG_MAX * 16 };

struct log {
    struct dram_log_entry entry[LOG_MAX];
    unsigned count;
};

static void log_see(void *user, const struct dram_log_entry *entry) {
    struct log *log = user;
    if (log->count < LOG_MAX) log->entry[log->count++] = *entry;
}

/* "ACT0@2 RD0@14 ...": command, bank and cycle of everything issued up to cycle `until`. */
static const char *log_text(const struct log *log, uint64_t until) {
    static char text[LOG_TEXT];
    size_t length = 0;
    text[0] = 0;
    for (unsigned i = 0; i < log->count && log->entry[i].cycle <= until; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%u@%llu", i ? " " : "",
                                   dram_command_name((enum dram_command)log->entry[i].command), log->entry[i].bank,
                                   (unsigned long long)log->entry[i].cycle);
    return text;
}

struct wanted {
    unsigned bank, row;
    uint64_t sent;
    bool write;
};
#define READ(bank, row, sent) \
    { bank, row, sent, false }
#define WRITE(bank, row, sent) \
    { bank, row, sent, true }

/* What is issued for these requests, in both ways of running: from event to event, and looking at every cycle. The
 * settings are separated by spaces. */
static struct log commands_for(const char *settings, const struct wanted *wanted, unsigned count) {
    struct log log[2] = {0};
    for (unsigned polls = 0; polls < 2; polls++) {
        const char *assignments[24] = {ONE_CHANNEL};
        char words[512];
        unsigned used = 6;
        snprintf(words, sizeof words, "%s", settings);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) assignments[used++] = word;
        struct dram_fixture *fixture = dram_fixture_create(assignments);
        fixture->base.engine->poll = polls;
        dram_set_log(fixture->dram, log_see, &log[polls]);
        for (unsigned i = 0; i < count; i++)
            add_request(fixture, address_at(fixture, 0, wanted[i].bank, wanted[i].row, i % 16 * 128), wanted[i].write,
                        wanted[i].sent);
        CHECK(run_requests(fixture, 20000));
        engine_run_until(fixture->base.engine, 20000);
        engine_settle(fixture->base.engine, 20000);
        dram_fixture_destroy(fixture);
    }
    char asleep[LOG_TEXT];
    snprintf(asleep, sizeof asleep, "%s", log_text(&log[0], NEVER));
    CHECK(strcmp(asleep, log_text(&log[1], NEVER)) == 0);
    return log[0];
}

/* Checks the commands up to cycle `until` for these requests. */
#define COMMANDS(settings, until, expected, ...) \
    do { \
        static const struct wanted wanted_[] = {__VA_ARGS__}; \
        struct log log_ = commands_for(settings, wanted_, COUNT_OF(wanted_)); \
        CHECK_TEXT(log_text(&log_, until), expected); \
        CHECK_EQ(strlen(log_text(&log_, until)), strlen(expected)); \
    } while (0)

static unsigned count_columns(const struct log *log, unsigned bank, uint64_t before) {
    unsigned count = 0;
    for (unsigned i = 0; i < log->count && log->entry[i].cycle < before; i++)
        count += log->entry[i].command == DRAM_READ && log->entry[i].bank == bank;
    return count;
}

static uint64_t first_precharge(const struct log *log) {
    for (unsigned i = 0; i < log->count; i++)
        if (log->entry[i].command == DRAM_PRECHARGE) return log->entry[i].cycle;
    return NEVER;
}

/* ----------------------------------------------------------------- row policies */

TEST("closed: a row is closed after tRAS unless a request for it arrived a cycle earlier, and reopened after tRP") {
    /* tRC of tRAS leaves tRP to decide when the row can be opened again. */
    COMMANDS("dram.row_policy=closed", 100, "ACT0@2 RD0@14 PRE0@30", READ(0, 1, 0));
    COMMANDS("dram.row_policy=closed dram.gddr5.tRC=28", 69, "ACT0@2 RD0@14 RD0@30 PRE0@32", READ(0, 1, 0),
             READ(0, 1, 28));
    COMMANDS("dram.row_policy=closed dram.gddr5.tRC=28", 69, "ACT0@2 RD0@14 PRE0@30 ACT0@42 RD0@54", READ(0, 1, 0),
             READ(0, 1, 29));
    COMMANDS("dram.row_policy=open", 5000, "ACT0@2 RD0@14 RD0@1002", READ(0, 1, 0), READ(0, 1, 1000));
}

TEST("closed: the precharge waits for the write recovery") {
    /* tWL 4, two cycles of data, tWR 12; activate to write takes 7 cycles. */
    COMMANDS("dram.row_policy=closed dram.gddr5.tRAS=10", 100, "ACT0@2 WR0@9 PRE0@27", WRITE(0, 1, 0));
}

TEST("closed: a row stays open while either queue holds a request for it") {
    COMMANDS("dram.row_policy=closed", 100, "ACT0@2 RD0@14 RD0@16 PRE0@30 ACT0@42 RD0@54 PRE0@70", READ(0, 1, 0),
             READ(0, 2, 1), READ(0, 1, 2));
    /* The write stays in its queue until a second one comes. */
    COMMANDS("dram.row_policy=closed dram.write_drain=true dram.drain_idle_writes=2", 1100,
             "ACT0@2 RD0@14 WR0@1002 ACT1@1003 WR1@1010 PRE0@1020 PRE1@1031", READ(0, 1, 0), WRITE(0, 1, 1),
             WRITE(1, 1, 1000));
}

TEST("timeout: a row is closed N cycles after its last column command, unless a request arrived a cycle earlier") {
    COMMANDS("dram.row_policy=timeout dram.timeout.cycles=100", 300, "ACT0@2 RD0@14 PRE0@114", READ(0, 1, 0));
    COMMANDS("dram.row_policy=timeout dram.timeout.cycles=101", 300, "ACT0@2 RD0@14 PRE0@115", READ(0, 1, 0));
    COMMANDS("dram.row_policy=timeout dram.timeout.cycles=100", 300, "ACT0@2 RD0@14 RD0@114 PRE0@214", READ(0, 1, 0),
             READ(0, 1, 112));
    COMMANDS("dram.row_policy=timeout dram.timeout.cycles=100", 139, "ACT0@2 RD0@14 PRE0@114 ACT0@126 RD0@138",
             READ(0, 1, 0), READ(0, 1, 113));
    COMMANDS("dram.row_policy=timeout dram.timeout.cycles=1", 100, "ACT0@2 RD0@14 PRE0@30", READ(0, 1, 0));
}

TEST("a request for another row does not wait for the timeout") {
    COMMANDS("dram.row_policy=timeout dram.timeout.cycles=1000", 300, "ACT0@2 RD0@14 PRE0@102 ACT0@114 RD0@126",
             READ(0, 1, 0), READ(0, 2, 100));
}

TEST("the row policy gets the command bus when no request needs it, the lowest bank first") {
    COMMANDS("dram.row_policy=closed", 45, "ACT0@2 RD0@14 ACT1@18 RD1@30 PRE0@31", READ(0, 1, 0), READ(1, 1, 16));
    COMMANDS("dram.row_policy=closed dram.gddr5.two_command_buses=true", 45, "ACT0@2 RD0@14 ACT1@18 RD1@30 PRE0@30",
             READ(0, 1, 0), READ(1, 1, 16));
    COMMANDS(
        "dram.row_policy=closed dram.gddr5.tRAS=10 dram.gddr5.tRRDS=1 dram.gddr5.tRTP=1 dram.gddr5.tCCDS=1 dram.gddr5.burst_cycles=1 dram.gddr5.two_command_buses=true",
        60, "ACT5@2 ACT2@3 ACT7@4 RD5@14 RD2@15 PRE5@15 RD7@16 PRE2@16 PRE7@17", READ(5, 1, 0), READ(2, 1, 1),
        READ(7, 1, 2));
}

/* ------------------------------------------------------------------- schedulers */

TEST("fcfs: no command of a request is issued before the column command of the previous request") {
    COMMANDS("dram.scheduler=fcfs", 100, "ACT0@2 RD0@14 ACT1@15 RD1@27 RD0@29", READ(0, 1, 0), READ(1, 1, 1),
             READ(0, 1, 2));
    COMMANDS("dram.scheduler=fr-fcfs", 100, "ACT0@2 ACT1@8 RD0@14 RD0@16 RD1@20", READ(0, 1, 0), READ(1, 1, 1),
             READ(0, 1, 2));
}

TEST("fcfs: reads that share a queue are answered in order of arrival") {
    struct dram_fixture *fixture = dram_fixture_create(
        SETTINGS(ONE_CHANNEL, "dram.scheduler=fcfs", "dram.gddr5.refresh=true", "dram.starvation_cycles=100"));
    uint64_t seed = 5;
    for (unsigned i = 0; i < 2000; i++) add_request(fixture, random_below(&seed, 1 << 12) * 128, false, i * 20);
    CHECK(run_requests(fixture, 1000000));
    unsigned overtaken = 0;
    for (unsigned i = 1; i < fixture->count; i++)
        overtaken += fixture->request[i].answered <= fixture->request[i - 1].answered;
    CHECK_EQ(overtaken, 0u);
    dram_fixture_destroy(fixture);
}

/* Bank 1 has a row open for tRAS, 200 cycles; its second request waits for another one, the oldest of all. Reads of one
 * row of bank 0 follow. */
static unsigned columns_before_other(const char *scheduler) {
    struct wanted wanted[32] = {READ(1, 4, 0), READ(1, 5, 1)};
    for (unsigned i = 2; i < 22; i++) wanted[i] = (struct wanted)READ(0, 1, i);
    char settings[128];
    snprintf(settings, sizeof settings, "dram.gddr5.tRAS=200 dram.gddr5.tRC=200 dram.scheduler=%s", scheduler);
    struct log log = commands_for(settings, wanted, 22);
    CHECK_EQ(first_precharge(&log), 202u);
    return count_columns(&log, 0, 202);
}

TEST("fr-fcfs-cap: N row hits after the request that opened the row precede an older request, not one more") {
    CHECK_EQ(columns_before_other("fr-fcfs-cap dram.fr-fcfs-cap.cap=3"), 1u + 3);
    CHECK_EQ(columns_before_other("fr-fcfs-cap dram.fr-fcfs-cap.cap=4"), 1u + 4);
    CHECK_EQ(columns_before_other("fr-fcfs-cap"), 1u + 16);
    CHECK_EQ(columns_before_other("oldest-ready dram.oldest-ready.cap=3"), 1u + 3);
    CHECK_EQ(columns_before_other("oldest-ready"), 20u);
    CHECK_EQ(columns_before_other("fr-fcfs"), 20u);
}

TEST("fr-fcfs-cap: beyond the cap the oldest request of all yields to a row command that is ready") {
    /* The third read of row 1 is beyond the cap of one hit, and is served in the cycle after the activate. */
    COMMANDS("dram.scheduler=fr-fcfs-cap dram.fr-fcfs-cap.cap=1", 110, "ACT0@2 RD0@14 RD0@102 ACT1@104 RD0@105",
             READ(0, 1, 0), READ(0, 1, 100), READ(0, 1, 101), READ(1, 1, 102));
    COMMANDS("dram.scheduler=fr-fcfs", 110, "ACT0@2 RD0@14 RD0@102 RD0@104 ACT1@105", READ(0, 1, 0), READ(0, 1, 100),
             READ(0, 1, 101), READ(1, 1, 102));
}

/* Reads of one row of bank 0, as fast as they can be served; the second request is for another row. When is the first
 * one's closed, and after how many column commands? */
static uint64_t closed_at(const char *settings, unsigned *columns) {
    struct wanted wanted[64] = {READ(0, 1, 0), READ(0, 2, 1)};
    for (unsigned i = 2; i < 40; i++) wanted[i] = (struct wanted)READ(0, 1, i);
    struct log log = commands_for(settings, wanted, 40);
    *columns = count_columns(&log, 0, first_precharge(&log));
    return first_precharge(&log);
}

TEST("oldest-ready: the oldest request of a bank closes the row after tRAS although younger ones hit it") {
    unsigned columns;
    CHECK_EQ(closed_at("dram.scheduler=oldest-ready", &columns), 2u + 28);
    CHECK_EQ(columns, 8u); /* in cycles 14, 16 ... 28 */
    CHECK_EQ(closed_at("dram.scheduler=fr-fcfs", &columns), 14u + 38 * 2 + 2);
    CHECK_EQ(columns, 39u);
}

TEST("oldest-ready: a younger request closes a row that an older one hits, in a cycle that no column command can use") {
    COMMANDS("dram.scheduler=oldest-ready", 150,
             "ACT0@2 ACT1@8 RD0@14 RD1@20 RD1@102 RD1@104 PRE0@105 ACT0@117 RD0@129 PRE0@145", READ(0, 1, 0),
             READ(1, 1, 1), READ(1, 1, 100), READ(1, 1, 101), READ(0, 1, 102), READ(0, 2, 103));
    COMMANDS("dram.scheduler=fr-fcfs", 150,
             "ACT0@2 ACT1@8 RD0@14 RD1@20 RD1@102 RD1@104 RD0@106 PRE0@108 ACT0@120 RD0@132", READ(0, 1, 0),
             READ(1, 1, 1), READ(1, 1, 100), READ(1, 1, 101), READ(0, 1, 102), READ(0, 2, 103));
}

TEST("oldest-ready: a row opened for a request stays open until its column command") {
    COMMANDS("dram.scheduler=oldest-ready dram.gddr5.tRAS=4 dram.gddr5.tRC=4", 100,
             "ACT0@2 RD0@14 PRE0@16 ACT0@28 RD0@40", READ(0, 1, 0), READ(0, 2, 1));
}

TEST("round-robin: the banks are served in turn, whatever the age of their requests") {
    COMMANDS("dram.scheduler=round-robin dram.gddr5.burst_cycles=8", 150,
             "ACT0@2 ACT1@8 ACT2@14 RD0@15 RD1@23 RD2@31 RD0@102 RD1@110 RD2@118 RD0@126 RD0@134", READ(0, 1, 0),
             READ(1, 1, 1), READ(2, 1, 2), READ(0, 1, 100), READ(0, 1, 101), READ(0, 1, 102), READ(2, 1, 103),
             READ(1, 1, 104));
    COMMANDS("dram.scheduler=fr-fcfs dram.gddr5.burst_cycles=8", 150,
             "ACT0@2 ACT1@8 RD0@14 ACT2@15 RD1@22 RD2@30 RD0@102 RD0@110 RD0@118 RD2@126 RD1@134", READ(0, 1, 0),
             READ(1, 1, 1), READ(2, 1, 2), READ(0, 1, 100), READ(0, 1, 101), READ(0, 1, 102), READ(2, 1, 103),
             READ(1, 1, 104));
}

TEST("round-robin: an older request closes a row after N column commands, not one less") {
    unsigned columns;
    closed_at("dram.scheduler=round-robin dram.gddr5.tRAS=4 dram.gddr5.tRC=4", &columns);
    CHECK_EQ(columns, 4u);
    closed_at("dram.scheduler=round-robin dram.round-robin.row_hits=7", &columns);
    CHECK_EQ(columns, 8u); /* after 7 in cycle 28, with an eighth before tRAS ends in 30 */
    closed_at("dram.scheduler=round-robin dram.round-robin.row_hits=9", &columns);
    CHECK_EQ(columns, 9u);
}

TEST("a request that has waited too long is not overtaken in its bank, whatever the scheduler offers") {
    unsigned columns;
    /* The second request enters in cycle 2; column commands are in even cycles, a precharge can follow after two. */
    CHECK_EQ(closed_at("dram.scheduler=round-robin dram.round-robin.row_hits=1000 dram.starvation_cycles=50", &columns),
             2u + 50);
    CHECK_EQ(closed_at("dram.scheduler=round-robin dram.round-robin.row_hits=1000 dram.starvation_cycles=51", &columns),
             2u + 51 + 1);
}

TEST("once a starved request is served, row hits overtake requests for other rows again") {
    /* Hits of row 1 arrive as fast as they are served, so that the request for row 2 waits until it is starved. Of those
     * that are left none is starved when its row is open, and a younger request for row 2 goes before them. */
    struct wanted wanted[64] = {READ(0, 1, 0), READ(0, 2, 1), READ(0, 1, 2)};
    unsigned count = 3;
    for (uint64_t sent = 11; sent <= 61; sent += 2) wanted[count++] = (struct wanted)READ(0, 1, sent);
    wanted[count++] = (struct wanted)READ(0, 2, 70);
    struct log log = commands_for("dram.starvation_cycles=60", wanted, count);
    unsigned columns = 0, i = 0;
    while (log.entry[i].command != DRAM_PRECHARGE) i++;
    CHECK_EQ(log.entry[i].cycle, 2u + 60);
    for (i++; i < log.count && log.entry[i].command != DRAM_PRECHARGE; i++)
        columns += log.entry[i].command == DRAM_READ;
    CHECK_EQ(columns, 2u);
}

/* ------------------------------------------------------- all of them together */

static const char *const memories[][12] = {
    {"dram.mcs=1", "llc.slices_per_mc=2", "dram.clock_mhz=924"},
    {"dram.mcs=2", "llc.slices_per_mc=1", "dram.clock_mhz=1758", "dram.write_drain=true", "dram.gddr5.refresh=true",
     "dram.gddr5.tFAW=31", "dram.gddr5.tRRDL=8", "dram.starvation_cycles=300"},
    {"dram.mcs=1", "llc.slices_per_mc=2", "dram.channels_per_mc=2", "dram.kind=hbm", "dram.clock_mhz=586",
     "dram.write_drain=true", "dram.hbm.refresh=true", "dram.hbm.tCCDL=3", "dram.bank_queue=2"},
    {"dram.mcs=1", "llc.slices_per_mc=1", "dram.kind=hbm", "dram.read_queue=4", "dram.starvation_cycles=60"},
};

/* Lines of a few rows, with pauses in which rows time out. */
static void add_rows(struct dram_fixture *fixture, unsigned count) {
    uint64_t seed = 3, due = 0;
    for (unsigned i = 0; i < count; i++) {
        due += random_below(&seed, i / 200 % 2 ? 30 : 3);
        if (i % 300 == 299) due += 1500;
        uint64_t line = random_below(&seed, 6) * 4096 + random_below(&seed, 256) + i / 500 * 64;
        add_request(fixture, line * 128, random_below(&seed, 100) < 30, due);
    }
}

/* Every counter and every answer as one number; activates and precharges apart. */
static uint64_t outcome(const char *const *memory, const char *scheduler, const char *row_policy, bool poll,
                        uint64_t *open_rows) {
    const char *assignments[24];
    char chosen[2][64];
    unsigned count = 0;
    snprintf(chosen[0], sizeof chosen[0], "dram.scheduler=%s", scheduler);
    snprintf(chosen[1], sizeof chosen[1], "dram.row_policy=%s", row_policy);
    for (; memory[count]; count++) assignments[count] = memory[count];
    assignments[count++] = chosen[0];
    assignments[count++] = chosen[1];
    assignments[count++] = "dram.fr-fcfs-cap.cap=2";
    assignments[count++] = "dram.oldest-ready.cap=5";
    assignments[count++] = NULL;
    struct dram_fixture *fixture = dram_fixture_create(assignments);
    fixture->base.engine->poll = poll;
    add_rows(fixture, 1500);
    CHECK(run_requests(fixture, 200000));
    engine_run_until(fixture->base.engine, 60000);
    engine_settle(fixture->base.engine, 60000);
    uint64_t hash = 0;
    for (unsigned i = 0; i < stats_count(fixture->base.stats); i++)
        for (unsigned k = 0; k < stats_instances(fixture->base.stats, i); k++)
            hash = hash * UINT64_C(0x9E3779B97F4A7C15) + stats_instance(fixture->base.stats, i, k) + 1;
    for (unsigned i = 0; i < fixture->count; i++)
        hash = hash * UINT64_C(0x9E3779B97F4A7C15) + fixture->request[i].answered;
    *open_rows = COUNTER(fixture, "dram.activates") - COUNTER(fixture, "dram.precharges");
    CHECK_EQ(COUNTER(fixture, "dram.reads") + COUNTER(fixture, "dram.writes"), fixture->count);
    dram_fixture_destroy(fixture);
    return hash;
}

TEST_LONG_SANITIZED(
    "every scheduler with every row policy gives the same counters and replies, sleeping or polling every cycle") {
    enum { MOST = 64 };
    for (unsigned m = 0; m < COUNT_OF(memories); m++) {
        uint64_t seen[MOST];
        unsigned count = 0, same = 0;
        for (unsigned s = 0; s < dram_scheduler_family.count; s++)
            for (unsigned r = 0; r < row_policy_family.count; r++) {
                const char *scheduler = dram_scheduler_family.members[s]->name;
                const char *row_policy = row_policy_family.members[r]->name;
                uint64_t open_rows[2], asleep = outcome(memories[m], scheduler, row_policy, false, &open_rows[0]);
                CHECK_EQ(asleep, outcome(memories[m], scheduler, row_policy, true, &open_rows[1]));
                bool refreshed = m == 1 || m == 2;
                CHECK_EQ(open_rows[0] > 0, strcmp(row_policy, "open") == 0 && !refreshed);
                for (unsigned i = 0; i < count; i++) same += seen[i] == asleep;
                REQUIRE(count < MOST);
                seen[count++] = asleep;
            }
        CHECK_EQ(same, 0u); /* each choice changes something */
    }
}
