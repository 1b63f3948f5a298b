#include "test.h"

#include "base/line_map.h"
#include "base/random.h"

TEST("a line map keeps the words of each line as it grows and clears them all at once") {
    enum { LINES = 5000 };
    struct line_map map;
    uint64_t random = 1, sum = 0, expected = 0;
    unsigned entries = 0;
    line_map_init(&map);
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < LINES; i++) CHECK_EQ(line_map_at(&map, i * 128)->value[0], 0u);
        for (unsigned i = 0; i < 3 * LINES; i++) {
            uint64_t line = random_below(&random, LINES);
            line_map_at(&map, line * 128)->value[0] += line;
            line_map_at(&map, line * 128)->value[1]++;
            expected += line;
        }
        for (struct line_entry *entry = line_map_next(&map, NULL); entry; entry = line_map_next(&map, entry)) {
            CHECK_EQ(entry->value[0], entry->value[1] * (entry->line / 128));
            sum += entry->value[0];
            entries++;
        }
        line_map_clear(&map);
        CHECK(!line_map_next(&map, NULL));
    }
    CHECK_EQ(entries, 3u * LINES);
    CHECK_EQ(sum, expected);
    line_map_release(&map);
}
