#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/base.h"
#include "lab/store_sql.h"

enum {
    STORE_APPLICATION = 0x534C5543, /* "SLUC" in the header distinguishes a store from other databases */
    STORE_VERSION = 1,
    PACK_LEVEL = 9,
};

static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, workload TEXT NOT NULL,"
    " gpu TEXT NOT NULL, design TEXT NOT NULL, sluice TEXT NOT NULL, verdict TEXT NOT NULL, seconds REAL NOT NULL,"
    " host TEXT NOT NULL, result BLOB NOT NULL);"
    "CREATE INDEX run_workload ON run (workload);"
    "CREATE TABLE value (run INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value NUMERIC NOT NULL,"
    " PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE TABLE parameter (run INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value NOT NULL,"
    " PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE TABLE failure (identity TEXT PRIMARY KEY, what TEXT NOT NULL, why TEXT NOT NULL);"
    "CREATE TABLE experiment (name TEXT NOT NULL, size TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (name, size));";

/* SQL */

static bool store_damaged(const struct store *store, const char *how, struct error *err) {
    return error_set(err,
                     "%s: the store is damaged (%s): use a copy of it, or save the runs that can still be read with"
                     " `sluice lab export --salvage --json FILE`",
                     store->path, how);
}

bool store_blame(struct store *store, struct error *err) {
    int code = sqlite3_errcode(store->db);
    if (code == SQLITE_FULL || (code == SQLITE_IOERR && sqlite3_system_errno(store->db) == ENOSPC))
        return error_set(err, "%s: the disk is full: free disk space and rerun the command", store->path);
    if (code == SQLITE_NOTADB) return error_set(err, "%s: not a results store of `sluice lab`", store->path);
    if ((code & 0xFF) == SQLITE_CORRUPT) return store_damaged(store, sqlite3_errmsg(store->db), err);
    int number = code == SQLITE_IOERR ? sqlite3_system_errno(store->db) : 0;
    const char *system = number ? strerror(number) : "";
    return error_set(err, "%s: %s%s%s", store->path, sqlite3_errmsg(store->db), *system ? ": " : "", system);
}

sqlite3_stmt *store_query(struct store *store, struct error *err, const char *sql, const char *kinds, ...) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) return store_blame(store, err), NULL;
    va_list values;
    va_start(values, kinds);
    int code = SQLITE_OK;
    for (int i = 1; kinds[i - 1] && code == SQLITE_OK; i++) {
        const void *bytes = NULL;
        switch (kinds[i - 1]) {
        case 't': code = sqlite3_bind_text(statement, i, va_arg(values, const char *), -1, SQLITE_TRANSIENT); break;
        case 'j':
            bytes = va_arg(values, const char *);
            code = sqlite3_bind_text64(statement, i, bytes, va_arg(values, size_t), SQLITE_TRANSIENT, SQLITE_UTF8);
            break;
        case 'b':
            bytes = va_arg(values, const void *);
            code = sqlite3_bind_blob64(statement, i, bytes, va_arg(values, size_t), SQLITE_TRANSIENT);
            break;
        case 'i': code = sqlite3_bind_int64(statement, i, va_arg(values, int64_t)); break;
        case 'r': code = sqlite3_bind_double(statement, i, va_arg(values, double)); break;
        default: assert(!"unknown kind of value");
        }
    }
    va_end(values);
    if (code == SQLITE_OK) return statement;
    store_blame(store, err);
    sqlite3_finalize(statement);
    return NULL;
}

bool store_finish(struct store *store, sqlite3_stmt *statement, struct error *err) {
    if (!statement) return false;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    }
    if (code != SQLITE_DONE) store_blame(store, err);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE;
}

bool store_row(struct store *store, sqlite3_stmt *statement) {
    int code = statement ? sqlite3_step(statement) : SQLITE_DONE;
    if (code != SQLITE_ROW && code != SQLITE_DONE) store_blame(store, &store->unread);
    return code == SQLITE_ROW;
}

const char *store_text(sqlite3_stmt *row, int column) {
    const unsigned char *text = sqlite3_column_text(row, column);
    if (!text && sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM) mem_exhausted();
    return text ? (const char *)text : "";
}

bool store_readable(const struct store *store, struct error *err) {
    return !store->unread.set || error_set(err, "%s", store->unread.text);
}

static bool store_script(struct store *store, const char *sql, struct error *err) {
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_blame(store, err);
}

/* Commits, or rolls back. */
static bool store_end(struct store *store, bool good, struct error *err) {
    good = good && store_script(store, "COMMIT", err);
    if (!good) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return good;
}

/* The first column of the first row; `otherwise` if there is none. */
static double store_number(struct store *store, double otherwise, sqlite3_stmt *statement) {
    double number = otherwise;
    if (store_row(store, statement) && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        number = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* Opening */

/* The lock is a locked file next to the store; the kernel releases it when its holder ends. The holder removes the
 * file, so the file just locked may have been unlinked meanwhile: then try again. */
static bool store_lock(struct store *store, struct error *err) {
    for (;;) {
        struct stat here, named;
        store->lock = open(store->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (store->lock < 0) return error_set(err, "%s: %s", store->lock_path, strerror(errno));
        if (flock(store->lock, LOCK_EX | LOCK_NB) != 0) break;
        if (fstat(store->lock, &here) == 0 && stat(store->lock_path, &named) == 0 && here.st_ino == named.st_ino) {
            char host[64] = "", text[96];
            gethostname(host, sizeof host - 1);
            int length = snprintf(text, sizeof text, "process %ld on %s", (long)getpid(), host);
            if (ftruncate(store->lock, 0) != 0 || write(store->lock, text, (size_t)length) < 0) {
            } /* only informative */
            draft_list(&store->listed, store->lock_path);
            return true;
        }
        close(store->lock);
    }
    char who[96] = "";
    if (read(store->lock, who, sizeof who - 1) <= 0) snprintf(who, sizeof who, "another process");
    close(store->lock);
    store->lock = -1;
    return error_set(err, "%s: %s is writing to this store; wait for it, or use another store with --store",
                     store->path, who);
}

/* A file without tables is a new store. */
static bool store_check(struct store *store, bool *is_new, struct error *err) {
    struct error *unread = &store->unread;
    double tables = store_number(store, 0, store_query(store, unread, "SELECT count(*) FROM sqlite_master", ""));
    int application = (int)store_number(store, 0, store_query(store, unread, "PRAGMA application_id", ""));
    int version = (int)store_number(store, 0, store_query(store, unread, "PRAGMA user_version", ""));
    if (!store_readable(store, err)) return false;
    *is_new = tables == 0;
    if (*is_new) return true;
    if (application != STORE_APPLICATION)
        return error_set(err, "%s: an SQLite database, but not a results store of `sluice lab`", store->path);
    return version <= STORE_VERSION ||
           error_set(err,
                     "%s: the store was written by a newer sluice (store version %d, supported up to %d): use that"
                     " version, or another store with --store",
                     store->path, version, STORE_VERSION);
}

/* Whether the pages of the file are consistent. A damaged page would otherwise look like missing runs or counters. */
static bool store_is_whole(struct store *store, struct error *err) {
    sqlite3_stmt *row = store_query(store, err, "PRAGMA quick_check(1)", "");
    if (!row) return false;
    bool good = sqlite3_step(row) == SQLITE_ROW || store_blame(store, err);
    const char *found = good ? store_text(row, 0) : "",
               *line = strchr(found, '\n'); /* the first line names a database */
    if (good && strcmp(found, "ok") != 0) good = store_damaged(store, line ? line + 1 : found, err);
    sqlite3_finalize(row);
    return good;
}

static bool store_create(struct store *store, struct error *err) {
    char *make = text_format("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d;", schema,
                             STORE_APPLICATION, STORE_VERSION);
    bool good = store_end(store, store_script(store, make, err), err);
    free(make);
    return good;
}

/* Readers of a WAL database share an index file, which SQLite creates next to it. Where that is not allowed, a store
 * without a journal can be read as a file that nobody changes. */
static bool store_open_unchanging(struct store *store, struct error *err) {
    struct stat status;
    char *journal = text_format("%s-wal", store->path);
    bool journaled = stat(journal, &status) == 0 && status.st_size > 0;
    free(journal);
    if (journaled)
        return error_set(err,
                         "%s: the store has a journal (%s-wal) and cannot be read in a read-only directory: copy both"
                         " files to another directory",
                         store->path, store->path);
    char *name = mem_alloc(3 * strlen(store->path) + 32, 1), *to = name + sprintf(name, "file:");
    for (const char *c = store->path; *c; c++) to += sprintf(to, strchr("%?#", *c) ? "%%%02X" : "%c", *c);
    strcpy(to, "?immutable=1");
    sqlite3_close(store->db);
    store->db = NULL;
    bool good = sqlite3_open_v2(name, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK;
    free(name);
    return good || store_blame(store, err);
}

static bool store_connect(struct store *store, enum store_access access, struct error *err) {
    /* A reader with write permission removes the journal when it closes last; without it, SQLite opens read-only. */
    int flags = SQLITE_OPEN_READWRITE | (access == STORE_WRITE ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK) return store_blame(store, err);
    sqlite3_busy_timeout(store->db, 10000);
    if (access == STORE_WRITE) return true;
    int code = sqlite3_exec(store->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    return (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || store_open_unchanging(store, err);
}

static bool store_begin(struct store *store, enum store_access access, struct error *err) {
    struct stat status;
    bool is_new;
    if (access == STORE_READ && stat(store->path, &status) != 0)
        return error_set(err, "%s: no such store; `sluice lab run` creates one", store->path);
    if (access == STORE_WRITE && !store_lock(store, err)) return false;
    if (!store_connect(store, access, err) || !store_check(store, &is_new, err)) return false;
    if (access == STORE_READ && is_new) return error_set(err, "%s: the store is empty", store->path);
    if (!is_new && !store_is_whole(store, err)) return false;
    if (access == STORE_READ) return true;
    if (!store_script(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", err)) return false;
    return !is_new || store_create(store, err);
}

struct store *store_open(const char *path, enum store_access access, struct error *err) {
    struct store *store = mem_alloc(1, sizeof *store);
    *store = (struct store){.path = mem_text(path), .lock_path = text_format("%s.lock", path), .lock = -1};
    if (store_begin(store, access, err)) return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store) {
    if (!store) return;
    sqlite3_close(store->db);
    if (store->lock >= 0) {
        unlink(store->lock_path);
        draft_unlist(&store->listed);
        close(store->lock);
    }
    free(store->lock_path);
    free(store->path);
    free(store);
}

/* The largest id of a run, from the first table that can be read. */
static int64_t last_run(sqlite3 *db) {
    static const char *const queries[] = {"SELECT max(id) FROM run", "SELECT max(run) FROM parameter",
                                          "SELECT max(run) FROM value"};
    int64_t last = -1;
    for (unsigned i = 0; i < COUNT_OF(queries) && last < 0; i++) {
        sqlite3_stmt *row = NULL;
        if (sqlite3_prepare_v2(db, queries[i], -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
            last = sqlite3_column_int64(row, 0);
        sqlite3_finalize(row);
    }
    return last;
}

/* Copies the run with this id from a damaged database. False if the id has no run that can be read. */
static bool save_run(struct store *to, sqlite3 *from, int64_t id, struct error *err) {
    sqlite3_stmt *row = NULL;
    bool saved = false;
    if (sqlite3_prepare_v2(from, "SELECT identity, host, result FROM run WHERE id = ?1", -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_int64(row, 1, id) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) {
        size_t length = 0;
        char *json = store_unpack(sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2), &length);
        struct error why = {0}, unknown = {0};
        if (json && length > 2 && store_accepts(to, json, length, &why, &unknown)) {
            char *whole = text_format("%.*s,\"host\":%s}", (int)length - 1, json, store_text(row, 1));
            saved = store_put(to, store_text(row, 0), whole, strlen(whole), err);
            free(whole);
        }
        free(json);
    }
    sqlite3_finalize(row);
    return saved;
}

struct store *store_open_memory(const char *path, struct error *err) {
    struct store *store = mem_alloc(1, sizeof *store);
    *store = (struct store){.path = mem_text(path), .lock_path = mem_text(""), .lock = -1};
    if ((sqlite3_open_v2(":memory:", &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK ||
         store_blame(store, err)) &&
        store_create(store, err))
        return store;
    store_close(store);
    return NULL;
}

struct store *store_salvage(const char *path, uint64_t *saved, uint64_t *lost, struct error *err) {
    struct store *store = store_open_memory(path, err);
    if (!store) return NULL;
    sqlite3 *from = NULL;
    bool good = sqlite3_open_v2(path, &from, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK ||
                error_set(err, "%s: %s", path, sqlite3_errmsg(from));
    int64_t last = good ? last_run(from) : -1;
    if (good && last < 0) good = error_set(err, "%s: no run can be read", path);
    *saved = 0;
    for (int64_t id = 1; id <= last && good; id++) {
        *saved += save_run(store, from, id, err);
        good = !err->set;
    }
    *lost = (uint64_t)(last > 0 ? last : 0) - *saved; /* ids are consecutive: runs are never removed */
    sqlite3_close(from);
    if (good) return store;
    store_close(store);
    return NULL;
}

const char *store_path(const struct store *store) { return store->path; }

/* Adding runs */

bool store_has(struct store *store, const char *identity) {
    return store_number(store, 0,
                        store_query(store, &store->unread, "SELECT 1 FROM run WHERE identity = ?1", "t", identity)) > 0;
}

bool store_forgive(struct store *store, const char *identity, struct error *err) {
    return store_do(store, err, "DELETE FROM failure WHERE identity = ?1", "t", identity);
}

bool store_has_failure(struct store *store, const char *identity) {
    return store_number(
               store, 0,
               store_query(store, &store->unread, "SELECT 1 FROM failure WHERE identity = ?1", "t", identity)) > 0;
}

/* Not json_valid(), which returns 0 if it runs out of memory: a result would be discarded. An operator on invalid JSON
 * is an error of the statement, which differs from errors of the system. */
bool store_accepts(struct store *store, const char *json, size_t length, struct error *why, struct error *err) {
    static const char sql[] = "SELECT CASE WHEN ?1 ->> 'cycles' IS NULL THEN 1"
                              " WHEN ?1 ->> 'interrupted' THEN 2 WHEN ?1 ->> 'check' = 'failed' THEN 3 ELSE 0 END";
    static const char *const faults[] = {NULL, "it has no readable result", "it was interrupted",
                                         "the verification of its results failed"};
    if (!store_readable(store, err)) return false;
    sqlite3_stmt *query = store_query(store, err, sql, "j", json, length);
    if (!query) return false;
    int code = sqlite3_step(query), fault = code == SQLITE_ROW ? sqlite3_column_int(query, 0) : 1;
    if (code != SQLITE_ROW && code != SQLITE_ERROR) store_blame(store, err);
    sqlite3_finalize(query);
    if (err->set) return false;
    return fault == 0 || error_set(why, "%s", faults[fault]);
}

static bool pack(struct store *store, const char *json, size_t length, void **packed, size_t *size, struct error *err) {
    sqlite3_stmt *plain = store_query(store, err, "SELECT json_remove(?1, '$.host')", "j", json, length);
    if (!plain) return false;
    bool good = sqlite3_step(plain) == SQLITE_ROW || store_blame(store, err);
    if (good) {
        const char *text = store_text(plain, 0);
        size_t bytes = (size_t)sqlite3_column_bytes(plain, 0), room = ZSTD_compressBound(bytes);
        *packed = mem_alloc(room, 1);
        *size = ZSTD_compress(*packed, room, text, bytes, PACK_LEVEL);
        if (ZSTD_isError(*size)) mem_exhausted(); /* the only error left: the buffer is large enough */
    }
    sqlite3_finalize(plain);
    return good;
}

bool store_put(struct store *store, const char *identity, const char *json, size_t length, struct error *err) {
    static const char run_sql[] =
        "INSERT INTO run (identity, workload, gpu, design, sluice, verdict, seconds, host, result) VALUES (?1,"
        " ?2 ->> 'workload', ?2 ->> 'gpu', ?2 ->> 'design', ?2 ->> 'sluice', ?2 ->> 'check',"
        " coalesce(?2 ->> '$.host.seconds', 0), coalesce(?2 -> 'host', '{}'), ?3)";
    static const char value_sql[] =
        "INSERT INTO value SELECT ?1, key, atom FROM json_each(?2, '$.stats') UNION ALL"
        " SELECT ?1, key, atom FROM json_each(?2)"
        " WHERE key IN ('cycles', 'ipc', 'thread_instructions', 'warp_instructions') UNION ALL"
        " SELECT ?1, replace(substr(fullkey, 3), '\"', ''), atom FROM json_tree(?2, '$.energy')"
        " WHERE type IN ('integer', 'real')";
    static const char parameter_sql[] =
        "INSERT INTO parameter SELECT ?1, key, CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
        " ELSE value END FROM json_each(?2, '$.config')";
    if (store_has(store, identity)) return true;
    void *packed = NULL;
    size_t size = 0;
    bool good = pack(store, json, length, &packed, &size, err) && store_script(store, "BEGIN IMMEDIATE", err);
    if (good) {
        good = store_do(store, err, run_sql, "tjb", identity, json, length, packed, size);
        int64_t id = sqlite3_last_insert_rowid(store->db);
        good = good && store_do(store, err, value_sql, "ij", id, json, length) &&
               store_do(store, err, parameter_sql, "ij", id, json, length) && store_forgive(store, identity, err);
        good = store_end(store, good, err);
    }
    free(packed);
    return good;
}

bool store_put_failure(struct store *store, const char *identity, const char *what, const char *why,
                       struct error *err) {
    return store_do(store, err, "INSERT OR REPLACE INTO failure VALUES (?1, ?2, ?3)", "ttt", identity, what, why);
}

bool store_put_experiment(struct store *store, const char *name, const char *size, const char *path,
                          struct error *err) {
    return store_do(store, err, "INSERT OR REPLACE INTO experiment VALUES (?1, ?2, ?3)", "ttt", name, size, path);
}

bool store_merge(struct store *into, const char *from_path, uint64_t *added, struct error *err) {
    static const char sql[] =
        "CREATE TEMP TABLE fresh AS SELECT id AS old, identity FROM other.run"
        " WHERE identity NOT IN (SELECT identity FROM main.run) ORDER BY id;"
        "INSERT INTO main.run (identity, workload, gpu, design, sluice, verdict, seconds, host, result)"
        " SELECT identity, workload, gpu, design, sluice, verdict, seconds, host, result"
        " FROM other.run JOIN fresh USING (identity) ORDER BY fresh.rowid;"
        "INSERT INTO main.value SELECT run.id, name, value FROM fresh"
        " JOIN main.run AS run USING (identity) JOIN other.value ON other.value.run = old;"
        "INSERT INTO main.parameter SELECT run.id, name, value FROM fresh"
        " JOIN main.run AS run USING (identity) JOIN other.parameter ON other.parameter.run = old;"
        "INSERT OR IGNORE INTO main.failure SELECT * FROM other.failure;"
        "DELETE FROM main.failure WHERE identity IN (SELECT identity FROM main.run);"
        "INSERT OR IGNORE INTO main.experiment SELECT * FROM other.experiment;";
    struct store *from = store_open(from_path, STORE_READ, err); /* checks version and kind */
    if (!from) return false;
    store_close(from);
    if (!store_do(into, err, "ATTACH ?1 AS other", "t", from_path)) return false;
    uint64_t before = store_run_count(into);
    bool good = store_script(into, "BEGIN IMMEDIATE", err) && store_end(into, store_script(into, sql, err), err);
    sqlite3_exec(into->db, "DROP TABLE IF EXISTS temp.fresh; DETACH other", NULL, NULL, NULL);
    *added = store_run_count(into) - before;
    return good;
}

/* About the store */

uint64_t store_run_count(struct store *store) {
    return (uint64_t)store_number(store, 0, store_query(store, &store->unread, "SELECT count(*) FROM run", ""));
}

double store_job_seconds(struct store *store, const char *job) {
    return store_number(
        store, 0, store_query(store, &store->unread, "SELECT avg(seconds) FROM run WHERE workload = ?1", "t", job));
}

void store_each_experiment(struct store *store,
                           void (*visit)(void *user, const char *name, const char *size, const char *path),
                           void *user) {
    sqlite3_stmt *row =
        store_query(store, &store->unread, "SELECT name, size, path FROM experiment ORDER BY name, size", "");
    while (store_row(store, row)) visit(user, store_text(row, 0), store_text(row, 1), store_text(row, 2));
    sqlite3_finalize(row);
}

void store_each_failure(struct store *store,
                        void (*visit)(void *user, const char *identity, const char *what, const char *why),
                        void *user) {
    sqlite3_stmt *row =
        store_query(store, &store->unread, "SELECT identity, what, why FROM failure ORDER BY what, identity", "");
    while (store_row(store, row)) visit(user, store_text(row, 0), store_text(row, 1), store_text(row, 2));
    sqlite3_finalize(row);
}
