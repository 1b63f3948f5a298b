/* Batches: what is left to run, its command lines and its expected time. */
#include "lab/batch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lab/intake.h"
#include "test.h"

static char *best_values[] = {"8", "16"};
static struct lab_design designs[] = {
    {.name = "one", .uses = -1},
    {.name = "two", .uses = 0, .uses_writes = "writes", .uses_reads = "reads"},
    {.name = "best", .uses = -1, .best = {.key = "noc.channel_bytes", .count = 2}},
};
static const struct experiment experiment = {.name = "x", .designs = designs, .design_count = 3};

static struct planned_run planned(unsigned number, unsigned design, const char *job, int after) {
    struct planned_run run = {.design = design, .candidate = -1, .after = after, .gpu = "g", .job = job};
    snprintf(run.identity, sizeof run.identity, "%032x", number);
    return run;
}

static struct batch *batch_of(struct planned_run *runs, unsigned count, struct store *store, const char *files) {
    struct plan plan = {.experiment = &experiment, .runs = runs, .count = count};
    const struct plan *plans[] = {&plan};
    return batch_create(plans, 1, store, files);
}

static char *temporary(void) {
    char *folder = mem_text("/tmp/sluice-batch-XXXXXX");
    REQUIRE(mkdtemp(folder));
    return folder;
}

static void discard(char *folder) {
    char *command = text_format("rm -rf '%s'", folder);
    CHECK_EQ(system(command), 0);
    free(command);
    free(folder);
}

static struct store *store_in(const char *folder) {
    struct error err = {0};
    char *path = text_format("%s/store", folder);
    struct store *store = store_open(path, STORE_WRITE, &err);
    REQUIRE(store);
    free(path);
    return store;
}

static void put(struct store *store, const char *identity, const char *job, double seconds) {
    struct error err = {0};
    char *json = text_format("{\"sluice\": \"0\", \"gpu\": \"g\", \"design\": \"d\", \"workload\": \"%s\", \"check\":"
                             " \"none\", \"interrupted\": false, \"cycles\": 1, \"config\": {}, \"host\": {\"seconds\":"
                             " %g}}",
                             job, seconds);
    CHECK(store_put(store, identity, json, strlen(json), &err));
    free(json);
}

TEST("stored runs are not in the batch, unless a run needs the file that they wrote and it is gone") {
    char *folder = temporary();
    struct store *store = store_in(folder);
    struct planned_run runs[] = {planned(1, 0, "mm:tiny", -1), planned(2, 1, "mm:tiny", 0),
                                 planned(3, 0, "va:tiny", -1), planned(4, 1, "va:tiny", 2)};
    put(store, runs[0].identity, "mm:tiny", 1);
    put(store, runs[2].identity, "va:tiny", 1);
    put(store, runs[3].identity, "va:tiny", 1);
    struct batch *batch = batch_of(runs, 4, store, folder);
    CHECK_EQ(batch->asked, 4u);
    CHECK_EQ(batch->distinct, 4u);
    CHECK_EQ(batch->stored, 3u);
    REQUIRE(batch->count == 2); /* 1 again, for 2; 4 is stored and needs no file */
    CHECK_TEXT(batch->runs[0].identity, "0001");
    CHECK_TEXT(batch->runs[1].identity, "0002");
    CHECK_EQ(batch->runs[1].after, 0);
    CHECK(batch->runs[0].in_files && batch->runs[1].in_files);
    batch_free(batch);
    char *path = text_format("%s/%s.writes", folder, runs[0].identity);
    FILE *file = fopen(path, "w");
    fclose(file);
    batch = batch_of(runs, 4, store, folder);
    REQUIRE(batch->count == 1); /* the file is there */
    CHECK_TEXT(batch->runs[0].identity, "0002");
    CHECK_EQ(batch->runs[0].after, -1);
    batch_free(batch);
    free(path);
    store_close(store);
    discard(folder);
}

TEST("the expected time is the mean of stored runs of the workload, or a guess by its size") {
    char *folder = temporary();
    struct store *store = store_in(folder);
    put(store, "000000000000000000000000000000a1", "mm:tiny", 3);
    put(store, "000000000000000000000000000000a2", "mm:tiny", 5);
    static const struct {
        const char *job;
        double seconds;
        bool guessed;
    } rows[] = {{"mm:tiny", 4, false}, {"mm:tiny", 4, false},  {"va:tiny", 0.2, true}, {"va:small", 2, true},
                {"va", 300, true},     {"synth:alu", 2, true}, {"synth:alu", 2, true}, {"mm:tiny", 4, false}};
    struct planned_run runs[COUNT_OF(rows)];
    for (unsigned i = 0; i < COUNT_OF(rows); i++) runs[i] = planned(i + 1, 0, rows[i].job, -1);
    struct batch *batch = batch_of(runs, COUNT_OF(rows), store, folder);
    REQUIRE(batch->count == COUNT_OF(rows));
    double sum = 0;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        CHECK_EQ(batch->runs[i].expected_seconds, rows[i].seconds);
        CHECK_EQ(batch->runs[i].guessed, rows[i].guessed);
        sum += rows[i].seconds;
    }
    CHECK_NEAR(batch_expected_seconds(batch, 1), sum, 1e-12);
    batch->runs[4].state = BATCH_DONE, batch->runs[0].state = BATCH_RUNNING, batch->runs[2].state = BATCH_FAILED;
    CHECK_NEAR(batch_expected_seconds(batch, 1), sum - 300 - 4 - 0.2, 1e-12);
    batch->runs[3].expected_seconds = 6;
    CHECK_NEAR(batch_expected_seconds(batch, 2), (sum - 300 - 4 - 0.2 + 4) / 2, 1e-12);
    CHECK_NEAR(batch_expected_seconds(batch, 100), 6, 1e-12); /* the longest */
    batch_free(batch);
    store_close(store);
    discard(folder);
}

TEST("a run can use a recorded stream if it executes all of one program that is not generated") {
    struct planned_run runs[] = {planned(1, 0, "mm:tiny", -1), planned(2, 0, "synth:alu", -1),
                                 planned(3, 0, "mm:tiny + va:tiny", -1), planned(4, 0, "mm:tiny", -1)};
    runs[3].max_insts = 1;
    struct batch *batch = batch_of(runs, 4, NULL, "/nowhere");
    CHECK(batch->runs[0].whole);
    CHECK(!batch->runs[1].whole && !batch->runs[2].whole && !batch->runs[3].whole);
    CHECK_EQ(batch->stored, 0u);
    batch_free(batch);
}

TEST("a title has the candidate, and a command line an option for each sampled counter") {
    designs[2].best.values = (void *)best_values;
    struct planned_run runs[] = {planned(1, 2, "mm:tiny", -1)};
    runs[0].candidate = 1;
    runs[0].sample_cycles = 100;
    runs[0].sample_units = "l1.read_hits llc.fills";
    struct batch *batch = batch_of(runs, 1, NULL, "/nowhere");
    CHECK_EQ(batch->runs[0].title, "mm:tiny, best, noc.channel_bytes=16");
    static const char *const words[] = {
        "--gpu", "g", "--sample", "100", "--sample-units", "l1.read_hits", "--sample-units", "llc.fills"};
    REQUIRE(batch->runs[0].word_count == COUNT_OF(words));
    for (unsigned i = 0; i < COUNT_OF(words); i++) CHECK_EQ(batch->runs[0].words[i], words[i]);
    batch_free(batch);
}

TEST("descriptions are absolute paths for runs in the directory of files, and unchanged for others") {
    char *folder = temporary(), *path = text_format("%s/mine.yaml", folder),
         *dotted = text_format("%s/./mine.yaml", folder);
    FILE *file = fopen(path, "w");
    fclose(file);
    struct planned_run runs[] = {planned(1, 0, "mm:tiny", -1), planned(2, 1, "mm:tiny", 0),
                                 planned(3, 0, "va:tiny", -1)};
    for (unsigned i = 0; i < 3; i++) runs[i].gpu = dotted, runs[i].base = "private";
    struct batch *batch = batch_of(runs, 3, NULL, folder);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(batch->runs[i].words[1], i < 2 ? path : dotted);
        CHECK_EQ(batch->runs[i].words[2], "--design");
        CHECK_EQ(batch->runs[i].words[3], "private");
    }
    batch_free(batch);
    free(path), free(dotted);
    discard(folder);
}

TEST("a work directory is made with its parts, and removed when they are empty") {
    char *folder = temporary(), *path = text_format("%s/store", folder), *work = text_format("%s.work", path);
    struct intake intake;
    struct error err = {0};
    CHECK(intake_open(&intake, path, false, &err));
    CHECK(access(work, F_OK) != 0);
    intake_close(&intake);
    CHECK(intake_open(&intake, path, true, &err));
    CHECK(access(intake.local, W_OK) == 0 && access(intake.slurm, W_OK) == 0 && access(intake.files, W_OK) == 0);
    char *kept = text_format("%s/x", intake.files), *files = mem_text(intake.files);
    FILE *file = fopen(kept, "w");
    fclose(file);
    intake_close(&intake);
    CHECK(access(files, F_OK) == 0 && access(kept, F_OK) == 0);
    CHECK(intake_open(&intake, path, true, &err));
    intake_forget_files(&intake);
    CHECK(access(kept, F_OK) != 0);
    intake_close(&intake);
    CHECK(access(work, F_OK) != 0);
    CHECK(!intake_open(&intake, "/nowhere/at/all", true, &err));
    CHECK_TEXT(err.text, "/nowhere/at/all.work: No such file or directory");
    free(kept), free(files), free(path), free(work);
    discard(folder);
}

/* Writes a file into a directory. */
static void leave(const char *folder, const char *name, const char *text) {
    char *path = text_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static bool is_left(const char *folder, const char *name) {
    char *path = text_format("%s/%s", folder, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

TEST(
    "results and errors left in a work directory are imported, an unusable result as a failure; other files are swept") {
#define ONE   "00000000000000000000000000000001"
#define TWO   "00000000000000000000000000000002"
#define THREE "00000000000000000000000000000003"
#define RUN(check, interrupted) \
    "{\"sluice\": \"0\", \"gpu\": \"g\", \"design\": \"d\", \"workload\": \"w\", \"check\": \"" check \
    "\", \"interrupted\": " interrupted ", \"cycles\": 1, \"config\": {}}"
    char *folder = temporary(), *parts = text_format("%s/parts", folder);
    struct store *store = store_in(folder);
    REQUIRE(system(NULL));
    char *make = text_format("mkdir '%s'", parts);
    CHECK_EQ(system(make), 0);
    free(make);
    leave(parts, ONE ".json", RUN("none", "false"));
    leave(parts, TWO ".json", RUN("failed", "false"));
    leave(parts, THREE ".failed", "mm, one\nit is bad");
    leave(parts, ONE ".failed", "mm, one\nat the first attempt");
    leave(parts, ONE ".json.tmp", "{");
    leave(parts, "0001.json", "{}");
    leave(parts, ".hidden", "");
    CHECK_EQ(intake_waiting(parts), 2u);
    uint64_t taken = 5;
    struct error err = {0};
    CHECK(intake_take_all(store, parts, &taken, &err));
    CHECK_EQ(taken, 7u);
    CHECK(store_has(store, ONE) && !store_has_failure(store, ONE));
    CHECK(!store_has(store, TWO) && store_has_failure(store, TWO));
    CHECK(store_has_failure(store, THREE));
    CHECK_EQ(intake_waiting(parts), 0u);
    CHECK(!is_left(parts, ONE ".failed") && !is_left(parts, THREE ".failed"));
    CHECK(is_left(parts, ONE ".json.tmp") && is_left(parts, "0001.json"));
    leave(parts, TWO ".json", RUN("none", "false"));
    intake_sweep(parts);
    CHECK(!is_left(parts, ONE ".json.tmp") && !is_left(parts, "0001.json"));
    CHECK(is_left(parts, TWO ".json") && is_left(parts, ".hidden"));
    CHECK_EQ(intake_waiting("/nowhere"), 0u);
    free(parts);
    store_close(store);
    discard(folder);
}
