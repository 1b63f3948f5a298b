/* What an experiment comes to, ready to be drawn or printed: a rectangle of values for each metric, the papers' values
 * beside ours, and what its kind adds: values of every unit for a heat map, values over time for a series. */
#ifndef SLUICE_LAB_FIGURE_H
#define SLUICE_LAB_FIGURE_H

#include "lab/plan.h"
#include "lab/store.h"

/* One metric. Rows are workloads, then, if the metric has a mean, one for each of several groups and one for all; columns
 * are designs, "design, point" with a sweep. Of LAB_LINES rows are points, and columns designs, "design, group" with
 * several groups, "design, workload" without a mean. The sheets of a LAB_STACK have the same rows and columns. NaN where
 * a run is missing or has no such value. */
struct figure_sheet {
    const char *metric;
    const char *unit; /* of the values as they stand: "%" of a gain, "" of a ratio */
    unsigned row_count, column_count;
    char **rows, **columns;
    bool *row_is_mean;
    double *value; /* [row * column_count + column] */
};

/* A paper's value beside ours. */
struct figure_paper {
    const char *id, *where, *what, *scheme, *unit; /* from results.csv: section, metric, scheme */
    const char *said;                              /* the value as the paper words it (">60") */
    double paper, ours;                            /* paper NaN if it is no number; ours NaN if missing */
    double neutral;         /* no effect: 0 of a gain, reduction or difference, 1 of a ratio; NaN: a plain quantity */
    int sheet, row, column; /* the cell that it stands beside; -1: none (a maximum, say) */
    double mark; /* the paper's value in that sheet's own terms (a gain of 28 % is a ratio of 1.28); NaN: none */
};

/* What a search chose for a cell: a value, or one for each launch; or why it could not. */
struct figure_choice {
    char *workload, *column; /* "design", with a sweep "design, point" */
    const char *parameter;
    char *chosen;
};

/* A heat map: every unit (SM, slice, ...) of one metric of one workload, a row for each design, or of several metrics of
 * the only design, a row for each metric; or, over time, a row for each unit of one run, with at most FIGURE_MAP_MAX
 * columns. */
enum { FIGURE_MAP_MAX = 100 };
struct figure_matrix {
    char *title, *unit;
    unsigned rows, columns;
    char **row_labels, **column_labels;
    double *value;
};

/* A time series, of at most FIGURE_LINE_MAX points. Lines of equal title belong together. */
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
    unsigned missing;    /* runs that the store does not have */
    char *finding;       /* a few sentences drawn from the values */
    char *configuration; /* the effective configuration of the first run, YAML */
    struct arena *arena;
};

/* The plan and its experiment must outlive the figure. */
struct figure *figure_make(const struct plan *plan, struct store *store, struct error *err);
void figure_free(struct figure *figure);

#endif
