/* A JSON reader (RFC 8259). A document is a tree in an arena; values keep their order. Texts are decoded to UTF-8 and end at
 * a NUL, also at an escaped one. Numbers are doubles, so integers above 2^53 are rounded; `text` has them as written. */
#ifndef SLUICE_BASE_JSON_READ_H
#define SLUICE_BASE_JSON_READ_H

#include <stddef.h>

#include "base/arena.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json_value {
    enum json_kind kind;
    const char *key;  /* of a member of an object */
    const char *text; /* of a text; of a number as written */
    double number;    /* of a number; 1 for true */
    const struct json_value *first, *next;
};

/* NULL with a located error. `file` is only a name. The text need not end with a NUL. */
const struct json_value *json_read(struct arena *arena, const char *file, const char *text, size_t bytes,
                                   struct error *err);

/* The member of an object, the first of this name; NULL if there is none, or `object` is NULL or no object. */
const struct json_value *json_member(const struct json_value *object, const char *key);

#endif
