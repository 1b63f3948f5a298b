/* The comparison as text, as JSON, and as scatter plots. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "cli/correlate.h"
#include "report/svg.h"

/* Whether a metric's counts must be equal: such metrics share one column of the table. */
static bool is_count(const struct correlate_metric *metric) { return metric->bound == 0; }

/* --- as text --- */

/* "equal", "DIFF", or "-" if nothing is compared. */
static const char *counts_text(const struct reference *reference, const struct reference_row *row) {
    const char *text = "-";
    for (unsigned m = 0; m < reference->metric_count; m++) {
        if (!is_count(&reference->metric[m]) || isnan(row->value[m].error)) continue;
        if (row->value[m].error != 0) return "DIFF";
        text = "equal";
    }
    return text;
}

static void write_head(const struct reference *reference, FILE *out) {
    fprintf(out, "%-9s %-13s %6s", "machine", "kernel", "counts");
    for (unsigned m = 0; m < reference->metric_count; m++)
        if (!is_count(&reference->metric[m]))
            fprintf(out, "  %16s %9s %7s", reference->metric[m].name, "reference", "error");
    fputc('\n', out);
}

static void write_row(const struct reference *reference, const struct reference_row *row, FILE *out) {
    fprintf(out, "%-9s %-13s %6s", row->machine, row->kernel, counts_text(reference, row));
    for (unsigned m = 0; m < reference->metric_count; m++) {
        const struct comparison_value *value = &row->value[m];
        if (is_count(&reference->metric[m])) continue;
        fprintf(out, "  %16.10g %9.10g", value->ours, value->theirs);
        if (isnan(value->error))
            fprintf(out, " %7s", "-");
        else
            fprintf(out, " %+6.1f%%", 100 * value->error);
    }
    fputc('\n', out);
}

void correlate_write_table(const struct reference *reference, FILE *out) {
    write_head(reference, out);
    for (unsigned i = 0; i < reference->row_count; i++)
        if (reference->row[i].result) write_row(reference, &reference->row[i], out);
    fprintf(out, "\n%-9s %7s  %-20s %13s %9s  %-13s %8s\n", "machine", "kernels", "metric", "mean |error|", "largest",
            "of", "r");
    for (unsigned i = 0; i < reference->machine_count; i++)
        for (unsigned m = 0; m < reference->metric_count; m++) {
            const char *machine = reference->machine[i].name;
            struct correlate_summary summary = correlate_summarise(reference, machine, m);
            if (is_count(&reference->metric[m]) || !summary.kernels) continue;
            fprintf(out, "%-9s %7u  %-20s %12.2f%% %8.1f%%  %-13s ", machine, summary.kernels,
                    reference->metric[m].name, 100 * summary.mean, 100 * summary.largest,
                    *summary.largest_kernel ? summary.largest_kernel : "-");
            if (isnan(summary.correlation))
                fprintf(out, "%8s\n", "-");
            else
                fprintf(out, "%8.4f\n", summary.correlation);
        }
    fputs("r: correlation of the logarithms over the kernels of the machine.\n", out);
}

/* --- as JSON --- */

static void put_values(struct json *json, const struct reference *reference, const struct reference_row *row) {
    json_key(json, "metrics");
    json_array(json);
    for (unsigned m = 0; m < reference->metric_count; m++) {
        json_object_compact(json);
        json_put_text(json, "metric", reference->metric[m].name);
        json_put_real(json, "ours", row->value[m].ours);
        json_put_real(json, "reference", row->value[m].theirs);
        json_put_real(json, "error", row->value[m].error);
        json_end(json);
    }
    json_end(json);
}

static void put_machine(struct json *json, const struct reference *reference, const struct reference_machine *machine) {
    json_object(json);
    json_put_text(json, "machine", machine->name);
    json_put_text(json, "gpu", machine->gpu);
    json_key(json, "metrics");
    json_array(json);
    for (unsigned m = 0; m < reference->metric_count; m++) {
        struct correlate_summary summary = correlate_summarise(reference, machine->name, m);
        if (!summary.kernels) continue;
        json_object_compact(json);
        json_put_text(json, "metric", reference->metric[m].name);
        json_put_unsigned(json, "kernels", summary.kernels);
        json_put_real(json, "mean_absolute_error", summary.mean);
        json_put_real(json, "largest_error", summary.largest);
        json_put_text(json, "largest_kernel", summary.largest_kernel);
        json_put_real(json, "correlation", summary.correlation);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void put_violation(void *user, const char *text) { json_text(user, text); }

void correlate_write_json(FILE *out, const void *what) {
    const struct reference *reference = what;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_text(&json, "sluice", SLUICE_VERSION);
    json_put_text(&json, "folder", reference->folder);
    json_key(&json, "machines");
    json_array(&json);
    for (unsigned i = 0; i < reference->machine_count; i++) put_machine(&json, reference, &reference->machine[i]);
    json_end(&json);
    json_key(&json, "kernels");
    json_array(&json);
    for (unsigned i = 0; i < reference->row_count; i++) {
        const struct reference_row *row = &reference->row[i];
        if (!row->result) continue;
        json_object(&json);
        json_put_text(&json, "machine", row->machine);
        json_put_text(&json, "kernel", row->kernel);
        put_values(&json, reference, row);
        json_end(&json);
    }
    json_end(&json);
    json_key(&json, "violations");
    json_array(&json);
    correlate_violations(reference, put_violation, &json);
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}

/* --- as scatter plots --- */

enum { SIDE = 360, LEFT = 90, WIDTH = 580 };

struct extent {
    double least, most, sum;
    unsigned points;
};

/* Of the positive values, which a logarithmic axis can show. */
static struct extent extent_of(const struct reference *reference, unsigned metric) {
    struct extent extent = {INFINITY, 0, 0, 0};
    for (unsigned i = 0; i < reference->row_count; i++) {
        const struct comparison_value *value = &reference->row[i].value[metric];
        if (!(value->ours > 0 && value->theirs > 0)) continue;
        extent.least = fmin(extent.least, fmin(value->ours, value->theirs));
        extent.most = fmax(extent.most, fmax(value->ours, value->theirs));
        extent.sum += fabs(value->error);
        extent.points++;
    }
    return extent;
}

static unsigned machine_index(const struct reference *reference, const char *name) {
    unsigned i = 0;
    while (strcmp(reference->machine[i].name, name) != 0) i++;
    return i;
}

static void draw_legend(const struct reference *reference, FILE *out, double x, double y) {
    for (unsigned i = 0, shown = 0; i < reference->machine_count; i++) {
        bool used = false;
        for (unsigned k = 0; k < reference->row_count; k++)
            used |= strcmp(reference->row[k].machine, reference->machine[i].name) == 0;
        if (!used) continue;
        char class_name[8];
        const char *class_list = class_name, *name = reference->machine[i].name;
        snprintf(class_name, sizeof class_name, "c%u", i % SVG_COLOURS);
        svg_legend(out, x, y + 20 * shown++, WIDTH - x, &class_list, &name, 1);
    }
}

static void draw_metric(const struct reference *reference, struct charts *charts, unsigned m) {
    const struct correlate_metric *metric = &reference->metric[m];
    struct extent extent = extent_of(reference, m);
    if (extent.points == 0 || is_count(metric)) return;
    char note[128];
    snprintf(note, sizeof note, "%u points; mean absolute error %.2f %%%s.", extent.points,
             100 * extent.sum / extent.points, metric->share);
    struct chart *chart = chart_begin(charts, metric->name, note);
    struct axis x = axis_decades(extent.least, extent.most, LEFT, LEFT + SIDE), y = x;
    y.from = SIDE + 8, y.to = 8;
    axis_draw_x(chart->svg, &x, 8, SIDE + 8, "reference");
    axis_draw_y(chart->svg, &y, LEFT, LEFT + SIDE, "Sluice");
    svg_line(chart->svg, x.from, y.from, x.to, y.to, "axis");
    draw_legend(reference, chart->svg, LEFT + SIDE + 30, 10);
    static const char *const heads[] = {"machine", "kernel", "Sluice", "reference", "error, %"};
    chart_row(chart);
    for (unsigned i = 0; i < COUNT_OF(heads); i++) chart_cell(chart, "%s", heads[i]);
    for (unsigned i = 0; i < reference->row_count; i++) {
        const struct reference_row *row = &reference->row[i];
        const struct comparison_value *value = &row->value[m];
        if (isnan(value->error)) continue;
        chart_row(chart);
        chart_cell(chart, "%s", row->machine);
        chart_cell(chart, "%s", row->kernel);
        chart_cell(chart, "%.10g", value->ours);
        chart_cell(chart, "%.10g", value->theirs);
        chart_cell(chart, "%+.2f", 100 * value->error);
        if (!(value->ours > 0 && value->theirs > 0)) continue;
        char class_name[8];
        snprintf(class_name, sizeof class_name, "c%u", machine_index(reference, row->machine) % SVG_COLOURS);
        svg_mark(chart->svg, SVG_CIRCLE, axis_at(&x, value->theirs), axis_at(&y, value->ours), class_name,
                 "%s on %s: %.10g, reference %.10g (%+.1f %%%s)", row->kernel, row->machine, value->ours, value->theirs,
                 100 * value->error, metric->share);
    }
    chart_end(chart, WIDTH, SIDE + 52);
}

void correlate_draw(const struct reference *reference, struct charts *charts) {
    for (unsigned m = 0; m < reference->metric_count; m++) draw_metric(reference, charts, m);
}
