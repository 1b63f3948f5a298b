#include "test.h"

#include <stdio.h>
#include <string.h>

#include "l1/duplication.h"

static void fake_destroy(struct l1 *l1) { l1->ops = NULL; }
static const struct l1_ops fake_ops = {.destroy = fake_destroy};

/* Groups of two L1s: even lines are at the first of a group, odd lines at the second. */
struct stand {
    struct stats *stats;
    struct l1 l1;
    uint64_t now;
};

static struct stand stand_make(unsigned groups) {
    struct stand stand = {.stats = stats_create(), .l1 = {.ops = &fake_ops}};
    duplication_observe(&stand.l1, (struct l1_shape){groups, 2}, stand.stats);
    return stand;
}

static void stand_end(struct stand *stand) {
    stand->l1.ops->destroy(&stand->l1);
    CHECK(stand->l1.ops == NULL);
    stats_destroy(stand->stats);
}

static void note(struct stand *stand, enum l1_event event, unsigned group, uint64_t line) {
    stand->l1.watch->observe(stand->l1.watch, group * 2 + line % 2, event, line, stand->now);
}

/* One event, and the cycle is over. */
static void one(struct stand *stand, enum l1_event event, unsigned group, uint64_t line) {
    note(stand, event, group, line);
    stand->now++;
}

static uint64_t counter(const struct stand *stand, const char *name, int group) {
    char full[64];
    snprintf(full, sizeof full, "duplication.%s", name);
    int index = stats_find(stand->stats, full);
    REQUIRE(index >= 0);
    return group < 0 ? stats_total(stand->stats, (unsigned)index)
                     : stats_instance(stand->stats, (unsigned)index, (unsigned)group);
}

TEST("a miss is counted by how many other groups hold its line: 0, 1, 2, 3 to 4, 5 to 7, more") {
    static const char *const bin[] = {"copies_0", "copies_1", "copies_2", "copies_4",    "copies_4",
                                      "copies_7", "copies_7", "copies_7", "copies_more", "copies_more"};
    struct stand stand = stand_make(10);
    for (unsigned copies = 0; copies < 10; copies++) {
        uint64_t before = counter(&stand, bin[copies], 9);
        one(&stand, L1_EVENT_MISS, 9, 6);
        CHECK_EQ(counter(&stand, bin[copies], 9), before + 1);
        one(&stand, L1_EVENT_INSERT, copies, 6);
    }
    CHECK_EQ(counter(&stand, "misses", 9), 10u);
    CHECK_EQ(counter(&stand, "misses", -1), 10u);
    stand_end(&stand);
}

TEST(
    "the matrix tells who held the line that a group missed, and the groups on both sides are adjacent, round the ring") {
    struct stand stand = stand_make(8);
    one(&stand, L1_EVENT_INSERT, 2, 7);
    one(&stand, L1_EVENT_INSERT, 5, 7);
    one(&stand, L1_EVENT_INSERT, 7, 9);
    one(&stand, L1_EVENT_MISS, 0, 7); /* 2 and 5 are no neighbours of 0, */
    CHECK_EQ(counter(&stand, "adjacent", -1), 0u);
    one(&stand, L1_EVENT_MISS, 0, 9); /* but 7 is, */
    CHECK_EQ(counter(&stand, "adjacent", 0), 1u);
    one(&stand, L1_EVENT_MISS, 3, 7); /* and 2 one of 3 */
    one(&stand, L1_EVENT_MISS, 1, 7);
    CHECK_EQ(counter(&stand, "adjacent", 3), 1u);
    CHECK_EQ(counter(&stand, "adjacent", 1), 1u);
    static const unsigned expected[][3] = {{0, 2, 1}, {0, 5, 1}, {0, 7, 1}, {3, 2, 1}, {3, 5, 1}, {1, 2, 1}, {3, 4, 0}};
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        char name[16];
        snprintf(name, sizeof name, "held_by_%u", expected[i][1]);
        CHECK_EQ(counter(&stand, name, (int)expected[i][0]), expected[i][2]);
    }
    stand_end(&stand);
}

TEST("a line that was evicted, and every line of a node that was emptied, is held no longer") {
    struct stand stand = stand_make(8);
    for (unsigned group = 1; group < 5; group++) one(&stand, L1_EVENT_INSERT, group, 6);
    one(&stand, L1_EVENT_INSERT, 1, 8);
    one(&stand, L1_EVENT_INSERT, 1, 7); /* at the other node */
    one(&stand, L1_EVENT_REMOVE, 2, 6);
    one(&stand, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(&stand, "copies_4", 0), 1u);
    one(&stand, L1_EVENT_INVALIDATE, 1, 0);
    one(&stand, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(&stand, "copies_2", 0), 1u);
    one(&stand, L1_EVENT_MISS, 0, 8);
    CHECK_EQ(counter(&stand, "copies_0", 0), 1u);
    one(&stand, L1_EVENT_MISS, 0, 7);
    CHECK_EQ(counter(&stand, "copies_1", 0), 1u);
    for (unsigned group = 0; group < 8; group++) note(&stand, L1_EVENT_INVALIDATE, group, 0);
    stand.now++;
    one(&stand, L1_EVENT_MISS, 0, 6);
    CHECK_EQ(counter(&stand, "copies_0", 0), 2u);
    stand_end(&stand);
}

TEST(
    "a copy in the group itself is none, and a miss sees what was held when its cycle began, in whatever order events come") {
    for (unsigned first = 0; first < 2; first++) {
        struct stand stand = stand_make(8);
        one(&stand, L1_EVENT_INSERT, 0, 6);
        one(&stand, L1_EVENT_INSERT, 1, 6);
        if (first) note(&stand, L1_EVENT_MISS, 0, 6);
        note(&stand, L1_EVENT_REMOVE, 1, 6);
        note(&stand, L1_EVENT_INSERT, 2, 6);
        note(&stand, L1_EVENT_INSERT, 3, 6);
        if (!first) note(&stand, L1_EVENT_MISS, 0, 6);
        stand.now++;
        CHECK_EQ(counter(&stand, "copies_1", 0), 1u);
        one(&stand, L1_EVENT_MISS, 0, 6);
        CHECK_EQ(counter(&stand, "copies_2", 0), 1u);
        stand_end(&stand);
    }
}
