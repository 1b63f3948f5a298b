/* Shared by the files of the store: its struct, and SQL statements with their values in one call. */
#ifndef SLUICE_LAB_STORE_SQL_H
#define SLUICE_LAB_STORE_SQL_H

#include <sqlite3.h>

#include "base/draft.h"
#include "lab/store.h"

struct store {
    sqlite3 *db;
    char *path, *lock_path;
    int lock;            /* -1 while reading */
    struct draft listed; /* the lock's file */
    bool chosen;         /* store_choose() has been called */
    struct error unread; /* see store_readable() */
};

/* A prepared statement with values bound to ?1, ?2, ...: one letter of `kinds` for each, t text (const char *), j
 * text and its length (const char *, size_t), b bytes (const void *, size_t), i integer (int64_t), r real. NULL
 * with an error. */
sqlite3_stmt *store_query(struct store *store, struct error *err, const char *sql, const char *kinds, ...);
/* Executes and finalizes the statement; false with an error. */
bool store_finish(struct store *store, sqlite3_stmt *statement, struct error *err);
#define store_do(store, err, ...) store_finish(store, store_query(store, err, __VA_ARGS__), err)

/* Steps to the next row; false at the end, and on an error, which store_readable() reports. */
bool store_row(struct store *store, sqlite3_stmt *statement);
/* A column as text; "" if it is NULL. */
const char *store_text(sqlite3_stmt *row, int column);

/* Sets the last error of SQLite, "results.sqlite: the disk is full: ...". Always false. */
bool store_blame(struct store *store, struct error *err);

/* Decompresses the JSON of a run; NULL if it is damaged. */
char *store_unpack(const void *bytes, size_t size, size_t *length);

#endif
