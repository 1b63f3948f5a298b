/* The contents of an experiment file, read by tables of keys (config/yaml_reader.h) into forms. References by name are
 * still text, since their targets may follow later in the file; experiment.c resolves them. */
#ifndef SLUICE_LAB_EXPERIMENT_FORM_H
#define SLUICE_LAB_EXPERIMENT_FORM_H

#include "config/config.h"
#include "config/yaml_reader.h"
#include "lab/experiment.h"

/* Words to choose from, in the order of their enums. */
extern const struct family lab_draw_family, lab_relation_family, lab_mean_family, lab_better_family,
    lab_statistic_family, lab_span_family, lab_unused_family;

/* A name and its location. */
struct text {
    const char *text; /* NULL: not given */
    struct lab_place place;
};

struct workload_form {
    struct text workload;
    const char *name;
    struct lab_settings set;
};
struct uses_form {
    struct text design, writes, reads;
};
struct design_form {
    struct lab_design design; /* without names to resolve */
    struct text base, gpu, best_for;
    const char *help;
    struct uses_form uses;
};
struct metric_form {
    struct text name, value, relative_to;
    const char *unit;
    const struct policy *as, *mean, *better;
    struct lab_place place;
};
struct paper_form {
    struct text id, metric, design, group, workload, at;
    const struct policy *as, *statistic;
    struct lab_place place;
};
struct slurm_form {
    const char *partition, *time;
    int64_t memory_mb;
};
struct file_form {
    struct text title, paper, gpu, size, alone;
    const char *question, *figure, *note;
    struct lab_settings set;
    int workloads, designs, sweep, seeds, metrics, paper_values; /* placeholders, read elsewhere */
    const struct policy *draw, *unused_settings;
    int64_t max_insts, sample;
    struct slurm_form slurm;
};

struct reading {
    struct experiment *experiment;
    struct arena *arena;
    struct yaml_reader *yaml;
    struct file_form file;
    struct design_form *designs;
    struct metric_form *metrics;
    struct paper_form *papers;
    unsigned design_count, metric_count, paper_count;
    struct error *err;
};

#define BLAME(reading, place_, ...) \
    error_at((reading)->err, (reading)->experiment->path, (place_).line, (place_).column, __VA_ARGS__)

/* Reads a whole file into the reading's forms, and into its experiment the parts without names to resolve. */
bool experiment_read_forms(struct reading *reading, struct yaml_reader *yaml);

/* The tables of keys, with their titles in docs/experiments.md. */
enum { EXPERIMENT_TABLES = 7 };
extern const struct experiment_table {
    const struct yaml_form *form;
    const char *title;
} experiment_tables[EXPERIMENT_TABLES];

#endif
