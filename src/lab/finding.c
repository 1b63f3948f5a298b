#include "lab/finding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/output.h"

enum { DESIGNS_SHOWN = 4, PAPERS_SHOWN = 3 };
static const double level_percent = 1;

struct finding {
    const struct cells *cells;
    const struct experiment *experiment;
    const struct lab_metric *metric; /* the first */
    FILE *out;
};

/* Distance of a design from the baseline, in per cent, or in the metric's unit for a difference. */
static double distance(const struct finding *finding, unsigned design, struct cell_set set) {
    enum lab_relation relation = finding->metric->relation == LAB_DIFFERENCE ? LAB_DIFFERENCE : LAB_GAIN;
    return cells_statistic(finding->cells, 0, relation, LAB_STATISTIC_MEAN, design, set);
}

/* "28.1 % better"; the direction depends on the metric. */
static void write_distance(const struct finding *finding, double value) {
    bool difference = finding->metric->relation == LAB_DIFFERENCE;
    const char *unit = difference ? finding->metric->unit : "%";
    if (fabs(value) < (difference ? 0.05 : level_percent))
        fputs("no difference", finding->out);
    else
        fprintf(finding->out, "%.1f%s%s %s", fabs(value), *unit ? " " : "", unit,
                (value > 0) == finding->metric->more_is_better ? "better" : "worse");
}

/* The workloads (or points) on which a design is best and worst; false if there are not two. */
static bool find_extremes(const struct finding *finding, unsigned design, bool points, int *best, int *worst) {
    unsigned count = points ? finding->cells->points : finding->experiment->workload_count, known = 0;
    double most = 0, least = 0;
    for (unsigned i = 0; i < count; i++) {
        struct cell_set set = {-1, points ? -1 : (int)i, points ? (int)i : -1};
        double value = distance(finding, design, set) * (finding->metric->more_is_better ? 1 : -1);
        if (isnan(value)) continue;
        if (known == 0 || value > most) most = value, *best = (int)i;
        if (known == 0 || value < least) least = value, *worst = (int)i;
        known++;
    }
    return known > 1 && *best != *worst;
}

static void write_extreme(const struct finding *finding, unsigned design, bool points, int member, const char *words) {
    char label[160];
    if (points)
        experiment_point_label(finding->experiment, (unsigned)member, label, sizeof label);
    else
        snprintf(label, sizeof label, "%s", finding->experiment->workloads[member].label);
    fprintf(finding->out, "%s %s%s (", words, points ? "at " : "on ", label);
    write_distance(finding,
                   distance(finding, design, (struct cell_set){-1, points ? -1 : member, points ? member : -1}));
    fputc(')', finding->out);
}

/* "private vs. shared, IPC: 28.1 % better on private-friendly, 18.1 % worse on shared-friendly; best on ..." */
static void write_design(const struct finding *finding, unsigned design) {
    const struct experiment *experiment = finding->experiment;
    const struct lab_metric *metric = finding->metric;
    unsigned groups = experiment->group_count > 1 ? experiment->group_count : 1, written = 0;
    bool points = finding->cells->points > 1;
    for (unsigned i = 0; i < groups; i++) {
        double value = distance(finding, design, (struct cell_set){groups > 1 ? (int)i : -1, -1, -1});
        if (isnan(value)) continue;
        if (written++)
            fputs(", ", finding->out);
        else
            fprintf(finding->out, "%s vs. %s, %s: ", experiment->designs[design].name,
                    experiment->designs[metric->baseline].name, metric->name);
        write_distance(finding, value);
        if (groups > 1) fprintf(finding->out, " on %s", experiment->groups[i].name);
    }
    int best = 0, worst = 0;
    if (written && find_extremes(finding, design, points, &best, &worst)) {
        write_extreme(finding, design, points, best, "; best");
        write_extreme(finding, design, points, worst, ", worst");
    }
    if (written) fputs(". ", finding->out);
}

/* Of many designs, only the best and the worst over all workloads. */
static void write_designs(const struct finding *finding) {
    const struct cell_set all = {-1, -1, -1};
    unsigned count = finding->experiment->design_count, baseline = (unsigned)finding->metric->baseline;
    unsigned best = baseline, worst = baseline;
    for (unsigned d = 0; d < count; d++) {
        double value = distance(finding, d, all) * (finding->metric->more_is_better ? 1 : -1);
        double sign = finding->metric->more_is_better ? 1 : -1;
        if (d == baseline || isnan(value)) continue;
        if (best == baseline || value > sign * distance(finding, best, all)) best = d;
        if (worst == baseline || value < sign * distance(finding, worst, all)) worst = d;
    }
    for (unsigned d = 0; d < count; d++)
        if (d != baseline && (count - 1 <= DESIGNS_SHOWN || d == best || d == worst)) write_design(finding, d);
}

/* "IPC on sharing: highest with private (123), lowest with shared (98). " */
static void write_quantities(const struct finding *finding) {
    const struct experiment *experiment = finding->experiment;
    unsigned groups = experiment->group_count > 1 ? experiment->group_count : 1;
    for (unsigned i = 0; i < groups; i++) {
        unsigned most = 0, least = 0, known = 0;
        double value[2] = {0, 0};
        for (unsigned d = 0; d < experiment->design_count; d++) {
            struct cell_set set = {groups > 1 ? (int)i : -1, -1, -1};
            double mean = cells_statistic(finding->cells, 0, LAB_PLAIN, LAB_STATISTIC_MEAN, d, set);
            if (isnan(mean)) continue;
            if (known == 0 || mean > value[0]) most = d, value[0] = mean;
            if (known == 0 || mean < value[1]) least = d, value[1] = mean;
            known++;
        }
        const char *unit = finding->metric->unit, *space = *unit ? " " : "";
        if (!known) continue;
        fprintf(finding->out, "%s%s%s: ", finding->metric->name, groups > 1 ? " on " : "",
                groups > 1 ? experiment->groups[i].name : "");
        if (known > 1 && most != least)
            fprintf(finding->out, "highest with %s (%.4g%s%s), lowest with %s (%.4g%s%s). ",
                    experiment->designs[most].name, value[0], space, unit, experiment->designs[least].name, value[1],
                    space, unit);
        else
            fprintf(finding->out, "%.4g%s%s%s. ", value[0], space, unit, known > 1 ? " with all designs" : "");
    }
}

/* The largest part of a stack, for each design. */
static void write_stack(const struct finding *finding) {
    const struct cell_set all = {-1, -1, -1};
    for (unsigned d = 0; d < finding->experiment->design_count && d < DESIGNS_SHOWN; d++) {
        double sum = 0, largest = -INFINITY;
        unsigned part = 0;
        for (unsigned m = 0; m < finding->experiment->metric_count; m++) {
            double mean = cells_statistic(finding->cells, m, finding->experiment->metrics[m].relation,
                                          LAB_STATISTIC_MEAN, d, all);
            sum += mean;
            if (mean > largest) largest = mean, part = m;
        }
        if (sum > 0)
            fprintf(finding->out, "%s: %s is the largest part (%.0f %%). ", finding->experiment->designs[d].name,
                    finding->experiment->metrics[part].name, 100 * largest / sum);
    }
}

static void write_papers(const struct finding *finding, const struct figure *figure) {
    for (unsigned i = 0; i < figure->paper_count && i < PAPERS_SHOWN; i++) {
        const struct figure_paper *paper = &figure->papers[i];
        fprintf(finding->out, "Published (%s): %s %s for %s, %s; ", paper->where, paper->said, paper->unit,
                paper->scheme, paper->what);
        if (isnan(paper->ours))
            fputs("the simulated value is missing. ", finding->out);
        else
            fprintf(finding->out, "simulated with %s: %.1f. ",
                    figure->experiment->designs[figure->experiment->paper_values[i].design].name, paper->ours);
    }
}

char *finding_write(const struct figure *figure, const struct cells *cells, struct error *err) {
    char *text;
    size_t length;
    FILE *out = text_open(&text, &length, err);
    if (!out) return NULL;
    struct finding finding = {cells, figure->experiment, &figure->experiment->metrics[0], out};
    if (figure->experiment->kind == LAB_STACK)
        write_stack(&finding);
    else if (finding.metric->baseline >= 0)
        write_designs(&finding);
    else
        write_quantities(&finding);
    write_papers(&finding, figure);
    if (figure->missing) fprintf(out, "%u %s missing. ", figure->missing, figure->missing == 1 ? "run is" : "runs are");
    if (!text_close(out, &text, err)) return NULL;
    while (length > 0 && text[length - 1] == ' ') text[--length] = '\0';
    return text;
}
