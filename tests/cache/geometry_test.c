/* Size, ways and sets of caches: which follow from which. */
#include "cache/geometry.h"

#include <stdlib.h>
#include <string.h>

#include "config/catalogue.h"
#include "l1/l1.h"
#include "llc/llc.h"
#include "settings.h"
#include "test.h"

#define GPU "l1: {size_kb: 48, ways: 6, sets: 64}\nllc: {slice_kb: 96, ways: 16, sets: 48}\n"

/* A description, a design (may be NULL) and settings in layers; NULL if they are rejected. */
static struct config *layered(const char *design, const char *const *settings, struct error *err) {
    struct config *config = config_create(config_sections, config_section_count);
    REQUIRE(config_read_text(config, "gpu.yaml", GPU, strlen(GPU), err));
    if (design) REQUIRE(config_read_text(config, "design.yaml", design, strlen(design), err));
    if (config_set_all(config, settings, err) && config_check(config, err)) return config;
    config_destroy(config);
    return NULL;
}

static struct config_entry entry_of(const struct config *config, const char *key) {
    struct config_entry entry = {0};
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        config_entry_at(config, i, &entry);
        if (strcmp(entry.key, key) == 0) return entry;
    }
    REQUIRE(!"an entry");
    return entry;
}

TEST("the number of sets follows from a size, associativity or line size that is given later") {
    static const struct {
        const char *design, *settings[4];
        unsigned llc, l1;
    } cases[] = {
        {NULL, {NULL}, 48, 64},
        {NULL, {"llc.slice_kb=48"}, 24, 64},
        {NULL, {"llc.slice_kb=192"}, 96, 64},
        {NULL, {"llc.slice_kb=64", "llc.ways=8"}, 64, 64},
        {NULL, {"llc.ways=8"}, 96, 64},
        {NULL, {"l1.size_kb=24"}, 48, 32},
        {NULL, {"l1.size_kb=16", "l1.ways=4"}, 48, 32},
        {NULL, {"gpu.line_bytes=64"}, 96, 128},
        {NULL, {"llc.slice_kb=48", "llc.sets=24"}, 24, 64},
        {NULL, {"llc.slice_kb=48", "llc.sets=0"}, 24, 64},
        {"llc: {slice_kb: 48}\n", {NULL}, 24, 64},
        {"llc: {slice_kb: 48}\n", {"llc.ways=4"}, 96, 64},
        {"llc: {slice_kb: 48, sets: 24}\n", {"llc.slice_kb=96"}, 48, 64},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        struct config *config = layered(cases[i].design, cases[i].settings, &err);
        if (!config) fprintf(stderr, "case %u: %s\n", i, err.text);
        REQUIRE(config);
        CHECK_EQ(llc_sets(config), cases[i].llc);
        CHECK_EQ(l1_sets(config), cases[i].l1);
        config_destroy(config);
    }
}

TEST("a size and a number of sets that contradict each other are an error that names both") {
    static const struct {
        const char *design, *settings[4], *error;
    } cases[] = {
        {NULL, {"llc.slice_kb=48", "llc.sets=48"}, "--set llc.slice_kb=48: llc.slice_kb: 48 KB is not llc.sets × "},
        {NULL, {"llc.sets=47"}, "--set llc.sets=47: llc.sets: 96 KB (llc.slice_kb) is not llc.sets × llc.ways"},
        {"llc: {slice_kb: 48, sets: 48}\n", {NULL}, "design.yaml:1:17: llc.slice_kb: 48 KB is not llc.sets × "},
        {"l1: {size_kb: 24}\n", {"l1.sets=64"}, "--set l1.sets=64: l1.sets: 24 KB (l1.size_kb) is not l1.sets × "},
        {NULL,
         {"l1.size_kb=16"},
         "--set l1.size_kb=16: l1.size_kb: 16 KB in lines of 128 B are 128 lines, not a multiple of 6 ways (l1.ways); choose 15 or 18 KB, or a number of ways that divides 128"},
        {NULL,
         {"sm.read_only_kb=16"},
         "sm.read_only_kb: 16 KB in lines of 128 B are 128 lines, not a multiple of 24 ways (sm.read_only_ways); choose 15 or 18 KB"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        struct config *config = layered(cases[i].design, cases[i].settings, &err);
        CHECK(!config);
        CHECK_TEXT(err.text, cases[i].error);
        config_destroy(config);
    }
}

TEST("derived sets are in the effective configuration, which is unchanged if they do not change") {
    static const char *const smaller[] = {"llc.slice_kb=48", NULL}, *const same[] = {"llc.slice_kb=96", NULL},
                             *const huge[] = {"llc.slice_kb=65536", "llc.ways=1", NULL};
    struct error err = {0};
    struct config *config = layered(NULL, smaller, &err);
    REQUIRE(config);
    CHECK_EQ((const char *)entry_of(config, "llc.sets").value, "24");
    CHECK_EQ((const char *)entry_of(config, "llc.sets").origin, "--set");
    config_destroy(config);
    config = layered(NULL, same, &err);
    REQUIRE(config);
    CHECK_EQ((const char *)entry_of(config, "llc.sets").value, "48");
    CHECK_EQ((const char *)entry_of(config, "llc.sets").origin, "gpu.yaml:2:37");
    config_destroy(config);
    config = layered(NULL, huge, &err);
    REQUIRE(config);
    CHECK_EQ((const char *)entry_of(config, "llc.sets").value, "0"); /* more than the parameter can hold */
    CHECK_EQ(llc_sets(config), 524288u);
    config_destroy(config);
}

TEST("every bundled GPU can be built with half and double the size of each cache") {
    struct catalogue gpus;
    catalogue_open(&gpus, "gpus");
    static const char *const keys[] = {"llc.slice_kb", "l1.size_kb", "sm.instruction_kb", "sm.constant_kb",
                                       "sm.read_only_kb"};
    CHECK(gpus.count > 0);
    for (unsigned g = 0; g < gpus.count; g++)
        for (unsigned k = 0; k < 2 * COUNT_OF(keys); k++) {
            struct error err = {0};
            struct config *config = config_build(gpus.entries[g].name, NULL, NULL, 0, &err);
            REQUIRE(config);
            long size = strtol(entry_of(config, keys[k / 2]).value, NULL, 10);
            config_destroy(config);
            char *setting = text_format("%s=%ld", keys[k / 2], k % 2 ? 2 * size : size / 2);
            config = config_build(gpus.entries[g].name, NULL, (const char *const[]){setting}, 1, &err);
            if (!config) fprintf(stderr, "%s: %s\n", gpus.entries[g].name, err.text);
            CHECK(config);
            config_destroy(config);
            free(setting);
        }
    catalogue_close(&gpus);
}
