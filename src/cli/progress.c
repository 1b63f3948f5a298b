#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double interval_seconds = 0.2;

/* A global, since a signal handler cannot use anything else. */
static volatile sig_atomic_t asked_to_end;

static void on_signal(int number) {
    (void)number;
    asked_to_end = 1;
}

/* A second Ctrl-C ends the program immediately. A second TERM does not: timeout(1) always sends two. */
void signals_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    action.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
}

bool signals_caught(void) { return asked_to_end; }

double progress_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_start(struct progress *progress, uint64_t expected) {
    double now = progress_clock();
    *progress = (struct progress){
        .shown = isatty(STDERR_FILENO), .expected = expected, .started = now, .next = now + interval_seconds};
}

static void draw(struct progress *progress, const struct run_progress *now, double seconds) {
    double done = (double)now->warp_instructions, rate = seconds > 0 ? done / seconds : 0;
    fprintf(stderr, "\r%.2f M cycles   %.2f M warp instructions   %.2f M/s", (double)now->cycles / 1e6, done / 1e6,
            rate / 1e6);
    if (progress->expected && rate > 0) {
        double share = done / (double)progress->expected, left = ((double)progress->expected - done) / rate;
        fprintf(stderr, "   %.0f %%   %.0f s left", 100 * (share < 1 ? share : 1), left > 0 ? left : 0);
    }
    fputs("\x1b[K", stderr);
    progress->drawn = true;
}

bool progress_step(void *user, const struct run_progress *now) {
    struct progress *progress = user;
    if (asked_to_end) return false;
    if (!progress->shown) return true;
    double time = progress_clock();
    if (time < progress->next) return true;
    progress->next = time + interval_seconds;
    draw(progress, now, time - progress->started);
    return true;
}

void progress_end(struct progress *progress) {
    if (progress->drawn) fputs("\r\x1b[K", stderr);
    progress->drawn = false;
}
