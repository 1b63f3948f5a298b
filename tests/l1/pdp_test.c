/* Protecting distances, worked by hand. The small L1 has 1 KB in two ways, hence four sets; a set's lines are 0x200
 * apart. Remaining distances are written as they are after a read. */
#include "test.h"

#include "l1/l1_fixture.h"

#define SMALL "l1.insertion=pdp", "l1.size_kb=1", "l1.ways=2"

enum { A = 0x0000, B = 0x0200, C = 0x0400, D = 0x0600, E = 0x0800, F = 0x0A00 };

TEST("pdp: a line is evicted only after its set was read as often as the protecting distance since its last use") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=3"));
    REPLAY(l1, "mm", A, B); /* A 2, B 3 */
    REPLAY(l1, "b", C);     /* A 1, B 2: both were protected */
    REPLAY(l1, "h", A);     /* A 3, B 1 */
    REPLAY(l1, "m", D);     /* B was at 0: A 2, D 3 */
    REPLAY(l1, "b", B);     /* A 1, D 2 */
    REPLAY(l1, "m", C);     /* for A: C 3, D 1 */
    REPLAY(l1, "m", A);     /* for D */
    CHECK_EQ(COUNTER(l1, "l1.pdp.bypasses"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.read_bypasses"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.evictions"), 3u);
    l1_fixture_destroy(l1);
}

TEST("pdp: reads of other sets and writes do not age lines") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=3"));
    REPLAY(l1, "mm", A, B);
    for (unsigned i = 0; i < 5; i++) {
        REPLAY(l1, i ? "h" : "m", 0x080);
        CHECK_OUTCOME(write_line(l1, E, 9), L1_SENT);
        settle(l1);
    }
    REPLAY(l1, "b", C);
    l1_fixture_destroy(l1);
}

TEST("pdp: a distance of 1 protects nothing, and the replacement policy chooses among unprotected lines") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=1"));
    REPLAY(l1, "mmhmhm", A, B, A, C, A, B); /* as with LRU alone: C for B, then B for C */
    l1_fixture_destroy(l1);
}

TEST("pdp: a reserved line is no victim, and a miss in a set of reserved lines bypasses the L1") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=1"));
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, A, 1), L1_MISS);
    CHECK_OUTCOME(read_line(l1, B, 2), L1_MISS);
    CHECK_OUTCOME(read_line(l1, C, 3), L1_BYPASS);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("pdp: a line that a store invalidated can be allocated") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=200"));
    REPLAY(l1, "mmb", A, B, C);
    CHECK_OUTCOME(write_line(l1, A, 9), L1_SENT);
    settle(l1);
    REPLAY(l1, "mbh", C, A, B);
    l1_fixture_destroy(l1);
}

TEST("pdp: remaining distances of few bits decrease less often, in larger steps") {
    static const struct {
        const char *bits, *outcomes;
    } cases[] = {{"l1.pdp.bits=8", "mmbb"},  /* A 4; A 3, B 4; 2, 3; 1, 2 */
                 {"l1.pdp.bits=7", "mmbm"}}; /* in steps of two reads: A 2; A 1, B 2; 1, 2; A 0 */
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=4", cases[i].bits));
        REPLAY(l1, cases[i].outcomes, A, B, C, D);
        l1_fixture_destroy(l1);
    }
}

TEST("pdp: the dynamic variant finds the reuse distance of the lines") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=2", "l1.pdp.dynamic=true",
                                                       "l1.pdp.sampler_entries=256", "l1.pdp.recompute_reads=16"));
    static const uint64_t lines[] = {A, B, C, D, E, F};
    /* Each line again after 6 reads: 10 reuses among 16 samples, all of them within 8. */
    for (unsigned i = 0; i < 16; i++) {
        CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 0u);
        read_line(l1, lines[i % 6], i);
        l1->woken_count = 0;
        settle(l1);
    }
    CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_min"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), 8u);
    l1_fixture_destroy(l1);
}

TEST("pdp: without reuse the dynamic variant keeps its distance") {
    struct l1_fixture *l1 =
        l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=2", "l1.pdp.dynamic=true", "l1.pdp.recompute_reads=16"));
    for (uint64_t i = 0; i < 32; i++) {
        read_line(l1, i * 0x200, 0);
        l1->woken_count = 0;
        settle(l1);
    }
    CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), 2u);
    l1_fixture_destroy(l1);
}

/* Reads lines of a set one after the other. */
static void read_lines(struct l1_fixture *l1, const char *lines) {
    for (; *lines; lines++) {
        read_line(l1, (uint64_t)(*lines - 'A') * 0x200, 0);
        l1->woken_count = 0;
        settle(l1);
    }
}

TEST("pdp: the dynamic kind maximises E(d), in which each missed sample occupies d plus the ways") {
    /* 21 samples, 6 reuses at distance 1 and 4 at distance 5, 2 ways:
     * E(4) = 6 / (6 × 4 + 15 × (4 + 2)) = 0.053, E(8) = 10 / (6 × 4 + 4 × 8 + 11 × (8 + 2)) = 0.060.
     * Without the ways it would be 0.071 and 0.069. */
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=1", "l1.pdp.dynamic=true",
                                                       "l1.pdp.sampler_entries=256", "l1.pdp.recompute_reads=21"));
    read_lines(l1, "AABBCCDDEEFF"
                   "GHIJKGHIJ");
    CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), 8u);
    l1_fixture_destroy(l1);
}

TEST("pdp: a sample counts one reuse, and is then removed from the sampler") {
    /* Of 32 entries for 256 reads each takes every eighth: A, B and C. A and B are reused at distance 1, and again at
     * distance 5, which counts nothing: E(4) = 2 / (2 × 4 + 1 × 6), and less for larger d. */
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=1", "l1.pdp.dynamic=true",
                                                       "l1.pdp.sampler_entries=32", "l1.pdp.recompute_reads=24"));
    read_lines(l1, "DEFGHIJA"
                   "AEFGAIJB"
                   "BEFGBIJC");
    CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), 4u);
    l1_fixture_destroy(l1);
}

TEST("pdp: reuses of samples from before an update count as hits, and no sample as missed because of them") {
    /* Samples are A and B before the first update, C and D after it. Then A is reused at distance 9, B at 2 and C at 1:
     * 3 reuses for 2 samples. E(4) = 2 / (2 × 4), E(12) = 3 / (2 × 4 + 12). */
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=1", "l1.pdp.dynamic=true",
                                                       "l1.pdp.sampler_entries=32", "l1.pdp.recompute_reads=16"));
    read_lines(l1, "EFGHIJKA"
                   "LMNOPQRB");
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), 1u);
    read_lines(l1, "ABEFGHIC"
                   "CJKLMNOD");
    CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), 4u);
    l1_fixture_destroy(l1);
}

TEST("pdp: a reuse at the largest distance of 256 counts, and one at 257 does not") {
    for (unsigned between = 255; between <= 256; between++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS(SMALL, "l1.pdp.distance=1", "l1.pdp.dynamic=true",
                                                           "l1.pdp.sampler_entries=9", "l1.pdp.recompute_reads=300"));
        for (unsigned i = 0; i < 300; i++) {
            unsigned line = i == 28 || i == 28 + between + 1 ? 0 : 1 + i; /* of nine entries each takes every 29th */
            read_line(l1, line * UINT64_C(0x200), 0);
            l1->woken_count = 0;
            settle(l1);
        }
        CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), 1u);
        CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), between == 255 ? 256u : 1u);
        l1_fixture_destroy(l1);
    }
}
