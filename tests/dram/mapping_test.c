/* Tests of the address mappings: each is a bijection whose fields stay in range, and each spreads addresses as it
 * is meant to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dram/dram_fixture.h"
#include "llc/llc.h"

static struct address_map *map_of(struct config *config) {
    struct error err = {0};
    if (!config_check(config, &err)) CHECK_TEXT(err.text, "no error");
    struct address_map *map = address_map_create(config, &err);
    REQUIRE(map != NULL);
    return map;
}

#define PAE_80SM "dram.pae.masks=[0x23602C00, 0xCA1C4900, 0x75680700, 0x13A46F00, 0x6E904C00, 0xFEBC7C00, 0xF4146C00]"
#define PAE_64SM \
    "dram.pae.masks=[0xD851C600, 0x33315F00, 0x1E005000, 0xBE40DE00, 0x4F413B00, 0x7EC03A00, " \
    "0x8B01F800, 0x1601F300, 0x1E212E00]"
#define SHAPE_80SM "dram.mcs=8", "llc.slices_per_mc=8", "dram.gddr5.row_bytes=2048", "dram.gddr5.burst_bytes=128"
#define SHAPE_64SM "dram.mcs=4", "dram.channels_per_mc=8", "llc.slices_per_mc=16", "dram.kind=hbm"

static const char *const machines[][10] = {
    {"dram.mapping=pae", SHAPE_80SM, PAE_80SM},
    {"dram.mapping=pae", SHAPE_80SM},
    {"dram.mapping=hynix", SHAPE_80SM},
    {"dram.mapping=linear", SHAPE_80SM},
    {"dram.mapping=pae", SHAPE_64SM, PAE_64SM},
    {"dram.mapping=hynix", SHAPE_64SM},
    {"dram.mapping=linear", SHAPE_64SM},
    {"dram.mapping=linear", "dram.mcs=6", "llc.slices_per_mc=2"},
    {"dram.mapping=pae", "dram.mcs=6", "llc.slices_per_mc=1"},
    {"dram.mapping=hynix", "dram.mcs=12", "llc.slices_per_mc=6", "dram.channels_per_mc=2"},
    {"dram.mapping=pae", "dram.mcs=1", "llc.slices_per_mc=1"},
    {"dram.mapping=linear", "dram.mcs=3", "llc.slices_per_mc=64", "gpu.line_bytes=256"},
    {"dram.mapping=pae", "dram.mcs=64", "dram.channels_per_mc=32", "llc.slices_per_mc=2", "dram.pae.seed=9"},
    {"dram.mapping=pae", "dram.mcs=16", "dram.interleave_bytes=128", "llc.slices_per_mc=16", "dram.gddr5.banks=64"},
};

TEST("the inverse of every mapping restores the address on every shape, and every field is in range") {
    for (unsigned m = 0; m < COUNT_OF(machines); m++) {
        struct config *config = config_with(machines[m]);
        struct address_map *map = map_of(config);
        const struct dram_device *device = dram_device_of(config);
        uint64_t seed = m + 1;
        unsigned wrong = 0, out_of_range = 0;
        for (unsigned i = 0; i < 20000; i++) {
            uint64_t address = random_next(&seed) >> (64 - 20 - i % 21); /* up to 40 bits */
            struct location place;
            address_map_locate(map, address, &place);
            wrong += address_map_address(map, &place) != address;
            out_of_range += place.mc >= address_map_mcs(map) || place.channel >= map->channels ||
                            place.slice >= address_map_slices_per_mc(map) || place.bank >= device->banks ||
                            place.column >= device->row_bytes;
        }
        CHECK_EQ(wrong, 0u);
        CHECK_EQ(out_of_range, 0u);
        address_map_destroy(map);
        config_destroy(config);
    }
}

TEST("the bytes of an interleave unit stay together, in order, in one row") {
    for (unsigned m = 0; m < COUNT_OF(machines); m++) {
        struct config *config = config_with(machines[m]);
        struct address_map *map = map_of(config);
        const struct dram_config *dram = config_get(config, &dram_section);
        uint64_t seed = m, mask = (uint64_t)dram->interleave_bytes - 1;
        for (unsigned i = 0; i < 200; i++) {
            uint64_t address = (random_next(&seed) >> 28) & ~mask;
            struct location first, last;
            address_map_locate(map, address, &first);
            address_map_locate(map, address + mask, &last);
            CHECK(first.mc == last.mc && first.channel == last.channel && first.slice == last.slice &&
                  first.bank == last.bank && first.row == last.row);
            CHECK_EQ(last.column - first.column, (uint32_t)mask);
            CHECK_EQ(last.partition - first.partition, mask);
        }
        address_map_destroy(map);
        config_destroy(config);
    }
}

TEST("partition addresses omit controller and slice: each slice sees each of its low values once") {
    enum { BLOCKS = 256 }; /* of each slice, so that all controller, channel and bank bits vary */
    for (unsigned m = 0; m < COUNT_OF(machines); m++) {
        struct config *config = config_with(machines[m]);
        struct address_map *map = map_of(config);
        const struct dram_config *dram = config_get(config, &dram_section);
        unsigned slices = address_map_mcs(map) * address_map_slices_per_mc(map), misplaced = 0, twice = 0;
        uint64_t block_bytes = (uint64_t)dram->interleave_bytes;
        unsigned char(*seen)[BLOCKS] = mem_alloc(slices, sizeof *seen);
        for (uint64_t block = 0; block < (uint64_t)slices * BLOCKS; block++) {
            struct location place;
            address_map_locate(map, block * block_bytes, &place);
            uint64_t index = place.partition / block_bytes;
            misplaced += index >= BLOCKS;
            if (index < BLOCKS) twice += seen[place.mc * address_map_slices_per_mc(map) + place.slice][index]++;
        }
        CHECK_EQ(misplaced, 0u);
        CHECK_EQ(twice, 0u);
        free(seen);
        address_map_destroy(map);
        config_destroy(config);
    }
}

TEST("linear on six controllers is the GTX 480's: 256 bytes each by remainder, bank bits below and above the column") {
    struct config *config = config_with(SETTINGS("dram.mapping=linear", "dram.mcs=6", "llc.slices_per_mc=2"));
    struct address_map *map = map_of(config);
    uint64_t seed = 5;
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t address = random_next(&seed) >> 34, block = address >> 8;
        uint64_t rest = (block / 6) << 8 | (address & 0xFF);
        struct location place;
        address_map_locate(map, address, &place);
        CHECK_EQ(place.mc, block % 6);
        CHECK_EQ(place.bank, (rest >> 8 & 1) | (rest >> 13 & 7) << 1);
        CHECK_EQ(place.slice, place.bank & 1);
        CHECK_EQ(place.column, (rest & 0xFF) | (rest >> 9 & 0xF) << 8);
        CHECK_EQ(place.row, rest >> 16);
        CHECK_EQ(place.partition, rest >> 9 << 8 | (rest & 0xFF));
    }
    address_map_destroy(map);
    config_destroy(config);
}

TEST("hynix takes controller and bank directly from bits 8 and up, and the shared slice from the low bank bits") {
    struct config *config = config_with(SETTINGS("dram.mapping=hynix", SHAPE_80SM));
    struct address_map *map = map_of(config);
    uint64_t seed = 5;
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t address = random_next(&seed) >> 32;
        struct location place;
        address_map_locate(map, address, &place);
        CHECK_EQ(place.mc, address >> 8 & 7);
        CHECK_EQ(place.bank, address >> 11 & 15);
        CHECK_EQ(place.slice, place.bank & 7u);
        CHECK_EQ(place.column, (address & 0xFF) | (address >> 15 & 7) << 8);
        CHECK_EQ(place.row, address >> 18);
    }
    address_map_destroy(map);
    config_destroy(config);
}

TEST("pae makes each controller and bank bit the parity of its mask, and does not change row and column") {
    static const uint64_t masks[] = {0x23602C00, 0xCA1C4900, 0x75680700, 0x13A46F00,
                                     0x6E904C00, 0xFEBC7C00, 0xF4146C00};
    struct config *config = config_with(SETTINGS("dram.mapping=pae", SHAPE_80SM, PAE_80SM));
    struct address_map *map = map_of(config);
    uint64_t seed = 3;
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t address = random_next(&seed) >> 32;
        struct location place;
        address_map_locate(map, address, &place);
        unsigned bits = place.mc | (unsigned)place.bank << 3;
        for (unsigned b = 0; b < 7; b++) CHECK_EQ(bits >> b & 1, (unsigned)__builtin_parityll(address & masks[b]));
        CHECK_EQ(place.row, address >> 18);
        CHECK_EQ(place.column, (address & 0xFF) | (address >> 15 & 7) << 8);
    }
    address_map_destroy(map);
    config_destroy(config);
}

TEST("a slice of a stack is its channel times two plus the low bank bit") {
    struct config *config = config_with(SETTINGS("dram.mapping=pae", SHAPE_64SM, PAE_64SM));
    struct address_map *map = map_of(config);
    uint64_t seed = 3;
    for (unsigned i = 0; i < 2000; i++) {
        struct location place;
        address_map_locate(map, random_next(&seed) >> 32, &place);
        CHECK_EQ(place.slice, place.channel * 2u + (place.bank & 1u));
    }
    address_map_destroy(map);
    config_destroy(config);
}

/* How much more than its fair share the fullest (controller, channel, bank) or the fullest slice gets of 1024 lines
 * with the worst power-of-two stride. */
struct spread {
    double banks, slices;
};

static struct spread worst_spread(const char *const *assignments) {
    struct config *config = config_with(assignments);
    struct address_map *map = map_of(config);
    unsigned banks = (unsigned)dram_device_of(config)->banks, channels = map->channels, mcs = address_map_mcs(map);
    unsigned slices = address_map_slices_per_mc(map);
    struct spread worst = {0, 0};
    for (unsigned shift = 7; shift <= 22; shift++) {
        unsigned *bank_count = mem_alloc(mcs * channels * banks, sizeof *bank_count),
                 *slice_count = mem_alloc(mcs * slices, sizeof *slice_count);
        for (uint64_t i = 0; i < 1024; i++) {
            struct location place;
            address_map_locate(map, i << shift, &place);
            unsigned in_bank = ++bank_count[(place.mc * channels + place.channel) * banks + place.bank];
            unsigned in_slice = ++slice_count[place.mc * slices + place.slice];
            worst.banks = fmax(worst.banks, in_bank * (double)(mcs * channels * banks) / 1024);
            worst.slices = fmax(worst.slices, in_slice * (double)(mcs * slices) / 1024);
        }
        free(bank_count);
        free(slice_count);
    }
    address_map_destroy(map);
    config_destroy(config);
    return worst;
}

TEST("on power-of-two strides pae uses all slices and banks, hynix only a few") {
    struct spread pae80 = worst_spread(SETTINGS("dram.mapping=pae", SHAPE_80SM, PAE_80SM));
    struct spread hynix80 = worst_spread(SETTINGS("dram.mapping=hynix", SHAPE_80SM));
    struct spread pae64 = worst_spread(SETTINGS("dram.mapping=pae", SHAPE_64SM, PAE_64SM));
    struct spread hynix64 = worst_spread(SETTINGS("dram.mapping=hynix", SHAPE_64SM));
    CHECK(pae80.banks <= 2 && pae80.slices <= 2);
    CHECK(hynix80.banks >= 64 && hynix80.slices >= 32);
    CHECK(pae64.banks <= 4 && pae64.slices <= 4);
    CHECK(hynix64.banks >= 256 && hynix64.slices >= 32);
}

TEST("randomly drawn masks also spread power-of-two strides, for every seed") {
    for (unsigned seed = 0; seed < 8; seed++) {
        char text[40];
        snprintf(text, sizeof text, "dram.pae.seed=%u", seed);
        struct spread spread = worst_spread(SETTINGS("dram.mapping=pae", SHAPE_80SM, text));
        CHECK(spread.banks <= 16);
        CHECK(spread.slices <= 8);
    }
}

TEST("randomly drawn masks do not read the column, so that a row stays in its bank") {
    for (unsigned seed = 0; seed < 8; seed++) {
        char text[40];
        snprintf(text, sizeof text, "dram.pae.seed=%u", seed);
        struct error err = {0};
        struct config *config = config_with(SETTINGS("dram.mapping=pae", SHAPE_80SM, text));
        struct address_map *map = address_map_create(config, &err);
        REQUIRE(map);
        struct location first, other;
        unsigned column_bits = 0;
        address_map_locate(map, 0, &first);
        for (unsigned bit = 0; bit < 28; bit++) {
            address_map_locate(map, UINT64_C(1) << bit, &other);
            if (other.row != first.row || other.column == first.column) continue;
            column_bits++;
            CHECK(other.mc == first.mc && other.channel == first.channel && other.bank == first.bank);
        }
        CHECK(column_bits > 2);
        address_map_destroy(map);
        config_destroy(config);
    }
}

TEST("masks and shapes that form no mapping are rejected with the reason") {
    CHECK_REJECTED(config_with(SETTINGS("dram.mapping=pae", SHAPE_80SM, "dram.pae.masks=[0x100, 0x200]")),
                   "2 masks given, but this machine has 7");
    CHECK_REJECTED(config_with(SETTINGS("dram.mapping=pae", SHAPE_80SM,
                                        "dram.pae.masks=[0x100, 0x100, 0x400, 0x800, 0x1000, 0x2000, 0x4000]")),
                   "the mapping is not invertible");
    CHECK_REJECTED(config_with(SETTINGS("dram.mapping=pae", SHAPE_80SM,
                                        "dram.pae.masks=[0x180, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000]")),
                   "has bits outside of");
    CHECK_REJECTED(config_with(SETTINGS("dram.interleave_bytes=64")),
                   "a line of 128 B (gpu.line_bytes) would span two controllers");
    CHECK_REJECTED(config_with(SETTINGS("dram.channels_per_mc=3")), "dram.channels_per_mc: 3 is not a power of two");
    CHECK_REJECTED(config_with(SETTINGS("dram.interleave_bytes=4096", "dram.gddr5.row_bytes=2048")),
                   "more than one row");
}
