/* `sluice lab`: experiments into a results store, on this machine or on a cluster, and what is in the store. */
#include "cli/lab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "lab/runner.h"
#include "lab/slurm.h"

struct lab_values {
    const char *store, *size, *csv, *json, *partition, *time;
    uint64_t processes, memory_mb, runs_per_task;
    bool dry_run, slurm, wait;
};

static const struct option options[] = {
    {"--store", "FILE", OPTION_TEXT, offsetof(struct lab_values, store),
     "the results store, an SQLite file (docs/store.md); " DEFAULT_STORE " in the current folder if none is given"},
    {"-j", "N", OPTION_COUNT, offsetof(struct lab_values, processes),
     "run: so many runs at once; one for each processor if it is not given"},
    {"--size", "SIZE", OPTION_TEXT, offsetof(struct lab_values, size),
     "run, status, export: this size of every workload instead of the experiment's"},
    {"--dry-run", NULL, OPTION_FLAG, offsetof(struct lab_values, dry_run),
     "run: only says how many runs there are, how many of them the store has, and about how long the rest will take"},
    {"--slurm", NULL, OPTION_FLAG, offsetof(struct lab_values, slurm),
     "run: submits the runs to a cluster as job arrays instead of making them here"},
    {"--wait", NULL, OPTION_FLAG, offsetof(struct lab_values, wait),
     "run --slurm: stays until the cluster is done, and takes in the results as they come"},
    {"--partition", "NAME", OPTION_TEXT, offsetof(struct lab_values, partition),
     "run --slurm: the partition, if not the experiment's or Slurm's own choice"},
    {"--time", "LIMIT", OPTION_TEXT, offsetof(struct lab_values, time),
     "run --slurm: the time limit of a task as sbatch takes it (minutes, or days-hours:minutes:seconds)"},
    {"--memory", "MB", OPTION_COUNT, offsetof(struct lab_values, memory_mb), "run --slurm: memory of a task"},
    {"--runs-per-task", "N", OPTION_COUNT, offsetof(struct lab_values, runs_per_task),
     "run --slurm: runs that a task makes one after the other; as many as take some minutes if it is not given"},
    {"--csv", "FILE", OPTION_TEXT, offsetof(struct lab_values, csv),
     "export: a row for each run; a column for each counter and for each parameter in which the runs differ; `-` is"
     " standard output"},
    {"--json", "FILE", OPTION_TEXT, offsetof(struct lab_values, json),
     "export: an array with everything about each run; `-` is standard output"},
};

static const char *store_named(const char *given) { return given ? given : DEFAULT_STORE; }

/* Experiments */

/* What the words of a command line ask for. */
struct request {
    struct experiment **experiments;
    struct plan **plans;
    unsigned count;
    const char *size;
};

static void request_free(struct request *request) {
    for (unsigned i = 0; i < request->count; i++) {
        plan_free(request->plans[i]);
        experiment_free(request->experiments[i]);
    }
    free(request->plans);
    free(request->experiments);
}

static bool request_add(struct request *request, const char *word, const char *size, struct error *err) {
    struct experiment *experiment = experiment_open(word, err);
    struct plan *plan = experiment ? plan_create(experiment, size, err) : NULL;
    if (!plan) {
        if (experiment) experiment_free(experiment);
        return false;
    }
    request->experiments = mem_grow(request->experiments, request->count + 1, sizeof(struct experiment *));
    request->plans = mem_grow(request->plans, request->count + 1, sizeof(struct plan *));
    request->experiments[request->count] = experiment;
    request->plans[request->count++] = plan;
    return true;
}

static bool request_read(struct request *request, const char *const *words, unsigned count, const char *size,
                         struct error *err) {
    *request = (struct request){.size = size};
    bool good = true;
    for (unsigned i = 0; i < count && good; i++) good = request_add(request, words[i], size, err);
    if (!good) request_free(request);
    return good;
}

static struct batch *request_batch(const struct request *request, struct store *store, const struct intake *intake) {
    return batch_create((const struct plan *const *)request->plans, request->count, store, intake->files);
}

/* Words */

static const char *duration(double seconds, char *text, size_t size) {
    if (seconds < 90)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
    return text;
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static unsigned count_state(const struct batch *batch, enum batch_state state) {
    unsigned count = 0;
    for (unsigned i = 0; i < batch->count; i++) count += batch->runs[i].state == state;
    return count;
}

static uint64_t processors(uint64_t asked) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return asked ? asked : online > 0 ? (uint64_t)online : 1;
}

/* On this machine */

struct here {
    struct store *store;
    bool shown, drawn; /* on a terminal; now */
    double next;
};

static bool take(void *user, const struct batch_run *run, const char *path, struct error *err) {
    struct here *here = user;
    return intake_take(here->store, run->identity, run->title, path, err);
}

static bool note_failure(void *user, const struct batch_run *run, struct error *err) {
    struct here *here = user;
    return store_put_failure(here->store, run->identity, run->title, run->why, err);
}

static void undraw(struct here *here) {
    if (here->drawn) fputs("\r\x1b[K", stderr);
    here->drawn = false;
}

static bool step(void *user, const struct runner_progress *progress) {
    struct here *here = user;
    char left[32];
    if (signals_caught()) return false;
    if (!here->shown || progress_clock() < here->next) return true;
    here->next = progress_clock() + 0.2;
    fprintf(stderr, "\r%u of %u runs", progress->done, progress->total);
    if (progress->failed) fprintf(stderr, "   %u failed", progress->failed);
    fprintf(stderr, "   %u running   about %s left\x1b[K", progress->running,
            duration(progress->left_seconds, left, sizeof left));
    here->drawn = true;
    return true;
}

static void tell_failures(const struct batch *batch) {
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->runs[i].state == BATCH_FAILED)
            fprintf(stderr, "sluice: %s: %s\n", batch->runs[i].title, batch->runs[i].why);
}

static enum status make_here(struct batch *batch, struct store *store, const struct intake *intake,
                             uint64_t processes) {
    struct here here = {.store = store, .shown = isatty(STDERR_FILENO)};
    struct runner_options runner = {
        .program = "/proc/self/exe", /* this very program, even if another has taken its place meanwhile */
        .results = intake->local,
        .files = intake->files,
        .processes = (unsigned)min_u64(processors(processes), 1024),
        .take = take,
        .failed = note_failure,
        .step = step,
        .user = &here,
    };
    struct error err = {0};
    bool good = runner_run(batch, &runner, &err);
    undraw(&here);
    unsigned made = count_state(batch, BATCH_DONE), failed = count_state(batch, BATCH_FAILED);
    tell_failures(batch);
    printf("%u run%s: %u in %s before, %u made", batch->distinct, plural(batch->distinct), batch->stored,
           store_path(store), made);
    if (failed) printf(", %u failed", failed);
    putchar('\n');
    if (!good) return complain_error(&err), STATUS_FAILED;
    if (made + failed < batch->count) {
        fflush(stdout);
        fprintf(stderr, "sluice: interrupted with %u run%s to go; the same command goes on from here\n",
                batch->count - made - failed, plural(batch->count - made - failed));
        return STATUS_FAILED;
    }
    if (!failed) intake_forget_files(intake);
    return failed ? STATUS_FAILED : STATUS_DONE;
}

/* On a cluster */

static void tell_failure(void *user, const char *identity, const char *what, const char *why) {
    const struct batch *batch = user;
    for (unsigned i = 0; i < batch->count; i++)
        if (strcmp(batch->runs[i].identity, identity) == 0) fprintf(stderr, "sluice: %s: %s\n", what, why);
}

static bool submit(struct batch *batch, struct store *store, const struct intake *intake,
                   const struct lab_values *values, const struct request *request, struct error *err) {
    char program[PATH_MAX] = "", jobs[256];
    struct slurm_options slurm = {.program = program,
                                  .partition = values->partition,
                                  .time = values->time,
                                  .memory_mb = values->memory_mb,
                                  .runs_per_task = values->runs_per_task};
    for (unsigned i = 0; i < request->count; i++) { /* the first experiment that says something has its way */
        const struct experiment *experiment = request->experiments[i];
        if (!slurm.partition) slurm.partition = experiment->slurm_partition;
        if (!slurm.time) slurm.time = experiment->slurm_time;
        if (!slurm.memory_mb) slurm.memory_mb = experiment->slurm_memory_mb;
    }
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return error_set(err, "/proc is not mounted");
    unsigned waiting = count_state(batch, BATCH_WAITING), tasks;
    bool good = slurm_submit(intake, batch, &slurm, &tasks, jobs, sizeof jobs, err);
    if (tasks)
        printf("submitted %u run%s in %u task%s: job %s\n", waiting, plural(waiting), tasks, plural(tasks), jobs);
    for (unsigned i = 0; good && i < batch->count; i++)
        if (batch->runs[i].state == BATCH_WAITING) good = store_forgive(store, batch->runs[i].identity, err);
    return good;
}

/* Until nothing of ours is in the queue. */
static bool await_cluster(struct store *store, const struct intake *intake, uint64_t *taken, struct error *err) {
    struct here here = {.shown = isatty(STDERR_FILENO)};
    struct slurm_queue queue = {0};
    bool good = true;
    while ((good = slurm_gather(intake, store, taken, &queue, err)) && queue.jobs && !signals_caught()) {
        if (here.shown)
            fprintf(stderr, "\r%llu taken in   %u tasks running, %u waiting\x1b[K", (unsigned long long)*taken,
                    queue.running, queue.waiting);
        here.drawn = here.shown;
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    undraw(&here);
    if (good && queue.jobs)
        good = error_set(err, "interrupted; the cluster goes on, and the same command takes in what it makes");
    return good;
}

static enum status make_there(struct store *store, const struct intake *intake, const struct lab_values *values,
                              const struct request *request) {
    struct error err = {0};
    struct slurm_queue queue;
    uint64_t taken = 0;
    if (!slurm_gather(intake, store, &taken, &queue, &err)) return complain_error(&err), STATUS_FAILED;
    struct batch *batch = request_batch(request, store, intake);
    printf("%u run%s: %u in %s (%llu of them taken in now), %u to make\n", batch->distinct, plural(batch->distinct),
           batch->stored, store_path(store), (unsigned long long)taken, batch->count);
    store_each_failure(store, tell_failure, batch); /* what is about to be tried again */
    bool good = slurm_look(intake, batch, &queue, &err) && submit(batch, store, intake, values, request, &err);
    if (good && queue.runs) printf("%u run%s still in the queue\n", queue.runs, plural(queue.runs));
    enum status status = STATUS_DONE;
    if (good && batch->count && values->wait) {
        fflush(stdout);
        good = await_cluster(store, intake, &taken, &err);
        batch_free(batch);
        batch = request_batch(request, store, intake);
        store_each_failure(store, tell_failure, batch);
        printf("%u run%s: %u in %s\n", batch->distinct, plural(batch->distinct), batch->stored, store_path(store));
        status = batch->count ? STATUS_FAILED : STATUS_DONE;
    } else if (good && batch->count) {
        puts(
            "`sluice lab status` says how far they are; the same command takes in results and tries again what failed");
    }
    if (good && batch->count == 0) intake_forget_files(intake);
    batch_free(batch);
    if (!good) status = (complain_error(&err), STATUS_FAILED);
    return status;
}

/* run */

static enum status dry_run(const struct request *request, const char *path, uint64_t processes) {
    struct error err = {0};
    struct intake intake;
    struct store *store = access(path, F_OK) == 0 ? store_open(path, STORE_READ, &err) : NULL;
    if (err.set || !intake_open(&intake, path, false, &err)) return complain_error(&err);
    char time[32];
    for (unsigned i = 0; i < request->count && request->count > 1; i++)
        printf("%-32s %u cells\n", request->experiments[i]->name, request->plans[i]->count);
    struct batch *batch = request_batch(request, store, &intake);
    unsigned guessed = 0;
    for (unsigned i = 0; i < batch->count; i++) guessed += batch->runs[i].guessed;
    printf("%u run%s (%u cells): %u in %s, %u to make\n", batch->distinct, plural(batch->distinct), batch->asked,
           batch->stored, path, batch->count);
    uint64_t at_once = min_u64(processors(processes), batch->count ? batch->count : 1);
    printf("about %s with %llu at once", duration(batch_expected_seconds(batch) / (double)at_once, time, sizeof time),
           (unsigned long long)at_once);
    if (guessed) printf("; a rough guess for %u of them, whose workloads the store has no run of", guessed);
    putchar('\n');
    batch_free(batch);
    intake_close(&intake);
    store_close(store);
    return STATUS_DONE;
}

/* Notes what is run, and takes in what an earlier command has left. */
static bool begin(const struct request *request, struct store *store, const struct intake *intake, struct error *err) {
    uint64_t taken = 0;
    bool good = intake_take_all(store, intake->local, &taken, err);
    if (good) intake_sweep(intake->local);
    for (unsigned i = 0; i < request->count && good; i++) {
        const struct experiment *experiment = request->experiments[i];
        char *path = realpath(experiment->path, NULL);
        good = store_put_experiment(store, experiment->name, request->size ? request->size : "",
                                    path ? path : experiment->path, err);
        free(path);
    }
    return good;
}

static enum status make(const struct request *request, const struct lab_values *values) {
    struct error err = {0};
    struct intake intake = {0};
    signals_catch();
    struct store *store = store_open(store_named(values->store), STORE_WRITE, &err);
    enum status status = STATUS_BAD_INPUT;
    if (!store || !intake_open(&intake, store_path(store), true, &err)) {
        complain_error(&err);
    } else if (!begin(request, store, &intake, &err)) {
        complain_error(&err), status = STATUS_FAILED;
    } else if (values->slurm) {
        status = make_there(store, &intake, values, request);
    } else {
        uint64_t taken = 0;
        struct batch *batch = NULL;
        if (!intake_take_all(store, intake.slurm, &taken, &err))
            complain_error(&err), status = STATUS_FAILED;
        else
            status = make_here(batch = request_batch(request, store, &intake), store, &intake, values->processes);
        batch_free(batch);
    }
    intake_close(&intake);
    store_close(store);
    return status;
}

static enum status run(const struct command *command, const struct lab_values *values, const char *const *words,
                       unsigned count) {
    struct error err = {0};
    struct request request;
    if (count == 0)
        return complain(command, "run what? sluice lab run EXPERIMENT...; `sluice list experiments` names them");
    if (!request_read(&request, words, count, values->size, &err)) return complain_error(&err);
    enum status status =
        values->dry_run ? dry_run(&request, store_named(values->store), values->processes) : make(&request, values);
    request_free(&request);
    return status;
}

enum status lab_make(const struct lab_request *asked) {
    struct error err = {0};
    struct request request;
    struct lab_values values = {.store = asked->store, .size = asked->size, .processes = asked->processes};
    if (!request_read(&request, asked->experiments, asked->count, asked->size, &err)) return complain_error(&err);
    enum status status = make(&request, &values);
    request_free(&request);
    return status;
}

/* status */

struct overview {
    struct store *store;
    const struct intake *intake;
    unsigned failures;
};

static void tell_experiment(void *user, const char *name, const char *size, const char *path) {
    struct overview *overview = user;
    struct error err = {0};
    struct request request = {0};
    char *title = text_format("%s%s%s%s", name, *size ? " (" : "", size, *size ? ")" : "");
    if (request_add(&request, path, *size ? size : NULL, &err)) {
        struct batch *batch = request_batch(&request, overview->store, overview->intake);
        printf("  %-32s %u of %u runs\n", title, batch->stored, batch->distinct);
        batch_free(batch);
    } else {
        printf("  %-32s %s\n", title, err.text);
    }
    request_free(&request);
    free(title);
}

static void list_failure(void *user, const char *identity, const char *what, const char *why) {
    struct overview *overview = user;
    (void)identity;
    if (overview->failures++ == 0) puts("failed:");
    printf("  %s: %s\n", what, why);
}

static bool tell_queue(const struct intake *intake, struct error *err) {
    struct slurm_queue queue;
    if (!slurm_look(intake, NULL, &queue, err)) return false;
    if (queue.jobs)
        printf("  %-32s %u running, %u waiting, with %u runs\n", "tasks in Slurm's queue", queue.running, queue.waiting,
               queue.runs);
    return true;
}

static enum status show_status(const struct command *command, const struct lab_values *values, const char *const *words,
                               unsigned count) {
    (void)command;
    struct error err = {0};
    struct request request;
    struct intake intake;
    struct store *store = store_open(store_named(values->store), STORE_READ, &err);
    if (!store) return complain_error(&err);
    if (!request_read(&request, words, count, values->size, &err) ||
        !intake_open(&intake, store_path(store), false, &err)) {
        store_close(store);
        return complain_error(&err);
    }
    struct overview overview = {.store = store, .intake = &intake};
    uint64_t runs = store_run_count(store);
    unsigned waiting = intake_waiting(intake.local) + intake_waiting(intake.slurm);
    printf("%s: %llu run%s\n", store_path(store), (unsigned long long)runs, plural(runs));
    if (count == 0) store_each_experiment(store, tell_experiment, &overview);
    for (unsigned i = 0; i < count; i++)
        tell_experiment(&overview, request.experiments[i]->name, values->size ? values->size : "",
                        request.experiments[i]->path);
    if (waiting) printf("  %-32s %u; `sluice lab gather` takes them in\n", "results outside of the store", waiting);
    bool good = tell_queue(&intake, &err);
    store_each_failure(store, list_failure, &overview);
    intake_close(&intake);
    request_free(&request);
    store_close(store);
    return good ? STATUS_DONE : (complain_error(&err), STATUS_FAILED);
}

/* gather, merge, export, task */

static enum status gather(const struct command *command, const struct lab_values *values, const char *const *words,
                          unsigned count) {
    if (count) return complain(command, "gather takes no words: `%s` is one too many", words[0]);
    struct error err = {0};
    struct intake intake = {0};
    struct slurm_queue queue = {0};
    struct overview overview = {0};
    uint64_t taken = 0;
    struct store *store = store_open(store_named(values->store), STORE_WRITE, &err);
    if (!store) return complain_error(&err);
    bool good = intake_open(&intake, store_path(store), true, &err) &&
                intake_take_all(store, intake.local, &taken, &err) &&
                slurm_gather(&intake, store, &taken, &queue, &err);
    printf("%llu result%s taken into %s\n", (unsigned long long)taken, plural(taken), store_path(store));
    if (queue.runs) printf("%u run%s still in the queue\n", queue.runs, plural(queue.runs));
    store_each_failure(store, list_failure, &overview);
    intake_close(&intake);
    store_close(store);
    if (!good) return complain_error(&err), STATUS_FAILED;
    return overview.failures ? STATUS_FAILED : STATUS_DONE;
}

static enum status merge(const struct command *command, const struct lab_values *values, const char *const *words,
                         unsigned count) {
    if (count == 0) return complain(command, "merge what? sluice lab merge FROM... --store INTO");
    struct error err = {0};
    struct store *store = store_open(store_named(values->store), STORE_WRITE, &err);
    bool good = store != NULL;
    for (unsigned i = 0; i < count && good; i++) {
        uint64_t added = 0;
        good = store_merge(store, words[i], &added, &err);
        if (good)
            printf("%llu run%s of %s taken into %s\n", (unsigned long long)added, plural(added), words[i],
                   store_path(store));
    }
    store_close(store);
    return good ? STATUS_DONE : complain_error(&err);
}

/* An output callback has no way to fail but by this. */
struct export {
    struct store *store;
    struct error *err;
    bool (*write)(struct store * store, FILE * out, struct error * err);
};

static void write_export(FILE *out, const void *what) {
    const struct export *export = what;
    export->write(export->store, out, export->err);
}

static enum status export(const struct command *command, const struct lab_values *values, const char *const *words,
                          unsigned count) {
    struct error err = {0}; struct request request;
    if (!values->csv && !values->json) return complain(command, "export as what? Say --csv FILE or --json FILE");
    struct store *store = store_open(store_named(values->store), STORE_READ, &err);
    if (!store) return complain_error(&err);
    if (!request_read(&request, words, count, values->size, &err)){store_close(store); return complain_error(&err);}
for (unsigned p = 0; p < request.count; p++) for (unsigned i = 0; i < request.plans[p]->count; i++)
    store_choose(store, request.plans[p]->runs[i].identity);
struct export csv = {store, &err, store_export_csv}, json = {store, &err, store_export_json};
bool good = (!values->csv || output_write(values->csv, write_export, &csv, &err)) &&
            (!values->json || output_write(values->json, write_export, &json, &err)) && !err.set;
request_free(&request);
store_close(store);
return good ? STATUS_DONE : (complain_error(&err), STATUS_FAILED);
}

static bool task_failed(void *user, const struct batch_run *run, struct error *err) {
    return slurm_task_failed(user, run, err);
}

static bool task_step(void *user, const struct runner_progress *progress) {
    (void)user, (void)progress;
    return !signals_caught();
}

/* A task that was requeued has some of its results already. */
static void skip_made(struct batch *batch, const char *folder) {
    for (unsigned i = 0; i < batch->count; i++) {
        char *path = text_format("%s/%s.json", folder, batch->runs[i].identity);
        if (!batch->runs[i].in_files && access(path, R_OK) == 0) batch->runs[i].state = BATCH_DONE;
        free(path);
    }
}

static enum status task(const struct command *command, const struct lab_values *values, const char *const *words,
                        unsigned count) {
    (void)values;
    char *end = NULL;
    uint64_t index = count == 2 ? strtoull(words[1], &end, 10) : 0;
    if (count != 2 || end == words[1] || *end) return complain(command, "a task is named by its file and its number");
    struct error err = {0};
    char *path = realpath(words[0], NULL);
    struct batch *batch = slurm_task(path ? path : words[0], index, &err);
    if (!batch) {
        free(path);
        return complain_error(&err);
    }
    char *folder = text_format("%.*s", (int)(strrchr(path, '/') - path), path);
    char *files = text_format("%s/../files", folder);
    struct runner_options runner = {.program = "/proc/self/exe",
                                    .results = folder,
                                    .files = files,
                                    .processes = 1,
                                    .failed = task_failed,
                                    .step = task_step,
                                    .user = folder};
    signals_catch();
    skip_made(batch, folder);
    bool good = runner_run(batch, &runner, &err);
    tell_failures(batch);
    unsigned done = count_state(batch, BATCH_DONE);
    printf("%u of %u runs made\n", done, batch->count);
    good = good && done == batch->count;
    if (err.set) complain_error(&err);
    batch_free(batch);
    free(files);
    free(folder);
    free(path);
    return good ? STATUS_DONE : STATUS_FAILED;
}

/* The command */

static const struct subcommand {
    const char *name;
    enum status (*run)(const struct command *command, const struct lab_values *values, const char *const *words,
                       unsigned count);
} subcommands[] = {
    {"run", run}, {"status", show_status}, {"gather", gather}, {"export", export}, {"merge", merge}, {"task", task},
};

static enum status lab(const struct command *command, int argc, char **argv) {
    struct lab_values values = {0};
    struct arguments arguments;
    const char *names[COUNT_OF(subcommands)];
    char near[128];
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0) return complain(command, "say what: sluice lab run, status, gather, export or merge");
    if (values.slurm ? values.dry_run : values.wait || values.partition || values.time || values.memory_mb)
        return complain(command, values.slurm ? "--dry-run submits nothing: leave out --slurm"
                                              : "--wait, --partition, --time and --memory go with --slurm");
    for (unsigned i = 0; i < COUNT_OF(subcommands); i++) {
        names[i] = subcommands[i].name;
        if (strcmp(names[i], arguments.word[0]) == 0)
            return subcommands[i].run(command, &values, arguments.word + 1, arguments.count - 1);
    }
    hint(arguments.word[0], names, COUNT_OF(names), near, sizeof near);
    return complain(command, "there is no `lab %s`;%s", arguments.word[0],
                    near[0] ? near : " there are run, status, gather, export and merge");
}

static const char *const details[] = {
    "`lab run EXPERIMENT...` makes all runs of experiments (`sluice list experiments`, or YAML files:"
    " docs/experiments.md) that the store does not have yet, several at once. A run that fails does not stop the others;"
    " at the end it is named with what it said, and the status is 1. Nothing that was finished is lost, whenever and"
    " however the command is ended: the same command goes on from there. Equal runs of different experiments are made"
    " once.",
    "With --slurm the runs are submitted to a cluster with sbatch, several to a task, and the command ends; the folder of"
    " the store has to be one that the cluster's machines see. `lab status` says how far they are. The same command, or"
    " `lab gather`, takes in the results; the command submits again what tasks that are gone have not made.",
    "`lab status [EXPERIMENT...]` says how many runs of which experiments the store has, what is in Slurm's queue, and"
    " which runs failed, why. `lab export [EXPERIMENT...] --csv FILE` or `--json FILE` writes runs for other programs."
    " `lab merge FROM...` takes into the store what other stores have.",
    "One command at a time writes to a store; any number may read it meanwhile.",
    NULL,
};

static const struct example examples[] = {
    {"sluice lab run quick/sharing --dry-run", "how many runs an experiment has, and how long they will take"},
    {"sluice lab run quick/sharing -j 2", "making them, two at once"},
    {"sluice lab export --csv results.csv", "all counters of all runs for a spreadsheet"},
};

const struct command command_lab = {
    .name = "lab",
    .synopsis = "lab run|status|gather|export|merge [WORDS] [OPTIONS]",
    .summary = "makes the runs of experiments and keeps their results",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = lab,
};
