/* What the observer of shared data sees in whole runs. */
#include "machine/runs.h"

TEST("observing shared data changes no counter; it counts every read of lines that all SMs read, and none of streams") {
    static const char *const workloads[] = {"synth:shared", "synth:stream"};
    for (unsigned i = 0; i < COUNT_OF(workloads); i++) {
        const char *const settings[] = {"workload.iterations=2", i == 0 ? "workload.private_loads=0" : NULL, NULL,
                                        NULL};
        const char *const seen[] = {"l1.observe_shared_data=true", settings[0], settings[1], NULL};
        struct run *plain = run_make("selrep-64sm", workloads[i], settings);
        struct run *watched = run_make("selrep-64sm", workloads[i], seen);
        run_go(plain, (struct run_options){0});
        run_go(watched, (struct run_options){0});
        CHECK_EQ(plain->result.cycles, watched->result.cycles);
        static const char *const names[][2] = {{"shared_data.hits", "l1.read_hits"},
                                               {"shared_data.pending", "l1.read_pending_hits"},
                                               {"shared_data.misses", "l1.read_misses"}};
        for (unsigned k = 0; k < COUNT_OF(names); k++)
            CHECK_EQ(run_count(watched, names[k][0]), i == 0 ? run_count(plain, names[k][1]) : 0);
        CHECK_EQ(run_count(watched, "shared_data.lines"), run_count(watched, "shared_data.read_only_lines"));
        run_destroy(plain);
        run_destroy(watched);
    }
}

TEST("accesses have at most one observer") {
    struct config *config = run_config("selrep-64sm", SETTINGS("l1.observe_reuse=all"));
    struct error err = {0};
    REQUIRE(config_set(config, "l1.observe_shared_data=true", &err));
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "l1.observe_shared_data");
    CHECK_TEXT(err.text, "only one observer of accesses is supported, and l1.observe_reuse=all is enabled");
    config_destroy(config);
}
