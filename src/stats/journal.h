/* The journal of a run: what its mechanisms decided at run time. It is the source of what `run` and `compare` say about
 * decisions (cli/decisions.h), and part of the run's JSON.
 *
 * A mechanism announces itself when it is created, so that a run in which it never decided can say so. It adds an entry
 * for each decision, with its time and the numbers it was based on (a kernel's profile, an epoch). Decisions of many
 * units, and intervals that ended without one, are only counted. Several components may count in one cycle: the order
 * does not matter. Texts are static strings. A journal of NULL records nothing. */
#ifndef SLUICE_STATS_JOURNAL_H
#define SLUICE_STATS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

enum { JOURNAL_INPUTS = 32, JOURNAL_SHOWN = 4 };

struct journal_mechanism {
    const char *name;
    const char *mode;                 /* before the first decision; a decision names the mode after it. NULL: none */
    const char *undecided;            /* why there is no decision if none was made or counted */
    uint64_t length;                  /* with its unit, replaces `#` in texts: of the interval before a decision */
    const char *unit;                 /* may be NULL */
    const char *shown[JOURNAL_SHOWN]; /* the inputs that explain a decision */
    bool summarised;                  /* its entries are not listed as `decisions` in the JSON */
};

struct journal_input {
    const char *name;
    double value;
};

struct journal_entry {
    uint64_t cycle;
    const char *mechanism;
    unsigned program; /* the program concerned */
    const char *decision, *reason;
    bool unmeasured; /* the shown inputs lack measurements and explain nothing */
    unsigned count;
    struct journal_input input[JOURNAL_INPUTS];
};

/* Equal decisions, counted. */
struct journal_tally {
    const char *mechanism;
    unsigned program;
    const char *decision, *reason; /* decision NULL: an interval that ended without one */
    uint64_t count, first, last;   /* cycles of the first and the last */
};

struct journal {
    struct journal_mechanism *mechanisms;
    struct journal_entry *entries;
    struct journal_tally *tallies;
    unsigned mechanism_count, mechanism_room, count, room, tally_count, tally_room;
};

/* The mechanism is copied; announced again, it is ignored. */
void journal_announce(struct journal *journal, const struct journal_mechanism *mechanism);
/* The entry is copied. */
void journal_add(struct journal *journal, const struct journal_entry *entry);
/* Counts a decision, or with NULL an interval that ended without one. */
void journal_count(struct journal *journal, const char *mechanism, unsigned program, const char *decision,
                   const char *reason, uint64_t cycle);
void journal_release(struct journal *journal);

#endif
