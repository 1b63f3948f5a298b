#include "test.h"

#include "gpu/duel.h"

#define RULE(POINTS) \
    { .interval_cycles = 500, .threshold_percent = 10, .least_reads = 32, .in_points = (POINTS) }
#define FOLLOW \
    { .interval_cycles = 500, .threshold_percent = 10, .least_reads = 32, .contestants_follow = true }

static bool report(struct duel *duel, unsigned contestant, uint64_t interval, uint32_t reads, uint32_t misses) {
    return duel_receive(duel, contestant, &(struct duel_report){interval, reads, misses, 0});
}

TEST("the followers of a duel start with the conventional cache, adopt a policy that misses no more, and change back") {
    struct duel duel = {.rule = RULE(true)};
    CHECK(!duel.policy);
    CHECK(!report(&duel, 0, 0, 100, 40));
    CHECK(report(&duel, 1, 0, 100, 60));
    CHECK(duel.policy);
    CHECK(!report(&duel, 1, 1, 100, 60)); /* the other has not reported in this interval */
    CHECK(!report(&duel, 0, 1, 100, 50)); /* still better */
    CHECK(!report(&duel, 0, 2, 100, 81));
    CHECK(report(&duel, 1, 2, 100, 70));
    CHECK(!duel.policy);
    report(&duel, 0, 3, 100, 10);
    CHECK(report(&duel, 1, 3, 100, 70));
    CHECK(duel.policy);
}

TEST("a policy is followed while its miss rate exceeds the conventional cache's by at most the threshold") {
    static const struct {
        uint32_t reads[2], misses[2];
        bool in_points, policy;
    } cases[] = {
        {{100, 100}, {44, 40}, false, true}, {{100, 100}, {45, 40}, false, false}, {{200, 50}, {88, 20}, false, true},
        {{200, 50}, {89, 20}, false, false}, {{1000, 1000}, {9, 8}, false, false}, {{1000, 1000}, {9, 8}, true, true},
        {{100, 100}, {50, 40}, true, true},  {{100, 100}, {51, 40}, true, false},  {{200, 50}, {100, 20}, true, true},
        {{200, 50}, {101, 20}, true, false}, {{100, 100}, {0, 0}, false, true},    {{100, 100}, {100, 91}, false, true},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct duel duel = {.rule = RULE(cases[i].in_points)};
        for (unsigned c = 0; c < 2; c++) report(&duel, c, 7, cases[i].reads[c], cases[i].misses[c]);
        CHECK_EQ(duel.policy, cases[i].policy);
    }
}

TEST("an interval in which either SM read little, or only one SM reported, decides nothing") {
    struct duel duel = {.rule = RULE(true)};
    CHECK(!report(&duel, 0, 0, 31, 0));
    CHECK(!report(&duel, 1, 0, 1000, 1000));
    CHECK(!report(&duel, 0, 1, 1000, 0));
    CHECK(!report(&duel, 1, 2, 1000, 1000));
    CHECK(!report(&duel, 0, 3, 1000, 0));
    CHECK(!report(&duel, 1, 3, 31, 31));
    CHECK(!duel.policy);
}

TEST("contestants that follow have one verdict in a round, which steers even if the followers keep their cache") {
    struct duel duel = {.rule = FOLLOW};
    CHECK(!report(&duel, 0, 0, 100, 90));
    CHECK(report(&duel, 1, 0, 100, 10));
    CHECK(!duel.policy);
    CHECK(!report(&duel, 0, 1, 100, 10)); /* both use the same cache now */
    CHECK(!report(&duel, 1, 1, 100, 90));
    CHECK(!duel.policy);
}

TEST("a round of a duel ignores reports of the one before") {
    struct duel duel = {.rule = FOLLOW};
    report(&duel, 0, 0, 100, 90);
    CHECK(report(&duel, 1, 0, 100, 10));
    duel_begin_round(&duel);
    CHECK(!report(&duel, 0, 4, 100, 10)); /* sent before the leaders received the new round */
    CHECK(!report(&duel, 1, 4, 100, 90));
    struct duel_report of_round[] = {{5, 100, 10, 1}, {5, 100, 90, 1}};
    CHECK(!duel_receive(&duel, 0, &of_round[0]));
    CHECK(duel_receive(&duel, 1, &of_round[1]));
    CHECK(duel.policy);
}
