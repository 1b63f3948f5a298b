/* How many clusters want a line at about the same time, as the LLC's observer counts it. */
#include "machine/runs.h"

/* The share of lines that several clusters access within a window. */
static double several(const char *workload) {
    struct run *run = run_make("adaptive-80sm", workload, SETTINGS("llc.sharing_window=1000", "workload.iterations=4"));
    run_go(run, (struct run_options){0});
    double one = (double)run_count(run, "sharing.lines_1"),
           more = (double)(run_count(run, "sharing.lines_2") + run_count(run, "sharing.lines_4") +
                           run_count(run, "sharing.lines_8") + run_count(run, "sharing.lines_more"));
    CHECK(one + more > 0);
    run_destroy(run);
    return more / (one + more);
}

TEST("hot lines are read by several clusters at once, and lines of a stream never") {
    CHECK_NEAR(several("synth:hotline"), 1.0, 0.01);
    CHECK(several("synth:stream") < 0.001); /* the program's own code is read by all */
}

TEST("observing sharing changes no counter") {
    struct run *plain = run_make("adaptive-80sm", "synth:shared", SETTINGS("workload.iterations=2")),
               *watched = run_make("adaptive-80sm", "synth:shared",
                                   SETTINGS("workload.iterations=2", "llc.sharing_window=100"));
    run_go(plain, (struct run_options){0});
    run_go(watched, (struct run_options){0});
    CHECK_EQ(plain->result.cycles, watched->result.cycles);
    CHECK_EQ(run_count(plain, "llc.read_hits"), run_count(watched, "llc.read_hits"));
    run_destroy(plain);
    run_destroy(watched);
}

TEST("counts the SMs that read a read-only line at once: all for hot lines, one for a stream") {
    static const char *const workloads[] = {"synth:hotline", "synth:stream"};
    for (unsigned i = 0; i < COUNT_OF(workloads); i++) {
        struct run *run =
            run_make("selrep-64sm", workloads[i], SETTINGS("llc.sharing_window=1000", "workload.iterations=4"));
        run_go(run, (struct run_options){0});
        static const char *const fewer[] = {"sharing.read_only_2", "sharing.read_only_4", "sharing.read_only_8",
                                            "sharing.read_only_9"};
        uint64_t middle = 0, one = run_count(run, "sharing.read_only_1"),
                 more = run_count(run, "sharing.read_only_more");
        for (unsigned k = 0; k < COUNT_OF(fewer); k++) middle += run_count(run, fewer[k]);
        CHECK(i == 0 ? more > 0 : one > 0);
        CHECK_NEAR((double)(i == 0 ? more : one) / (double)(one + middle + more), 1.0, 0.02);
        run_destroy(run);
    }
}
