/* A run read from the store. Counters come from their rows; values per unit, time series and launches, which few
 * figures need, are extracted from the run's JSON on first use and cached. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/base.h"
#include "lab/store_sql.h"

enum { RATIO_MOST = 65536 }; /* of zstd */

/* A cached list of numbers. */
struct vector {
    struct vector *next;
    char *path; /* within the JSON */
    double *values;
    unsigned count;
};

struct stored_run {
    struct store *store;
    int64_t id;
    char check[16];
    char *json;
    size_t length;
    struct vector *vectors;
    struct stored_launch *launches; /* NULL: not extracted yet */
    unsigned launch_count;
};

char *store_unpack(const void *bytes, size_t size, size_t *length) {
    unsigned long long room = ZSTD_getFrameContentSize(bytes, size);
    if (room == ZSTD_CONTENTSIZE_ERROR || room == ZSTD_CONTENTSIZE_UNKNOWN) return NULL;
    if (room > ((unsigned long long)size + 1) * RATIO_MOST) return NULL; /* damaged: not what was compressed */
    char *text = mem_alloc(room + 1, 1);
    *length = ZSTD_decompress(text, room, bytes, size);
    if (!ZSTD_isError(*length)) return text;
    if (ZSTD_getErrorCode(*length) == ZSTD_error_memory_allocation) mem_exhausted();
    free(text);
    return NULL;
}

struct stored_run *stored_run_get(struct store *store, const char *identity) {
    struct stored_run found = {.store = store};
    sqlite3_stmt *row =
        store_query(store, &store->unread, "SELECT id, result, verdict FROM run WHERE identity = ?1", "t", identity);
    if (store_row(store, row)) {
        found.id = sqlite3_column_int64(row, 0);
        snprintf(found.check, sizeof found.check, "%s", store_text(row, 2));
        found.json = store_unpack(sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1), &found.length);
    }
    sqlite3_finalize(row);
    if (!found.json) return NULL;
    struct stored_run *run = mem_alloc(1, sizeof *run);
    *run = found;
    return run;
}

void stored_run_free(struct stored_run *run) {
    if (!run) return;
    for (struct vector *vector = run->vectors, *next; vector; vector = next) {
        next = vector->next;
        free(vector->path);
        free(vector->values);
        free(vector);
    }
    for (unsigned i = 0; i < run->launch_count; i++) free(run->launches[i].kernel);
    free(run->launches);
    free(run->json);
    free(run);
}

const char *stored_run_check(const struct stored_run *run) { return run->check; }

bool stored_run_value(const struct stored_run *run, const char *name, double *value) {
    static const char sql[] = "SELECT value FROM value WHERE run = ?1 AND name = ?2 UNION ALL"
                              " SELECT seconds FROM run WHERE id = ?1 AND ?2 = 'seconds'";
    sqlite3_stmt *row = store_query(run->store, &run->store->unread, sql, "it", run->id, name);
    bool found = store_row(run->store, row);
    if (found) *value = sqlite3_column_double(row, 0);
    sqlite3_finalize(row);
    return found;
}

/* The numbers that `sql` selects from the JSON (?1) at `path` (?2). */
static const struct vector *vector_get(struct stored_run *run, const char *sql, char *path) {
    struct vector *vector = run->vectors;
    while (vector && strcmp(vector->path, path) != 0) vector = vector->next;
    if (vector) {
        free(path);
        return vector;
    }
    vector = mem_alloc(1, sizeof *vector);
    *vector = (struct vector){.next = run->vectors, .path = path};
    run->vectors = vector;
    sqlite3_stmt *row = store_query(run->store, &run->store->unread, sql, "jt", run->json, run->length, path);
    while (store_row(run->store, row)) {
        if (is_power_of_two(vector->count) || vector->count == 0)
            vector->values = mem_grow(vector->values, 2 * (size_t)vector->count + 1, sizeof *vector->values);
        vector->values[vector->count++] = sqlite3_column_double(row, 0);
    }
    sqlite3_finalize(row);
    return vector;
}

unsigned stored_run_units(struct stored_run *run, const char *name, const double **values) {
    const struct vector *found =
        vector_get(run, "SELECT value FROM json_each(?1, ?2)", text_format("$.units.\"%s\"", name));
    *values = found->values;
    return found->count;
}

static const struct vector *series_column(struct stored_run *run, const char *name) {
    static const char where_sql[] = "SELECT key FROM json_each(?1, '$.samples.columns') WHERE value = ?2";
    sqlite3_stmt *row = store_query(run->store, &run->store->unread, where_sql, "jt", run->json, run->length, name);
    int column = store_row(run->store, row) ? sqlite3_column_int(row, 0) : -1;
    sqlite3_finalize(row);
    if (column < 0) return NULL;
    return vector_get(run, "SELECT value ->> ?2 FROM json_each(?1, '$.samples.rows')", text_format("$[%d]", column));
}

unsigned stored_run_series(struct stored_run *run, const char *name, const double **cycles, const double **values) {
    const struct vector *time = series_column(run, "cycle"), *counter = series_column(run, name);
    if (!time || !counter) return 0;
    *cycles = time->values;
    *values = counter->values;
    return counter->count;
}

unsigned stored_run_unit_series(struct stored_run *run, const char *name, unsigned *units, const double **values) {
    const struct vector *time = series_column(run, "cycle"),
                        *found = vector_get(
                            run,
                            "SELECT unit.value FROM json_each(?1, ?2) AS sample, json_each(sample.value) AS unit"
                            " ORDER BY sample.key, unit.key",
                            text_format("$.samples.units.\"%s\"", name));
    if (!time || !time->count || found->count % time->count) return 0;
    *units = found->count / time->count;
    *values = found->values;
    return *units ? time->count : 0;
}

unsigned stored_run_launches(struct stored_run *run, const struct stored_launch **launches) {
    static const char sql[] =
        "SELECT format('%s %s %s', value ->> 'name', value ->> 'grid', value ->> 'block'), value ->> 'cycles',"
        " value ->> 'instructions', value ->> 'warp_instructions' FROM json_each(?1, '$.kernels') ORDER BY key";
    sqlite3_stmt *row =
        run->launches ? NULL : store_query(run->store, &run->store->unread, sql, "j", run->json, run->length);
    if (!run->launches) run->launches = mem_alloc(1, sizeof *run->launches);
    while (store_row(run->store, row)) {
        run->launches = mem_grow(run->launches, run->launch_count + 1, sizeof *run->launches);
        run->launches[run->launch_count++] = (struct stored_launch){
            .kernel = mem_text(store_text(row, 0)),
            .cycles = sqlite3_column_double(row, 1),
            .thread_instructions = sqlite3_column_double(row, 2),
            .warp_instructions = sqlite3_column_double(row, 3),
        };
    }
    sqlite3_finalize(row);
    *launches = run->launches;
    return run->launch_count;
}
