/* The journal of a run: each decision with its time and the numbers it was based on. It is meant for infrequent
 * decisions (a kernel's profile, an epoch), not for events, and is part of the run's JSON. Names are static strings. */
#ifndef SLUICE_STATS_JOURNAL_H
#define SLUICE_STATS_JOURNAL_H

#include <stdint.h>

enum { JOURNAL_INPUTS = 32 };

struct journal_input {
    const char *name;
    double value;
};

struct journal_entry {
    uint64_t cycle;
    unsigned program; /* the program concerned */
    const char *decision, *reason;
    unsigned count;
    struct journal_input input[JOURNAL_INPUTS];
};

struct journal {
    struct journal_entry *entries;
    unsigned count, room;
};

/* The entry is copied. */
void journal_add(struct journal *journal, const struct journal_entry *entry);
void journal_release(struct journal *journal);

#endif
