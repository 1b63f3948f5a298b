/* SM cycle breakdown: a stacked bar per run, of the cycles with an issue and of the stall causes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/plot.h"
#include "report/svg.h"

enum { CAUSES = 32, BAR = 26, PITCH = 36, LABEL = 170, LEAST = 34 /* width of a part with its value inside */ };

static const char prefix[] = "sm.stall.";

struct cause {
    const char *counter;
    char name[48];
    char class_name[8];
};

/* Idle cycles are grey in every plot; the others keep their colours, since the order of counters does not change. */
static struct cause cause_of(const char *counter, unsigned number) {
    struct cause cause = {.counter = counter};
    bool stall = strncmp(counter, prefix, strlen(prefix)) == 0;
    snprintf(cause.name, sizeof cause.name, "%.40s", stall ? counter + strlen(prefix) : "issuing");
    for (char *c = cause.name; *c; c++) *c = *c == '_' ? ' ' : *c;
    enum { GREY = 6 }; /* of the palette */
    bool idle = strcmp(cause.name, "idle") == 0;
    snprintf(cause.class_name, sizeof cause.class_name, "c%u",
             idle ? GREY : (number >= GREY ? number + 1 : number) % SVG_COLOURS);
    return cause;
}

static double share(const struct plot_run *run, const char *counter) {
    return 100 * result_value(run->json, counter) / result_value(run->json, "sm.cycles");
}

/* Causes with at least 0.05 % of the cycles of a run; the same in all bars. */
static unsigned find_causes(const struct plot_input *input, struct cause *causes) {
    unsigned count = 0, number = 0;
    if (input->count == 0) return 0;
    const struct json_value *stat = json_member(input->run[0]->json, "stats")->first;
    for (; stat && count < CAUSES; stat = stat->next) {
        bool idle = strcmp(stat->key, "sm.stall.idle") == 0;
        if (strcmp(stat->key, "sm.issuing") != 0 && strncmp(stat->key, prefix, strlen(prefix)) != 0) continue;
        struct cause cause = cause_of(stat->key, number);
        number += !idle;
        double most = 0;
        for (unsigned i = 0; i < input->count; i++) most = fmax(most, share(input->run[i], stat->key));
        if (most >= 0.05) causes[count++] = cause;
    }
    return count;
}

static const char *lacks(const struct plot_run *run) {
    return result_value(run->json, "sm.cycles") > 0 ? NULL : "no SM has run: there is no cycle breakdown";
}

static void draw(const struct plot_input *input) {
    struct cause causes[CAUSES];
    unsigned count = find_causes(input, causes);
    struct chart *chart = chart_begin(input->charts, "SM cycle breakdown", "Share of the cycles of all SMs.");
    const char *names[CAUSES], *classes[CAUSES];
    for (unsigned k = 0; k < count; k++) names[k] = causes[k].name, classes[k] = causes[k].class_name;
    double top = svg_legend(chart->svg, 0, 0, PLOT_WIDTH, classes, names, count) + 10;
    double left = plot_names(plot_widest_label(input), LABEL), bottom = top + PITCH * input->count;
    struct axis axis = axis_from_zero(100, left, PLOT_WIDTH - 20);
    axis_draw_x(chart->svg, &axis, top, bottom, "% of SM cycles");
    chart_row(chart);
    chart_cell(chart, "%% of SM cycles");
    for (unsigned k = 0; k < count; k++) chart_cell(chart, "%s", names[k]);
    for (unsigned i = 0; i < input->count; i++) {
        double y = top + PITCH * i + (PITCH - BAR) / 2.0, from = 0;
        plot_name(chart->svg, left, y + 17, "", input->run[i]->label);
        chart_row(chart);
        chart_cell(chart, "%s", input->run[i]->label);
        for (unsigned k = 0; k < count; k++) {
            double part = share(input->run[i], causes[k].counter), x = axis_at(&axis, from);
            chart_cell(chart, "%.2f", part);
            if (isnan(part) || part <= 0) continue;
            double width = axis_at(&axis, from + part) - x;
            svg_rect(chart->svg, x, y, width, BAR, classes[k], 1, "%s, %s: %.2f %%", input->run[i]->label, names[k],
                     part);
            char text[16];
            snprintf(text, sizeof text, "%.1f", part);
            if (width >= LEAST) svg_text(chart->svg, x + width / 2, y + 17, "inside", "middle", text);
            from += part;
        }
    }
    chart_end(chart, PLOT_WIDTH, bottom + 40);
}

const struct plot_kind plot_stalls = {"stalls", lacks, draw};
