/* A checker of the timing rules between memory commands, written from the device's description alone: it knows nothing
 * of how the scheduler keeps its times. It reads the command log and looks, for every command, at each earlier one that
 * is still near enough to matter. */
#include <stdio.h>
#include <string.h>

#include "dram/dram_fixture.h"

enum scope { SAME_BANK, SAME_GROUP, OTHER_GROUP, ANY };

struct rule {
    enum dram_command before, after;
    enum scope scope;
    int64_t distance;
    const char *name;
};

enum { RULES = 32, COMMANDS = 6, PAIR_RULES = 3, WINDOW = 1024, BANKS = 64 };

struct checker {
    const struct dram_device *device;
    struct rule rule[RULES];
    unsigned rules;
    const struct rule
        *pair[COMMANDS][COMMANDS][PAIR_RULES + 1]; /* the rules by what comes before and after, up to a NULL */
    int64_t reach;                                 /* the longest distance of any rule */
    struct dram_log_entry recent[WINDOW];          /* a ring */
    unsigned count;
    uint64_t activates[4];
    unsigned activate_count;
    bool open[BANKS];
    uint32_t row[BANKS];
    uint64_t data_end; /* of the latest data on the bus */
    uint64_t columns[2], refreshes, last_cycle;
    unsigned violations;
    char first[160];
};

static void add_rule(struct checker *c, enum dram_command before, enum dram_command after, enum scope scope,
                     int64_t distance, const char *name) {
    struct rule *rule = &c->rule[c->rules++];
    *rule = (struct rule){before, after, scope, distance, name};
    unsigned place = 0;
    while (c->pair[before][after][place]) place++;
    c->pair[before][after][place] = rule;
    if (distance > c->reach) c->reach = distance;
}

static void checker_init(struct checker *c, const struct dram_device *d) {
    *c = (struct checker){.device = d};
    int64_t read_to_write = d->tCL + d->burst_cycles + d->turnaround - d->tWL;
    int64_t write_end = d->tWL + d->burst_cycles;
    add_rule(c, DRAM_ACTIVATE, DRAM_ACTIVATE, SAME_BANK, d->tRC, "tRC");
    add_rule(c, DRAM_ACTIVATE, DRAM_ACTIVATE, SAME_GROUP, d->tRRDL, "tRRDL");
    add_rule(c, DRAM_ACTIVATE, DRAM_ACTIVATE, OTHER_GROUP, d->tRRDS, "tRRDS");
    add_rule(c, DRAM_ACTIVATE, DRAM_READ, SAME_BANK, d->tRCD, "tRCD");
    add_rule(c, DRAM_ACTIVATE, DRAM_WRITE, SAME_BANK, d->tRCDW, "tRCDW");
    add_rule(c, DRAM_ACTIVATE, DRAM_PRECHARGE, SAME_BANK, d->tRAS, "tRAS");
    add_rule(c, DRAM_ACTIVATE, DRAM_PRECHARGE_ALL, ANY, d->tRAS, "tRAS before PREA");
    add_rule(c, DRAM_PRECHARGE, DRAM_ACTIVATE, SAME_BANK, d->tRP, "tRP");
    add_rule(c, DRAM_PRECHARGE_ALL, DRAM_ACTIVATE, ANY, d->tRP, "tRP after PREA");
    add_rule(c, DRAM_PRECHARGE, DRAM_REFRESH, ANY, d->tRP, "tRP before REF");
    add_rule(c, DRAM_PRECHARGE_ALL, DRAM_REFRESH, ANY, d->tRP, "tRP before REF");
    add_rule(c, DRAM_READ, DRAM_READ, SAME_GROUP, d->tCCDL, "tCCDL");
    add_rule(c, DRAM_READ, DRAM_READ, OTHER_GROUP, d->tCCDS, "tCCDS");
    add_rule(c, DRAM_WRITE, DRAM_WRITE, SAME_GROUP, d->tCCDL, "tCCDL of writes");
    add_rule(c, DRAM_WRITE, DRAM_WRITE, OTHER_GROUP, d->tCCDS, "tCCDS of writes");
    add_rule(c, DRAM_READ, DRAM_WRITE, ANY, read_to_write, "read to write");
    add_rule(c, DRAM_WRITE, DRAM_READ, SAME_GROUP, write_end + d->tWTRL, "tWTRL");
    add_rule(c, DRAM_WRITE, DRAM_READ, OTHER_GROUP, write_end + d->tWTRS, "tWTRS");
    add_rule(c, DRAM_READ, DRAM_PRECHARGE, SAME_BANK, d->tRTP, "tRTP");
    add_rule(c, DRAM_READ, DRAM_PRECHARGE_ALL, ANY, d->tRTP, "tRTP before PREA");
    add_rule(c, DRAM_WRITE, DRAM_PRECHARGE, SAME_BANK, write_end + d->tWR, "tWR");
    add_rule(c, DRAM_WRITE, DRAM_PRECHARGE_ALL, ANY, write_end + d->tWR, "tWR before PREA");
    add_rule(c, DRAM_REFRESH, DRAM_ACTIVATE, ANY, d->tRFC, "tRFC");
    add_rule(c, DRAM_REFRESH, DRAM_REFRESH, ANY, d->tRFC, "tRFC");
}

static void violated(struct checker *c, const struct dram_log_entry *e, const char *what) {
    if (c->violations++ == 0)
        snprintf(c->first, sizeof c->first, "%s of bank %u in cycle %llu: %s",
                 dram_command_name((enum dram_command)e->command), e->bank, (unsigned long long)e->cycle, what);
}

static bool in_scope(const struct checker *c, enum scope scope, unsigned a, unsigned b) {
    unsigned groups = (unsigned)c->device->bank_groups;
    switch (scope) {
    case SAME_BANK: return a == b;
    case SAME_GROUP: return a % groups == b % groups;
    case OTHER_GROUP: return a % groups != b % groups;
    default: return true;
    }
}

static bool is_column(unsigned command) { return command == DRAM_READ || command == DRAM_WRITE; }

static void check_distances(struct checker *c, const struct dram_log_entry *e) {
    for (unsigned back = 1; back <= c->count && back <= WINDOW; back++) {
        const struct dram_log_entry *p = &c->recent[(c->count - back) % WINDOW];
        int64_t distance = (int64_t)(e->cycle - p->cycle);
        if (distance > c->reach) return;
        bool same_bus = !c->device->two_command_buses || is_column(p->command) == is_column(e->command);
        if (distance == 0 && same_bus) violated(c, e, "the command bus carries two");
        for (const struct rule *const *r = c->pair[p->command][e->command]; *r; r++)
            if (distance < (*r)->distance && in_scope(c, (*r)->scope, p->bank, e->bank)) violated(c, e, (*r)->name);
    }
}

static void check_state(struct checker *c, const struct dram_log_entry *e) {
    const struct dram_device *d = c->device;
    if (e->bank >= d->banks) violated(c, e, "there is no such bank");
    if (e->cycle < c->last_cycle) violated(c, e, "time runs backwards");
    c->last_cycle = e->cycle;
    switch ((enum dram_command)e->command) {
    case DRAM_ACTIVATE:
        if (c->open[e->bank]) violated(c, e, "the bank is open");
        if (d->tFAW && c->activate_count >= 4 && e->cycle < c->activates[c->activate_count % 4] + (uint64_t)d->tFAW)
            violated(c, e, "tFAW");
        c->activates[c->activate_count++ % 4] = e->cycle;
        c->open[e->bank] = true;
        c->row[e->bank] = e->row;
        return;
    case DRAM_PRECHARGE:
        if (!c->open[e->bank]) violated(c, e, "the bank is closed");
        c->open[e->bank] = false;
        return;
    case DRAM_PRECHARGE_ALL: memset(c->open, 0, sizeof c->open); return;
    case DRAM_REFRESH:
        for (unsigned b = 0; b < BANKS; b++)
            if (c->open[b]) violated(c, e, "a bank is open");
        c->refreshes++;
        return;
    default: break;
    }
    bool write = e->command == DRAM_WRITE;
    uint64_t data = e->cycle + (uint64_t)(write ? d->tWL : d->tCL);
    if (!c->open[e->bank] || c->row[e->bank] != e->row) violated(c, e, "its row is not open");
    if (e->column >= d->row_bytes || e->column % (uint64_t)d->burst_bytes) violated(c, e, "no such column");
    if (data < c->data_end) violated(c, e, "the data bus is in use");
    c->data_end = data + (uint64_t)d->burst_cycles;
    c->columns[write]++;
}

static void checker_see(void *user, const struct dram_log_entry *entry) {
    struct checker *c = user;
    check_distances(c, entry);
    check_state(c, entry);
    c->recent[c->count++ % WINDOW] = *entry;
}

/* ------------------------------------------------------------------ the tests */

enum mix { RANDOM, ROWS, STREAM };

/* Requests for one channel, as fast as it takes them. `writes` is in percent. */
static void add_mix(struct dram_fixture *fixture, enum mix mix, unsigned writes, unsigned count) {
    uint64_t seed = (uint64_t)mix * 100 + writes;
    for (unsigned i = 0; i < count; i++) {
        uint64_t line = i;
        if (mix == RANDOM) line = random_below(&seed, 1 << 20);
        if (mix == ROWS) line = random_below(&seed, 4) * 16384 + random_below(&seed, 512) + i / 4096 * 64;
        unsigned gap =
            (unsigned)random_below(&seed, 64) == 0 ? (unsigned)random_below(&seed, 200) : 0; /* now and then it idles */
        uint64_t due = (fixture->count ? fixture->request[fixture->count - 1].due : 0) + gap;
        unsigned index = add_request_by(fixture, 0, line * 128, random_below(&seed, 100) < writes, due);
        if (mix == RANDOM && i % 8 == 0) fixture->request[index].sectors = (uint8_t)(1 + random_below(&seed, 15));
    }
}

static void check_mixes(const char *const *memory, unsigned requests) {
    for (enum mix mix = RANDOM; mix <= STREAM; mix++) {
        struct dram_fixture *fixture = dram_fixture_create(memory);
        struct checker checker;
        checker_init(&checker, dram_device_of(fixture->base.config));
        dram_set_log(fixture->dram, checker_see, &checker);
        add_mix(fixture, mix, mix == RANDOM ? 30 : mix == ROWS ? 50 : 10, requests);
        CHECK(run_requests(fixture, 10000000));
        if (checker.violations) CHECK_TEXT(checker.first, "no violation");
        CHECK_EQ(checker.violations, 0u);
        CHECK_EQ(checker.columns[0] * (uint64_t)checker.device->burst_bytes, COUNTER(fixture, "dram.read_bytes"));
        CHECK_EQ(checker.columns[1] * (uint64_t)checker.device->burst_bytes, COUNTER(fixture, "dram.write_bytes"));
        CHECK(checker.columns[0] > 0 && checker.columns[1] > 0);
        CHECK_EQ(checker.refreshes, COUNTER(fixture, "dram.refreshes"));
        if (checker.device->refresh)
            CHECK(checker.refreshes >= checker.last_cycle / (uint64_t)checker.device->tREFI - 1);
        dram_fixture_destroy(fixture);
    }
}

#define ONE_CHANNEL "dram.mcs=1", "llc.slices_per_mc=1", "dram.mapping=hynix", "dram.clock_mhz=0"

TEST("GDDR5 obeys every timing rule in 100,000 mixed requests with one queue") {
    check_mixes(SETTINGS(ONE_CHANNEL), 34000);
}

TEST("GDDR5 obeys every timing rule with a write queue, tFAW, refresh, capped row hits and its own clock") {
    check_mixes(SETTINGS("dram.mcs=1", "llc.slices_per_mc=1", "dram.clock_mhz=924", "dram.write_drain=true",
                         "dram.gddr5.refresh=true", "dram.gddr5.tFAW=31", "dram.scheduler=fr-fcfs-cap",
                         "dram.fr-fcfs-cap.cap=4"),
                34000);
}

TEST_LONG_SANITIZED(
    "HBM with two command buses obeys every timing rule in 100,000 mixed requests, with refresh and a write queue") {
    check_mixes(
        SETTINGS(ONE_CHANNEL, "dram.kind=hbm", "dram.write_drain=true", "dram.hbm.refresh=true", "dram.hbm.tCCDL=3"),
        34000);
}

TEST_LONG_SANITIZED(
    "HBM with one command bus and queues per bank obeys every timing rule, also with a starvation limit") {
    check_mixes(SETTINGS(ONE_CHANNEL, "dram.kind=hbm", "dram.hbm.two_command_buses=false", "dram.bank_queue=4",
                         "dram.starvation_cycles=100", "dram.hbm.tWTRL=9", "dram.hbm.tRRDL=11",
                         "dram.write_drain=true"),
                34000);
}

TEST_LONG_SANITIZED(
    "every scheduler with every row policy obeys every timing rule, on GDDR5 and on HBM, with refresh and a write queue") {
    for (unsigned s = 0; s < dram_scheduler_family.count; s++)
        for (unsigned r = 0; r < row_policy_family.count; r++) {
            char scheduler[64], row_policy[64];
            snprintf(scheduler, sizeof scheduler, "dram.scheduler=%s", dram_scheduler_family.members[s]->name);
            snprintf(row_policy, sizeof row_policy, "dram.row_policy=%s", row_policy_family.members[r]->name);
            check_mixes(SETTINGS(ONE_CHANNEL, scheduler, row_policy, "dram.gddr5.tFAW=31", "dram.fr-fcfs-cap.cap=2",
                                 "dram.timeout.cycles=20", "dram.starvation_cycles=400"),
                        3000);
            check_mixes(SETTINGS(ONE_CHANNEL, scheduler, row_policy, "dram.gddr5.refresh=true", "dram.write_drain=true",
                                 "dram.oldest-ready.cap=3"),
                        3000);
            check_mixes(SETTINGS(ONE_CHANNEL, scheduler, row_policy, "dram.kind=hbm", "dram.hbm.refresh=true",
                                 "dram.write_drain=true", "dram.hbm.tCCDL=3", "dram.timeout.cycles=20",
                                 "dram.bank_queue=2"),
                        3000);
        }
}

TEST("HBM2, HBM2e and HBM3 obey every timing rule, with refresh") {
    check_mixes(SETTINGS(ONE_CHANNEL, "dram.kind=hbm2", "dram.hbm2.refresh=true"), 3000);
    check_mixes(SETTINGS(ONE_CHANNEL, "dram.kind=hbm2e", "dram.hbm2e.refresh=true"), 3000);
    check_mixes(SETTINGS(ONE_CHANNEL, "dram.kind=hbm3", "dram.hbm3.refresh=true"), 3000);
}

TEST("the checker finds a command that is issued one cycle early, for each rule") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(ONE_CHANNEL, "dram.gddr5.tRRDL=7", "dram.gddr5.tWTRL=8", "dram.gddr5.tFAW=30"));
    const struct dram_device *d = dram_device_of(fixture->base.config);
    struct checker model;
    checker_init(&model, d);
    for (unsigned r = 0; r < model.rules; r++) {
        const struct rule *rule = &model.rule[r];
        unsigned other = rule->scope == SAME_BANK ? 0 : rule->scope == SAME_GROUP ? (unsigned)d->bank_groups : 1;
        for (int64_t early = 0; early < 2; early++) {
            struct checker checker;
            checker_init(&checker, d);
            struct dram_log_entry before = {.cycle = 1000, .command = (uint8_t)rule->before};
            struct dram_log_entry after = {.cycle = 1000 + (uint64_t)(rule->distance - early),
                                           .command = (uint8_t)rule->after,
                                           .bank = (uint8_t)other};
            checker.open[0] =
                rule->before != DRAM_ACTIVATE && rule->before != DRAM_REFRESH && rule->before != DRAM_PRECHARGE_ALL;
            checker_see(&checker, &before);
            checker.open[other] = rule->after != DRAM_ACTIVATE && rule->after != DRAM_REFRESH;
            checker_see(&checker, &after);
            bool named = strstr(checker.first, rule->name) != NULL;
            CHECK_EQ(named, early == 1);
        }
    }
    dram_fixture_destroy(fixture);
}
