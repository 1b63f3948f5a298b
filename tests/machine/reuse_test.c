/* The reuse that the L1s' observer sees in whole runs. */
#include "machine/runs.h"

TEST("observing reuse changes no counter, and its counts add up to those of the L1") {
    static const char *const kinds[] = {"l1.observe_reuse=reads", "l1.observe_reuse=all"};
    struct run *plain = run_make("fermi-15sm", "synth:shared", SETTINGS("workload.iterations=2"));
    run_go(plain, (struct run_options){0});
    uint64_t reads = run_count(plain, "l1.read_hits") + run_count(plain, "l1.read_pending_hits") +
                     run_count(plain, "l1.read_misses"),
             writes = run_count(plain, "l1.write_hits") + run_count(plain, "l1.write_misses");
    for (unsigned k = 0; k < COUNT_OF(kinds); k++) {
        struct run *watched = run_make("fermi-15sm", "synth:shared", SETTINGS("workload.iterations=2", kinds[k]));
        const struct stats *stats = machine_stats(watched->machine);
        run_go(watched, (struct run_options){0});
        CHECK_EQ(plain->result.cycles, watched->result.cycles);
        CHECK_EQ(run_count(watched, "llc.read_hits"), run_count(plain, "llc.read_hits"));
        CHECK_EQ(run_count(watched, "reuse.accesses"), reads + (k == 1 ? writes : 0));
        uint64_t again = 0;
        for (unsigned i = 0; i < stats_count(stats); i++) {
            char name[64];
            stats_name(stats, i, name, sizeof name);
            if (strncmp(name, "reuse.distance_", 15) == 0) again += stats_total(stats, i);
        }
        CHECK(again > 0);
        CHECK_EQ(run_count(watched, "reuse.lines_1") + again, run_count(watched, "reuse.accesses"));
        run_destroy(watched);
    }
    run_destroy(plain);
}

TEST("a stream has no reuse, and a small table that is read repeatedly has little else") {
    static const char *const workloads[] = {"synth:stream", "synth:uniform"};
    double shares[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run *run =
            run_make("fermi-15sm", workloads[i],
                     i == 0 ? SETTINGS("l1.observe_reuse=reads", "workload.iterations=2")
                            : SETTINGS("l1.observe_reuse=reads", "workload.iterations=2", "workload.footprint_kb=8"));
        run_go(run, (struct run_options){0});
        shares[i] = (double)(run_count(run, "reuse.lines_1") - run_count(run, "reuse.lines_2")) /
                    (double)run_count(run, "reuse.accesses");
        run_destroy(run);
    }
    CHECK_NEAR(shares[0], 1.0, 0.001);
    CHECK(shares[1] < 0.05);
}
