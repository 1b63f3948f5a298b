/* YAML by its events, for whoever reads a file that people write: the current event, values by the same rows that
 * configurations are made of (struct param), mappings by tables of keys, and messages that say where and what would be
 * right. No tree is built.
 *
 * libyaml because it is small, in Debian, marks every event with line and column, and leaves types to us. Deliberately
 * refused: anchors, aliases, tags, several documents. A description is meant to be read by people, each value where it
 * stands.
 */
#ifndef SLUICE_CONFIG_YAML_READER_H
#define SLUICE_CONFIG_YAML_READER_H

#include <yaml.h>

#include "base/arena.h"
#include "config/config.h"

struct yaml_reader {
    const char *label; /* the file's name, for messages */
    bool unlocated;    /* lines and columns mean nothing to the user: the text was no file */
    struct error *err;
    const char *text;
    size_t length;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    yaml_mark_t at;     /* where it starts */
};

void yaml_reader_open(struct yaml_reader *reader, const char *label, const char *text, size_t length,
                      struct error *err);
void yaml_reader_close(struct yaml_reader *reader);

/* On to the next event; false with an error for what is no YAML, or none that is taken. */
bool yaml_next(struct yaml_reader *reader);
/* Up to the first event of the only document's content; at the end of the stream if there is none. */
bool yaml_read_head(struct yaml_reader *reader);
/* After the content: there must be nothing more. */
bool yaml_read_tail(struct yaml_reader *reader);

/* Of a scalar. */
static inline const char *yaml_scalar(const struct yaml_reader *reader) {
    return (const char *)reader->event.data.scalar.value;
}
static inline bool yaml_is_plain(const struct yaml_reader *reader) {
    return reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}
/* Nothing after a colon, as when all keys of a section are commented out. */
bool yaml_is_nothing(const struct yaml_reader *reader);
const char *yaml_noun(const struct yaml_reader *reader); /* "a list" */

/* What a user wrote, fit for a message: short, and without characters that a terminal would act on. */
struct yaml_shown {
    char text[84];
};
struct yaml_shown yaml_show(const char *text);

void yaml_where(const struct yaml_reader *reader, yaml_mark_t mark, char *text, size_t size);
/* "file:line:column: message". Always false. */
bool yaml_blame(const struct yaml_reader *reader, yaml_mark_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool yaml_blame_twice(const struct yaml_reader *reader, yaml_mark_t mark, const char *key, uint32_t line);

/* Names to choose from, for messages. */
enum { YAML_NAMES_MAX = 256 };
struct yaml_names {
    const char *name[YAML_NAMES_MAX];
    unsigned count;
};
void yaml_names_add(struct yaml_names *names, const char *name);
void yaml_names_join(const struct yaml_names *names, char *text, size_t size);
/* "; did you mean 'x'?" or "; there are: a, b". */
void yaml_names_hint(const struct yaml_names *names, const char *word, char *text, size_t size);

/* The value that the current event starts, of the row's type; leaves the event that ends it. `key` is for messages. */
bool yaml_read_value(struct yaml_reader *reader, const char *key, const struct param *param, void *to);

/* Text of any length but none, into the arena. */
bool yaml_read_text(struct yaml_reader *reader, struct arena *arena, const char **to);

/* After the start of a mapping, up to and including its end: each key is handed over, with its value to come. */
typedef bool yaml_pair(void *user, const char *key, yaml_mark_t mark);
bool yaml_read_pairs(struct yaml_reader *reader, yaml_pair *pair, void *user);

enum { YAML_FORM_KEYS = 32 };

/* A mapping by a table of its keys. A key is a row of values (`param`; its offset counts from the struct that is
 * filled), or read by a function of its own, which finds the value's first event and leaves its last. */
struct yaml_key {
    struct param param;
    bool (*read)(struct yaml_reader *reader, void *user, void *to);
};
struct yaml_form {
    const char *noun; /* "a buffer" */
    const struct yaml_key *keys;
    unsigned count; /* at most YAML_FORM_KEYS */
};
/* The mapping that the current event starts. `places`, if not NULL, takes where each key's value stands, in the order of
 * the table; line and column count from 1, and are 0 where the key is not given. */
struct yaml_place {
    uint32_t line, column;
};
static inline struct yaml_place yaml_place_of(const struct yaml_reader *reader) {
    return (struct yaml_place){(uint32_t)reader->at.line + 1, (uint32_t)reader->at.column + 1};
}
bool yaml_read_form(struct yaml_reader *reader, const struct yaml_form *form, void *user, void *to,
                    struct yaml_place *places);
/* The list that the current event starts: `element` is called at the first event of each. */
bool yaml_read_elements(struct yaml_reader *reader, const char *key,
                        bool (*element)(struct yaml_reader *reader, void *user), void *user);

#endif
