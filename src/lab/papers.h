/* The papers that Sluice reproduces (data/papers/papers.yaml) and their published values (data/papers/results.csv), and
 * published measurements of GPUs (data/reference/microbench/measurements.csv), which have no paper. */
#ifndef SLUICE_LAB_PAPERS_H
#define SLUICE_LAB_PAPERS_H

#include "base/error.h"

/* Columns of the file, in their order. */
#define PAPER_COLUMNS(X) X(id) X(paper) X(where) X(workloads) X(metric) X(scheme) X(baseline) X(value) X(unit) X(note)

struct paper_result {
#define X(name) const char *name;
    PAPER_COLUMNS(X)
#undef X
};

struct paper {
    const char *name;  /* "adaptive", as in experiments and results */
    const char *title; /* with conference and year */
};

struct papers {
    struct paper *papers; /* in the file's order */
    unsigned paper_count;
    struct paper_result *results; /* in the files' order */
    unsigned count;
    struct arena *arena;
};

struct papers *papers_open(struct error *err);
void papers_close(struct papers *papers);

/* Index of a paper by its short name, or -1. */
int papers_index(const struct papers *papers, const char *name);
/* By its id ("adaptive-001"; of a measurement GPU and name, "v100 L1 latency"), or NULL. */
const struct paper_result *papers_find(const struct papers *papers, const char *id);
/* The value as a number; NaN if it is not one (">60"). */
double paper_number(const struct paper_result *result);

#endif
