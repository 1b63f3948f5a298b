#include "cache/cache_fixture.h"

#include "base/random.h"
#include "cache/rrip.h"
#include "llc/llc.h"

static unsigned predicted(const struct cache *cache, unsigned set, unsigned way) {
    return *rrip_prediction(cache->replacement_state, set, way);
}

/* The mixed access pattern of the RRIP paper: two lines in use, a scan of four lines, and the two again. */
enum { A1 = 11, A2 = 12, B1 = 21, B2 = 22, B3 = 23, B4 = 24 };
static const struct use before_scan[] = {{A1, false, 0}, {A2, false, 0}, {A2, true, 0}, {A1, true, 0}};

TEST("SRRIP keeps two lines in use through a scan that evicts them under LRU") {
    static const struct use srrip[] = {
        {B1, false, 0},  /* a1 0, a2 0, b1 2 */
        {B2, false, 0},  /* a1 0, a2 0, b1 2, b2 2 */
        {B3, false, B1}, /* all age by one: a1 1, a2 1, b1 3 goes, b2 3 */
        {B4, false, B2}, /* a1 1, a2 1, b3 2, b4 2 */
        {A1, true, 0},   /* a1 0 */
        {A2, true, 0},   /* a2 0 */
    };
    static const struct use lru[] = {{B1, false, 0},  {B2, false, 0},  {B3, false, A2},
                                     {B4, false, A1}, {A1, false, B1}, {A2, false, B2}};
    static const unsigned predictions[] = {0, 0, 2, 2};
    struct cache cache;
    cache_init_as(&cache, 1, 4, "srrip");
    replay(&cache, before_scan, COUNT_OF(before_scan));
    replay(&cache, srrip, COUNT_OF(srrip));
    for (unsigned way = 0; way < 4; way++) CHECK_EQ(predicted(&cache, 0, way), predictions[way]);
    cache_release(&cache);
    cache_init_as(&cache, 1, 4, "lru");
    replay(&cache, before_scan, COUNT_OF(before_scan));
    replay(&cache, lru, COUNT_OF(lru));
    cache_release(&cache);
}

TEST("with frequency priority a hit decrements the prediction, with hit priority it clears it") {
    struct cache cache;
    uint64_t evicted;
    cache_init_with(&cache, 1, 2, "srrip", SETTINGS("l1.srrip.frequency=true", "l1.srrip.bits=3"));
    for (unsigned hits = 0; hits < 9; hits++) {
        use(&cache, 0, 7, &evicted);
        CHECK_EQ(predicted(&cache, 0, 0), hits < 6 ? 6 - hits : 0);
    }
    cache_release(&cache);
    cache_init_with(&cache, 1, 2, "srrip", SETTINGS("l1.srrip.bits=3"));
    use(&cache, 0, 7, &evicted);
    CHECK_EQ(predicted(&cache, 0, 0), 6u);
    use(&cache, 0, 7, &evicted);
    CHECK_EQ(predicted(&cache, 0, 0), 0u);
    cache_release(&cache);
}

/* The policy as it is described: a set whose lines age one step at a time until one is distant. */
struct set_by_the_book {
    uint64_t key[8];
    uint8_t prediction[8];
    enum line_state state[8];
};

enum { BOOK_WAYS = 8, BOOK_DISTANT = 3 };

static int book_find(const struct set_by_the_book *set, uint64_t key) {
    for (int way = 0; way < BOOK_WAYS; way++)
        if (set->state[way] != LINE_INVALID && set->key[way] == key) return way;
    return -1;
}

static int book_victim(struct set_by_the_book *set) {
    unsigned reserved = 0;
    for (int way = 0; way < BOOK_WAYS; way++) {
        if (set->state[way] == LINE_INVALID) return way;
        reserved += set->state[way] == LINE_RESERVED;
    }
    if (reserved == BOOK_WAYS) return -1;
    for (;;) {
        for (int way = 0; way < BOOK_WAYS; way++)
            if (set->state[way] != LINE_RESERVED && set->prediction[way] == BOOK_DISTANT) return way;
        for (int way = 0; way < BOOK_WAYS; way++) set->prediction[way] += set->prediction[way] < BOOK_DISTANT;
    }
}

static void book_step(struct cache *cache, struct set_by_the_book *set, uint64_t *random) {
    uint64_t key = 1 + random_below(random, 20), what = random_below(random, 10);
    struct cache_access access = access_to(0, key);
    struct cache_line *line = cache_lookup(cache, 0, key);
    int way = book_find(set, key);
    REQUIRE((line != NULL) == (way >= 0));
    if (line && line->state == LINE_RESERVED) {
        if (what < 5) line->state = set->state[way] = LINE_VALID;
    } else if (line && what < 8) {
        cache_touch(cache, line, &access);
        set->prediction[way] = 0;
    } else if (line) {
        cache_drop(cache, 0, line);
        set->state[way] = LINE_INVALID;
    } else {
        struct cache_line *victim = cache_victim(cache, 0);
        struct set_by_the_book asked = *set;
        way = book_victim(&asked);
        REQUIRE((victim != NULL) == (way >= 0));
        if (!victim) return;
        REQUIRE(cache_way_of(cache, 0, victim) == (unsigned)way);
        if (what < 3) return; /* another reservation failure: nothing changes */
        *set = asked;
        set->key[way] = key;
        set->prediction[way] = BOOK_DISTANT - 1;
        set->state[way] = what < 7 ? LINE_RESERVED : LINE_VALID;
        cache_place(cache, victim, &access, set->state[way]);
    }
    for (way = 0; way < BOOK_WAYS; way++)
        if (set->state[way] != LINE_INVALID) REQUIRE(predicted(cache, 0, (unsigned)way) == set->prediction[way]);
}

TEST("under random accesses, reservation failures, invalidations and fills SRRIP equals a reference, step by step") {
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct cache cache;
        struct set_by_the_book set = {0};
        uint64_t random = seed;
        cache_init_as(&cache, 1, BOOK_WAYS, "srrip");
        for (unsigned step = 0; step < 3000; step++) book_step(&cache, &set, &random);
        cache_release(&cache);
    }
}

TEST("BRRIP predicts one inserted line in 32, or in the configured number, as long and the others as distant") {
    static const struct {
        const char *setting;
        unsigned one_in;
    } rates[] = {{"l1.brrip.bits=2", 32}, {"l1.brrip.one_in=5", 5}, {"l1.brrip.one_in=1", 1}};
    for (unsigned i = 0; i < COUNT_OF(rates); i++) {
        struct cache cache;
        uint64_t evicted;
        unsigned expected = 0;
        cache_init_with(&cache, 320, 1, "brrip", SETTINGS(rates[i].setting));
        for (unsigned set = 0; set < 320; set++) {
            use(&cache, set, set, &evicted);
            CHECK(predicted(&cache, set, 0) >= 2);
            expected += predicted(&cache, set, 0) == 2;
        }
        CHECK_EQ(expected, 320 / rates[i].one_in);
        cache_release(&cache);
    }
}

/* Hits of a repeated sweep over more lines than a set has. */
static unsigned thrash(const char *replacement, unsigned sets) {
    struct cache cache;
    uint64_t evicted;
    unsigned hits = 0;
    cache_init_as(&cache, sets, 4, replacement);
    for (unsigned round = 0; round < 100; round++)
        for (uint64_t key = 1; key <= 6; key++)
            for (unsigned set = 0; set < sets; set++) hits += use(&cache, set, key, &evicted);
    cache_release(&cache);
    return hits;
}

TEST("on a cycle of six lines in four ways SRRIP and LRU never hit, BRRIP nearly half the time, DRRIP like BRRIP") {
    unsigned all = 100 * 6 * 32, bimodal = thrash("brrip", 32), dynamic = thrash("drrip", 32);
    CHECK_EQ(thrash("lru", 32), 0u);
    CHECK_EQ(thrash("srrip", 32), 0u);
    CHECK(bimodal > all * 4 / 10);
    CHECK(dynamic > bimodal * 7 / 10); /* four of 32 sets stay SRRIP */
    CHECK(dynamic < bimodal);
}

/* How a new set of four ways inserts its fifth and sixth lines: with a long prediction they evict the first and the
 * second line, with a distant one the sixth evicts the fifth. */
static bool places_bimodally(struct cache *cache, unsigned set) {
    uint64_t evicted;
    for (uint64_t key = 1; key <= 5; key++) use(cache, set, key, &evicted);
    CHECK_EQ(evicted, 1u);
    use(cache, set, 6, &evicted);
    CHECK(evicted == 2 || evicted == 5);
    return evicted == 5;
}

static void miss(struct cache *cache, unsigned set, unsigned times) {
    static const uint64_t anything = 1000;
    uint64_t evicted;
    for (unsigned i = 0; i < times; i++) CHECK(!use(cache, set, anything + i, &evicted));
    for (unsigned i = 0; i < times; i++) { /* invalidates them */
        struct cache_line *line = cache_lookup(cache, set, anything + i);
        if (line) cache_drop(cache, set, line);
    }
}

TEST("DRRIP's followers change with the leaders' misses, in both directions, and the counter saturates") {
    struct cache cache;
    enum { STATIC = 0, BIMODAL = 8 }; /* leader sets: the first and the middle one of a region */
    cache_init_with(&cache, 16, 4, "drrip",
                    SETTINGS("l1.drrip.leaders=1", "l1.drrip.counter_bits=3", "l1.drrip.one_in=65536"));
    CHECK(places_bimodally(&cache, 1)); /* 4 of 0 to 7 */
    miss(&cache, BIMODAL, 1);           /* 3 */
    CHECK(!places_bimodally(&cache, 2));
    miss(&cache, STATIC, 1); /* 4 */
    CHECK(places_bimodally(&cache, 3));
    miss(&cache, STATIC, 100); /* 7, not 104 */
    miss(&cache, BIMODAL, 3);  /* 4 */
    CHECK(places_bimodally(&cache, 4));
    miss(&cache, BIMODAL, 1); /* 3 */
    CHECK(!places_bimodally(&cache, 5));
    miss(&cache, BIMODAL, 100); /* 0 */
    miss(&cache, STATIC, 3);    /* 3 */
    CHECK(!places_bimodally(&cache, 6));
    CHECK(places_bimodally(&cache, BIMODAL)); /* whatever the others do */
    CHECK(!places_bimodally(&cache, STATIC));
    cache_release(&cache);
}

TEST("DRRIP is rejected for a cache with too few sets to duel, at the L1 and at the LLC") {
    CHECK_REJECTED(config_with(SETTINGS("l1.replacement=drrip", "l1.ways=128")),
                   "--set l1.replacement=drrip: l1.replacement: drrip needs at least 2 sets and the cache has 1");
    CHECK_REJECTED(config_with(SETTINGS("llc.replacement=drrip", "llc.slice_kb=96", "llc.ways=768")),
                   "--set llc.replacement=drrip: llc.replacement: drrip needs at least 2 sets and the cache has 1");
    CHECK_REJECTED(
        config_with(SETTINGS("l1.replacement=drrip", "l1.drrip.leaders=17")),
        "--set l1.drrip.leaders=17: l1.drrip.leaders: 17 leaders of each policy do not fit in 32 sets; use at most 16");
    CHECK_REJECTED(config_with(SETTINGS("llc.replacement=drrip", "llc.slice_kb=96", "llc.ways=256")),
                   "llc.drrip.leaders (default 4): 4 leaders of each policy do not fit in 3 sets; use at most 1");
}

TEST("policies of the L1 and of the LLC have separate parameters") {
    struct config *config = config_with(SETTINGS("l1.srrip.bits=1", "llc.srrip.bits=4"));
    static const struct section *const owners[] = {&l1_section, &llc_section};
    static const unsigned expected[] = {0, 14};
    for (unsigned i = 0; i < COUNT_OF(owners); i++) {
        struct cache cache;
        struct cache_geometry geometry = {.sets = 1, .ways = 1};
        uint64_t evicted;
        cache_init(&cache, &geometry, replacement_named("srrip"), config, owners[i], 0);
        use(&cache, 0, 1, &evicted);
        CHECK_EQ(predicted(&cache, 0, 0), expected[i]);
        cache_release(&cache);
    }
    config_destroy(config);
}
