#include "cache/sectors.h"

#include "test.h"

TEST(
    "a write makes sectors that it covers valid and others partial; a fill makes partial ones valid and keeps them dirty") {
    struct cache_line line = {.valid = 0x1};
    sectors_write(&line, 0x2, true);
    sectors_write(&line, 0x5, false); /* one of them is present already */
    CHECK_EQ(line.valid, 0x3);
    CHECK_EQ(line.dirty, 0x7);
    CHECK_EQ(sectors_partial(&line), 0x4);
    CHECK_EQ(sectors_missing(&line, 0xF), 0xC);
    line.valid |= 0xC;
    CHECK_EQ(sectors_partial(&line), 0);
    CHECK_EQ(line.dirty, 0x7);
}

TEST("sectors are widened to the aligned groups that contain them") {
    static const struct {
        uint8_t sectors, wide;
        unsigned granule;
    } cases[] = {{0x05, 0x05, 1}, {0x02, 0x03, 2}, {0x06, 0x0F, 2}, {0x80, 0xC0, 2},
                 {0x10, 0xF0, 4}, {0x18, 0xFF, 4}, {0x01, 0xFF, 8}, {0x00, 0x00, 4}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++)
        CHECK_EQ(sectors_widen(cases[i].sectors, cases[i].granule), cases[i].wide);
}
