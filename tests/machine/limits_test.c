/* Machines at their limits, runs that end early, and runs that cannot end. */
#include "machine/runs.h"
#include "sm/script.h"

static const char *const workloads[] = {"synth:chase",   "synth:stream", "synth:copy", "synth:hotline",
                                        "synth:uniform", "synth:shared", "synth:alu"};

/* One of everything that there can be one of. */
#define NARROW \
    "sm.count=4", "gpu.clusters=2", "llc.slices_per_mc=2", "dram.mcs=2", "noc.topology=full", "l1.size_kb=1", \
        "l1.ways=1", "l1.mshrs=1", "l1.mshr_merges=1", "l1.miss_queue=1", "sm.lsu_queue=1", "sm.loads_in_flight=1", \
        "sm.read_only_mshrs=1", "sm.read_only_merges=1", "llc.slice_kb=1", "llc.ways=1", "llc.mshrs=1", \
        "llc.mshr_merges=1", "llc.replay_queue=0", "llc.input_queue=1", "llc.reply_queue=1", \
        "noc.injection_packets=1", "noc.ejection_packets=1", "noc.vc_flits=1", "dram.read_queue=1", \
        "dram.write_queue=1", "dram.return_queue=1", "dram.port_entries=1"

TEST("a machine with one MSHR and one entry in every queue completes every workload") {
    for (unsigned w = 0; w < COUNT_OF(workloads); w++) {
        struct run *run = run_make(NULL, workloads[w],
                                   SETTINGS(NARROW, "workload.ctas=8", "workload.warps=2", "workload.iterations=6"));
        run_go(run, (struct run_options){0});
        CHECK_EQ(run->result.warp_instructions, workload_warp_instructions(run->source));
        run_destroy(run);
    }
}

#define MANY "dram.mcs=32", "llc.slices_per_mc=16", "noc.topology=full"

TEST("a machine has at most 1,024 components, counting SMs, slices, controllers, networks and what atomics need") {
    CHECK_REJECTED(config_with(SETTINGS(MANY, "sm.count=512", "gpu.clusters=16", "llc.organisation=private")),
                   "llc.slices_per_mc", "16 slices at each of 32 controllers", "512 SMs", "1123 components");
    CHECK_REJECTED(config_with(SETTINGS(MANY, "sm.count=486", "gpu.clusters=9")), "llc.slices_per_mc",
                   "1033 components");
    config_destroy(run_config(NULL, SETTINGS(MANY, "sm.count=477", "gpu.clusters=9"))); /* 1,024 */
}

TEST("tick order and polling do not change the counters of a minimal machine") {
    static const struct run_options options[] = {{.shuffle = 5}, {.no_skip = true}};
    for (unsigned w = 0; w < COUNT_OF(workloads); w++) {
        struct counters expected = {0};
        for (unsigned i = 0; i < 3; i++) {
            struct run *run = run_make(
                NULL, workloads[w], SETTINGS(NARROW, "workload.ctas=8", "workload.warps=2", "workload.iterations=6"));
            run_go(run, i == 0 ? (struct run_options){0} : options[i - 1]);
            if (i == 0)
                expected = counters_of(run);
            else
                CHECK(counters_equal(run, &expected));
            run_destroy(run);
        }
        free(expected.value);
    }
}

TEST("max_instructions ends a run after N issued instructions, and accesses in flight still drain") {
    for (unsigned w = 0; w < COUNT_OF(workloads); w++) {
        struct run *run = run_make("fermi-15sm", workloads[w],
                                   SETTINGS("workload.ctas=1000", "workload.iterations=1000", "workload.kernels=3"));
        run_go(run, (struct run_options){.max_instructions = 2000}); /* ends well: all conservation checks hold */
        CHECK(run->result.thread_instructions >= 2000);
        CHECK(run->result.warp_instructions < workload_warp_instructions(run->source) / 10);
        CHECK_EQ(run->result.cycles % RUN_QUANTUM, 0u);
        CHECK_EQ(run->result.kernel_count, 1u);
        CHECK_EQ(run_count(run, "sm.warp_instructions"),
                 run->result.warp_instructions); /* none issued while it drained */
        run_destroy(run);
    }
}

TEST("a limit that is not reached changes nothing") {
    struct run *plain = run_make("fermi-15sm", "synth:copy", SETTINGS("workload.ctas=20", "workload.iterations=3"));
    struct run *limited = run_make("fermi-15sm", "synth:copy", SETTINGS("workload.ctas=20", "workload.iterations=3"));
    run_go(plain, (struct run_options){0});
    run_go(limited, (struct run_options){.max_instructions = 1000000000});
    struct counters expected = counters_of(plain);
    CHECK(counters_equal(limited, &expected));
    free(expected.value);
    run_destroy(plain);
    run_destroy(limited);
}

static bool stop_at_once(void *user, const struct run_progress *progress) {
    *(struct run_progress *)user = *progress;
    return false;
}

TEST("an interrupted run reports its progress") {
    struct run_progress seen = {0};
    struct run *run = run_make("fermi-15sm", "synth:alu", NO_SETTINGS);
    run_try(run, (struct run_options){.progress = stop_at_once, .user = &seen});
    CHECK_EQ((int)run->status, (int)RUN_INTERRUPTED);
    CHECK_EQ(run->result.cycles, RUN_QUANTUM);
    CHECK_EQ(seen.cycles, RUN_QUANTUM);
    CHECK_EQ(run->result.warp_instructions, seen.warp_instructions);
    CHECK(seen.warp_instructions > 0);
    run_destroy(run);
}

/* Progress never goes back, and kernels end only after all their CTAs. */
static bool follow(void *user, const struct run_progress *progress) {
    struct run_progress *last = user;
    const struct program_progress *now = &progress->program[0], *before = &last->program[0];
    CHECK_EQ(progress->programs, 1u);
    CHECK_EQ(now->warp_instructions, progress->warp_instructions);
    CHECK(now->warp_instructions >= before->warp_instructions && now->kernels >= before->kernels);
    CHECK(now->kernels > before->kernels || now->ctas >= before->ctas);
    if (now->kernel) CHECK(now->ctas <= kernel_ctas(now->kernel));
    if (now->kernel) CHECK_EQ(now->threads, now->kernels * kernel_ctas(now->kernel) * kernel_threads(now->kernel));
    *last = *progress;
    return true;
}

TEST("the progress of a run counts kernels and the CTAs of the one under way") {
    struct run_progress last = {0};
    struct run *run = run_make("fermi-15sm", "synth:alu", SETTINGS("workload.kernels=3", "workload.ctas=200"));
    run_try(run, (struct run_options){.progress = follow, .user = &last});
    CHECK_EQ((int)run->status, (int)RUN_DONE);
    CHECK_EQ(last.program[0].kernels, 2u);
    CHECK(last.program[0].ctas > 0);
    run_destroy(run);
}

TEST("a program whose CTAs do not fit is rejected with the setting that is too small") {
    struct run *run =
        run_make("fermi-15sm", "synth:alu", SETTINGS("workload.warps=32", "sm.warps=16", "sm.threads=512"));
    run_try(run, (struct run_options){0});
    CHECK_EQ((int)run->status, (int)RUN_REFUSED);
    CHECK_TEXT(run->err.text, "sm.warps");
    CHECK(!run->result.diagnosis);
    run_destroy(run);
}

TEST("a run in which a warp waits for warps that never arrive fails, and the diagnosis names the SM and the barrier") {
    static const struct run_options ways[] = {{0}, {.no_skip = true}};
    struct step waits[] = {alu(OP_other, 1, 0), barrier(5, 3), alu(OP_other, 2, 0)}, passes[] = {alu(OP_other, 1, 0)};
    for (unsigned i = 0; i < COUNT_OF(ways); i++) {
        struct script_source source =
            script_make(3, 2, SCRIPT(passes)); /* warp 1 of CTA 2, on SM 2, waits at barrier 5 for two more */
        for (unsigned warp = 1; warp < 5; warp++) script_add(&source, SCRIPT(passes));
        script_add(&source, SCRIPT(waits));
        struct run *run = run_of("fermi-15sm", &source.source, SETTINGS("gpu.progress_limit=2000"));
        run_try(run, ways[i]);
        CHECK_EQ((int)run->status, (int)RUN_FAILED);
        CHECK_TEXT(run->err.text, "deadlocked");
        REQUIRE(run->result.diagnosis);
        CHECK_TEXT(run->result.diagnosis, "sm 2: 1 CTAs");
        CHECK_TEXT(run->result.diagnosis, "1 at a barrier");
        CHECK_TEXT(run->result.diagnosis, "barrier 5 of CTA 2: 1 of 3 warps");
        CHECK_TEXT(run->result.diagnosis, "3 CTAs, 3 started, 2 ended");
        CHECK(!strstr(run->result.diagnosis, "sm 0"));
        run_destroy(run);
    }
}

TEST("a slow memory drains after the end of a run that is longer than gpu.progress_limit") {
    struct run *run = run_make("adaptive-80sm", "synth:copy",
                               SETTINGS("dram.clock_mhz=10", "llc.slice_kb=2", "llc.sets=0", "workload.iterations=1",
                                        "gpu.progress_limit=10000"));
    run_go(run, (struct run_options){0});
    CHECK(run->result.cycles > 10000);
    CHECK_EQ(run_count(run, "dram.write_bytes") > 0, true);
    run_destroy(run);
}

TEST("a launch longer than gpu.progress_limit is not a deadlock, also when everything is polled") {
    struct step steps[] = {alu(OP_other, 1, 0)};
    for (unsigned polled = 0; polled < 2; polled++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.kernels = 2;
        struct run *run =
            run_of("fermi-15sm", &source.source, SETTINGS("gpu.launch_cycles=9000", "gpu.progress_limit=2000"));
        run_go(run, (struct run_options){.no_skip = polled});
        CHECK(run->result.cycles > 18000 && run->result.cycles < 22000);
        run_destroy(run);
    }
}

/* All samples of a column. */
static uint64_t series_sum(const struct series *series, unsigned column) {
    uint64_t sum = 0;
    for (unsigned row = 0; row < series_rows(series); row++) sum += series_value(series, row, column);
    return sum;
}

TEST("the rows of a time series add up to the totals, for every period, and end where the run ends") {
    static const uint64_t periods[] = {1, 7, 100, 1024, 1000000};
    for (unsigned limited = 0; limited < 2; limited++)
        for (unsigned i = 0; i < COUNT_OF(periods); i++) {
            struct run *run = run_make("fermi-15sm", "synth:copy",
                                       SETTINGS("workload.ctas=20", "workload.iterations=2", "workload.kernels=3",
                                                "llc.slice_kb=16", "llc.sets=8"));
            run_go(run, (struct run_options){.sample_cycles = periods[i], .max_instructions = limited ? 3000 : 0});
            const struct stats *stats = machine_stats(run->machine);
            const struct series *series = run->result.series;
            REQUIRE(series && series_rows(series) > 0);
            for (unsigned column = 0; column < stats_count(stats); column++)
                REQUIRE(stats_stat(stats, column)->kind != STAT_SUM ||
                        series_sum(series, column) == stats_total(stats, column));
            for (unsigned row = 0; row + 1 < series_rows(series); row++)
                REQUIRE(series_cycle(series, row) == (row + 1) * periods[i]);
            CHECK_EQ(series_cycle(series, series_rows(series) - 1), run->result.cycles);
            CHECK_EQ(series_rows(series), div_up(run->result.cycles, periods[i]));
            run_destroy(run);
        }
}

TEST("a kernel starts launch_cycles after the previous one, with empty L1s if they are flushed") {
    struct step steps[] = {load_line(1, 0x10000000), alu(OP_other, 2, 1)};
    struct {
        const char *launch, *flush;
        unsigned misses;
    } cases[] = {{"gpu.launch_cycles=0", "l1.flush_at_kernel_end=true", 3},
                 {"gpu.launch_cycles=5000", "l1.flush_at_kernel_end=true", 3},
                 {"gpu.launch_cycles=5000", "l1.flush_at_kernel_end=false", 1}};
    uint64_t last[3];
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.kernels = 3;
        struct run *run = run_of("fermi-15sm", &source.source, SETTINGS(cases[i].launch, cases[i].flush));
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.read_misses"), cases[i].misses);
        CHECK_EQ(run_count(run, "l1.read_hits"), 3 - cases[i].misses);
        REQUIRE(run->result.kernel_count == 3);
        last[i] = run->result.kernels[2].cycles;
        run_destroy(run);
    }
    CHECK_EQ(last[1], last[0] + 5000);
}

TEST("a machine with more components than the engine supports is rejected with the settings at fault") {
    static const char *const settings[][4] = {{"dram.mcs=64", "llc.slices_per_mc=16", "sm.count=8"},
                                              {"dram.mcs=32", "llc.slices_per_mc=64", "sm.count=8"},
                                              {"dram.mcs=32", "llc.slices_per_mc=16", "sm.count=512"}};
    for (unsigned i = 0; i < COUNT_OF(settings); i++) {
        struct config *config = config_with(settings[i]);
        struct error err = {0};
        struct machine *machine = config_check(config, &err) ? machine_create(config, &err) : NULL;
        CHECK(!machine);
        CHECK_TEXT(err.text, "llc.slices_per_mc");
        if (machine) machine_destroy(machine);
        config_destroy(config);
    }
}

TEST("a machine of one SM, one slice and one controller works, and so does one with the most SMs") {
    const char *const *sizes[] = {
        SETTINGS("sm.count=1", "gpu.clusters=1", "llc.slices_per_mc=1", "dram.mcs=1", "noc.topology=full",
                 "workload.ctas=3", "workload.iterations=2"),
        SETTINGS("sm.count=512", "gpu.clusters=8", "llc.slices_per_mc=8", "dram.mcs=8", "noc.topology=hierarchical",
                 "workload.ctas=512", "workload.iterations=1"),
    };
    for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
        struct run *run = run_make(NULL, "synth:copy", sizes[i]);
        run_go(run, (struct run_options){0});
        CHECK_EQ(run->result.warp_instructions, workload_warp_instructions(run->source));
        run_destroy(run);
    }
}
