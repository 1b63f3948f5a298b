#include <stdio.h>

#include "l1/reuse.h"

#include "l1/observer_fixture.h"

static struct observer_fixture *observed(const char *which) {
    struct observer_fixture *fixture = observer_fixture_create();
    struct l1_context context = {.stats = fixture->stats, .sms = 2};
    for (unsigned i = 0; i < reuse_family.count; i++)
        if (strcmp(reuse_family.members[i]->name, which) == 0)
            reuse_observe(&fixture->fake.l1, reuse_family.members[i], &context);
    return fixture;
}

/* Reads of lines with one letter each. */
static void reads(struct observer_fixture *fixture, unsigned sm, const char *lines) {
    for (; *lines; lines++) access_as(fixture, sm, *lines, MESSAGE_READ, L1_MISS);
}

static uint64_t count(const struct observer_fixture *fixture, const char *name) {
    return count_of(fixture, "reuse", name);
}

TEST("the reuse distance is the number of accesses between two accesses to a line: 2 in ABCA") {
    struct observer_fixture *fixture = observed("reads");
    reads(fixture, 0, "ABCA");
    CHECK_EQ(count(fixture, "distance_2"), 1u);
    reads(fixture, 0, "A"); /* ABCAA */
    CHECK_EQ(count(fixture, "distance_0"), 1u);
    reads(fixture, 0, "BA"); /* B: CAA in between; A: B */
    CHECK_EQ(count(fixture, "distance_4"), 1u);
    CHECK_EQ(count(fixture, "distance_1"), 1u);
    reads(fixture, 0, "DDDC"); /* C: AABADDD, seven of them */
    CHECK_EQ(count(fixture, "distance_0"), 3u);
    CHECK_EQ(count(fixture, "distance_8"), 1u);
    CHECK_EQ(count(fixture, "accesses"), 11u);
    observer_fixture_destroy(fixture);
}

TEST("each bin of distances ends at a power of two, and the last is unbounded") {
    static const struct {
        unsigned distance;
        const char *bin;
    } cases[] = {{0, "distance_0"},       {1, "distance_1"},       {2, "distance_2"},       {3, "distance_4"},
                 {4, "distance_4"},       {5, "distance_8"},       {64, "distance_64"},     {65, "distance_128"},
                 {128, "distance_128"},   {129, "distance_256"},   {1024, "distance_1024"}, {1025, "distance_2048"},
                 {2048, "distance_2048"}, {2049, "distance_more"}, {9000, "distance_more"}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct observer_fixture *fixture = observed("reads");
        reads(fixture, 0, "A");
        for (unsigned n = 0; n < cases[i].distance; n++) reads(fixture, 0, "B");
        uint64_t before = count(fixture, cases[i].bin);
        reads(fixture, 0, "A");
        CHECK_EQ(count(fixture, cases[i].bin), before + 1);
        observer_fixture_destroy(fixture);
    }
}

TEST("lines are counted by the number of their accesses, separately for each SM") {
    struct observer_fixture *fixture = observed("reads");
    reads(fixture, 0, "AABBBCDDDDDDDD"); /* 2, 3, 1, 8 */
    reads(fixture, 1, "AB");             /* 1, 1: another SM's are others */
    static const struct {
        const char *name;
        uint64_t lines;
    } expected[] = {{"lines_1", 6}, {"lines_2", 3}, {"lines_3", 2}, {"lines_4", 1}, {"lines_8", 1}, {"lines_16", 0}};
    for (unsigned i = 0; i < COUNT_OF(expected); i++) CHECK_EQ(count(fixture, expected[i].name), expected[i].lines);
    for (unsigned i = 0; i < 24; i++) reads(fixture, 0, "D");
    CHECK_EQ(count(fixture, "lines_16"), 1u);
    CHECK_EQ(count(fixture, "lines_32"), 1u);
    CHECK_EQ(count(fixture, "accesses"), 14u + 2 + 24);
    observer_fixture_destroy(fixture);
}

TEST("a line enters a bin of access counts with exactly that access") {
    static const unsigned bins[] = {1, 2, 3, 4, 8, 16, 32};
    struct observer_fixture *fixture = observed("reads");
    for (unsigned accesses = 1; accesses <= 40; accesses++) {
        reads(fixture, 0, "A");
        for (unsigned i = 0; i < COUNT_OF(bins); i++) {
            char name[16];
            snprintf(name, sizeof name, "lines_%u", bins[i]);
            CHECK_EQ(count(fixture, name), accesses >= bins[i]);
        }
    }
    observer_fixture_destroy(fixture);
}

TEST("the history of a line ends when the L1 of its SM is invalidated") {
    struct observer_fixture *fixture = observed("reads");
    reads(fixture, 0, "AB");
    reads(fixture, 1, "A");
    fixture->fake.l1.ops->flush(&fixture->fake.l1, 0);
    CHECK_EQ(fixture->fake.flushes, 1u);
    reads(fixture, 0, "A"); /* for the first time */
    CHECK_EQ(count(fixture, "lines_1"), 4u);
    CHECK_EQ(count(fixture, "lines_2"), 0u);
    reads(fixture, 1, "A");
    CHECK_EQ(count(fixture, "lines_2"), 1u);
    CHECK_EQ(count(fixture, "distance_0"), 1u);
    observer_fixture_destroy(fixture);
}

TEST("counts accesses to the L1: no bypassed ones, no reservation failures, and writes only if configured") {
    static const char *const kinds[] = {"reads", "all"};
    for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
        struct observer_fixture *fixture = observed(kinds[i]);
        access_as(fixture, 0, 'A', MESSAGE_READ, L1_MISS);
        access_as(fixture, 0, 'X', MESSAGE_READ, L1_BYPASS);
        access_as(fixture, 0, 'Y', MESSAGE_READ, L1_FAIL_MSHR);
        access_as(fixture, 0, 'Z', MESSAGE_ATOMIC, L1_SENT);
        access_as(fixture, 0, 'A', MESSAGE_READ, L1_PENDING_HIT);
        access_as(fixture, 0, 'A', MESSAGE_READ, L1_HIT);
        CHECK_EQ(count(fixture, "distance_0"), 2u);
        access_as(fixture, 0, 'A', MESSAGE_WRITE, L1_SENT);
        access_as(fixture, 0, 'B', MESSAGE_WRITE, L1_HIT);
        access_as(fixture, 0, 'C', MESSAGE_WRITE, L1_FAIL_MISS_QUEUE);
        CHECK_EQ(count(fixture, "accesses"), i == 0 ? 3u : 5u);
        CHECK_EQ(count(fixture, "lines_1"), i == 0 ? 1u : 2u);
        observer_fixture_destroy(fixture);
    }
}

TEST("a disabled observer is absent, and an enabled one forwards all events") {
    struct observer_fixture *fixture = observed("off");
    CHECK_EQ((const void *)fixture->fake.l1.ops, (const void *)&fake_ops);
    CHECK_EQ(stats_count(fixture->stats), 0u);
    observer_fixture_destroy(fixture);
    fixture = observed("all");
    CHECK_EQ(fixture->fake.l1.ops->endpoints(&fixture->fake.l1), 42u);
    observer_fixture_destroy(fixture);
}
