/* An LLC of two partitions: latency of near and far lines, copies, and requests that cross in both directions at once. */
#include "llc/bridge.h"
#include "machine/random_machine.h"

#define TWO    "llc.partitions=2"
#define COPIES TWO, "llc.organisation=partitioned"

/* Mean latency of dependent loads of 32 KB that bypass the L1 and hit in the LLC. */
static double chase(const char *const *settings) {
    struct run *run = run_make("adaptive-80sm", "synth:chase", settings);
    run_go(run, (struct run_options){0});
    double cycles = (double)run_count(run, "sm.load_cycles") / (double)run_count(run, "sm.loads");
    run_destroy(run);
    return cycles;
}
#define CHASE \
    "workload.footprint_kb=32", "workload.stride_bytes=128", "workload.iterations=8000", "workload.cache_global=true", \
        "sm.instruction_kb=0"

TEST("half of the lines are far, and farther by the bridge and back; copies of all of them are near") {
    double one = chase(SETTINGS(CHASE)), two = chase(SETTINGS(CHASE, TWO, "bridge.cycles=50")),
           far = chase(SETTINGS(CHASE, TWO, "bridge.cycles=150")), copies = chase(SETTINGS(CHASE, COPIES));
    CHECK_NEAR(far - two, 100, 0.1); /* half of 2 x 100 cycles */
    CHECK(two > one + 40 && two < one + 70);
    CHECK(copies < one + 15);
}

TEST("the capacity for lines that both partitions read is half") {
    /* 4 MB fit into the LLC of 6 MB once, not twice. */
    uint64_t misses[2];
    static const char *const organisation[] = {"llc.organisation=shared", "llc.organisation=partitioned"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = run_make("adaptive-80sm", "synth:uniform",
                                   SETTINGS(TWO, organisation[i], "workload.footprint_kb=4096",
                                            "workload.iterations=40", "workload.cache_global=true"));
        run_go(run, (struct run_options){0});
        misses[i] = run_count(run, "dram.reads");
        if (i) CHECK(run_count(run, "bridge.fetches") > run_count(run, "llc.read_misses") / 4);
        run_destroy(run);
    }
    CHECK(misses[1] > 0 && misses[0] > 0);
    CHECK(misses[1] >= misses[0]);
}

TEST("copies are read-only: writes, atomics and reads of written data cross to the home slice") {
    struct run *run = run_make("adaptive-80sm", "synth:copy", SETTINGS(COPIES, "workload.iterations=8"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "bridge.requests") > 0);
    CHECK(run_count(run, "bridge.fetches") > 0);
    uint64_t lines = run_count(run, "dram.reads");
    CHECK(run_count(run, "bridge.fetches") < lines); /* those of far lines only */
    run_destroy(run);
}

TEST_LONG_SANITIZED("tick order and polling do not change the counters with two partitions") {
    static const char *const organisation[] = {"llc.organisation=shared", "llc.organisation=partitioned"};
    for (unsigned i = 0; i < 2; i++) {
        struct counters expected = {0};
        for (unsigned way = 0; way < 4; way++) {
            struct run *run = run_make("adaptive-80sm", "synth:copy",
                                       SETTINGS(TWO, organisation[i], "workload.iterations=6", "workload.kernels=2"));
            run_go(run, (struct run_options){.no_skip = way >= 2, .shuffle = way % 2 ? 7 : 0});
            if (way == 0)
                expected = counters_of(run);
            else
                CHECK(counters_equal(run, &expected));
            run_destroy(run);
        }
        free(expected.value);
    }
}

TEST("slices that fetch from each other through full bridges do not deadlock") {
    static const char *const bytes[] = {"bridge.bytes=1", "bridge.bytes=8"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = run_make("adaptive-80sm", "synth:uniform",
                                   SETTINGS(COPIES, bytes[i], "bridge.cycles=3", "llc.mshrs=2", "llc.mshr_merges=1",
                                            "llc.replay_queue=0", "llc.input_queue=1", "llc.reply_queue=1",
                                            "workload.iterations=4", "dram.port_entries=2"));
        run_go(run, (struct run_options){0});
        CHECK(run_count(run, "bridge.fetches") > 1000);
        run_destroy(run);
    }
}

TEST("a machine that cannot be halved is rejected") {
    struct error err = {0};
    struct config *config = run_config("adaptive-80sm", SETTINGS("llc.organisation=shared"));
    static const struct {
        const char *setting[3], *text;
    } cases[] = {
        {{"llc.organisation=partitioned", NULL}, "partitioned needs an LLC of two partitions"},
        {{TWO, "gpu.clusters=5", NULL}, "an even number of clusters"},
        {{TWO, "dram.mcs=3", NULL}, "an even number of controllers"},
        {{TWO, "llc.sharing_window=1000", NULL}, "set it to 0"},
    };
    config_destroy(config);
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        config = config_create(config_sections, config_section_count);
        err.set = false;
        CHECK(config_set_all(config, cases[i].setting, &err));
        CHECK(!config_check(config, &err));
        CHECK_TEXT(err.text, cases[i].text);
        config_destroy(config);
    }
}

/* --- random machines --- */

static void set_partitions(struct settings *settings, uint64_t seed) {
    uint64_t random = seed * 7919;
    set(settings, "llc.partitions", "2");
    set_one_of(settings, &random, "dram.mcs", SETTINGS("2", "4"));
    set_number(settings, "bridge.cycles", 1 + below(&random, 20));
    set_number(settings, "bridge.bytes", 1 + below(&random, 64));
    if (below(&random, 3)) {
        set(settings, "llc.organisation", "partitioned");
        set_number(settings, "llc.ways", 2 + below(&random, 4));
        set_number(settings, "bridge.copy_ways", below(&random, 2));
    }
}

static void compare_seeds(uint64_t first, unsigned wanted, unsigned programs) {
    unsigned ran = 0;
    for (uint64_t seed = first; seed < first + 100 * wanted && ran < wanted; seed++) {
        struct random_run *made = random_run_make(seed, programs);
        set_partitions(&made->settings, seed);
        if (machine_is_made(&made->settings)) {
            CHECK(compare_ways_of(seed, &made->settings, open_programs, &made->programs, 0));
            ran++;
        }
        free(made);
    }
    CHECK_EQ(ran, wanted);
}

TEST("random programs on random machines with two partitions complete, in every tick order, polled or not") {
    compare_seeds(800000, 16, 1);
}
TEST("two concurrent random programs with two partitions complete, in every tick order, polled or not") {
    compare_seeds(810000, 8, 2);
}
TEST_LONG("random programs on random machines with two partitions complete: long test") {
    compare_seeds(820000, 150, 1);
    compare_seeds(830000, 50, 2);
}
