#include "cli/result.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

const struct json_value *result_read(struct arena *arena, const char *file, struct error *err) {
    static const char *const required[] = {"workload", "gpu", "design", "cycles", "ipc", "stats", "config"};
    size_t bytes;
    char *text = arena_file(arena, file, &bytes, err);
    const struct json_value *run = text ? json_read(arena, file, text, bytes, err) : NULL;
    for (unsigned i = 0; run && i < COUNT_OF(required); i++) {
        if (json_member(run, required[i])) continue;
        error_set(err, "%s: not the result of a run: it has no `%s`; `sluice run ... --json FILE` writes one", file,
                  required[i]);
        return NULL;
    }
    return run;
}

const char *result_text(const struct json_value *run, const char *key) {
    const struct json_value *member = json_member(run, key);
    return member && member->kind == JSON_TEXT ? member->text : "";
}

static double number_of(const struct json_value *value) {
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

double result_value(const struct json_value *run, const char *name) {
    const struct json_value *value = json_member(json_member(run, "stats"), name);
    if (!value) value = json_member(run, name);
    if (!value && strncmp(name, "energy.", 7) == 0) value = json_member(json_member(run, "energy"), name + 7);
    return number_of(value);
}

double result_parameter(const struct json_value *run, const char *key) {
    return number_of(json_member(json_member(run, "config"), key));
}
