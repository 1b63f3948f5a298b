#include "cache/cache_fixture.h"

#include "cache/rrip.h"

/* Instructions: one whose lines are reused, one that streams. */
enum { R = 9, S = 7 };

TEST("SHiP learns which instruction streams and evicts its lines first, on a sequence worked out by hand") {
    /* The counters of both start at 1. Lines of R are 901 and 902, those of S 711 and up. After each use:
     * predictions by way, and the counters where they change. */
    static const struct use uses[] = {
        {901, false, 0},   /* 2 */
        {901, true, 0},    /* 0; R 2 */
        {711, false, 0},   /* 0 2 */
        {712, false, 0},   /* 0 2 2 */
        {713, false, 0},   /* 0 2 2 2 */
        {714, false, 711}, /* ageing: 1 3 3 3; 711 was never hit: S 0, so 714 is distant */
        {715, false, 714}, /* 1 3 3 3: the stream replaces itself */
        {716, false, 715}, /* likewise */
        {902, false, 716}, /* 1 2 3 3 */
        {717, false, 712}, /* 1 2 3 3 */
        {718, false, 717}, /* likewise */
        {901, true, 0},    /* 0 2 3 3; R 3 */
        {718, true, 0},    /* 0 2 0 3; S 1 */
        {719, false, 713}, /* 713 was never hit: S 0; 0 2 0 3 */
        {719, true, 0},    /* 0 2 0 0; S 1 */
        {720, false, 902}, /* ageing: 1 2 1 1; 902 was never hit: R 2, S still 1, so 720 is not distant */
        {721, false, 720}, /* ageing: 2 3 2 2; S 0 */
        {722, false, 721}, /* 2 3 2 2 */
        {901, true, 0},    /* 0 3 2 2 */
    };
    static const unsigned predictions[] = {0, 3, 2, 2};
    struct cache cache;
    cache_init_as(&cache, 1, 4, "ship");
    replay(&cache, uses, COUNT_OF(uses));
    for (unsigned way = 0; way < 4; way++)
        CHECK_EQ(*rrip_prediction(cache.replacement_state, 0, way), predictions[way]);
    cache_release(&cache);
}

static unsigned prediction_of_new_line(struct cache *cache, unsigned set, uint64_t key, uint32_t instr) {
    uint64_t evicted;
    CHECK(!use_by(cache, set, key, instr, &evicted));
    return *rrip_prediction(cache->replacement_state, set, 0);
}

/* A sequence of lines that are never hit. */
static void stream(struct cache *cache, unsigned set, uint64_t first, unsigned count, uint32_t instr) {
    uint64_t evicted;
    for (unsigned i = 0; i < count; i++) use_by(cache, set, first + i, instr, &evicted);
}

TEST("a SHiP counter starts at its configured value and saturates at both ends") {
    static const struct {
        const char *setting;
        unsigned lines; /* evictions without a hit until the instruction is predicted to stream */
    } starts[] = {{"l1.ship.start=0", 0}, {"l1.ship.start=3", 3}, {"l1.ship.start=200", 7}};
    for (unsigned i = 0; i < COUNT_OF(starts); i++) {
        struct cache cache;
        cache_init_with(&cache, 64, 1, "ship", SETTINGS(starts[i].setting));
        if (starts[i].lines) {
            stream(&cache, 0, 100, starts[i].lines, S); /* the first replaces nothing */
            CHECK_EQ(prediction_of_new_line(&cache, 1, 1, S), 2u);
        }
        stream(&cache, 0, 200, 1, S);
        CHECK_EQ(prediction_of_new_line(&cache, 2, 2, S), 3u);
        CHECK_EQ(prediction_of_new_line(&cache, 3, 3, R), starts[i].lines ? 2u : 3u);
        stream(&cache, 0, 300, 50, S); /* does not go below zero */
        uint64_t evicted;
        use_by(&cache, 1, 7, S, &evicted);
        use_by(&cache, 1, 7, S, &evicted);
        CHECK_EQ(prediction_of_new_line(&cache, 4, 4, S), 2u);
        cache_release(&cache);
    }
}

TEST("an invalidated line does not train SHiP") {
    struct cache cache;
    cache_init_as(&cache, 4, 1, "ship");
    for (uint64_t key = 1; key < 20; key++) {
        stream(&cache, 0, key, 1, S);
        cache_drop(&cache, 0, cache_lookup(&cache, 0, key));
    }
    CHECK_EQ(prediction_of_new_line(&cache, 1, 100, S), 2u);
    cache_release(&cache);
}

TEST("with signatures by region, SHiP distinguishes lines by address, not by instruction") {
    struct cache cache;
    cache_init_with(&cache, 4, 1, "ship", SETTINGS("l1.ship.signature=region", "l1.ship.region_lines=128"));
    stream(&cache, 0, 1280, 10, S); /* region 10 */
    CHECK_EQ(prediction_of_new_line(&cache, 1, 1280 + 127, R), 3u);
    CHECK_EQ(prediction_of_new_line(&cache, 2, 1280 + 128, S), 2u);
    cache_release(&cache);
}

TEST("the same instruction in two programs has two signatures") {
    struct cache cache;
    cache_init_as(&cache, 4, 1, "ship");
    stream(&cache, 0, cache_key(50, 0), 10, S);
    CHECK_EQ(prediction_of_new_line(&cache, 1, cache_key(3, 0), S), 3u);
    CHECK_EQ(prediction_of_new_line(&cache, 2, cache_key(3, 1), S), 2u);
    cache_release(&cache);
}
