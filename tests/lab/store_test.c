/* The results store: stored values are read back; invalid and unwritable stores are rejected. */
#include "lab/store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "lab/store_sql.h"
#include "test.h"

static const char first[] = "00000000000000000000000000000001", second[] = "00000000000000000000000000000002";

static const char json[] =
    "{\"sluice\": \"0.1.0\", \"gpu\": \"icc-32sm\", \"design\": \"private\", \"workload\": \"mm:tiny\","
    " \"interrupted\": false, \"check\": \"passed\", \"cycles\": 1000, \"thread_instructions\": 6400,"
    " \"warp_instructions\": 200, \"ipc\": 6.4, \"stats\": {\"l1.read_hits\": 7, \"dram.reads\": 18446744073709551615},"
    " \"units\": {\"l1.read_hits\": [3, 4]}, \"samples\": {\"every\": 500, \"columns\": [\"cycle\", \"l1.read_hits\"],"
    " \"rows\": [[500, 2], [1000, 5]]}, \"energy\": {\"dram\": {\"total_nj\": 2.5}},"
    " \"config\": {\"sm.count\": 32, \"noc.bypass\": true, \"sm.kind\": \"a \\\"b\\\", c\"},"
    " \"host\": {\"seconds\": 0.25, \"peak_rss_bytes\": 4096}}";

/* A directory for each test. */
static char *fresh(const char *name) {
    char *folder = mem_text("/tmp/sluice-store-XXXXXX");
    REQUIRE(mkdtemp(folder));
    char *path = text_format("%s/%s", folder, name);
    free(folder);
    return path;
}

static void discard(char *path) {
    unlink(path);
    *strrchr(path, '/') = '\0';
    CHECK_EQ(rmdir(path), 0); /* no lock, journal or draft is left */
    free(path);
}

static struct store *filled(const char *path) {
    struct error err = {0};
    struct store *store = store_open(path, STORE_WRITE, &err);
    REQUIRE(store);
    REQUIRE(store_put(store, first, json, strlen(json), &err));
    return store;
}

/* The stored JSON of a run, without host. */
static char *kept_json(struct store *store, const char *identity) {
    struct error err = {0};
    size_t length;
    sqlite3_stmt *row = store_query(store, &err, "SELECT result FROM run WHERE identity = ?1", "t", identity);
    REQUIRE(row && sqlite3_step(row) == SQLITE_ROW);
    char *text = store_unpack(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0), &length);
    sqlite3_finalize(row);
    REQUIRE(text);
    return text;
}

TEST("reads back counters, results, units, samples and energy") {
    char *path = fresh("a.sqlite");
    struct store *store = filled(path);
    CHECK(store_has(store, first));
    CHECK(!store_has(store, second));
    CHECK(!stored_run_get(store, second));
    struct stored_run *run = stored_run_get(store, first);
    REQUIRE(run);
    double value = 0;
    CHECK(stored_run_value(run, "l1.read_hits", &value) && value == 7);
    CHECK(stored_run_value(run, "dram.reads", &value) && value > 1.8e19);
    CHECK(stored_run_value(run, "ipc", &value) && value == 6.4);
    CHECK(stored_run_value(run, "cycles", &value) && value == 1000);
    CHECK(stored_run_value(run, "energy.dram.total_nj", &value) && value == 2.5);
    CHECK(stored_run_value(run, "seconds", &value) && value == 0.25);
    CHECK(!stored_run_value(run, "l1.read_hit", &value));
    const double *values, *cycles;
    REQUIRE(stored_run_units(run, "l1.read_hits", &values) == 2);
    CHECK(values[0] == 3 && values[1] == 4);
    CHECK_EQ(stored_run_units(run, "dram.reads", &values), 0u);
    REQUIRE(stored_run_series(run, "l1.read_hits", &cycles, &values) == 2);
    CHECK(cycles[0] == 500 && cycles[1] == 1000 && values[0] == 2 && values[1] == 5);
    CHECK_EQ(stored_run_series(run, "dram.reads", &cycles, &values), 0u);
    stored_run_free(run);
    char *kept = kept_json(store, first);
    CHECK_TEXT(kept, "\"design\":\"private\"");
    CHECK(!strstr(kept, "seconds"));
    free(kept);
    store_close(store);
    discard(path);
}

TEST("stores a run once, and removes its failure") {
    char *path = fresh("a.sqlite");
    struct error err = {0};
    struct store *store = store_open(path, STORE_WRITE, &err);
    REQUIRE(store);
    CHECK(store_put_failure(store, first, "mm:tiny, private", "the moon was full", &err));
    CHECK(store_has_failure(store, first));
    for (int i = 0; i < 3; i++) CHECK(store_put(store, first, json, strlen(json), &err));
    CHECK_EQ(store_run_count(store), 1u);
    CHECK(!store_has_failure(store, first));
    CHECK_NEAR(store_job_seconds(store, "mm:tiny"), 0.25, 0);
    CHECK_EQ(store_job_seconds(store, "mm:small"), 0.0);
    store_close(store);
    discard(path);
}

TEST("rejects an interrupted run, a failed check and invalid JSON") {
    static const char *const bad[][2] = {
        {"{\"cycles\": 1, \"interrupted\": true, \"check\": \"none\"}", "interrupted"},
        {"{\"cycles\": 1, \"interrupted\": false, \"check\": \"failed\"}", "verification"},
        {"{\"cycles\": 1, \"interrupted\": false", "no readable result"},
        {"{}", "no readable result"},
        {"", "no readable result"},
    };
    char *path = fresh("a.sqlite");
    struct store *store = filled(path);
    struct error good = {0}, err = {0};
    CHECK(store_accepts(store, json, strlen(json), &good, &err));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct error why = {0};
        CHECK(!store_accepts(store, bad[i][0], strlen(bad[i][0]), &why, &err));
        CHECK_TEXT(why.text, bad[i][1]);
    }
    CHECK(!err.set);
    store_close(store);
    discard(path);
}

TEST("a failed read is an error, and not the absence of a run") {
    char *path = fresh("a.sqlite");
    struct store *store = filled(path);
    struct error before = {0}, after = {0}, why = {0}, err = {0};
    sqlite3 *db;
    CHECK(!store_has(store, second));
    CHECK(store_readable(store, &before));
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "ALTER TABLE run RENAME TO other", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    CHECK(!stored_run_get(store, first));
    CHECK(!store_readable(store, &after));
    CHECK_TEXT(after.text, "no such table: run");
    CHECK(!store_accepts(store, json, strlen(json), &why, &err)); /* unknown, so the result must be kept */
    CHECK(err.set && !why.set);
    store_close(store);
    discard(path);
}

TEST("one process writes at a time, while any number read") {
    char *path = fresh("a.sqlite");
    struct store *store = filled(path);
    struct error err = {0};
    CHECK(!store_open(path, STORE_WRITE, &err));
    CHECK_TEXT(err.text, "is writing to this store");
    char *pid = text_format("process %ld on ", (long)getpid());
    CHECK_TEXT(err.text, pid);
    struct error none = {0};
    struct store *reader = store_open(path, STORE_READ, &none);
    REQUIRE(reader);
    CHECK(store_has(reader, first));
    store_close(reader);
    store_close(store);
    store = store_open(path, STORE_WRITE, &none);
    CHECK(store);
    store_close(store);
    free(pid);
    discard(path);
}

static void execute(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static void refused(const char *path, enum store_access access, const char *why) {
    struct error err = {0};
    CHECK(!store_open(path, access, &err));
    CHECK_TEXT(err.text, why);
}

TEST("rejects a store of a newer sluice, another database, another file and a missing file") {
    char *path = fresh("a.sqlite");
    refused(path, STORE_READ, "no such store");
    execute(path, "CREATE TABLE t (x)");
    refused(path, STORE_WRITE, "an SQLite database, but not a results store");
    unlink(path);
    store_close(filled(path));
    execute(path, "PRAGMA user_version = 1000");
    refused(path, STORE_WRITE, "newer sluice");
    refused(path, STORE_READ, "newer sluice");
    execute(path, "PRAGMA user_version = 1");
    struct error err = {0};
    struct store *store = store_open(path, STORE_READ, &err);
    REQUIRE(store);
    CHECK(store_has(store, first));
    store_close(store);
    FILE *file = fopen(path, "w");
    fputs("workload,cycles\nmm,1\n", file);
    for (int i = 0; i < 100; i++) fputs("and more of the same\n", file);
    fclose(file);
    refused(path, STORE_READ, "not a results store");
    refused(path, STORE_WRITE, "not a results store");
    discard(path);
    refused("/nowhere/at/all.sqlite", STORE_WRITE, "/nowhere/at/all.sqlite.lock: No such file or directory");
}

TEST("a merge imports missing runs with counters and parameters, once") {
    char *path = fresh("a.sqlite"), *from_path = fresh("b.sqlite");
    struct error err = {0};
    struct store *store = filled(path), *from = filled(from_path);
    CHECK(store_put(from, second, json, strlen(json), &err));
    CHECK(store_put_experiment(from, "quick/l1", "tiny", "/x.yaml", &err));
    store_close(from);
    uint64_t added = 0;
    CHECK(store_merge(store, from_path, &added, &err));
    CHECK_EQ(added, 1u);
    CHECK(store_merge(store, from_path, &added, &err));
    CHECK_EQ(added, 0u);
    CHECK_EQ(store_run_count(store), 2u);
    struct stored_run *run = stored_run_get(store, second);
    REQUIRE(run);
    double value = 0;
    CHECK(stored_run_value(run, "l1.read_hits", &value) && value == 7);
    stored_run_free(run);
    CHECK(!store_merge(store, "/nowhere.sqlite", &added, &err));
    CHECK_TEXT(err.text, "no such store");
    store_close(store);
    discard(path);
    discard(from_path);
}

TEST("a merge keeps a failure only of runs that neither store has") {
    static const char third[] = "00000000000000000000000000000003", fourth[] = "00000000000000000000000000000004";
    char *path = fresh("a.sqlite"), *from_path = fresh("b.sqlite");
    struct error err = {0};
    struct store *store = filled(path), *from = filled(from_path);
    CHECK(store_put(from, second, json, strlen(json), &err));
    CHECK(store_put_failure(store, second, "mm:tiny", "failed here, succeeded there", &err));
    CHECK(store_put_failure(from, first, "mm:tiny", "succeeded here, failed there", &err));
    CHECK(store_put_failure(from, third, "mm:tiny", "failed there", &err));
    CHECK(store_put_failure(store, fourth, "mm:tiny", "failed here", &err));
    store_close(from);
    uint64_t added = 0;
    CHECK(store_merge(store, from_path, &added, &err));
    CHECK_EQ(added, 1u);
    CHECK(!store_has_failure(store, first));
    CHECK(!store_has_failure(store, second));
    CHECK(store_has_failure(store, third));
    CHECK(store_has_failure(store, fourth));
    store_close(store);
    discard(path);
    discard(from_path);
}

TEST("a run that cannot be stored completely is not stored at all, and the next one is") {
    /* `cycles` twice: the row of the run is written before the conflict is found. */
    char *path = fresh("a.sqlite"), *twice = mem_text(json);
    memcpy(strstr(twice, "\"dram.reads\": "), "\"cycles\":     ", 14);
    struct error err = {0}, none = {0};
    struct store *store = filled(path);
    CHECK(store_put_failure(store, second, "mm:tiny", "earlier", &none));
    CHECK(!store_put(store, second, twice, strlen(twice), &err));
    CHECK_TEXT(err.text, "UNIQUE constraint failed: value.run, value.name");
    CHECK(!store_has(store, second));
    CHECK(store_has_failure(store, second));
    CHECK_EQ(store_run_count(store), 1u);
    CHECK(store_put(store, second, json, strlen(json), &none));
    CHECK(!store_has_failure(store, second));
    store_close(store);
    store = store_open(path, STORE_READ, &none);
    REQUIRE(store);
    CHECK_EQ(store_run_count(store), 2u);
    store_close(store);
    free(twice);
    discard(path);
}

static char *exported(struct store *store, bool (*export)(struct store *store, FILE *out, struct error *err)) {
    char *text = NULL;
    size_t size;
    struct error err = {0};
    FILE *out = open_memstream(&text, &size);
    CHECK(export(store, out, &err));
    fclose(out);
    return text;
}

TEST("CSV has the differing parameters and all counters, quoted as needed; JSON has complete results") {
    char *path = fresh("a.sqlite"), *other = mem_text(json);
    struct error err = {0};
    struct store *store = filled(path);
    char *csv = exported(store, store_export_csv), *all = exported(store, store_export_json);
    CHECK_EQ(csv, "identity,workload,gpu,design,check,seconds,cycles,dram.reads,energy.dram.total_nj,ipc,l1.read_hits,"
                  "thread_instructions,warp_instructions\r\n"
                  "00000000000000000000000000000001,mm:tiny,icc-32sm,private,passed,0.25,1000,1.84467440737096e+19,2.5,"
                  "6.4,7,6400,200\r\n");
    CHECK_TEXT(all, "{\"identity\":\"00000000000000000000000000000001\",\"sluice\":\"0.1.0\"");
    CHECK_TEXT(all, "\"host\":{\"seconds\":0.25,");
    free(csv), free(all);
    memcpy(strstr(other, "a \\\"b"), "x \\\"y", 5);
    CHECK(store_put(store, second, other, strlen(other), &err));
    csv = exported(store, store_export_csv);
    CHECK_TEXT(csv, "seconds,sm.kind,cycles");
    CHECK_TEXT(csv, "0.25,\"x \"\"y\"\", c\",1000");
    CHECK(!strstr(csv, "sm.count"));
    free(csv);
    store_choose(store, second);
    csv = exported(store, store_export_csv);
    CHECK(strstr(csv, second) && !strstr(csv, first));
    free(csv), free(other);
    store_close(store);
    discard(path);
}

/* The file size limit replaces a full disk. */
TEST("a store that cannot grow reports it, keeps its runs, and continues with more space") {
    char *path = fresh("a.sqlite"), *large = mem_alloc(1 << 20, 1);
    struct error err = {0};
    struct store *store = filled(path);
    int used = sprintf(large, "%.*s, \"noise\": [", (int)strlen(json) - 1, json);
    for (unsigned x = 1; used < (1 << 20) - 32; x = x * 1103515245 + 12345) used += sprintf(large + used, "%u,", x);
    sprintf(large + used, "0]}");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit, small = {.rlim_cur = 200000};
    getrlimit(RLIMIT_FSIZE, &limit);
    small.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(!store_put(store, second, large, strlen(large), &err));
    CHECK_TEXT(err.text, path);
    CHECK(store_has(store, first));
    CHECK(!store_has(store, second));
    setrlimit(RLIMIT_FSIZE, &limit);
    struct error none = {0};
    CHECK(store_put(store, second, large, strlen(large), &none));
    CHECK_EQ(store_run_count(store), 2u);
    store_close(store);
    free(large);
    discard(path);
}
