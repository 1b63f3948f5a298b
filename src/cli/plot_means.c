/* Mean latencies by level, from sums that every run has: whole loads, and the stages of the loads that leave the SM. A stage
 * counts every packet or request of its level, so the stages of a run need not add up to the latency of its loads. */
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"

enum { LABEL = 200, BAR = 14, GAP = 12 };

static const struct stage {
    const char *name, *cycles, *events; /* counters */
    const char *clock;                  /* parameter: clock of the cycles; NULL: the core's */
    const char *constant;               /* parameter: core cycles that the counters do not include; or NULL */
} stages[] = {
    {"load, issue to data", "sm.load_cycles", "sm.loads", NULL, NULL},
    {"request network", "noc.request.packet_cycles", "noc.request.packets_ejected", "noc.clock_mhz", NULL},
    {"LLC lookup", NULL, NULL, NULL, "llc.latency_cycles"},
    {"DRAM read, with controller", "dram.read_cycles", "dram.reads", "dram.clock_mhz", "dram.controller_cycles"},
    {"reply network", "noc.reply.packet_cycles", "noc.reply.packets_ejected", "noc.clock_mhz", NULL},
};

/* In core cycles; NaN without an event. */
static double latency(const struct json_value *run, const struct stage *stage) {
    double constant = stage->constant ? result_parameter(run, stage->constant) : 0;
    if (!stage->cycles) return constant;
    double core_mhz = result_parameter(run, "gpu.core_mhz");
    double mhz = stage->clock ? result_parameter(run, stage->clock) : core_mhz;
    double mean = result_value(run, stage->cycles) / result_value(run, stage->events);
    return constant + mean * core_mhz / (mhz > 0 ? mhz : core_mhz);
}

static void draw_bar(struct chart *chart, const struct plot_run *run, const struct stage *stage, double value,
                     const struct axis *axis, double y, const char *class_name) {
    char text[96];
    if (stage == stages)
        snprintf(text, sizeof text, "%.1f (%.0f to %.0f)", value, result_value(run->json, "sm.load_cycles_min"),
                 result_value(run->json, "sm.load_cycles_max"));
    else
        snprintf(text, sizeof text, "%.1f", value);
    svg_rect(chart->svg, axis->from, y, axis_at(axis, value) - axis->from, BAR, class_name, 1, "%s, %s: %.2f cycles",
             run->label, stage->name, value);
    svg_text(chart->svg, axis_at(axis, value) + 6, y + 11, "muted", "start", text);
}

void plot_mean_latencies(const struct plot_input *input) {
    double largest = 0;
    for (unsigned i = 0; i < input->count; i++)
        for (unsigned s = 0; s < COUNT_OF(stages); s++)
            largest = fmax(largest, latency(input->run[i]->json, &stages[s]));
    struct chart *chart =
        chart_begin(input->charts, "Latency by level",
                    "Means in core cycles; in parentheses the fastest and the slowest load. Runs with --latency have a "
                    "breakdown of their loads instead.");
    double top = plot_legend(input, chart->svg, 0) + 10, pitch = BAR * input->count + GAP;
    double bottom = top + pitch * COUNT_OF(stages);
    struct axis axis = axis_from_zero(1.25 * largest, LABEL, PLOT_WIDTH - 20); /* space for the values */
    axis_draw_x(chart->svg, &axis, top, bottom, "core cycles");
    chart_row(chart);
    chart_cell(chart, "mean latency, core cycles");
    for (unsigned i = 0; i < input->count; i++) chart_cell(chart, "%s", input->run[i]->label);
    for (unsigned s = 0; s < COUNT_OF(stages); s++) {
        double y = top + s * pitch + GAP / 2.0;
        svg_text(chart->svg, LABEL - 8, y + BAR * input->count / 2.0 + 4, "", "end", stages[s].name);
        chart_row(chart);
        chart_cell(chart, "%s", stages[s].name);
        for (unsigned i = 0; i < input->count; i++) {
            double value = latency(input->run[i]->json, &stages[s]);
            chart_cell(chart, isnan(value) ? "-" : "%.2f", value);
            if (!isnan(value)) draw_bar(chart, input->run[i], &stages[s], value, &axis, y + BAR * i, plot_fill(i).text);
        }
    }
    chart_end(chart, PLOT_WIDTH, bottom + 40);
}
