/* Internal representation of a configuration, private to this module.
 *
 * Sections are laid out flat, each before those of its policies. All values share one block of memory and each
 * parameter has one origin, so copying a configuration and undoing a failed read are plain copies of two arrays.
 * Addresses of values never change.
 */
#ifndef SLUICE_CONFIG_STORE_H
#define SLUICE_CONFIG_STORE_H

#include "config/config.h"

enum { LAYER_DEFAULT = 0, NOWHERE = -1, META_COUNT = 3, META_NAME = 0, META_DESCRIPTION = 1, META_SOURCE = 2 };

/* Top-level keys of a file that are not sections. */
extern const char *const meta_keys[META_COUNT];

struct origin {
    uint32_t layer;
    uint32_t line, column; /* from 1; 0 for --set */
};

struct layer {
    char *label; /* the file's path, or "--set key=value" */
    bool is_set;
};

/* A section at its position in the tree. */
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

/* Index of the section called `name` below `parent` (NOWHERE: top level), or NOWHERE. */
int store_find_section(const struct config *config, int parent, const char *name);
/* Index of the parameter in the section's table, or NOWHERE. */
int store_find_param(const struct section *section, const char *name);
/* Whether the section takes effect: it belongs to no policy, or its policy is chosen. */
bool store_in_use(const struct config *config, unsigned index);
/* Adds a layer and returns its number. */
uint32_t store_add_layer(struct config *config, const char *label, bool is_set);

/* --- value.c: conversion of one value between text and memory --- */

enum value_verdict { VALUE_TAKEN, VALUE_WRONG_TYPE, VALUE_OUT_OF_RANGE, VALUE_UNKNOWN_NAME, VALUE_TOO_LONG };

/* Converts a scalar to the parameter's type (for a list: one element) and stores it in `to`. `plain`: not quoted. */
enum value_verdict value_parse(const struct param *param, const char *text, bool plain, void *to);
/* Writes the value as YAML; returns the length needed, as snprintf does. */
int value_format(const struct param *param, const void *from, char *text, size_t size);
int value_format_text(const char *from, char *text, size_t size);
/* "an integer", for messages. */
void value_describe_type(const struct param *param, char *text, size_t size);
/* "at least 1, at most 1024 SMs", for messages. */
void value_describe_range(const struct param *param, char *text, size_t size);

/* --- yaml.c --- */

/* Reads one parameter's value from YAML text. The layer locates errors. */
bool yaml_read_setting(struct config *config, uint32_t layer, int section, int param, const char *text,
                       struct error *err);
bool yaml_read_sections(struct config *config, uint32_t layer, const char *text, size_t length, struct error *err);
/* Reports that `key` is not in the section, with the nearest key. NOWHERE: not a top-level section. */
bool yaml_blame_unknown(const struct config *config, int section, const char *key, const char *where,
                        struct error *err);

#endif
