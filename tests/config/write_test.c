/* A written configuration reads back the same. */
#include <inttypes.h>

#include "base/random.h"
#include "config/made_up.h"
#include "test.h"

TEST("writes values, units and origins") {
    struct config *config = made_up_config();
    struct error err = {0};
    const char *text = "name: tiny\nsm:\n  count: 9\n";
    CHECK(config_read_text(config, "dir/a.yaml", text, strlen(text), &err));
    CHECK(config_set(config, "sm.fast=on", &err));
    char *written = config_text(config, true);
    CHECK_TEXT(written, "name: \"tiny\"\n");
    CHECK_TEXT(written, "\nsm:\n  count: 9                              # SMs; dir/a.yaml:3:10\n");
    CHECK_TEXT(written, "\n  fast: true                            # --set\n");
    CHECK_TEXT(written, "\n  widths: [4, 1]                        # lanes; default\n");
    free(written);
    written = config_text(config, false);
    CHECK_TEXT(written, "\n  count: 9\n");
    CHECK(strchr(written, '#') == NULL);
    free(written);
    config_destroy(config);
}

TEST("writes the section of the chosen policy only") {
    struct config *config = made_up_config();
    struct error err = {0};
    char *written = config_text(config, false);
    CHECK(strstr(written, "two-level:") == NULL);
    free(written);
    CHECK(config_set(config, "sm.warp_scheduler=two-level", &err));
    written = config_text(config, false);
    CHECK_TEXT(written, "  warp_scheduler: two-level\n");
    CHECK_TEXT(written, "\n  two-level:\n    group_warps: 8\nl1:\n");
    free(written);
    config_destroy(config);
}

/* A random character of each class that YAML escapes differently, as an escape. */
static void append_character(char *text, uint64_t *state) {
    static const unsigned odd[] = {'"',  '\\', '\'',   '#',    ':',    ' ',    '{',    '%',      0x85,
                                   0x9f, 0xa0, 0x2028, 0x2029, 0xfeff, 0xfffe, 0xd7ff, 0x10ffff, 0x1f600};
    unsigned character =
        random_below(state, 2) ? odd[random_below(state, COUNT_OF(odd))] : ' ' + (unsigned)random_below(state, 95);
    sprintf(text + strlen(text), "\\U%08x", character);
}

static void set_at_random(struct config *config, uint64_t *state) {
    char text[1024];
    struct error err = {0};
    double ratio = (double)(int64_t)random_next(state) / 1e10 * 1e-3;
    snprintf(text, sizeof text, "sm.ratio=%.17g", ratio < -10 ? -ratio : ratio);
    CHECK(config_set(config, text, &err));
    snprintf(text, sizeof text, "sm.count=%u", 1 + (unsigned)random_below(state, 1024));
    CHECK(config_set(config, text, &err));
    strcpy(text, "sm.label=\"");
    for (uint64_t n = random_below(state, 15); n > 0; n--) append_character(text, state);
    strcat(text, "\"");
    CHECK(config_set(config, text, &err));
    strcpy(text, "sm.widths=[");
    for (uint64_t n = random_below(state, CONFIG_LIST_MAX + 1); n > 0; n--)
        sprintf(text + strlen(text), "%" PRId64 "%s", (int64_t)random_next(state), n > 1 ? ", " : "");
    strcat(text, "]");
    CHECK(config_set(config, text, &err));
    CHECK(config_set(config, random_below(state, 2) ? "sm.fast=yes" : "sm.fast=no", &err));
    if (random_below(state, 2)) CHECK(config_set(config, "sm.warp_scheduler=two-level", &err));
    if (random_below(state, 2)) CHECK(config_set(config, "sm.two-level.group_warps=11", &err));
    if (random_below(state, 2)) CHECK(config_set(config, "l1.replacement=chance", &err));
    if (random_below(state, 2)) CHECK(config_set(config, "llc.replacement=chance", &err));
    if (random_below(state, 2)) CHECK(config_set(config, "llc.chance.from=coin", &err));
    snprintf(text, sizeof text, "llc.chance.seed=%" PRId64, (int64_t)random_next(state));
    CHECK(config_set(config, text, &err));
    CHECK_EQ((const char *)err.text, "");
}

TEST("a written configuration reads back the same, with and without comments") {
    uint64_t state = 2019;
    for (unsigned round = 0; round < 300; round++) {
        struct config *config = made_up_config();
        set_at_random(config, &state);
        for (int origins = 0; origins < 2; origins++) {
            struct config *again = made_up_config();
            struct error err = {0};
            char *written = config_text(config, origins);
            CHECK(config_read_text(again, "again.yaml", written, strlen(written), &err));
            CHECK_EQ((const char *)err.text, "");
            CHECK(config_same(config, again));
            free(written);
            config_destroy(again);
        }
        config_destroy(config);
    }
}

TEST("a multi-line description and a path that is not UTF-8 read back") {
    struct config *config = made_up_config(), *again = made_up_config();
    struct error err = {0};
    const char *text = "name: \"a\\tb \\\"c\\\"\"\n"
                       "description: |\n  first: line\n  second # line\nsource: 'a paper'\nsm: {count: 3}\n";
    CHECK(config_read_text(config, "odd\n\xff path", text, strlen(text), &err));
    CHECK_EQ(config_description(config), "first: line\nsecond # line\n");
    char *written = config_text(config, true);
    CHECK_TEXT(written, "source: \"a paper\"\n");
    CHECK(config_read_text(again, "again.yaml", written, strlen(written), &err));
    CHECK_EQ((const char *)err.text, "");
    CHECK(config_same(config, again));
    free(written);
    config_destroy(config);
    config_destroy(again);
}
