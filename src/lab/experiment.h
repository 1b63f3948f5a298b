/* An experiment: many runs and one figure, read from experiments/SET/NAME.yaml (docs/experiments.md).
 *
 * It says which GPU, which workloads in which groups and sizes, which designs (named sets of settings), over which
 * parameters to sweep, what to measure, how to draw it, and which values of a paper belong beside it. Names and forms
 * are checked here, each at its line and column; that every configuration can be built and every counter exists, by
 * lab/plan.h. It knows nothing of how runs are made (lab/runner.h) or drawn (report/). All text is the experiment's. */
#ifndef SLUICE_LAB_EXPERIMENT_H
#define SLUICE_LAB_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "lab/expression.h"
#include "sim/message.h"

/* Where something stands in the file, from 1. */
struct lab_place {
    unsigned line, column;
};

/* As --set takes it. */
struct lab_setting {
    const char *key, *value;
    struct lab_place place;
};
struct lab_settings {
    struct lab_setting *setting;
    unsigned count;
};

/* A size is NULL for a generated stream, which has none. */
struct lab_program {
    const char *name, *size;
};

/* A program, or two side by side. The same may be there several times, called differently and on machines set differently: a
 * paper's configurations. */
struct lab_workload {
    const char *label; /* what it is called; its programs' names if nothing is said */
    struct lab_program program[PROGRAMS_MAX];
    unsigned programs;
    struct lab_settings settings; /* above the designs', below the sweep's */
    unsigned group;
    struct lab_place place;
};
struct lab_group {
    const char *name; /* "" if the workloads are not grouped */
};

/* Values to go through: of one parameter, GPU descriptions (key "gpu", without settings), or named sets of settings. */
struct lab_axis {
    const char *key;
    const char **values;
    struct lab_settings *settings; /* of each value */
    unsigned count;                /* 0: there is no such axis */
    struct lab_place place;
};

/* For what the best of a search is taken: a whole run, or each launch of it (lab/composition.h). */
enum lab_span { LAB_RUN, LAB_KERNEL };

/* `best`: of the runs with each of these values, for each workload and sweep point, the one that is best by the first
 * metric before normalisation; or, for LAB_KERNEL, the fastest parts of them. `uses`: a run of another design of this
 * experiment comes first and writes a file (named by parameter `writes`), which this one reads (parameter `reads`). */
struct lab_design {
    const char *name, *help;
    const char *base; /* a file of designs/, or NULL */
    const char *gpu;  /* another GPU than the experiment's, or NULL */
    struct lab_settings settings;
    struct lab_axis best;
    enum lab_span best_for;
    int uses; /* design index, -1: none */
    const char *uses_writes, *uses_reads;
    struct lab_place place;
};

/* To the baseline; gains and reductions in per cent. */
enum lab_relation { LAB_PLAIN, LAB_RATIO, LAB_GAIN, LAB_REDUCTION, LAB_DIFFERENCE };
enum lab_mean { LAB_MEAN_NONE, LAB_MEAN_ARITHMETIC, LAB_MEAN_GEOMETRIC, LAB_MEAN_HARMONIC };
struct lab_metric {
    const char *name, *unit;
    struct expression *value; /* over a run's counters */
    enum lab_relation relation;
    int baseline; /* design index, -1: none */
    enum lab_mean mean;
    bool more_is_better;
    struct lab_place place; /* of the expression */
};

enum lab_figure_kind { LAB_BARS, LAB_STACK, LAB_LINES, LAB_HEAT, LAB_SERIES, LAB_TABLE };

/* A paper's value and the cell of ours that stands beside it. */
enum lab_statistic { LAB_STATISTIC_MEAN, LAB_STATISTIC_MAXIMUM, LAB_STATISTIC_MINIMUM };
struct lab_paper_value {
    const char *id; /* of data/papers/results.csv */
    unsigned metric, design;
    enum lab_relation relation; /* as the paper states it; the metric's own if nothing is said */
    int group, workload;        /* -1: over all */
    int point;                  /* -1: over all */
    enum lab_statistic statistic;
};

struct experiment {
    const char *name; /* "adaptive/fig11" */
    const char *path, *title, *question, *note;
    const char *paper /* its short name, "adaptive", or "" */, *paper_title, *figure /* "Figure 11" */;
    const char *gpu, *size;
    struct lab_settings settings; /* for all designs, below theirs */
    unsigned alone;               /* design under which programs run alone, for metrics that name `alone.*` */
    struct lab_group *groups;
    struct lab_workload *workloads; /* in the order of their groups */
    struct lab_design *designs;
    struct lab_axis *axes; /* their product; a "point" is one element of it, last axis fastest */
    struct lab_metric *metrics;
    struct lab_paper_value *paper_values;
    unsigned group_count, workload_count, design_count, axis_count, metric_count, paper_value_count;
    enum lab_figure_kind kind;
    uint64_t max_insts, sample_cycles;        /* 0: none */
    const char *slurm_partition, *slurm_time; /* or NULL */
    uint64_t slurm_memory_mb;                 /* or 0 */
    struct arena *arena;
};

/* By the name of a bundled experiment or as a YAML file. */
struct experiment *experiment_open(const char *word, struct error *err);
struct experiment *experiment_read(const char *path, struct error *err);
struct experiment *experiment_read_text(const char *path, const char *text, size_t length, struct error *err);
void experiment_free(struct experiment *experiment);

/* Number of points: 1 without a sweep. */
/* It is a heat map over time: every unit of its counters is sampled. */
bool experiment_maps_time(const struct experiment *experiment);
unsigned experiment_points(const struct experiment *experiment);
/* Which value of an axis a point has. */
unsigned experiment_point_value(const struct experiment *experiment, unsigned point, unsigned axis);
/* "16", with several axes "16, pae"; "" without a sweep. */
void experiment_point_label(const struct experiment *experiment, unsigned point, char *text, size_t size);

/* The keys of an experiment file as tables in Markdown, from what reads them. */
void experiment_describe(FILE *out);

#endif
