/* Machines with sectored caches: the traffic of scattered reads, the balance of sectors between levels, and random
 * programs in every order of ticks, polled or not. */
#include "machine/random_machine.h"

#define SECTORED  "l1.sector_bytes=32", "llc.sector_bytes=32"
#define VALIDATED SECTORED, "l1.write_allocate=validate", "llc.write_allocate=validate"

/* Memory moves bursts, here of a sector. */
static struct run *run_with(const char *workload, const char *const *settings) {
    struct run *run = run_make("selrep-64sm", workload, settings);
    run_go(run, (struct run_options){0});
    return run;
}

static uint64_t share(const struct run *run, const char *counter, uint64_t number) {
    uint64_t count = run_count(run, counter);
    CHECK_EQ(count % number, 0u);
    return count / number;
}

/* One sector of every line, each once: instructions are not fetched, for they need whole lines. */
#define SCATTERED "sm.instruction_kb=0", "sm.constant_kb=0", "workload.stride_bytes=128", "workload.iterations=400"

TEST("reading one sector of every line moves a quarter of the bytes of whole lines from memory and to the SMs") {
    struct run *lines = run_with("synth:chase", SETTINGS(SCATTERED));
    struct run *sectors = run_with("synth:chase", SETTINGS(SCATTERED, SECTORED));
    uint64_t bytes = run_count(sectors, "dram.read_bytes");
    CHECK(bytes > 0);
    CHECK_EQ(run_count(lines, "dram.read_bytes"), 4 * bytes);
    CHECK_EQ(bytes, 32 * run_count(sectors, "llc.sectors.fetched"));
    CHECK_EQ(run_count(sectors, "l1.sectors.fetched"), run_count(sectors, "llc.sectors.read"));
    CHECK(run_count(lines, "noc.reply.flits_injected") > 2 * run_count(sectors, "noc.reply.flits_injected"));
    struct run *pairs = run_with("synth:chase", SETTINGS(SCATTERED, SECTORED, "llc.fetch_bytes=64"));
    CHECK_EQ(run_count(pairs, "dram.read_bytes"), 2 * bytes);
    CHECK_EQ(run_count(pairs, "noc.reply.flits_injected"), run_count(sectors, "noc.reply.flits_injected"));
    run_destroy(lines);
    run_destroy(sectors);
    run_destroy(pairs);
}

TEST("what a sectored LLC fetches and writes back is what memory transfers") {
    static const char *const workloads[] = {"synth:copy", "synth:uniform", "synth:shared"};
    static const char *const fetch[] = {"llc.fetch_bytes=0", "llc.fetch_bytes=64", "llc.fetch_bytes=128"};
    for (unsigned i = 0; i < COUNT_OF(workloads); i++) {
        struct run *run = run_with(workloads[i], SETTINGS(VALIDATED, fetch[i], "workload.iterations=5"));
        CHECK_EQ(share(run, "dram.read_bytes", 32), run_count(run, "llc.sectors.fetched"));
        CHECK_EQ(share(run, "dram.write_bytes", 32), run_count(run, "llc.sectors.written_back"));
        CHECK(run_count(run, "llc.sectors.merged") <= run_count(run, "llc.sectors.fetched"));
        run_destroy(run);
    }
}

TEST("a copy of whole lines with write-validate reads each source byte once and fetches no destination") {
    struct run *lines = run_with("synth:copy", SETTINGS("workload.iterations=5"));
    struct run *sectors = run_with("synth:copy", SETTINGS(VALIDATED, "workload.iterations=5"));
    CHECK_EQ(run_count(sectors, "llc.sectors.merged"), 0u);
    CHECK_EQ(run_count(sectors, "dram.read_bytes"), run_count(lines, "dram.read_bytes"));
    run_destroy(lines);
    run_destroy(sectors);
}

/* --- random machines --- */

static void set_sectors(struct settings *settings, uint64_t seed) {
    uint64_t random = seed * 104729;
    uint64_t level = below(&random, 4); /* mostly both */
    set(settings, "l1.organisation", "private");
    set(settings, "l1.observe_duplication", "false");
    if (level != 1) {
        set(settings, "l1.sector_bytes", "32");
        set(settings, "l1.insertion", "always");
        set_one_of(settings, &random, "l1.allocate_on", SETTINGS("miss", "fill"));
        set_one_of(settings, &random, "l1.write_allocate", SETTINGS("none", "validate"));
    }
    if (level != 2) {
        set(settings, "llc.sector_bytes", "32");
        set_one_of(settings, &random, "llc.fetch_bytes", SETTINGS("0", "32", "64", "128"));
        set_one_of(settings, &random, "llc.write_allocate", SETTINGS("fetch", "validate"));
    }
}

static void compare_seeds(uint64_t first, unsigned wanted, unsigned programs) {
    unsigned ran = 0;
    for (uint64_t seed = first; seed < first + 50 * wanted && ran < wanted; seed++) {
        struct random_run *made = random_run_make(seed, programs);
        set_sectors(&made->settings, seed);
        if (machine_is_made(&made->settings)) {
            CHECK(compare_ways_of(seed, &made->settings, open_programs, &made->programs, 0));
            ran++;
        }
        free(made);
    }
    CHECK_EQ(ran, wanted);
}

TEST("random programs on random machines with sectored caches complete, in every tick order, polled or not") {
    compare_seeds(700000, 16, 1);
}
TEST("two concurrent random programs with sectored caches complete, in every tick order, polled or not") {
    compare_seeds(710000, 8, 2);
}
TEST_LONG("random programs on random machines with sectored caches complete: long test") {
    compare_seeds(720000, 200, 1);
    compare_seeds(730000, 60, 2);
}
