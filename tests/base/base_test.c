#include "test.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/error.h"
#include "base/random.h"

TEST("nearest_name finds the intended name of a mistyped word") {
    static const char *const names[] = {"stream", "shared", "chase", "copy"};
    CHECK_EQ(nearest_name("steam", names, 4), "stream");
    CHECK_EQ(nearest_name("sahred", names, 4), "shared");
    CHECK_EQ(nearest_name("CHASE", names, 4), "chase");
    CHECK_EQ(nearest_name("copy", names, 4), "copy");
    CHECK(nearest_name("quadratic", names, 4) == NULL);
    CHECK_EQ(nearest_name("nope", names, 4), "copy");
    CHECK(nearest_name_within("nope", names, 4, 1) == NULL);
    CHECK_EQ(nearest_name_within("cpoy", names, 4, 1), "copy");
    CHECK(nearest_name("x", names, 0) == NULL);
}

TEST("nearest_name completes the beginning of a name if no name is close") {
    static const char *const names[] = {"latency_cycles", "size_kb_of_line", "size_kb", "sizes", "miss_queue"};
    CHECK_EQ(nearest_name("latency", names, 5), "latency_cycles");
    CHECK_EQ(nearest_name("SIZE_K", names, 3), "size_kb");
    CHECK_EQ(nearest_name("size", names, 3), "size_kb"); /* the shortest */
    CHECK_EQ(nearest_name("size", names, 4), "sizes");   /* one letter away */
    CHECK(nearest_name("mi", names, 5) == NULL);
    CHECK(nearest_name("queue", names, 5) == NULL);
}

TEST("the first error is kept and later ones are dropped") {
    struct error err = {0};
    CHECK(!error_at(&err, "a.yaml", 3, 7, "%d is too many", 9));
    CHECK(!error_set(&err, "second"));
    CHECK_EQ((const char *)err.text, "a.yaml:3:7: 9 is too many");
}

TEST("an error text that is too long is truncated within its buffer") {
    struct error err = {0};
    char *path = mem_alloc(5000, 1);
    for (int i = 0; i < 4999; i++) path[i] = 'p';
    error_at(&err, path, 1, 1, "%s", path);
    CHECK(err.set);
    CHECK_EQ(err.text[sizeof err.text - 1], '\0');
    free(path);
}

TEST("integer helpers are correct at their limits") {
    CHECK_EQ(low_mask(0), 0u);
    CHECK_EQ(low_mask(64), UINT64_MAX);
    CHECK_EQ(low_mask(5), 31u);
    CHECK_EQ(div_up(0, 4), 0u);
    CHECK_EQ(div_up(9, 4), 3u);
    CHECK_EQ(log2_floor(1), 0u);
    CHECK_EQ(log2_floor(UINT64_MAX), 63u);
    CHECK_EQ(round_up_power_of_two(0), 1u);
    CHECK_EQ(round_up_power_of_two(64), 64u);
    CHECK_EQ(round_up_power_of_two(65), 128u);
    CHECK(is_power_of_two(1) && !is_power_of_two(0) && !is_power_of_two(6));
}

TEST("random numbers stay below their bound, cover the range and repeat with the seed") {
    uint64_t state = 7, again = 7, seen = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = random_below(&state, 10);
        CHECK_EQ(x, random_below(&again, 10));
        REQUIRE(x < 10);
        seen |= UINT64_C(1) << x;
    }
    CHECK_EQ(seen, 0x3FFu);
}
