#include "test.h"

#include "gpu/duel.h"

static bool report(struct duel *duel, unsigned contestant, uint64_t interval, uint32_t reads, uint32_t misses) {
    return duel_receive(duel, contestant, &(struct duel_report){interval, reads, misses});
}

TEST("the followers of a duel start with the conventional cache, adopt a policy that misses no more, and change back") {
    struct duel duel = {.rule = {500, 10, 32, true}};
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
        struct duel duel = {.rule = {500, 10, 32, cases[i].in_points}};
        for (unsigned c = 0; c < 2; c++) report(&duel, c, 7, cases[i].reads[c], cases[i].misses[c]);
        CHECK_EQ(duel.policy, cases[i].policy);
    }
}

TEST("an interval in which either SM read little, or only one SM reported, decides nothing") {
    struct duel duel = {.rule = {500, 10, 32, true}};
    CHECK(!report(&duel, 0, 0, 31, 0));
    CHECK(!report(&duel, 1, 0, 1000, 1000));
    CHECK(!report(&duel, 0, 1, 1000, 0));
    CHECK(!report(&duel, 1, 2, 1000, 1000));
    CHECK(!report(&duel, 0, 3, 1000, 0));
    CHECK(!report(&duel, 1, 3, 31, 31));
    CHECK(!duel.policy);
}
