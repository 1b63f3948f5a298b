#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/screen.h"
#include "lab/process.h"

static const double interval_seconds = 0.2;

/* A global, since a signal handler cannot use anything else. */
static volatile sig_atomic_t asked_to_end;

/* A second Ctrl-C ends the program immediately. A second TERM does not: timeout(1) always sends two. */
static void on_signal(int number) {
    static volatile sig_atomic_t interrupted;
    if (number == SIGINT && interrupted) {
        screen_leave();
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    if (number == SIGINT) interrupted = 1;
    asked_to_end = 1;
}

/* HUP, of a closed terminal, stays ignored under nohup(1). */
void signals_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

bool signals_caught(void) { return asked_to_end; }

bool not_interrupted(void *user) {
    (void)user;
    return !signals_caught();
}

double progress_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t peak_rss_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

void progress_start(struct progress *progress, const char *label, const struct program_extent *extent,
                    unsigned programs) {
    double now = progress_clock();
    *progress = (struct progress){.label = label,
                                  .shown = isatty(STDERR_FILENO),
                                  .report = process_report_file(),
                                  .started = now,
                                  .next = now + interval_seconds};
    for (unsigned i = 0; extent && i < programs; i++) progress->extent[i] = extent[i];
}

double progress_share(const struct progress *progress, const struct run_progress *now) {
    double least = now->programs ? 1 : -1;
    for (unsigned i = 0; i < now->programs; i++) {
        double share = program_share(&now->program[i], &progress->extent[i]);
        if (share < least) least = share;
    }
    return least;
}

/* "kernel 3 (mm_tiled): 40 %", of the first program that has not ended. */
static int kernel_text(const struct run_progress *now, char *text, size_t size) {
    for (unsigned i = 0; i < now->programs; i++) {
        const struct program_progress *program = &now->program[i];
        if (!program->done && program->kernel)
            return snprintf(text, size, "   kernel %llu (%s): %.0f %%", (unsigned long long)program->kernels + 1,
                            program->kernel->name, 100 * program_kernel_share(program));
    }
    return 0;
}

void progress_text(const struct progress *progress, const struct run_progress *now, double seconds, char *text,
                   size_t size) {
    double done = (double)now->warp_instructions, share = progress_share(progress, now);
    int used = progress->label ? snprintf(text, size, "%s   ", progress->label) : 0;
    if (now->cycles) used += snprintf(text + used, size - (size_t)used, "%.2f M cycles   ", (double)now->cycles / 1e6);
    used += snprintf(text + used, size - (size_t)used, "%.2f M warp instructions   %.2f M/s", done / 1e6,
                     seconds > 0 ? done / seconds / 1e6 : 0);
    if (share < 0) {
        kernel_text(now, text + used, size - (size_t)used);
        return;
    }
    used += snprintf(text + used, size - (size_t)used, "   %.0f %%", 100 * share);
    double left = share > 0 ? seconds * (1 - share) / share : 0;
    if (share > 0) snprintf(text + used, size - (size_t)used, "   %.0f s left", left > 1 ? left : 1);
}

static void draw(struct progress *progress, const struct run_progress *now, double seconds) {
    char text[512] = "";
    progress_text(progress, now, seconds, text, sizeof text);
    screen_line(text);
    progress->drawn = true;
}

static double total(const void *stats, const char *name) { return (double)stats_get(stats, name, NULL); }

/* With the counters of the machine so far. */
static void report(const struct progress *progress, const struct run_progress *now) {
    struct process_report text = {.share = progress_share(progress, now),
                                  .warp_instructions = now->warp_instructions,
                                  .thread_instructions = now->thread_instructions,
                                  .cycles = now->cycles,
                                  .issuing = -1,
                                  .l1_hits = -1,
                                  .llc_hits = -1};
    if (progress->machine) {
        const struct stats *stats = machine_stats(progress->machine);
        machine_settle(progress->machine);
        text.issuing = 100 * ratio(total(stats, "sm.issuing"), total(stats, "sm.cycles"));
        text.l1_hits = report_read_hits("l1", total, stats);
        text.llc_hits = report_read_hits("llc", total, stats);
    }
    process_report(progress->report, text);
}

bool progress_step(void *user, const struct run_progress *now) {
    struct progress *progress = user;
    if (asked_to_end) return false;
    if (!progress->shown && progress->report < 0) return true;
    double time = progress_clock();
    if (time < progress->next) return true;
    progress->next = time + interval_seconds;
    if (progress->report >= 0) report(progress, now);
    if (progress->shown) draw(progress, now, time - progress->started);
    return true;
}

bool progress_record_step(void *user, const struct program_progress *now) {
    struct run_progress all = {.warp_instructions = now->warp_instructions,
                               .thread_instructions = now->thread_instructions,
                               .programs = 1,
                               .program = {*now}};
    return progress_step(user, &all);
}

void progress_end(struct progress *progress, uint64_t warp_instructions) {
    if (progress->report >= 0 && warp_instructions)
        process_report(progress->report, (struct process_report){.share = 1, .warp_instructions = warp_instructions});
    if (progress->drawn) screen_line_end();
    progress->drawn = false;
}
