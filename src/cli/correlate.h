/* Counters of Sluice next to those of another simulator or of hardware (`sluice correlate`): correlate_reference.c reads a
 * reference folder, correlate.c runs its kernels, correlate_report.c writes the comparison. docs/correlate.md defines the
 * folder. */
#ifndef SLUICE_CLI_CORRELATE_H
#define SLUICE_CLI_CORRELATE_H

#include <stdio.h>

#include "base/arena.h"
#include "cli/command.h"
#include "cli/result.h"
#include "report/chart.h"

/* One row of a reference table. A kernel on a machine may have rows in several tables, with different columns. */
struct reference_part {
    const char *file;
    unsigned line, columns;
    const char *const *column; /* names */
    const char **field;
    const struct reference_part *next;
};

/* A kernel on a machine. */
struct reference_row {
    const char *machine, *kernel;
    const struct reference_part *parts;
    char *launch;                    /* the launch file */
    const struct json_value *result; /* of our run; NULL: it failed */
    struct comparison_value {
        double ours, theirs, error; /* NaN if there is none */
    } * value;                      /* by metric */
};

struct reference_machine {
    const char *name, *gpu;
    const char *const *settings; /* KEY=VALUE */
    unsigned setting_count;
};

/* Formulas are those of experiments (lab/expression.h). */
struct correlate_metric {
    const char *name;
    const char *ours;   /* formula over counters */
    const char *theirs; /* formula over columns; NULL: the column with the metric's name */
    const char *whole;  /* formula over columns that the error is a share of; "": the reference value */
    const char *share;  /* " of reads" */
    double bound, mean_bound;
};

struct reference {
    struct arena *arena;
    const char *folder;
    struct reference_row *row;
    unsigned row_count;
    struct reference_machine *machine; /* of the rows */
    unsigned machine_count;
    struct correlate_metric *metric;
    unsigned metric_count;
    unsigned without_launch; /* rows of kernels that have no launch file */
};

struct correlate_filter {
    const struct text_list *machines, *kernels, *metrics; /* empty: all */
};

/* Reads the folder: rows of the filter that have a launch file, their machines, and the metrics of their columns. */
bool reference_read(struct reference *reference, const char *folder, const struct correlate_filter *filter,
                    struct error *err);

/* Evaluates all metrics of the rows with a result. */
void correlate_evaluate(struct reference *reference);

/* Agreement over the rows of a machine. */
struct correlate_summary {
    unsigned kernels;
    double mean, largest; /* absolute errors */
    const char *largest_kernel;
    double correlation; /* of the logarithms; NaN with fewer than three kernels, or without variance */
};
struct correlate_summary correlate_summarise(const struct reference *reference, const char *machine, unsigned metric);

/* Calls `each` for every error that exceeds its bound; returns their number. */
unsigned correlate_violations(const struct reference *reference, void (*each)(void *user, const char *text),
                              void *user);

void correlate_write_table(const struct reference *reference, FILE *out);
void correlate_write_json(FILE *out, const void *reference);
void correlate_draw(const struct reference *reference, struct charts *charts);

#endif
