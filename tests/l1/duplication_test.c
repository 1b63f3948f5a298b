#include "l1/duplication.h"

#include "l1/observer_fixture.h"

/* Groups of two L1s: even lines are at the first of a group, odd lines at the second. */
static struct observer_fixture *observed(unsigned groups) {
    struct observer_fixture *fixture = observer_fixture_create();
    duplication_observe(&fixture->fake.l1, (struct l1_shape){groups, 2}, fixture->stats);
    return fixture;
}

static void note(struct observer_fixture *fixture, enum l1_event event, unsigned group, uint64_t line) {
    struct l1_watch *watch = fixture->fake.l1.watch;
    watch->observe(watch, group * 2 + line % 2, event, line, fixture->now);
}

/* One event, then the end of the cycle. */
static void one(struct observer_fixture *fixture, enum l1_event event, unsigned group, uint64_t line) {
    note(fixture, event, group, line);
    fixture->now++;
}

static uint64_t counter(const struct observer_fixture *fixture, const char *name, int group) {
    char full[64];
    snprintf(full, sizeof full, "duplication.%s", name);
    int index = stats_find(fixture->stats, full);
    REQUIRE(index >= 0);
    return group < 0 ? stats_total(fixture->stats, (unsigned)index)
                     : stats_instance(fixture->stats, (unsigned)index, (unsigned)group);
}

TEST("a miss is counted by the number of other groups that hold its line: 0, 1, 2, 3 to 4, 5 to 7, more") {
    static const char *const bin[] = {"copies_0", "copies_1", "copies_2", "copies_4",    "copies_4",
                                      "copies_7", "copies_7", "copies_7", "copies_more", "copies_more"};
    struct observer_fixture *fixture = observed(10);
    for (unsigned copies = 0; copies < 10; copies++) {
        uint64_t before = counter(fixture, bin[copies], 9);
        one(fixture, L1_EVENT_MISS, 9, 6);
        CHECK_EQ(counter(fixture, bin[copies], 9), before + 1);
        one(fixture, L1_EVENT_INSERT, copies, 6);
    }
    CHECK_EQ(counter(fixture, "misses", 9), 10u);
    CHECK_EQ(counter(fixture, "misses", -1), 10u);
    observer_fixture_destroy(fixture);
}

TEST("the matrix counts which groups held the line of a miss; adjacent groups are neighbours on the ring") {
    struct observer_fixture *fixture = observed(8);
    one(fixture, L1_EVENT_INSERT, 2, 7);
    one(fixture, L1_EVENT_INSERT, 5, 7);
    one(fixture, L1_EVENT_INSERT, 7, 9);
    one(fixture, L1_EVENT_MISS, 0, 7); /* 2 and 5 are no neighbours of 0, */
    CHECK_EQ(counter(fixture, "adjacent", -1), 0u);
    one(fixture, L1_EVENT_MISS, 0, 9); /* but 7 is, */
    CHECK_EQ(counter(fixture, "adjacent", 0), 1u);
    one(fixture, L1_EVENT_MISS, 3, 7); /* and 2 one of 3 */
    one(fixture, L1_EVENT_MISS, 1, 7);
    CHECK_EQ(counter(fixture, "adjacent", 3), 1u);
    CHECK_EQ(counter(fixture, "adjacent", 1), 1u);
    static const unsigned expected[][3] = {{0, 2, 1}, {0, 5, 1}, {0, 7, 1}, {3, 2, 1}, {3, 5, 1}, {1, 2, 1}, {3, 4, 0}};
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        char name[16];
        snprintf(name, sizeof name, "held_by_%u", expected[i][1]);
        CHECK_EQ(counter(fixture, name, (int)expected[i][0]), expected[i][2]);
    }
    observer_fixture_destroy(fixture);
}

TEST("the ring of groups closes for any number of them") {
    for (unsigned groups = 3; groups <= 10; groups++) {
        struct observer_fixture *fixture = observed(groups);
        one(fixture, L1_EVENT_INSERT, groups - 1, 7);
        one(fixture, L1_EVENT_INSERT, 0, 9);
        one(fixture, L1_EVENT_MISS, 0, 7);
        CHECK_EQ(counter(fixture, "adjacent", 0), 1u);
        one(fixture, L1_EVENT_MISS, groups - 1, 9);
        CHECK_EQ(counter(fixture, "adjacent", (int)groups - 1), 1u);
        observer_fixture_destroy(fixture);
    }
}

TEST("evicted lines, and all lines of an invalidated node, are no longer held") {
    struct observer_fixture *fixture = observed(8);
    for (unsigned group = 1; group < 5; group++) one(fixture, L1_EVENT_INSERT, group, 6);
    one(fixture, L1_EVENT_INSERT, 1, 8);
    one(fixture, L1_EVENT_INSERT, 1, 7); /* at the other node */
    one(fixture, L1_EVENT_REMOVE, 2, 6);
    one(fixture, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(fixture, "copies_4", 0), 1u);
    one(fixture, L1_EVENT_INVALIDATE, 1, 0);
    one(fixture, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(fixture, "copies_2", 0), 1u);
    one(fixture, L1_EVENT_MISS, 0, 8);
    CHECK_EQ(counter(fixture, "copies_0", 0), 1u);
    one(fixture, L1_EVENT_MISS, 0, 7);
    CHECK_EQ(counter(fixture, "copies_1", 0), 1u);
    for (unsigned group = 0; group < 8; group++) note(fixture, L1_EVENT_INVALIDATE, group, 0);
    fixture->now++;
    one(fixture, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(fixture, "copies_0", 0), 2u);
    observer_fixture_destroy(fixture);
}

TEST("the own group does not count as a holder, and a miss sees the state at the start of its cycle") {
    for (unsigned first = 0; first < 2; first++) {
        struct observer_fixture *fixture = observed(8);
        one(fixture, L1_EVENT_INSERT, 0, 6);
        one(fixture, L1_EVENT_INSERT, 1, 6);
        if (first) note(fixture, L1_EVENT_MISS, 0, 6);
        note(fixture, L1_EVENT_REMOVE, 1, 6);
        note(fixture, L1_EVENT_INSERT, 2, 6);
        note(fixture, L1_EVENT_INSERT, 3, 6);
        if (!first) note(fixture, L1_EVENT_MISS, 0, 6);
        fixture->now++;
        CHECK_EQ(counter(fixture, "copies_1", 0), 1u);
        one(fixture, L1_EVENT_MISS, 0, 6);
        CHECK_EQ(counter(fixture, "copies_2", 0), 1u);
        observer_fixture_destroy(fixture);
    }
}

TEST("a group that fetches a line counts with lines in flight only, until it is filled or stale") {
    struct observer_fixture *fixture = observed(8);
    one(fixture, L1_EVENT_INSERT, 5, 6);
    one(fixture, L1_EVENT_MISS, 1, 6);
    one(fixture, L1_EVENT_MISS, 2, 6);
    CHECK_EQ(counter(fixture, "all_copies_1", 1), 1u); /* group 5 */
    CHECK_EQ(counter(fixture, "all_copies_2", 2), 1u); /* and group 1, its neighbour */
    CHECK_EQ(counter(fixture, "copies_1", 2), 1u);
    CHECK_EQ(counter(fixture, "all_adjacent", 2), 1u);
    CHECK_EQ(counter(fixture, "adjacent", 2), 0u);
    one(fixture, L1_EVENT_INSERT, 1, 6);
    one(fixture, L1_EVENT_STORE, 2, 6); /* its line in flight will be dropped */
    one(fixture, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(fixture, "copies_2", 0), 1u);
    CHECK_EQ(counter(fixture, "all_copies_2", 0), 1u);
    one(fixture, L1_EVENT_REMOVE, 1, 6);
    one(fixture, L1_EVENT_MISS, 3, 6);
    CHECK_EQ(counter(fixture, "copies_1", 3), 1u);
    CHECK_EQ(counter(fixture, "all_copies_2", 3), 1u); /* groups 0 and 5 */
    observer_fixture_destroy(fixture);
}
