/* The decoupled L1 of "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015), sequence by sequence. The small machine
 * has a 1 KB L1 of two ways, hence four sets; the lines of a set are 0x200 apart and have four tags. */
#include "test.h"

#include "l1/l1_fixture.h"
#include "sm/sm_fixture.h"

#define SMALL \
    "l1.insertion=decoupled", "l1.decoupled.dueling=false", "l1.decoupled.probe_cycles=0", "l1.size_kb=1", "l1.ways=2"

enum { A = 0x0000, B = 0x0200, C = 0x0400, D = 0x0600, E = 0x0800, F = 0x0A00 };

TEST("decoupled: the first access to a line bypasses the L1, the second allocates, the third hits") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL));
    REPLAY(l1, "bmhh", A, A, A, A);
    CHECK_EQ(COUNTER(l1, "l1.read_bypasses"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.read_misses"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.read_hits"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.first_touches"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.admissions"), 1u);
    l1_fixture_destroy(l1);
}

TEST("decoupled: each bypassing read is sent separately, fetches its own sectors and takes no MSHR") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.mshrs=1", "l1.decoupled.threshold=3"));
    cycle(l1);
    for (unsigned i = 0; i < 2; i++) {
        struct l1_request read = {.address = A, .token = i, .kind = MESSAGE_READ, .sectors = 0x02};
        CHECK_OUTCOME(access_by(l1, read), L1_BYPASS);
        cycle(l1);
        CHECK_EQ(take(l1).sectors, 0x02);
    }
    CHECK_EQ(COUNTER(l1, "l1.mshrs_peak"), 0u);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.below_threshold"), 1u);
    l1_fixture_destroy(l1);
}

TEST("decoupled: with threshold n a line is allocated at its n-th access, but never at its first; with 0 always") {
    static const struct {
        const char *threshold, *outcomes;
    } cases[] = {{"l1.decoupled.threshold=0", "mhhhh"},
                 {"l1.decoupled.threshold=1", "bmhhh"},
                 {"l1.decoupled.threshold=2", "bmhhh"},
                 {"l1.decoupled.threshold=3", "bbmhh"},
                 {"l1.decoupled.threshold=4", "bbbmh"}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, cases[i].threshold));
        REPLAY(l1, cases[i].outcomes, A, A, A, A, A);
        l1_fixture_destroy(l1);
    }
}

TEST("decoupled: an access with a reservation failure is not counted") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.mshrs=1", "l1.decoupled.threshold=3"));
    REPLAY(l1, "bbbb", A, A, 0x080, 0x080);
    CHECK_OUTCOME(read_line(l1, A, 1), L1_MISS);
    for (unsigned i = 0; i < 5; i++) CHECK_OUTCOME(read_line(l1, 0x080, 2), L1_FAIL_MSHR);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.below_threshold"), 2u);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x080, 2), L1_MISS);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("decoupled: an allocation ages all other tags of the set") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.decoupled.threshold=3"));
    REPLAY(l1, "bbb", A, B, B); /* A 1, B 2 */
    REPLAY(l1, "m", B);         /* B 3 and allocated; A 0 */
    REPLAY(l1, "bbm", A, A, A); /* without aging the second of these would have allocated */
    l1_fixture_destroy(l1);
}

TEST("decoupled: the tag of an evicted line restarts from 0, and the others age") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL));
    REPLAY(l1, "bmbm", A, A, B, B); /* A 1 by aging, B 2 */
    REPLAY(l1, "bm", C, C);         /* C replaces A, the least recently used: A 0, B 1, C 2 */
    CHECK_EQ(COUNTER(l1, "l1.evictions"), 1u);
    REPLAY(l1, "h", B);         /* 2 */
    REPLAY(l1, "bm", A, A);     /* 1, then 2 and replaces C; its earlier count is gone: C 0, B 1 */
    REPLAY(l1, "bhm", C, B, C); /* 1; B 2; C 2 and replaces A: A 0, B 1 */
    l1_fixture_destroy(l1);
}

TEST("decoupled: without a free tag the one with the smallest count is replaced, the least recently used of equals") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.decoupled.threshold=10"));
    REPLAY(l1, "bbbbbbb", A, A, B, C, C, D, D); /* A 2, B 1, C 2, D 2 */
    REPLAY(l1, "b", E);                         /* in place of B */
    CHECK_EQ(COUNTER(l1, "l1.decoupled.tags_replaced"), 1u);
    REPLAY(l1, "b", B); /* in place of E, the only 1 */
    CHECK_EQ(COUNTER(l1, "l1.decoupled.first_touches"), 6u);
    REPLAY(l1, "bb", B, F); /* B 2; all count 2, and A is the oldest */
    CHECK_EQ(COUNTER(l1, "l1.decoupled.tags_replaced"), 3u);
    REPLAY(l1, "bb", C, D);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.first_touches"), 7u);
    REPLAY(l1, "b", A);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.first_touches"), 8u);
    l1_fixture_destroy(l1);
}

TEST("decoupled: tags with data stay while there are tags without, however small their counts") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.decoupled.count_hits=false"));
    REPLAY(l1, "bmbm", A, A, B, B); /* A 1, B 2 */
    for (uint64_t line = C; line < 0x4000; line += 0x200) REPLAY(l1, "b", line);
    REPLAY(l1, "hh", A, B);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.lines_lost"), 0u);
    l1_fixture_destroy(l1);
}

TEST("decoupled: with no more tags than lines, a new address takes the tag of a line, which is invalidated") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.decoupled.tag_ways=2"));
    REPLAY(l1, "bmbm", A, A, B, B); /* A 1, B 2 */
    REPLAY(l1, "b", C);             /* in place of A */
    CHECK_EQ(COUNTER(l1, "l1.decoupled.lines_lost"), 1u);
    REPLAY(l1, "hm", B, C);
    l1_fixture_destroy(l1);
}

TEST("decoupled: hits are counted only if that is enabled") {
    for (unsigned counted = 0; counted < 2; counted++) {
        struct l1_fixture *l1 =
            l1_fixture_create(SETTINGS(SMALL, "l1.decoupled.threshold=3", "l1.decoupled.tag_ways=2",
                                       counted ? "l1.decoupled.count_hits=true" : "l1.decoupled.probe_cycles=0"));
        REPLAY(l1, "bbm", A, A, A);
        for (unsigned i = 0; i < 100; i++) REPLAY(l1, "h", A);
        REPLAY(l1, "bbm", B, B, B); /* A ages by one: to 62, or 2; B 3 */
        REPLAY(l1, "b", C);         /* replaces B if A counts more, else A */
        REPLAY(l1, counted ? "h" : "b", A);
        l1_fixture_destroy(l1);
    }
}

TEST("decoupled: a reference count has six bits and stays at 63") {
    struct l1_fixture *l1 = l1_fixture_create(
        SETTINGS(SMALL, "l1.decoupled.threshold=3", "l1.decoupled.tag_ways=2", "l1.decoupled.count_hits=true"));
    REPLAY(l1, "bbm", A, A, A);
    for (unsigned i = 0; i < 80; i++) REPLAY(l1, "h", A); /* 63 */
    REPLAY(l1, "bbm", B, B, B);                           /* A ages to 62; B 3 */
    for (unsigned i = 0; i < 59; i++) REPLAY(l1, "h", B); /* 62 */
    REPLAY(l1, "b", C);                                   /* of two equal counts that of A is less recently used */
    REPLAY(l1, "hb", B, A);
    l1_fixture_destroy(l1);
}

TEST("decoupled: a store invalidates the line and keeps its tag, so that the next read allocates again") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL));
    REPLAY(l1, "bmh", A, A, A);
    CHECK_OUTCOME(write_line(l1, A, 9), L1_SENT);
    settle(l1);
    REPLAY(l1, "mh", A, A);
    CHECK_OUTCOME(write_line(l1, B, 9), L1_SENT); /* a store allocates no tag */
    settle(l1);
    REPLAY(l1, "bm", B, B);
    l1_fixture_destroy(l1);
}

TEST("decoupled: a flush clears the counts, too") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL));
    REPLAY(l1, "bmb", A, A, B);
    l1->l1->ops->flush(l1->l1, 0);
    REPLAY(l1, "bbm", A, B, A);
    l1_fixture_destroy(l1);
}

TEST("decoupled: a fully associative tag store holds more tags of a set than four lines") {
    for (unsigned full = 0; full < 2; full++) {
        struct l1_fixture *l1 =
            l1_fixture_create(SETTINGS(SMALL, full ? "l1.decoupled.tag_sets=1" : "l1.decoupled.tag_sets=4",
                                       full ? "l1.decoupled.tag_ways=16" : "l1.decoupled.tag_ways=4"));
        REPLAY(l1, "bbbbbb", A, B, C, D, E, F);
        REPLAY(l1, full ? "m" : "b", A);
        l1_fixture_destroy(l1);
    }
}

TEST("decoupled: fully associative tags work with a fully associative L1") {
    struct l1_fixture *l1 =
        l1_fixture_create(SETTINGS("l1.insertion=decoupled", "l1.decoupled.dueling=false", "l1.ways=128",
                                   "l1.decoupled.tag_sets=1", "l1.decoupled.tag_ways=256"));
    for (uint64_t line = 0; line < 128 * 128; line += 9 * 128) REPLAY(l1, "bmh", line, line, line);
    for (uint64_t line = 0; line < 128 * 128; line += 9 * 128) REPLAY(l1, "h", line);
    l1_fixture_destroy(l1);
}

TEST("decoupled: the larger tag store makes hits and misses one cycle slower") {
    uint64_t hit_at[2], miss_at[2];
    for (unsigned i = 0; i < 2; i++) {
        struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), alu(OP_other, 4, 3)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(
            SETTINGS("l1.insertion=decoupled", "l1.decoupled.dueling=false", "l1.decoupled.threshold=0",
                     i ? "l1.decoupled.probe_cycles=1" : "l1.decoupled.probe_cycles=0"));
        sm_fixture_run(sm, &source);
        CHECK_EQ(COUNTER(sm, "l1.read_hits"), 1u);
        miss_at[i] = COUNTER(sm, "sm.load_cycles_max");
        hit_at[i] = COUNTER(sm, "sm.load_cycles_min");
        sm_fixture_destroy(sm);
    }
    CHECK_EQ(hit_at[1], hit_at[0] + 1);
    CHECK_EQ(miss_at[1], miss_at[0] + 1);
}
