#include "lab/slurm.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/output.h"
#include "lab/process.h"

#define TASKS_HEAD "sluice tasks"

enum {
    ARRAY_MOST = 1000, /* tasks of one array; Slurm's default limit is 1001 */
    TASK_SECONDS = 300,
};

/* A submission whose files exist. */
struct submission {
    char *stem;  /* path without .tasks */
    char *job;   /* its number; NULL: sbatch did not accept it */
    char **runs; /* lines: "task I" and runs */
    unsigned line_count, task_count;
    char **states; /* of each task; NULL: not in the queue */
};

static void write_text(FILE *out, const void *text) { fputs(text, out); }

static bool file_write(const char *path, const char *text, struct error *err) {
    return output_write(path, write_text, text, err);
}

/* Slurm's commands */

static bool is_missing(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 127; }

static bool slurm_missing(const char *program, struct error *err) {
    return error_set(err,
                     "%s is not in the PATH: --slurm requires Slurm's commands (Debian package: slurm-client); without"
                     " --slurm, the runs are simulated on this machine",
                     program);
}

static bool slurm_refused(const char *program, const char *text, struct error *err) {
    const char *mark = strstr(text, "error: ");
    if (mark) text = mark + strlen("error: ");
    if (!*text) text = "failed without a message";
    return error_set(err, "%s: %.*s", program, (int)strcspn(text, "\n"), text);
}

/* Final states; every other state is pending or running. */
static bool is_over(const char *state) {
    static const char *const over[] = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE", "FAILED",
                                       "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "REVOKED",  "TIMEOUT"};
    for (size_t i = 0; i < COUNT_OF(over); i++)
        if (strcmp(state, over[i]) == 0) return true;
    return false;
}

/* States of a job array's tasks; finished ones are included as long as Slurm keeps them. An unknown job is finished. If
 * squeue fails otherwise, it is an error: guessing could submit everything twice. */
static bool squeue(struct submission *s, struct error *err) {
    char *words[] = {(char *)"squeue", (char *)"-h", (char *)"-r", (char *)"-t",    (char *)"all",
                     (char *)"-j",     s->job,       (char *)"-o", (char *)"%K %T", NULL};
    char *text, *rest, *line;
    int status;
    if (!process_run(words, &text, &status, err)) return false;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    rest = text;
    while (good && (line = strsep(&rest, "\n"))) {
        unsigned task;
        char state[40];
        if (sscanf(line, "%u %39s", &task, state) != 2 || task >= s->task_count) continue;
        free(s->states[task]);
        s->states[task] = mem_text(state);
    }
    bool unknown = !good && strstr(text, "Invalid job id");
    if (!good && !unknown) is_missing(status) ? slurm_missing("squeue", err) : slurm_refused("squeue", text, err);
    free(text);
    return good || unknown;
}

/* Submissions */

static void submission_free(struct submission *s) {
    for (unsigned i = 0; i < s->line_count; i++) free(s->runs[i]);
    for (unsigned i = 0; i < s->task_count; i++) free(s->states[i]);
    free(s->runs);
    free(s->states);
    free(s->stem);
    free(s->job);
}

static bool submission_read(struct submission *s, const char *folder, const char *name, struct error *err) {
    *s = (struct submission){.stem = text_format("%s/%.*s", folder, (int)strcspn(name, "."), name)};
    char *path = text_format("%s.tasks", s->stem), *job_path = text_format("%s.job", s->stem);
    size_t length;
    struct error none = {0};
    char *text = intake_read(path, &length, err), *rest = text, *line;
    s->job = text ? intake_read(job_path, &length, &none) : NULL;
    while (text && (line = strsep(&rest, "\n"))) {
        if (strncmp(line, TASKS_HEAD, strlen(TASKS_HEAD)) == 0 || !*line) continue;
        s->runs = mem_grow(s->runs, s->line_count + 1, sizeof *s->runs);
        s->runs[s->line_count++] = mem_text(line);
        s->task_count += strncmp(line, "task ", 5) == 0;
    }
    s->states = mem_alloc(s->task_count, sizeof *s->states);
    bool good = text && (!s->job || squeue(s, err));
    free(text);
    free(path);
    free(job_path);
    return good;
}

/* The next run from *line on, and its task. */
static bool next_run(const struct submission *s, unsigned *line, unsigned *task, struct batch_run *run) {
    for (; *line < s->line_count; ++*line) {
        if (sscanf(s->runs[*line], "task %u", task) == 1) continue;
        char *text = mem_text(s->runs[*line]);
        bool good = batch_run_read(run, text);
        free(text);
        if (good) return ++*line, true;
    }
    return false;
}

static bool is_in_queue(const struct submission *s, unsigned task) {
    return s->job && task < s->task_count && s->states[task] && !is_over(s->states[task]);
}

static void submission_count(const struct submission *s, struct slurm_queue *queue) {
    unsigned tasks = 0;
    for (unsigned i = 0; i < s->task_count; i++) {
        if (!is_in_queue(s, i)) continue;
        bool waits = strcmp(s->states[i], "PENDING") == 0;
        queue->waiting += waits, queue->running += !waits, tasks++;
    }
    queue->jobs += tasks > 0;
}

static void submission_mark(const struct submission *s, struct batch *batch, struct slurm_queue *queue) {
    struct batch_run run;
    for (unsigned line = 0, task = 0; next_run(s, &line, &task, &run); batch_run_release(&run)) {
        if (!is_in_queue(s, task)) continue;
        queue->runs++;
        for (unsigned i = 0; batch && i < batch->count; i++)
            if (strcmp(batch->runs[i].identity, run.identity) == 0) batch->runs[i].state = BATCH_RUNNING;
    }
}

static bool is_tasks(const char *name) {
    const char *dot = strchr(name, '.');
    return dot && strcmp(dot, ".tasks") == 0;
}

static int tasks_only(const struct dirent *entry) { return is_tasks(entry->d_name); }

/* All submissions with the states of their tasks; false with an error. */
static bool submissions(const struct intake *intake, struct submission **all, unsigned *count, struct error *err) {
    struct dirent **entries = NULL;
    int found = scandir(intake->slurm, &entries, tasks_only, versionsort);
    *all = mem_alloc(found > 0 ? (size_t)found : 0, sizeof **all);
    *count = 0;
    bool good = true;
    for (int i = 0; i < found; free(entries[i++]))
        if (good) good = submission_read(&(*all)[(*count)++], intake->slurm, entries[i]->d_name, err);
    free(entries);
    return good;
}

static void submissions_free(struct submission *all, unsigned count) {
    for (unsigned i = 0; i < count; i++) submission_free(&all[i]);
    free(all);
}

bool slurm_look(const struct intake *intake, struct batch *batch, struct slurm_queue *queue, struct error *err) {
    struct submission *all;
    unsigned count;
    *queue = (struct slurm_queue){0};
    bool good = submissions(intake, &all, &count, err);
    for (unsigned i = 0; good && i < count; i++) {
        submission_count(&all[i], queue);
        submission_mark(&all[i], batch, queue);
    }
    submissions_free(all, count);
    return good;
}

/* Gathering */

/* Stores a failure for each run whose task left the queue without a result or an error. */
static bool note_missing(const struct submission *s, struct store *store, struct error *err) {
    struct batch_run run;
    bool good = true;
    for (unsigned line = 0, task = 0; good && next_run(s, &line, &task, &run); batch_run_release(&run)) {
        if (!s->job || is_in_queue(s, task) || store_has(store, run.identity) || store_has_failure(store, run.identity))
            continue;
        const char *state = s->states[task];
        char *why = state ? text_format("Slurm task %s_%u ended as %s without a result", s->job, task, state)
                          : text_format("Slurm task %s_%u left the queue without a result", s->job, task);
        good = store_put_failure(store, run.identity, run.title, why, err);
        free(why);
    }
    return good;
}

static void forget(const struct submission *s) {
    static const char *const endings[] = {".tasks", ".job", ".sh"};
    for (unsigned i = 0; i < s->task_count + COUNT_OF(endings); i++) {
        char *path = i < s->task_count ? text_format("%s-%u.log", s->stem, i)
                                       : text_format("%s%s", s->stem, endings[i - s->task_count]);
        unlink(path);
        free(path);
    }
}

/* Reads the queue first: a task that has left it has already written its results. */
bool slurm_gather(const struct intake *intake, struct store *store, uint64_t *taken, struct slurm_queue *queue,
                  struct error *err) {
    struct submission *all;
    unsigned count;
    *queue = (struct slurm_queue){0};
    bool good = submissions(intake, &all, &count, err);
    for (unsigned i = 0; good && i < count; i++) {
        submission_count(&all[i], queue);
        submission_mark(&all[i], NULL, queue);
    }
    good = good && intake_take_all(store, intake->slurm, taken, err);
    for (unsigned i = 0; good && i < count; i++) good = note_missing(&all[i], store, err);
    for (unsigned i = 0; good && i < count; i++) {
        bool over = true;
        for (unsigned task = 0; task < all[i].task_count; task++) over = over && !is_in_queue(&all[i], task);
        if (over) forget(&all[i]);
    }
    if (good && queue->jobs == 0) intake_sweep(intake->slurm);
    submissions_free(all, count);
    return good;
}

/* Submitting */

/* Writes runs from *next on as at most ARRAY_MOST tasks. A run that reads the file of another is in the same task. */
static unsigned write_tasks(FILE *out, struct batch *batch, unsigned *next, uint64_t runs_per_task) {
    unsigned task = 0, line = 0;
    int *line_of = mem_alloc(batch->count, sizeof *line_of);
    uint64_t runs = 0;
    double seconds = 0;
    fprintf(out, TASKS_HEAD " %s\n", identity_model());
    for (; *next < batch->count; ++*next) {
        const struct batch_run *run = &batch->runs[*next];
        if (run->state != BATCH_WAITING) continue;
        bool full = runs_per_task ? runs >= runs_per_task : seconds + run->expected_seconds > TASK_SECONDS;
        if (task == 0 || (full && runs > 0)) {
            if (task == ARRAY_MOST) break;
            fprintf(out, "task %u\n", task++);
            memset(line_of, 0, batch->count * sizeof *line_of);
            runs = 0, seconds = 0, line = 0;
        }
        unsigned pair[] = {run->after >= 0 ? (unsigned)run->after : *next, *next};
        for (unsigned i = run->after < 0; i < COUNT_OF(pair); i++) {
            if (line_of[pair[i]]) continue;
            struct batch_run copy = batch->runs[pair[i]];
            copy.after = copy.after >= 0 ? line_of[copy.after] - 1 : -1;
            batch_run_write(out, &copy);
            line_of[pair[i]] = (int)++line;
            seconds += copy.expected_seconds;
        }
        runs++;
    }
    free(line_of);
    return task;
}

static char *script_text(const char *program, const char *tasks) {
    return text_format("#!/bin/sh\nexec '%s' lab task '%s' \"$SLURM_ARRAY_TASK_ID\"\n", program, tasks);
}

static bool sbatch(const char *stem, const char *script, unsigned tasks, const struct slurm_options *options,
                   char **job, struct error *err) {
    char *words[16] = {(char *)"sbatch", (char *)"--parsable", (char *)"--job-name=sluice", (char *)"--requeue"};
    unsigned count = 4;
    words[count++] = text_format("--array=0-%u", tasks - 1);
    words[count++] = text_format("--output=%s-%%a.log", stem);
    if (options->partition) words[count++] = text_format("--partition=%s", options->partition);
    if (options->time) words[count++] = text_format("--time=%s", options->time);
    if (options->memory_mb) words[count++] = text_format("--mem=%lluM", (unsigned long long)options->memory_mb);
    words[count] = (char *)script;
    char *text = NULL;
    int status = 0;
    bool good = process_run(words, &text, &status, err);
    if (good && is_missing(status))
        good = slurm_missing("sbatch", err);
    else if (good && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        good = slurm_refused("sbatch", text, err);
    if (good) *job = text_format("%.*s", (int)strspn(text, "0123456789"), text);
    free(text);
    for (unsigned i = 4; i < count; i++) free(words[i]);
    return good;
}

/* One array; false with an error, leaving no files. */
static bool submit_array(const struct intake *intake, struct batch *batch, unsigned *next,
                         const struct slurm_options *options, unsigned *tasks, char **job, struct error *err) {
    struct stat status;
    char *stem = NULL, *path = NULL;
    for (unsigned n = 1; !stem || stat(path, &status) == 0; n++) {
        free(stem), free(path);
        stem = text_format("%s/%u", intake->slurm, n);
        path = text_format("%s.tasks", stem);
    }
    char *script = text_format("%s.sh", stem), *job_path = text_format("%s.job", stem), *content = NULL;
    size_t length = 0;
    FILE *memory = text_open(&content, &length, err);
    if (memory) *tasks = write_tasks(memory, batch, next, options->runs_per_task);
    char *text = script_text(options->program, path);
    bool good = memory && text_close(memory, &content, err) && file_write(path, content, err) &&
                file_write(script, text, err) && sbatch(stem, script, *tasks, options, job, err) &&
                file_write(job_path, *job, err);
    if (!good) unlink(path), unlink(script);
    free(text), free(content), free(job_path), free(script), free(path), free(stem);
    return good;
}

bool slurm_submit(const struct intake *intake, struct batch *batch, const struct slurm_options *options,
                  unsigned *tasks, char *jobs, size_t jobs_size, struct error *err) {
    unsigned next = 0;
    size_t used = 0;
    *tasks = 0;
    jobs[0] = '\0';
    for (;;) {
        while (next < batch->count && batch->runs[next].state != BATCH_WAITING) next++;
        if (next == batch->count) return true;
        unsigned added = 0;
        char *job = NULL;
        bool good = submit_array(intake, batch, &next, options, &added, &job, err);
        if (good && used < jobs_size)
            used += (size_t)snprintf(jobs + used, jobs_size - used, "%s%s", used ? ", " : "", job);
        free(job);
        *tasks += added;
        if (!good) return false;
    }
}

/* On the cluster */

struct batch *slurm_task(const char *path, uint64_t index, struct error *err) {
    size_t length;
    char *text = intake_read(path, &length, err), *rest = text, *line = text ? strsep(&rest, "\n") : NULL;
    if (!text) return NULL;
    struct batch *batch = mem_alloc(1, sizeof *batch);
    char *head = text_format(TASKS_HEAD " %s", identity_model());
    bool good = strcmp(line, head) == 0 ||
                error_set(err, "%s:1:1: %s", path,
                          strncmp(line, TASKS_HEAD, strlen(TASKS_HEAD)) == 0
                              ? "the tasks were written by another version of sluice: submit them again"
                              : "not a task file of `sluice lab run --slurm`");
    bool here = false;
    for (unsigned number = 2; good && (line = strsep(&rest, "\n")); number++) {
        unsigned long long task;
        if (sscanf(line, "task %llu", &task) == 1) {
            here = task == index;
        } else if (here && *line) {
            batch->runs = mem_grow(batch->runs, batch->count + 1, sizeof *batch->runs);
            good = batch_run_read(&batch->runs[batch->count], line) ||
                   error_set(err, "%s:%u:1: damaged line: submit the tasks again", path, number);
            batch->count += good;
            if (good && batch->runs[batch->count - 1].after >= (int)batch->count - 1)
                good = error_set(err, "%s:%u:1: damaged line: submit the tasks again", path, number);
        }
    }
    if (good && batch->count == 0) good = error_set(err, "%s: no task %llu", path, (unsigned long long)index);
    char *files = text_format("%.*s../files", (int)(strrchr(path, '/') - path) + 1, path);
    if (good && mkdir(files, 0777) != 0 && errno != EEXIST) good = error_set(err, "%s: %s", files, strerror(errno));
    free(files);
    free(head);
    free(text);
    if (good) return batch;
    batch_free(batch);
    return NULL;
}

bool slurm_task_failed(const char *folder, const struct batch_run *run, struct error *err) {
    char *path = text_format("%s/%s.failed", folder, run->identity);
    char *text = text_format("%s\n%s", run->title, run->why);
    bool good = file_write(path, text, err);
    free(text);
    free(path);
    return good;
}
