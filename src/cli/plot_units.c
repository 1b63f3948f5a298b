/* Heat maps of units (SMs, slices, channels): a strip per metric with a cell per unit, and for the counters of `sluice run
 * --sample-units` a map of units over time. The colour of a cell is its share of the largest value of its strip or map. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"

enum { LABEL = 210, CELL = 18, PITCH = 40, COLUMNS = 180 /* of a map over time; more samples are merged */, MAP = 240 };

static const struct plot_metric metrics[] = {
    {"SMs: issuing", "% of cycles", "100 * sm.issuing / sm.cycles"},
    {"SMs: memory stalls", "% of cycles", "100 * sm.stall.memory / sm.cycles"},
    {"L1s: read hits", "% of reads",
     "100 * l1.read_hits / (l1.read_hits + l1.read_pending_hits + l1.read_misses + l1.read_bypasses)"},
    {"LLC slices: accesses", "",
     "llc.read_hits + llc.read_pending_hits + llc.read_misses + llc.write_hits + llc.write_misses + llc.atomic_hits +"
     " llc.atomic_misses"},
    {"LLC slices: data port busy", "% of cycles", "100 * llc.data_port_cycles / cycles"},
    {"DRAM channels: traffic", "bytes per cycle", "(dram.read_bytes + dram.write_bytes) / cycles"},
};

static const struct json_value *units_of(const struct json_value *run, const char *name) {
    return json_member(json_member(run, "units"), name);
}

static bool view_value(void *user, const char *name, int unit, double *value) {
    const struct json_value *run = user, *item = units_of(run, name);
    if (unit < 0 || !item) {
        *value = result_value(run, name);
        return !isnan(*value);
    }
    for (item = item->first; item && unit > 0; item = item->next) unit--;
    if (!item || item->kind != JSON_NUMBER) return false;
    *value = item->number;
    return true;
}

static unsigned view_units(void *user, const char *name) {
    const struct json_value *units = units_of(user, name);
    unsigned count = 0;
    for (const struct json_value *item = units ? units->first : NULL; item; item = item->next) count++;
    return count;
}

/* --- strips --- */

/* "0.5 to 12.3, mean 4.1" */
static void range_text(const double *values, unsigned count, char *text, size_t size) {
    double least = INFINITY, most = -INFINITY, sum = 0;
    unsigned valid = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
        sum += values[i];
        valid++;
    }
    snprintf(text, size, "%s to %s, mean %s", svg_number(least).text, svg_number(most).text,
             svg_number(sum / valid).text);
}

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, values[i]);
    return most;
}

/* One strip; returns whether the run has the units. */
static bool draw_strip(const struct plot_input *input, struct chart *chart, const struct plot_run *run,
                       const struct plot_metric *metric, double left, double y) {
    struct expression *expression = plot_expression(metric->formula);
    struct expression_view view = {view_value, view_units, (void *)(uintptr_t)run->json};
    unsigned count = expression_units(expression, &view);
    double *values = arena_alloc(input->arena, count ? count : 1, sizeof *values);
    for (unsigned i = 0; i < count; i++) values[i] = expression_unit_value(expression, &view, (int)i);
    expression_free(expression);
    if (count < 2) return false;
    char range[96], text[256];
    range_text(values, count, range, sizeof range);
    snprintf(text, sizeof text, "%s%s%s", range, *metric->unit ? " " : "", metric->unit);
    plot_name(chart->svg, left, y + 13, "", metric->name);
    svg_text(chart->svg, left, y + CELL + 13, "muted", "start", text);
    if (input->count > 1) plot_name(chart->svg, left, y + CELL + 13, "muted", run->label);
    double width = (PLOT_WIDTH - left - 20.0) / count, most = largest(values, count);
    chart_row(chart);
    chart_cell(chart, "%s", run->label);
    chart_cell(chart, "%s%s%s", metric->name, *metric->unit ? ", " : "", metric->unit);
    for (unsigned i = 0; i < count; i++) {
        svg_rect(chart->svg, left + i * width, y, width, CELL, isfinite(values[i]) ? "heat" : "empty",
                 most > 0 && isfinite(values[i]) ? 0.06 + 0.94 * values[i] / most : 0.06, "%s, unit %u: %s",
                 metric->name, i, svg_number(values[i]).text);
        chart_cell(chart, "%.6g", values[i]);
    }
    return true;
}

static void draw_strips(const struct plot_input *input, const struct plot_metric *shown, unsigned count) {
    struct chart *chart =
        chart_begin(input->charts, "Units",
                    "A cell per SM, slice or channel, from unit 0 on the left; the largest value of a "
                    "strip is darkest.");
    double y = 4, widest = input->count > 1 ? plot_widest_label(input) : 0;
    for (unsigned i = 0; i < count; i++) widest = fmax(widest, svg_text_width(shown[i].name));
    double left = plot_names(widest, LABEL);
    for (unsigned i = 0; i < count; i++)
        for (unsigned r = 0; r < input->count; r++)
            if (draw_strip(input, chart, input->run[r], &shown[i], left, y)) y += PITCH;
    chart_end(chart, PLOT_WIDTH, y);
}

/* --- maps over time --- */

static void draw_map(const struct plot_input *input, const struct plot_run *run, const struct json_value *counter,
                     double last_cycle) {
    unsigned rows = 0, units = 0;
    for (const struct json_value *row = counter->first; row; row = row->next) rows++;
    for (const struct json_value *item = rows ? counter->first->first : NULL; item; item = item->next) units++;
    if (!units) return;
    unsigned merged = (rows + COLUMNS - 1) / COLUMNS, columns = (rows + merged - 1) / merged, number = 0;
    double *value = arena_alloc(input->arena, (size_t)columns * units, sizeof *value);
    for (const struct json_value *row = counter->first; row; row = row->next, number++) {
        unsigned unit = 0;
        for (const struct json_value *item = row->first; item && unit < units; item = item->next)
            value[(size_t)(number / merged) * units + unit++] += item->number;
    }
    char title[256], note[128];
    snprintf(title, sizeof title, "%.100s by unit over time%s%.120s", counter->key, input->count > 1 ? ": " : "",
             input->count > 1 ? run->label : "");
    double most = largest(value, (size_t)columns * units);
    snprintf(note, sizeof note, "A row per unit; the darkest cell counts %s.", svg_number(most).text);
    struct chart *chart = chart_begin(input->charts, title, note);
    double left = PLOT_LEFT, width = (PLOT_WIDTH - left - 20) / columns, height = fmin(14, (double)MAP / units);
    for (unsigned column = 0; column < columns; column++)
        for (unsigned unit = 0; unit < units; unit++) {
            double cell = value[(size_t)column * units + unit];
            if (cell <= 0) continue; /* as the background */
            svg_rect(chart->svg, left + column * width, 4 + unit * height, width, height, "heat", cell / most,
                     "unit %u: %s", unit, svg_number(cell).text);
        }
    double bottom = 4 + units * height;
    struct axis x = {0, last_cycle, left, PLOT_WIDTH - 20, false};
    axis_draw_x(chart->svg, &x, bottom, bottom, "cycles");
    svg_text(chart->svg, left - 6, 14, "muted", "end", "unit 0");
    char last[32];
    snprintf(last, sizeof last, "unit %u", units - 1);
    svg_text(chart->svg, left - 6, bottom, "muted", "end", last);
    chart_end(chart, PLOT_WIDTH, bottom + 40);
}

/* The cycle of the last sample. */
static double last_cycle(const struct json_value *samples) {
    double cycle = 1;
    const struct json_value *rows = json_member(samples, "rows");
    for (const struct json_value *row = rows ? rows->first : NULL; row; row = row->next)
        if (row->first && row->first->number > cycle) cycle = row->first->number;
    return cycle;
}

static const char *lacks(const struct plot_run *run) {
    const struct json_value *units = json_member(run->json, "units");
    return units && units->first ? NULL : "it has no values per unit";
}

static void draw(const struct plot_input *input) {
    if (input->counter_count)
        draw_strips(input, input->counter, input->counter_count);
    else
        draw_strips(input, metrics, COUNT_OF(metrics));
    for (unsigned i = 0; i < input->count; i++) {
        const struct json_value *samples = json_member(input->run[i]->json, "samples");
        const struct json_value *sampled = json_member(samples, "units");
        for (const struct json_value *counter = sampled ? sampled->first : NULL; counter; counter = counter->next)
            draw_map(input, input->run[i], counter, last_cycle(samples));
    }
}

const struct plot_kind plot_units = {"units", lacks, draw};
