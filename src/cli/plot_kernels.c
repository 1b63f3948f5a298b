/* Kernels of a program: a bar per launch, as high as its IPC and as wide as its cycles, so that its area is its instructions. Launches
 * of one kernel have one colour. Launches that run at the same time, of two programs, are drawn one after the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"

enum { HEIGHT = 180, NAMES = 64 };

static const struct json_value *kernels_of(const struct plot_run *run) { return json_member(run->json, "kernels"); }

static double number_of(const struct json_value *kernel, const char *key) {
    const struct json_value *value = json_member(kernel, key);
    return value && value->kind == JSON_NUMBER && value->number > 0 ? value->number : 0;
}

static double ipc_of(const struct json_value *kernel) {
    double cycles = number_of(kernel, "cycles");
    return cycles > 0 ? number_of(kernel, "instructions") / cycles : 0;
}

static const char *lacks(const struct plot_run *run) {
    const struct json_value *kernels = kernels_of(run);
    unsigned count = 0;
    for (const struct json_value *kernel = kernels ? kernels->first : NULL; kernel; kernel = kernel->next)
        count += number_of(kernel, "cycles") > 0;
    return count > 1 ? NULL : "it has fewer than two launches";
}

/* Position of the name among the distinct ones, which it is added to. */
static unsigned place_of(const char **names, unsigned *count, const char *name) {
    unsigned place = 0;
    while (place < *count && strcmp(names[place], name) != 0) place++;
    if (place == *count && place < NAMES) names[(*count)++] = name;
    return place;
}

static void draw_run(const struct plot_input *input, const struct plot_run *run) {
    char *title = text_format(input->count > 1 ? "Kernels, %s" : "Kernels", run->label);
    struct chart *chart = chart_begin(input->charts, title, "IPC of each launch, over the cycles that it takes.");
    free(title);
    const char *names[NAMES], *classes[NAMES];
    struct plot_class fills[NAMES];
    unsigned count = 0;
    double cycles = 0, largest = 0;
    for (const struct json_value *kernel = kernels_of(run)->first; kernel; kernel = kernel->next) {
        place_of(names, &count, result_text(kernel, "name"));
        cycles += number_of(kernel, "cycles");
        largest = fmax(largest, ipc_of(kernel));
    }
    for (unsigned i = 0; i < count; i++) fills[i] = plot_fill(i), classes[i] = fills[i].text;
    double top = svg_legend(chart->svg, 0, 0, PLOT_WIDTH, classes, names, count) + 10, bottom = top + HEIGHT, at = 0;
    struct axis x = axis_from_zero(cycles, PLOT_LEFT, PLOT_WIDTH - 20), y = axis_from_zero(largest, bottom, top);
    axis_draw_x(chart->svg, &x, top, bottom, "cycles");
    axis_draw_y(chart->svg, &y, PLOT_LEFT, PLOT_WIDTH - 20, "IPC");
    chart_row(chart);
    static const char *const heads[] = {"launch", "kernel", "cycles", "IPC"};
    for (unsigned i = 0; i < COUNT_OF(heads); i++) chart_cell(chart, "%s", heads[i]);
    for (const struct json_value *kernel = kernels_of(run)->first; kernel; kernel = kernel->next) {
        double wide = number_of(kernel, "cycles"), ipc = ipc_of(kernel), left = axis_at(&x, at),
               high = axis_at(&y, ipc);
        const char *name = result_text(kernel, "name");
        svg_rect(chart->svg, left, high, fmax(axis_at(&x, at + wide) - left - 0.5, 0.5), bottom - high,
                 plot_fill(place_of(names, &count, name)).text, 1, "launch %.0f, %s: IPC %.2f, %.0f cycles",
                 number_of(kernel, "launch"), name, ipc, wide);
        chart_row(chart);
        chart_cell(chart, "%.0f", number_of(kernel, "launch"));
        chart_cell(chart, "%s", name);
        chart_cell(chart, "%.0f", wide);
        chart_cell(chart, "%.2f", ipc);
        at += wide;
    }
    chart_end(chart, PLOT_WIDTH, bottom + 40);
}

static void draw(const struct plot_input *input) {
    for (unsigned i = 0; i < input->count; i++) draw_run(input, input->run[i]);
}

const struct plot_kind plot_kernels = {"kernels", lacks, draw};
