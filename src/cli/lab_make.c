/* `sluice lab run`: simulates the runs of experiments into a store, on this machine or on a cluster. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/path.h"
#include "cli/job.h"
#include "cli/lab.h"
#include "cli/lab_watch.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "lab/kept.h"
#include "lab/runner.h"
#include "lab/slurm.h"

/* Output */

static const char *duration(double seconds, char *text, size_t size) {
    if (seconds < 90)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
    return text;
}

static unsigned count_state(const struct batch *batch, enum batch_state state) {
    unsigned count = 0;
    for (unsigned i = 0; i < batch->count; i++) count += batch->runs[i].state == state;
    return count;
}

uint64_t lab_processes(uint64_t asked) {
    enum { MOST = 1024 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return min_u64(asked ? asked : online > 0 ? (uint64_t)online : 1, MOST);
}

/* The expected time of the runs left. */
static void print_expected(const struct batch *batch, uint64_t processes) {
    unsigned guessed = 0, waiting = count_state(batch, BATCH_WAITING);
    char time[32];
    for (unsigned i = 0; i < batch->count; i++) guessed += batch->runs[i].guessed;
    unsigned at_once = (unsigned)min_u64(lab_processes(processes), waiting ? waiting : 1);
    printf("about %s with %u in parallel", duration(batch_expected_seconds(batch, at_once), time, sizeof time),
           at_once);
    if (guessed) printf("; a rough estimate for %u of them, whose workloads have no stored run", guessed);
    putchar('\n');
}

/* On this machine */

struct here {
    struct store *store;
    struct lab_watch *watch; /* NULL: without --watch */
    bool shown, drawn;       /* stderr is a terminal; a line is on it */
    double next;
};

static bool take(void *user, const struct batch_run *run, const char *path, struct error *err) {
    struct here *here = user;
    if (here->watch) lab_watch_finished(here->watch, run, path);
    if (!intake_take(here->store, run->identity, run->title, path, err)) return false;
    return store_has(here->store, run->identity) || error_set(err, "%s: the result is not usable", run->title);
}

static bool note_failure(void *user, const struct batch_run *run, struct error *err) {
    struct here *here = user;
    return store_put_failure(here->store, run->identity, run->title, run->why, err);
}

static void undraw(struct here *here) {
    if (here->watch) lab_watch_erase(here->watch);
    if (here->drawn) screen_line_end();
    here->drawn = false;
}

static void print_warning(void *user, const char *title, const char *warning) {
    undraw(user);
    complain(NULL, "warning: %s: %s", title, warning);
}

static const char *progress_line(const struct runner_progress *progress, char *text, size_t size) {
    char left[32], failed[32] = "";
    if (progress->failed) snprintf(failed, sizeof failed, "   %u failed", progress->failed);
    snprintf(text, size, "%u of %u runs%s   %u running   %.0f %%   about %s left", progress->done, progress->total,
             failed, progress->running, 100 * progress->share,
             duration(progress->left_seconds > 1 ? progress->left_seconds : 1, left, sizeof left));
    return text;
}

static bool step(void *user, const struct runner_progress *progress) {
    struct here *here = user;
    char text[160];
    if (signals_caught()) return false;
    if (here->watch) lab_watch_step(here->watch, progress, progress_line(progress, text, sizeof text));
    if (here->watch || !here->shown || progress_clock() < here->next) return true;
    here->next = progress_clock() + 0.2;
    screen_line(progress_line(progress, text, sizeof text));
    here->drawn = true;
    return true;
}

static void print_failures(const struct batch *batch) {
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->runs[i].state == BATCH_FAILED) complain(NULL, "%s: %s", batch->runs[i].title, batch->runs[i].why);
}

static enum status make_here(struct batch *batch, struct store *store, const struct intake *intake, uint64_t processes,
                             bool watch) {
    struct here here = {.store = store, .shown = isatty(STDERR_FILENO)};
    struct runner_options runner = {
        .program = "/proc/self/exe", /* this program, even if its file was replaced meanwhile */
        .results = intake->local,
        .files = intake->files,
        .processes = (unsigned)lab_processes(processes),
        .take = take,
        .failed = note_failure,
        .warned = print_warning,
        .step = step,
        .user = &here,
    };
    struct error err = {0};
    if (batch->count) print_expected(batch, processes);
    fflush(stdout); /* before the first run ends */
    if (watch) here.watch = lab_watch_create(runner.processes);
    bool good = runner_run(batch, &runner, &err);
    undraw(&here);
    lab_watch_destroy(here.watch);
    unsigned made = count_state(batch, BATCH_DONE), failed = count_state(batch, BATCH_FAILED);
    print_failures(batch);
    printf("%u run%s: %u simulated, %u cached", batch->distinct, plural(batch->distinct), made, batch->stored);
    if (batch->kept) printf(", %u kept", batch->kept);
    if (failed) printf(", %u failed", failed);
    printf(" (%s)\n", store_path(store));
    if (!good) return complain_error(&err), STATUS_FAILED;
    if (made + failed < batch->count) {
        fflush(stdout);
        fprintf(stderr, "sluice: interrupted with %u run%s left; rerun the command to continue\n",
                batch->count - made - failed, plural(batch->count - made - failed));
        return STATUS_FAILED;
    }
    if (!failed) intake_forget_files(intake);
    return failed ? STATUS_FAILED : STATUS_DONE;
}

/* On a cluster */

static void print_failure(void *user, const char *identity, const char *what, const char *why) {
    const struct batch *batch = user;
    for (unsigned i = 0; i < batch->count; i++)
        if (strcmp(batch->runs[i].identity, identity) == 0) complain(NULL, "%s: %s", what, why);
}

static bool submit(struct batch *batch, struct store *store, const struct intake *intake,
                   const struct lab_values *values, const struct request *request, struct error *err) {
    char program[PATH_MAX] = "", jobs[256];
    struct slurm_options slurm = {.program = program,
                                  .partition = values->partition,
                                  .time = values->time,
                                  .memory_mb = values->memory_mb,
                                  .runs_per_task = values->runs_per_task};
    for (unsigned i = 0; i < request->count; i++) { /* the first experiment that sets an option decides */
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

/* Waits until none of our tasks is in the queue. */
static bool await_cluster(struct store *store, const struct intake *intake, uint64_t *taken, struct error *err) {
    struct here here = {.shown = isatty(STDERR_FILENO)};
    struct slurm_queue queue = {0};
    bool good = true;
    while ((good = slurm_gather(intake, store, taken, &queue, err)) && queue.jobs && !signals_caught()) {
        if (here.shown)
            fprintf(stderr, "\r%llu imported   %u tasks running, %u pending\x1b[K", (unsigned long long)*taken,
                    queue.running, queue.waiting);
        here.drawn = here.shown;
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    undraw(&here);
    if (good && queue.jobs)
        good = error_set(err, "interrupted; the cluster continues: rerun the command to import its results");
    return good;
}

static enum status make_there(struct store *store, const struct intake *intake, const struct lab_values *values,
                              const struct request *request) {
    struct error err = {0};
    struct slurm_queue queue;
    uint64_t taken = 0;
    if (!slurm_gather(intake, store, &taken, &queue, &err)) return complain_error(&err), STATUS_FAILED;
    struct batch *batch = request_batch(request, store, intake);
    printf("%u run%s: %u to simulate, %u cached, %llu of them imported now (%s)\n", batch->distinct,
           plural(batch->distinct), batch->count, batch->stored, (unsigned long long)taken, store_path(store));
    store_each_failure(store, print_failure, batch); /* about to be rerun */
    bool good = slurm_look(intake, batch, &queue, &err) && submit(batch, store, intake, values, request, &err);
    if (good && queue.runs) printf("%u run%s still in the queue\n", queue.runs, plural(queue.runs));
    enum status status = STATUS_DONE;
    if (good && batch->count && values->wait) {
        fflush(stdout);
        good = await_cluster(store, intake, &taken, &err);
        batch_free(batch);
        batch = request_batch(request, store, intake);
        store_each_failure(store, print_failure, batch);
        printf("%u run%s: %u cached (%s)\n", batch->distinct, plural(batch->distinct), batch->stored,
               store_path(store));
        status = batch->count ? STATUS_FAILED : STATUS_DONE;
    } else if (good && batch->count) {
        puts("`sluice lab status` reports the progress; rerun the command to import results and resubmit failed runs");
    }
    if (good && batch->count == 0) intake_forget_files(intake);
    batch_free(batch);
    if (!good) status = (complain_error(&err), STATUS_FAILED);
    return status;
}

/* run */

static enum status dry_run(const struct request *request, const struct lab_values *values) {
    const char *path = values->store ? values->store : DEFAULT_STORE;
    struct error err = {0};
    struct intake intake;
    struct store *store = access(path, F_OK) == 0 ? store_open(path, STORE_READ, &err) : NULL;
    if (err.set || !intake_open(&intake, path, false, &err)) return complain_error(&err);
    for (unsigned i = 0; i < request->count && request->count > 1; i++)
        printf("%-32s %u cells\n", request->experiments[i]->name, request->plans[i]->count);
    struct batch *batch = request_batch(request, store, &intake);
    printf("%u run%s (%u cells): %u to simulate, %u cached", batch->distinct, plural(batch->distinct), batch->asked,
           batch->count, batch->stored);
    if (batch->kept) printf(", %u kept", batch->kept);
    printf(" (%s)\n", path);
    print_expected(batch, values->processes);
    batch_free(batch);
    intake_close(&intake);
    store_close(store);
    return STATUS_DONE;
}

/* Records the experiments, and imports results that an earlier command left. */
static bool begin(const struct request *request, struct store *store, const struct intake *intake, struct error *err) {
    uint64_t taken = 0;
    bool good = intake_take_all(store, intake->local, &taken, err);
    if (good) intake_sweep(intake->local);
    for (unsigned i = 0; i < request->count && good; i++) {
        const struct experiment *experiment = request->experiments[i];
        char *path = path_real(experiment->path);
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
    struct store *store = store_open(values->store ? values->store : DEFAULT_STORE, STORE_WRITE, &err);
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
        bool good = intake_take_all(store, intake.slurm, &taken, &err);
        if (good) batch = request_batch(request, store, &intake);
        if (good && store_readable(store, &err))
            status = make_here(batch, store, &intake, values->processes, values->watch);
        else
            complain_error(&err), status = STATUS_FAILED;
        batch_free(batch);
    }
    intake_close(&intake);
    store_close(store);
    return status;
}

/* Settings that no machine of their design uses: often a slip in the name of a policy. */
static void warn_unused(const struct plan *plan) {
    const struct experiment *experiment = plan->experiment;
    unsigned count = 0;
    for (unsigned i = 0; i < plan->setting_count && !experiment->unused_allowed; i++) {
        const struct planned_setting *setting = &plan->settings[i];
        if (setting->used) continue;
        complain(NULL, "warning: %s:%u:%u: design '%s': %s has no effect%s%s", experiment->path, setting->place.line,
                 setting->place.column, experiment->designs[setting->design].name, setting->key,
                 *setting->because ? ": " : "", setting->because);
        count++;
    }
    if (count) complain(NULL, "warning: %s: if this is intended, add `unused_settings: allowed`", experiment->path);
}

enum status lab_run(const char *const *experiments, unsigned count, const struct lab_values *values) {
    struct error err = {0};
    struct request request;
    if (!violation_named(values->on_violation, &err) || !request_read(&request, experiments, count, values->size, &err))
        return complain_error(&err);
    request.on_violation = values->on_violation;
    for (unsigned i = 0; values->kept && i < request.count && !err.set; i++) {
        char *path = kept_path(values->kept, request.experiments[i], request.size);
        kept_mark(request.plans[i], path, &err);
        free(path);
    }
    if (err.set) {
        request_free(&request);
        return complain_error(&err);
    }
    for (unsigned i = 0; i < request.count; i++) warn_unused(request.plans[i]);
    enum status status = values->dry_run ? dry_run(&request, values) : make(&request, values);
    request_free(&request);
    return status;
}

enum status lab_make(const struct lab_request *asked) {
    struct lab_values values = {
        .store = asked->store, .size = asked->size, .processes = asked->processes, .on_violation = asked->on_violation};
    return lab_run(asked->experiments, asked->count, &values);
}

/* A task of a Slurm job array */

static bool task_failed(void *user, const struct batch_run *run, struct error *err) {
    return slurm_task_failed(user, run, err);
}

static void task_warned(void *user, const char *title, const char *warning) {
    (void)user;
    complain(NULL, "warning: %s: %s", title, warning);
}

static bool task_step(void *user, const struct runner_progress *progress) {
    (void)user, (void)progress;
    return !signals_caught();
}

/* A requeued task already has some of its results. */
static void skip_made(struct batch *batch, const char *folder) {
    for (unsigned i = 0; i < batch->count; i++) {
        char *path = text_format("%s/%s.json", folder, batch->runs[i].identity);
        if (!batch->runs[i].in_files && access(path, R_OK) == 0) batch->runs[i].state = BATCH_DONE;
        free(path);
    }
}

enum status lab_task(const char *file, uint64_t index) {
    struct error err = {0};
    char *path = path_real(file);
    struct batch *batch = slurm_task(path ? path : file, index, &err);
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
                                    .warned = task_warned,
                                    .step = task_step,
                                    .user = folder};
    signals_catch();
    skip_made(batch, folder);
    bool good = runner_run(batch, &runner, &err);
    print_failures(batch);
    unsigned done = count_state(batch, BATCH_DONE);
    printf("%u of %u runs simulated\n", done, batch->count);
    good = good && done == batch->count;
    if (err.set) complain_error(&err);
    batch_free(batch);
    free(files);
    free(folder);
    free(path);
    return good ? STATUS_DONE : STATUS_FAILED;
}
