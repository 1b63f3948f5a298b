/* The papers that Sluice reproduces (data/papers/papers.yaml) and what they state in numbers (data/papers/results.csv), to
 * stand beside ours. */
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
    const char *name;  /* "adaptive", as experiments and results have it */
    const char *title; /* with where it appeared */
};

struct papers {
    struct paper *papers; /* in the file's order */
    unsigned paper_count;
    struct paper_result *results; /* in the file's order */
    unsigned count;
    struct arena *arena;
};

struct papers *papers_open(struct error *err);
void papers_close(struct papers *papers);

/* A paper by its short name; -1 if there is none. */
int papers_index(const struct papers *papers, const char *name);
/* By its id ("adaptive-001"); NULL if there is none. */
const struct paper_result *papers_find(const struct papers *papers, const char *id);
/* The value as a number; NaN if it is stated in words (">60"). */
double paper_number(const struct paper_result *result);

#endif
