/* Reads arbitrary bytes as a description: reading fails with a message and changes nothing, or the result is written
 * and reads back the same. Entry point for libFuzzer; tests/config/corpus_test.c replays data/fuzz/config through it.
 */
#include "config/made_up.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config *config = made_up_config(), *again = made_up_config();
    struct error err = {0};
    char *text;
    if (config_read_text(config, "fuzz.yaml", (const char *)data, size, &err)) {
        must(!err.set);
        config_check(config, &err);
        err = (struct error){0};
        text = config_text(config, true);
        must(config_read_text(again, "again.yaml", text, strlen(text), &err));
    } else {
        must(err.set && *err.text);
        text = config_text(config, true);
    }
    must(config_same(config, again));
    free(text);

    /* The same bytes as the argument of --set. */
    char *assignment = mem_alloc(size + 1, 1);
    if (size) memcpy(assignment, data, size);
    err = (struct error){0};
    must(config_set(config, assignment, &err) != err.set);
    free(assignment);
    config_destroy(config);
    config_destroy(again);
    return 0;
}
