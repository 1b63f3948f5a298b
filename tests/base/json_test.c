#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"

static char written[512];

static FILE *begin(struct json *json) {
    FILE *out = fmemopen(written, sizeof written, "w");
    json_start(json, out);
    return out;
}

static const char *end(struct json *json, FILE *out) {
    json_finish(json);
    fclose(out);
    return written;
}

TEST("objects and arrays are indented; compact ones are on one line with their contents") {
    struct json json;
    FILE *out = begin(&json);
    json_object(&json);
    json_put_unsigned(&json, "big", UINT64_MAX);
    json_key(&json, "rows");
    json_array(&json);
    json_array_compact(&json);
    json_unsigned(&json, 1);
    json_object(&json);
    json_put_bool(&json, "x", false);
    json_end(&json);
    json_end(&json);
    json_end(&json);
    json_key(&json, "none");
    json_object(&json);
    json_end(&json);
    json_end(&json);
    CHECK_EQ(end(&json, out),
             "{\n  \"big\": 18446744073709551615,\n  \"rows\": [\n    [1, {\"x\": false}]\n  ],\n  \"none\": {}\n}\n");
}

TEST("escaped text reads back whatever bytes it contains") {
    struct json json;
    FILE *out = begin(&json);
    json_text(&json, "a\"b\\c\n\t\x01 \xC3\xA9");
    CHECK_EQ(end(&json, out), "\"a\\\"b\\\\c\\n\\t\\u0001 \xC3\xA9\"\n");
}

TEST("a real number reads back exactly, and one that is not finite becomes null") {
    double values[] = {0.1, 1.0 / 3, 1e300, 42, 0};
    for (int i = 0; i < 5; i++) {
        struct json json;
        FILE *out = begin(&json);
        json_real(&json, values[i]);
        CHECK_EQ(strtod(end(&json, out), NULL), values[i]);
    }
    struct json json;
    FILE *out = begin(&json);
    json_array_compact(&json);
    json_real(&json, NAN);
    json_real(&json, -INFINITY);
    json_real(&json, 42);
    json_end(&json);
    CHECK_EQ(end(&json, out), "[null, null, 42]\n");
}
