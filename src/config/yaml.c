/* Reads the sections of a description from YAML (yaml_reader.h) directly into the values. The descent follows the
 * parameter tables and stops at the first unknown key, so the input cannot force deeper recursion than the tables.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "config/store.h"
#include "config/yaml_reader.h"

struct reader {
    struct yaml_reader yaml;
    struct config *config;
    uint32_t layer;
    bool is_set;
    uint32_t *seen; /* line of each section, then of each meta key, in this file; 0: not seen */
};

/* Keys of the section: its parameters and the sections of its policies. NOWHERE: the top-level sections. */
static void names_of_section(const struct config *config, int section, struct yaml_names *names) {
    names->count = 0;
    if (section != NOWHERE)
        for (unsigned i = 0; i < section_rows(config->placed[section].section); i++)
            yaml_names_add(names, section_row(config->placed[section].section, i)->name);
    for (unsigned i = 0; i < config->placed_count; i++)
        if (config->placed[i].parent == section) yaml_names_add(names, config->placed[i].name);
}

/* Full name of a parameter called `key` in any section: the hint for a key in the wrong section. */
static bool find_elsewhere(const struct config *config, const char *key, char *text, size_t size) {
    for (unsigned i = 0; i < config->placed_count; i++) {
        if (store_find_param(config->placed[i].section, key) == NOWHERE) continue;
        snprintf(text, size, "%s.%s", config->placed[i].path, key);
        return true;
    }
    return false;
}

bool yaml_blame_unknown(const struct config *config, int section, const char *key, const char *place,
                        struct error *err) {
    struct yaml_names names;
    char what[200], known[900];
    names_of_section(config, section, &names);
    if (section == NOWHERE)
        snprintf(what, sizeof what, "unknown section '%s'", yaml_show(key).text);
    else
        snprintf(what, sizeof what, "unknown key '%s' in section '%.80s'", yaml_show(key).text,
                 config->placed[section].path);
    if (find_elsewhere(config, key, known, sizeof known))
        return error_set(err, "%s: %s; did you mean '%s'?", place, what, known);
    yaml_names_hint(&names, key, known, sizeof known);
    return error_set(err, "%s: %s%s", place, what, known);
}

/* Reads the value that starts at the current event and stops at the event that ends it. */
static bool read_param(struct reader *reader, int section, int index) {
    const struct placed *placed = &reader->config->placed[section];
    const struct param *param = section_row(placed->section, (unsigned)index);
    char key[160];
    snprintf(key, sizeof key, "%s.%s", placed->path, param->name);
    void *to = store_value(reader->config, placed, param);
    struct origin *origin = &reader->config->origins[placed->first + (unsigned)index];
    *origin = (struct origin){reader->layer, reader->is_set ? 0 : (uint32_t)reader->yaml.at.line + 1,
                              reader->is_set ? 0 : (uint32_t)reader->yaml.at.column + 1};
    return yaml_read_value(&reader->yaml, key, param, to);
}

/* --- mappings --- */

static bool enter_section(struct reader *reader, int section, yaml_mark_t mark);

/* One key of a section with its value. */
static bool read_pair(struct reader *reader, int section, const char *key, yaml_mark_t mark) {
    const struct placed *placed = &reader->config->placed[section];
    int param = store_find_param(placed->section, key);
    if (param != NOWHERE) {
        const struct origin *origin = &reader->config->origins[placed->first + (unsigned)param];
        if (origin->layer == reader->layer) {
            struct yaml_shown shown = yaml_show(key);
            return yaml_blame_twice(&reader->yaml, mark, shown.text, origin->line);
        }
        return yaml_next(&reader->yaml) && read_param(reader, section, param);
    }
    int inner = store_find_section(reader->config, section, key);
    if (inner != NOWHERE) return enter_section(reader, inner, mark);
    char place[600];
    yaml_where(&reader->yaml, mark, place, sizeof place);
    return yaml_blame_unknown(reader->config, section, key, place, reader->yaml.err);
}

static bool read_meta(struct reader *reader, unsigned meta, yaml_mark_t mark) {
    uint32_t *seen = &reader->seen[reader->config->placed_count + meta];
    if (*seen) return yaml_blame_twice(&reader->yaml, mark, meta_keys[meta], *seen);
    *seen = (uint32_t)mark.line + 1;
    if (!yaml_next(&reader->yaml)) return false;
    if (reader->yaml.event.type != YAML_SCALAR_EVENT)
        return yaml_blame(&reader->yaml, reader->yaml.at, "%s must be text, not %s", meta_keys[meta],
                          yaml_noun(&reader->yaml));
    free(reader->config->meta[meta]);
    reader->config->meta[meta] = mem_text(yaml_scalar(&reader->yaml));
    return true;
}

/* One top-level key of a file with its value. */
static bool read_top_pair(struct reader *reader, const char *key, yaml_mark_t mark) {
    for (unsigned i = 0; i < META_COUNT; i++)
        if (strcmp(key, meta_keys[i]) == 0) return read_meta(reader, i, mark);
    int found = store_find_section(reader->config, NOWHERE, key);
    if (found != NOWHERE) return enter_section(reader, found, mark);
    char place[600];
    yaml_where(&reader->yaml, mark, place, sizeof place);
    return yaml_blame_unknown(reader->config, NOWHERE, key, place, reader->yaml.err);
}

/* The owner of the keys of the mapping being read. */
struct mapping {
    struct reader *reader;
    int section;
};

static bool section_pair(void *user, const char *key, yaml_mark_t mark) {
    const struct mapping *mapping = user;
    return read_pair(mapping->reader, mapping->section, key, mark);
}
static bool top_pair(void *user, const char *key, yaml_mark_t mark) { return read_top_pair(user, key, mark); }

static bool enter_section(struct reader *reader, int section, yaml_mark_t mark) {
    const struct placed *placed = &reader->config->placed[section];
    if (reader->seen[section]) return yaml_blame_twice(&reader->yaml, mark, placed->path, reader->seen[section]);
    reader->seen[section] = (uint32_t)mark.line + 1;
    if (!yaml_next(&reader->yaml)) return false;
    if (yaml_is_nothing(&reader->yaml)) return true;
    if (reader->yaml.event.type != YAML_MAPPING_START_EVENT)
        return yaml_blame(&reader->yaml, reader->yaml.at,
                          "'%s' is a section: write a mapping of its keys (%s: ...), not %s", placed->path,
                          section_rows(placed->section) ? section_row(placed->section, 0)->name : "key",
                          yaml_noun(&reader->yaml));
    return yaml_read_pairs(&reader->yaml, section_pair, &(struct mapping){reader, section});
}

/* --- documents --- */

static void reader_open(struct reader *reader, struct config *config, uint32_t layer, const char *text, size_t length,
                        struct error *err) {
    *reader = (struct reader){.config = config, .layer = layer, .is_set = config->layers[layer].is_set};
    reader->seen = mem_alloc(config->placed_count + META_COUNT, sizeof *reader->seen);
    yaml_reader_open(&reader->yaml, config->layers[layer].label, text, length, err);
    reader->yaml.unlocated = reader->is_set || layer == LAYER_DEFAULT;
}

static void reader_close(struct reader *reader) {
    yaml_reader_close(&reader->yaml);
    free(reader->seen);
}

static bool read_whole(struct reader *reader) {
    if (!yaml_read_head(&reader->yaml)) return false;
    if (reader->yaml.event.type == YAML_STREAM_END_EVENT || yaml_is_nothing(&reader->yaml)) {
        struct yaml_names names;
        char known[400];
        names_of_section(reader->config, NOWHERE, &names);
        yaml_names_join(&names, known, sizeof known);
        return yaml_blame(&reader->yaml, reader->yaml.at, "the file is empty; expected sections (%s)", known);
    }
    if (reader->yaml.event.type != YAML_MAPPING_START_EVENT)
        return yaml_blame(&reader->yaml, reader->yaml.at, "expected a mapping of sections (sm: {count: 4}), found %s",
                          yaml_noun(&reader->yaml));
    return yaml_read_pairs(&reader->yaml, top_pair, reader) && yaml_read_tail(&reader->yaml);
}

bool yaml_read_sections(struct config *config, uint32_t layer, const char *text, size_t length, struct error *err) {
    struct reader reader;
    reader_open(&reader, config, layer, text, length, err);
    bool read = read_whole(&reader);
    reader_close(&reader);
    return read;
}

static bool read_lone_value(struct reader *reader, int section, int param) {
    if (!yaml_read_head(&reader->yaml)) return false;
    if (reader->yaml.event.type != YAML_STREAM_END_EVENT)
        return read_param(reader, section, param) && yaml_read_tail(&reader->yaml);
    /* No text is an empty value, as after a colon. */
    yaml_event_delete(&reader->yaml.event);
    if (!yaml_scalar_event_initialize(&reader->yaml.event, NULL, NULL, (const yaml_char_t *)"", 0, 1, 1,
                                      YAML_PLAIN_SCALAR_STYLE))
        mem_exhausted();
    return read_param(reader, section, param);
}

/* Whether the text is one plain scalar in YAML without asking a parser: letters, digits and what numbers and names are
 * made of. Other plain scalars exist. */
static bool is_plain_word(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || (length > 0 && text[length] && strchr("._-", text[length])))
        length++;
    return length > 0 && text[length] == '\0';
}

/* Most values are one word. A configuration has hundreds of defaults, and a parser allocates 64 KB. A value that the row
 * does not accept is left to the parser, which locates the error. */
static bool read_word(struct config *config, uint32_t layer, int section, int index, const char *text) {
    const struct placed *placed = &config->placed[section];
    const struct param *param = section_row(placed->section, (unsigned)index);
    if (param->type == PARAM_LIST || !is_plain_word(text)) return false;
    if (value_parse(param, text, true, store_value(config, placed, param)) != VALUE_TAKEN) return false;
    uint32_t place = config->layers[layer].is_set ? 0 : 1;
    config->origins[placed->first + (unsigned)index] = (struct origin){layer, place, place};
    return true;
}

bool yaml_read_setting(struct config *config, uint32_t layer, int section, int param, const char *text,
                       struct error *err) {
    if (read_word(config, layer, section, param, text)) return true;
    struct reader reader;
    reader_open(&reader, config, layer, text, strlen(text), err);
    bool read = read_lone_value(&reader, section, param);
    reader_close(&reader);
    return read;
}
