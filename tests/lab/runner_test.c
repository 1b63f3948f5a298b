/* Batches and the runner, with a script instead of the program: processes, their order and arguments, and the
 * handling of their results. */
#include "lab/runner.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/no_memory.h"
#include "lab/slurm.h"
#include "test.h"

/* Logs its arguments, writes the file of `writes=` and its result. Jobs with these words in their names end otherwise:
 * bad with an error, mute with an error but no message, shot by a signal, slow not at all. half and counts report their
 * progress. */
static const char script[] =
    "#!/bin/sh\n"
    "echo \"$*\" >>\"$(dirname \"$0\")/log\"\n"
    "case \"$*\" in *half*) echo 0.5 1000 0 0 -1 -1 -1 >/proc/$$/fd/3 ;;\n"
    "*counts*) echo -1 1000 0 0 -1 -1 -1 >/proc/$$/fd/3 ;; esac\n"
    "case \"$*\" in *slow*) exec sleep 100 ;; *bad*) echo 'sluice: warning: it looks bad' >&2\n"
    "echo 'sluice: it is bad' >&2; exit 1 ;;\n"
    "*shot*) kill -KILL $$ ;; *mute*) exit 3 ;; esac\n"
    "for word; do case $word in writes=*) echo written >\"${word#writes=}\" ;;\n"
    "reads=*) cat \"${word#reads=}\" >/dev/null || exit 1 ;; esac; done\n"
    "for last; do :; done\n"
    "echo '{}' >\"$last\"\n";

struct runner_fixture {
    char *folder, *program, *log;
    struct runner_options options;
};

static void runner_fixture_init(struct runner_fixture *fixture) {
    fixture->folder = mem_text("/tmp/sluice-runner-XXXXXX");
    REQUIRE(mkdtemp(fixture->folder));
    fixture->program = text_format("%s/program", fixture->folder);
    fixture->log = text_format("%s/log", fixture->folder);
    FILE *file = fopen(fixture->program, "w");
    fputs(script, file);
    fclose(file);
    chmod(fixture->program, 0755);
    fixture->options = (struct runner_options){
        .program = fixture->program, .results = fixture->folder, .files = fixture->folder, .processes = 2};
}

static void runner_fixture_release(struct runner_fixture *fixture) {
    struct dirent **entries;
    int count = scandir(fixture->folder, &entries, NULL, NULL);
    for (int i = 0; i < count; free(entries[i++])) {
        char *path = text_format("%s/%s", fixture->folder, entries[i]->d_name);
        unlink(path);
        free(path);
    }
    free(entries);
    rmdir(fixture->folder);
    free(fixture->folder);
    free(fixture->program);
    free(fixture->log);
}

/* Lines of the log that hold `part`; -1 if they do not come before every line that holds `later`. */
static int called(const struct runner_fixture *fixture, const char *part, const char *later) {
    char line[1024];
    int count = 0;
    bool seen = false;
    FILE *log = fopen(fixture->log, "r");
    while (log && fgets(line, sizeof line, log)) {
        seen = seen || (later && strstr(line, later));
        if (strstr(line, part) && !(later && strstr(line, later))) count = seen ? -1 : count + 1;
    }
    if (log) fclose(log);
    return count;
}

/* An experiment with two designs; the second may read a file that the first writes. */
static struct lab_design designs[] = {
    {.name = "one", .uses = -1},
    {.name = "two", .uses = 0, .uses_writes = "writes", .uses_reads = "reads"},
};
static const struct experiment experiment = {.name = "x", .designs = designs, .design_count = 2};

static struct planned_run planned(unsigned number, unsigned design, const char *job, int after) {
    struct planned_run run = {.design = design, .candidate = -1, .after = after, .gpu = "g", .job = job};
    snprintf(run.identity, sizeof run.identity, "%032x", number);
    return run;
}

static struct batch *batch_of(struct planned_run *runs, unsigned count, const struct runner_fixture *fixture) {
    struct plan plan = {.experiment = &experiment, .runs = runs, .count = count};
    const struct plan *plans[] = {&plan};
    return batch_create(plans, 1, NULL, fixture->folder);
}

TEST("runs each identity once, with the arguments of its first cell") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct lab_setting setting = {.key = "a.b", .value = "[1, 2]"};
    struct planned_run runs[] = {planned(1, 0, "mm:tiny", -1), planned(2, 0, "va:tiny + mm:tiny", -1),
                                 planned(1, 1, "mm:tiny", -1)};
    runs[0].settings = (struct lab_settings){&setting, 1};
    runs[0].base = "d";
    runs[1].max_insts = 7, runs[1].sample_cycles = 8;
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    CHECK_EQ(batch->asked, 3u);
    CHECK_EQ(batch->distinct, 2u);
    CHECK_EQ(batch->count, 2u);
    CHECK_EQ(batch->runs[0].title, "mm:tiny, one");
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "run mm:tiny --gpu g --design d --set a.b=[1, 2] --json", NULL), 1);
    CHECK_EQ(called(&fixture, "run va:tiny + mm:tiny --gpu g --max-insts 7 --sample 8 --json", NULL), 1);
    CHECK_EQ(called(&fixture, "", NULL), 2);
    CHECK(batch->runs[0].state == BATCH_DONE && batch->runs[1].state == BATCH_DONE);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("records a job with many runs once, before them, and removes the recording after the last") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[9];
    for (unsigned i = 0; i < 3; i++) {
        runs[i] = planned(i, 0, "mm:tiny", -1);
        runs[3 + i] = planned(3 + i, 0, "synth:alu", -1);
        runs[6 + i] = planned(6 + i, 0, i < 2 ? "va:tiny" : "mm:tiny", -1);
    }
    runs[8].max_insts = 5; /* does not need all of the stream */
    struct batch *batch = batch_of(runs, 9, &fixture);
    struct error err = {0};
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "record mm:tiny -o ", "run --trace"), 1);
    CHECK_EQ(called(&fixture, "record", NULL), 1);
    CHECK_EQ(called(&fixture, "run --trace", NULL), 3);
    CHECK_EQ(called(&fixture, "run synth:alu", NULL), 3);
    CHECK_EQ(called(&fixture, "run va:tiny", NULL), 2);
    CHECK_EQ(called(&fixture, "run mm:tiny --gpu g --max-insts", NULL), 1);
    struct dirent **entries;
    int count = scandir(fixture.folder, &entries, NULL, NULL);
    CHECK_EQ(count, 2 + 2 + 9); /* . and .., program and log, results: no stream */
    for (int i = 0; i < count; free(entries[i++])) {
    }
    free(entries);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("a run that reads the file of another starts after it") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(2, 1, "mm:tiny", 1), planned(1, 0, "mm:tiny", -1)};
    struct batch *batch = batch_of(runs, 2, &fixture);
    struct error err = {0};
    CHECK_EQ(batch->runs[0].after, 1);
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK(batch->runs[0].state == BATCH_DONE && batch->runs[1].state == BATCH_DONE);
    CHECK_EQ(called(&fixture, "--set writes=00000000000000000000000000000001.writes", "--set reads="), 1);
    CHECK_EQ(called(&fixture, "--set reads=00000000000000000000000000000001.writes", NULL), 1);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("a failed run is stored with its error, a run that depends on it fails, and the others continue") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "bad:tiny", -1), planned(2, 1, "bad2:tiny", 0),
                                 planned(3, 0, "va:tiny", -1)};
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK(batch->runs[0].state == BATCH_FAILED && batch->runs[1].state == BATCH_FAILED);
    CHECK_EQ(batch->runs[0].why, "it is bad");
    CHECK_TEXT(batch->runs[1].why, "it requires the output of bad:tiny, one, which failed");
    CHECK(batch->runs[2].state == BATCH_DONE);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("a process that a signal ended, or that failed without a message, is a failed run with that reason") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "shot:tiny", -1), planned(2, 0, "mute:tiny", -1),
                                 planned(3, 0, "va:tiny", -1)};
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK(batch->runs[0].state == BATCH_FAILED);
    CHECK(batch->runs[1].state == BATCH_FAILED);
    CHECK(batch->runs[2].state == BATCH_DONE);
    CHECK_EQ(batch->runs[0].why, "killed by a signal (Killed)");
    CHECK_EQ(batch->runs[1].why, "exit status 3");
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("if the recording of a stream fails, each of its runs executes the program") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[4];
    for (unsigned i = 0; i < 3; i++) runs[i] = planned(i, 0, "shot:tiny", -1);
    runs[3] = planned(3, 0, "va:tiny", -1);
    struct batch *batch = batch_of(runs, 4, &fixture);
    struct error err = {0};
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "record shot:tiny -o ", "run shot:tiny --gpu g"), 1);
    CHECK_EQ(called(&fixture, "run shot:tiny --gpu g", NULL), 3);
    CHECK_EQ(called(&fixture, "run --trace", NULL), 0);
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(batch->runs[i].state, i < 3 ? BATCH_FAILED : BATCH_DONE);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

static bool stop(void *user, const struct runner_progress *progress) {
    (void)user;
    return progress->running < 2;
}

TEST("stopping kills the processes, and their runs stay waiting") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "slow:1", -1), planned(2, 0, "slow:2", -1), planned(3, 0, "slow:3", -1)};
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    fixture.options.step = stop;
    CHECK(runner_run(batch, &fixture.options, &err));
    for (unsigned i = 0; i < 3; i++) CHECK(batch->runs[i].state == BATCH_WAITING);
    CHECK_EQ(called(&fixture, "slow:3", NULL), 0);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

/* The estimates of the remaining time while the only run is executed, first and last. */
struct estimates {
    double first, last, below;
    unsigned steps;
};

/* Ends the batch when the estimate has fallen below the limit, or after ten seconds; without a limit after two. */
static bool estimate(void *user, const struct runner_progress *progress) {
    struct estimates *estimates = user;
    if (!progress->running) return true;
    if (estimates->first == 0) estimates->first = progress->left_seconds;
    CHECK(progress->left_seconds > 0 && (estimates->below == 0 || progress->left_seconds <= estimates->first));
    CHECK(progress->share >= 0 && progress->share <= 1);
    estimates->last = progress->left_seconds;
    return estimates->last >= estimates->below && ++estimates->steps < (estimates->below > 0 ? 50 : 10);
}

static struct estimates estimate_run(const char *job, double expected, double below, uint64_t instructions) {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, job, -1)};
    struct batch *batch = batch_of(runs, 1, &fixture);
    batch->runs[0].expected_seconds = expected;
    batch->runs[0].expected_instructions = instructions;
    struct estimates estimates = {.below = below};
    struct error err = {0};
    fixture.options.processes = 2;
    fixture.options.step = estimate;
    fixture.options.user = &estimates;
    CHECK(runner_run(batch, &fixture.options, &err));
    batch_free(batch);
    runner_fixture_release(&fixture);
    return estimates;
}

TEST("the estimate of the remaining time becomes smaller while a run is executed") {
    struct estimates estimates = estimate_run("slow:1", 100, 99.5, 0);
    CHECK(estimates.first > 95 && estimates.first <= 100); /* a second process does not help */
    CHECK(estimates.last < 99.5);
}

TEST_LONG_SANITIZED("the estimate follows the share that a run reports, or the instructions of earlier runs") {
    struct estimates shares = estimate_run("slow:half", 100000, 50000, 0); /* reports 0.5 1000 */
    CHECK(shares.first > 50000 && shares.last < 50000);
    struct estimates instructions = estimate_run("slow:counts", 100000, 50000, 2000); /* reports -1 1000 */
    CHECK(instructions.first > 50000 && instructions.last < 50000);
    struct estimates neither = estimate_run("slow:counts", 100000, 99999, 0);
    CHECK(neither.last > 99000);
}

TEST("a run that takes longer than expected has time left") {
    struct estimates estimates = estimate_run("slow:1", 0.001, 0, 0);
    CHECK(estimates.steps > 5 && estimates.last > 0);
}

TEST("runs of a program whose time was guessed are expected to take as long as the first one") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "mm:large", -1), planned(2, 0, "mm:large", -1),
                                 planned(3, 0, "bad:large", -1)};
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    for (unsigned i = 0; i < 3; i++) CHECK(batch->runs[i].guessed);
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK(!batch->runs[0].guessed && !batch->runs[1].guessed && batch->runs[2].guessed);
    CHECK(batch->runs[0].expected_seconds < 300 || batch->runs[1].expected_seconds < 300);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

static bool no_room(void *user, const struct batch_run *run, const char *path, struct error *err) {
    (void)user, (void)run, (void)path;
    return error_set(err, "no space");
}

TEST("a result that cannot be stored ends the batch, and its file stays") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "mm:tiny", -1), planned(2, 0, "slow:1", -1)};
    struct batch *batch = batch_of(runs, 2, &fixture);
    struct error err = {0};
    fixture.options.take = no_room;
    CHECK(!runner_run(batch, &fixture.options, &err));
    CHECK_EQ(err.text, "no space");
    CHECK(batch->runs[0].state == BATCH_WAITING && batch->runs[1].state == BATCH_WAITING);
    char *path = text_format("%s/%032x.json", fixture.folder, 1);
    CHECK(access(path, R_OK) == 0);
    free(path);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("a task file preserves a run, and a damaged line is rejected") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "a:tiny + b:tiny", -1)};
    struct batch *batch = batch_of(runs, 1, &fixture);
    char *line = NULL, *again = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    batch_run_write(out, &batch->runs[0]);
    fclose(out);
    struct batch_run back;
    char *copy = mem_text(line);
    REQUIRE(batch_run_read(&back, copy));
    out = open_memstream(&again, &size);
    batch_run_write(out, &back);
    fclose(out);
    CHECK_EQ(line, again);
    CHECK_EQ(back.job, "a:tiny + b:tiny");
    CHECK_EQ(back.word_count, 2u);
    batch_run_release(&back);
    copy[5] = '\0';
    CHECK(!batch_run_read(&back, copy));
    line[3] = 'x';
    CHECK(!batch_run_read(&back, line));
    free(copy), free(line), free(again);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("rejects the task file of another version, other files and an unknown task") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct error err[4] = {0};
    char *good = text_format("sluice tasks %s\ntask 0\n", identity_model());
    const char *const content[] = {"sluice tasks 123\n", "some text\n", good};
    const char *const why[] = {"another version of sluice", "not a task file", "no task 5"};
    for (int i = 0; i < 3; i++) {
        FILE *file = fopen(fixture.log, "w");
        fputs(content[i], file);
        fclose(file);
        CHECK(!slurm_task(fixture.log, 5, &err[i]));
        CHECK_TEXT(err[i].text, why[i]);
    }
    CHECK(!slurm_task("/nowhere/at.all", 0, &err[3]));
    CHECK_TEXT(err[3].text, "No such file");
    free(good);
    runner_fixture_release(&fixture);
}

TEST("a submission without memory for its tasks is an error and leaves no file") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct planned_run runs[] = {planned(1, 0, "mm:tiny", -1)};
    struct batch *batch = batch_of(runs, 1, &fixture);
    struct intake intake = {.slurm = fixture.folder};
    struct slurm_options options = {.program = "sluice"};
    struct error err = {0};
    unsigned tasks;
    char jobs[32], *path = text_format("%s/1.tasks", fixture.folder);
    no_memory_for_files = true;
    CHECK(!slurm_submit(&intake, batch, &options, &tasks, jobs, sizeof jobs, &err));
    CHECK_TEXT(err.text, "Cannot allocate memory");
    CHECK(access(path, F_OK) != 0);
    free(path);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("a trace is recorded and run by its path, and its run fails if the file has changed") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct program_file file = {.option = "--trace", .path = (char *)"/no/a.g", .workload = (char *)"a", .sass = true};
    struct planned_run runs[3];
    for (unsigned i = 0; i < 3; i++) runs[i] = planned(i, 0, "a", -1), runs[i].file = &file;
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "record --trace /no/a.g -o ", NULL), 1);
    CHECK_EQ(called(&fixture, "run --trace", NULL), 3);
    for (unsigned i = 0; i < 3; i++) CHECK_TEXT(batch->runs[i].why, "changed after the command started");
    batch_free(batch);
    batch = batch_of(runs, 2, &fixture);
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "run --trace /no/a.g --gpu g", NULL), 2);
    batch_free(batch);
    runner_fixture_release(&fixture);
}

TEST("a launch file is recorded and run by its path, and its run fails if the file has changed") {
    struct runner_fixture fixture;
    runner_fixture_init(&fixture);
    struct program_file file = {.option = "--launch", .path = (char *)"/no/a.yaml", .workload = (char *)"a"};
    struct planned_run runs[3];
    for (unsigned i = 0; i < 3; i++) runs[i] = planned(i, 0, "a", -1), runs[i].file = &file;
    struct batch *batch = batch_of(runs, 3, &fixture);
    struct error err = {0};
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "record --launch /no/a.yaml -o ", "run --trace"), 1);
    CHECK_EQ(called(&fixture, "run --trace", NULL), 3);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(batch->runs[i].state, BATCH_FAILED);
        CHECK_TEXT(batch->runs[i].why, "changed after the command started");
    }
    batch_free(batch);
    batch = batch_of(runs, 2, &fixture);
    CHECK(runner_run(batch, &fixture.options, &err));
    CHECK_EQ(called(&fixture, "run --launch /no/a.yaml --gpu g --no-dump", NULL), 2);
    batch_free(batch);
    runner_fixture_release(&fixture);
}
