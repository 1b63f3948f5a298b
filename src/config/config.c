/* A configuration as a whole: layout of sections and values, the layer each value came from, cross-checks. yaml.c and
 * value.c read values, write.c writes them.
 */
#include "config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "config/store.h"

enum { FILE_MAX_BYTES = 1 << 20 }; /* a description is a few KiB; rejects anything else early */

const char *const meta_keys[META_COUNT] = {"name", "description", "source"};

int store_find_section(const struct config *config, int parent, const char *name) {
    for (unsigned i = 0; i < config->placed_count; i++)
        if (config->placed[i].parent == parent && strcmp(config->placed[i].name, name) == 0) return (int)i;
    return NOWHERE;
}

int store_find_param(const struct section *section, const char *name) {
    for (unsigned i = 0; i < section_rows(section); i++)
        if (strcmp(section_row(section, i)->name, name) == 0) return (int)i;
    return NOWHERE;
}

bool store_in_use(const struct config *config, unsigned index) {
    const struct placed *placed = &config->placed[index];
    if (placed->parent == NOWHERE) return true;
    const struct placed *parent = &config->placed[placed->parent];
    for (unsigned i = 0; i < section_rows(parent->section); i++) {
        const struct param *param = section_row(parent->section, i);
        if (param->type != PARAM_CHOICE) continue;
        const struct policy *chosen = *(const struct policy *const *)store_value(config, parent, param);
        if (chosen->section == placed->section && strcmp(chosen->name, placed->name) == 0)
            return store_in_use(config, (unsigned)placed->parent);
    }
    return false;
}

uint32_t store_add_layer(struct config *config, const char *label, bool is_set) {
    config->layers = mem_grow(config->layers, config->layer_count + 1, sizeof *config->layers);
    config->layers[config->layer_count] = (struct layer){.label = mem_text(label), .is_set = is_set};
    return config->layer_count++;
}

static void place_policies(struct config *config, int parent);

static void place(struct config *config, const struct section *section, int parent, const char *name) {
    config->placed = mem_grow(config->placed, config->placed_count + 1, sizeof *config->placed);
    char *path = parent == NOWHERE ? mem_text(name) : text_format("%s.%s", config->placed[parent].path, name);
    int index = (int)config->placed_count++;
    config->placed[index] = (struct placed){.section = section,
                                            .path = path,
                                            .name = name,
                                            .parent = parent,
                                            .offset = config->values_size,
                                            .first = config->param_count};
    config->values_size += (section->size + 15) / 16 * 16;
    config->param_count += section_rows(section);
    place_policies(config, index);
}

/* Two choices of a section may offer the same policies; the policy's section exists once. */
static void place_policies(struct config *config, int parent) {
    const struct section *section = config->placed[parent].section;
    for (unsigned i = 0; i < section_rows(section); i++) {
        const struct param *param = section_row(section, i);
        const struct family *family = param->family;
        if (param->type != PARAM_CHOICE) continue;
        for (unsigned m = 0; m < family->count; m++) {
            const struct policy *policy = family->members[m];
            if (!policy->section) continue;
            assert(store_find_param(section, policy->name) == NOWHERE &&
                   "a policy's section has the name of a parameter of the same section");
            int there = store_find_section(config, parent, policy->name);
            assert(there == NOWHERE || config->placed[there].section == policy->section);
            if (there == NOWHERE) place(config, policy->section, parent, policy->name);
        }
    }
}

static void take_defaults(struct config *config) {
    for (unsigned i = 0; i < config->placed_count; i++) {
        const struct section *section = config->placed[i].section;
        for (unsigned p = 0; p < section_rows(section); p++) {
            struct error err = {0};
            if (yaml_read_setting(config, LAYER_DEFAULT, (int)i, (int)p, section_row(section, p)->fallback, &err))
                continue;
            fprintf(stderr, "a default outside the bounds of its row: %s\n",
                    err.text); /* as assert would, with the reason */
            abort();
        }
    }
}

struct config *config_create(const struct section *const *sections, unsigned count) {
    struct config *config = mem_alloc(1, sizeof *config);
    for (unsigned i = 0; i < count; i++) place(config, sections[i], NOWHERE, sections[i]->path);
    config->values = mem_alloc(1, config->values_size);
    config->origins = mem_alloc(config->param_count, sizeof *config->origins);
    for (unsigned i = 0; i < META_COUNT; i++) config->meta[i] = mem_text("");
    store_add_layer(config, "default", false);
    take_defaults(config);
    return config;
}

static void *duplicate(const void *from, size_t bytes) {
    void *copy = mem_alloc(bytes, 1);
    if (bytes) memcpy(copy, from, bytes);
    return copy;
}

struct config *config_copy(const struct config *config) {
    struct config *copy = duplicate(config, sizeof *config);
    copy->placed = duplicate(config->placed, config->placed_count * sizeof *config->placed);
    for (unsigned i = 0; i < copy->placed_count; i++) copy->placed[i].path = mem_text(config->placed[i].path);
    copy->values = duplicate(config->values, config->values_size);
    copy->origins = duplicate(config->origins, config->param_count * sizeof *config->origins);
    copy->layers = duplicate(config->layers, config->layer_count * sizeof *config->layers);
    for (unsigned i = 0; i < copy->layer_count; i++) copy->layers[i].label = mem_text(config->layers[i].label);
    for (unsigned i = 0; i < META_COUNT; i++) copy->meta[i] = mem_text(config->meta[i]);
    return copy;
}

void config_destroy(struct config *config) {
    if (!config) return;
    for (unsigned i = 0; i < config->placed_count; i++) free(config->placed[i].path);
    for (unsigned i = 0; i < config->layer_count; i++) free(config->layers[i].label);
    for (unsigned i = 0; i < META_COUNT; i++) free(config->meta[i]);
    free(config->placed);
    free(config->values);
    free(config->origins);
    free(config->layers);
    free(config);
}

/* Ends a read: after a failure, values and origins are restored from `before`. */
static bool settle(struct config *config, struct config *before, bool read) {
    if (!read) {
        if (config->values_size) memcpy(config->values, before->values, config->values_size);
        if (config->param_count)
            memcpy(config->origins, before->origins, config->param_count * sizeof *config->origins);
        while (config->layer_count > before->layer_count) free(config->layers[--config->layer_count].label);
    }
    bool named = *before->meta[META_NAME] != '\0';
    for (unsigned i = 0; i < META_COUNT && (!read || named); i++) {
        char *given = config->meta[i];
        config->meta[i] = before->meta[i];
        before->meta[i] = given;
    }
    config_destroy(before);
    return read;
}

bool config_read_text(struct config *config, const char *name, const char *text, size_t length, struct error *err) {
    if (length > FILE_MAX_BYTES)
        return error_set(err, "'%.512s' is larger than %d KiB; it is not a description", name, FILE_MAX_BYTES >> 10);
    struct config *before = config_copy(config);
    uint32_t layer = store_add_layer(config, name, false);
    return settle(config, before, yaml_read_sections(config, layer, text, length, err));
}

bool config_read_file(struct config *config, const char *path, struct error *err) {
    FILE *file = fopen(path, "rb");
    if (!file) return error_set(err, "cannot read '%.512s': %s", path, strerror(errno));
    char *text = mem_alloc(FILE_MAX_BYTES + 1, 1);
    size_t length = fread(text, 1, FILE_MAX_BYTES + 1, file);
    bool broken = ferror(file);
    int reason = errno; /* opening a directory succeeds, reading it fails */
    fclose(file);
    bool read = broken ? error_set(err, "cannot read '%.512s': %s", path, strerror(reason))
                       : config_read_text(config, path, text, length, err);
    free(text);
    return read;
}

/* Resolves a dotted name to a section and, with its last part, to a parameter. */
static bool resolve(const struct config *config, const char *key, const char *where, int *section, int *param,
                    struct error *err) {
    char part[sizeof((struct config_entry *)0)->key];
    *section = NOWHERE;
    while (true) {
        size_t length = strcspn(key, ".");
        bool last = key[length] == '\0';
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part), key);
        if (last && *section != NOWHERE) {
            *param = store_find_param(config->placed[*section].section, part);
            if (*param != NOWHERE) return true;
        }
        int inner = store_find_section(config, *section, part);
        if (inner == NOWHERE) return yaml_blame_unknown(config, *section, part, where, err);
        *section = inner;
        if (last) break;
        key += length + 1;
    }
    const struct placed *placed = &config->placed[*section];
    return error_set(err, "%s: '%s' is a section; set one of its keys, as in --set %s.%s=VALUE", where, placed->path,
                     placed->path, section_rows(placed->section) ? section_row(placed->section, 0)->name : "KEY");
}

bool config_set(struct config *config, const char *assignment, struct error *err) {
    char *label = text_format("--set %.400s", assignment);
    for (char *c = label; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '\177') *c = '?';
    const char *equals = strchr(assignment, '=');
    bool read = false;
    if (!equals) {
        error_set(err, "%s: a setting is written KEY=VALUE, as in --set sm.count=4", label);
    } else {
        char *key = text_format("%.*s", (int)(equals - assignment), assignment);
        int section, param;
        if (resolve(config, key, label, &section, &param, err)) {
            struct config *before = config_copy(config);
            uint32_t layer = store_add_layer(config, label, true);
            read = settle(config, before, yaml_read_setting(config, layer, section, param, equals + 1, err));
        }
        free(key);
    }
    free(label);
    return read;
}

bool config_check(struct config *config, struct error *err) {
    for (unsigned i = 0; i < config->placed_count; i++) {
        const struct section *section = config->placed[i].section;
        if (section->derive && store_in_use(config, i)) section->derive(config);
    }
    for (unsigned i = 0; i < config->placed_count; i++) {
        const struct section *section = config->placed[i].section;
        if (!store_in_use(config, i)) continue;
        if (section->base && section->base->check && !section->base->check(config, err)) return false;
        if (section->check && !section->check(config, err)) return false;
    }
    return true;
}

/* The index of `section` below `parent` (NULL: anywhere), preferring one in use. */
static const void *get(const struct config *config, const struct section *parent, const struct section *section) {
    int found = NOWHERE;
    for (unsigned i = 0; i < config->placed_count; i++) {
        const struct placed *placed = &config->placed[i];
        if (placed->section != section && placed->section->base != section) continue;
        if (parent && (placed->parent == NOWHERE || config->placed[placed->parent].section != parent)) continue;
        bool in_use = store_in_use(config, i);
        if (found == NOWHERE || in_use) found = (int)i;
        if (in_use) break;
    }
    assert(found != NOWHERE && "a section that the configuration was not created with");
    return found == NOWHERE ? NULL : config->values + config->placed[found].offset;
}

const void *config_get(const struct config *config, const struct section *section) {
    return get(config, NULL, section);
}

const void *config_get_in(const struct config *config, const struct section *parent, const struct section *section) {
    return get(config, parent, section);
}

const char *config_description(const struct config *config) { return config->meta[META_DESCRIPTION]; }

bool config_error(const struct config *config, const char *key, struct error *err, const char *format, ...) {
    if (err->set) return false;
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);

    struct error none = {0};
    int section, param;
    if (!resolve(config, key, "", &section, &param, &none)) {
        assert(!"a cross-check names a parameter that does not exist");
        return error_set(err, "%s: %s", key, message);
    }
    const struct placed *placed = &config->placed[section];
    const struct origin *origin = &config->origins[placed->first + (unsigned)param];
    const struct layer *layer = &config->layers[origin->layer];
    if (origin->layer == LAYER_DEFAULT) {
        char value[768];
        const struct param *row = section_row(placed->section, (unsigned)param);
        value_format(row, store_value(config, placed, row), value, sizeof value);
        return error_set(err, "%s (default %s): %s", key, value, message);
    }
    if (layer->is_set) return error_set(err, "%s: %s: %s", layer->label, key, message);
    return error_at(err, layer->label, origin->line, origin->column, "%s: %s", key, message);
}

/* The origin of a parameter that exists. */
static struct origin *origin_of(const struct config *config, const char *key, int *section, int *param) {
    struct error none = {0};
    bool found = resolve(config, key, "", section, param, &none);
    assert(found && "a derivation names a parameter that does not exist");
    return found ? &config->origins[config->placed[*section].first + (unsigned)*param] : NULL;
}

static uint32_t age_of(const struct config *config, const char *key) {
    int section, param;
    const struct origin *origin = origin_of(config, key, &section, &param);
    if (!origin) return 0;
    return config->layers[origin->layer].is_set ? UINT32_MAX : origin->layer;
}

bool config_is_newer(const struct config *config, const char *key, const char *than) {
    return age_of(config, key) > age_of(config, than);
}

void config_derive(struct config *config, const char *key, const char *from, int64_t value) {
    int section, param, from_section, from_param;
    struct origin *origin = origin_of(config, key, &section, &param);
    const struct origin *cause = origin_of(config, from, &from_section, &from_param);
    if (!origin || !cause) return;
    const struct placed *placed = &config->placed[section];
    const struct param *row = section_row(placed->section, (unsigned)param);
    assert(row->type == PARAM_INT);
    *(int64_t *)store_value(config, placed, row) = value;
    *origin = *cause;
}

unsigned config_entry_count(const struct config *config) { return config->param_count; }

void config_entry_at(const struct config *config, unsigned index, struct config_entry *entry) {
    assert(index < config->param_count);
    unsigned at = 0;
    while (at + 1 < config->placed_count && config->placed[at + 1].first <= index) at++;
    const struct placed *placed = &config->placed[at];
    const struct param *param = section_row(placed->section, index - placed->first);
    const struct origin *origin = &config->origins[index];
    const struct layer *layer = &config->layers[origin->layer];
    entry->section = placed->section;
    entry->param = param;
    entry->in_use = store_in_use(config, at);
    snprintf(entry->key, sizeof entry->key, "%s.%s", placed->path, param->name);
    value_format(param, store_value(config, placed, param), entry->value, sizeof entry->value);
    if (origin->layer == LAYER_DEFAULT)
        snprintf(entry->origin, sizeof entry->origin, "default");
    else if (layer->is_set)
        snprintf(entry->origin, sizeof entry->origin, "--set");
    else
        snprintf(entry->origin, sizeof entry->origin, "%.460s:%u:%u", layer->label, origin->line, origin->column);
}

bool config_find_choice(const struct config *config, const struct config_entry *unused, struct config_entry *choice) {
    char path[sizeof unused->key];
    snprintf(path, sizeof path, "%s", unused->key);
    *strrchr(path, '.') = '\0'; /* llc.adaptive */
    char *policy = strrchr(path, '.');
    if (!policy) return false;
    *policy++ = '\0'; /* llc, adaptive */
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        config_entry_at(config, i, choice);
        size_t length = strlen(path);
        if (choice->param->type != PARAM_CHOICE || strncmp(choice->key, path, length) != 0 ||
            choice->key[length] != '.' || strchr(choice->key + length + 1, '.'))
            continue;
        for (unsigned m = 0; m < choice->param->family->count; m++)
            if (strcmp(choice->param->family->members[m]->name, policy) == 0) return true;
    }
    return false;
}
