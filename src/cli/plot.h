/* Plots of runs (`sluice plot`): one file per kind. */
#ifndef SLUICE_CLI_PLOT_H
#define SLUICE_CLI_PLOT_H

#include "cli/command.h"
#include "cli/result.h"
#include "lab/expression.h"
#include "report/chart.h"

struct plot_run {
    const char *file;
    const struct json_value *json;
    char label[128]; /* by which the runs differ */
};

/* A value over time or by unit: a formula over counters (lab/expression.h). */
struct plot_metric {
    const char *name, *unit, *formula;
};

enum { PLOT_RUNS = 16 }; /* as many as have colours */

struct plot_input {
    struct arena *arena;
    const struct plot_run *const *run; /* those with the values of the kind */
    unsigned count;
    const struct plot_metric *counter; /* of --counter; none: the kind's own */
    unsigned counter_count;
    struct charts *charts;
};

struct plot_kind {
    const char *name;
    /* What a run lacks for this kind, as the end of an error message; NULL if it has everything. */
    const char *(*lacks)(const struct plot_run *run);
    void (*draw)(const struct plot_input *input);
};

extern const struct plot_kind plot_stalls, plot_series, plot_units, plot_roofline, plot_latency, plot_kernels;

/* Widths of all charts, of the space for the labels of the y axis, and at most of the space for names left of bars. */
enum { PLOT_WIDTH = 800, PLOT_LEFT = 70, PLOT_NAMES = 400 };

/* The class of series i for a fill ("c3") or a stroke ("s3"); colours repeat. */
struct plot_class {
    char text[8];
};
struct plot_class plot_fill(unsigned i);
struct plot_class plot_stroke(unsigned i);
/* The space left of bars for names of which the widest has this width; longer ones are shortened (svg_text_within). */
double plot_names(double widest, double least);
/* The width of the widest name of a run. */
double plot_widest_label(const struct plot_input *input);
/* A name left of a bar that begins at `left`. */
void plot_name(FILE *out, double left, double y, const char *class_name, const char *name);
/* A legend of the runs, if there are several; returns its height. */
double plot_legend(const struct plot_input *input, FILE *out, double y);

/* Mean latencies by level of runs without a latency breakdown; plot_latency draws those of the others. */
void plot_mean_latencies(const struct plot_input *input);

/* The expression of a metric, which was checked before. */
struct expression *plot_expression(const char *formula);

#endif
