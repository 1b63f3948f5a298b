/* Reads arbitrary bytes as JSON: reading fails with a located message, or the tree is written and reads back the same. Entry
 * point for libFuzzer; tests/base/json_corpus_test.c replays data/fuzz/json through it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "base/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

enum { WRITER_DEPTH = JSON_DEPTH - 2 };

/* Values deeper than the writer can nest are left out. */
static void write_value(struct json *json, const struct json_value *value, unsigned depth) {
    bool object = value->kind == JSON_OBJECT, inside = object || value->kind == JSON_ARRAY;
    if (inside && depth < WRITER_DEPTH) {
        (object ? json_object : json_array)(json);
        for (const struct json_value *inner = value->first; inner; inner = inner->next) {
            if (object) json_key(json, inner->key);
            write_value(json, inner, depth + 1);
        }
        json_end(json);
    } else if (value->kind == JSON_TEXT) {
        json_text(json, value->text);
    } else if (value->kind == JSON_BOOL) {
        json_bool(json, value->number != 0);
    } else {
        json_raw(json, value->kind == JSON_NUMBER ? value->text : "null");
    }
}

static char *written(const struct json_value *value) {
    struct error err = {0};
    struct json json;
    char *text;
    size_t length;
    FILE *out = text_open(&text, &length, &err);
    must(out);
    json_start(&json, out);
    write_value(&json, value, 0);
    json_finish(&json);
    must(text_close(out, &text, &err));
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct json_value *value = json_read(arena, "fuzz.json", (const char *)data, size, &err);
    must(!value == err.set);
    if (value) {
        char *once = written(value);
        const struct json_value *again = json_read(arena, "again.json", once, strlen(once), &err);
        must(again);
        char *twice = written(again);
        must(strcmp(once, twice) == 0);
        free(once);
        free(twice);
    }
    arena_destroy(arena);
    return 0;
}
