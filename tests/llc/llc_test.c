/* Configurations of the LLC: which are rejected and why, and which slice each organisation chooses. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "llc/atomics.h"
#include "llc/llc.h"
#include "llc/route.h"
#include "test.h"

TEST("rejects a size that is not the product of sets, ways and lines") {
    static const struct {
        const char *settings[5], *error; /* NULL: accepted */
    } cases[] = {
        {{"llc.slice_kb=96", "llc.ways=16", "llc.sets=48"}, NULL},
        {{"llc.slice_kb=96", "llc.ways=16", "llc.sets=47"},
         "llc.slice_kb: 96 KB is not llc.sets × llc.ways × gpu.line_bytes = 47 × 16 × 128 = 94 KB; set only"
         " llc.slice_kb, and the number of sets follows"},
        {{"llc.sets=47"}, "llc.sets: 96 KB (llc.slice_kb) is not llc.sets × llc.ways × gpu.line_bytes = 47 × 16 × 128"},
        {{"llc.slice_kb=1", "llc.ways=8"}, NULL},
        {{"llc.slice_kb=1", "llc.ways=16"},
         "llc.ways: 1 KB in lines of 128 B are 8 lines, not a multiple of 16 ways"
         " (llc.slice_kb); choose 2 KB, or a number of ways that divides 8"},
        {{"llc.slice_kb=7", "llc.ways=3"}, "choose 6 or 9 KB, or a number of ways that divides 56"},
        {{"llc.slice_kb=97"},
         "llc.slice_kb: 97 KB in lines of 128 B are 776 lines, not a multiple of 16 ways (llc.ways)"},
        {{"llc.write_allocate=through", "dram.port_entries=3"}, NULL},
        {{"llc.write_allocate=through", "dram.port_entries=2"},
         "dram.port_entries: must be at least 3 with llc.write_allocate=through"},
        {{"llc.write_allocate=fetch", "dram.port_entries=1"}, NULL},
        {{"noc.bypass=true"}, "noc.bypass: with bypassed MC-routers a cluster reaches only its own slices"},
        {{"noc.bypass=true", "llc.organisation=private"}, NULL},
        {{"llc.organisation=private", "llc.slices_per_mc=4"}, "llc.slices_per_mc is 4 and gpu.clusters is 8"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        struct config *config = config_checked(NO_SETTINGS, cases[i].settings, &err);
        if ((config != NULL) != (cases[i].error == NULL)) printf("case %u: %s\n", i, err.text);
        CHECK_EQ(config != NULL, cases[i].error == NULL);
        CHECK_TEXT(err.text, cases[i].error ? cases[i].error : "");
        config_destroy(config);
    }
}

TEST("an atomics' LLC exists only where atomics can meet a private LLC, and its size is checked only then") {
    static const struct {
        const char *settings[6];
        unsigned slices; /* of the atomics' LLC */
        const char *error;
    } cases[] = {
        {{"llc.organisation=shared", "atomics.ways=48"}, 0, NULL},
        {{"llc.organisation=private"}, 8, NULL},
        {{"llc.organisation=private", "atomics.size_kb=16", "atomics.ways=128"}, 8, NULL},
        {{"llc.organisation=private", "atomics.size_kb=16", "atomics.ways=48"},
         0,
         "atomics.ways: 16 KB in lines of 128 B are 128 lines, not a multiple of 48 ways (atomics.size_kb); choose 12"
         " or 18 KB"},
        {{"llc.organisation=adaptive", "atomics.ways=48"}, 0, NULL},
        {{"llc.organisation=adaptive", "llc.adaptive.atomics=true"}, 8, NULL},
        {{"llc.organisation=adaptive", "llc.adaptive.atomics=true", "llc.adaptive.acts=false"}, 0, NULL},
        {{"llc.organisation=private", "llc.slices_per_mc=63", "gpu.clusters=63", "sm.count=63"}, 8, NULL},
        {{"llc.organisation=private", "llc.slices_per_mc=64", "gpu.clusters=64", "sm.count=64"},
         0,
         "llc.slices_per_mc: a controller with an atomics' LLC supports at most 63 slices, not 64"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        struct config *config = config_checked(SETTINGS("dram.mcs=8"), cases[i].settings, &err);
        if ((config != NULL) != (cases[i].error == NULL)) printf("case %u: %s\n", i, err.text);
        CHECK_EQ(config != NULL, cases[i].error == NULL);
        CHECK_TEXT(err.text, cases[i].error ? cases[i].error : "");
        if (config) CHECK_EQ(atomics_slices(config), cases[i].slices);
        config_destroy(config);
    }
    struct config *config = config_with(SETTINGS("atomics.size_kb=16", "atomics.ways=8"));
    CHECK_EQ(atomics_sets(config), 16u);
    config_destroy(config);
}

TEST("a shared LLC chooses the home slice, a private one the cluster's, each at the controller of the line") {
    for (unsigned private = 0; private < 2; private ++) {
        struct fixture fixture;
        fixture_init(&fixture, SETTINGS("dram.mcs=4", "gpu.clusters=8", "llc.slices_per_mc=8"),
                     SETTINGS(private ? "llc.organisation=private" : "llc.organisation=shared"));
        CHECK_EQ(fixture.llc->mode.is_private, private);
        for (unsigned i = 0; i < 500; i++) {
            struct message message = {.address = 128 * (uint64_t)(i * 37), .kind = (uint8_t)(i % 3)};
            struct location location;
            address_map_locate(fixture.map, message.address, &location);
            unsigned slice = private ? i % 8 : location.slice;
            CHECK_EQ(route(fixture.llc, &message, i % 8, i), location.mc * 8 + slice);
            CHECK_EQ(message.place, location.partition);
        }
        fixture_release(&fixture);
    }
}
