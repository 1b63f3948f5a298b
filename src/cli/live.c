#include "cli/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/report.h"
#include "cli/screen.h"
#include "cli/spark.h"
#include "sim/gpu_config.h"

static const double page_seconds = 0.25, line_seconds = 10;

enum { POINTS = 48, STALLS = 4, FIRST_STALL = 4, TRACKS = FIRST_STALL + STALLS + 1 };

/* A value over time. */
struct track {
    char name[24];
    const char *unit;
    double point[POINTS];
    double top; /* of its scale; 0: the largest value */
};

struct live {
    const char *title;
    const struct config *config;
    struct machine *machine;
    const struct stats *stats;
    bool page, unicode;
    double next;
    unsigned points;
    uint64_t *last; /* counters at the last step */
    uint64_t cycles;
    struct track track[TRACKS]; /* IPC, issuing, L1, LLC, stalls, DRAM */
};

struct live *live_create(const char *title, const struct config *config, struct machine *machine) {
    struct live *live = mem_alloc(1, sizeof *live);
    const struct stats *stats = machine_stats(machine);
    *live = (struct live){
        .title = title, .config = config, .machine = machine, .stats = stats, .page = isatty(STDERR_FILENO)};
    live->unicode = spark_unicode();
    live->next = progress_clock() + (live->page ? page_seconds : line_seconds);
    live->last = mem_alloc(stats_count(stats), sizeof *live->last);
    static const struct track tracks[FIRST_STALL] = {{"IPC", "", {0}, 0},
                                                     {"issuing", "% of SM cycles", {0}, 100},
                                                     {"L1 read hits", "%", {0}, 100},
                                                     {"LLC read hits", "%", {0}, 100}};
    memcpy(live->track, tracks, sizeof tracks);
    live->track[TRACKS - 1] = (struct track){.name = "DRAM", .unit = "GB/s"};
    return live;
}

/* --- values --- */

static double increase(const void *of, const char *name) {
    const struct live *live = of;
    int index = stats_find(live->stats, name);
    return index < 0 ? 0 : (double)(stats_total(live->stats, (unsigned)index) - live->last[index]);
}

static double hits(const struct live *live, const char *cache) {
    double share = report_read_hits(cache, increase, live);
    return share < 0 ? 0 : share;
}

static void add_point(struct track *track, double value) {
    memmove(track->point, track->point + 1, sizeof track->point - sizeof *track->point);
    track->point[POINTS - 1] = value;
}

/* The causes with the most stall cycles so far are shown; a cause keeps its place while it is among them. */
static void choose_stalls(struct live *live) {
    static const char prefix[] = "sm.stall.";
    struct {
        char name[24];
        uint64_t cycles;
    } most[STALLS] = {0};
    for (unsigned i = 0; i < stats_count(live->stats); i++) {
        char name[128];
        stats_name(live->stats, i, name, sizeof name);
        uint64_t cycles = stats_total(live->stats, i);
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        unsigned place = STALLS;
        while (place > 0 && cycles > most[place - 1].cycles) place--;
        if (place == STALLS) continue;
        memmove(&most[place + 1], &most[place], (STALLS - 1 - place) * sizeof *most);
        snprintf(most[place].name, sizeof most->name, "%s", name + strlen(prefix));
        most[place].cycles = cycles;
    }
    for (unsigned i = 0; i < STALLS; i++) {
        struct track *track = &live->track[FIRST_STALL + i];
        if (strcmp(track->name, most[i].name) == 0) continue;
        *track = (struct track){.unit = "% of SM cycles", .top = 100};
        memcpy(track->name, most[i].name, sizeof track->name);
    }
}

static void take(struct live *live, uint64_t cycles) {
    double passed = (double)(cycles - live->cycles), sm_cycles = increase(live, "sm.cycles");
    double us = passed / ((double)gpu_core_khz(live->config) / 1e3);
    choose_stalls(live);
    add_point(&live->track[0], ratio(increase(live, "sm.thread_instructions"), passed));
    add_point(&live->track[1], 100 * ratio(increase(live, "sm.issuing"), sm_cycles));
    add_point(&live->track[2], hits(live, "l1"));
    add_point(&live->track[3], hits(live, "llc"));
    for (unsigned i = 0; i < STALLS; i++) {
        char name[64];
        snprintf(name, sizeof name, "sm.stall.%s", live->track[FIRST_STALL + i].name);
        add_point(&live->track[FIRST_STALL + i], 100 * ratio(increase(live, name), sm_cycles));
    }
    double bytes = increase(live, "dram.read_bytes") + increase(live, "dram.write_bytes");
    add_point(&live->track[TRACKS - 1], ratio(bytes, us) / 1e3);
    for (unsigned i = 0; i < stats_count(live->stats); i++) live->last[i] = stats_total(live->stats, i);
    live->cycles = cycles;
    if (live->points < POINTS) live->points++;
}

/* --- drawing --- */

static void draw_track(FILE *page, const struct live *live, const struct track *track) {
    char name[24];
    memcpy(name, track->name, sizeof name);
    for (char *c = name; *c; c++) *c = *c == '_' ? ' ' : *c;
    fprintf(page, "  %-14s %8.1f %-15s ", name, track->point[POINTS - 1], track->unit);
    spark_draw(page, track->point + POINTS - live->points, live->points, track->top, live->unicode);
    fputc('\n', page);
}

static void draw_page(const struct live *live, const char *progress) {
    char *text = NULL;
    size_t size = 0;
    FILE *page = screen_page(&text, &size);
    fprintf(page, "%s\n  %s\n", live->title, progress);
    for (unsigned i = 0; i < TRACKS; i++)
        if (live->track[i].name[0]) draw_track(page, live, &live->track[i]);
    screen_show(page, &text);
}

void live_step(struct live *live, const struct progress *progress, const struct run_progress *now) {
    double time = progress_clock();
    if (time < live->next || now->cycles <= live->cycles) return;
    live->next = time + (live->page ? page_seconds : line_seconds);
    char text[512] = "";
    progress_text(progress, now, time - progress->started, text, sizeof text);
    machine_settle(live->machine);
    take(live, now->cycles);
    if (live->page)
        draw_page(live, text);
    else
        fprintf(stderr, "%s: %s   IPC %.1f   L1 %.1f %%   LLC %.1f %%\n", live->title, text,
                live->track[0].point[POINTS - 1], live->track[2].point[POINTS - 1], live->track[3].point[POINTS - 1]);
}

void live_destroy(struct live *live) {
    if (!live) return;
    screen_leave();
    free(live->last);
    free(live);
}
