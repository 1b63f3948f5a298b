#include "lab/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "lab/process.h"
#include "sass/source.h"

enum {
    STREAM_RUNS = 3, /* with this many runs, recording their stream takes less time than it saves */
    STEP_MS = 200,
};

/* A job's recorded stream. */
struct shared_stream {
    const struct batch_run *run; /* the first of its runs */
    char *path;
    unsigned users; /* unfinished runs */
    enum { STREAM_NONE, STREAM_WANTED, STREAM_RUNNING, STREAM_READY } state;
};

/* One process: a run, or the recording of a stream. */
struct worker {
    struct process process;
    struct batch_run *run;
    struct shared_stream *stream; /* the stream that it records */
    double started;
    bool busy;
};

struct runner {
    struct batch *batch;
    const struct runner_options *options;
    struct shared_stream *streams;
    unsigned stream_count, running, done, failed;
    struct worker *workers;
    struct runner_job *jobs; /* by worker, as shown */
    struct pace {
        double seconds, expected;
    } pace[2];            /* of finished runs, [guessed] */
    double spent_seconds; /* of finished processes */
    double left_seconds;  /* as shown */
    double share, stepped_at;
};

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Streams */

static bool same_program(const struct batch_run *a, const struct batch_run *b) {
    if (a->path || b->path) return a->path && b->path && strcmp(a->path, b->path) == 0;
    return strcmp(a->job, b->job) == 0;
}

static struct shared_stream *stream_of(const struct runner *r, const struct batch_run *run) {
    for (unsigned i = 0; run->whole && i < r->stream_count; i++)
        if (same_program(r->streams[i].run, run)) return &r->streams[i];
    return NULL;
}

static void streams_plan(struct runner *r) {
    for (unsigned i = 0; i < r->batch->count; i++) {
        const struct batch_run *run = &r->batch->runs[i];
        if (!run->whole) continue;
        struct shared_stream *stream = stream_of(r, run);
        if (!stream) {
            r->streams = mem_grow(r->streams, r->stream_count + 1, sizeof *r->streams);
            stream = &r->streams[r->stream_count++];
            *stream = (struct shared_stream){
                .run = run,
                .path = text_format("%s/%s.%ld.stream", r->options->results, run->identity, (long)getpid())};
        }
        if (++stream->users == STREAM_RUNS) stream->state = STREAM_WANTED;
    }
}

/* A recording is removed when the last run of its job has ended. */
static void stream_leave(struct runner *r, const struct batch_run *run) {
    struct shared_stream *stream = stream_of(r, run);
    if (stream && --stream->users == 0) unlink(stream->path);
}

/* Starting */

/* Copies the words of this run; borrows those of the batch. */
static bool start_run(struct runner *r, struct worker *worker, struct batch_run *run, struct error *err) {
    const struct shared_stream *stream = stream_of(r, run);
    char *job = mem_text(run->job), *result = text_format("%s/%s.json", r->options->results, run->identity);
    char **words = mem_alloc(run->word_count + strlen(job) / 2 + 8, sizeof *words), *rest = job;
    unsigned count = 0;
    words[count++] = (char *)r->options->program;
    words[count++] = (char *)"run";
    if (stream && stream->state == STREAM_READY) {
        words[count++] = (char *)"--trace";
        words[count++] = stream->path;
    } else if (run->path) {
        words[count++] = run->option;
        words[count++] = run->path;
    } else {
        while (rest) words[count++] = strsep(&rest, " "); /* "a + b" is three words */
    }
    for (unsigned i = 0; i < run->word_count; i++) words[count++] = run->words[i];
    words[count++] = (char *)"--json";
    words[count++] = result;
    *worker = (struct worker){.run = run, .started = clock_seconds()};
    const char *folder = run->in_files ? r->options->files : NULL;
    worker->busy = process_start(&worker->process, words, folder, PROCESS_REPORTS, err);
    if (worker->busy) run->state = BATCH_RUNNING;
    free(words);
    free(result);
    free(job);
    return worker->busy;
}

static bool start_stream(struct runner *r, struct worker *worker, struct shared_stream *stream, struct error *err) {
    const struct batch_run *run = stream->run;
    char *words[10] = {(char *)r->options->program, (char *)"record"};
    unsigned count = 2;
    if (run->path) words[count++] = run->option;
    words[count++] = run->path ? run->path : run->job;
    words[count++] = (char *)"-o";
    words[count++] = stream->path;
    for (unsigned i = 0; i + 1 < run->word_count && count < 8; i++)
        if (strcmp(run->words[i], VIOLATION_OPTION) == 0) {
            words[count++] = run->words[i];
            words[count++] = run->words[i + 1];
        }
    *worker = (struct worker){.stream = stream, .started = clock_seconds()};
    worker->busy = process_start(&worker->process, words, NULL, PROCESS_ERRORS, err);
    if (worker->busy) stream->state = STREAM_RUNNING;
    return worker->busy;
}

static bool run_fail(struct runner *r, struct batch_run *run, char *why, struct error *err) {
    run->state = BATCH_FAILED;
    run->why = why;
    r->failed++;
    stream_leave(r, run);
    return !r->options->failed || r->options->failed(r->options->user, run, err);
}

/* The next task that can start now: *run, *stream, or neither. */
static bool next_task(struct runner *r, struct batch_run **run, struct shared_stream **stream, struct error *err) {
    *run = NULL, *stream = NULL;
    for (unsigned i = 0; i < r->batch->count; i++) {
        struct batch_run *candidate = &r->batch->runs[i];
        const struct batch_run *before = candidate->after >= 0 ? &r->batch->runs[candidate->after] : NULL;
        if (candidate->state != BATCH_WAITING) continue;
        if (before && before->state == BATCH_FAILED &&
            !run_fail(r, candidate, text_format("it requires the output of %s, which failed", before->title), err))
            return false;
        if (candidate->state != BATCH_WAITING || (before && before->state != BATCH_DONE)) continue;
        struct shared_stream *needed = stream_of(r, candidate);
        if (needed && needed->state == STREAM_RUNNING) continue;
        if (needed && needed->state == STREAM_WANTED)
            *stream = needed;
        else
            *run = candidate;
        return true;
    }
    return true;
}

static bool start_tasks(struct runner *r, struct error *err) {
    for (unsigned i = 0; i < r->options->processes; i++) {
        struct worker *worker = &r->workers[i];
        struct batch_run *run;
        struct shared_stream *stream;
        if (worker->busy) continue;
        if (!next_task(r, &run, &stream, err)) return false;
        if (!run && !stream) break;
        if (!(run ? start_run(r, worker, run, err) : start_stream(r, worker, stream, err))) return false;
        r->running++;
    }
    return true;
}

/* Ending */

/* The first error message of a child that is not a warning, in one line. */
static char *reason(const struct process *process, int status) {
    static const char start[] = "sluice: ", warning[] = "sluice: warning: ";
    const char *text = process->text ? process->text : "", *mark = strstr(text, start);
    while (mark && strncmp(mark, warning, strlen(warning)) == 0) mark = strstr(mark + 1, start);
    if (mark) text = mark + strlen(start);
    int length = (int)strcspn(text, "\n");
    if (WIFSIGNALED(status))
        return text_format("killed by a signal (%s)%s%.*s", strsignal(WTERMSIG(status)), length ? ": " : "", length,
                           text);
    return length ? text_format("%.*s", length, text) : text_format("exit status %d", WEXITSTATUS(status));
}

/* Passes a child's warning that begins like this on; false if it has printed none. */
static bool pass_warning(const struct runner *r, const struct worker *worker, const char *title, const char *begin) {
    const char *found = worker->process.text ? strstr(worker->process.text, begin) : NULL;
    if (!found || !r->options->warned) return false;
    char *warning = text_format("%.*s", (int)strcspn(found, "\n"), found);
    r->options->warned(r->options->user, title, warning);
    free(warning);
    return true;
}

/* Written read-only data for every run; unknown opcodes of a trace once for all of its runs. */
static void warn(const struct runner *r, const struct worker *worker) {
    const struct batch_run *run = worker->run ? worker->run : worker->stream->run;
    pass_warning(r, worker, worker->run ? run->title : run->job, VIOLATION_WARNING);
    if (run->opcodes_warned || !pass_warning(r, worker, run->job, SASS_WARNING)) return;
    for (unsigned i = 0; i < r->batch->count; i++)
        if (same_program(run, &r->batch->runs[i])) r->batch->runs[i].opcodes_warned = true;
}

/* Without disk space for results, no run can continue. */
static bool is_disk_full(const char *why, struct error *err) {
    if (!strstr(why, strerror(ENOSPC)) && !strstr(why, strerror(EDQUOT)) && !strstr(why, strerror(EFBIG))) return false;
    error_set(err, "%s: free disk space and rerun the command; finished runs are kept", why);
    return true;
}

static bool end_run(struct runner *r, struct batch_run *run, char *why, double seconds, struct error *err) {
    char *path = text_format("%s/%s.json", r->options->results, run->identity);
    struct error refused = {0}, changed = {0};
    bool good = true;
    if (!why && run->path && !program_file_unchanged(run->path, run->content, &changed)) why = mem_text(changed.text);
    if (why) {
        unlink(path); /* a result whose check failed */
        good = !is_disk_full(why, err);
    } else if (r->options->take && !r->options->take(r->options->user, run, path, &refused)) {
        good = error_set(err, "%s", refused.text);
    }
    free(path);
    r->pace[run->guessed].seconds += seconds;
    r->pace[run->guessed].expected += run->expected_seconds;
    if (!good) {
        run->state = BATCH_WAITING;
        free(why);
        return false;
    }
    if (why) return run_fail(r, run, why, err);
    run->state = BATCH_DONE;
    r->done++;
    stream_leave(r, run);
    return true;
}

/* The other runs of the program are expected to be like this one. */
static void learn(struct runner *r, const struct batch_run *run, double seconds, uint64_t warp_instructions) {
    for (unsigned i = 0; i < r->batch->count; i++) {
        struct batch_run *other = &r->batch->runs[i];
        if (other->whole != run->whole || !same_program(run, other)) continue;
        if (other->guessed && other != run) other->expected_seconds = seconds;
        if (warp_instructions) other->expected_instructions = warp_instructions;
        other->guessed = false;
    }
}

static bool end_worker(struct runner *r, struct worker *worker, struct error *err) {
    struct process_report report = {.share = -1};
    int status = process_wait(&worker->process);
    bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0, good = true;
    bool reported = process_last_report(&worker->process, &report);
    double seconds = clock_seconds() - worker->started;
    char *why = passed ? NULL : reason(&worker->process, status);
    if (passed) warn(r, worker);
    process_release(&worker->process);
    worker->busy = false;
    r->running--;
    r->spent_seconds += seconds;
    if (worker->run) {
        good = end_run(r, worker->run, why, seconds, err);
        if (passed) learn(r, worker->run, seconds, reported && worker->run->whole ? report.warp_instructions : 0);
        return good;
    }
    worker->stream->state = passed ? STREAM_READY : STREAM_NONE; /* without it, each run reports the error itself */
    if (why) good = !is_disk_full(why, err);
    free(why);
    return good;
}

/* Time */

/* Expected time of a run, scaled by the actual over the expected time of finished runs. */
static double expected(const struct runner *r, const struct batch_run *run) {
    const struct pace *pace = &r->pace[run->guessed];
    double scale = pace->expected > 0 ? pace->seconds / pace->expected : 1;
    return run->expected_seconds * (scale < 0.1 ? 0.1 : scale > 10 ? 10 : scale);
}

/* Share of a run that is done, by its own report or by the instructions of earlier runs; 0: unknown. */
static double share_of(const struct worker *worker) {
    struct process_report report;
    uint64_t all = worker->run->expected_instructions;
    if (!process_last_report(&worker->process, &report)) return 0;
    if (report.share < 0 && worker->run->whole && report.warp_instructions < all)
        report.share = (double)report.warp_instructions / (double)all;
    return report.share > 0 && report.share <= 1 ? report.share : 0;
}

/* Expected rest of a run: the more of it is done, the more its own pace counts. A run that takes longer than expected
 * is assumed to take longer still, in proportion. */
static double rest_of(const struct runner *r, const struct worker *worker, double now) {
    enum { TRUST = 10, TRUST_GUESSED = 100 }; /* its own pace counts alone from 10 % and 1 % on */
    double elapsed = now - worker->started, share = share_of(worker), all = expected(r, worker->run);
    double rest = all - elapsed > 0.1 * elapsed ? all - elapsed : 0.1 * elapsed;
    if (share == 0) return rest;
    double trust = share * (worker->run->guessed ? TRUST_GUESSED : TRUST), own = elapsed * (1 - share) / share;
    return trust >= 1 ? own : trust * own + (1 - trust) * rest;
}

/* The estimate moves towards a new one in a few seconds, so that it does not jump. */
static void estimate(struct runner *r) {
    enum { SECONDS = 3 };
    double now = clock_seconds(), left = 0, longest = 0, spent = r->spent_seconds, passed = now - r->stepped_at;
    for (unsigned i = 0; i < r->options->processes; i++) {
        const struct worker *worker = &r->workers[i];
        if (!worker->busy) continue;
        double rest = worker->run ? rest_of(r, worker, now) : 0;
        spent += now - worker->started;
        left += rest;
        if (rest > longest) longest = rest;
    }
    for (unsigned i = 0; i < r->batch->count; i++) {
        const struct batch_run *run = &r->batch->runs[i];
        if (run->state != BATCH_WAITING) continue;
        left += expected(r, run);
        if (expected(r, run) > longest) longest = expected(r, run);
    }
    double share = spent > 0 ? spent / (spent + left) : 0, whole = left / r->options->processes;
    if (whole < longest) whole = longest;
    double before = r->left_seconds > passed ? r->left_seconds - passed : 0;
    double weight = r->stepped_at > 0 && passed < SECONDS ? passed / SECONDS : 1;
    r->left_seconds = before + weight * (whole - before);
    r->share = share > r->share ? share : r->share;
    r->stepped_at = now;
}

static struct runner_job job_of(const struct worker *worker, double now) {
    struct process_report report = {0};
    struct runner_job job = {.records = worker->stream, .issuing = -1, .l1_hits = -1, .llc_hits = -1};
    if (!worker->busy) return job;
    job.title = worker->run ? worker->run->title : worker->stream->run->job;
    job.seconds = now - worker->started;
    if (!worker->run) return job;
    job.share = share_of(worker);
    job.reports = process_last_report(&worker->process, &report) && report.cycles;
    job.cycles = report.cycles;
    job.thread_instructions = report.thread_instructions;
    if (job.reports) job.issuing = report.issuing, job.l1_hits = report.l1_hits, job.llc_hits = report.llc_hits;
    return job;
}

static bool step(struct runner *r) {
    estimate(r);
    for (unsigned i = 0; i < r->options->processes; i++) r->jobs[i] = job_of(&r->workers[i], r->stepped_at);
    struct runner_progress progress = {.total = r->batch->count,
                                       .done = r->done,
                                       .failed = r->failed,
                                       .running = r->running,
                                       .jobs = r->jobs,
                                       .job_count = r->options->processes,
                                       .share = r->share,
                                       .left_seconds = r->left_seconds};
    return !r->options->step || r->options->step(r->options->user, &progress);
}

/* Waits until a process writes or ends. */
static bool await(struct runner *r, struct pollfd *polled, struct error *err) {
    unsigned count = r->options->processes;
    for (unsigned i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = r->workers[i].busy ? r->workers[i].process.pipe : -1, .events = POLLIN};
    if (poll(polled, count, STEP_MS) <= 0) return true;
    bool good = true;
    for (unsigned i = 0; i < count && good; i++)
        if (polled[i].revents && !process_read(&r->workers[i].process)) good = end_worker(r, &r->workers[i], err);
    return good;
}

static void abandon(struct runner *r) {
    for (unsigned i = 0; i < r->options->processes; i++) {
        struct worker *worker = &r->workers[i];
        if (!worker->busy) continue;
        process_kill(&worker->process);
        process_wait(&worker->process);
        process_release(&worker->process);
        if (worker->run) worker->run->state = BATCH_WAITING;
    }
    for (unsigned i = 0; i < r->stream_count; i++) unlink(r->streams[i].path);
}

bool runner_run(struct batch *batch, const struct runner_options *options, struct error *err) {
    struct runner r = {.batch = batch, .options = options};
    struct pollfd *polled = mem_alloc(options->processes, sizeof *polled);
    r.workers = mem_alloc(options->processes, sizeof *r.workers);
    r.jobs = mem_alloc(options->processes, sizeof *r.jobs);
    streams_plan(&r);
    bool good = true;
    while (good && step(&r)) {
        good = start_tasks(&r, err);
        if (good && r.running == 0) break;
        good = good && await(&r, polled, err);
    }
    abandon(&r);
    for (unsigned i = 0; i < r.stream_count; i++) free(r.streams[i].path);
    free(r.streams);
    free(r.jobs);
    free(r.workers);
    free(polled);
    return good;
}
