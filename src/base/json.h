/* A writer of JSON: commas, indentation and escapes are its business, values the caller's. Objects and arrays may be
 * written on one line (`compact`), which keeps long rows of numbers readable. A number that JSON cannot express (not
 * finite) becomes null. */
#ifndef SLUICE_BASE_JSON_H
#define SLUICE_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };

struct json {
    FILE *out;
    unsigned depth;
    bool after_key;
    struct {
        bool array, compact, filled;
    } level[JSON_DEPTH];
};

void json_start(struct json *json, FILE *out);
/* Ends the text with a newline; everything opened must be closed. */
void json_finish(struct json *json);

void json_object(struct json *json);
void json_array(struct json *json);
/* From here to its end on one line, with everything inside. */
void json_object_compact(struct json *json);
void json_array_compact(struct json *json);
void json_end(struct json *json); /* of the innermost object or array */

void json_key(struct json *json, const char *key);
void json_text(struct json *json, const char *text);
void json_bool(struct json *json, bool value);
void json_unsigned(struct json *json, uint64_t value);
void json_real(struct json *json, double value);
/* Text that is JSON already: a number, true, null. */
void json_raw(struct json *json, const char *text);

/* Key and value in one. */
void json_put_text(struct json *json, const char *key, const char *text);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_unsigned(struct json *json, const char *key, uint64_t value);
void json_put_real(struct json *json, const char *key, double value);

#endif
