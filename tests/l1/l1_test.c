/* The parts of l1/l1.c: checks of the configuration, observers, and calls that a policy need not support. */
#include "test.h"

#include "l1/l1_fixture.h"

static void check_settings(const char *const *settings, const char *why) {
    struct error err = {0};
    struct config *config = config_checked(settings, NO_SETTINGS, &err);
    CHECK_EQ(config == NULL, why != NULL);
    if (why) CHECK_TEXT(err.text, why);
    config_destroy(config);
}

TEST("an L1 has one observer of accesses, and observes duplication among at most 64 groups") {
    check_settings(SETTINGS("l1.observe_shared_data=true"), NULL);
    check_settings(SETTINGS("l1.observe_reuse=reads"), NULL);
    check_settings(SETTINGS("l1.observe_shared_data=true", "l1.observe_reuse=reads"),
                   "only one observer of accesses is supported, and l1.observe_reuse=reads is enabled");
    check_settings(SETTINGS("sm.count=64", "gpu.clusters=1", "l1.observe_duplication=true"), NULL);
    check_settings(SETTINGS("sm.count=65", "gpu.clusters=1", "l1.observe_duplication=true"),
                   "at most 64 groups are supported, not 65");
    check_settings(SETTINGS("sm.count=65", "gpu.clusters=1"), NULL);
}

TEST("observers count the accesses of an L1 if they are enabled, and only then") {
    static const char *const observers[][2] = {{"l1.observe_duplication=true", "duplication.misses"},
                                               {"l1.observe_reuse=reads", "reuse.accesses"},
                                               {"l1.observe_shared_data=true", "shared_data.lines"}};
    for (unsigned i = 0; i <= COUNT_OF(observers); i++) {
        struct l1_fixture *l1 = l1_fixture_create(i < COUNT_OF(observers) ? SETTINGS(observers[i][0]) : NO_SETTINGS);
        REPLAY(l1, "m", 0x1000);
        for (unsigned k = 0; k < COUNT_OF(observers); k++)
            CHECK_EQ(stats_find(l1->base.stats, observers[k][1]) >= 0, k == i);
        if (i < 2) CHECK_EQ(COUNTER(l1, observers[i][1]), 1u);
        l1_fixture_destroy(l1);
    }
}

TEST("kernels may begin and end with every insertion policy") {
    static const char *const policies[] = {"l1.insertion=always", "l1.insertion=never", "l1.insertion=pdp",
                                           "l1.insertion=profiled", "l1.insertion=mrpb"};
    for (unsigned i = 0; i < COUNT_OF(policies); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS(policies[i]));
        struct error err = {0};
        for (unsigned kernel = 0; kernel < 2; kernel++) l1_begin(l1->l1, kernel);
        CHECK(l1_finish(l1->l1, &err));
        l1_fixture_destroy(l1);
    }
}

TEST("sets are derived from size and ways, or checked against them") {
    check_settings(SETTINGS("l1.size_kb=16", "l1.ways=4", "l1.sets=32"), NULL);
    check_settings(SETTINGS("l1.size_kb=16", "l1.ways=4", "l1.sets=16"), "16 KB is not l1.sets");
    check_settings(SETTINGS("l1.size_kb=16", "l1.ways=3"), "or a number of ways that divides 128");
    struct config *config = config_with(SETTINGS("l1.size_kb=16", "l1.ways=4"));
    CHECK_EQ(l1_sets(config), 32u);
    config_destroy(config);
}

TEST("without allocation no read hits") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.insertion=never"));
    REPLAY(l1, "bbb", 0x1000, 0x1000, 0x2000);
    CHECK_EQ(COUNTER(l1, "l1.read_bypasses"), 3u);
    l1_fixture_destroy(l1);
}

TEST("a group has at most 256 SMs and nodes") {
    check_settings(SETTINGS("l1.organisation=clustered", "gpu.clusters=1", "sm.count=256"), NULL);
    check_settings(SETTINGS("l1.organisation=clustered", "gpu.clusters=1", "sm.count=257"),
                   "a group has at most 256 SMs and nodes, not 257 and 257");
}
