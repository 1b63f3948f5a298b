/* Bandwidth limits of the machine: the port of a hot line's home, the replicas of a private LLC, the memory bus.
 * Rates are differences between two lengths of a run, so that start and end cancel. */
#include "machine/runs.h"

/* What `counter` grows by per cycle. */
static double rate(const char *gpu, const char *workload, const char *counter, const char *const *brief_settings,
                   const char *const *long_settings) {
    struct run *brief = run_make(gpu, workload, brief_settings), *lengthy = run_make(gpu, workload, long_settings);
    run_go(brief, (struct run_options){0});
    run_go(lengthy, (struct run_options){0});
    double grown = (double)(run_count(lengthy, counter) - run_count(brief, counter));
    double cycles = (double)(lengthy->result.cycles - brief->result.cycles);
    run_destroy(brief);
    run_destroy(lengthy);
    return grown / cycles;
}

/* Replies with data per cycle and hot line. */
#define HOT(...) \
    (rate("adaptive-80sm", "synth:hotline", "llc.data_replies", SETTINGS("workload.iterations=4", __VA_ARGS__), \
          SETTINGS("workload.iterations=8", __VA_ARGS__)) / \
     2)

TEST_LONG_SANITIZED("a shared LLC supplies from a hot line's home what one input of its router carries") {
    /* Five flits a line. Between packets a router with one VC idles for two cycles, unless others fill them. */
    CHECK_NEAR(HOT("noc.internal_speedup=1"), 1.0 / 7, 0.03);
    CHECK_NEAR(HOT("noc.internal_speedup=1", "noc.vcs=4"), 1.0 / 5, 0.03);
    CHECK_NEAR(HOT("noc.internal_speedup=2"), 1.0 / 5, 0.03);
}

TEST_LONG_SANITIZED("a private LLC with a replica for each of eight clusters supplies at least seven times as much") {
    double shared = HOT("llc.organisation=shared"), private = HOT("llc.organisation=private");
    CHECK(private >= 7 * shared);
    CHECK(private <= 8 * shared);
}

TEST_LONG_SANITIZED("synth:stream reaches 85 % of the DRAM bandwidth of every machine, and never exceeds it") {
    static const struct {
        const char *gpu;
        double peak_gb;
    } cases[RUN_GPUS] = {{"adaptive-80sm", 900.1}, {"selrep-64sm", 600.06}, {"icc-32sm", 177.41}, {"fermi-15sm", 67.2}};
    for (unsigned i = 0; i < RUN_GPUS; i++) {
        double peak = cases[i].peak_gb / 1.4; /* bytes per cycle */
        double read = rate(cases[i].gpu, "synth:stream", "dram.read_bytes", SETTINGS("workload.iterations=24"),
                           SETTINGS("workload.iterations=48"));
        CHECK(read >= 0.85 * peak);
        CHECK(read <= peak);
    }
}
