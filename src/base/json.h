/* A JSON writer. It handles commas, indentation and escapes; the caller supplies values. Objects and arrays can be
 * written on one line (`compact`), which keeps long rows of numbers readable. A number that is not finite is written as
 * null. */
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
/* Ends the text with a newline; all objects and arrays must be closed. */
void json_finish(struct json *json);

void json_object(struct json *json);
void json_array(struct json *json);
/* Writes everything up to the end of this object or array on one line. */
void json_object_compact(struct json *json);
void json_array_compact(struct json *json);
void json_end(struct json *json); /* ends the innermost object or array */

void json_key(struct json *json, const char *key);
void json_text(struct json *json, const char *text);
void json_bool(struct json *json, bool value);
void json_unsigned(struct json *json, uint64_t value);
void json_real(struct json *json, double value);
/* Text that is already JSON: a number, true, null. */
void json_raw(struct json *json, const char *text);

/* Key and value in one call. */
void json_put_text(struct json *json, const char *key, const char *text);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_unsigned(struct json *json, const char *key, uint64_t value);
void json_put_real(struct json *json, const char *key, double value);

#endif
