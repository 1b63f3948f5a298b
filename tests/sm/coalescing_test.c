#include "test.h"

#include <string.h>

#include "sm/coalescing.h"
#include "sm/sm_fixture.h"

static const struct coalescing_ops *rule(const char *name) {
    for (unsigned i = 0; i < coalescing_family.count; i++)
        if (strcmp(coalescing_family.members[i]->name, name) == 0)
            return (const struct coalescing_ops *)coalescing_family.members[i];
    REQUIRE(!"a coalescing rule of that name");
    return NULL;
}

struct accesses {
    unsigned count;
    uint64_t access[COALESCING_MAX];
    unsigned line_log2;
};

static uint64_t line_at(const struct accesses *accesses, unsigned i) {
    return access_line(accesses->access[i], UINT64_C(1) << accesses->line_log2);
}
static unsigned sectors_at(const struct accesses *accesses, unsigned i) {
    return access_sectors(accesses->access[i], UINT64_C(1) << accesses->line_log2);
}

/* What a warp touches whose lane i accesses `bytes` at base + i × stride, as a front end would put it together. */
static unsigned touches_of(uint64_t base, uint64_t stride, unsigned bytes, uint64_t *touch) {
    unsigned count = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        for (uint64_t address = base + lane * stride; address < base + lane * stride + bytes; address++) {
            uint64_t sector = touch_make(address, (uint8_t)(1 << (address % 256 / 32)));
            if (count && touch_address(touch[count - 1]) == touch_address(sector))
                touch[count - 1] |= sector;
            else
                touch[count++] = sector;
        }
    return count;
}

static struct accesses coalesce(const char *name, uint64_t base, uint64_t stride, unsigned bytes, unsigned line_log2) {
    uint64_t touch[64];
    unsigned count = touches_of(base, stride, bytes, touch);
    struct accesses accesses = {.line_log2 = line_log2};
    accesses.count = rule(name)->coalesce(touch, count, log2_floor(bytes), line_log2, false, accesses.access);
    return accesses;
}

TEST("32 lanes that read 4 contiguous bytes each make one access of a whole line") {
    struct accesses a = coalesce("segment", 0x4000, 4, 4, 7);
    REQUIRE(a.count == 1);
    CHECK_EQ(line_at(&a, 0), 0x4000u);
    CHECK_EQ(sectors_at(&a, 0), 0xFu);
}

TEST("at a stride of two they make two accesses, one to the next line") {
    struct accesses a = coalesce("segment", 0x4000, 8, 4, 7);
    REQUIRE(a.count == 2);
    CHECK_EQ(line_at(&a, 0), 0x4000u);
    CHECK_EQ(line_at(&a, 1), 0x4080u);
    CHECK_EQ(sectors_at(&a, 1), 0xFu);
}

TEST("32 lanes in 32 lines make 32 accesses of one sector each") {
    struct accesses a = coalesce("segment", 0x4000, 512, 4, 7);
    REQUIRE(a.count == 32);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(line_at(&a, i), 0x4000u + 512 * i);
        CHECK_EQ(sectors_at(&a, i), 0x1u);
    }
}

TEST("lanes that read the same word make one access of one sector") {
    struct accesses a = coalesce("segment", 0x4044, 0, 4, 7);
    REQUIRE(a.count == 1);
    CHECK_EQ(line_at(&a, 0), 0x4000u);
    CHECK_EQ(sectors_at(&a, 0), 0x4u);
}

TEST("a misaligned access extends into a second line") {
    struct accesses a = coalesce("segment", 0x4010, 4, 4, 7);
    REQUIRE(a.count == 2);
    CHECK_EQ(sectors_at(&a, 0), 0xFu);
    CHECK_EQ(line_at(&a, 1), 0x4080u);
    CHECK_EQ(sectors_at(&a, 1), 0x1u);
}

TEST("a segment has 32 bytes for one-byte lanes, 64 for two bytes, and a line for four and more") {
    struct accesses bytes = coalesce("segment", 0x4000, 4, 1, 7), halves = coalesce("segment", 0x4000, 4, 2, 7);
    REQUIRE(bytes.count == 4 && halves.count == 2);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(line_at(&bytes, i), 0x4000u);
        CHECK_EQ(sectors_at(&bytes, i), 1u << i);
    }
    CHECK_EQ(sectors_at(&halves, 0), 0x3u);
    CHECK_EQ(sectors_at(&halves, 1), 0xCu);
    CHECK_EQ(coalesce("segment", 0x4000, 4, 4, 7).count, 1u);
    CHECK_EQ(coalesce("segment", 0x4000, 8, 8, 7).count, 2u);
    CHECK_EQ(coalesce("segment", 0x4000, 16, 16, 7).count, 4u);
    CHECK_EQ(coalesce("segment", 0x4000, 1, 1, 7).count, 1u);
}

TEST("a segment shrinks to the half or quarter that contains all its bytes, and no further") {
    static const struct {
        unsigned needed, moved;
    } cases[] = {{0x1, 0x1}, {0x2, 0x2}, {0x3, 0x3}, {0x4, 0x4}, {0x8, 0x8},
                 {0xC, 0xC}, {0x6, 0xF}, {0x9, 0xF}, {0x5, 0xF}, {0x7, 0xF}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        uint64_t touch = touch_make(0x4000, (uint8_t)(cases[i].needed << 4));
        struct accesses a = {.line_log2 = 7};
        a.count = rule("segment")->coalesce(&touch, 1, 2, 7, false, a.access);
        REQUIRE(a.count == 1);
        CHECK_EQ(line_at(&a, 0), 0x4080u);
        CHECK_EQ(sectors_at(&a, 0), cases[i].moved);
    }
}

TEST("a warp that reads 8 bytes per lane makes one access with 256-byte lines, and four with 64-byte lines") {
    struct accesses wide = coalesce("segment", 0x4000, 8, 8, 8), narrow = coalesce("segment", 0x4000, 8, 8, 6);
    REQUIRE(wide.count == 1 && narrow.count == 4);
    CHECK_EQ(sectors_at(&wide, 0), 0xFFu);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(line_at(&narrow, i), 0x4000u + 64 * i);
        CHECK_EQ(sectors_at(&narrow, i), 0x3u);
    }
}

TEST("by sectors, every touched line is one access that transfers only the touched sectors") {
    uint64_t touch[] = {touch_make(0x4000, 0x95), touch_make(0x5000, 0x01)};
    struct accesses a = {.line_log2 = 7}, wide = {.line_log2 = 8};
    a.count = rule("sector")->coalesce(touch, 2, 2, 7, false, a.access);
    REQUIRE(a.count == 3);
    CHECK_EQ(sectors_at(&a, 0), 0x5u);
    CHECK_EQ(line_at(&a, 1), 0x4080u);
    CHECK_EQ(sectors_at(&a, 1), 0x9u);
    CHECK_EQ(line_at(&a, 2), 0x5000u);
    wide.count = rule("sector")->coalesce(touch, 2, 2, 8, false, wide.access);
    REQUIRE(wide.count == 2);
    CHECK_EQ(sectors_at(&wide, 0), 0x95u);
    CHECK_EQ(coalesce("sector", 0x4000, 4, 1, 7).count, 1u); /* the width of a lane does not matter */
}

TEST("by Fermi's rule the highest segment goes first, and accesses that bypass the L1 have one sector each") {
    uint64_t touch[] = {touch_make(0x4000, 0x95), touch_make(0x5000, 0x01)};
    struct accesses a = {.line_log2 = 7}, past = {.line_log2 = 7};
    a.count = rule("fermi")->coalesce(touch, 2, 2, 7, false, a.access);
    REQUIRE(a.count == 3);
    CHECK_EQ(line_at(&a, 0), 0x5000u);
    CHECK_EQ(line_at(&a, 1), 0x4080u);
    CHECK_EQ(line_at(&a, 2), 0x4000u);
    CHECK_EQ(sectors_at(&a, 2), 0xFu); /* as a segment, of which both halves are needed */
    past.count = rule("fermi")->coalesce(touch, 2, 2, 7, true, past.access);
    REQUIRE(past.count == 5);
    CHECK_EQ(sectors_at(&past, 1), 0x8u);
    CHECK_EQ(line_at(&past, 4), 0x4000u);
    CHECK_EQ(sectors_at(&past, 4), 0x1u);
}

TEST("every touched byte is transferred by an access within its line, by every rule and line size") {
    uint64_t random = 11;
    for (unsigned round = 0; round < 300; round++) {
        uint64_t touch[32];
        for (unsigned i = 0; i < 32; i++)
            touch[i] =
                touch_make(0x100000 + i * 0x300, (uint8_t)(1 + (random = random * 1103515245 + 12345) / 65536 % 255));
        for (unsigned r = 0; r < coalescing_family.count; r++)
            for (unsigned line_log2 = 6; line_log2 <= 8; line_log2++)
                for (unsigned bytes_log2 = 0; bytes_log2 <= 4; bytes_log2++) {
                    struct accesses a = {.line_log2 = line_log2};
                    uint8_t moved[32] = {0};
                    a.count = ((const struct coalescing_ops *)coalescing_family.members[r])
                                  ->coalesce(touch, 32, bytes_log2, line_log2, round & 1, a.access);
                    REQUIRE(a.count <= COALESCING_MAX);
                    for (unsigned i = 0; i < a.count; i++) {
                        uint64_t line = line_at(&a, i), block = (line - 0x100000) / 0x300;
                        REQUIRE(sectors_at(&a, i) != 0 && sectors_at(&a, i) < 1u << (1u << (line_log2 - 5)));
                        REQUIRE(block < 32 && line >= touch_address(touch[block]) &&
                                line < touch_address(touch[block]) + 256);
                        moved[block] |= (uint8_t)(sectors_at(&a, i) << (line % 256 / 32));
                    }
                    for (unsigned i = 0; i < 32; i++) REQUIRE((touch_sectors(touch[i]) & ~moved[i]) == 0);
                }
    }
    CHECK(true); /* the test has ended before if anything was missing */
}

TEST("the load/store unit issues one access per cycle, and a load waits for its last access") {
    struct step steps[] = {load_line(1, 0), alu(OP_other, 2, 1)};
    steps[0].instr.count = (uint16_t)touches_of(0x4000, 256, 4, steps[0].touch);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.mshrs=64", "l1.miss_queue=64"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.accesses"), 32u);
    CHECK_EQ(sm->requests, 32u);
    uint64_t first = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles;
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(sm->requested_at[i], first + i + 1);
        CHECK_EQ(sm->request[i].address, 0x4000u + 256 * i);
    }
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + miss_latency(sm) + 31);
    sm_fixture_destroy(sm);
}

/* The smallest aligned power of two of sectors that contains all of `needed`, by trying all of them. */
static unsigned smallest_block(unsigned needed) {
    for (unsigned span = 1;; span *= 2)
        for (unsigned first = 0; first < 8; first += span) {
            unsigned block = ((1u << span) - 1) << first;
            if (!(needed & ~block)) return block;
        }
}

TEST("an access is the smallest aligned power of two with all touched sectors of its line, for every set of sectors") {
    for (unsigned line_log2 = 5; line_log2 <= 8; line_log2++)
        for (unsigned touched = 1; touched < 256; touched++) {
            unsigned line_sectors = 1u << (line_log2 - 5), n = 0;
            uint64_t touch = touch_make(0x4000, (uint8_t)touched);
            struct accesses a = {.line_log2 = line_log2};
            a.count = rule("segment")->coalesce(&touch, 1, 2, line_log2, false, a.access);
            for (unsigned first = 0; first < 8; first += line_sectors) {
                unsigned needed = touched >> first & ((1u << line_sectors) - 1);
                if (!needed) continue;
                REQUIRE(n < a.count);
                CHECK_EQ(line_at(&a, n), 0x4000u + 32 * first);
                CHECK_EQ(sectors_at(&a, n), smallest_block(needed));
                n++;
            }
            CHECK_EQ(a.count, n);
        }
}
