/* What the four papers say in numbers: the rows of data/papers/results.csv, to stand beside ours. */
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

struct papers {
    struct paper_result *results; /* in the file's order */
    unsigned count;
    struct arena *arena;
};

struct papers *papers_open(struct error *err);
void papers_close(struct papers *papers);

/* By its id ("adaptive-001"); NULL if there is none. */
const struct paper_result *papers_find(const struct papers *papers, const char *id);
/* The value as a number; NaN if it is stated in words (">60"). */
double paper_number(const struct paper_result *result);

#endif
