#include "cli/lab_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/result.h"
#include "cli/screen.h"
#include "cli/spark.h"

static const double page_seconds = 0.25, line_seconds = 10;

enum {
    POINTS = 24,
    FINISHED = 5,
    TITLE_MOST = 34,
    TITLE_LEAST = 10,
    VALUES = 54, /* width of the columns around the title */
    AROUND = 6,  /* lines of the page besides runs */
};

/* IPC of a process over time. */
struct curve {
    const char *title; /* of its run: another one begins a new curve */
    uint64_t cycles, thread_instructions;
    double point[POINTS];
    unsigned points;
};

struct finished {
    char title[128];
    double seconds, ipc, issuing, l1_hits, llc_hits;
};

struct lab_watch {
    bool page, unicode;
    double next;
    unsigned rows, columns, title; /* of the terminal; of the column of titles */
    unsigned processes;
    struct curve *curve; /* by process */
    struct finished last[FINISHED];
    unsigned finished;
};

struct lab_watch *lab_watch_create(unsigned processes) {
    struct lab_watch *watch = mem_alloc(1, sizeof *watch);
    *watch = (struct lab_watch){.page = isatty(STDERR_FILENO), .unicode = spark_unicode(), .processes = processes};
    watch->curve = mem_alloc(processes, sizeof *watch->curve);
    watch->next = progress_clock() + (watch->page ? 0 : line_seconds);
    return watch;
}

/* --- finished runs --- */

static double value(const void *run, const char *name) {
    double number = result_value(run, name);
    return number > 0 ? number : 0;
}

/* "  12.3 s  123.45   45.6 %   12.3 %   98.7 %": a share of less than 0 is unknown. */
static void put_values(FILE *out, double seconds, double ipc, double issuing, double l1_hits, double llc_hits) {
    const double share[] = {issuing, l1_hits, llc_hits};
    fprintf(out, " %7.1f s %8.1f", seconds, ipc);
    for (unsigned i = 0; i < COUNT_OF(share); i++)
        share[i] < 0 ? fprintf(out, " %7s ", "-") : fprintf(out, " %6.1f %%", share[i]);
}

void lab_watch_finished(struct lab_watch *watch, const struct batch_run *run, const char *path) {
    struct arena *arena = arena_create();
    struct error unreadable = {0}; /* which the store reports */
    const struct json_value *result = result_read(arena, path, &unreadable);
    if (result) {
        struct finished *last = &watch->last[watch->finished++ % FINISHED];
        *last = (struct finished){.seconds = value(json_member(result, "host"), "seconds"),
                                  .ipc = value(result, "ipc"),
                                  .issuing = 100 * ratio(value(result, "sm.issuing"), value(result, "sm.cycles")),
                                  .l1_hits = report_read_hits("l1", value, result),
                                  .llc_hits = report_read_hits("llc", value, result)};
        snprintf(last->title, sizeof last->title, "%s", run->title);
        if (!watch->page) {
            fprintf(stderr, "%s: %.1f s, IPC %.1f, issuing %.1f %%", last->title, last->seconds, last->ipc,
                    last->issuing);
            if (last->l1_hits >= 0) fprintf(stderr, ", L1 hits %.1f %%", last->l1_hits);
            if (last->llc_hits >= 0) fprintf(stderr, ", LLC hits %.1f %%", last->llc_hits);
            fputc('\n', stderr);
        }
    }
    arena_destroy(arena);
}

/* --- the page --- */

static void add_points(struct lab_watch *watch, const struct runner_progress *progress) {
    for (unsigned i = 0; i < progress->job_count && i < watch->processes; i++) {
        const struct runner_job *job = &progress->jobs[i];
        struct curve *curve = &watch->curve[i];
        if (curve->title != job->title) *curve = (struct curve){.title = job->title};
        if (!job->reports || job->cycles <= curve->cycles) continue;
        if (curve->points == POINTS)
            memmove(curve->point, curve->point + 1, sizeof curve->point - sizeof *curve->point);
        else
            curve->points++;
        curve->point[curve->points - 1] =
            (double)(job->thread_instructions - curve->thread_instructions) / (double)(job->cycles - curve->cycles);
        curve->cycles = job->cycles;
        curve->thread_instructions = job->thread_instructions;
    }
}

static void measure(struct lab_watch *watch) {
    struct screen_size size = screen_size();
    watch->columns = size.columns;
    watch->rows = size.rows;
    unsigned room = watch->columns > VALUES ? watch->columns - VALUES : 0;
    watch->title = (unsigned)min_u64(max_u64(room, TITLE_LEAST), TITLE_MOST);
}

static void draw_head(FILE *page, const struct lab_watch *watch, const char *what, const char *done) {
    fprintf(page, "  %-*s%5s %9s %8s %8s %8s %8s", (int)watch->title, what, done, "time", "IPC", "issuing", "L1 hits",
            "LLC hits");
    fputc('\n', page);
}

static void draw_job(FILE *page, const struct lab_watch *watch, unsigned i, const struct runner_job *job) {
    fprintf(page, "  %-*.*s", (int)watch->title, (int)watch->title, job->title);
    if (job->records) {
        fprintf(page, "%5s %7.1f s   recording its instruction stream", "", job->seconds);
    } else {
        job->share > 0 ? fprintf(page, "%3.0f %%", 100 * job->share) : fprintf(page, "%5s", "-");
        put_values(page, job->seconds, ratio((double)job->thread_instructions, (double)job->cycles), job->issuing,
                   job->l1_hits, job->llc_hits);
        const struct curve *curve = &watch->curve[i];
        unsigned used = watch->title + VALUES + 2, room = watch->columns > used ? watch->columns - used : 0;
        unsigned shown = (unsigned)min_u64(curve->points, room);
        if (shown) fputs("  ", page);
        spark_draw(page, curve->point + curve->points - shown, shown, 0, watch->unicode);
    }
    fputc('\n', page);
}

static void draw(struct lab_watch *watch, const struct runner_progress *progress, const char *text) {
    measure(watch);
    unsigned room = watch->rows > AROUND + FINISHED + 2 ? watch->rows - AROUND - FINISHED : 2, shown = 0;
    char *drawn = NULL;
    size_t size = 0;
    FILE *page = screen_page(&drawn, &size);
    fprintf(page, "%s\n", text);
    if (progress->running) draw_head(page, watch, "running", "done");
    for (unsigned i = 0; i < progress->job_count && i < watch->processes && shown < room; i++) {
        if (!progress->jobs[i].title) continue;
        draw_job(page, watch, i, &progress->jobs[i]);
        shown++;
    }
    if (progress->running > shown) fprintf(page, "  and %u more\n", progress->running - shown);
    unsigned count = (unsigned)min_u64(watch->finished, FINISHED);
    if (count) draw_head(page, watch, "finished last", "");
    for (unsigned i = 0; i < count; i++) {
        const struct finished *last = &watch->last[(watch->finished - 1 - i) % FINISHED];
        fprintf(page, "  %-*.*s%5s", (int)watch->title, (int)watch->title, last->title, "");
        put_values(page, last->seconds, last->ipc, last->issuing, last->l1_hits, last->llc_hits);
        fputc('\n', page);
    }
    screen_show(page, &drawn);
}

void lab_watch_step(struct lab_watch *watch, const struct runner_progress *progress, const char *text) {
    double now = progress_clock();
    if (now < watch->next) return;
    watch->next = now + (watch->page ? page_seconds : line_seconds);
    add_points(watch, progress);
    if (watch->page)
        draw(watch, progress, text);
    else
        fprintf(stderr, "%s\n", text);
}

void lab_watch_erase(struct lab_watch *watch) {
    if (watch->page) screen_leave();
}

void lab_watch_destroy(struct lab_watch *watch) {
    if (!watch) return;
    lab_watch_erase(watch);
    free(watch->curve);
    free(watch);
}
