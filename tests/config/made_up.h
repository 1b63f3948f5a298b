/* A small artificial machine for the configuration tests: every type of parameter, a policy with its own section, a
 * family shared by two sections, a policy within a policy, a section with a base, and cross-checks. */
#ifndef SLUICE_TESTS_CONFIG_MADE_UP_H
#define SLUICE_TESTS_CONFIG_MADE_UP_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "config/config.h"
#include "config/name.h"

/* replacement: lru | chance {seed, source: dice | coin {bias}} */
struct coin_config {
    double bias;
};
static const struct param coin_params[] = {P_REAL(struct coin_config, bias, 0.5, 0, 1, "", "how often it falls heads")};
static const struct section coin_section = {.path = "coin",
                                            .help = "a coin",
                                            .params = coin_params,
                                            .count = COUNT_OF(coin_params),
                                            .size = sizeof(struct coin_config)};
static const struct policy dice_policy = {"dice", "six sides", NULL},
                           coin_policy = {"coin", "two sides", &coin_section};
static const struct policy *const sources[] = {&dice_policy, &coin_policy};
static const struct family source_family = {"source of chance", sources, COUNT_OF(sources)};

struct chance_config {
    int64_t seed;
    const struct policy *from;
};
static const struct param chance_params[] = {
    P_INT(struct chance_config, seed, 1, -9223372036854775807.0, 9223372036854775807.0, "", "of the generator"),
    P_CHOICE(struct chance_config, from, source_family, "dice", "where chance comes from"),
};
static const struct section chance_section = {.path = "chance",
                                              .help = "random replacement",
                                              .params = chance_params,
                                              .count = COUNT_OF(chance_params),
                                              .size = sizeof(struct chance_config)};
static const struct policy lru_policy = {"lru", "oldest first", NULL},
                           chance_policy = {"chance", "any", &chance_section};
static const struct policy *const replacements[] = {&lru_policy, &chance_policy};
static const struct family made_up_replacements = {"replacement policy", replacements, COUNT_OF(replacements)};

/* warp scheduler: gto | two-level {group_warps} */
struct two_level_config {
    int64_t group_warps;
};
static bool two_level_check(const struct config *config, struct error *err);
static const struct param two_level_params[] = {
    P_INT(struct two_level_config, group_warps, 8, 1, 64, "warps", "in a group")};
static const struct section two_level_section = {.path = "two-level",
                                                 .help = "groups",
                                                 .params = two_level_params,
                                                 .count = COUNT_OF(two_level_params),
                                                 .size = sizeof(struct two_level_config),
                                                 .check = two_level_check};
static const struct policy gto_policy = {"gto", "greedy then oldest", NULL},
                           two_level_policy = {"two-level", "groups", &two_level_section};
static const struct policy *const schedulers[] = {&gto_policy, &two_level_policy};
static const struct family made_up_schedulers = {"warp scheduler", schedulers, COUNT_OF(schedulers)};

/* The parameters of the SM that a lower module also needs. */
struct sm_made_up_base {
    int64_t count;
    double ratio;
};
static bool sm_base_check(const struct config *config, struct error *err);
static const struct param sm_base_params[] = {
    P_INT(struct sm_made_up_base, count, 4, 1, 1024, "SMs", "how many"),
    P_REAL(struct sm_made_up_base, ratio, 1.5, -10, 1e9, "", "some ratio"),
};
static const struct section sm_made_up_base = {.params = sm_base_params,
                                               .count = COUNT_OF(sm_base_params),
                                               .size = sizeof(struct sm_made_up_base),
                                               .check = sm_base_check};

struct sm_made_up {
    int64_t count;
    double ratio;
    bool fast;
    char label[CONFIG_TEXT_MAX];
    const struct policy *warp_scheduler;
    struct int_list widths;
    struct int_list pair;
};
static const struct param sm_params[] = {
    P_BOOL(struct sm_made_up, fast, false, "whether it is"),
    P_TEXT(struct sm_made_up, label, "", "any text"),
    P_CHOICE(struct sm_made_up, warp_scheduler, made_up_schedulers, "gto", "who goes next"),
    P_LIST(struct sm_made_up, widths, "[4, 1]", 0, 32, -9223372036854775807.0, 9223372036854775807.0, "lanes",
           "of the pipes"),
    P_LIST(struct sm_made_up, pair, "[1, 2]", 2, 2, 0, 100, "", "two numbers"),
};
static const struct section sm_made_up = {.path = "sm",
                                          .help = "cores",
                                          .params = sm_params,
                                          .count = COUNT_OF(sm_params),
                                          .size = sizeof(struct sm_made_up),
                                          .base = &sm_made_up_base};

struct cache_made_up {
    int64_t size_kb, ways, sets;
    const struct policy *replacement;
};
static bool l1_check(const struct config *config, struct error *err);
static const struct param cache_params[] = {
    P_INT(struct cache_made_up, size_kb, 16, 1, 1048576, "KB", "of data"),
    P_INT(struct cache_made_up, ways, 4, 1, 64, "", "lines in a set"),
    P_INT(struct cache_made_up, sets, 32, 1, 65536, "", "sets"),
    P_CHOICE(struct cache_made_up, replacement, made_up_replacements, "lru", "who leaves"),
};
static const struct section l1_made_up = {.path = "l1",
                                          .help = "first level",
                                          .params = cache_params,
                                          .count = COUNT_OF(cache_params),
                                          .size = sizeof(struct cache_made_up),
                                          .check = l1_check};
static const struct section llc_made_up = {.path = "llc",
                                           .help = "last level",
                                           .params = cache_params,
                                           .count = COUNT_OF(cache_params),
                                           .size = sizeof(struct cache_made_up)};

static const struct section *const made_up_sections[] = {&sm_made_up, &l1_made_up, &llc_made_up};

static bool sm_base_check(const struct config *config, struct error *err) {
    const struct sm_made_up_base *sm = config_get(config, &sm_made_up_base);
    return sm->count != 13 || config_error(config, "sm.count", err, "thirteen is unlucky");
}

static bool l1_check(const struct config *config, struct error *err) {
    const struct cache_made_up *l1 = config_get(config, &l1_made_up);
    if (l1->size_kb * 1024 == l1->ways * l1->sets * 128) return true;
    return config_error(config, "l1.size_kb", err,
                        "%lld KB is not sets x ways x line; %lld x %lld x 128 bytes are %lld", (long long)l1->size_kb,
                        (long long)l1->sets, (long long)l1->ways, (long long)(l1->sets * l1->ways * 128));
}

static bool two_level_check(const struct config *config, struct error *err) {
    const struct two_level_config *two_level = config_get(config, &two_level_section);
    return two_level->group_warps != 7 || config_error(config, "sm.two-level.group_warps", err, "seven is unlucky");
}

static inline struct config *made_up_config(void) {
    return config_create(made_up_sections, COUNT_OF(made_up_sections));
}

/* The configuration as YAML, in newly allocated memory. */
static inline char *config_text(const struct config *config, bool origins) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) abort();
    config_write_yaml(config, origins, out);
    fclose(out);
    return text;
}

/* Whether all values in use are equal, regardless of origin. */
static inline bool config_same(const struct config *a, const struct config *b) {
    for (unsigned i = 0; i < config_entry_count(a); i++) {
        struct config_entry x, y;
        config_entry_at(a, i, &x);
        config_entry_at(b, i, &y);
        if (x.in_use != y.in_use || (x.in_use && strcmp(x.value, y.value) != 0)) return false;
    }
    return strcmp(config_name(a), config_name(b)) == 0 && strcmp(config_description(a), config_description(b)) == 0;
}

#endif
