/* The inside of a configuration, for the files of this room only.
 *
 * Sections are laid out flat, each before those of its policies, with all values in one block of memory and one origin
 * for each parameter: so a copy, and taking back a reading that failed half-way, are plain copies of two arrays.
 * Addresses of values never change.
 */
#ifndef SLUICE_CONFIG_STORE_H
#define SLUICE_CONFIG_STORE_H

#include "config/config.h"

enum { LAYER_DEFAULT = 0, NOWHERE = -1, META_COUNT = 3, META_NAME = 0, META_DESCRIPTION = 1, META_SOURCE = 2 };

/* Keys beside the sections at the top of a file. */
extern const char *const meta_keys[META_COUNT];

struct origin {
    uint32_t layer;
    uint32_t line, column; /* from 1; 0 for --set */
};

struct layer {
    char *label; /* the file's path, or "--set key=value" */
    bool is_set;
};

/* A section in its place. */
struct placed {
    const struct section *section;
    char *path;       /* full dotted name */
    const char *name; /* its last part */
    int parent;       /* index, or NOWHERE */
    size_t offset;    /* of its values */
    unsigned first;   /* origin of its first parameter; also the index of its first entry */
};

struct config {
    struct placed *placed;
    unsigned placed_count;
    unsigned param_count;
    unsigned char *values;
    size_t values_size;
    struct origin *origins;
    struct layer *layers; /* layer 0 holds the defaults */
    unsigned layer_count;
    char *meta[META_COUNT]; /* never NULL */
};

static inline void *store_value(const struct config *config, const struct placed *placed, const struct param *param) {
    return config->values + placed->offset + param->offset;
}

/* Index of the section called `name` below `parent` (NOWHERE: at the top), or NOWHERE. */
int store_find_section(const struct config *config, int parent, const char *name);
/* Index of the parameter in the section's table, or NOWHERE. */
int store_find_param(const struct section *section, const char *name);
/* Whether no policy has to be chosen for the section to matter, or it is chosen. */
bool store_in_use(const struct config *config, unsigned index);
/* Starts a layer and returns its number. */
uint32_t store_add_layer(struct config *config, const char *label, bool is_set);

/* --- value.c: one value, as text and as memory --- */

enum value_verdict { VALUE_TAKEN, VALUE_WRONG_TYPE, VALUE_OUT_OF_RANGE, VALUE_UNKNOWN_NAME, VALUE_TOO_LONG };

/* Reads a scalar as one value of the parameter's type (of a list: one element) into `to`. `plain`: it was not in
 * quotes. */
enum value_verdict value_parse(const struct param *param, const char *text, bool plain, void *to);
/* Writes the value as YAML; returns the length it needs, as snprintf does. */
int value_format(const struct param *param, const void *from, char *text, size_t size);
int value_format_text(const char *from, char *text, size_t size);
/* "a whole number", for messages. */
void value_describe_type(const struct param *param, char *text, size_t size);
/* "at least 1, at most 1024 SMs", for messages. */
void value_describe_range(const struct param *param, char *text, size_t size);

/* --- yaml.c --- */

/* One parameter's value from YAML text. The layer says whom to blame. */
bool yaml_read_setting(struct config *config, uint32_t layer, int section, int param, const char *text,
                       struct error *err);
bool yaml_read_sections(struct config *config, uint32_t layer, const char *text, size_t length, struct error *err);
/* Says that `key` is none of the section's, with the nearest that is. NOWHERE: none of the top-level sections. */
bool yaml_blame_unknown(const struct config *config, int section, const char *key, const char *where,
                        struct error *err);

#endif
