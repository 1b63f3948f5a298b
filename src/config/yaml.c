/* YAML in, through libyaml's events, straight into the values: no tree is built. The descent follows the parameter
 * tables and stops at the first thing that they do not name, so nothing deeper, longer or more self-referential than
 * the tables is ever walked.
 *
 * libyaml because it is small, in Debian, marks every event with line and column, and leaves types to us. Deliberately
 * refused: anchors, aliases, tags, several documents. A description is meant to be read by people, each value where it
 * stands.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/base.h"
#include "config/store.h"

struct reader {
    struct config *config;
    struct error *err;
    uint32_t layer;
    const char *label;
    bool is_set;
    const char *text;
    size_t length;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    yaml_mark_t at;     /* where it starts */
    uint32_t *seen;     /* line of each section and, after them, of each meta key in this file; 0: not yet */
};

/* What a user wrote, fit for a message: short, and without characters that a terminal would act on. */
struct shown {
    char text[84];
};

static struct shown show(const char *text) {
    struct shown shown;
    size_t cut = 77; /* where an overlong text ends, not within a character */
    int length = snprintf(shown.text, 81, "%s", text);
    while (length > 80 && cut > 0 && (shown.text[cut] & 0xC0) == 0x80) cut--;
    if (length > 80) strcpy(shown.text + cut, "...");
    for (char *c = shown.text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '\177') *c = '?';
    return shown;
}

static void where(const struct reader *reader, yaml_mark_t mark, char *text, size_t size) {
    if (reader->is_set || reader->layer == LAYER_DEFAULT)
        snprintf(text, size, "%.512s", reader->label);
    else
        snprintf(text, size, "%.512s:%zu:%zu", reader->label, mark.line + 1, mark.column + 1);
}

__attribute__((format(printf, 3, 4))) static bool blame(const struct reader *reader, yaml_mark_t mark,
                                                        const char *format, ...) {
    char message[1024], place[600];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    where(reader, mark, place, sizeof place);
    return error_set(reader->err, "%s: %s", place, message);
}

/* libyaml marks what its scanner finds, but gives only the byte offset of what is no text at all. */
static bool blame_syntax(const struct reader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error != YAML_READER_ERROR)
        return blame(reader, parser->problem_mark, "not valid YAML: %s%s%s",
                     parser->problem ? parser->problem : "out of memory", parser->context ? " " : "",
                     parser->context ? parser->context : "");
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < parser->problem_offset && i < reader->length; i++) {
        mark.column++;
        if (reader->text[i] != '\n') continue;
        mark.line++;
        mark.column = 0;
    }
    return blame(reader, mark, "not a text file in UTF-8: %s", parser->problem);
}

static bool refuse_extras(const struct reader *reader) {
    const yaml_event_t *event = &reader->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return blame(reader, reader->at, "aliases (*%s) are not taken; write the value out",
                     show((const char *)event->data.alias.anchor).text);
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
            return blame(reader, reader->at, "a NUL character has no place in a value");
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default: break;
    }
    if (anchor)
        return blame(reader, reader->at, "anchors (&%s) are not taken; write the value out",
                     show((const char *)anchor).text);
    if (tag)
        return blame(reader, reader->at, "tags (%s) are not taken; the type follows from the key",
                     show((const char *)tag).text);
    return true;
}

static bool next(struct reader *reader) {
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        memset(&reader->event, 0, sizeof reader->event);
        return blame_syntax(reader);
    }
    reader->at = reader->event.start_mark;
    return refuse_extras(reader);
}

static const char *scalar(const struct reader *reader) { return (const char *)reader->event.data.scalar.value; }

static bool is_plain(const struct reader *reader) { return reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }

/* Nothing after a colon, as when all keys of a section are commented out. */
static bool is_nothing(const struct reader *reader) {
    return reader->event.type == YAML_SCALAR_EVENT && is_plain(reader) && reader->event.data.scalar.length == 0;
}

static const char *event_noun(const struct reader *reader) {
    return reader->event.type == YAML_SEQUENCE_START_EVENT  ? "a list"
           : reader->event.type == YAML_MAPPING_START_EVENT ? "a mapping"
                                                            : "a value";
}

/* --- names --- */

enum { NAMES_MAX = 256 };

struct names {
    const char *name[NAMES_MAX];
    unsigned count;
};

static void names_add(struct names *names, const char *name) {
    if (names->count < NAMES_MAX) names->name[names->count++] = name;
}

/* Keys that the section takes: its parameters and the sections of its policies. NOWHERE: the top-level sections. */
static void names_of_section(const struct config *config, int section, struct names *names) {
    names->count = 0;
    if (section != NOWHERE)
        for (unsigned i = 0; i < config->placed[section].section->count; i++)
            names_add(names, config->placed[section].section->params[i].name);
    for (unsigned i = 0; i < config->placed_count; i++)
        if (config->placed[i].parent == section) names_add(names, config->placed[i].name);
}

static void names_join(const struct names *names, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; i < names->count && used + 80 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names->name[i]);
}

/* Full name of a parameter called `key` anywhere: what somebody means who has the right key in the wrong section. */
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
    struct names names;
    char what[200], known[800];
    names_of_section(config, section, &names);
    if (section == NOWHERE)
        snprintf(what, sizeof what, "unknown section '%s'", show(key).text);
    else
        snprintf(what, sizeof what, "unknown key '%s' in section '%.80s'", show(key).text,
                 config->placed[section].path);
    if (find_elsewhere(config, key, known, sizeof known))
        return error_set(err, "%s: %s; did you mean '%s'?", place, what, known);
    const char *near = nearest_name(key, names.name, names.count);
    if (near) return error_set(err, "%s: %s; did you mean '%s'?", place, what, near);
    names_join(&names, known, sizeof known);
    return error_set(err, "%s: %s; there %s: %s", place, what, names.count == 1 ? "is" : "are",
                     names.count ? known : "none");
}

/* --- one value --- */

static bool blame_value(const struct reader *reader, const char *key, const struct param *param,
                        enum value_verdict verdict, const char *text) {
    char wanted[160];
    struct shown shown = show(text);
    switch (verdict) {
    case VALUE_OUT_OF_RANGE:
        value_describe_range(param, wanted, sizeof wanted);
        return blame(reader, reader->at, "%s = %s is out of range: %s", key, shown.text, wanted);
    case VALUE_TOO_LONG:
        return blame(reader, reader->at, "%s takes at most %d bytes of text", key, CONFIG_TEXT_MAX - 1);
    case VALUE_UNKNOWN_NAME: {
        struct names names = {.count = 0};
        char known[600];
        for (unsigned i = 0; i < param->family->count; i++) names_add(&names, param->family->members[i]->name);
        names_join(&names, known, sizeof known);
        const char *near = nearest_name(text, names.name, names.count);
        return blame(reader, reader->at, "%s: no %s called '%s'%s%s%s (known: %s)", key, param->family->noun,
                     shown.text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", known);
    }
    default: break;
    }
    value_describe_type(param, wanted, sizeof wanted);
    bool quoted = reader->event.type == YAML_SCALAR_EVENT && !is_plain(reader) && param->type != PARAM_TEXT;
    if (quoted) return blame(reader, reader->at, "%s takes %s, and \"%s\" in quotes is text", key, wanted, shown.text);
    return blame(reader, reader->at, "%s takes %s, and '%s' is none", key, wanted, shown.text);
}

static bool read_scalar(struct reader *reader, const char *key, const struct param *param, void *to) {
    if (reader->event.type != YAML_SCALAR_EVENT) {
        char wanted[160];
        value_describe_type(param, wanted, sizeof wanted);
        return blame(reader, reader->at, "%s takes %s, not %s", key, wanted, event_noun(reader));
    }
    enum value_verdict verdict = value_parse(param, scalar(reader), is_plain(reader), to);
    return verdict == VALUE_TAKEN || blame_value(reader, key, param, verdict, scalar(reader));
}

static bool blame_count(const struct reader *reader, yaml_mark_t mark, const char *key, const struct param *param,
                        unsigned most) {
    if (param->min_count == most) return blame(reader, mark, "%s takes exactly %u numbers", key, most);
    return blame(reader, mark, "%s takes %u to %u numbers", key, param->min_count, most);
}

static bool read_list(struct reader *reader, const char *key, const struct param *param, struct int_list *list) {
    if (reader->event.type == YAML_SCALAR_EVENT)
        return blame_value(reader, key, param, VALUE_WRONG_TYPE, scalar(reader));
    if (reader->event.type != YAML_SEQUENCE_START_EVENT) return read_scalar(reader, key, param, NULL); /* says so */
    yaml_mark_t start = reader->at;
    unsigned most = param->max_count && param->max_count < CONFIG_LIST_MAX ? param->max_count : CONFIG_LIST_MAX;
    memset(list, 0, sizeof *list);
    while (true) {
        if (!next(reader)) return false;
        if (reader->event.type == YAML_SEQUENCE_END_EVENT) break;
        if (list->count == most) return blame_count(reader, reader->at, key, param, most);
        char element[176];
        snprintf(element, sizeof element, "%s[%u]", key, list->count);
        struct param number = *param;
        number.type = PARAM_INT;
        if (!read_scalar(reader, element, &number, &list->value[list->count])) return false;
        list->count++;
    }
    return list->count >= param->min_count || blame_count(reader, start, key, param, most);
}

/* The current event starts the value. Leaves the event that ends it. */
static bool read_param(struct reader *reader, int section, int index) {
    const struct placed *placed = &reader->config->placed[section];
    const struct param *param = &placed->section->params[index];
    char key[160];
    snprintf(key, sizeof key, "%s.%s", placed->path, param->name);
    void *to = store_value(reader->config, placed, param);
    struct origin *origin = &reader->config->origins[placed->first + (unsigned)index];
    *origin = (struct origin){reader->layer, reader->is_set ? 0 : (uint32_t)reader->at.line + 1,
                              reader->is_set ? 0 : (uint32_t)reader->at.column + 1};
    return param->type == PARAM_LIST ? read_list(reader, key, param, to) : read_scalar(reader, key, param, to);
}

/* --- mappings --- */

static bool blame_twice(const struct reader *reader, yaml_mark_t mark, const char *key, uint32_t line) {
    return blame(reader, mark, "'%s' is given twice; the first is on line %u", key, line);
}

static bool enter_section(struct reader *reader, int section, yaml_mark_t mark);

/* A key of a section and its value. */
static bool read_pair(struct reader *reader, int section, const char *key, yaml_mark_t mark) {
    const struct placed *placed = &reader->config->placed[section];
    int param = store_find_param(placed->section, key);
    if (param != NOWHERE) {
        const struct origin *origin = &reader->config->origins[placed->first + (unsigned)param];
        if (origin->layer == reader->layer) {
            struct shown shown = show(key);
            return blame_twice(reader, mark, shown.text, origin->line);
        }
        return next(reader) && read_param(reader, section, param);
    }
    int inner = store_find_section(reader->config, section, key);
    if (inner != NOWHERE) return enter_section(reader, inner, mark);
    char place[600];
    where(reader, mark, place, sizeof place);
    return yaml_blame_unknown(reader->config, section, key, place, reader->err);
}

static bool read_meta(struct reader *reader, unsigned meta, yaml_mark_t mark) {
    uint32_t *seen = &reader->seen[reader->config->placed_count + meta];
    if (*seen) return blame_twice(reader, mark, meta_keys[meta], *seen);
    *seen = (uint32_t)mark.line + 1;
    if (!next(reader)) return false;
    if (reader->event.type != YAML_SCALAR_EVENT)
        return blame(reader, reader->at, "%s takes a text, not %s", meta_keys[meta], event_noun(reader));
    free(reader->config->meta[meta]);
    reader->config->meta[meta] = mem_text(scalar(reader));
    return true;
}

/* A key at the top of a file and its value. */
static bool read_top_pair(struct reader *reader, int section, const char *key, yaml_mark_t mark) {
    (void)section;
    for (unsigned i = 0; i < META_COUNT; i++)
        if (strcmp(key, meta_keys[i]) == 0) return read_meta(reader, i, mark);
    int found = store_find_section(reader->config, NOWHERE, key);
    if (found != NOWHERE) return enter_section(reader, found, mark);
    char place[600];
    where(reader, mark, place, sizeof place);
    return yaml_blame_unknown(reader->config, NOWHERE, key, place, reader->err);
}

/* After the start of a mapping, up to and including its end. */
static bool read_mapping(struct reader *reader, int section,
                         bool (*pair)(struct reader *, int, const char *, yaml_mark_t)) {
    while (true) {
        if (!next(reader)) return false;
        if (reader->event.type == YAML_MAPPING_END_EVENT) return true;
        if (reader->event.type != YAML_SCALAR_EVENT)
            return blame(reader, reader->at, "a key must be a name, not %s", event_noun(reader));
        char *key = mem_text(scalar(reader));
        bool read = pair(reader, section, key, reader->at);
        free(key);
        if (!read) return false;
    }
}

static bool enter_section(struct reader *reader, int section, yaml_mark_t mark) {
    const struct placed *placed = &reader->config->placed[section];
    if (reader->seen[section]) return blame_twice(reader, mark, placed->path, reader->seen[section]);
    reader->seen[section] = (uint32_t)mark.line + 1;
    if (!next(reader)) return false;
    if (is_nothing(reader)) return true;
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return blame(reader, reader->at, "'%s' is a section and takes a mapping of its keys (%s: ...), not %s",
                     placed->path, placed->section->count ? placed->section->params[0].name : "key",
                     event_noun(reader));
    return read_mapping(reader, section, read_pair);
}

/* --- documents --- */

static void reader_open(struct reader *reader, struct config *config, uint32_t layer, const char *text, size_t length,
                        struct error *err) {
    *reader = (struct reader){.config = config, .err = err, .layer = layer, .text = text, .length = length};
    reader->label = config->layers[layer].label;
    reader->is_set = config->layers[layer].is_set;
    reader->seen = mem_alloc(config->placed_count + META_COUNT, sizeof *reader->seen);
    if (!yaml_parser_initialize(&reader->parser)) abort(); /* only for want of memory */
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, length);
}

static void reader_close(struct reader *reader) {
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
    free(reader->seen);
}

/* Up to the first event of the only document's content; at the end of the stream if there is none. */
static bool read_head(struct reader *reader) {
    if (!next(reader)) return false; /* the stream starts */
    if (!next(reader)) return false;
    return reader->event.type == YAML_STREAM_END_EVENT || next(reader);
}

static bool read_tail(struct reader *reader) {
    if (!next(reader)) return false; /* the document ends */
    if (!next(reader)) return false;
    return reader->event.type == YAML_STREAM_END_EVENT ||
           blame(reader, reader->at, "a second document starts here; only one is taken");
}

static bool read_whole(struct reader *reader) {
    if (!read_head(reader)) return false;
    if (reader->event.type == YAML_STREAM_END_EVENT || is_nothing(reader)) {
        struct names names;
        char known[400];
        names_of_section(reader->config, NOWHERE, &names);
        names_join(&names, known, sizeof known);
        return blame(reader, reader->at, "nothing is in here; sections are expected (%s)", known);
    }
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return blame(reader, reader->at, "a mapping of sections is expected (sm: {count: 4}), not %s",
                     event_noun(reader));
    return read_mapping(reader, NOWHERE, read_top_pair) && read_tail(reader);
}

bool yaml_read_sections(struct config *config, uint32_t layer, const char *text, size_t length, struct error *err) {
    struct reader reader;
    reader_open(&reader, config, layer, text, length, err);
    bool read = read_whole(&reader);
    reader_close(&reader);
    return read;
}

static bool read_lone_value(struct reader *reader, int section, int param) {
    if (!read_head(reader)) return false;
    if (reader->event.type != YAML_STREAM_END_EVENT) return read_param(reader, section, param) && read_tail(reader);
    /* No text at all is an empty value, as it is after a colon. */
    yaml_event_delete(&reader->event);
    if (!yaml_scalar_event_initialize(&reader->event, NULL, NULL, (const yaml_char_t *)"", 0, 1, 1,
                                      YAML_PLAIN_SCALAR_STYLE))
        abort();
    return read_param(reader, section, param);
}

bool yaml_read_value(struct config *config, uint32_t layer, int section, int param, const char *text,
                     struct error *err) {
    struct reader reader;
    reader_open(&reader, config, layer, text, strlen(text), err);
    bool read = read_lone_value(&reader, section, param);
    reader_close(&reader);
    return read;
}
