/* The results of an experiment, ready to be drawn or printed: one sheet of values per metric, published and simulated
 * values, and depending on its kind values of every unit (heat map) or over time (series). */
#ifndef SLUICE_LAB_FIGURE_H
#define SLUICE_LAB_FIGURE_H

#include "lab/plan.h"
#include "lab/store.h"

/* One metric. Rows are workloads, followed, if the metric has a mean, by one row per group (if there are several)
 * and one for all; columns are designs, "design, point" with a sweep. With LAB_LINES, rows are points, and columns are
 * "design, workload", followed by "design, group" and "design, mean". The sheets of a LAB_STACK have the same rows and
 * columns. NaN: the run is missing or has no such value. */
struct figure_sheet {
    const char *metric;
    const char *label; /* the metric and its relation to the baseline: "IPC, normalised to shared" */
    const char *unit;  /* of the values shown: "%" for a gain, "" for a ratio */
    unsigned row_count, column_count;
    char **rows, **columns;
    bool *row_is_mean, *column_is_mean;
    double *value;      /* [row * column_count + column]; with seeds their mean */
    double *low, *high; /* the range over the seeds; NULL without seeds */
};

/* A published and the simulated value. */
struct figure_paper {
    const char *id, *where, *what, *scheme, *unit; /* from results.csv: section, metric, scheme */
    const char *said;                              /* the value as published (">60") */
    double paper, ours;                            /* paper NaN: not a number; ours NaN: missing */
    double low, high;                              /* the range of ours over the seeds; NaN without seeds */
    double neutral;         /* no effect: 0 for a gain, reduction or difference, 1 for a ratio; NaN: a plain quantity */
    int sheet, row, column; /* its cell; -1: none (for example a maximum) */
    double mark;            /* the published value in the relation of the sheet (28 % gain: ratio 1.28); NaN: none */
};

/* The result of a search for a cell: a value, or one per launch; or why it failed. */
struct figure_choice {
    char *workload, *column; /* "design", with a sweep "design, point" */
    const char *parameter;
    char *chosen;
};

/* A heat map of one workload. Columns are units (SM, slice, ...), rows are designs, or metrics if there is one design.
 * Over time, rows are the units of one run, with at most FIGURE_MAP_MAX columns. */
enum { FIGURE_MAP_MAX = 100 };
struct figure_matrix {
    char *title, *unit;
    unsigned rows, columns;
    char **row_labels, **column_labels;
    double *value;
};

/* A time series of at most FIGURE_LINE_MAX points. Lines with the same title share a chart. */
enum { FIGURE_LINE_MAX = 2000 };
struct figure_line {
    char *title, *series;
    unsigned count;
    double *x, *y;
};

struct figure {
    const struct experiment *experiment;
    struct figure_sheet *sheets;
    struct figure_paper *papers;
    struct figure_choice *choices;
    struct figure_matrix *matrices;
    struct figure_line *lines;
    unsigned sheet_count, paper_count, choice_count, matrix_count, line_count;
    unsigned missing;    /* runs that are not in the store */
    char *inputs;        /* sizes of the workloads, "small", if the paper's are others; else "" */
    char *finding;       /* a few sentences derived from the values */
    char *configuration; /* the effective configuration of the first run, YAML */
    struct arena *arena;
};

/* The plan and its experiment must outlive the figure. */
struct figure *figure_make(const struct plan *plan, struct store *store, struct error *err);
void figure_free(struct figure *figure);

#endif
