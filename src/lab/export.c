/* Exports stored runs: CSV for spreadsheets and data frames, JSON with complete results. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "lab/store_sql.h"

/* The runs to export, in an order that does not depend on their insertion. */
#define CHOSEN "(SELECT * FROM run WHERE ?1 = 0 OR identity IN (SELECT identity FROM temp.chosen))"
#define ORDER  " ORDER BY workload, gpu, design, identity"

static bool prepare(struct store *store, struct error *err) {
    return store_do(store, err, "CREATE TABLE IF NOT EXISTS temp.chosen (identity TEXT PRIMARY KEY)", "");
}

void store_choose(struct store *store, const char *identity) {
    struct error *err = &store->unread;
    store->chosen = true;
    if (prepare(store, err)) store_do(store, err, "INSERT OR IGNORE INTO temp.chosen VALUES (?1)", "t", identity);
}

/* Columns after the fixed ones: parameters in which the runs differ, then all counters. */
static const char columns_sql[] =
    "SELECT 0 AS kind, name FROM parameter JOIN " CHOSEN " AS run ON run = run.id GROUP BY name"
    " HAVING count(DISTINCT value) > 1 OR count(*) < (SELECT count(*) FROM " CHOSEN ")"
    " UNION ALL SELECT DISTINCT 1, name FROM value JOIN " CHOSEN " AS run ON run = run.id ORDER BY kind, name";

struct csv_column {
    char *name;
    sqlite3_stmt *value; /* of a run (?1) */
};

static struct csv_column *csv_columns(struct store *store, unsigned *count, struct error *err) {
    struct csv_column *columns = NULL;
    sqlite3_stmt *row = store_query(store, err, columns_sql, "i", (int64_t)store->chosen);
    *count = 0;
    while (store_row(store, row)) {
        columns = mem_grow(columns, *count + 1, sizeof *columns);
        columns[*count].name = mem_text(store_text(row, 1));
        columns[*count].value =
            store_query(store, err,
                        sqlite3_column_int(row, 0) ? "SELECT value FROM value WHERE run = ?2 AND name = ?1"
                                                   : "SELECT value FROM parameter WHERE run = ?2 AND name = ?1",
                        "t", columns[*count].name);
        ++*count;
    }
    sqlite3_finalize(row);
    return columns;
}

bool store_export_csv(struct store *store, FILE *out, struct error *err) {
    static const char *const fixed[] = {"identity", "workload", "gpu", "design", "check", "seconds"};
    if (!prepare(store, err)) return false;
    unsigned count;
    struct csv_column *columns = csv_columns(store, &count, err);
    for (unsigned i = 0; i < COUNT_OF(fixed); i++) csv_write(out, fixed[i], i == 0);
    for (unsigned i = 0; i < count; i++) csv_write(out, columns[i].name, false);
    fputs("\r\n", out);
    sqlite3_stmt *row =
        err->set
            ? NULL
            : store_query(store, err, "SELECT identity, workload, gpu, design, verdict, seconds, id FROM " CHOSEN ORDER,
                          "i", (int64_t)store->chosen);
    while (store_row(store, row)) {
        for (int i = 0; i < (int)COUNT_OF(fixed); i++) csv_write(out, store_text(row, i), i == 0);
        for (unsigned i = 0; i < count; i++) {
            sqlite3_reset(columns[i].value);
            sqlite3_bind_int64(columns[i].value, 2, sqlite3_column_int64(row, (int)COUNT_OF(fixed)));
            bool there = store_row(store, columns[i].value);
            csv_write(out, there ? store_text(columns[i].value, 0) : "", false);
        }
        fputs("\r\n", out);
    }
    for (unsigned i = 0; i < count; i++) {
        sqlite3_finalize(columns[i].value);
        free(columns[i].name);
    }
    free(columns);
    sqlite3_finalize(row);
    return !err->set && store_readable(store, err);
}

/* Each run as `sluice run` wrote it, with `identity` first and `host` last. */
bool store_export_json(struct store *store, FILE *out, struct error *err) {
    if (!prepare(store, err)) return false;
    sqlite3_stmt *row =
        store_query(store, err, "SELECT identity, host, result FROM " CHOSEN ORDER, "i", (int64_t)store->chosen);
    bool first = true, whole = true;
    fputc('[', out);
    while (whole && store_row(store, row)) {
        size_t length;
        char *json = store_unpack(sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2), &length);
        whole = json && length > 2;
        if (whole)
            fprintf(out, "%s\n{\"identity\":\"%s\",%.*s,\"host\":%s}", first ? "" : ",", store_text(row, 0),
                    (int)length - 2, json + 1, store_text(row, 1));
        free(json);
        first = false;
    }
    fputs("\n]\n", out);
    if (!whole) error_set(err, "%s: a run's result is damaged", store->path);
    sqlite3_finalize(row);
    return !err->set && store_readable(store, err);
}
