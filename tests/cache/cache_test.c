#include "cache/cache_fixture.h"

#include "base/random.h"

TEST("LRU evicts in the order of last use, on a sequence worked out by hand") {
    struct cache cache;
    cache_init_as(&cache, 1, 4, "lru");
    static const struct use uses[] = {
        {1, false, 0}, {2, false, 0}, {3, false, 0}, {4, false, 0}, /* 1 2 3 4, oldest first */
        {1, true, 0},                                               /* 2 3 4 1 */
        {5, false, 2},                                              /* 3 4 1 5 */
        {3, true, 0},                                               /* 4 1 5 3 */
        {6, false, 4},                                              /* 1 5 3 6 */
        {2, false, 1},                                              /* 5 3 6 2 */
        {5, true, 0},                                               /* 3 6 2 5 */
        {7, false, 3}, {8, false, 6}, {9, false, 2}, {10, false, 5},
    };
    replay(&cache, uses, COUNT_OF(uses));
    cache_release(&cache);
}

TEST("sets are independent of each other") {
    struct cache cache;
    cache_init_as(&cache, 8, 2, "lru");
    uint64_t evicted;
    for (uint64_t i = 0; i < 2; i++)
        for (unsigned set = 0; set < 8; set++) use(&cache, set, 100 * i + set, &evicted);
    for (uint64_t i = 0; i < 50; i++) use(&cache, 3, 1000 + i, &evicted);
    for (unsigned set = 0; set < 8; set++) CHECK_EQ(cache_lookup(&cache, set, 100 + set) != NULL, set != 3);
    cache_release(&cache);
}

TEST("an invalid line is allocated before any valid line is evicted") {
    for (unsigned i = 0; i < replacement_family.count; i++) {
        struct cache cache;
        cache_init_as(&cache, 8, 8, replacement_family.members[i]->name);
        uint64_t evicted;
        for (uint64_t key = 1; key <= 8; key++) {
            CHECK(!use(&cache, 0, key, &evicted));
            CHECK_EQ(evicted, 0u);
        }
        cache_drop(&cache, 0, cache_lookup(&cache, 0, 5));
        CHECK(!use(&cache, 0, 9, &evicted));
        CHECK_EQ(evicted, 0u);
        CHECK(!use(&cache, 0, 10, &evicted));
        CHECK(evicted != 0);
        cache_release(&cache);
    }
}

TEST("a reserved line is never a victim, and a set of reserved lines has none") {
    for (unsigned i = 0; i < replacement_family.count; i++) {
        struct cache cache;
        cache_init_as(&cache, 8, 4, replacement_family.members[i]->name);
        for (uint64_t key = 1; key <= 4; key++) {
            struct cache_access access = access_to(1, key);
            cache_place(&cache, cache_victim(&cache, 1), &access, key == 3 ? LINE_VALID : LINE_RESERVED);
        }
        CHECK_EQ(cache_reserved_lines(&cache), 3u);
        for (uint64_t key = 10; key < 40; key++) { /* the only line that may go, again and again */
            struct cache_line *victim = cache_victim(&cache, 1);
            REQUIRE(victim);
            CHECK_EQ(cache_way_of(&cache, 1, victim), 2u);
            struct cache_access access = access_to(1, key);
            cache_place(&cache, victim, &access, LINE_VALID);
        }
        struct cache_access access = access_to(1, 99);
        cache_place(&cache, cache_victim(&cache, 1), &access, LINE_RESERVED);
        CHECK(!cache_victim(&cache, 1));
        CHECK(cache_victim(&cache, 0));
        cache_lookup(&cache, 1, 2)->state = LINE_MODIFIED;
        CHECK_EQ((const void *)cache_victim(&cache, 1), (const void *)cache_lookup(&cache, 1, 2));
        cache_release(&cache);
    }
}

TEST("a certain victim is the victim, also after reserved lines have become valid") {
    unsigned certain = 0;
    for (unsigned i = 0; i < replacement_family.count; i++) {
        struct cache cache;
        cache_init_as(&cache, 8, 4, replacement_family.members[i]->name);
        uint64_t random = i + 1, evicted;
        for (unsigned step = 0; step < 400; step++) {
            use(&cache, 0, 1 + random_below(&random, 12), &evicted);
            struct cache_line *lines = cache_line_at(&cache, 0, 0), kept[4];
            memcpy(kept, lines, sizeof kept);
            for (unsigned way = 0; way < 4; way++)
                if (lines[way].state != LINE_INVALID && random_below(&random, 3) == 0) lines[way].state = LINE_RESERVED;
            struct cache_line *victim = cache_certain_victim(&cache, 0);
            if (victim) {
                CHECK_EQ(victim, cache_victim(&cache, 0));
                memcpy(lines, kept, sizeof kept);
                CHECK_EQ(victim, cache_victim(&cache, 0));
                certain++;
            }
            memcpy(lines, kept, sizeof kept);
        }
        cache_release(&cache);
    }
    CHECK(certain > 200);
}

TEST("48 sets, not a power of two, are used evenly") {
    struct cache cache;
    cache_init_as(&cache, 48, 1, "lru");
    unsigned used[48] = {0};
    for (uint64_t index = 0; index < 48 * 100; index++) used[cache_set_of(&cache, index)]++;
    for (unsigned set = 0; set < 48; set++) CHECK_EQ(used[set], 100u);
    cache_release(&cache);
}

TEST("consecutive lines use any number of sets evenly") {
    for (unsigned sets = 1; sets <= 70; sets++) {
        struct cache cache;
        unsigned used[70] = {0};
        cache_init_as(&cache, sets, 1, "lru");
        for (uint64_t index = 0; index < sets * 10; index++) {
            REQUIRE(cache_set_of(&cache, index) < sets);
            used[cache_set_of(&cache, index)]++;
        }
        for (unsigned set = 0; set < sets; set++) CHECK_EQ(used[set], 10u);
        cache_release(&cache);
    }
}

TEST("the same address in two programs is two lines") {
    CHECK(cache_key(7, 0) != cache_key(7, 1));
    struct cache cache;
    uint64_t evicted;
    cache_init_as(&cache, 1, 4, "lru");
    use(&cache, 0, cache_key(7, 0), &evicted);
    CHECK(!cache_lookup(&cache, 0, cache_key(7, 1)));
    cache_release(&cache);
}

TEST("invalidating a cache keeps its reserved lines and no others") {
    struct cache cache;
    cache_init_as(&cache, 4, 4, "lru");
    for (unsigned set = 0; set < 4; set++)
        for (uint64_t key = 1; key <= 4; key++) {
            struct cache_access access = access_to(set, key);
            cache_place(&cache, cache_victim(&cache, set), &access,
                        key == 1   ? LINE_RESERVED
                        : key == 2 ? LINE_MODIFIED
                                   : LINE_VALID);
        }
    cache_invalidate(&cache);
    for (unsigned set = 0; set < 4; set++)
        for (uint64_t key = 1; key <= 4; key++) CHECK_EQ(cache_lookup(&cache, set, key) != NULL, key == 1);
    CHECK_EQ(cache_reserved_lines(&cache), 4u);
    cache_release(&cache);
}

/* A set as a list of keys, the most recently used first. */
struct reference {
    struct {
        uint64_t key;
        enum line_state state;
    } line[32];
    unsigned count;
};

static int reference_find(const struct reference *set, uint64_t key) {
    for (unsigned i = 0; i < set->count; i++)
        if (set->line[i].key == key) return (int)i;
    return -1;
}

static void reference_remove(struct reference *set, unsigned i) {
    for (set->count--; i < set->count; i++) set->line[i] = set->line[i + 1];
}

static void reference_front(struct reference *set, uint64_t key, enum line_state state) {
    for (unsigned i = set->count++; i > 0; i--) set->line[i] = set->line[i - 1];
    set->line[0].key = key;
    set->line[0].state = state;
}

/* The last in the list that is not reserved; -1 if there is none. */
static int reference_victim(const struct reference *set) {
    for (unsigned i = set->count; i > 0; i--)
        if (set->line[i - 1].state != LINE_RESERVED) return (int)i - 1;
    return -1;
}

enum { REFERENCE_SETS = 3, REFERENCE_KEYS = 48 };

static void compare(const struct cache *cache, const struct reference *reference, const uint64_t *keys) {
    for (unsigned set = 0; set < REFERENCE_SETS; set++)
        for (unsigned i = 0; i < REFERENCE_KEYS; i++) {
            const struct cache_line *line = cache_lookup(cache, set, keys[i]);
            int at = reference_find(&reference[set], keys[i]);
            REQUIRE((line != NULL) == (at >= 0));
            if (!line) continue;
            REQUIRE(line->state == reference[set].line[at].state);
            REQUIRE(line->key == keys[i]);
            REQUIRE(cache_way_of(cache, set, line) < cache->ways);
        }
}

/* One random thing happens to a cache and its reference alike. */
static void random_step(struct cache *cache, struct reference *reference, const uint64_t *keys, uint64_t *random) {
    unsigned set = (unsigned)random_below(random, REFERENCE_SETS);
    uint64_t key = keys[random_below(random, min_u64(REFERENCE_KEYS, 3 * cache->ways))],
             what = random_below(random, 10);
    struct reference *list = &reference[set];
    struct cache_access access = access_to(set, key);
    struct cache_line *line = cache_lookup(cache, set, key);
    int at = reference_find(list, key);
    REQUIRE((line != NULL) == (at >= 0));
    if (line && what < 6) { /* a use */
        enum line_state state = list->line[at].state;
        cache_touch(cache, line, &access);
        reference_remove(list, (unsigned)at);
        reference_front(list, key, state);
    } else if (line && line->state == LINE_RESERVED) { /* its data arrives */
        line->state = LINE_VALID;
        list->line[at].state = LINE_VALID;
    } else if (line && what < 8) {
        cache_drop(cache, set, line);
        reference_remove(list, (unsigned)at);
    } else if (!line) {
        struct cache_line *victim = cache_victim(cache, set);
        bool full = list->count == cache->ways;
        int goes = full ? reference_victim(list) : 0;
        REQUIRE((victim != NULL) == (goes >= 0));
        if (!victim) return;
        if (full) {
            REQUIRE(victim->key == list->line[goes].key);
            reference_remove(list, (unsigned)goes);
        }
        enum line_state state = what < 5 ? LINE_RESERVED : LINE_VALID;
        cache_place(cache, victim, &access, state);
        reference_front(list, key, state);
    }
}

TEST("under random accesses, invalidations and fills an LRU cache holds the lines of a recency list") {
    static const unsigned ways[] = {1, 2, 5, 8, 16, 19};
    for (unsigned w = 0; w < COUNT_OF(ways); w++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct cache cache;
            struct reference reference[REFERENCE_SETS] = {{.count = 0}};
            uint64_t random = seed, keys[REFERENCE_KEYS];
            /* Keys near each other, keys that differ in their upper bits only, and any others. */
            for (unsigned i = 0; i < REFERENCE_KEYS; i++)
                keys[i] = i % 3 == 0 ? 1000 + i : i % 3 == 1 ? (uint64_t)i << 40 | 77 : random_next(&random) >> 1;
            cache_init_as(&cache, REFERENCE_SETS, ways[w], "lru");
            for (unsigned step = 0; step < 2000; step++) {
                random_step(&cache, reference, keys, &random);
                if (step % 20 == 0) compare(&cache, reference, keys);
            }
            unsigned reserved = 0;
            for (unsigned set = 0; set < REFERENCE_SETS; set++)
                for (unsigned i = 0; i < reference[set].count; i++)
                    reserved += reference[set].line[i].state == LINE_RESERVED;
            CHECK_EQ(cache_reserved_lines(&cache), reserved);
            cache_release(&cache);
        }
}

TEST("random replacement returns the same victim until it is evicted, whatever else is touched") {
    struct cache cache;
    cache_init_as(&cache, 4, 8, "random");
    uint64_t evicted, next = 1000;
    for (unsigned set = 0; set < 4; set++)
        for (uint64_t key = 1; key <= 8; key++) use(&cache, set, key, &evicted);
    unsigned goes[8] = {0};
    for (unsigned round = 0; round < 400; round++) {
        struct cache_line *victim = cache_victim(&cache, 2);
        for (unsigned i = 0; i < 3; i++) {
            struct cache_access other = access_to(1, 3);
            struct cache_line *line = cache_lookup(&cache, 1, 3);
            if (line) cache_touch(&cache, line, &other);
            use(&cache, 1, next++, &evicted);
            CHECK_EQ((const void *)cache_victim(&cache, 2), (const void *)victim);
        }
        goes[cache_way_of(&cache, 2, victim)]++;
        struct cache_access access = access_to(2, next++);
        cache_place(&cache, victim, &access, LINE_VALID);
    }
    for (unsigned way = 0; way < 8; way++) CHECK(goes[way] > 20); /* 50 expected */
    cache_release(&cache);
}

TEST("a fully associative cache of any number of ways holds as many lines, under every replacement policy") {
    static const unsigned ways[] = {1, 3, 128, 3000};
    for (unsigned i = 0; i < replacement_family.count; i++)
        for (unsigned w = 0; w < COUNT_OF(ways); w++) {
            struct cache cache;
            uint64_t evicted;
            if (strcmp(replacement_family.members[i]->name, "drrip") == 0) continue; /* compares sets */
            cache_init_as(&cache, 1, ways[w], replacement_family.members[i]->name);
            for (uint64_t key = 1; key <= ways[w]; key++) {
                REQUIRE(!use(&cache, 0, key * 977, &evicted));
                REQUIRE(evicted == 0);
            }
            for (uint64_t key = 1; key <= ways[w]; key++) REQUIRE(use(&cache, 0, key * 977, &evicted));
            for (uint64_t key = 1; key <= ways[w]; key++) {
                REQUIRE(!use(&cache, 0, key * 977 + 1, &evicted));
                REQUIRE(evicted != 0 && !cache_lookup(&cache, 0, evicted));
            }
            cache_release(&cache);
        }
}
