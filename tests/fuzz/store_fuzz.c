/* Opens arbitrary bytes as a results store and reads all of it: it is rejected with a message, or every read ends with a value or
 * an error. Entry point for libFuzzer; tests/lab/corpus_test.c replays data/fuzz/store through it. */
#include <string.h>

#include "fuzz/scratch.h"
#include "lab/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

static void three_texts(void *user, const char *a, const char *b, const char *c) {
    must(a && b && c);
    *(size_t *)user += strlen(a) + strlen(b) + strlen(c);
}

/* Reads all values, for the sanitizer. */
static void sum(const double *values, uint64_t count) {
    volatile double all = 0;
    for (uint64_t i = 0; i < count; i++) all = all + values[i];
}

static void read_run(struct store *store, const char *identity) {
    struct stored_run *run = stored_run_get(store, identity);
    const double *values = NULL, *cycles = NULL;
    const struct stored_launch *launches = NULL;
    unsigned units = 0;
    double value;
    if (!run) return;
    stored_run_value(run, "ipc", &value);
    unsigned samples = stored_run_units(run, "l1.read_hits", &values);
    sum(values, samples);
    samples = stored_run_series(run, "l1.read_hits", &cycles, &values);
    sum(values, samples);
    sum(cycles, samples);
    samples = stored_run_unit_series(run, "l1.read_hits", &units, &values);
    sum(values, (uint64_t)samples * units);
    for (unsigned i = 0, count = stored_run_launches(run, &launches); i < count; i++) must(launches[i].kernel != NULL);
    stored_run_free(run);
}

static void read_store(struct store *store, FILE *out) {
    size_t bytes = 0;
    struct error csv = {0}, json = {0}, unread = {0};
    must(store_run_count(store) <= UINT32_MAX);
    store_each_experiment(store, three_texts, &bytes);
    store_each_failure(store, three_texts, &bytes);
    read_run(store, "0123456789abcdef0123456789abcdef");
    store_has(store, "0123456789abcdef0123456789abcdef");
    store_job_seconds(store, "w");
    must(store_export_csv(store, out, &csv) != csv.set);
    must(store_export_json(store, out, &json) != json.set);
    must(store_readable(store, &unread) != unread.set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char *path = scratch_path("store.sqlite"), *into = scratch_path("into.sqlite");
    struct error err = {0}, merging = {0};
    scratch_write(path, data, size);
    struct store *store = store_open(path, STORE_READ, &err);
    must(!store == err.set);
    if (store) {
        FILE *out = fopen("/dev/null", "w");
        must(out != NULL);
        read_store(store, out);
        fclose(out);
        store_close(store);
        uint64_t added;
        struct store *fresh = store_open(into, STORE_WRITE, &merging);
        must(fresh != NULL);
        must(store_merge(fresh, path, &added, &merging) != merging.set);
        store_close(fresh);
    } else {
        must(strncmp(err.text, path, strlen(path)) == 0);
    }
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        char *end = text_format("%s%s", path, ends[i]), *other = text_format("%s%s", into, ends[i]);
        unlink(end);
        unlink(other);
        free(end);
        free(other);
    }
    free(into);
    free(path);
    return 0;
}
