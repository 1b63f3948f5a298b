/* The queues of MRPB, request by request. `conflicts` identifies a request at the network. */
#include "test.h"

#include "base/random.h"
#include "l1/l1_fixture.h"
#include "sm/sm_fixture.h"

#define MRPB "l1.insertion=mrpb", "l1.miss_queue=64"

static enum l1_outcome enter(struct l1_fixture *l1, uint8_t warp, uint64_t address, uint8_t kind, uint8_t name) {
    return access_by(
        l1, (struct l1_request){
                .address = address, .token = name, .kind = kind, .conflicts = name, .warp = warp, .instr = warp});
}

/* Checks the order of the requests at the network, by name. */
static void expect(struct l1_fixture *l1, const char *names) {
    for (; *names; names++) {
        const struct message *message = NULL;
        for (unsigned i = 0; i < 20 && !message; i++) {
            cycle(l1);
            message = port_peek(&l1->to_network, l1->now);
        }
        REQUIRE(message);
        struct message taken = take(l1);
        CHECK_EQ((char)taken.conflicts, *names);
        answer(l1, taken);
    }
}

TEST("mrpb: greedy drains a queue until it is empty, fixed always takes the first queue that is not") {
    for (unsigned greedy = 0; greedy < 2; greedy++) {
        struct l1_fixture *l1 =
            l1_fixture_create(SETTINGS(MRPB, greedy ? "l1.mrpb.drain=greedy" : "l1.mrpb.drain=fixed"));
        cycle(l1);
        for (uint8_t i = 0; i < 3; i++)
            CHECK_OUTCOME(enter(l1, 1, 0x1000 + 0x80u * i, MESSAGE_READ, (uint8_t)('a' + i)), L1_QUEUED);
        cycle(l1); /* a is served */
        for (uint8_t i = 0; i < 2; i++)
            CHECK_OUTCOME(enter(l1, 0, 0x4000 + 0x80u * i, MESSAGE_READ, (uint8_t)('A' + i)), L1_QUEUED);
        expect(l1, greedy ? "abcAB" : "aABbc");
        settle(l1);
        l1_fixture_destroy(l1);
    }
}

TEST("mrpb: the other rules take queues in turn, or the longest first") {
    for (unsigned longest = 0; longest < 2; longest++) {
        struct l1_fixture *l1 =
            l1_fixture_create(SETTINGS(MRPB, longest ? "l1.mrpb.drain=longest" : "l1.mrpb.drain=rr"));
        cycle(l1);
        for (uint8_t i = 0; i < 2; i++) enter(l1, 1, 0x1000 + 0x80u * i, MESSAGE_READ, (uint8_t)('a' + i));
        for (uint8_t i = 0; i < 4; i++) enter(l1, 0, 0x4000 + 0x80u * i, MESSAGE_READ, (uint8_t)('A' + i));
        expect(l1, longest ? "ABCaDb" : "aAbBCD");
        settle(l1);
        l1_fixture_destroy(l1);
    }
}

TEST("mrpb: requests can be queued by instruction, in the configured number of queues") {
    struct l1_fixture *l1 =
        l1_fixture_create(SETTINGS(MRPB, "l1.mrpb.signature=instruction", "l1.mrpb.queues=2", "l1.mrpb.entries=2"));
    struct l1_request read = {.kind = MESSAGE_READ, .instr = 3};
    cycle(l1);
    for (uint8_t i = 0; i < 3; i++) {
        read.address = 0x80u * i;
        CHECK_OUTCOME(access_by(l1, read), i < 2 ? L1_QUEUED : L1_FAIL_INPUT_QUEUE);
    }
    read.instr = 2;
    CHECK_OUTCOME(access_by(l1, read), L1_QUEUED);
    uint32_t changes = l1->l1->gate[0].changes;
    cycle(l1);
    CHECK(l1->l1->gate[0].changes != changes);
    read.address = 0x1000; /* the even queue was served first */
    CHECK_OUTCOME(access_by(l1, read), L1_QUEUED);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("mrpb: a request that would stall for a line, an MSHR or the merge limit bypasses the L1, if enabled") {
    static const struct {
        const char *limit, *bypass, *counter;
        uint64_t second;
    } cases[] = {
        {"l1.mshrs=1", "l1.mrpb.bypass_mshr", "l1.mrpb.bypasses_mshr", 0x080},
        {"l1.mshr_merges=1", "l1.mrpb.bypass_merge", "l1.mrpb.bypasses_merge", 0},
        {"l1.ways=1", "l1.mrpb.bypass_line", "l1.mrpb.bypasses_line", 0x400},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++)
        for (unsigned allowed = 0; allowed < 2; allowed++) {
            char bypass[64];
            snprintf(bypass, sizeof bypass, "%s=%s", cases[i].bypass, allowed ? "true" : "false");
            struct l1_fixture *l1 = l1_fixture_create(SETTINGS(MRPB, "l1.size_kb=1", cases[i].limit, bypass));
            cycle(l1);
            enter(l1, 0, 0, MESSAGE_READ, 1);
            enter(l1, 0, cases[i].second, MESSAGE_READ, 2);
            cycles(l1, 10);
            CHECK_EQ(COUNTER(l1, cases[i].counter), allowed);
            CHECK_EQ(COUNTER(l1, "l1.requests"), 1 + allowed);
            settle(l1);
            CHECK_EQ(l1->woken_count, 2u);
            CHECK_EQ(COUNTER(l1, "l1.read_bypasses"), allowed);
            l1_fixture_destroy(l1);
        }
}

TEST("mrpb: a hit completes one cycle later than without queues") {
    uint64_t cycles_of[2];
    for (unsigned i = 0; i < 2; i++) {
        struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), alu(OP_other, 4, 3)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm =
            sm_fixture_create(SETTINGS("l1.latency_cycles=5", i ? "l1.insertion=mrpb" : "l1.insertion=always"));
        sm_fixture_run(sm, &source);
        CHECK_EQ(COUNTER(sm, "l1.read_hits"), 1u);
        cycles_of[i] = COUNTER(sm, "sm.load_cycles_min");
        sm_fixture_destroy(sm);
    }
    CHECK_EQ(cycles_of[1], cycles_of[0] + 1);
}

TEST("mrpb: hits in consecutive cycles complete in order, each one cycle later than its latency") {
    enum { HITS = 40, LATENCY = 5 };
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(MRPB, "l1.latency_cycles=5"));
    cycle(l1);
    enter(l1, 0, 0x1000, MESSAGE_READ, 0);
    settle(l1);
    l1->woken_count = 0;
    uint64_t first = l1->now;
    for (uint8_t i = 0; i < HITS; i++, cycle(l1))
        CHECK_OUTCOME(enter(l1, i % 3, 0x1000, MESSAGE_READ, (uint8_t)(100 + i)), L1_QUEUED);
    CHECK(l1->l1->ops->busy(l1->l1, 0));
    cycles(l1, LATENCY - 1);
    CHECK(l1->l1->ops->busy(l1->l1, 0));
    cycle(l1);
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
    REQUIRE(l1->woken_count == HITS);
    for (unsigned i = 0; i < HITS; i++) {
        CHECK_EQ(l1->woken[i], 100 + i);
        CHECK_EQ(l1->woken_at[i], first + i + 1 + LATENCY);
    }
    l1_fixture_destroy(l1);
}

TEST("mrpb: a request with a reservation failure is served before any other, whatever the drain rule") {
    static const char *const drains[] = {"l1.mrpb.drain=greedy", "l1.mrpb.drain=fixed", "l1.mrpb.drain=rr",
                                         "l1.mrpb.drain=longest"};
    for (unsigned i = 0; i < COUNT_OF(drains); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.insertion=mrpb", "l1.miss_queue=1", drains[i]));
        for (uint8_t k = 0; k < 3; k++, cycle(l1)) /* two in the port to the network, one in the miss queue */
            enter(l1, 1, 0x1000 + 0x80u * k, MESSAGE_READ, (uint8_t)('a' + k));
        enter(l1, 1, 0x2000, MESSAGE_READ, 'd');
        cycles(l1, 3);
        for (uint8_t k = 0; k < 2; k++, cycle(l1)) {
            enter(l1, 0, 0x3000 + 0x80u * k, MESSAGE_READ, (uint8_t)('e' + k));
            enter(l1, 2, 0x4000 + 0x80u * k, MESSAGE_READ, (uint8_t)('g' + k));
        }
        expect(l1, "abcd");
        settle(l1);
        l1_fixture_destroy(l1);
    }
}

/* Random accesses of a few warps to a few lines, which all bypass the L1, so that each is seen at the network. Returns
 * the number that arrived before one that they must follow. */
static unsigned out_of_order(const char *const *settings, uint64_t random) {
    enum { ACCESSES = 200, LINES = 3 };
    struct l1_fixture *l1 = l1_fixture_create(settings);
    unsigned made = 0, wrong = 0,
             waiting[LINES][2][ACCESSES + 1] = {0}; /* by line and whether a store: made, not seen */
    unsigned line_of[ACCESSES], seen = 0;
    bool store_of[ACCESSES];
    while (seen < ACCESSES) {
        cycle(l1);
        l1->woken_count = 0;
        while (port_peek(&l1->to_network, l1->now) && random_below(&random, 2)) {
            struct message message = take(l1);
            unsigned name = message.conflicts, line = line_of[name];
            waiting[line][store_of[name]][name] = 0;
            for (unsigned earlier = 0; earlier < name; earlier++)
                wrong += waiting[line][1][earlier] || (store_of[name] && waiting[line][0][earlier]);
            answer(l1, message);
            seen++;
        }
        if (made == ACCESSES) continue;
        line_of[made] = (unsigned)random_below(&random, LINES);
        store_of[made] = random_below(&random, 3) == 0;
        struct l1_request request = {.address = line_of[made] * UINT64_C(128),
                                     .kind = store_of[made] ? MESSAGE_WRITE : MESSAGE_READ,
                                     .bypass = !store_of[made],
                                     .conflicts = (uint8_t)made,
                                     .warp = (uint8_t)random_below(&random, 4)};
        if (access_by(l1, request) > L1_ACCEPTED) continue;
        waiting[line_of[made]][store_of[made]][made] = 1;
        made++;
    }
    l1_fixture_destroy(l1);
    return wrong;
}

TEST("mrpb: accesses to a line stay in order if one of them is a store, in whatever queues they wait") {
    static const char *const drains[] = {"l1.mrpb.drain=greedy", "l1.mrpb.drain=fixed", "l1.mrpb.drain=rr",
                                         "l1.mrpb.drain=longest"};
    for (unsigned i = 0; i < COUNT_OF(drains); i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            CHECK_EQ(
                out_of_order(SETTINGS("l1.insertion=mrpb", drains[i], "l1.mrpb.queues=4", "l1.mrpb.entries=4"), seed),
                0u);
}
