/* The directory of icc-agc in action: whom a read miss probes after insertions, evictions, stores and flushes of the
 * neighbours. Its contents show in the probes: a miss probes a neighbour if, and only if, the directory has it as a
 * holder. */
#include "test.h"

#include "l1/groups_fixture.h"

/* Eight sets of one way; X and Z share a set. */
#define SMALL "l1.organisation=icc-agc", "l1.size_kb=1", "l1.ways=1"

enum { LINE = 128, X = 0, Z = 8 * LINE };

static void read_and_finish(struct groups_fixture *groups, unsigned group, uint64_t address) {
    read_by(groups, group, address);
    finish(groups);
}

static void flush(struct groups_fixture *groups, unsigned group) {
    struct l1_command command = {.kind = L1_COMMAND_FLUSH};
    port_push(&groups->commands[group], groups->now, &command, sizeof command);
    steps(groups, 5);
    REQUIRE(port_peek(&groups->reports[group], groups->now));
    port_pop(&groups->reports[group], groups->now);
}

/* Group 1 reads X: which group it probes, and whether that has it. */
static void check_probe(struct groups_fixture *groups, int probed, bool hit) {
    uint64_t served[GROUPS], hits = COUNTER(groups, "l1.icc.remote_hits"),
                             served_hits = COUNTER(groups, "l1.icc.served_hits");
    for (unsigned g = 0; g < GROUPS; g++) served[g] = count_of_node(groups, "l1.icc.served", g);
    read_and_finish(groups, 1, X);
    for (unsigned g = 0; g < GROUPS; g++)
        CHECK_EQ(count_of_node(groups, "l1.icc.served", g) - served[g], (int)g == probed);
    CHECK_EQ(COUNTER(groups, "l1.icc.remote_hits") - hits, hit);
    CHECK_EQ(COUNTER(groups, "l1.icc.served_hits") - served_hits, hit);
}

enum { NOBODY = -1 };

TEST("a miss probes the neighbour that inserted the line, the left one if both did, and no other group") {
    for (unsigned holders = 0; holders < 16; holders++) {
        if (holders & 2) continue;
        struct groups_fixture *groups = groups_fixture_create(SETTINGS(SMALL));
        for (unsigned g = 0; g < GROUPS; g++)
            if (holders >> g & 1) read_and_finish(groups, g, X);
        check_probe(groups, holders & 1 ? 0 : holders & 4 ? 2 : NOBODY, holders & 5);
        groups_fixture_destroy(groups);
    }
}

TEST("a neighbour that evicted the line, or invalidated it by its own store, is not probed") {
    for (unsigned way = 0; way < 3; way++) {
        struct groups_fixture *groups = groups_fixture_create(SETTINGS(SMALL));
        read_and_finish(groups, 0, X);
        if (way == 1) read_and_finish(groups, 0, Z);
        if (way == 2) {
            write_by(groups, 0, X);
            finish(groups);
        }
        check_probe(groups, way == 0 ? 0 : NOBODY, way == 0);
        groups_fixture_destroy(groups);
    }
}

TEST("a neighbour with another line of the same hash is probed in vain, and the LLC supplies the line") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(SMALL, "l1.icc-agc.hash_bits=1"));
    read_and_finish(groups, 0, 24 * LINE); /* of the set of X; two bits of its number are set */
    check_probe(groups, 0, false);
    CHECK_EQ(count_of_node(groups, "l1.icc.fetches", 1), 1u);
    CHECK_EQ(groups->asked_count, 2u);
    groups_fixture_destroy(groups);
}

/* Eight sets of two ways. */
#define TWO_WAYS "l1.organisation=icc-agc", "l1.size_kb=2", "l1.ways=2"
enum { A = 0, B = 8 * LINE, C = 16 * LINE, D = 24 * LINE, E = 32 * LINE };

TEST("a group's own store frees the directory's entry of the line") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(TWO_WAYS));
    read_and_finish(groups, 0, B);
    read_and_finish(groups, 0, A); /* both entries of the set at group 1, that of A the more recent one */
    write_by(groups, 1, A);
    finish(groups);
    read_and_finish(groups, 2, C); /* takes the entry of A */
    read_and_finish(groups, 1, B);
    CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 1), 1u);
    groups_fixture_destroy(groups);
}

TEST("a group's own eviction frees the directory's entry of a line that no neighbour holds any more") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(TWO_WAYS));
    read_and_finish(groups, 0, B);
    read_and_finish(groups, 0, A);
    read_and_finish(groups, 1, A); /* held by the left group and by this one */
    write_by(groups, 0, A);
    finish(groups);
    read_and_finish(groups, 1, D);
    read_and_finish(groups, 1, E); /* evicts A */
    read_and_finish(groups, 2, C); /* takes the entry of A, not the older one of B */
    uint64_t hits = count_of_node(groups, "l1.icc.remote_hits", 1);
    read_and_finish(groups, 1, B);
    CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 1), hits + 1);
    groups_fixture_destroy(groups);
}

TEST("a flush empties the group's directory and ends its memory of what it has written") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(SMALL));
    read_and_finish(groups, 0, X);
    flush(groups, 1);
    check_probe(groups, NOBODY, false);
    groups_fixture_destroy(groups);
    for (unsigned flushed = 0; flushed < 2; flushed++) {
        groups = groups_fixture_create(SETTINGS(SMALL));
        write_by(groups, 1, X);
        finish(groups);
        if (flushed) flush(groups, 1);
        read_and_finish(groups, 0, X);
        check_probe(groups, flushed ? 0 : NOBODY, flushed);
        CHECK_EQ(count_of_node(groups, "l1.icc.written", 1), 1u - flushed);
        groups_fixture_destroy(groups);
    }
}

TEST("a probe of another group counts as a use of the line if that is enabled") {
    for (unsigned touch = 0; touch < 2; touch++) {
        struct groups_fixture *groups =
            groups_fixture_create(SETTINGS(TWO_WAYS, touch ? "l1.icc-agc.touch=true" : "l1.icc-agc.touch=false"));
        read_and_finish(groups, 0, X);
        read_and_finish(groups, 0, Z);     /* X is the least recently used */
        read_and_finish(groups, 1, X);     /* from group 0 */
        read_and_finish(groups, 0, 2 * Z); /* evicts X, or Z if the probe was a use */
        uint64_t hits = count_of_node(groups, "l1.read_hits", 0);
        read_and_finish(groups, 0, X);
        CHECK_EQ(count_of_node(groups, "l1.read_hits", 0) - hits, touch);
        groups_fixture_destroy(groups);
    }
}
