/* What the observer of duplication sees in whole runs. */
#include "machine/runs.h"

TEST("observing duplication changes no counter, and counts every read that fetches its line once") {
    struct run *plain = run_make("fermi-15sm", "synth:shared", SETTINGS("workload.iterations=2"));
    struct run *watched =
        run_make("fermi-15sm", "synth:shared", SETTINGS("workload.iterations=2", "l1.observe_duplication=true"));
    run_go(plain, (struct run_options){0});
    run_go(watched, (struct run_options){0});
    CHECK_EQ(plain->result.cycles, watched->result.cycles);
    CHECK_EQ(run_count(watched, "l1.read_hits"), run_count(plain, "l1.read_hits"));
    uint64_t misses = run_count(watched, "duplication.misses");
    CHECK_EQ(misses, run_count(plain, "l1.read_misses"));
    CHECK_EQ(misses, run_count(watched, "duplication.copies_0") + run_count(watched, "duplication.copies_1") +
                         run_count(watched, "duplication.copies_2") + run_count(watched, "duplication.copies_4") +
                         run_count(watched, "duplication.copies_7") + run_count(watched, "duplication.copies_more"));
    CHECK(run_count(watched, "duplication.copies_0") < misses); /* all SMs read the same lines */
    run_destroy(plain);
    run_destroy(watched);
}

TEST("SMs that stream private data hold nothing that another SM misses") {
    struct run *run =
        run_make("fermi-15sm", "synth:stream", SETTINGS("workload.iterations=2", "l1.observe_duplication=true"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "duplication.misses") > 0);
    CHECK_EQ(run_count(run, "duplication.copies_0"), run_count(run, "duplication.misses"));
    run_destroy(run);
}

TEST("more groups than the observer distinguishes are rejected at their setting") {
    struct config *config = run_config("adaptive-80sm", NO_SETTINGS);
    struct error err = {0};
    REQUIRE(config_set(config, "l1.observe_duplication=true", &err));
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "l1.observe_duplication");
    CHECK_TEXT(err.text, "at most 64 groups are supported, not 80");
    config_destroy(config);
}
