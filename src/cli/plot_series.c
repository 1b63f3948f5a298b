/* Values over time, from the samples of `sluice run --sample`: a panel per metric, a line per run. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"

enum { POINTS = 400 /* per line; more samples are merged */, PANEL = 170, FOOT = 44 };

static const struct plot_metric metrics[] = {
    {"IPC", "thread instructions per cycle", "sm.thread_instructions / cycles"},
    {"Issuing", "% of SM cycles", "100 * sm.issuing / sm.cycles"},
    {"L1 read hits", "% of reads",
     "100 * l1.read_hits / (l1.read_hits + l1.read_pending_hits + l1.read_misses + l1.read_bypasses)"},
    {"LLC read hits", "% of reads",
     "100 * (llc.read_hits + (copies.read_hits ? 0)) /"
     " (llc.read_hits + llc.read_pending_hits + llc.read_misses + (copies.read_hits ? 0) +"
     " (copies.read_pending_hits ? 0))"},
    {"DRAM traffic", "bytes per cycle", "(dram.read_bytes + dram.write_bytes) / cycles"},
};

/* The samples of a run: increases over intervals, merged so that there are at most POINTS. */
struct samples {
    const struct json_value *columns; /* first column */
    unsigned width, count;
    double *value; /* [count][width]; column 0 is the cycle at the end of the interval */
    unsigned row;  /* the interval that names refer to */
};

static unsigned length_of(const struct json_value *array) {
    unsigned count = 0;
    for (const struct json_value *item = array ? array->first : NULL; item; item = item->next) count++;
    return count;
}

static struct samples read_samples(struct arena *arena, const struct plot_run *run) {
    const struct json_value *samples = json_member(run->json, "samples"), *rows = json_member(samples, "rows");
    const struct json_value *columns = json_member(samples, "columns");
    struct samples read = {.columns = columns->first, .width = length_of(columns)};
    unsigned all = length_of(rows), merged = (all + POINTS - 1) / POINTS, number = 0;
    if (merged == 0) return read;
    read.count = (all + merged - 1) / merged;
    read.value = arena_alloc(arena, (size_t)read.count * read.width, sizeof *read.value);
    for (const struct json_value *row = rows->first; row; row = row->next, number++) {
        double *to = read.value + (size_t)(number / merged) * read.width;
        unsigned column = 0;
        for (const struct json_value *item = row->first; item && column < read.width; item = item->next, column++)
            to[column] = column == 0 ? item->number : to[column] + item->number;
    }
    return read;
}

static double end_of(const struct samples *samples, unsigned row) {
    return samples->value[(size_t)row * samples->width];
}

/* A counter's increase in the interval; `cycles` is its length. */
static bool view_value(void *user, const char *name, int unit, double *value) {
    const struct samples *samples = user;
    (void)unit;
    if (strcmp(name, "cycles") == 0) {
        *value = end_of(samples, samples->row) - (samples->row ? end_of(samples, samples->row - 1) : 0);
        return true;
    }
    unsigned column = 0;
    for (const struct json_value *item = samples->columns; item; item = item->next, column++) {
        if (!item->text || strcmp(item->text, name) != 0) continue;
        *value = samples->value[(size_t)samples->row * samples->width + column];
        return true;
    }
    return false;
}

static unsigned view_units(void *user, const char *name) {
    (void)user, (void)name;
    return 0;
}

/* The metric in each interval. */
static double *evaluate(struct arena *arena, struct samples *samples, const struct expression *expression) {
    double *values = arena_alloc(arena, samples->count, sizeof *values);
    struct expression_view view = {view_value, view_units, samples};
    for (samples->row = 0; samples->row < samples->count; samples->row++)
        values[samples->row] = expression_value(expression, &view);
    return values;
}

/* A step per interval, with gaps where the metric has no value. */
static void draw_line(FILE *out, const struct samples *samples, const double *values, const struct axis *x,
                      const struct axis *y, unsigned run, const char *title) {
    fprintf(out, "<path class=\"%s\" d=\"", plot_stroke(run).text);
    bool gap = true;
    for (unsigned i = 0; i < samples->count; i++) {
        if (isfinite(values[i]))
            fprintf(out, "%c%.1f %.1fH%.1f", gap ? 'M' : 'L', axis_at(x, i ? end_of(samples, i - 1) : 0),
                    axis_at(y, values[i]), axis_at(x, end_of(samples, i)));
        gap = !isfinite(values[i]);
    }
    fputs("\"><title>", out);
    svg_escape(out, title);
    fputs("</title></path>\n", out);
}

static void draw_panel(const struct plot_input *input, struct samples *samples, const struct plot_metric *metric) {
    struct expression *expression = plot_expression(metric->formula);
    double **values = arena_alloc(input->arena, input->count, sizeof *values), largest = 0, last = 0;
    for (unsigned i = 0; i < input->count; i++) {
        values[i] = evaluate(input->arena, &samples[i], expression);
        for (unsigned k = 0; k < samples[i].count; k++) largest = fmax(largest, values[i][k]);
        if (samples[i].count) last = fmax(last, end_of(&samples[i], samples[i].count - 1));
    }
    expression_free(expression);
    struct chart *chart = chart_begin(input->charts, metric->name, NULL);
    double top = plot_legend(input, chart->svg, 0) + 6, bottom = top + PANEL;
    struct axis x = axis_from_zero(last, PLOT_LEFT, PLOT_WIDTH - 20), y = axis_from_zero(largest, bottom, top);
    axis_draw_x(chart->svg, &x, top, bottom, "cycles");
    axis_draw_y(chart->svg, &y, PLOT_LEFT, PLOT_WIDTH - 20, metric->unit);
    chart_row(chart);
    chart_cell(chart, "run");
    chart_cell(chart, "until cycle");
    chart_cell(chart, "%s, %s", metric->name, metric->unit);
    for (unsigned i = 0; i < input->count; i++) {
        draw_line(chart->svg, &samples[i], values[i], &x, &y, i, input->run[i]->label);
        for (unsigned k = 0; k < samples[i].count; k++) {
            chart_row(chart);
            chart_cell(chart, "%s", input->run[i]->label);
            chart_cell(chart, "%.0f", end_of(&samples[i], k));
            chart_cell(chart, "%.6g", values[i][k]);
        }
    }
    chart_end(chart, PLOT_WIDTH, bottom + FOOT);
}

static const char *lacks(const struct plot_run *run) {
    const struct json_value *samples = json_member(run->json, "samples"), *rows = json_member(samples, "rows");
    const struct json_value *columns = json_member(samples, "columns");
    return rows && rows->first && columns && columns->first
               ? NULL
               : "it has no samples; `sluice run ... --sample CYCLES --json FILE` adds them";
}

static void draw(const struct plot_input *input) {
    struct samples *samples = arena_alloc(input->arena, input->count, sizeof *samples);
    for (unsigned i = 0; i < input->count; i++) samples[i] = read_samples(input->arena, input->run[i]);
    for (unsigned i = 0; i < input->counter_count; i++) { /* a plain counter as a rate */
        struct plot_metric metric = input->counter[i];
        bool plain = strspn(metric.formula, "abcdefghijklmnopqrstuvwxyz0123456789_.") == strlen(metric.formula);
        char formula[256];
        snprintf(formula, sizeof formula, "%s / cycles", metric.formula);
        if (plain) metric.formula = formula, metric.unit = "per cycle";
        draw_panel(input, samples, &metric);
    }
    for (unsigned i = 0; i < COUNT_OF(metrics) && !input->counter_count; i++) draw_panel(input, samples, &metrics[i]);
}

const struct plot_kind plot_series = {"series", lacks, draw};
