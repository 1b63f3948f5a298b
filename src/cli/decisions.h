/* What the mechanisms of a run decided, and why: a summary of its journal (stats/journal.h), as a few lines for people
 * and as JSON. Decisions are grouped by decision and reason. The mode over time takes a decision as effective at once,
 * without the time of a reconfiguration. */
#ifndef SLUICE_CLI_DECISIONS_H
#define SLUICE_CLI_DECISIONS_H

#include <stdio.h>

#include "stats/journal.h"

enum { DECISIONS_CHANGES = 4 };

/* Decisions with the same result and reason. */
struct decision_row {
    const char *decision; /* NULL: an interval that ended without a decision */
    char *reason;
    uint64_t count, first, last;
    double mean[JOURNAL_SHOWN]; /* of the mechanism's shown inputs; NaN: none */
};

struct mode_row {
    const char *mode;
    uint64_t cycles;
};

/* One mechanism, for one program. */
struct mechanism_summary {
    struct journal_mechanism mechanism;
    unsigned program;
    char *undecided;          /* why there is no decision; NULL: there are rows */
    struct decision_row *row; /* most frequent first */
    unsigned rows;
    struct mode_row *mode; /* in order of appearance; none if the mechanism has no modes */
    unsigned modes;
    uint64_t changes, change_cycle[DECISIONS_CHANGES];
    const char *change_mode[DECISIONS_CHANGES]; /* the first changes of the mode */
};

struct decisions {
    struct mechanism_summary *summary;
    unsigned count, programs;
};

/* `cycles`: length of the run. The summary does not refer to the journal. */
struct decisions decisions_of(const struct journal *journal, unsigned programs, uint64_t cycles);
void decisions_release(struct decisions *decisions);

/* A paragraph of at most eight lines for each mechanism and program. `design` (may be NULL) and the programs' names are
 * part of its head. */
void decisions_write(FILE *out, const struct decisions *decisions, const char *design, const char *const *programs);
struct json;
/* As the value of the key `mechanisms`; nothing if there is no mechanism. */
void decisions_put(struct json *json, const struct decisions *decisions);

#endif
