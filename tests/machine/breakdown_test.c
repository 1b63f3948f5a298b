/* The latency observer: the stages of a load add up to its cycles on any machine, and the observer changes nothing. */
#include "machine/random_machine.h"

#include "l1/l1.h"
#include "llc/llc.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"
#include "sim/latency.h"
#include "sm/sm_config.h"

static uint64_t counted(const struct run *run, unsigned level, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "latency.%s.%s", latency_level_names[level].name, name);
    return run_count(run, key);
}

static uint64_t stage_total(const struct run *run, enum latency_stage stage) {
    uint64_t sum = 0;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++)
        sum += counted(run, level, latency_stage_names[stage].name);
    return sum;
}

static uint64_t level_cycles(const struct run *run, unsigned level) {
    uint64_t sum = 0;
    for (unsigned stage = 0; stage < LATENCY_STAGE_COUNT; stage++)
        sum += counted(run, level, latency_stage_names[stage].name);
    return sum;
}

static uint64_t level_buckets(const struct run *run, unsigned level) {
    uint64_t sum = 0;
    for (unsigned bucket = 0; bucket < LATENCY_BUCKET_COUNT; bucket++) {
        char name[32];
        snprintf(name, sizeof name, "from_%u", latency_bucket_bounds[bucket]);
        sum += counted(run, level, name);
    }
    return sum;
}

/* The breakdown adds up. */
static bool adds_up(const struct run *run) {
    uint64_t loads = 0, cycles = 0;
    bool good = true;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++) {
        loads += counted(run, level, "loads");
        cycles += level_cycles(run, level);
        good &= CHECK_EQ(level_buckets(run, level), counted(run, level, "loads"));
    }
    good &= CHECK_EQ(loads, run_count(run, "sm.loads"));
    return good & CHECK_EQ(cycles, run_count(run, "sm.load_cycles"));
}

/* All counters of the machine without an observer have the same values with it. */
static bool same_counters(const struct run *observed, const struct run *plain) {
    const struct stats *stats = machine_stats(plain->machine), *other = machine_stats(observed->machine);
    bool equal = CHECK_EQ(observed->result.cycles, plain->result.cycles);
    for (unsigned i = 0; i < stats_count(stats); i++) {
        char name[96];
        stats_name(stats, i, name, sizeof name);
        int index = stats_find(other, name);
        if (!CHECK(index >= 0)) return false;
        for (unsigned unit = 0; unit < stats_instances(stats, i); unit++) {
            if (stats_instance(other, (unsigned)index, unit) == stats_instance(stats, i, unit)) continue;
            printf("%s of unit %u is %llu, not %llu\n", name, unit,
                   (unsigned long long)stats_instance(other, (unsigned)index, unit),
                   (unsigned long long)stats_instance(stats, i, unit));
            equal = CHECK(false);
        }
    }
    return equal;
}

/* What the random machine is varied by. */
typedef void vary(struct settings *settings, uint64_t *random);

static void vary_nothing(struct settings *settings, uint64_t *random) { (void)settings, (void)random; }

static void vary_groups(struct settings *settings, uint64_t *random) {
    set_one_of(settings, random, "l1.organisation", SETTINGS("clustered", "icc-agc", "icc-mgc"));
    set_one_of(settings, random, "l1.insertion", SETTINGS("always", "mrpb", "decoupled"));
    set(settings, "l1.tags_per_cycle", "1");
}

static void vary_sectors(struct settings *settings, uint64_t *random) {
    set(settings, "l1.organisation", "private");
    set(settings, "l1.observe_duplication", "false");
    set(settings, "l1.sector_bytes", "32");
    set(settings, "l1.insertion", "always");
    set_one_of(settings, random, "l1.allocate_on", SETTINGS("miss", "fill"));
    set(settings, "llc.sector_bytes", "32");
    set_one_of(settings, random, "llc.fetch_bytes", SETTINGS("0", "32", "64"));
    set_one_of(settings, random, "llc.write_allocate", SETTINGS("fetch", "validate"));
}

static void vary_partitions(struct settings *settings, uint64_t *random) {
    set(settings, "llc.partitions", "2");
    set_one_of(settings, random, "dram.mcs", SETTINGS("2", "4"));
    set_number(settings, "bridge.cycles", 1 + below(random, 20));
    set_number(settings, "bridge.bytes", 1 + below(random, 64));
    if (below(random, 3) == 0) return;
    set(settings, "llc.organisation", "partitioned");
    set_number(settings, "llc.ways", 2 + below(random, 4));
    if (below(random, 2)) set(settings, "llc.sector_bytes", "32");
}

/* False if the seed does not make a machine. */
static bool observe_seed(uint64_t seed, unsigned programs, vary *variation) {
    static const struct run_options ways[] = {{0}, {.shuffle = 1}, {.no_skip = true}, {.no_skip = true, .shuffle = 99}};
    struct random_run *made = random_run_make(seed, programs);
    uint64_t random = seed;
    variation(&made->settings, &random);
    made->settings.list[made->settings.count] = NULL;
    if (!machine_is_made(&made->settings)) {
        free(made);
        return false;
    }
    struct run *plain = open_programs(&made->settings, &made->programs);
    run_try(plain, (struct run_options){0});
    bool fits = plain->status != RUN_REFUSED, good = !fits || CHECK(plain->status == RUN_DONE);
    set(&made->settings, "gpu.observe_latency", "true");
    made->settings.list[made->settings.count] = NULL;
    struct counters first = {0};
    for (unsigned i = 0; fits && good && i < COUNT_OF(ways); i++) {
        struct run *run = open_programs(&made->settings, &made->programs);
        run_go(run, ways[i]);
        good = adds_up(run) && same_counters(run, plain);
        if (i == 0)
            first = counters_of(run);
        else
            good &= CHECK(counters_equal(run, &first));
        run_destroy(run);
    }
    if (!good) {
        printf("    with seed %llu:", (unsigned long long)seed);
        for (unsigned s = 0; s < made->settings.count; s++) printf(" --set %s", made->settings.list[s]);
        printf("\n");
        test_give_up();
    }
    free(first.value);
    run_destroy(plain);
    free(made);
    return fits;
}

static void observe_seeds(uint64_t first, unsigned wanted, unsigned programs, vary *variation) {
    unsigned ran = 0;
    for (uint64_t seed = first; seed < first + 80 * wanted && ran < wanted; seed++)
        ran += observe_seed(seed, programs, variation);
    CHECK_EQ(ran, wanted);
}

TEST("on random machines latency stages add up to load cycles, and observing them changes no counter") {
    observe_seeds(1000, 8, 1, vary_nothing);
}
TEST("latency stages add up for two programs") { observe_seeds(2000, 6, 2, vary_nothing); }
TEST("latency stages add up where SMs share L1s") { observe_seeds(3000, 8, 1, vary_groups); }
TEST("latency stages add up in sectored caches") { observe_seeds(4000, 8, 1, vary_sectors); }
TEST("latency stages add up across LLC partitions") { observe_seeds(5000, 8, 1, vary_partitions); }
TEST_LONG("latency stages add up on random machines: long test") { observe_seeds(10000, 60, 1, vary_nothing); }
TEST_LONG("latency stages add up for two programs: long test") { observe_seeds(20000, 40, 2, vary_nothing); }
TEST_LONG("latency stages add up where SMs share L1s: long test") { observe_seeds(30000, 60, 1, vary_groups); }
TEST_LONG("latency stages add up in sectored caches: long test") { observe_seeds(40000, 60, 1, vary_sectors); }
TEST_LONG("latency stages add up across LLC partitions: long test") { observe_seeds(50000, 60, 1, vary_partitions); }

/* ---- zero load ---------------------------------------------------------------------------------------------------- */

static uint64_t queueing(const struct run *run) {
    uint64_t sum = 0;
    for (unsigned stage = 0; stage < LATENCY_STAGE_COUNT; stage++)
        if (latency_stage_names[stage].queue) sum += stage_total(run, stage);
    return sum;
}

static uint64_t zero_load_of(const struct run *run, enum message_kind kind) {
    const struct noc_config *noc = config_get(run->config, &noc_section);
    struct message message = {.kind = (uint8_t)kind, .sectors = 0x0F};
    return network_unloaded_cycles(run->config, machine_shape(run->machine), gpu_core_khz(run->config),
                                   message_flits(&message, (unsigned)noc->channel_bytes));
}

TEST("a load alone in the machine queues nowhere, and each stage takes its zero-load latency") {
    for (unsigned g = 0; g < RUN_GPUS; g++)
        for (unsigned t = 0; t < 3; t++) {
            static const char *const topologies[] = {"noc.topology=full", "noc.topology=ideal",
                                                     "noc.topology=hierarchical"};
            struct run *run = run_make(
                run_gpus[g], "synth:chase",
                SETTINGS("gpu.observe_latency=true", "workload.iterations=1", "sm.instruction_kb=0", topologies[t]));
            const struct sm_config *sm = config_get(run->config, &sm_section);
            const struct llc_config *llc = config_get(run->config, &llc_section);
            run_go(run, (struct run_options){0});
            CHECK(adds_up(run));
            CHECK_EQ(queueing(run), 0u);
            CHECK_EQ(run_count(run, "latency.dram.loads"), 1u);
            CHECK_EQ(run_count(run, "latency.dram.operands"), (uint64_t)sm->operand_cycles);
            CHECK_EQ(run_count(run, "latency.dram.writeback"), (uint64_t)sm->writeback_cycles);
            CHECK_EQ(run_count(run, "latency.dram.slice"), (uint64_t)llc->latency_cycles);
            CHECK_EQ(run_count(run, "latency.dram.request_network"), zero_load_of(run, MESSAGE_READ));
            CHECK_EQ(run_count(run, "latency.dram.reply_network"), zero_load_of(run, MESSAGE_DATA));
            run_destroy(run);
        }
}

TEST("a chain of loads within the L1 spends its cycles in operand read, L1 and write-back") {
    struct run *run = run_make("adaptive-80sm", "synth:chase",
                               SETTINGS("gpu.observe_latency=true", "workload.footprint_kb=4",
                                        "workload.stride_bytes=128", "workload.iterations=532"));
    const struct sm_config *sm = config_get(run->config, &sm_section);
    const struct l1_config *l1 = config_get(run->config, &l1_section);
    run_go(run, (struct run_options){0});
    CHECK(adds_up(run));
    CHECK_EQ(run_count(run, "latency.l1.loads"), 500u);
    CHECK_EQ(run_count(run, "latency.l1.l1"), 500u * (uint64_t)l1->latency_cycles);
    CHECK_EQ(run_count(run, "latency.l1.writeback"), 500u * (uint64_t)sm->writeback_cycles);
    CHECK_EQ(level_cycles(run, LATENCY_LEVEL_l1),
             500u * (uint64_t)(sm->operand_cycles + l1->latency_cycles + sm->writeback_cycles));
    run_destroy(run);
}

/* ---- one contention at a time --------------------------------------------------------------------------------------- */

enum { LINE = 128, FAR = 0x100000 };

#define QUIET  "sm.instruction_kb=0", "gpu.observe_latency=true", "gpu.line_bytes=128"
#define ONE_SM QUIET, "sm.count=1", "gpu.clusters=1"

static struct run *run_script(struct script_source *source, const char *const *settings) {
    struct run *run = run_of(NULL, &source->source, settings);
    run_go(run, (struct run_options){0});
    CHECK(adds_up(run));
    return run;
}

/* The stage of all loads together, */
static void check_stage(const struct run *run, enum latency_stage stage, uint64_t cycles) {
    if (!CHECK_EQ(stage_total(run, stage), cycles)) printf("    in stage %s\n", latency_stage_names[stage].name);
}

/* and all queueing elsewhere: none. */
static void check_only(const struct run *run, enum latency_stage stage, uint64_t cycles) {
    check_stage(run, stage, cycles);
    CHECK_EQ(queueing(run), cycles);
}

static struct step load_lines(uint8_t dst, uint64_t address, unsigned count) {
    struct step step = load_line(dst, address);
    for (unsigned i = 1; i < count; i++)
        step.touch[i] = touch_make((address + i * LINE) / 256 * 256, line_sectors(address + i * LINE));
    step.instr.count = (uint16_t)count;
    return step;
}

TEST("bank conflicts of an earlier instruction are LSU queue cycles") {
    enum { CONFLICTS = 8 };
    struct step steps[] = {store_shared(0, CONFLICTS), load_line(1, FAR)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM));
    check_only(run, LATENCY_lsu_queue, CONFLICTS - 1); /* the load issues one cycle after the store */
    run_destroy(run);
}

TEST("the accesses of an uncoalesced load wait for each other: divergence") {
    struct step steps[] = {load_lines(1, FAR, 4), alu(OP_int_add, 2, 1), load_lines(3, FAR, 4)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM, "l1.latency_cycles=5"));
    CHECK_EQ(run_count(run, "latency.l1.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.l1.divergence"), 3u);
    CHECK_EQ(run_count(run, "latency.l1.l1"), 5u);
    CHECK_EQ(run_count(run, "latency.dram.divergence"), 3u);
    run_destroy(run);
}

TEST("an access without an MSHR replays until the line of the other one has arrived") {
    struct step steps[] = {load_line(1, FAR), load_line(2, FAR + LINE)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM, "l1.mshrs=1"));
    uint64_t failed = run_count(run, "sm.reservation_fail.mshr");
    CHECK(failed > 100); /* most of the latency of the first load */
    check_only(run, LATENCY_reservation_fail, failed);
    run_destroy(run);
}

TEST("the stage in front of an L1 and its data port are L1 queue cycles") {
    struct step steps[] = {load_line(1, FAR)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM, "l1.insertion=mrpb"));
    check_only(run, LATENCY_l1_queue, 1); /* the stage sends a request in the cycle after */
    run_destroy(run);

    struct step wide[] = {load_lines(1, FAR, 4), alu(OP_int_add, 2, 1), load_lines(3, FAR, 4)};
    for (unsigned i = 0; i < COUNT_OF(wide); i += 2) wide[i].instr.bytes_log2 = 4; /* 512 B by 32 lanes */
    source = script_make(1, 1, SCRIPT(wide));
    run = run_script(&source, SETTINGS(ONE_SM, "l1.port_bytes=32"));
    CHECK_EQ(run_count(run, "latency.l1.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.l1.divergence") + run_count(run, "latency.l1.l1_queue"), 512u / 32 - 1);
    CHECK_EQ(run_count(run, "latency.l1.divergence"), 3u);
    run_destroy(run);
}

TEST("a request without a credit of the network waits in the miss queue") {
    struct step steps[] = {load_line(1, FAR), load_line(2, FAR + LINE)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM, "noc.injection_packets=1"));
    check_stage(run, LATENCY_miss_queue, 1); /* the credit takes two cycles, the requests are one apart */
    run_destroy(run);
}

TEST("a pending hit has the rest of the path of its line, and is woken one cycle later") {
    struct step steps[] = {load_line(1, FAR), load_line(2, FAR)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM));
    CHECK_EQ(run_count(run, "latency.l1_pending.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.l1_pending.request_network"), run_count(run, "latency.dram.request_network") - 1);
    CHECK_EQ(run_count(run, "latency.l1_pending.slice"), run_count(run, "latency.dram.slice"));
    CHECK_EQ(run_count(run, "latency.l1_pending.dram"), run_count(run, "latency.dram.dram"));
    check_only(run, LATENCY_l1_fill, 1);
    run_destroy(run);
}

TEST("two SMs that read one line queue in the networks, and for the data port of its slice") {
    struct step steps[] = {load_line(1, FAR)};
    struct script_source source = script_make(2, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(QUIET, "sm.count=2", "gpu.clusters=2", "llc.port_bytes=32"));
    CHECK_EQ(run_count(run, "latency.dram.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.llc_pending.loads"), 1u);
    CHECK(stage_total(run, LATENCY_request_queue) > 0);
    CHECK(stage_total(run, LATENCY_reply_queue) > 0);
    check_stage(run, LATENCY_slice_queue, LINE / 32);
    CHECK_EQ(queueing(run),
             stage_total(run, LATENCY_request_queue) + stage_total(run, LATENCY_reply_queue) + LINE / 32);
    run_destroy(run);
}

TEST("reads of a busy bank wait in the DRAM queue") {
    struct step steps[] = {load_line(1, FAR), load_line(2, FAR + LINE)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    const char *const *settings = SETTINGS(ONE_SM, "dram.mcs=1", "llc.slices_per_mc=1", "noc.topology=ideal");
    struct run *run = run_script(&source, settings);
    uint64_t queue = stage_total(run, LATENCY_dram_queue);
    CHECK(queue > 0);
    check_only(run, LATENCY_dram_queue, queue);
    run_destroy(run);
}

TEST("shared L1s are reached through a crossbar of fixed zero-load latency") {
    struct step steps[] = {load_line(1, FAR)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run =
        run_script(&source, SETTINGS(QUIET, "sm.count=4", "gpu.clusters=2", "l1.organisation=clustered",
                                     "group.switch_cycles=2", "group.link_cycles=3", "group.channel_bytes=136"));
    check_stage(run, LATENCY_l1_crossbar, 2 * (2 + 3)); /* one flit each way */
    CHECK_EQ(queueing(run), 0u);
    run_destroy(run);
}

TEST("a line of another group's L1 is a remote hit, and its probe cooperation") {
    struct step owner[] = {load_line(1, FAR)};
    struct step reader[] = {load_line(1, 2 * FAR), alu(OP_int_add, 2, 1), load_line(3, FAR)};
    struct script_source source = script_make(2, 1, SCRIPT(owner));
    script_add(&source, SCRIPT(reader));
    struct run *run = run_script(
        &source, SETTINGS(QUIET, "sm.count=2", "gpu.clusters=2", "l1.organisation=icc-mgc", "l1.icc-mgc.sampled=0"));
    CHECK_EQ(run_count(run, "latency.l1_remote.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.l1_remote.cooperation"), run_count(run, "l1.icc.hit_cycles"));
    run_destroy(run);
}

TEST("a request to the far partition takes the bridge both ways") {
    struct step steps[] = {load_line(1, FAR)};
    struct script_source source = script_make(2, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(QUIET, "sm.count=2", "gpu.clusters=2", "llc.partitions=2",
                                                   "dram.mcs=2", "bridge.cycles=75", "bridge.bytes=136"));
    CHECK_EQ(run_count(run, "latency.llc.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.llc.bridge"), 2u * (75 + 1)); /* and a cycle to the slice and to the network */
    CHECK_EQ(run_count(run, "latency.dram.bridge"), 2u);           /* near: a cycle in the bridge each way */
    run_destroy(run);
}

TEST("caches of the SM, asynchronous copies and instructions without an access are levels of their own") {
    struct step steps[] = {load_constant(1, FAR), alu(OP_int_add, 2, 1), load_constant(3, FAR)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct run *run = run_script(&source, SETTINGS(ONE_SM));
    CHECK_EQ(run_count(run, "latency.sm_cache.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.dram.loads"), 1u);
    run_destroy(run);

    struct step copy[] = {copy_line(FAR, 5), copies_wait(0, 0)};
    source = script_make(1, 1, SCRIPT(copy));
    run = run_script(&source, SETTINGS(ONE_SM));
    CHECK_EQ(run_count(run, "latency.dram.loads"), 1u);
    CHECK_EQ(run_count(run, "latency.dram.writeback"), 5u); /* bank passes of its write to shared memory */
    run_destroy(run);

    struct step empty[] = {load_line(1, FAR)};
    empty[0].instr.count = 0;
    source = script_make(1, 1, SCRIPT(empty));
    run = run_script(&source, SETTINGS(ONE_SM));
    CHECK_EQ(run_count(run, "latency.none.loads"), 1u);
    CHECK_EQ(level_cycles(run, LATENCY_LEVEL_none), run_count(run, "sm.load_cycles"));
    run_destroy(run);
}
