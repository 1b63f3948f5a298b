#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void json_start(struct json *json, FILE *out) { *json = (struct json){.out = out}; }

void json_finish(struct json *json) {
    assert(json->depth == 0 && !json->after_key);
    fputc('\n', json->out);
}

static void new_line(struct json *json) {
    fputc('\n', json->out);
    for (unsigned i = 0; i < json->depth; i++) fputs("  ", json->out);
}

/* Writes the separator between the previous value and the next one. */
static void separate(struct json *json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0) return;
    bool compact = json->level[json->depth - 1].compact;
    if (json->level[json->depth - 1].filled) fputs(compact ? ", " : ",", json->out);
    json->level[json->depth - 1].filled = true;
    if (!compact) new_line(json);
}

static void open_level(struct json *json, bool array, bool compact) {
    separate(json);
    assert(json->depth < JSON_DEPTH);
    compact = compact || (json->depth > 0 && json->level[json->depth - 1].compact);
    json->level[json->depth].array = array;
    json->level[json->depth].compact = compact;
    json->level[json->depth].filled = false;
    json->depth++;
    fputc(array ? '[' : '{', json->out);
}

void json_object(struct json *json) { open_level(json, false, false); }
void json_array(struct json *json) { open_level(json, true, false); }
void json_object_compact(struct json *json) { open_level(json, false, true); }
void json_array_compact(struct json *json) { open_level(json, true, true); }

void json_end(struct json *json) {
    assert(json->depth > 0 && !json->after_key);
    json->depth--;
    if (json->level[json->depth].filled && !json->level[json->depth].compact) new_line(json);
    fputc(json->level[json->depth].array ? ']' : '}', json->out);
}

/* Bytes above 127 are copied: the text is UTF-8. */
static void write_escaped(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        switch (*c) {
        case '"': fputs("\\\"", out); break;
        case '\\': fputs("\\\\", out); break;
        case '\n': fputs("\\n", out); break;
        case '\t': fputs("\\t", out); break;
        default:
            if ((unsigned char)*c < 0x20)
                fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
            else
                fputc(*c, out);
        }
    }
    fputc('"', out);
}

void json_key(struct json *json, const char *key) {
    assert(json->depth > 0 && !json->level[json->depth - 1].array && !json->after_key);
    separate(json);
    write_escaped(json->out, key);
    fputs(": ", json->out);
    json->after_key = true;
}

void json_text(struct json *json, const char *text) {
    separate(json);
    write_escaped(json->out, text);
}

void json_raw(struct json *json, const char *text) {
    separate(json);
    fputs(text, json->out);
}

void json_bool(struct json *json, bool value) { json_raw(json, value ? "true" : "false"); }

void json_unsigned(struct json *json, uint64_t value) {
    separate(json);
    fprintf(json->out, "%" PRIu64, value);
}

/* The shortest decimal that reads back as the same number. */
void json_real(struct json *json, double value) {
    char text[40] = "null";
    for (int digits = 6; isfinite(value) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    json_raw(json, text);
}

void json_put_text(struct json *json, const char *key, const char *text) {
    json_key(json, key);
    json_text(json, text);
}

void json_put_bool(struct json *json, const char *key, bool value) {
    json_key(json, key);
    json_bool(json, value);
}

void json_put_unsigned(struct json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_unsigned(json, value);
}

void json_put_real(struct json *json, const char *key, double value) {
    json_key(json, key);
    json_real(json, value);
}
