/* Configuration module. It owns the parameter tables, their values and the origin of each value.
 *
 * A *parameter* is a table row: name, type, default, bounds, unit, help and the offset of its value in the owner's
 * struct. The row is written next to the code it configures. A *section* is a table with a dotted path ("sm", "llc",
 * "sm.two-level"). A *policy* is a member of a *family* (GTO is a warp scheduler) and may have its own section,
 * "<family's section>.<policy's name>". The YAML schema, `--set`, range checks, `sluice list parameters`, `sluice show
 * gpu` and the documentation are generated from these tables.
 *
 * Enters: YAML files and `--set` assignments, applied in layers (defaults, GPU description, design, each --set).
 * Leaves: a struct per section, const after config_check(); located errors; the resolved configuration as YAML.
 * Contract: this module knows no parameter by name and never prints.
 */
#ifndef SLUICE_CONFIG_CONFIG_H
#define SLUICE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum { CONFIG_LIST_MAX = 32, CONFIG_TEXT_MAX = 256 };

enum param_type {
    PARAM_INT,    /* int64_t */
    PARAM_REAL,   /* double */
    PARAM_BOOL,   /* bool */
    PARAM_TEXT,   /* char[CONFIG_TEXT_MAX] */
    PARAM_CHOICE, /* const struct policy *, one of `family` */
    PARAM_LIST,   /* struct int_list */
};

struct int_list {
    unsigned count;
    int64_t value[CONFIG_LIST_MAX];
};

struct config;
struct section;
struct stat_table;

/* The head of every policy's ops struct. */
struct policy {
    const char *name;
    const char *help;              /* one line */
    const struct section *section; /* the policy's parameters, or NULL; path relative to the family's section */
};

/* All policies that one choice selects from. */
struct family {
    const char *noun; /* "warp scheduler" */
    const struct policy *const *members;
    unsigned count;
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;
    const char *fallback;          /* the default, in YAML: "4", "true", "gto", "[4, 1]" */
    double min, max;               /* numbers, and each element of a list */
    unsigned min_count, max_count; /* elements of a list */
    const char *unit;
    const char *help;
    const struct family *family;
};

/* Rows of a table. `owner` is the struct, `field` both its member and the parameter's name. */
#define P_INT(owner, field, fallback_, min_, max_, unit_, help_) \
    { \
        .name = #field, .type = PARAM_INT, .offset = offsetof(owner, field), .fallback = #fallback_, \
        .min = (double)(min_), .max = (double)(max_), .unit = unit_, .help = help_ \
    }
#define P_REAL(owner, field, fallback_, min_, max_, unit_, help_) \
    { \
        .name = #field, .type = PARAM_REAL, .offset = offsetof(owner, field), .fallback = #fallback_, .min = min_, \
        .max = max_, .unit = unit_, .help = help_ \
    }
#define P_BOOL(owner, field, fallback_, help_) \
    { \
        .name = #field, .type = PARAM_BOOL, .offset = offsetof(owner, field), .fallback = #fallback_, .unit = "", \
        .help = help_ \
    }
#define P_TEXT(owner, field, fallback_, help_) \
    { \
        .name = #field, .type = PARAM_TEXT, .offset = offsetof(owner, field), .fallback = fallback_, .unit = "", \
        .help = help_ \
    }
#define P_CHOICE(owner, field, family_, fallback_, help_) \
    { \
        .name = #field, .type = PARAM_CHOICE, .offset = offsetof(owner, field), .fallback = fallback_, .unit = "", \
        .help = help_, .family = &(family_) \
    }
#define P_LIST(owner, field, fallback_, least_, most_, min_, max_, unit_, help_) \
    { \
        .name = #field, .type = PARAM_LIST, .offset = offsetof(owner, field), .fallback = fallback_, \
        .min = (double)(min_), .max = (double)(max_), .min_count = least_, .max_count = most_, .unit = unit_, \
        .help = help_ \
    }

/* Storage that a choice adds to the baseline machine: `copies` tables of `entries` entries of `bits` bits. */
struct storage_item {
    const char *what;
    uint64_t copies, entries, bits;
};
enum { STORAGE_ITEMS = 8 };

struct section {
    const char *path;
    const char *help;
    const struct param *params;
    unsigned count;
    size_t size; /* of the struct that holds the values */
    /* Cross-checks, run after all values are set. Errors go through config_error, which locates the setting at fault.
     * May be NULL. */
    bool (*check)(const struct config *config, struct error *err);
    /* Changes values that follow from others, before all checks: config_is_newer, config_derive. May be NULL. */
    void (*derive)(struct config *config);
    /* Lists the storage of the hardware that this section configures, at most STORAGE_ITEMS, and returns the number of
     * items. For `sluice overhead`; NULL if there is none. */
    unsigned (*storage)(const struct config *config, struct storage_item *items);
    /* A section whose rows come first in this one: parameters that lower modules also need, declared by one of them.
     * Its struct is a prefix of this section's. May be NULL. */
    const struct section *base;
};

static inline unsigned section_rows(const struct section *section) {
    return section->count + (section->base ? section->base->count : 0);
}
static inline const struct param *section_row(const struct section *section, unsigned index) {
    unsigned below = section->base ? section->base->count : 0;
    return index < below ? &section->base->params[index] : &section->params[index - below];
}

/* The top-level sections of a machine, in the order in which they are shown (sections.def). */
extern const struct section *const config_sections[];
extern const unsigned config_section_count;

/* All values at their defaults, for `sections` and the sections of all their policies. */
struct config *config_create(const struct section *const *sections, unsigned count);
struct config *config_copy(const struct config *config);
void config_destroy(struct config *config);

/* Applies a YAML mapping of sections. Unknown keys, wrong types and values out of range are errors at file:line:column
 * with a fix. On an error the configuration is unchanged. */
bool config_read_file(struct config *config, const char *path, struct error *err);
bool config_read_text(struct config *config, const char *name, const char *text, size_t length, struct error *err);

/* One `key=value` as given to --set; the value is read as YAML. */
bool config_set(struct config *config, const char *assignment, struct error *err);

/* Derives values that follow from others, and runs the cross-checks of every section; a policy's section takes part only
 * if the policy is chosen. */
bool config_check(struct config *config, struct error *err);

/* The values of a section: `const struct sm_config *sm = config_get(config, &sm_section);` A policy's section may exist
 * several times (L1 and LLC offer the same replacement policies): config_get returns the one in use, config_get_in the
 * one below `parent`. */
const void *config_get(const struct config *config, const struct section *section);
const void *config_get_in(const struct config *config, const struct section *parent, const struct section *section);

/* The `name:`, `description:` or `source:` of the description, or "". The first file that gives one wins: a design does
 * not rename the GPU. */
const char *config_description(const struct config *config);

/* Sets the error "file:line:column: sm.count: <message>", located where the value was given. `key` is the full dotted
 * name. Always returns false. */
bool config_error(const struct config *config, const char *key, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* For the derivations of a section. Whether the value of a parameter comes from a later layer than that of another one;
 * all --set are one layer. Keys are full dotted names. */
bool config_is_newer(const struct config *config, const char *key, const char *than);
/* Sets an integer parameter to a value that follows from that of `from`, whose origin it takes. */
void config_derive(struct config *config, const char *key, const char *from, int64_t value);

/* Writes the resolved configuration as YAML that config_read_file accepts. With `origins`, each line ends in a comment
 * with unit and origin. Sections of policies that are not chosen are omitted. */
void config_write_yaml(const struct config *config, bool origins, FILE *out);

/* Every parameter, in order, for JSON, listings and documentation. */
struct config_entry {
    char key[128]; /* full dotted name */
    const struct section *section;
    const struct param *param;
    char value[768];  /* as YAML */
    char origin[512]; /* "default", "--set", or file:line:column */
    bool in_use;      /* false for the section of a policy that is not chosen */
};
unsigned config_entry_count(const struct config *config);
void config_entry_at(const struct config *config, unsigned index, struct config_entry *entry);

/* For a parameter that is not in use: the choice that would have to be its policy, with its present value. False if
 * there is none. */
bool config_find_choice(const struct config *config, const struct config_entry *unused, struct config_entry *choice);

#endif
