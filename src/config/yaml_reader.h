/* Event-based YAML reading: the current event, values described by parameter rows (struct param), mappings described by
 * tables of keys, and errors with location and fix. No tree is built.
 *
 * libyaml is small, packaged by Debian, marks every event with line and column and leaves types to the caller.
 * Anchors, aliases, tags and multiple documents are rejected: people read descriptions, and each value is written where
 * it applies.
 */
#ifndef SLUICE_CONFIG_YAML_READER_H
#define SLUICE_CONFIG_YAML_READER_H

#include <yaml.h>

#include "base/arena.h"
#include "config/config.h"

struct yaml_reader {
    const char *label; /* the file's name, for messages */
    bool unlocated;    /* the text is not from a file: omit line and column */
    struct error *err;
    const char *text;
    size_t length;
    yaml_parser_t parser;
    yaml_event_t event; /* the current event */
    yaml_mark_t at;     /* where it starts */
};

void yaml_reader_open(struct yaml_reader *reader, const char *label, const char *text, size_t length,
                      struct error *err);
void yaml_reader_close(struct yaml_reader *reader);

/* Advances to the next event; false with an error if the text is not YAML or uses an unsupported feature. */
bool yaml_next(struct yaml_reader *reader);
/* Advances to the first event of the only document; to the end of the stream if there is none. */
bool yaml_read_head(struct yaml_reader *reader);
/* After the content: nothing may follow. */
bool yaml_read_tail(struct yaml_reader *reader);

/* For a scalar. */
static inline const char *yaml_scalar(const struct yaml_reader *reader) {
    return (const char *)reader->event.data.scalar.value;
}
static inline bool yaml_is_plain(const struct yaml_reader *reader) {
    return reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}
/* An empty value, as when all keys of a section are commented out. */
bool yaml_is_nothing(const struct yaml_reader *reader);
const char *yaml_noun(const struct yaml_reader *reader); /* "a list" */

/* User input for a message: truncated, and without control characters. */
struct yaml_shown {
    char text[84];
};
struct yaml_shown yaml_show(const char *text);

void yaml_where(const struct yaml_reader *reader, yaml_mark_t mark, char *text, size_t size);
/* Sets "file:line:column: message". Always returns false. */
bool yaml_blame(const struct yaml_reader *reader, yaml_mark_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool yaml_blame_twice(const struct yaml_reader *reader, yaml_mark_t mark, const char *key, uint32_t line);

/* Known names, for messages. */
enum { YAML_NAMES_MAX = 256 };
struct yaml_names {
    const char *name[YAML_NAMES_MAX];
    unsigned count;
};
void yaml_names_add(struct yaml_names *names, const char *name);
void yaml_names_join(const struct yaml_names *names, char *text, size_t size);
/* "; did you mean 'x'?" or "; known: a, b". */
void yaml_names_hint(const struct yaml_names *names, const char *word, char *text, size_t size);

/* Reads the value that starts at the current event, of the row's type; stops at its last event. `key`: for messages. */
bool yaml_read_value(struct yaml_reader *reader, const char *key, const struct param *param, void *to);

/* Non-empty text of any length, copied to the arena. */
bool yaml_read_text(struct yaml_reader *reader, struct arena *arena, const char **to);

/* From the start of a mapping to its end, inclusive: calls back for each key, before its value is read. */
typedef bool yaml_pair(void *user, const char *key, yaml_mark_t mark);
bool yaml_read_pairs(struct yaml_reader *reader, yaml_pair *pair, void *user);

enum { YAML_FORM_KEYS = 32 };

/* A mapping described by a table of keys. A key is a row of values (`param`, with its offset in the struct being
 * filled) or has its own function, called at the first event of the value, which stops at the last. */
struct yaml_key {
    struct param param;
    bool (*read)(struct yaml_reader *reader, void *user, void *to);
};
struct yaml_form {
    const char *noun; /* "a buffer" */
    const struct yaml_key *keys;
    unsigned count; /* at most YAML_FORM_KEYS */
};
/* Reads the mapping that starts at the current event. `places`, if not NULL, receives the position of each key's value,
 * in table order; line and column count from 1 and are 0 for absent keys. */
struct yaml_place {
    uint32_t line, column;
};
static inline struct yaml_place yaml_place_of(const struct yaml_reader *reader) {
    return (struct yaml_place){(uint32_t)reader->at.line + 1, (uint32_t)reader->at.column + 1};
}
bool yaml_read_form(struct yaml_reader *reader, const struct yaml_form *form, void *user, void *to,
                    struct yaml_place *places);
/* Reads the list that starts at the current event: `element` is called at the first event of each element. */
bool yaml_read_elements(struct yaml_reader *reader, const char *key,
                        bool (*element)(struct yaml_reader *reader, void *user), void *user);

#endif
