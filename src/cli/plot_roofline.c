/* Roofline: warp instructions per cycle against warp instructions per byte, with the ceilings of the machine ("Roofline: An
 * Insightful Visual Performance Model", CACM 2009). A run has a point for the bytes of DRAM and one for those of the LLC's
 * data ports, each below the ceiling of its level. Ceilings are peak rates of the parameters: schedulers of all SMs, ports of
 * all slices, data buses of all channels. */
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"

enum level { LEVEL_DRAM, LEVEL_LLC, LEVELS };
static const char *const level_names[LEVELS] = {"DRAM", "LLC"};

struct roof {
    double issue;             /* warp instructions per cycle */
    double bandwidth[LEVELS]; /* bytes per core cycle */
    double ipc, bytes[LEVELS];
};

/* Where the parameters of the device are depends on the kind of memory. */
static double device_parameter(const struct json_value *run, const char *name) {
    char key[160];
    snprintf(key, sizeof key, "dram.%.64s.%s", result_text(json_member(run, "config"), "dram.kind"), name);
    return result_parameter(run, key);
}

static struct roof roof_of(const struct plot_run *plot_run) {
    const struct json_value *run = plot_run->json;
    double core_mhz = result_parameter(run, "gpu.core_mhz"), memory_mhz = result_parameter(run, "dram.clock_mhz");
    double slices = result_parameter(run, "dram.mcs") * result_parameter(run, "llc.slices_per_mc");
    double channels = result_parameter(run, "dram.mcs") * result_parameter(run, "dram.channels_per_mc");
    double port = result_parameter(run, "llc.port_bytes");
    double burst = device_parameter(run, "burst_bytes") / device_parameter(run, "burst_cycles");
    return (struct roof){
        .issue = result_parameter(run, "sm.count") * result_parameter(run, "sm.schedulers"),
        .bandwidth = {[LEVEL_DRAM] = channels * burst * (memory_mhz > 0 ? memory_mhz : core_mhz) / core_mhz,
                      [LEVEL_LLC] = slices * port},
        .ipc = result_value(run, "warp_instructions") / result_value(run, "cycles"),
        .bytes = {[LEVEL_DRAM] = result_value(run, "dram.read_bytes") + result_value(run, "dram.write_bytes"),
                  [LEVEL_LLC] = result_value(run, "llc.data_port_cycles") * port},
    };
}

static double intensity(const struct plot_run *run, const struct roof *roof, enum level level) {
    return result_value(run->json, "warp_instructions") / roof->bytes[level];
}

static const char *lacks(const struct plot_run *run) {
    struct roof roof = roof_of(run);
    if (!(roof.ipc > 0)) return "it has no instructions";
    return roof.issue > 0 && roof.bandwidth[LEVEL_DRAM] > 0 && roof.bandwidth[LEVEL_LLC] > 0
               ? NULL
               : "its `config` lacks parameters of SMs, LLC or DRAM";
}

/* Ranges of both axes, from all points and the corners of all roofs. */
struct extent {
    double x_low, x_high, y_low, y_high;
};

static void widen(double *low, double *high, double value) {
    if (!(value > 0) || !isfinite(value)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static bool same_roof(const struct roof *a, const struct roof *b) {
    return a->issue == b->issue && a->bandwidth[LEVEL_DRAM] == b->bandwidth[LEVEL_DRAM] &&
           a->bandwidth[LEVEL_LLC] == b->bandwidth[LEVEL_LLC];
}

/* Points of the chart, which labels avoid. */
struct points {
    struct {
        double x, y;
    } at[PLOT_RUNS * LEVELS];
    unsigned count;
};

/* Whether a point touches a text of this length that begins at (x, y), rotated by `angle`. */
static bool is_covered(const struct points *points, double x, double y, double length, double angle) {
    enum { MARK = 7, ABOVE = 11 }; /* half of a mark's size; height of the text */
    for (unsigned i = 0; i < points->count; i++) {
        double dx = points->at[i].x - x, dy = points->at[i].y - y;
        double along = dx * cos(angle) + dy * sin(angle), below = dy * cos(angle) - dx * sin(angle);
        if (along > -MARK && along < length + MARK && below > -ABOVE - MARK && below < MARK) return true;
    }
    return false;
}

/* The label of a ceiling that begins at (x, y) and is `length` long, where no point is. */
static void draw_label(FILE *out, const struct points *points, double x, double y, double length, double angle,
                       const char *text) {
    enum { STEP = 10, ABOVE = 6 }; /* distance from the ceiling */
    double wide = svg_text_width(text) * 11 / 12, best = 2 * STEP;
    x += ABOVE * sin(angle);
    y -= ABOVE * cos(angle);
    for (double at = best; at + wide <= length; at += STEP)
        if (!is_covered(points, x + at * cos(angle), y + at * sin(angle), wide, angle)) {
            best = at;
            break;
        }
    fprintf(out, "<text class=\"muted\" transform=\"translate(%.1f %.1f) rotate(%.1f)\">", x + best * cos(angle),
            y + best * sin(angle), 180 / M_PI * angle);
    svg_escape(out, text);
    fputs("</text>\n", out);
}

static void draw_roof(FILE *out, const struct roof *roof, const struct axis *x, const struct axis *y, const char *gpu,
                      const struct points *points) {
    double right = pow(10, x->high), low = pow(10, y->low);
    char text[160];
    double first = right;
    for (unsigned level = 0; level < LEVELS; level++) {
        double corner = roof->issue / roof->bandwidth[level],
               start = fmax(pow(10, x->low), low / roof->bandwidth[level]);
        double x1 = axis_at(x, start), y1 = axis_at(y, start * roof->bandwidth[level]);
        svg_line(out, x1, y1, axis_at(x, corner), axis_at(y, roof->issue), "ceiling");
        snprintf(text, sizeof text, "%s, %.4g B/cycle", level_names[level], roof->bandwidth[level]);
        double dx = axis_at(x, corner) - x1, dy = axis_at(y, roof->issue) - y1;
        draw_label(out, points, x1, y1, hypot(dx, dy), atan2(dy, dx), text);
        first = fmin(first, corner);
    }
    svg_line(out, axis_at(x, first), axis_at(y, roof->issue), x->to, axis_at(y, roof->issue), "ceiling");
    snprintf(text, sizeof text, "%s: issue, %.4g per cycle", gpu, roof->issue);
    svg_text(out, x->to - 4, axis_at(y, roof->issue) - 6, "muted", "end", text);
}

static void put_values(struct chart *chart, const struct plot_run *run, const struct roof *roof, enum level level) {
    double at = intensity(run, roof, level), ceiling = fmin(roof->issue, at * roof->bandwidth[level]);
    chart_row(chart);
    chart_cell(chart, "%s", run->label);
    chart_cell(chart, "%s", level_names[level]);
    chart_cell(chart, isfinite(at) ? "%.4g" : "no traffic", at);
    chart_cell(chart, "%.4g", roof->ipc);
    chart_cell(chart, "%.4g", ceiling);
    chart_cell(chart, "%.1f", 100 * roof->ipc / ceiling);
}

static void draw(const struct plot_input *input) {
    struct roof *roofs = arena_alloc(input->arena, input->count, sizeof *roofs);
    struct extent all = {INFINITY, 0, INFINITY, 0};
    for (unsigned i = 0; i < input->count; i++) {
        const struct roof *roof = &roofs[i];
        roofs[i] = roof_of(input->run[i]);
        widen(&all.y_low, &all.y_high, roof->ipc);
        widen(&all.y_low, &all.y_high, roof->issue);
        for (unsigned level = 0; level < LEVELS; level++) {
            widen(&all.x_low, &all.x_high, intensity(input->run[i], roof, level));
            widen(&all.x_low, &all.x_high, roof->issue / roof->bandwidth[level]);
        }
    }
    struct chart *chart = chart_begin(input->charts, "Roofline",
                                      "Warp instructions per cycle against warp instructions per byte of DRAM traffic "
                                      "(circles) and of LLC data ports (diamonds).");
    double top = plot_legend(input, chart->svg, 0) + 10, bottom = top + 320;
    struct axis x = axis_decades(all.x_low, all.x_high, PLOT_LEFT, PLOT_WIDTH - 20);
    struct axis y = axis_decades(all.y_low, all.y_high, bottom, top);
    axis_draw_x(chart->svg, &x, top, bottom, "warp instructions per byte");
    axis_draw_y(chart->svg, &y, PLOT_LEFT, PLOT_WIDTH - 20, "warp instructions per cycle");
    chart_row(chart);
    static const char *const heads[] = {
        "run", "level", "warp instructions per byte", "warp instructions per cycle", "ceiling", "% of ceiling"};
    for (unsigned i = 0; i < COUNT_OF(heads); i++) chart_cell(chart, "%s", heads[i]);
    struct points points = {0};
    for (unsigned i = 0; i < input->count; i++)
        for (unsigned level = 0; level < LEVELS; level++) {
            double at = intensity(input->run[i], &roofs[i], level);
            if (!isfinite(at)) continue;
            points.at[points.count].x = axis_at(&x, at);
            points.at[points.count++].y = axis_at(&y, roofs[i].ipc);
        }
    for (unsigned i = 0; i < input->count; i++) {
        bool drawn = false;
        for (unsigned k = 0; k < i; k++) drawn |= same_roof(&roofs[k], &roofs[i]);
        if (!drawn) draw_roof(chart->svg, &roofs[i], &x, &y, result_text(input->run[i]->json, "gpu"), &points);
    }
    for (unsigned i = 0; i < input->count; i++)
        for (unsigned level = 0; level < LEVELS; level++) {
            double at = intensity(input->run[i], &roofs[i], level);
            put_values(chart, input->run[i], &roofs[i], level);
            if (!isfinite(at)) continue;
            svg_mark(chart->svg, level == LEVEL_DRAM ? SVG_CIRCLE : SVG_DIAMOND, axis_at(&x, at),
                     axis_at(&y, roofs[i].ipc), plot_fill(i).text,
                     "%s, %s: %.4g per cycle, %.4g per byte, %.1f %% of the ceiling", input->run[i]->label,
                     level_names[level], roofs[i].ipc, at,
                     100 * roofs[i].ipc / fmin(roofs[i].issue, at * roofs[i].bandwidth[level]));
        }
    chart_end(chart, PLOT_WIDTH, bottom + 40);
}

const struct plot_kind plot_roofline = {"roofline", lacks, draw};
