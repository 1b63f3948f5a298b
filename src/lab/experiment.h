/* An experiment: many runs and one figure, read from experiments/SET/NAME.yaml (docs/experiments.md).
 *
 * It defines the GPU, the workloads with groups and sizes, the designs (named sets of settings), the sweep, the
 * metrics, the kind of figure, and the published values to compare with. Names and forms are checked here and
 * errors have line and column; lab/plan.h checks configurations and counters. How runs are simulated (lab/runner.h)
 * and drawn (report/) is not known here. The experiment owns all text. */
#ifndef SLUICE_LAB_EXPERIMENT_H
#define SLUICE_LAB_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "lab/expression.h"
#include "lab/program_file.h"
#include "sim/message.h"

/* A location in the file, from 1. */
struct lab_place {
    unsigned line, column;
};

/* As for --set. */
struct lab_setting {
    const char *key, *value;
    struct lab_place place;
};
struct lab_settings {
    struct lab_setting *setting;
    unsigned count;
};

/* `size` is NULL for a generated stream and for a file, whose name is that of the file without directory and
 * extension. */
struct lab_program {
    const char *name, *size;
    const char *path;                /* as written, of a launch file or a recording; else NULL */
    const struct program_file *file; /* its contents */
};

/* A program, or two concurrent ones. An experiment may have the same program several times, with different labels and
 * settings. */
struct lab_workload {
    const char *label; /* default: the names of its programs */
    struct lab_program program[PROGRAMS_MAX];
    unsigned programs;
    struct lab_settings settings; /* override the designs'; the sweep's override them */
    unsigned group;
    struct lab_place place;
};
struct lab_group {
    const char *name; /* "" without groups */
};

/* Values of one parameter, GPU descriptions (key "gpu", without settings), or named sets of settings. */
struct lab_axis {
    const char *key;
    const char **values;
    struct lab_settings *settings; /* of each value */
    unsigned count;                /* 0: no axis */
    struct lab_place place;
};

/* The best of a search is chosen for a whole run, or for each launch (lab/composition.h). */
enum lab_span { LAB_RUN, LAB_KERNEL };

/* `best`: for each workload and sweep point, the design shows the run with the value that is best by the first metric
 * before normalisation, or for LAB_KERNEL the fastest parts of these runs. `uses`: a run of another design of the
 * experiment precedes and writes a file (parameter `writes`), which this design reads (parameter `reads`). */
struct lab_design {
    const char *name, *help;
    const char *base; /* a file of designs/, or NULL */
    const char *gpu;  /* NULL: the experiment's */
    struct lab_settings settings;
    struct lab_axis best;
    enum lab_span best_for;
    int uses; /* design index, -1: none */
    const char *uses_writes, *uses_reads;
    struct lab_place place;
};

/* Relation to the baseline; gains and reductions in per cent. */
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

/* A published value and the simulated values to compare with it. */
enum lab_statistic { LAB_STATISTIC_MEAN, LAB_STATISTIC_MAXIMUM, LAB_STATISTIC_MINIMUM };
struct lab_paper_value {
    const char *id; /* as in lab/papers.h */
    unsigned metric, design;
    enum lab_relation relation; /* as the paper states it; default: the metric's */
    int group, workload;        /* -1: over all */
    int point;                  /* -1: over all */
    enum lab_statistic statistic;
};

struct experiment {
    const char *name; /* "adaptive/fig11" */
    const char *path, *title, *question, *note;
    const char *paper /* its short name, "adaptive", or "" */, *paper_title, *figure /* "Figure 11" */;
    const char *gpu, *size;
    struct lab_settings settings; /* for all designs, which override them */
    unsigned alone;               /* design under which programs run alone, for metrics with `alone.*` */
    struct lab_group *groups;
    struct lab_workload *workloads; /* in the order of their groups */
    struct lab_design *designs;
    struct lab_axis *axes; /* their product; a "point" is one element of it, last axis fastest */
    struct lab_metric *metrics;
    struct lab_paper_value *paper_values;
    struct lab_axis seeds; /* repetitions that differ only by chance, each with its settings; count 0: none */
    unsigned group_count, workload_count, design_count, axis_count, metric_count, paper_value_count;
    enum lab_figure_kind kind;
    uint64_t max_insts, sample_cycles;        /* 0: none */
    bool unused_allowed;                      /* settings without effect are intended */
    const char *slurm_partition, *slurm_time; /* or NULL */
    uint64_t slurm_memory_mb;                 /* or 0 */
    struct arena *arena;
};

/* `word`: name of a bundled experiment, or a YAML file. */
struct experiment *experiment_open(const char *word, struct error *err);
struct experiment *experiment_read(const char *path, struct error *err);
struct experiment *experiment_read_text(const char *path, const char *text, size_t length, struct error *err);
void experiment_free(struct experiment *experiment);

/* Whether it is a heat map over time, for which every unit of its counters is sampled. */
bool experiment_maps_time(const struct experiment *experiment);
/* Number of points; 1 without a sweep. */
unsigned experiment_points(const struct experiment *experiment);
/* Number of seeds; 1 without repetitions. */
unsigned experiment_seeds(const struct experiment *experiment);
/* Index of the value that a point has on an axis. */
unsigned experiment_point_value(const struct experiment *experiment, unsigned point, unsigned axis);
/* "16", with several axes "16, pae"; "" without a sweep. */
void experiment_point_label(const struct experiment *experiment, unsigned point, char *text, size_t size);

#endif
