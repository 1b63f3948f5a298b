/* YAML events, values, mappings by tables of keys, and located errors. */
#include "config/yaml_reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "config/store.h"

struct yaml_shown yaml_show(const char *text) {
    struct yaml_shown shown;
    size_t cut = 77; /* truncates long text at a character boundary */
    int length = snprintf(shown.text, 81, "%s", text);
    while (length > 80 && cut > 0 && (shown.text[cut] & 0xC0) == 0x80) cut--;
    if (length > 80) strcpy(shown.text + cut, "...");
    for (char *c = shown.text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '\177') *c = '?';
    return shown;
}

void yaml_where(const struct yaml_reader *reader, yaml_mark_t mark, char *text, size_t size) {
    if (reader->unlocated)
        snprintf(text, size, "%.512s", reader->label);
    else
        snprintf(text, size, "%.512s:%zu:%zu", reader->label, mark.line + 1, mark.column + 1);
}

bool yaml_blame(const struct yaml_reader *reader, yaml_mark_t mark, const char *format, ...) {
    char message[1024], place[600];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    yaml_where(reader, mark, place, sizeof place);
    return error_set(reader->err, "%s: %s", place, message);
}

/* libyaml gives a mark for scanner errors, but only a byte offset for invalid encoding. */
static bool blame_syntax(const struct yaml_reader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR) mem_exhausted();
    if (parser->error != YAML_READER_ERROR)
        return yaml_blame(reader, parser->problem_mark, "not valid YAML: %s%s%s",
                          parser->problem ? parser->problem : "", parser->context ? " " : "",
                          parser->context ? parser->context : "");
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < parser->problem_offset && i < reader->length; i++) {
        mark.column++;
        if (reader->text[i] != '\n') continue;
        mark.line++;
        mark.column = 0;
    }
    return yaml_blame(reader, mark, "not a text file in UTF-8: %s", parser->problem);
}

static bool refuse_extras(const struct yaml_reader *reader) {
    const yaml_event_t *event = &reader->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return yaml_blame(reader, reader->at, "aliases (*%s) are not supported; write the value out",
                          yaml_show((const char *)event->data.alias.anchor).text);
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
            return yaml_blame(reader, reader->at, "a value must not contain a NUL character");
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
        return yaml_blame(reader, reader->at, "anchors (&%s) are not supported; write the value out",
                          yaml_show((const char *)anchor).text);
    if (tag)
        return yaml_blame(reader, reader->at, "tags (%s) are not supported; the type follows from the key",
                          yaml_show((const char *)tag).text);
    return true;
}

bool yaml_next(struct yaml_reader *reader) {
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        memset(&reader->event, 0, sizeof reader->event);
        return blame_syntax(reader);
    }
    reader->at = reader->event.start_mark;
    return refuse_extras(reader);
}

bool yaml_is_nothing(const struct yaml_reader *reader) {
    return reader->event.type == YAML_SCALAR_EVENT && yaml_is_plain(reader) && reader->event.data.scalar.length == 0;
}

const char *yaml_noun(const struct yaml_reader *reader) {
    return reader->event.type == YAML_SEQUENCE_START_EVENT  ? "a list"
           : reader->event.type == YAML_MAPPING_START_EVENT ? "a mapping"
                                                            : "a value";
}

bool yaml_blame_twice(const struct yaml_reader *reader, yaml_mark_t mark, const char *key, uint32_t line) {
    return yaml_blame(reader, mark, "'%s' is given twice; the first is on line %u", key, line);
}

/* --- names --- */

void yaml_names_add(struct yaml_names *names, const char *name) {
    if (names->count < YAML_NAMES_MAX) names->name[names->count++] = name;
}

void yaml_names_join(const struct yaml_names *names, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; i < names->count && used + 80 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names->name[i]);
}

void yaml_names_hint(const struct yaml_names *names, const char *word, char *text, size_t size) {
    const char *near = nearest_name(word, names->name, names->count);
    char known[800];
    if (near) {
        snprintf(text, size, "; did you mean '%s'?", near);
        return;
    }
    yaml_names_join(names, known, sizeof known);
    snprintf(text, size, "; known: %s", names->count ? known : "none");
}

/* --- one value --- */

static bool blame_value(const struct yaml_reader *reader, const char *key, const struct param *param,
                        enum value_verdict verdict, const char *text) {
    char wanted[160];
    struct yaml_shown shown = yaml_show(text);
    switch (verdict) {
    case VALUE_OUT_OF_RANGE:
        value_describe_range(param, wanted, sizeof wanted);
        return yaml_blame(reader, reader->at, "%s = %s is out of range: %s", key, shown.text, wanted);
    case VALUE_TOO_LONG:
        return yaml_blame(reader, reader->at, "%s must be at most %d bytes long", key, CONFIG_TEXT_MAX - 1);
    case VALUE_UNKNOWN_NAME: {
        struct yaml_names names = {.count = 0};
        char known[600];
        for (unsigned i = 0; i < param->family->count; i++) yaml_names_add(&names, param->family->members[i]->name);
        yaml_names_join(&names, known, sizeof known);
        const char *near = nearest_name(text, names.name, names.count);
        return yaml_blame(reader, reader->at, "%s: no %s called '%s'%s%s%s (known: %s)", key, param->family->noun,
                          shown.text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", known);
    }
    default: break;
    }
    value_describe_type(param, wanted, sizeof wanted);
    bool quoted = reader->event.type == YAML_SCALAR_EVENT && !yaml_is_plain(reader) && param->type != PARAM_TEXT;
    if (quoted)
        return yaml_blame(reader, reader->at, "%s must be %s, not the quoted text \"%s\"", key, wanted, shown.text);
    return yaml_blame(reader, reader->at, "%s must be %s, not '%s'", key, wanted, shown.text);
}

static bool read_scalar(struct yaml_reader *reader, const char *key, const struct param *param, void *to) {
    if (reader->event.type != YAML_SCALAR_EVENT) {
        char wanted[160];
        value_describe_type(param, wanted, sizeof wanted);
        return yaml_blame(reader, reader->at, "%s must be %s, not %s", key, wanted, yaml_noun(reader));
    }
    enum value_verdict verdict = value_parse(param, yaml_scalar(reader), yaml_is_plain(reader), to);
    return verdict == VALUE_TAKEN || blame_value(reader, key, param, verdict, yaml_scalar(reader));
}

static bool blame_count(const struct yaml_reader *reader, yaml_mark_t mark, const char *key, const struct param *param,
                        unsigned most) {
    if (param->min_count == most) return yaml_blame(reader, mark, "%s must have exactly %u elements", key, most);
    return yaml_blame(reader, mark, "%s must have %u to %u elements", key, param->min_count, most);
}

static bool read_list(struct yaml_reader *reader, const char *key, const struct param *param, struct int_list *list) {
    if (reader->event.type == YAML_SCALAR_EVENT)
        return blame_value(reader, key, param, VALUE_WRONG_TYPE, yaml_scalar(reader));
    if (reader->event.type != YAML_SEQUENCE_START_EVENT)
        return read_scalar(reader, key, param, NULL); /* reports the error */
    yaml_mark_t start = reader->at;
    unsigned most = param->max_count && param->max_count < CONFIG_LIST_MAX ? param->max_count : CONFIG_LIST_MAX;
    memset(list, 0, sizeof *list);
    while (true) {
        if (!yaml_next(reader)) return false;
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

bool yaml_read_value(struct yaml_reader *reader, const char *key, const struct param *param, void *to) {
    return param->type == PARAM_LIST ? read_list(reader, key, param, to) : read_scalar(reader, key, param, to);
}

bool yaml_read_text(struct yaml_reader *reader, struct arena *arena, const char **to) {
    if (reader->event.type != YAML_SCALAR_EVENT || yaml_scalar(reader)[0] == '\0')
        return yaml_blame(reader, reader->at, "expected text, found %s",
                          reader->event.type == YAML_SCALAR_EVENT ? "nothing" : yaml_noun(reader));
    *to = arena_text(arena, yaml_scalar(reader), strlen(yaml_scalar(reader)));
    return true;
}

/* --- mappings and lists --- */

bool yaml_read_pairs(struct yaml_reader *reader, yaml_pair *pair, void *user) {
    while (true) {
        if (!yaml_next(reader)) return false;
        if (reader->event.type == YAML_MAPPING_END_EVENT) return true;
        if (reader->event.type != YAML_SCALAR_EVENT)
            return yaml_blame(reader, reader->at, "a key must be a name, not %s", yaml_noun(reader));
        char *key = mem_text(yaml_scalar(reader));
        bool read = pair(user, key, reader->at);
        free(key);
        if (!read) return false;
    }
}

struct form_reading {
    struct yaml_reader *reader;
    const struct yaml_form *form;
    void *user, *to;
    struct yaml_place *places;
};

static bool form_pair(void *user, const char *key, yaml_mark_t mark) {
    const struct form_reading *reading = user;
    struct yaml_reader *reader = reading->reader;
    const struct yaml_form *form = reading->form;
    struct yaml_names names = {.count = 0};
    unsigned i = 0;
    while (i < form->count && strcmp(form->keys[i].param.name, key) != 0)
        yaml_names_add(&names, form->keys[i++].param.name);
    if (i == form->count) {
        char hint[900];
        yaml_names_hint(&names, key, hint, sizeof hint);
        return yaml_blame(reader, mark, "unknown key '%s' of %s%s", yaml_show(key).text, form->noun, hint);
    }
    if (reading->places[i].line) return yaml_blame_twice(reader, mark, key, reading->places[i].line);
    if (!yaml_next(reader)) return false;
    reading->places[i] = yaml_place_of(reader);
    void *to = (char *)reading->to + form->keys[i].param.offset;
    return form->keys[i].read ? form->keys[i].read(reader, reading->user, to)
                              : yaml_read_value(reader, key, &form->keys[i].param, to);
}

bool yaml_read_form(struct yaml_reader *reader, const struct yaml_form *form, void *user, void *to,
                    struct yaml_place *places) {
    struct yaml_place own[YAML_FORM_KEYS] = {0};
    assert(form->count <= YAML_FORM_KEYS);
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return yaml_blame(reader, reader->at, "%s must be a mapping of its keys (%s: ...), not %s", form->noun,
                          form->keys[0].param.name, yaml_noun(reader));
    struct form_reading reading = {reader, form, user, to, places ? places : own};
    return yaml_read_pairs(reader, form_pair, &reading);
}

bool yaml_read_elements(struct yaml_reader *reader, const char *key,
                        bool (*element)(struct yaml_reader *reader, void *user), void *user) {
    if (reader->event.type != YAML_SEQUENCE_START_EVENT)
        return yaml_blame(reader, reader->at, "%s must be a list (- ...), not %s", key, yaml_noun(reader));
    while (true) {
        if (!yaml_next(reader)) return false;
        if (reader->event.type == YAML_SEQUENCE_END_EVENT) return true;
        if (!element(reader, user)) return false;
    }
}

/* --- documents --- */

void yaml_reader_open(struct yaml_reader *reader, const char *label, const char *text, size_t length,
                      struct error *err) {
    *reader = (struct yaml_reader){.label = label, .text = text, .length = length, .err = err};
    if (!yaml_parser_initialize(&reader->parser)) mem_exhausted();
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, length);
}

void yaml_reader_close(struct yaml_reader *reader) {
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
}

bool yaml_read_head(struct yaml_reader *reader) {
    if (!yaml_next(reader)) return false; /* start of stream */
    if (!yaml_next(reader)) return false;
    return reader->event.type == YAML_STREAM_END_EVENT || yaml_next(reader);
}

bool yaml_read_tail(struct yaml_reader *reader) {
    if (!yaml_next(reader)) return false; /* end of document */
    if (!yaml_next(reader)) return false;
    return reader->event.type == YAML_STREAM_END_EVENT ||
           yaml_blame(reader, reader->at, "a second document starts here; only one is supported");
}
