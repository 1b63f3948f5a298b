/* Layers, lookups, cross-checks. */
#include "config/config.h"

#include "config/made_up.h"
#include "test.h"

static const struct sm_made_up *sm_of(const struct config *config) { return config_get(config, &sm_made_up); }

static bool read(struct config *config, const char *text, struct error *err) {
    return config_read_text(config, "a.yaml", text, strlen(text), err);
}

static void entry_named(const struct config *config, const char *key, struct config_entry *entry) {
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        config_entry_at(config, i, entry);
        if (strcmp(entry->key, key) == 0) return;
    }
    memset(entry, 0, sizeof *entry);
}

TEST("a new configuration contains every default") {
    struct config *config = made_up_config();
    const struct sm_made_up *sm = sm_of(config);
    CHECK_EQ(sm->count, 4);
    CHECK_EQ(sm->ratio, 1.5);
    CHECK(!sm->fast);
    CHECK_EQ(strlen(sm->label), 0u);
    CHECK(sm->warp_scheduler == &gto_policy);
    CHECK_EQ(sm->widths.count, 2u);
    CHECK_EQ(sm->widths.value[0], 4);
    CHECK_EQ(sm->widths.value[1], 1);
    const struct two_level_config *two_level = config_get(config, &two_level_section);
    CHECK_EQ(two_level->group_warps, 8);
    config_destroy(config);
}

TEST("a setting of one word has the value that it has in a file") {
    static const char *const words[] = {"0x10", "1e3", "yes", "null", "a.b-c_d", "7", "-3", "~", "a:b", "9."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int key = 0; key < 3; key++) {
            static const char *const keys[] = {"label", "count", "ratio"};
            struct config *from_file = made_up_config(), *from_set = made_up_config();
            struct error err_file = {0}, err_set = {0};
            char text[80];
            snprintf(text, sizeof text, "sm:\n  %s: %s\n", keys[key], words[i]);
            bool in_file = read(from_file, text, &err_file);
            snprintf(text, sizeof text, "sm.%s=%s", keys[key], words[i]);
            CHECK_EQ(config_set(from_set, text, &err_set), in_file);
            if (in_file) CHECK(memcmp(sm_of(from_file), sm_of(from_set), sizeof(struct sm_made_up)) == 0);
            config_destroy(from_file);
            config_destroy(from_set);
        }
}

TEST("values of every type are read from a file") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(read(config,
               "name: tiny\n"
               "description: a test\n"
               "sm:\n"
               "  count: 0x10\n"
               "  ratio: 2.5e3\n"
               "  fast: Yes\n"
               "  label: two words\n"
               "  warp_scheduler: two-level\n"
               "  widths: [3, -2, 0xff]\n"
               "  two-level: {group_warps: 16}\n",
               &err));
    CHECK_EQ((const char *)err.text, "");
    const struct sm_made_up *sm = sm_of(config);
    CHECK_EQ(sm->count, 16);
    CHECK_EQ(sm->ratio, 2500.0);
    CHECK(sm->fast);
    CHECK_EQ((const char *)sm->label, "two words");
    CHECK(sm->warp_scheduler == &two_level_policy);
    CHECK_EQ(sm->widths.count, 3u);
    CHECK_EQ(sm->widths.value[1], -2);
    CHECK_EQ(sm->widths.value[2], 255);
    CHECK_EQ(((const struct two_level_config *)config_get(config, &two_level_section))->group_warps, 16);
    CHECK_EQ(config_name(config), "tiny");
    CHECK_EQ(config_description(config), "a test");
    config_destroy(config);
}

TEST("true, yes, on and 1 are true; false, no, off and 0 are false") {
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (unsigned i = 0; i < COUNT_OF(words); i++) {
        struct config *config = made_up_config();
        struct error err = {0};
        CHECK(config_set(config, i % 2 ? "sm.fast=false" : "sm.fast=true", &err));
        char assignment[32];
        snprintf(assignment, sizeof assignment, "sm.fast=%s", words[i]);
        CHECK(config_set(config, assignment, &err));
        CHECK_EQ(sm_of(config)->fast, i % 2 == 1);
        config_destroy(config);
    }
}

TEST("a later layer overrides the values it names, and each value records its layer") {
    struct config *config = made_up_config();
    struct error err = {0};
    const char *gpu = "name: gpu\nsm:\n  count: 5\n  ratio: 2\n", *design = "name: design\nsm: {ratio: 3}\n";
    CHECK(config_read_text(config, "gpu.yaml", gpu, strlen(gpu), &err));
    CHECK(config_read_text(config, "design.yaml", design, strlen(design), &err));
    CHECK(config_set(config, "l1.ways=8", &err));
    CHECK(config_set(config, "l1.ways=2", &err));
    CHECK_EQ(sm_of(config)->count, 5);
    CHECK_EQ(sm_of(config)->ratio, 3.0);
    CHECK_EQ(((const struct cache_made_up *)config_get(config, &l1_made_up))->ways, 2);
    CHECK_EQ(config_name(config), "gpu");
    struct config_entry entry;
    entry_named(config, "sm.count", &entry);
    CHECK_EQ((const char *)entry.origin, "gpu.yaml:3:10");
    entry_named(config, "sm.ratio", &entry);
    CHECK_EQ((const char *)entry.origin, "design.yaml:2:13");
    entry_named(config, "l1.ways", &entry);
    CHECK_EQ((const char *)entry.origin, "--set");
    CHECK_EQ((const char *)entry.value, "2");
    entry_named(config, "l1.sets", &entry);
    CHECK_EQ((const char *)entry.origin, "default");
    config_destroy(config);
}

TEST("a read that fails half-way changes nothing") {
    struct config *config = made_up_config(), *untouched = made_up_config();
    struct error err = {0};
    CHECK(!read(config, "name: half\nsm: {count: 9, widths: [7, 7]}\nl1: {ways: 0}\n", &err));
    CHECK(config_same(config, untouched));
    CHECK_EQ(config_name(config), "");
    struct config_entry entry;
    entry_named(config, "sm.count", &entry);
    CHECK_EQ((const char *)entry.origin, "default");
    err = (struct error){0};
    CHECK(!config_set(config, "sm.pair=[3, 4, 5]", &err));
    CHECK(config_same(config, untouched));
    config_destroy(config);
    config_destroy(untouched);
}

TEST("addresses of values do not change when layers are added") {
    struct config *config = made_up_config();
    struct error err = {0};
    const struct sm_made_up *sm = sm_of(config);
    CHECK(read(config, "sm: {count: 9}\n", &err));
    CHECK(config_set(config, "sm.ratio=9", &err));
    CHECK(!config_set(config, "sm.ratio=many", &err));
    CHECK(sm == sm_of(config));
    CHECK_EQ(sm->count, 9);
    config_destroy(config);
}

TEST("a copy is independent of its original") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(read(config, "name: first\nsm: {count: 9}\n", &err));
    struct config *copy = config_copy(config);
    CHECK(config_same(config, copy));
    CHECK(config_set(copy, "sm.count=10", &err));
    CHECK_EQ(sm_of(config)->count, 9);
    CHECK_EQ(sm_of(copy)->count, 10);
    config_destroy(config);
    CHECK_EQ(config_name(copy), "first");
    config_destroy(copy);
}

TEST("a policy's section is set by its dotted name, including nested ones") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "sm.two-level.group_warps=12", &err));
    CHECK(config_set(config, "llc.chance.coin.bias=0.25", &err));
    CHECK_EQ((const char *)err.text, "");
    CHECK_EQ(((const struct two_level_config *)config_get(config, &two_level_section))->group_warps, 12);
    struct config_entry entry;
    entry_named(config, "llc.chance.coin.bias", &entry);
    CHECK_EQ((const char *)entry.value, "0.25");
    entry_named(config, "l1.chance.coin.bias", &entry);
    CHECK_EQ((const char *)entry.value, "0.5");
    config_destroy(config);
}

TEST("a family that two sections share has separate values in each") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "l1.chance.seed=11", &err));
    CHECK(config_set(config, "llc.chance.seed=22", &err));
    const struct chance_config *l1 = config_get_in(config, &l1_made_up, &chance_section);
    const struct chance_config *llc = config_get_in(config, &llc_made_up, &chance_section);
    CHECK_EQ(l1->seed, 11);
    CHECK_EQ(llc->seed, 22);
    CHECK(config_set(config, "llc.replacement=chance", &err));
    CHECK(config_get(config, &chance_section) == llc); /* the one in use */
    config_destroy(config);
}

TEST("a section is in use only while its policy is chosen, all the way up") {
    struct config *config = made_up_config();
    struct error err = {0};
    struct config_entry entry;
    CHECK(config_set(config, "l1.chance.from=coin", &err));
    entry_named(config, "l1.chance.coin.bias", &entry);
    CHECK(!entry.in_use); /* the coin is chosen, but chance is not */
    CHECK(config_set(config, "l1.replacement=chance", &err));
    entry_named(config, "l1.chance.coin.bias", &entry);
    CHECK(entry.in_use);
    entry_named(config, "llc.chance.coin.bias", &entry);
    CHECK(!entry.in_use);
    entry_named(config, "sm.count", &entry);
    CHECK(entry.in_use);
    config_destroy(config);
}

TEST("a cross-check reports the location of the value in its file") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_check(config, &err));
    CHECK(read(config, "l1:\n  size_kb: 20\n", &err));
    CHECK(!config_check(config, &err));
    CHECK_EQ((const char *)err.text,
             "a.yaml:2:12: l1.size_kb: 20 KB is not sets x ways x line; 32 x 4 x 128 bytes are 16384");
    config_destroy(config);
}

TEST("a cross-check reports the --set that gave the value") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "l1.size_kb=20", &err));
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "--set l1.size_kb=20: l1.size_kb: 20 KB is not");
    config_destroy(config);
}

TEST("a cross-check reports that a value is the default") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "l1.ways=8", &err));
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "l1.size_kb (default 16): 16 KB is not");
    config_destroy(config);
}

TEST("a policy's section is checked only while it is chosen") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "sm.two-level.group_warps=7", &err));
    CHECK(config_check(config, &err));
    CHECK(config_set(config, "sm.warp_scheduler=two-level", &err));
    CHECK(!config_check(config, &err));
    CHECK_EQ((const char *)err.text, "--set sm.two-level.group_warps=7: sm.two-level.group_warps: seven is unlucky");
    config_destroy(config);
}

TEST("entries are every parameter once, each section before those of its policies") {
    struct config *config = made_up_config();
    unsigned count = config_entry_count(config);
    CHECK_EQ(count, section_rows(&sm_made_up) + 1 + 2 * (COUNT_OF(cache_params) + COUNT_OF(chance_params) + 1));
    struct config_entry entry, other;
    for (unsigned i = 0; i < count; i++) {
        config_entry_at(config, i, &entry);
        CHECK(entry.param->help[0] != '\0');
        for (unsigned j = 0; j < i; j++) {
            config_entry_at(config, j, &other);
            CHECK(strcmp(entry.key, other.key) != 0);
        }
    }
    config_entry_at(config, 0, &entry);
    CHECK_EQ((const char *)entry.key, "sm.count");
    CHECK(entry.section == &sm_made_up);
    CHECK(entry.param == &sm_base_params[0]);
    config_entry_at(config, section_rows(&sm_made_up), &entry);
    CHECK_EQ((const char *)entry.key, "sm.two-level.group_warps");
    config_destroy(config);
}

TEST("a section starts with the rows of its base, shares its values and runs its check") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "sm.count=9", &err));
    CHECK(config_set(config, "sm.ratio=2.5", &err));
    CHECK(config_set(config, "sm.fast=true", &err));
    const struct sm_made_up *sm = config_get(config, &sm_made_up);
    const struct sm_made_up_base *base = config_get(config, &sm_made_up_base);
    CHECK_EQ(sm->count, 9);
    CHECK_EQ(base->count, 9);
    CHECK_NEAR(base->ratio, 2.5, 0);
    CHECK(sm->fast);
    CHECK(config_set(config, "sm.count=13", &err));
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "unlucky");
    config_destroy(config);
}
