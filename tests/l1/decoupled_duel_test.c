/* The L1 side of SM dueling ("Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 4.3): which L1s begin with
 * the policy, what the leaders report, and how followers change. The control-plane side is in gpu/duel_test.c. */
#include "test.h"

#include "l1/groups_fixture.h"
#include "l1/insertion.h"

#define DECOUPLED "l1.organisation=clustered", "l1.insertion=decoupled", "l1.decoupled.duel_interval_cycles=1000"

enum { LINE = 128, FOLLOWER = 2, INTERVAL = 1000 };

/* Reads a line by a group in a cycle, or later if that has passed, and waits for the answer. */
static void read_at(struct groups_fixture *groups, unsigned group, uint64_t line, uint64_t cycle) {
    while (groups->now < cycle) step(groups);
    read_by(groups, group, line * LINE);
    while (groups->outstanding) step(groups);
}

TEST("decoupled: the first L1 begins with the policy and all others with the plain cache, or all with the policy") {
    for (unsigned dueling = 0; dueling < 2; dueling++) {
        struct groups_fixture *groups = groups_fixture_create(
            SETTINGS(DECOUPLED, dueling ? "l1.decoupled.dueling=true" : "l1.decoupled.dueling=false"));
        for (unsigned group = 0; group < GROUPS; group++) {
            read_at(groups, group, 1, 0);
            CHECK_EQ(count_of_node(groups, "l1.read_bypasses", group), !dueling || group == 0);
        }
        groups_fixture_destroy(groups);
    }
}

TEST("decoupled: a leader reports reads and misses at the first read after an interval, from the last flush on") {
    for (unsigned by_interval = 0; by_interval < 2; by_interval++) {
        struct groups_fixture *groups = groups_fixture_create(SETTINGS(
            DECOUPLED, by_interval ? "l1.decoupled.duel_by_interval=true" : "l1.decoupled.duel_by_interval=false"));
        struct port control;
        port_init(&control, groups->base.engine, "reports of the duel", groups->network, groups->network, 16, 1);
        l1_report_to(groups->l1, 1, &control);
        groups->llc_cycles = 10;
        read_at(groups, 1, 1, 100); /* misses */
        read_at(groups, 1, 1, 200);
        read_at(groups, 1, 1, 800);
        CHECK(!port_peek(&control, groups->now));
        read_at(groups, 1, 2,
                INTERVAL - 1); /* the node sees it after the end of interval 0, and reports that; misses */
        read_at(groups, 1, 2, 0);
        read_at(groups, 1, 3, 5 * INTERVAL); /* reports interval 1 */
        struct l1_command flush = {.kind = L1_COMMAND_FLUSH};
        port_push(&groups->commands[1], groups->now, &flush, sizeof flush);
        steps(groups, 3);
        read_at(groups, 1, 4, 6 * INTERVAL);     /* nothing was read in interval 5 after the flush */
        read_at(groups, 1, 4, 7 * INTERVAL + 1); /* reports interval 6 */
        struct duel_report expected[] = {
            {0, 3, 1, 0}, {1, by_interval ? 2u : 5u, by_interval ? 1u : 2u, 0}, {6, 1, 1, 0}};
        for (unsigned i = 0; i < COUNT_OF(expected); i++) {
            const struct duel_report *report = port_peek(&control, groups->now);
            REQUIRE(report);
            CHECK_EQ(report->interval, expected[i].interval);
            CHECK_EQ(report->reads, expected[i].reads);
            CHECK_EQ(report->misses, expected[i].misses);
            port_pop(&control, groups->now);
        }
        CHECK(!port_peek(&control, groups->now));
        groups_fixture_destroy(groups);
        port_release(&control);
    }
}

TEST("decoupled: a pending hit of a leader is no miss, and a bypass is one") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(DECOUPLED));
    struct port control[2];
    for (unsigned group = 0; group < 2; group++) {
        port_init(&control[group], groups->base.engine, "reports of the duel", groups->network, groups->network, 16, 1);
        l1_report_to(groups->l1, group, &control[group]);
        for (unsigned sm = 0; sm < 3; sm++) REQUIRE(request_by(groups, group * GROUP_SMS + sm, LINE, MESSAGE_READ));
    }
    finish(groups);
    for (unsigned group = 0; group < 2; group++) {
        read_at(groups, group, 1, INTERVAL);
        const struct duel_report *report = port_peek(&control[group], groups->now);
        REQUIRE(report);
        CHECK_EQ(report->reads, 3u);
        CHECK_EQ(report->misses, group == 0 ? 2u : 1u); /* policy: bypass, miss, pending hit */
    }
    groups_fixture_destroy(groups);
    for (unsigned group = 0; group < 2; group++) port_release(&control[group]);
}

TEST("decoupled: a follower takes up the policy and gives it up by command, and repeated commands change nothing") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(DECOUPLED));
    static const struct {
        bool plain;
        unsigned on, off;
    } commands[] = {{true, 0, 0}, {false, 1, 0}, {false, 1, 0}, {true, 1, 1}, {true, 1, 1}, {false, 2, 1}};
    for (unsigned i = 0; i < COUNT_OF(commands); i++) {
        struct l1_command steer = {.kind = L1_COMMAND_STEER, .plain = commands[i].plain};
        port_push(&groups->commands[FOLLOWER], groups->now, &steer, sizeof steer);
        steps(groups, 3);
        CHECK_EQ(count_of_node(groups, "l1.decoupled.switched_on", FOLLOWER), commands[i].on);
        CHECK_EQ(count_of_node(groups, "l1.decoupled.switched_off", FOLLOWER), commands[i].off);
        uint64_t before = count_of_node(groups, "l1.read_bypasses", FOLLOWER);
        read_at(groups, FOLLOWER, 10 + i, 0);
        CHECK_EQ(count_of_node(groups, "l1.read_bypasses", FOLLOWER) - before, !commands[i].plain);
    }
    groups_fixture_destroy(groups);
}

TEST("decoupled: a leader that is steered counts from then on and reports the round of the command") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(DECOUPLED));
    struct port control;
    port_init(&control, groups->base.engine, "reports of the duel", groups->network, groups->network, 16, 1);
    l1_report_to(groups->l1, 0, &control);
    groups->llc_cycles = 10;
    read_at(groups, 0, 1, 100);
    struct l1_command steer = {.kind = L1_COMMAND_STEER, .plain = false, .round = 3};
    port_push(&groups->commands[0], groups->now, &steer, sizeof steer);
    steps(groups, 3);
    read_at(groups, 0, 2, 300);
    read_at(groups, 0, 2, 400);
    read_at(groups, 0, 2, INTERVAL + 100);
    const struct duel_report *report = port_peek(&control, groups->now);
    REQUIRE(report);
    CHECK_EQ(report->round, 3u);
    CHECK_EQ(report->reads, 2u);
    CHECK_EQ(report->misses, 2u);
    groups_fixture_destroy(groups);
    port_release(&control);
}

TEST("decoupled: dueling needs two L1s") {
    for (unsigned sms = 1; sms <= 2; sms++) {
        struct error err = {0};
        struct config *config =
            config_checked(SETTINGS("l1.insertion=decoupled", "gpu.clusters=1", sms == 1 ? "sm.count=1" : "sm.count=2"),
                           NO_SETTINGS, &err);
        CHECK_EQ(config != NULL, sms == 2);
        if (!config) CHECK_TEXT(err.text, "SM dueling needs two L1s");
        config_destroy(config);
    }
}
