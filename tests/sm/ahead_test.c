/* What an SM does ahead of time, and a failure that it foresees, is not visible: warps with loads and stores of many lines
 * run once while the SM sleeps whenever it can and once while it is polled. The cycles of all issues and requests are the
 * same, and so are all counters after every interval. */
#include "test.h"

#include "base/random.h"
#include "sm/sm_fixture.h"

enum { WARPS = 6, STEPS = 24, LINES = 24, ROWS = 40000, SCATTER = 12 };

struct record {
    struct sm_fixture fixture; /* as it was at the end of its run */
    uint64_t row[ROWS];        /* a digest of all counters, after each interval */
    unsigned rows, logged;
    uint64_t hits, cycles;
};
static struct record *current;

static void note_counters(struct sm_fixture *sm) {
    uint64_t digest = sm->base.engine->now;
    engine_settle(sm->base.engine, sm->base.engine->now);
    for (unsigned i = 0; i < stats_count(sm->base.stats); i++)
        digest = (digest ^ stats_total(sm->base.stats, i)) * UINT64_C(0x100000001B3);
    REQUIRE(current->rows < ROWS);
    current->row[current->rows++] = digest;
}

/* A load or store of up to SCATTER lines, most of them among a few. */
static struct step scattered(uint64_t *random, bool load, uint8_t reg) {
    struct step step = load ? load_line(reg, 0) : store_line(reg, 0);
    step.instr.count = (uint8_t)(1 + random_below(random, SCATTER));
    for (unsigned i = 0; i < step.instr.count; i++) {
        uint64_t line = random_below(random, random_below(random, 4) ? 6 : LINES) * 128;
        step.touch[i] = touch_make(line & ~UINT64_C(255), line_sectors(line));
    }
    return step;
}

/* Turns some of a warp's steps into asynchronous copies and waits for them. Its mbarrier has its number; the warp waits
 * for updates that it has issued. */
static struct step made_async(uint64_t *random, struct step step, uint8_t warp, uint32_t *updates) {
    uint64_t kind = random_below(random, 12), line = random_below(random, 32) * 256;
    switch (kind) {
    case 0:
    case 1: return copies_wait((uint16_t)random_below(random, 4), 0);
    case 2:
        return copies_wait((uint16_t)random_below(random, 2), (uint8_t)(INSTR_BULK | (line % 512 ? INSTR_SOURCE : 0)));
    case 3: ++*updates; return copies_arrive(warp);
    case 4: ++*updates; return bulk_load(line, (unsigned)(1 + random_below(random, 20)), warp);
    case 5: return bulk_store(line, (unsigned)(1 + random_below(random, 20)));
    case 6: ++*updates; return mbarrier_arrive(warp);
    case 7: return *updates ? mbarrier_wait(warp, *updates - (uint32_t)random_below(random, 2)) : step;
    default:
        if (step.instr.op != OP_load || kind < 9) return step;
        step.instr.dst[0] = 0;
        step.instr.flags = INSTR_ASYNC;
        step.instr.conflicts = (uint8_t)(1 + random_below(random, 6));
        return step;
    }
}

/* Turns some of a warp's steps into accesses to shared memory and to the SM's other caches, fences and atomics. */
static struct step made_mixed(uint64_t *random, struct step step, uint8_t reg) {
    uint64_t kind = random_below(random, 12), line = random_below(random, random_below(random, 4) ? 2 : 40) * 128;
    switch (kind) {
    case 0:
    case 1:
    case 2: return load_shared(reg, (uint8_t)(1 + random_below(random, 3) * random_below(random, 8)));
    case 3:
    case 4: return store_shared(reg, (uint8_t)(1 + random_below(random, 3) * random_below(random, 8)));
    case 5: return load_constant(reg, line);
    case 6: return load_noncoherent(reg, line);
    case 7: return random_below(random, 4) ? load_line(reg, line) : fence();
    case 8: return random_below(random, 4) ? load_local(reg, line) : store_local(reg, line);
    case 9:
        return random_below(random, 4) ? alu(OP_f32_div, reg, (uint8_t)(1 + line / 128 % 6)) : atomic_on(reg, line, 2);
    default: return step;
    }
}

static bool asynchronous; /* the warps also copy */
static bool mixed;        /* they access all kinds of memory */

static void run(struct record *record, const char *const *settings, uint64_t seed, uint64_t interval, bool polled) {
    static struct step steps[WARPS][STEPS];
    struct script_source source = {0};
    uint64_t random = seed;
    for (unsigned warp = 0; warp < WARPS; warp++) {
        uint32_t updates = 0;
        for (unsigned i = 0; i < STEPS; i++) {
            uint64_t kind = random_below(&random, 8);
            uint8_t reg = (uint8_t)(1 + random_below(&random, 6));
            steps[warp][i] = kind < 2 ? alu(OP_other, reg, (uint8_t)(1 + random_below(&random, 6)))
                                      : scattered(&random, kind < 7, reg);
            if (mixed) steps[warp][i] = made_mixed(&random, steps[warp][i], reg);
            if (asynchronous) steps[warp][i] = made_async(&random, steps[warp][i], (uint8_t)warp, &updates);
        }
        if (warp == 0)
            source = script_make(2, WARPS, SCRIPT(steps[0]));
        else
            script_add(&source, SCRIPT(steps[warp]));
    }
    struct sm_fixture *sm = sm_fixture_create(settings);
    sm->base.engine->poll = polled;
    sm->interval = interval;
    sm->between = note_counters;
    sm->memory_cycles = 20 + seed % 50;
    if (mixed && seed % 2) {
        sm->stop_at = 20 + seed * 3;
        sm->go_on_at = sm->stop_at + 300;
        engine_wake(sm->base.engine, sm->dispatcher_id, sm->stop_at);
        engine_wake(sm->base.engine, sm->dispatcher_id, sm->go_on_at);
    }
    current = record;
    record->rows = 0;
    sm_fixture_run(sm, &source);
    record->fixture = *sm;
    record->logged = source.logged;
    record->cycles = sm->base.engine->now;
    record->hits = COUNTER(sm, "l1.read_hits");
    sm_fixture_destroy(sm);
}

static void compare(const char *const *settings, uint64_t seeds, bool hits) {
    static struct record sleeping, polled;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t interval = seed % 3 == 0 ? 1000 : 1 + seed % 11;
        run(&sleeping, settings, seed, interval, false);
        run(&polled, settings, seed, interval, true);
        CHECK_EQ(sleeping.cycles, polled.cycles);
        CHECK_EQ(sleeping.fixture.quiet_at, polled.fixture.quiet_at);
        REQUIRE(sleeping.rows == polled.rows);
        CHECK(memcmp(sleeping.row, polled.row, sleeping.rows * sizeof *sleeping.row) == 0);
        REQUIRE(sleeping.logged == polled.logged);
        for (unsigned i = 0; i < sleeping.logged; i++)
            CHECK_EQ(sleeping.fixture.log[i].cycle, polled.fixture.log[i].cycle);
        REQUIRE(sleeping.fixture.requests == polled.fixture.requests);
        for (unsigned i = 0; i < sleeping.fixture.requests; i++) {
            CHECK_EQ(sleeping.fixture.requested_at[i], polled.fixture.requested_at[i]);
            CHECK_EQ(sleeping.fixture.request[i].address, polled.fixture.request[i].address);
        }
        if (hits) CHECK(sleeping.hits > 200);
    }
}

TEST("accesses made ahead of time are those of a polled SM") { compare(SETTINGS("l1.size_kb=4"), 20, true); }
TEST("accesses made ahead of time are those of a polled SM, with a small L1 and a short miss queue") {
    compare(SETTINGS("l1.size_kb=1", "l1.ways=2", "l1.mshrs=4", "l1.miss_queue=1"), 20, false);
    compare(SETTINGS("l1.size_kb=1", "l1.ways=2", "l1.mshrs=4", "l1.miss_queue=2", "sm.lsu_queue=8"), 20, false);
}
TEST("accesses made ahead of time are those of a polled SM, with other replacement policies") {
    compare(SETTINGS("l1.size_kb=2", "l1.replacement=drrip", "l1.drrip.leaders=1"), 10, false);
    compare(SETTINGS("l1.size_kb=2", "l1.replacement=ship"), 10, false);
    compare(SETTINGS("l1.size_kb=2", "l1.replacement=random"), 10, false);
}
TEST("observed accesses are made in their own cycles") {
    compare(SETTINGS("l1.size_kb=4", "l1.observe_reuse=reads"), 6, true);
    compare(SETTINGS("l1.size_kb=4", "l1.insertion=pdp"), 6, false);
}
TEST("asynchronous copies take the same cycles in an SM that sleeps and in a polled one") {
    asynchronous = true;
    compare(SETTINGS("l1.size_kb=4"), 20, false);
    compare(SETTINGS("l1.size_kb=1", "l1.ways=2", "l1.mshrs=4", "l1.miss_queue=1", "sm.bulk_interval=3"), 20, false);
    compare(SETTINGS("l1.size_kb=2", "sm.lsu_queue=8", "l1.latency_cycles=30", "sm.loads_in_flight=8"), 20, false);
    asynchronous = false;
}

TEST("instructions executed ahead of time take the cycles of a polled SM") {
    mixed = true;
    compare(SETTINGS("l1.size_kb=4"), 40, false);
    compare(SETTINGS("l1.size_kb=4", "sm.lsu_queue=5", "sm.constant_kb=0", "sm.warp_scheduler=two-level"), 20, false);
    compare(SETTINGS("l1.size_kb=1", "l1.ways=2", "l1.mshrs=4", "l1.miss_queue=1", "sm.lsu_queue=1"), 20, false);
    compare(SETTINGS("l1.size_kb=2", "sm.loads_in_flight=6", "sm.lsu_queue=2", "l1.latency_cycles=30"), 20, false);
    compare(SETTINGS("l1.size_kb=2", "sm.operand_cycles=1", "sm.writeback_cycles=0", "sm.shared_latency_cycles=1",
                     "sm.load_stages=3"),
            20, false);
    compare(SETTINGS("l1.size_kb=2", "sm.read_only_kb=0", "sm.constant_kb=1", "sm.instruction_kb=1", "l1.insertion=pdp",
                     "sm.atomics_hold=true"),
            20, false);
    compare(SETTINGS("l1.size_kb=2", "sm.operand_read_cycles=1", "sm.branch_cycles=4", "l1.sector_bytes=32"), 20,
            false);
    asynchronous = true;
    compare(SETTINGS("l1.size_kb=2", "sm.lsu_queue=8", "sm.loads_in_flight=20"), 20, false);
    asynchronous = mixed = false;
}

#define SUBCORES "sm.schedulers=4", "sm.subcores=4", "sm.sp_units=1", "sm.op_other=[4, 2]"
TEST("sub-cores and a wide L1 take the same cycles in an SM that sleeps and in a polled one") {
    compare(SETTINGS(SUBCORES, "l1.size_kb=4"), 20, true);
    compare(SETTINGS(SUBCORES, "l1.size_kb=4", "sm.lsu_queue=5", "sm.lsu_interval=2"), 20, true);
    compare(SETTINGS(SUBCORES, "l1.size_kb=1", "l1.ways=2", "l1.mshrs=4", "l1.miss_queue=1", "sm.operand_read_cycles=1",
                     "sm.sp_collectors=2"),
            20, false);
    compare(SETTINGS(SUBCORES, "l1.size_kb=4", "l1.tags_per_cycle=4", "l1.port_bytes=64"), 20, true);
    compare(SETTINGS("l1.size_kb=1", "l1.ways=2", "l1.mshrs=4", "l1.miss_queue=3", "l1.tags_per_cycle=3"), 20, false);
    asynchronous = true;
    compare(SETTINGS("l1.size_kb=4", "l1.tags_per_cycle=4", "l1.port_bytes=32"), 20, false);
    compare(SETTINGS(SUBCORES, "l1.size_kb=2", "sm.lsu_queue=8", "sm.lsu_interval=2", "sm.loads_in_flight=8"), 20,
            false);
    asynchronous = false;
}
