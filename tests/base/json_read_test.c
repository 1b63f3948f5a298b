#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json_read.h"

static struct error problem;

static const struct json_value *read_text(struct arena *arena, const char *text) {
    problem = (struct error){0};
    return json_read(arena, "run.json", text, strlen(text), &problem);
}

TEST("objects, arrays, texts, numbers and words are read in order") {
    struct arena *arena = arena_create();
    const struct json_value *root =
        read_text(arena, " {\"a\": [1, -2.5e3, true, null], \"b\": {\"c\": \"x\\ty\"}, \"a\": 0} \n");
    CHECK(root && root->kind == JSON_OBJECT);
    const struct json_value *array = json_member(root, "a"), *item = array->first;
    CHECK_EQ((int)array->kind, (int)JSON_ARRAY);
    CHECK_EQ(item->number, 1.0);
    CHECK_EQ(item->next->number, -2500.0);
    CHECK_TEXT(item->next->text, "-2.5e3");
    CHECK(item->next->next->kind == JSON_BOOL && item->next->next->number == 1.0);
    CHECK(item->next->next->next->kind == JSON_NULL && !item->next->next->next->next);
    CHECK_TEXT(json_member(json_member(root, "b"), "c")->text, "x\ty");
    CHECK(!json_member(root, "d") && !json_member(array, "a") && !json_member(NULL, "a"));
    CHECK(read_text(arena, "[]")->kind == JSON_ARRAY && !read_text(arena, "{}")->first);
    arena_destroy(arena);
}

TEST("escapes are decoded to UTF-8; a lone surrogate becomes the replacement character") {
    struct arena *arena = arena_create();
    CHECK_EQ(read_text(arena, "\"\\u00b5\\u20ac\\ud83d\\ude00\\\\\\/\\\"\"")->text,
             "\xC2\xB5\xE2\x82\xAC\xF0\x9F\x98\x80\\/\"");
    CHECK_EQ(read_text(arena, "\"\\ud83dx\"")->text, "\xEF\xBF\xBDx");
    CHECK_EQ(read_text(arena, "\"\\ud83d\\u0041\"")->text, "\xEF\xBF\xBD"
                                                           "A");
    arena_destroy(arena);
}

TEST("errors have a location and say what is expected") {
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "run.json:1:1: expected a JSON value"},
        {"{\"a\": 1,\n  b: 2}", "run.json:2:3: expected the name of a member"},
        {"{\"a\" 1}", "run.json:1:6: expected `:`"},
        {"[1 2]", "run.json:1:4: expected `,` or `]`"},
        {"{\"a\": 1", "run.json:1:8: expected `,` or `}`"},
        {"[1, ]", "run.json:1:5: expected a JSON value"},
        {"01", "run.json:1:2: expected the end of the file"},
        {"-", "run.json:1:2: a number needs a digit"},
        {"1.", "run.json:1:3: a number needs a digit"},
        {"1e+", "run.json:1:4: a number needs a digit"},
        {"tru", "run.json:1:1: expected a JSON value"},
        {"\"abc", "run.json:1:1: this text has no closing quote"},
        {"\"abc\\\"", "run.json:1:1: this text has no closing quote"},
        {"\"a\nb\"", "run.json:1:3: a control character"},
        {"\"\\x\"", "run.json:1:2: an unknown escape"},
        {"\"\\u12g4\"", "run.json:1:6: \\u needs four hexadecimal digits"},
        {"\"\\u12\"", "run.json:1:6: \\u needs four hexadecimal digits"},
        {"{} {}", "run.json:1:4: expected the end of the file"},
    };
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        CHECK(!read_text(arena, wrong[i].text) && problem.set);
        CHECK_TEXT(problem.text, wrong[i].message);
    }
    char deep[200];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    CHECK(!read_text(arena, deep));
    CHECK_TEXT(problem.text, "run.json:1:65: more than 64 objects and arrays within each other");
    arena_destroy(arena);
}

TEST("a text that ends anywhere is an error, not an overrun") {
    static const char text[] = "{\"a\": [1.5e-3, \"\\ud83d\\ude00\", false], \"b\": null}";
    struct arena *arena = arena_create();
    for (size_t length = 0; length < sizeof text - 1; length++) {
        char *part = mem_alloc(length + 1, 1); /* the sanitizer sees reads behind it */
        memcpy(part, text, length);
        problem = (struct error){0};
        CHECK(!json_read(arena, "run.json", part, length, &problem) && problem.set);
        free(part);
    }
    CHECK(read_text(arena, text));
    arena_destroy(arena);
}
