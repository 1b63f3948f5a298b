/* Sectored L1s: what is fetched, who waits for what, the effect of stores, and equality with whole lines. */
#include "test.h"

#include "base/random.h"
#include "l1/l1_fixture.h"

#define SECTORED "l1.sector_bytes=32"
#define ON_FILL  "l1.allocate_on=fill"
#define VALIDATE "l1.write_allocate=validate"

static enum l1_outcome read_sectors(struct l1_fixture *l1, uint64_t address, uint8_t sectors, uint32_t token) {
    return access_by(l1,
                     (struct l1_request){.address = address, .kind = MESSAGE_READ, .sectors = sectors, .token = token});
}

static enum l1_outcome write_sectors(struct l1_fixture *l1, uint64_t address, uint8_t sectors, uint8_t flags) {
    return access_by(
        l1, (struct l1_request){.address = address, .kind = MESSAGE_WRITE, .sectors = sectors, .flags = flags});
}

/* The next request, which must be a read of these sectors. */
static struct message take_read(struct l1_fixture *l1, uint8_t sectors) {
    for (unsigned i = 0; i < 5 && !port_peek(&l1->to_network, l1->now); i++) cycle(l1);
    struct message request = take(l1);
    CHECK_EQ(request.kind, MESSAGE_READ);
    CHECK_EQ(request.sectors, sectors);
    return request;
}

TEST("a sectored read miss requests its sectors only, and a read of others of the line is a sector miss") {
    static const char *const allocate_on[] = {"l1.allocate_on=miss", ON_FILL};
    for (unsigned i = 0; i < COUNT_OF(allocate_on); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED, allocate_on[i]));
        cycle(l1);
        CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 1), L1_MISS);
        cycle(l1);
        answer(l1, take_read(l1, 0x2));
        cycles(l1, 3);
        CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 2), L1_HIT);
        CHECK_OUTCOME(read_sectors(l1, 0x1000, 0xB, 3), L1_MISS);
        cycle(l1);
        answer(l1, take_read(l1, 0x9));                          /* without the valid one */
        CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 4), L1_HIT); /* while others are in flight */
        cycles(l1, 3);
        CHECK_OUTCOME(read_sectors(l1, 0x1000, 0xB, 5), L1_HIT);
        CHECK_OUTCOME(read_sectors(l1, 0x1000, 0xF, 6), L1_MISS);
        settle(l1);
        CHECK_EQ(COUNTER(l1, "l1.read_hits"), 3u);
        CHECK_EQ(COUNTER(l1, "l1.read_misses"), 3u);
        CHECK_EQ(COUNTER(l1, "l1.sectors.misses"), 2u);
        CHECK_EQ(COUNTER(l1, "l1.sectors.fetched"), 4u);
        CHECK_EQ(COUNTER(l1, "l1.fills"), 3u);
        l1_fixture_destroy(l1);
    }
}

TEST("reads of a line in flight share its MSHR, request what nobody has, and are woken as their sectors arrive") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED, "l1.mshrs=1"));
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 1), L1_MISS);
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x3, 2), L1_MISS);
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 3), L1_PENDING_HIT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x4, 4), L1_MISS);
    CHECK_OUTCOME(read_sectors(l1, 0x2000, 0x1, 5), L1_FAIL_MSHR);
    struct message first = take_read(l1, 0x1), second = take_read(l1, 0x2);
    cycle(l1);
    cycle(l1);
    struct message third = take_read(l1, 0x4);
    answer(l1, third);
    cycles(l1, 3);
    answer(l1, second);
    cycles(l1, 3);
    answer(l1, first);
    cycles(l1, 4);
    REQUIRE(l1->woken_count == 4);
    static const uint32_t order[] = {4, 3, 1, 2}; /* the oldest first among those that can be served */
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(l1->woken[i], order[i]);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x7, 6), L1_HIT);
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
    CHECK_EQ(COUNTER(l1, "l1.mshrs_peak"), 1u);
    l1_fixture_destroy(l1);
}

TEST("the merge limit of a sectored line counts sector misses and pending hits alike") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED, "l1.mshr_merges=3"));
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 1), L1_MISS);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 2), L1_MISS);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 3), L1_PENDING_HIT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 4), L1_FAIL_MSHR_MERGE);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x4, 4), L1_FAIL_MSHR_MERGE);
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x3, 4), L1_HIT);
    l1_fixture_destroy(l1);
}

TEST("with allocation on fill, misses in flight need no lines, and the data of a miss evict one when they arrive") {
    static const char *const allocate_on[] = {"l1.allocate_on=miss", ON_FILL};
    for (unsigned on_fill = 0; on_fill < 2; on_fill++) {
        struct l1_fixture *l1 =
            l1_fixture_create(SETTINGS(SECTORED, allocate_on[on_fill], "l1.size_kb=1", "l1.ways=2", "l1.miss_queue=8"));
        cycle(l1);
        read_sectors(l1, 0x0000, 0x1, 1);
        read_sectors(l1, 0x0200, 0x1, 2); /* of the same set, as all that follow */
        settle(l1);
        CHECK_OUTCOME(read_sectors(l1, 0x0400, 0x1, 3), L1_MISS);
        CHECK_OUTCOME(read_sectors(l1, 0x0600, 0x1, 4), L1_MISS);
        CHECK_OUTCOME(read_sectors(l1, 0x0800, 0x1, 5), on_fill ? L1_MISS : L1_FAIL_LINE);
        CHECK_OUTCOME(read_sectors(l1, 0x0000, 0x1, 6), on_fill ? L1_HIT : L1_FAIL_LINE); /* evicted by the miss */
        settle(l1);
        CHECK_OUTCOME(read_sectors(l1, 0x0000, 0x1, 7), L1_MISS);
        settle(l1);
        CHECK_EQ(COUNTER(l1, "l1.evictions"), on_fill ? 4u : 3u);
        l1_fixture_destroy(l1);
    }
}

TEST("a line evicted while sectors of it are in flight is allocated again when they arrive") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED, ON_FILL, "l1.size_kb=1", "l1.ways=1", "l1.mshrs=4"));
    cycle(l1);
    read_sectors(l1, 0x0000, 0x1, 1);
    read_sectors(l1, 0x0000, 0x2, 2);
    read_sectors(l1, 0x0400, 0x1, 3); /* of the same set of one line */
    cycle(l1);
    struct message first = take_read(l1, 0x1);
    cycle(l1);
    struct message second = take_read(l1, 0x2), other = take_read(l1, 0x1);
    answer(l1, first);
    cycles(l1, 2);
    answer(l1, other);
    cycles(l1, 2);
    CHECK_OUTCOME(read_sectors(l1, 0x0000, 0x1, 4), L1_MISS); /* requested again by the MSHR of the second */
    cycle(l1);
    answer(l1, second);
    cycles(l1, 2);
    answer(l1, take_read(l1, 0x1));
    cycles(l1, 2);
    CHECK_OUTCOME(read_sectors(l1, 0x0000, 0x3, 5), L1_HIT);
    REQUIRE(l1->woken_count == 4);
    static const uint32_t order[] = {1, 3, 2, 4};
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(l1->woken[i], order[i]);
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
    l1_fixture_destroy(l1);
}

TEST("a store invalidates the sectors it touches, and the line with the last of them") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED));
    cycle(l1);
    read_sectors(l1, 0x1000, 0x7, 1);
    settle(l1);
    CHECK_OUTCOME(write_sectors(l1, 0x1000, 0x2, 0), L1_SENT);
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x5, 2), L1_HIT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 3), L1_MISS);
    settle(l1);
    CHECK_OUTCOME(write_sectors(l1, 0x1000, 0xF, 0), L1_SENT); /* one of its sectors is not there: a miss */
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 4), L1_MISS);
    settle(l1);
    CHECK_EQ(COUNTER(l1, "l1.sectors.misses"), 1u); /* the last one found no line */
    CHECK_EQ(COUNTER(l1, "l1.write_hits"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.write_misses"), 1u);
    CHECK_OUTCOME(write_local(l1, 0x1000, 0x1), L1_SENT); /* written through as well */
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 5), L1_MISS);
    settle(l1);
    CHECK_EQ(COUNTER(l1, "l1.write_backs"), 0u);
    l1_fixture_destroy(l1);
}

TEST(
    "with write-validate a store makes the sectors it covers valid, and a sector covered in part is fetched by a read") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED, VALIDATE));
    cycle(l1);
    CHECK_OUTCOME(write_sectors(l1, 0x1000, 0x3, 0), L1_SENT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x3, 1), L1_HIT);
    CHECK_OUTCOME(write_sectors(l1, 0x1000, 0x6, MESSAGE_PARTIAL), L1_SENT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x3, 2), L1_HIT); /* what was complete before stays complete */
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x7, 3), L1_MISS);
    answer(l1, take_read(l1, 0x4));
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x7, 4), L1_HIT);
    CHECK_EQ(COUNTER(l1, "l1.sectors.misses"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.sectors.written"), 4u);
    CHECK_EQ(COUNTER(l1, "l1.sectors.validated"), 2u);
    access_by(l1, (struct l1_request){.address = 0x1000, .kind = MESSAGE_ATOMIC, .sectors = 0x1, .bypass = true});
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x6, 5), L1_HIT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 6), L1_MISS); /* an atomic is performed at the LLC */
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("a store in a set of reserved lines is sent without allocating") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED, VALIDATE, "l1.size_kb=1", "l1.ways=1"));
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x0000, 0x1, 1), L1_MISS);
    CHECK_OUTCOME(write_sectors(l1, 0x0400, 0xF, 0), L1_SENT);
    settle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x0000, 0x1, 2), L1_HIT);
    CHECK_EQ(COUNTER(l1, "l1.sectors.validated"), 0u);
    l1_fixture_destroy(l1);
}

TEST("sectors in flight at a store to them serve their waiters and stay invalid; other sectors of the fill are valid") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SECTORED));
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x3, 1), L1_MISS);
    cycle(l1);
    struct message fill = take_read(l1, 0x3);
    CHECK_OUTCOME(write_sectors(l1, 0x1000, 0x1, 0), L1_SENT);
    cycle(l1);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 2), L1_BYPASS);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 3), L1_PENDING_HIT);
    answer(l1, fill);
    cycles(l1, 3);
    REQUIRE(l1->woken_count == 2);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x2, 4), L1_HIT);
    CHECK_OUTCOME(read_sectors(l1, 0x1000, 0x1, 5), L1_MISS);
    settle(l1);
    CHECK_EQ(COUNTER(l1, "l1.stale_fills"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.sectors.dropped"), 1u);
    l1_fixture_destroy(l1);
}

/* --- two fixtures in step --- */

static void step_both(struct l1_fixture *l1[2], uint64_t *random) {
    uint64_t action = random_below(random, 6), address = random_below(random, 24) * 128;
    struct l1_request request = {.address = address, .kind = action < 4 ? MESSAGE_READ : MESSAGE_WRITE, .sectors = 0xF};
    request.bypass = action == 3;
    request.token = (uint32_t)random_below(random, 1000);
    bool answers = random_below(random, 3) == 0;
    for (unsigned i = 0; i < 2; i++) cycle(l1[i]);
    CHECK_OUTCOME(access_by(l1[0], request), access_by(l1[1], request));
    struct message taken[2] = {{0}};
    for (unsigned i = 0; i < 2 && answers; i++)
        if (port_peek(&l1[i]->to_network, l1[i]->now)) answer(l1[i], taken[i] = take(l1[i]));
    CHECK_EQ(taken[0].address, taken[1].address);
    CHECK_EQ(taken[0].kind, taken[1].kind);
    CHECK_EQ(taken[0].sectors, taken[1].sectors);
    REQUIRE(l1[0]->woken_count == l1[1]->woken_count);
    for (unsigned i = 0; i < l1[0]->woken_count; i++) CHECK_EQ(l1[0]->woken[i], l1[1]->woken[i]);
    l1[0]->woken_count = l1[1]->woken_count = 0;
}

TEST("accesses to whole lines have the same outcomes, requests and completions in a sectored L1 as in a plain one") {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t random = seed * 977;
        const char *sector = SECTORED, *slot = seed % 3 ? "l1.write_back_slot=false" : "l1.write_back_slot=true";
        const char *vcs = seed % 2 ? "noc.vcs=1" : "noc.vcs=2",
                   *bypass = seed % 4 ? "l1.bypass_queue=0" : "l1.bypass_queue=2";
        const char *const common[] = {
            "l1.size_kb=1", "l1.ways=2", "l1.mshrs=3", "l1.mshr_merges=2", "l1.miss_queue=3", slot, vcs,
            bypass,         NULL,        NULL};
        const char *with[COUNT_OF(common)];
        memcpy(with, common, sizeof common);
        with[8] = sector;
        struct l1_fixture *l1[] = {l1_fixture_create(common), l1_fixture_create(with)};
        for (unsigned i = 0; i < 3000; i++) step_both(l1, &random);
        for (unsigned i = 0; i < 2; i++) settle(l1[i]);
        static const char *const counters[] = {"read_hits",   "read_pending_hits", "read_misses", "read_bypasses",
                                               "write_hits",  "write_misses",      "evictions",   "fills",
                                               "stale_fills", "mshrs_peak",        "requests",    "replies"};
        for (unsigned i = 0; i < COUNT_OF(counters); i++) {
            char name[48];
            snprintf(name, sizeof name, "l1.%s", counters[i]);
            CHECK_EQ(COUNTER(l1[0], name), COUNTER(l1[1], name));
        }
        CHECK(COUNTER(l1[1], "l1.stale_fills") > 0);
        CHECK_EQ(COUNTER(l1[1], "l1.sectors.misses"), 0u);
        for (unsigned i = 0; i < 2; i++) l1_fixture_destroy(l1[i]);
    }
}

TEST("a configuration that sectored L1s do not model is rejected with its reason") {
    static const struct {
        const char *settings[4], *reason;
    } cases[] = {
        {{"l1.sector_bytes=16"}, "must be 0 (whole lines) or 32"},
        {{ON_FILL}, "fill requires a sectored L1"},
        {{VALIDATE}, "validate requires a sectored L1"},
        {{SECTORED, "l1.organisation=clustered"}, "private L1s only"},
        {{SECTORED, "l1.insertion=decoupled"}, "use l1.insertion=always instead of decoupled"},
        {{SECTORED, "l1.insertion=mrpb"}, "use l1.insertion=always instead of mrpb"},
        {{SECTORED, "l1.observe_duplication=true"}, "counts whole lines"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        CHECK(!config_checked(NO_SETTINGS, cases[i].settings, &err));
        CHECK_TEXT(err.text, cases[i].reason);
    }
}
