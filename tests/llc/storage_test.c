/* Storage that LLC organisations declare, on machines other than the papers' (those: energy/overhead_test.c). */
#include "llc/atomics.h"
#include "llc/llc.h"
#include "llc/organisation.h"
#include "settings.h"
#include "sim/gpu_config.h"

/* Of the chosen organisation. */
static unsigned organisation_storage(const struct config *config, struct storage_item *items) {
    const struct llc_config *llc = config_get(config, &llc_section);
    return llc->organisation->section->storage(config, items);
}

static void check_item(const struct storage_item *item, uint64_t copies, uint64_t entries, uint64_t bits) {
    CHECK_EQ(item->copies, copies);
    CHECK_EQ(item->entries, entries);
    CHECK_EQ(item->bits, bits);
}

/* Slices of 48 sets of 8 lines. */
#define SLICES "llc.slice_kb=48", "llc.ways=8"

TEST("a tag directory has no more sets than its slice, each entry with a tag and one bit per cluster") {
    static const char *const sets[] = {"llc.adaptive.sets=5", "llc.adaptive.sets=100"};
    for (unsigned i = 0; i < 2; i++) {
        struct config *config = config_with(SETTINGS("llc.organisation=adaptive", SLICES, "gpu.clusters=6",
                                                     "llc.slices_per_mc=6", "dram.mcs=4", sets[i]));
        struct storage_item items[STORAGE_ITEMS];
        CHECK_EQ(organisation_storage(config, items), 3u);
        check_item(&items[0], 1, (i ? 48 : 5) * 8, gpu_tag_bits(config, 48) + 6);
        check_item(&items[1], 1, 4, 16);
        check_item(&items[2], 1, 4 * 6, 16);
        config_destroy(config);
    }
}

TEST("a replication degree directory has tags with a vector for each degree, and counters for each slice") {
    static const char *const sets[] = {"llc.selrep.sets=3", "llc.selrep.sets=100"};
    for (unsigned i = 0; i < 2; i++) {
        struct config *config = config_with(SETTINGS("llc.organisation=selrep", SLICES, "gpu.clusters=8",
                                                     "llc.slices_per_mc=4", "dram.mcs=4", sets[i]));
        struct storage_item items[STORAGE_ITEMS];
        CHECK_EQ(organisation_storage(config, items), 4u);
        check_item(&items[0], 1, i ? 48 : 3, 8 * (gpu_tag_bits(config, 48) - 2 + 3));
        check_item(&items[1], 1, (i ? 48 : 3) * 8, 2 + 4); /* degrees 2, 4 */
        check_item(&items[2], 1, 3 * 4, 16);
        check_item(&items[3], 1, 3 + 1, 16);
        config_destroy(config);
    }
}

TEST("with a directory per degree a group has its share of the ways, at least one, and there are no vectors") {
    static const char *const ways[] = {"llc.ways=8", "llc.ways=2"};
    for (unsigned i = 0; i < 2; i++) {
        struct config *config =
            config_with(SETTINGS("llc.organisation=selrep", "llc.slice_kb=48", ways[i], "gpu.clusters=8",
                                 "llc.slices_per_mc=4", "dram.mcs=4", "llc.selrep.directories=each"));
        struct storage_item items[STORAGE_ITEMS];
        CHECK_EQ(organisation_storage(config, items), 3u);
        uint64_t tag = gpu_tag_bits(config, llc_sets(config)) - 2;
        /* Degrees 1, 2, 4: 8, 4, 2 ways for each group; or 2, 1, 1. */
        check_item(&items[0], 1, 2, i ? 2 * (tag + 1) + 2 * tag + 4 * tag : 8 * (tag + 3 + tag + 2 + tag + 1));
        check_item(&items[1], 1, 3 * 4, 16);
        check_item(&items[2], 1, 3 + 1, 16);
        config_destroy(config);
    }
}

TEST("an atomics' LLC has lines with data, tag, state and dirty sectors at every controller, or does not exist") {
    struct storage_item items[STORAGE_ITEMS];
    struct config *config = config_with(SETTINGS("llc.organisation=private", "dram.mcs=4", "atomics.size_kb=16",
                                                 "atomics.ways=16", "gpu.line_bytes=64"));
    CHECK_EQ(atomics_section.storage(config, items), 1u);
    check_item(&items[0], 4, 256, 64 * 8 + gpu_tag_bits(config, 16) + 2 + 2);
    config_destroy(config);
    config = config_with(SETTINGS("llc.organisation=shared"));
    CHECK_EQ(atomics_section.storage(config, items), 0u);
    config_destroy(config);
}

TEST("tags grow by the bits of the home slice, unless the LLC is shared or has one slice at a controller") {
    static const struct {
        const char *organisation, *slices;
        unsigned items;
        uint64_t bits;
    } cases[] = {{"llc.organisation=shared", "llc.slices_per_mc=8", 0, 0},
                 {"llc.organisation=selrep", "llc.slices_per_mc=1", 0, 0},
                 {"llc.organisation=selrep", "llc.slices_per_mc=8", 1, 3},
                 {"llc.organisation=private", "llc.slices_per_mc=5", 1, 3}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct config *config = config_with(SETTINGS(cases[i].organisation, cases[i].slices, SLICES, "dram.mcs=4"));
        const struct llc_config *llc = config_get(config, &llc_section);
        struct storage_item items[STORAGE_ITEMS];
        CHECK_EQ(llc_section.storage(config, items), cases[i].items);
        if (cases[i].items) check_item(&items[0], (uint64_t)llc->slices_per_mc * 4, 48 * 8, cases[i].bits);
        config_destroy(config);
    }
}
