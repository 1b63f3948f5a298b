/* Lists of settings, and the configurations that they describe. A setting is written as for --set: "l1.mshrs=2". */
#ifndef SLUICE_TESTS_SETTINGS_H
#define SLUICE_TESTS_SETTINGS_H

#include "config/config.h"
#include "test.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_SETTINGS   ((const char *const[]){NULL})

static inline bool config_set_all(struct config *config, const char *const *settings, struct error *err) {
    bool good = true;
    for (; good && *settings; settings++) good = config_set(config, *settings, err);
    return good;
}

/* The defaults with settings over them, not checked as a whole. The test ends if a setting is rejected. */
static inline struct config *config_with(const char *const *settings) {
    struct config *config = config_create(config_sections, config_section_count);
    struct error err = {0};
    bool good = config_set_all(config, settings, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(good);
    return config;
}

/* The defaults with the settings of both lists over them, checked as a whole. Returns NULL if that is rejected. */
static inline struct config *config_checked(const char *const *common, const char *const *settings, struct error *err) {
    struct config *config = config_create(config_sections, config_section_count);
    if (config_set_all(config, common, err) && config_set_all(config, settings, err) && config_check(config, err))
        return config;
    config_destroy(config);
    return NULL;
}

/* Checks that the configuration is rejected as a whole, with a message that contains all parts, and destroys it. */
static inline void check_rejected(struct config *config, const char *const *parts) {
    struct error err = {0};
    CHECK(!config_check(config, &err));
    for (; *parts; parts++) CHECK_TEXT(err.text, *parts);
    config_destroy(config);
}
#define CHECK_REJECTED(config, ...) check_rejected(config, (const char *const[]){__VA_ARGS__, NULL})

#endif
