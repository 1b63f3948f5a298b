/* Cooperation at the nodes of a few groups: turns of the two arbiters, stale answers, the directory of icc-agc, and the
 * times that icc-mgc reports to dynamic sending. */
#include "test.h"

#include <string.h>

#include "l1/groups_fixture.h"

#define AGC      "l1.organisation=icc-agc"
#define MGC      "l1.organisation=icc-mgc"
#define ONE_FLIT "group.channel_bytes=256" /* every packet is one flit */

enum { LINE = 128, X = 0, Y = 0x100 * LINE, Z = 8 * LINE };

TEST("a node that is asked by its SMs and by another group in every cycle looks up for them in turns") {
    enum { WARM_UP = 100, WINDOW = 200 };
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(MGC, ONE_FLIT, "l1.icc-mgc.sampled=0", "l1.icc-mgc.short_queries=1",
                                       "l1.icc-mgc.long_queries=0", "l1.mshrs=64", "l1.size_kb=64"));
    groups->llc_cycles = 20;
    read_by(groups, 0, X);
    finish(groups);
    uint64_t line = 1, own = 0, others = 0, own_turns = 0, others_turns = 0, repeated = 0;
    bool others_last = false;
    for (unsigned i = 0; i < WARM_UP + WINDOW; i++) {
        for (unsigned sm = 0; sm < GROUP_SMS; sm++) {
            request_by(groups, sm, X, MESSAGE_READ); /* group 0 hits, group 1 misses and probes group 0 */
            line += request_by(groups, GROUP_SMS + sm, line * LINE, MESSAGE_READ);
        }
        step(groups);
        uint64_t own_now = count_of_node(groups, "l1.read_hits", 0),
                 others_now = count_of_node(groups, "l1.icc.served", 0);
        if (i >= WARM_UP) {
            CHECK_EQ(own_now - own + others_now - others, 1u);
            own_turns += own_now - own;
            others_turns += others_now - others;
            repeated += i > WARM_UP && (others_now > others) == others_last;
        }
        others_last = others_now > others;
        own = own_now, others = others_now;
    }
    CHECK_EQ(own_turns, WINDOW / 2u);
    CHECK_EQ(others_turns, WINDOW / 2u);
    CHECK_EQ(repeated, 0u);
    groups_fixture_destroy(groups);
}

TEST("a node that gets lines from the LLC and from another group in every cycle receives them in turns") {
    enum { LINES = 16, PAST = 24 };
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(MGC, ONE_FLIT, "l1.icc-mgc.sampled=0", "l1.icc-mgc.short_queries=1",
                                       "l1.icc-mgc.long_queries=0", "group.request_queue=64", "l1.miss_queue=64"));
    for (uint64_t line = 0; line < LINES; line++, finish(groups)) read_by(groups, 0, line * LINE);
    groups->llc_cycles = NEVER;
    for (unsigned i = 0; i < PAST; i++, step(groups)) {
        struct l1_request past = {.address = (100 + i) * LINE, .kind = MESSAGE_READ, .bypass = true};
        REQUIRE(access_by_sm(groups, GROUP_SMS, past));
    }
    steps(groups, 20);
    unsigned first = groups->asked_count - PAST;
    for (uint64_t line = 0; line < LINES; line++) {
        REQUIRE(request_by(groups, GROUP_SMS + (unsigned)line % GROUP_SMS, line * LINE, MESSAGE_READ));
        if (line % GROUP_SMS == GROUP_SMS - 1) step(groups);
    }
    while (count_of_node(groups, "l1.icc.remote_hits", 1) == 0) step(groups);
    for (unsigned i = 0; i < PAST; i++) llc_answer(groups, groups->asked[(first + i) % LLC_LOG], 1);
    step(groups);
    uint64_t remote = count_of_node(groups, "l1.icc.remote_hits", 1), replies = count_of_node(groups, "l1.replies", 1);
    bool remote_last = true;
    unsigned turns = 0;
    for (unsigned i = 0; i < 100 && remote < LINES; i++) {
        step(groups);
        uint64_t remote_now = count_of_node(groups, "l1.icc.remote_hits", 1),
                 replies_now = count_of_node(groups, "l1.replies", 1);
        CHECK_EQ(remote_now - remote + replies_now - replies, 1u);
        if (i > 0) CHECK_EQ(remote_now > remote, !remote_last);
        remote_last = remote_now > remote;
        remote = remote_now, replies = replies_now;
        turns++;
    }
    CHECK_EQ(remote, (uint64_t)LINES);
    CHECK(turns >= LINES);
    finish(groups);
    groups_fixture_destroy(groups);
}

/* Group 0 holds the line; an SM of group 1 reads it, and another one writes it before the answer arrives. */
static struct groups_fixture *write_before_answer(const char *organisation) {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(organisation, ONE_FLIT));
    read_by(groups, 0, X);
    finish(groups);
    read_by(groups, 1, X);
    step(groups);
    REQUIRE(request_by(groups, GROUP_SMS + 1, X, MESSAGE_WRITE));
    finish(groups);
    return groups;
}

TEST(
    "an answer whose line the group has written in the meantime is stale: the LLC supplies the line, after the write") {
    for (unsigned ring = 0; ring < 2; ring++) {
        struct groups_fixture *groups = write_before_answer(ring ? MGC : AGC);
        CHECK_EQ(count_of_node(groups, "l1.icc.asked", 1), 1u);
        CHECK_EQ(count_of_node(groups, "l1.icc.stale", 1), 1u + ring); /* both probes of the ring find the line */
        CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 1), 0u);
        CHECK_EQ(count_of_node(groups, "l1.icc.late", 1), 0u);
        CHECK_EQ(count_of_node(groups, "l1.icc.fetches", 1), 1u);
        CHECK_EQ(count_of_node(groups, "l1.stale_fills", 1), 1u);
        REQUIRE(groups->asked_count == 3);
        CHECK_EQ(groups->asked[1].kind, (int)MESSAGE_WRITE);
        CHECK_EQ(groups->asked[2].kind, (int)MESSAGE_READ);
        groups_fixture_destroy(groups);
    }
}

TEST("a neighbour's line that the group has written takes no entry of the directory, and any other line does") {
    for (unsigned written = 0; written < 2; written++) {
        struct groups_fixture *groups = groups_fixture_create(SETTINGS(AGC, "l1.size_kb=1", "l1.ways=1"));
        if (written) write_by(groups, 1, Z);
        finish(groups);
        read_by(groups, 0, X); /* X takes the only entry of its set at group 1, */
        finish(groups);
        read_by(groups, 2, Z); /* and Z replaces it, unless it is ignored */
        finish(groups);
        read_by(groups, 1, X);
        finish(groups);
        CHECK_EQ(count_of_node(groups, "l1.icc.asked", 1), written);
        CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 1), written);
        groups_fixture_destroy(groups);
    }
}

/* Two sampled misses of group 2: one that another group serves, and one that the LLC serves `more` cycles later than
 * both probes together take. */
static struct groups_fixture *sample_two(unsigned more) {
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(MGC, "l1.icc-mgc.sampled=2", "l1.icc-mgc.executed=8"));
    read_by(groups, 0, X);
    finish(groups);
    read_by(groups, 2, X);
    finish(groups);
    groups->llc_cycles = NEVER;
    read_by(groups, 2, Y);
    while (count_of_node(groups, "l1.icc.fetches", 2) == 0) step(groups);
    uint64_t fetched_at = groups->now - 1, ring_cycles = count_of_node(groups, "l1.icc.hit_cycles", 2) +
                                                         count_of_node(groups, "l1.icc.probe_cycles", 2);
    steps(groups, 3);
    REQUIRE(groups->asked[groups->asked_count - 1].address == Y);
    llc_answer(groups, groups->asked[groups->asked_count - 1], fetched_at + ring_cycles + more - groups->now);
    finish(groups);
    return groups;
}

TEST("dynamic sending gets the latency of a remote hit, and of a remote miss up to and from the LLC request") {
    /* T_MGC = (T_h + T_m + T_mL2) / 2 is less than T_mL2 if T_h + T_m is. */
    for (unsigned more = 0; more < 2; more++) {
        struct groups_fixture *groups = sample_two(more);
        CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 2), 1u);
        CHECK_EQ(count_of_node(groups, "l1.icc.hit_cycles", 2), 7u);   /* two lookups, and two hops back */
        CHECK_EQ(count_of_node(groups, "l1.icc.probe_cycles", 2), 7u); /* the long probe takes 8 */
        CHECK_EQ(count_of_node(groups, "l1.sending.sampled", 2), 2u);
        CHECK_EQ(count_of_node(groups, "l1.sending.periods_groups", 2), more);
        CHECK_EQ(count_of_node(groups, "l1.sending.periods_llc", 2), 1u - more);
        groups_fixture_destroy(groups);
    }
}

TEST("a line of another group is filled although the reply queue of the node is full") {
    enum { LINES = 16, W = 1000 * LINE };
    struct groups_fixture *groups = groups_fixture_create(
        SETTINGS(MGC, ONE_FLIT, "l1.icc-mgc.sampled=0", "group.reply_queue=1", "group.injection_packets=1"));
    for (unsigned i = 0; i < LINES; i++, finish(groups)) read_by(groups, 1, i * LINE);
    read_by(groups, 0, W);
    finish(groups);
    groups->deaf = true;
    for (unsigned c = 0, line = 0; c < 200; c++, step(groups)) {
        request_by(groups, 1, W, MESSAGE_READ); /* hits fill the reply queue */
        if (line < LINES) line += request_by(groups, 0, line * LINE, MESSAGE_READ);
    }
    uint64_t asked = count_of_node(groups, "l1.icc.asked", 0) - 1; /* W was in no other group */
    CHECK(asked > 1);
    CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 0), asked);
    groups->deaf = false;
    finish(groups);
    CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 0), count_of_node(groups, "l1.icc.asked", 0) - 1);
    groups_fixture_destroy(groups);
}

TEST("a miss that probes other groups still waits for the miss queue if its victim must be written back") {
    enum { LOCAL = 0, STORES = 5 /* in the port to the network and a miss queue of one */ };
    struct groups_fixture *groups = groups_fixture_create(
        SETTINGS(MGC, ONE_FLIT, "l1.icc-mgc.sampled=0", "l1.size_kb=1", "l1.ways=1", "l1.miss_queue=1"));
    REQUIRE(access_by_sm(groups, 0, (struct l1_request){.address = LOCAL, .kind = MESSAGE_READ, .local = true}));
    finish(groups);
    REQUIRE(access_by_sm(groups, 0, (struct l1_request){.address = LOCAL, .kind = MESSAGE_WRITE, .local = true}));
    finish(groups);
    groups->blocked = true;
    for (unsigned i = 1; i <= STORES; i++, steps(groups, 5)) write_by(groups, 0, i * LINE);
    read_by(groups, 0, Z);
    steps(groups, 50);
    CHECK_EQ(count_of_node(groups, "l1.write_backs", 0), 0u);
    CHECK_EQ(count_of_node(groups, "l1.icc.asked", 0), 0u);
    groups->blocked = false;
    finish(groups);
    CHECK_EQ(count_of_node(groups, "l1.write_backs", 0), 1u);
    CHECK_EQ(count_of_node(groups, "l1.icc.asked", 0), 1u);
    CHECK(count_of_node(groups, "l1.reservation_fail.network", 0) > 40);
    unsigned written[STORES + 1] = {0};
    for (unsigned i = 0; i < groups->asked_count; i++)
        if (groups->asked[i].kind == MESSAGE_WRITE) written[groups->asked[i].address / LINE]++;
    for (unsigned i = 0; i <= STORES; i++) CHECK_EQ(written[i], 1u);
    groups_fixture_destroy(groups);
}

TEST("a miss goes to the LLC if the queue to other groups is full") {
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(MGC, ONE_FLIT, "l1.icc-mgc.sampled=0", "l1.icc-mgc.short_queries=1",
                                       "l1.icc-mgc.long_queries=0", "l1.icc-mgc.queue=1"));
    for (unsigned sm = 0; sm < GROUP_SMS; sm++) REQUIRE(request_by(groups, sm, sm * LINE, MESSAGE_READ));
    finish(groups);
    uint64_t asked = count_of_node(groups, "l1.icc.asked", 0), crowded = count_of_node(groups, "l1.icc.crowded", 0);
    CHECK_EQ(asked + crowded, (uint64_t)GROUP_SMS);
    CHECK_EQ(asked, GROUP_SMS / 2u); /* a queue of one takes a message every other cycle */
    CHECK_EQ(count_of_node(groups, "l1.icc.fetches", 0), asked);
    CHECK_EQ(count_of_node(groups, "l1.icc.probe_cycles", 0), 4 * asked);
    CHECK_EQ(COUNTER(groups, "l1.mulnet.probes"), asked);
    CHECK_EQ(groups->asked_count, (unsigned)GROUP_SMS);
    groups_fixture_destroy(groups);
}

TEST("a probe that misses and cannot be forwarded is answered as a miss") {
    /* Groups 0 and 1 probe to the right in every cycle; the queue of group 1 is mostly full of its own probes. */
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(MGC, ONE_FLIT, "l1.icc-mgc.sampled=0", "l1.icc-mgc.short_queries=0",
                                       "l1.icc-mgc.long_queries=3", "l1.icc-mgc.queue=1", "l1.mshrs=64"));
    groups->llc_cycles = 20;
    uint64_t line = 0;
    for (unsigned i = 0; i < 100; i++, step(groups))
        for (unsigned sm = 0; sm < 2 * GROUP_SMS; sm++) line += request_by(groups, sm, line * LINE, MESSAGE_READ);
    finish(groups);
    uint64_t asked = COUNTER(groups, "l1.icc.asked"), given_up = COUNTER(groups, "l1.icc.given_up");
    CHECK(given_up > 10);
    CHECK_EQ(COUNTER(groups, "l1.mulnet.miss_answers"), asked);
    CHECK_EQ(COUNTER(groups, "l1.icc.fetches"), asked);
    CHECK_EQ(COUNTER(groups, "l1.icc.served"), COUNTER(groups, "l1.mulnet.probes"));
    CHECK(COUNTER(groups, "l1.mulnet.probes") < 3 * asked);
    CHECK_EQ(COUNTER(groups, "l1.fills"), COUNTER(groups, "l1.read_misses"));
    groups_fixture_destroy(groups);
}

/* Cycles from a read of group 1, after one of group 0, to its request at the LLC. */
static unsigned until_llc(struct groups_fixture *groups) {
    unsigned cycles = 0;
    read_by(groups, 0, X);
    finish(groups);
    read_by(groups, 1, X);
    for (unsigned before = groups->asked_count; groups->asked_count == before && cycles < 1000; cycles++) step(groups);
    return cycles;
}

TEST("cooperation with `probe` off never probes: a miss reaches the LLC a cycle later than without cooperation") {
    for (unsigned ring = 0; ring < 2; ring++) {
        struct groups_fixture *none = groups_fixture_create(SETTINGS("l1.organisation=clustered")),
                              *control = groups_fixture_create(
                                  SETTINGS(ring ? MGC : AGC, "l1.icc-agc.probe=false", "l1.icc-mgc.probe=false"));
        CHECK_EQ(until_llc(control), until_llc(none) + 1);
        finish(control);
        CHECK_EQ(COUNTER(control, "l1.icc.asked"), 0u);
        CHECK_EQ(COUNTER(control, "l1.icc.served"), 0u);
        CHECK_EQ(COUNTER(control, "l1.icc.crowded"), 0u);
        CHECK_EQ(COUNTER(control, "l1.fills"), 2u);
        groups_fixture_destroy(none);
        groups_fixture_destroy(control);
    }
}

TEST("cooperation takes up to 64 groups") {
    for (unsigned groups = 64; groups <= 65; groups++) {
        char sms[32], count[32];
        snprintf(sms, sizeof sms, "sm.count=%u", groups);
        snprintf(count, sizeof count, "group.count=%u", groups);
        struct error err = {0};
        struct config *config = config_checked(SETTINGS(AGC, sms, count, "gpu.clusters=1"), NO_SETTINGS, &err);
        CHECK_EQ(config != NULL, groups == 64);
        if (!config) CHECK_TEXT(err.text, "cooperation needs 2 to 64 groups, not 65");
        config_destroy(config);
    }
}

TEST("cooperation needs storage for its queues, with a directory for its entries, and none if it is off") {
    for (unsigned m = 0; m < l1_organisation_family.count; m++) {
        const struct policy *organisation = l1_organisation_family.members[m];
        bool agc = strcmp(organisation->name, "icc-agc") == 0, mgc = strcmp(organisation->name, "icc-mgc") == 0;
        for (unsigned on = 0; (agc || mgc) && on < 2; on++) {
            struct storage_item items[STORAGE_ITEMS];
            struct config *config =
                config_with(SETTINGS(agc ? AGC : MGC, "sm.count=16", "gpu.clusters=4", "l1.size_kb=16", "l1.ways=4",
                                     on ? "l1.icc-agc.cooperate=true" : "l1.icc-agc.cooperate=false",
                                     on ? "l1.icc-mgc.cooperate=true" : "l1.icc-mgc.cooperate=false"));
            CHECK_EQ(organisation->section->storage(config, items), on ? 2u + agc : 0u);
            config_destroy(config);
        }
    }
}

TEST("a node is not quiet before the LLC has answered, although another group supplied the line") {
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(MGC, "l1.icc-mgc.sampled=0", "l1.icc-mgc.short_queries=1"));
    struct l1_command ask = {.kind = L1_COMMAND_REPORT};
    read_by(groups, 3, X);
    finish(groups);
    groups->llc_cycles = NEVER;
    read_by(groups, 1, X); /* group 0 misses, group 3 hits */
    finish(groups);
    CHECK_EQ(count_of_node(groups, "l1.icc.remote_hits", 1), 1u);
    port_push(&groups->commands[1], groups->now, &ask, sizeof ask);
    steps(groups, 50);
    CHECK(!port_peek(&groups->reports[1], groups->now));
    llc_answer(groups, groups->asked[groups->asked_count - 1], 1);
    steps(groups, 5);
    CHECK(port_peek(&groups->reports[1], groups->now) != NULL);
    CHECK_EQ(count_of_node(groups, "l1.icc.late", 1), 1u);
    groups_fixture_destroy(groups);
}
