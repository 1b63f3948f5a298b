/* Submissions to a cluster, with scripts in place of Slurm's commands: task files, states of tasks, gathering. */
#include "lab/slurm.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "test.h"

/* A work directory, and a directory of commands: sbatch logs its arguments and prints a number from `number`, squeue
 * prints `states`; the exit status of both is in `status`. */
struct cluster {
    char *folder;
    struct intake intake;
    struct store *store;
};

static void write_file(const struct cluster *cluster, const char *name, const char *text) {
    char *path = text_format("%s/%s", cluster->folder, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0755);
    free(path);
}

static char *read_file(const struct cluster *cluster, const char *name) {
    struct error err = {0};
    size_t length;
    char *path = text_format("%s/%s", cluster->folder, name), *text = intake_read(path, &length, &err);
    free(path);
    return text ? text : mem_text("(no file)");
}

static bool has_file(const struct cluster *cluster, const char *name) {
    char *path = text_format("%s/%s", cluster->folder, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static void cluster_init(struct cluster *cluster) {
    struct error err = {0};
    cluster->folder = mem_text("/tmp/sluice-slurm-XXXXXX");
    REQUIRE(mkdtemp(cluster->folder));
    write_file(cluster, "sbatch",
               "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nfor word; do echo \"$word\"; done >arguments\n"
               "cat number\nexit \"$(cat status)\"\n");
    write_file(cluster, "squeue",
               "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$*\" >>asked\ncat states\nexit \"$(cat status)\"\n");
    write_file(cluster, "number", "4711;cluster\n");
    write_file(cluster, "states", "");
    write_file(cluster, "status", "0");
    char *path = text_format("%s:%s", cluster->folder, getenv("PATH")), *store = text_format("%s/s", cluster->folder);
    setenv("PATH", path, 1);
    cluster->store = store_open(store, STORE_WRITE, &err);
    REQUIRE(cluster->store);
    REQUIRE(intake_open(&cluster->intake, store, true, &err));
    free(path);
    free(store);
}

static void cluster_release(struct cluster *cluster) {
    store_close(cluster->store);
    intake_close(&cluster->intake);
    char *command = text_format("rm -rf '%s'", cluster->folder);
    CHECK_EQ(system(command), 0);
    free(command);
    free(cluster->folder);
}

static struct lab_design designs[] = {
    {.name = "one", .uses = -1},
    {.name = "two", .uses = 0, .uses_writes = "writes", .uses_reads = "reads"},
};
static const struct experiment experiment = {.name = "x", .designs = designs, .design_count = 2};

static struct batch *batch_of(struct planned_run *runs, unsigned count, const struct cluster *cluster) {
    struct plan plan = {.experiment = &experiment, .runs = runs, .count = count};
    const struct plan *plans[] = {&plan};
    return batch_create(plans, 1, cluster->store, cluster->intake.files);
}

static struct planned_run planned(unsigned number, unsigned design, int after) {
    struct planned_run run = {.design = design, .candidate = -1, .after = after, .gpu = "g", .job = "mm:tiny"};
    snprintf(run.identity, sizeof run.identity, "%032x", number);
    return run;
}

/* A batch of `count` runs, from 1 on, that do not depend on each other. */
static struct batch *batch_of_many(unsigned count, const struct cluster *cluster) {
    struct planned_run *runs = mem_alloc(count, sizeof *runs);
    for (unsigned i = 0; i < count; i++) runs[i] = planned(i + 1, 0, -1);
    struct batch *batch = batch_of(runs, count, cluster);
    free(runs);
    return batch;
}

static unsigned submitted(struct cluster *cluster, struct batch *batch, const struct slurm_options *options,
                          char jobs[64]) {
    struct error err = {0};
    unsigned tasks;
    bool good = slurm_submit(&cluster->intake, batch, options, &tasks, jobs, 64, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(good);
    return tasks;
}

TEST("a submission is a job array with the given limits, and a task runs its lines of the task file") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = batch_of_many(5, &cluster);
    batch->runs[1].state = BATCH_RUNNING; /* already in the queue */
    char jobs[64];
    struct slurm_options options = {
        .program = "/x/sluice", .partition = "p", .time = "5", .memory_mb = 100, .runs_per_task = 2};
    CHECK_EQ(submitted(&cluster, batch, &options, jobs), 2u);
    CHECK_EQ((const char *)jobs, "4711");
    char *arguments = read_file(&cluster, "arguments");
    char *expected = text_format("--parsable\n--job-name=sluice\n--requeue\n--array=0-1\n--output=%s/1-%%a.log\n"
                                 "--partition=p\n--time=5\n--mem=100M\n%s/1.sh\n",
                                 cluster.intake.slurm, cluster.intake.slurm);
    CHECK_EQ(arguments, expected);
    char *script = read_file(&cluster, "s.work/slurm/1.sh"), *job = read_file(&cluster, "s.work/slurm/1.job");
    CHECK_TEXT(script, "exec '/x/sluice' lab task '");
    CHECK_TEXT(script, "/1.tasks' \"$SLURM_ARRAY_TASK_ID\"");
    CHECK_EQ(job, "4711");
    char *tasks = text_format("%s/1.tasks", cluster.intake.slurm);
    static const unsigned numbers[2][2] = {{1, 3}, {4, 5}};
    for (unsigned t = 0; t < 2; t++) {
        struct error err = {0};
        struct batch *task = slurm_task(tasks, t, &err);
        REQUIRE(task && task->count == 2);
        for (unsigned i = 0; i < 2; i++) {
            char identity[40];
            snprintf(identity, sizeof identity, "%032x", numbers[t][i]);
            CHECK_EQ((const char *)task->runs[i].identity, (const char *)identity);
            CHECK_EQ(task->runs[i].after, -1);
        }
        batch_free(task);
    }
    free(arguments), free(expected), free(script), free(job), free(tasks);
    batch_free(batch);
    cluster_release(&cluster);
}

TEST("without limits, sbatch gets its defaults, and a task takes the runs of five minutes") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = batch_of_many(6, &cluster);
    static const double seconds[] = {100, 200, 1, 299, 400, 10};
    for (unsigned i = 0; i < 6; i++) batch->runs[i].expected_seconds = seconds[i];
    char jobs[64];
    /* 300 s, 300 s, 400 s, 10 s */
    CHECK_EQ(submitted(&cluster, batch, &(struct slurm_options){.program = "s"}, jobs), 4u);
    char *arguments = read_file(&cluster, "arguments");
    CHECK_TEXT(arguments, "--array=0-3\n");
    CHECK(!strstr(arguments, "--partition") && !strstr(arguments, "--time") && !strstr(arguments, "--mem"));
    free(arguments);
    batch_free(batch);
    cluster_release(&cluster);
}

TEST("a run that reads the file of another is in its task, behind it, in every task that needs the file") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct planned_run runs[] = {planned(1, 0, -1), planned(2, 1, 0), planned(3, 1, 0), planned(4, 0, -1)};
    struct batch *batch = batch_of(runs, 4, &cluster);
    REQUIRE(batch->count == 4);
    char jobs[64];
    CHECK_EQ(submitted(&cluster, batch, &(struct slurm_options){.program = "s", .runs_per_task = 2}, jobs), 2u);
    char *tasks = text_format("%s/1.tasks", cluster.intake.slurm);
    struct error err = {0};
    struct batch *first = slurm_task(tasks, 0, &err), *second = slurm_task(tasks, 1, &err);
    REQUIRE(first && first->count == 2 && second && second->count == 3);
    CHECK_EQ(first->runs[0].after, -1);
    CHECK_EQ(first->runs[1].after, 0);
    CHECK_TEXT(second->runs[0].identity, "0001"); /* again */
    CHECK_TEXT(second->runs[1].identity, "0003");
    CHECK_EQ(second->runs[1].after, 0);
    CHECK_EQ(second->runs[2].after, -1);
    CHECK(has_file(&cluster, "s.work/files"));
    batch_free(first);
    batch_free(second);
    free(tasks);
    batch_free(batch);
    cluster_release(&cluster);
}

TEST("more than a thousand tasks are several arrays") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = batch_of_many(1001, &cluster);
    char jobs[64];
    CHECK_EQ(submitted(&cluster, batch, &(struct slurm_options){.program = "s", .runs_per_task = 1}, jobs), 1001u);
    CHECK_EQ((const char *)jobs, "4711, 4711");
    char *arguments = read_file(&cluster, "arguments");
    CHECK_TEXT(arguments, "--array=0-0\n");
    CHECK(has_file(&cluster, "s.work/slurm/1.tasks") && has_file(&cluster, "s.work/slurm/2.tasks"));
    free(arguments);
    batch_free(batch);
    cluster_release(&cluster);
}

TEST("the error of sbatch is reported, and no file is left") {
    static const struct {
        const char *output, *status, *says;
    } cases[] = {
        {"sbatch: error: Invalid partition\nsbatch: error: Batch job\n", "1", "sbatch: Invalid partition"},
        {"", "1", "sbatch: failed without a message"},
        {"", "127", "sbatch is not in the PATH"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct cluster cluster;
        cluster_init(&cluster);
        write_file(&cluster, "number", cases[i].output);
        write_file(&cluster, "status", cases[i].status);
        struct batch *batch = batch_of_many(2, &cluster);
        struct error err = {0};
        unsigned tasks;
        char jobs[64];
        CHECK(!slurm_submit(&cluster.intake, batch, &(struct slurm_options){.program = "s"}, &tasks, jobs, 64, &err));
        CHECK_TEXT(err.text, cases[i].says);
        CHECK(!has_file(&cluster, "s.work/slurm/1.tasks") && !has_file(&cluster, "s.work/slurm/1.sh"));
        batch_free(batch);
        cluster_release(&cluster);
    }
}

/* A submission of six runs in three tasks. */
static struct batch *submit_three(struct cluster *cluster) {
    struct batch *batch = batch_of_many(6, cluster);
    char jobs[64];
    CHECK_EQ(submitted(cluster, batch, &(struct slurm_options){.program = "s", .runs_per_task = 2}, jobs), 3u);
    return batch;
}

TEST("runs of pending and running tasks are marked; those of ended tasks are not") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = submit_three(&cluster);
    write_file(&cluster, "states", "0 RUNNING\n1 PENDING\n2 COMPLETED\n7 RUNNING\nnothing\n");
    struct slurm_queue queue;
    struct error err = {0};
    CHECK(slurm_look(&cluster.intake, batch, &queue, &err));
    CHECK_EQ(queue.jobs, 1u);
    CHECK_EQ(queue.running, 1u);
    CHECK_EQ(queue.waiting, 1u);
    CHECK_EQ(queue.runs, 4u);
    for (unsigned i = 0; i < 6; i++) CHECK_EQ(batch->runs[i].state, i < 4 ? BATCH_RUNNING : BATCH_WAITING);
    char *asked = read_file(&cluster, "asked");
    CHECK_EQ(asked, "-h -r -t all -j 4711 -o %K %T\n");
    free(asked);
    static const char *const over[] = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE", "FAILED",
                                       "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "REVOKED",  "TIMEOUT"};
    for (unsigned i = 0; i < COUNT_OF(over); i++) {
        char *states = text_format("0 %s\n1 %s\n2 %s\n", over[i], over[i], over[i]);
        write_file(&cluster, "states", states);
        free(states);
        CHECK(slurm_look(&cluster.intake, NULL, &queue, &err));
        CHECK_EQ(queue.jobs + queue.running + queue.waiting + queue.runs, 0u);
    }
    static const char *const running[] = {"COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED"};
    for (unsigned i = 0; i < COUNT_OF(running); i++) {
        char *states = text_format("1 %s\n", running[i]);
        write_file(&cluster, "states", states);
        free(states);
        CHECK(slurm_look(&cluster.intake, NULL, &queue, &err));
        CHECK_EQ(queue.running, 1u);
    }
    batch_free(batch);
    cluster_release(&cluster);
}

TEST("a job that Slurm does not know has ended; if squeue fails otherwise, that is an error") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = submit_three(&cluster);
    struct slurm_queue queue;
    struct error err = {0};
    write_file(&cluster, "status", "1");
    write_file(&cluster, "states", "slurm_load_jobs error: Invalid job id specified\n");
    CHECK(slurm_look(&cluster.intake, batch, &queue, &err));
    CHECK_EQ(queue.runs, 0u);
    write_file(&cluster, "states", "slurm_load_jobs error: Unable to contact slurm controller\n");
    CHECK(!slurm_look(&cluster.intake, batch, &queue, &err));
    CHECK_TEXT(err.text, "squeue: Unable to contact slurm controller");
    write_file(&cluster, "status", "127");
    struct error missing = {0};
    CHECK(!slurm_look(&cluster.intake, batch, &queue, &missing));
    CHECK_TEXT(missing.text, "squeue is not in the PATH");
    batch_free(batch);
    cluster_release(&cluster);
}

static const char result[] = "{\"sluice\": \"0\", \"gpu\": \"g\", \"design\": \"d\", \"workload\": \"mm:tiny\","
                             " \"check\": \"none\", \"interrupted\": false, \"cycles\": 1, \"config\": {}}";

TEST("gathering imports results and errors, and reports runs whose task ended without either") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = submit_three(&cluster);
    char name[80];
    snprintf(name, sizeof name, "s.work/slurm/%032x.json", 1);
    write_file(&cluster, name, result);
    struct error err = {0};
    batch->runs[1].why = mem_text("it is bad");
    CHECK(slurm_task_failed(cluster.intake.slurm, &batch->runs[1], &err));
    write_file(&cluster, "states", "0 COMPLETED\n1 TIMEOUT\n2 RUNNING\n");
    struct slurm_queue queue;
    uint64_t taken = 0;
    CHECK(slurm_gather(&cluster.intake, cluster.store, &taken, &queue, &err));
    CHECK_EQ((const char *)err.text, "");
    CHECK_EQ(taken, 1u);
    CHECK_EQ(queue.running, 1u);
    CHECK_EQ(queue.runs, 2u);
    CHECK(store_has(cluster.store, batch->runs[0].identity));
    for (unsigned i = 1; i < 6; i++) CHECK_EQ(store_has_failure(cluster.store, batch->runs[i].identity), i < 4);
    CHECK(has_file(&cluster, "s.work/slurm/1.tasks")); /* one task is still running */
    /* The last task leaves the queue without a trace. */
    write_file(&cluster, "s.work/slurm/1-2.log", "");
    write_file(&cluster, "s.work/slurm/draft.tmp", "");
    write_file(&cluster, "states", "");
    CHECK(slurm_gather(&cluster.intake, cluster.store, &taken, &queue, &err));
    CHECK(store_has_failure(cluster.store, batch->runs[4].identity));
    CHECK(!has_file(&cluster, "s.work/slurm/1.tasks") && !has_file(&cluster, "s.work/slurm/1.job"));
    CHECK(!has_file(&cluster, "s.work/slurm/1.sh") && !has_file(&cluster, "s.work/slurm/1-2.log"));
    CHECK(!has_file(&cluster, "s.work/slurm/draft.tmp"));
    batch_free(batch);
    cluster_release(&cluster);
}

struct noted {
    char text[6][200];
    unsigned count;
};

static void note(void *user, const char *identity, const char *what, const char *why) {
    struct noted *noted = user;
    (void)identity;
    snprintf(noted->text[noted->count++ % 6], 200, "%s: %s", what, why);
}

TEST("the reason of a missing result is the state of its task") {
    struct cluster cluster;
    cluster_init(&cluster);
    struct batch *batch = batch_of_many(2, &cluster);
    char jobs[64];
    CHECK_EQ(submitted(&cluster, batch, &(struct slurm_options){.program = "s", .runs_per_task = 1}, jobs), 2u);
    write_file(&cluster, "states", "1 OUT_OF_MEMORY\n");
    struct slurm_queue queue;
    struct error err = {0};
    uint64_t taken = 0;
    CHECK(slurm_gather(&cluster.intake, cluster.store, &taken, &queue, &err));
    CHECK_EQ(taken, 0u);
    struct noted noted = {0};
    store_each_failure(cluster.store, note, &noted);
    REQUIRE(noted.count == 2);
    CHECK_EQ((const char *)noted.text[0], "mm:tiny, one: Slurm task 4711_0 left the queue without a result");
    CHECK_EQ((const char *)noted.text[1], "mm:tiny, one: Slurm task 4711_1 ended as OUT_OF_MEMORY without a result");
    batch_free(batch);
    cluster_release(&cluster);
}

TEST("a task file with a damaged line, or with a run before the one that it reads from, is rejected at its line") {
    struct cluster cluster;
    cluster_init(&cluster);
    static const struct {
        const char *lines, *says;
    } cases[] = {
        {"task 0\nnonsense\n", ":3:1: damaged line"},
        {"task 0\n00000000000000000000000000000001\tmm\tmm, one\t0\t1\t1\n", ":3:1: damaged line"},
        {"task 1\n00000000000000000000000000000001\tmm\tmm, one\t-1\t1\t1\n", "no task 0"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char *text = text_format("sluice tasks %s\n%s", identity_model(), cases[i].lines);
        write_file(&cluster, "s.work/slurm/1.tasks", text);
        char *path = text_format("%s/1.tasks", cluster.intake.slurm);
        struct error err = {0};
        CHECK(!slurm_task(path, 0, &err));
        CHECK_TEXT(err.text, cases[i].says);
        free(text), free(path);
    }
    cluster_release(&cluster);
}
