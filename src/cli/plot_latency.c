/* Latency breakdown of loads (`sluice run --latency`): a stacked bar per level and run with the mean cycles of each stage,
 * and a histogram per run with the levels stacked. Queueing has full colours, what a load takes at zero load pale ones.
 * Runs without a breakdown show mean latencies by level (plot_means.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"
#include "sim/latency.h"

enum {
    LABEL = 230,
    BAR = 18,
    GAP = 12,
    LEGEND_ROW = 20,
    COLUMNS_HEIGHT = 180,
    LEAST = 34, /* width of a part with its value inside */
};
#define PALE 0.45

/* Queue and pipeline of one part of the machine have one colour. */
static const unsigned char colour_of[LATENCY_STAGE_COUNT] = {
    [LATENCY_operands] = 6,
    [LATENCY_lsu_queue] = 1,
    [LATENCY_divergence] = 8,
    [LATENCY_reservation_fail] = 9,
    [LATENCY_l1_crossbar] = 10,
    [LATENCY_l1_queue] = 4,
    [LATENCY_l1] = 4,
    [LATENCY_cooperation] = 11,
    [LATENCY_miss_queue] = 12,
    [LATENCY_request_queue] = 0,
    [LATENCY_request_network] = 0,
    [LATENCY_bridge] = 13,
    [LATENCY_slice] = 2,
    [LATENCY_slice_queue] = 2,
    [LATENCY_dram_queue] = 5,
    [LATENCY_dram] = 5,
    [LATENCY_reply_queue] = 3,
    [LATENCY_reply_network] = 3,
    [LATENCY_l1_fill] = 14,
    [LATENCY_writeback] = 15,
};

static double opacity_of(unsigned stage) { return latency_stage_names[stage].queue ? 1 : PALE; }

/* A counter of a level; NaN in a run without a breakdown. */
static double counted(const struct plot_run *run, unsigned level, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "latency.%s.%s", latency_level_names[level].name, name);
    return result_value(run->json, key);
}

static double loads_of(const struct plot_run *run, unsigned level) { return counted(run, level, "loads"); }

static double all_loads(const struct plot_run *run) {
    double sum = 0;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++) sum += loads_of(run, level);
    return sum;
}

/* Mean cycles per load of the level. */
static double mean(const struct plot_run *run, unsigned level, unsigned stage) {
    return counted(run, level, latency_stage_names[stage].name) / loads_of(run, level);
}

static double mean_of_all(const struct plot_run *run, unsigned level) {
    double sum = 0;
    for (unsigned stage = 0; stage < LATENCY_STAGE_COUNT; stage++) sum += mean(run, level, stage);
    return sum;
}

static const char *lacks(const struct plot_run *run) {
    return result_value(run->json, "sm.loads") > 0 ? NULL : "it has no loads from memory";
}

static bool has_level(const struct plot_input *input, unsigned level) {
    bool has = false;
    for (unsigned i = 0; i < input->count; i++) has |= loads_of(input->run[i], level) > 0;
    return has;
}

/* Stages with at least 0.5 % of a bar. */
static bool has_stage(const struct plot_input *input, unsigned stage) {
    bool has = false;
    for (unsigned i = 0; i < input->count; i++)
        for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++)
            has |= mean(input->run[i], level, stage) >= 0.005 * mean_of_all(input->run[i], level) &&
                   mean(input->run[i], level, stage) > 0;
    return has;
}

static double draw_legend(const struct plot_input *input, FILE *out) {
    double at = 0, rows = 1;
    for (unsigned stage = 0; stage < LATENCY_STAGE_COUNT; stage++) {
        const struct latency_stage_name *name = &latency_stage_names[stage];
        double wide = svg_text_width(name->title) + 30;
        if (!has_stage(input, stage)) continue;
        if (at > 0 && at + wide > PLOT_WIDTH) at = 0, rows++;
        double y = (rows - 1) * LEGEND_ROW;
        svg_rect(out, at, y, 11, 11, plot_fill(colour_of[stage]).text, opacity_of(stage), "%s", name->title);
        svg_text(out, at + 16, y + 10, "", "start", name->title);
        at += wide;
    }
    return rows * LEGEND_ROW;
}

/* A bar, and a row of the table. */
static void draw_bar(struct chart *chart, const struct plot_run *run, unsigned level, const struct axis *axis, double y,
                     const char *label) {
    double from = 0, share = 100 * loads_of(run, level) / all_loads(run), whole = mean_of_all(run, level);
    chart_row(chart);
    chart_cell(chart, "%s", label);
    chart_cell(chart, "%.2f", share);
    chart_cell(chart, "%.2f", whole);
    for (unsigned stage = 0; stage < LATENCY_STAGE_COUNT; stage++) {
        double part = mean(run, level, stage), x = axis_at(axis, from), width = axis_at(axis, from + part) - x;
        chart_cell(chart, "%.2f", part);
        if (part <= 0) continue;
        svg_rect(chart->svg, x, y, width, BAR - 2, plot_fill(colour_of[stage]).text, opacity_of(stage),
                 "%s, %s: %.2f cycles", label, latency_stage_names[stage].title, part);
        char text[24];
        snprintf(text, sizeof text, "%.0f", part);
        if (width >= LEAST) svg_text(chart->svg, x + width / 2, y + 13, "inside", "middle", text);
        from += part;
    }
    char text[64];
    snprintf(text, sizeof text, "%.1f cycles, %.1f %% of loads", whole, share);
    svg_text(chart->svg, axis_at(axis, from) + 6, y + 13, "muted", "start", text);
}

/* The level, and with several runs the run. */
static void name_of(const struct plot_input *input, unsigned level, unsigned run, char *name, size_t size) {
    snprintf(name, size, input->count > 1 ? "%s, %s" : "%s", latency_level_names[level].title, input->run[run]->label);
}

static double widest_name(const struct plot_input *input) {
    double widest = 0;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++)
        for (unsigned i = 0; i < input->count; i++) {
            char name[192];
            name_of(input, level, i, name, sizeof name);
            if (has_level(input, level)) widest = fmax(widest, svg_text_width(name));
        }
    return widest;
}

static void draw_breakdown(const struct plot_input *input) {
    struct chart *chart = chart_begin(input->charts, "Latency breakdown of loads",
                                      "Mean cycles per load, by the level that supplied its last data. Full colours: "
                                      "queueing; pale ones: zero-load latencies.");
    double top = draw_legend(input, chart->svg) + 10, y = top, largest = 0;
    unsigned levels = 0;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++) {
        levels += has_level(input, level);
        for (unsigned i = 0; i < input->count; i++) largest = fmax(largest, mean_of_all(input->run[i], level));
    }
    double bottom = top + levels * (BAR * input->count + GAP);
    double left = plot_names(widest_name(input), LABEL);
    struct axis axis = axis_from_zero(1.4 * largest, left, PLOT_WIDTH - 20); /* space for the values */
    axis_draw_x(chart->svg, &axis, top, bottom, "core cycles");
    chart_row(chart);
    chart_cell(chart, "mean cycles per load");
    chart_cell(chart, "%% of loads");
    chart_cell(chart, "all stages");
    for (unsigned stage = 0; stage < LATENCY_STAGE_COUNT; stage++)
        chart_cell(chart, "%s", latency_stage_names[stage].title);
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++) {
        if (!has_level(input, level)) continue;
        y += GAP / 2.0;
        for (unsigned i = 0; i < input->count; i++, y += BAR) {
            char label[192];
            name_of(input, level, i, label, sizeof label);
            plot_name(chart->svg, left, y + 13, "", label);
            if (loads_of(input->run[i], level) > 0) draw_bar(chart, input->run[i], level, &axis, y + 1, label);
        }
        y += GAP / 2.0;
    }
    chart_end(chart, PLOT_WIDTH, bottom + 40);
}

static double bucket(const struct plot_run *run, unsigned level, unsigned number) {
    char name[32];
    snprintf(name, sizeof name, "from_%u", latency_bucket_bounds[number]);
    return 100 * counted(run, level, name) / all_loads(run);
}

static double bucket_of_all(const struct plot_run *run, unsigned number) {
    double sum = 0;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++) sum += bucket(run, level, number);
    return sum;
}

/* The buckets with loads of any run, and the largest share. */
struct range {
    unsigned first, last;
    double largest;
};

static struct range range_of(const struct plot_input *input) {
    struct range range = {LATENCY_BUCKET_COUNT - 1, 0, 0};
    for (unsigned i = 0; i < input->count; i++)
        for (unsigned b = 0; b < LATENCY_BUCKET_COUNT; b++) {
            double share = bucket_of_all(input->run[i], b);
            if (share <= 0) continue;
            range.first = range.first < b ? range.first : b;
            range.last = range.last > b ? range.last : b;
            range.largest = fmax(range.largest, share);
        }
    return range;
}

static void draw_histogram(const struct plot_input *input, const struct plot_run *run, struct range range) {
    char *title = text_format(input->count > 1 ? "Load latency histogram, %s" : "Load latency histogram", run->label);
    struct chart *chart =
        chart_begin(input->charts, title, "Share of the loads by latency, by the level that supplied them.");
    free(title);
    const char *names[LATENCY_LEVEL_COUNT], *classes[LATENCY_LEVEL_COUNT];
    struct plot_class fills[LATENCY_LEVEL_COUNT];
    unsigned shown[LATENCY_LEVEL_COUNT], levels = 0;
    for (unsigned level = 0; level < LATENCY_LEVEL_COUNT; level++) {
        if (!(loads_of(run, level) > 0)) continue;
        fills[level] = plot_fill(level);
        classes[levels] = fills[level].text;
        names[levels] = latency_level_names[level].title;
        shown[levels++] = level;
    }
    double top = svg_legend(chart->svg, 0, 0, PLOT_WIDTH, classes, names, levels) + 10;
    double bottom = top + COLUMNS_HEIGHT,
           pitch = (PLOT_WIDTH - 20 - PLOT_LEFT) / (double)(range.last - range.first + 1);
    struct axis axis = axis_from_zero(range.largest, bottom, top);
    axis_draw_y(chart->svg, &axis, PLOT_LEFT, PLOT_WIDTH - 20, "% of loads");
    chart_row(chart);
    chart_cell(chart, "%% of loads, from cycles");
    for (unsigned k = 0; k < levels; k++) chart_cell(chart, "%s", names[k]);
    for (unsigned b = range.first; b <= range.last; b++) {
        double x = PLOT_LEFT + (b - range.first) * pitch, from = 0;
        char text[16];
        snprintf(text, sizeof text, "%u", latency_bucket_bounds[b]);
        svg_text(chart->svg, x, bottom + 16, "muted", "middle", text);
        chart_row(chart);
        chart_cell(chart, "%s", text);
        for (unsigned k = 0; k < levels; k++) {
            double part = bucket(run, shown[k], b), y = axis_at(&axis, from + part);
            chart_cell(chart, "%.3f", part);
            if (part <= 0) continue;
            svg_rect(chart->svg, x + 1, y, pitch - 2, axis_at(&axis, from) - y, classes[k], 1,
                     "%s, from %u cycles: %.3f %% of loads", names[k], latency_bucket_bounds[b], part);
            from += part;
        }
    }
    if (range.last + 1 < LATENCY_BUCKET_COUNT)
        svg_text(chart->svg, PLOT_WIDTH - 20, bottom + 16, "muted", "middle",
                 svg_number(latency_bucket_bounds[range.last + 1]).text);
    svg_text(chart->svg, (PLOT_LEFT + PLOT_WIDTH - 20) / 2.0, bottom + 34, "", "middle", "load latency, core cycles");
    chart_end(chart, PLOT_WIDTH, bottom + 44);
}

static void draw(const struct plot_input *input) {
    const struct plot_run *with[PLOT_RUNS], *without[PLOT_RUNS];
    struct plot_input observed = *input, others = *input;
    observed.count = others.count = 0;
    observed.run = with;
    others.run = without;
    for (unsigned i = 0; i < input->count; i++) {
        if (all_loads(input->run[i]) > 0)
            with[observed.count++] = input->run[i];
        else
            without[others.count++] = input->run[i];
    }
    if (observed.count) draw_breakdown(&observed);
    for (unsigned i = 0; i < observed.count; i++) draw_histogram(&observed, with[i], range_of(&observed));
    if (others.count) plot_mean_latencies(&others);
}

const struct plot_kind plot_latency = {"latency", lacks, draw};
