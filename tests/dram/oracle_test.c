/* A channel against the definitions of its schedulers (dram_oracle.h), command by command on random requests. */
#include "dram/dram_oracle.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "dram/channel.h"
#include "settings.h"

enum { CYCLES = 1500, NAME_SHIFT = 12 /* a request's column is its name << NAME_SHIFT */ };

struct comparison {
    struct dram_channel channel;
    struct dram_oracle oracle;
    unsigned seen, wrong; /* commands of the channel; of those, commands that the oracle did not issue */
    char first[160];
};

static void compare_command(void *user, const struct dram_log_entry *entry) {
    struct comparison *c = user;
    struct oracle_command none = {.cycle = -1};
    const struct oracle_command *expected = c->seen < c->oracle.commands ? &c->oracle.command[c->seen] : &none;
    bool column = entry->command == DRAM_READ || entry->command == DRAM_WRITE;
    bool same = (int64_t)entry->cycle == expected->cycle && entry->command == expected->command &&
                entry->bank == expected->bank && entry->row == expected->row &&
                (!column || entry->column >> NAME_SHIFT == expected->name);
    if (!same && !c->wrong++)
        snprintf(c->first, sizeof c->first, "%s of bank %u in cycle %llu instead of %s of bank %u in cycle %lld",
                 dram_command_name((enum dram_command)entry->command), entry->bank, (unsigned long long)entry->cycle,
                 dram_command_name(expected->command), expected->bank, (long long)expected->cycle);
    c->seen++;
}

/* The channel issues the commands of cycles up to `cycle`, and arrivals of earlier core cycles than `before` enter; both
 * clocks have the same frequency. */
static void catch_up(struct dram_channel *channel, uint64_t before, uint64_t cycle) {
    channel_catch_up(channel, (struct clock){1, 1}, &(struct moment){0}, before, cycle);
}

/* A new request for both, which enters in `cycle`. Few rows in few banks, so that hits and conflicts meet. */
static void add_request(struct comparison *c, unsigned name, bool write, uint64_t cycle, unsigned banks,
                        uint64_t *random) {
    struct oracle_request request = {.name = name,
                                     .bank = (unsigned)random_below(random, banks),
                                     .row = (unsigned)random_below(random, 3),
                                     .bursts = 1 + (unsigned)random_below(random, 4),
                                     .write = write};
    struct dram_request *own = channel_allocate(&c->channel);
    *own = (struct dram_request){
        .ready = cycle,
        .ready_cycle = cycle,
        .message = {.address = (uint64_t)name << NAME_SHIFT}, /* no line twice: no forwards */
        .row = request.row,
        .column = name << NAME_SHIFT,
        .bank = (uint8_t)request.bank,
        .write = request.write,
        .bursts = (uint8_t)(request.bursts > 1 ? low_mask(request.bursts) : 1 + random_below(random, 2))};
    channel_arrive(&c->channel, own);
    c->channel.enter_from.core = cycle; /* several may enter in one cycle */
    catch_up(&c->channel, cycle + 1, cycle);
    c->oracle.queue[c->oracle.count++] = request;
}

/* The channel runs, and requests arrive, in every `lag`-th cycle. */
static void compare(const char *const *settings, enum oracle_rule rule, unsigned banks, unsigned pause, unsigned lag,
                    uint64_t seed) {
    static const bool not_polled = false;
    struct config *config = config_with(settings);
    const struct dram_config *dram = config_get(config, &dram_section);
    struct comparison *c = mem_alloc(1, sizeof *c);
    unsigned name = 0, full = 0;
    channel_init(&c->channel, config, 0, 0, &not_polled);
    c->channel.log = compare_command;
    c->channel.log_user = c;
    c->oracle.rule = rule;
    c->oracle.row_hits = 4;
    c->oracle.device = dram_device_of(config);
    c->oracle.entries[0] = (unsigned)dram->read_queue;
    c->oracle.entries[1] = (unsigned)dram->write_queue;
    c->oracle.write_drain = dram->write_drain;
    c->oracle.drain_high = (unsigned)(dram->write_queue * dram->drain_high_percent / 100);
    c->oracle.drain_low = (unsigned)max_u64((uint64_t)(dram->write_queue * dram->drain_low_percent / 100), 1);
    c->oracle.drain_idle = (unsigned)dram->drain_idle_writes;
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
        dram_oracle_cycle(&c->oracle, (int64_t)cycle);
        if ((cycle + 1) % lag) continue;
        catch_up(&c->channel, 0, cycle);
        while (c->channel.done_count) channel_free(&c->channel, c->channel.done[--c->channel.done_count]);
        c->wrong += c->seen != c->oracle.commands; /* the channel issued no command although the oracle did */
        if (c->wrong) break;
        for (unsigned write = 0; write < 2; write++)
            CHECK_EQ(channel_has_room(&c->channel, write, 0), dram_oracle_has_room(&c->oracle, write));
        for (unsigned i = 0; i < lag; i++) {
            bool write = random_below(&seed, 100) < (cycle / 200 % 2 ? 60 : 25);
            bool room = dram_oracle_has_room(&c->oracle, write);
            full += !room;
            bool burst = cycle / 100 % 2; /* phases with a full queue, and with a request now and then */
            if (room && (burst || random_below(&seed, pause) == 0)) add_request(c, name++, write, cycle, banks, &seed);
        }
    }
    if (c->wrong) printf("seed %llu: %s\n", (unsigned long long)seed, c->first[0] ? c->first : "a command is missing");
    CHECK_EQ(c->wrong, 0u);
    CHECK(c->wrong || (c->seen > 100 && full > 0));
    channel_release(&c->channel);
    config_destroy(config);
    free(c);
}

/* Three seeds for each of three devices, the third for a channel that runs behind. */
static void compare_devices(const char *scheduler, enum oracle_rule rule) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        unsigned lag = seed == 3 ? 9 : 1;
        compare(SETTINGS(scheduler, "dram.starvation_cycles=0", "dram.read_queue=12"), rule, 6, 12, lag, seed);
        compare(SETTINGS(scheduler, "dram.starvation_cycles=0", "dram.read_queue=32", "dram.gddr5.tFAW=31",
                         "dram.gddr5.tRRDL=8", "dram.gddr5.tWTRL=8"),
                rule, 16, 20, lag, seed + 10);
        compare(SETTINGS(scheduler, "dram.starvation_cycles=0", "dram.read_queue=16", "dram.kind=hbm",
                         "dram.hbm.tCCDL=3", "dram.hbm.burst_bytes=64"),
                rule, 8, 20, lag, seed + 20);
    }
}

TEST("fr-fcfs issues every command of the definition in its cycle, and no other") {
    compare_devices("dram.scheduler=fr-fcfs", ORACLE_FR_FCFS);
}

TEST("fcfs issues every command of the definition in its cycle, and no other") {
    compare_devices("dram.scheduler=fcfs", ORACLE_FCFS);
}

TEST("oldest-ready issues every command of the definition in its cycle, and no other") {
    compare_devices("dram.scheduler=oldest-ready", ORACLE_OLDEST_READY);
}

TEST("round-robin issues every command of the definition in its cycle, and no other") {
    compare_devices("dram.scheduler=round-robin", ORACLE_ROUND_ROBIN);
}

TEST("fr-fcfs with a write queue serves reads and writes in the batches of the definition") {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        unsigned lag = seed > 3 ? 9 : 1;
        compare(
            SETTINGS("dram.starvation_cycles=0", "dram.write_drain=true", "dram.read_queue=12", "dram.write_queue=10"),
            ORACLE_FR_FCFS, 6, 12, lag, seed);
        compare(SETTINGS("dram.starvation_cycles=0", "dram.write_drain=true", "dram.read_queue=8",
                         "dram.write_queue=12", "dram.drain_high_percent=50", "dram.drain_low_percent=25",
                         "dram.drain_idle_writes=3"),
                ORACLE_FR_FCFS, 4, 20, lag, seed + 10);
        compare(SETTINGS("dram.starvation_cycles=0", "dram.write_drain=true", "dram.read_queue=8", "dram.write_queue=4",
                         "dram.drain_low_percent=0", "dram.kind=hbm", "dram.hbm.burst_bytes=64"),
                ORACLE_FR_FCFS, 4, 20, lag, seed + 20);
    }
}
