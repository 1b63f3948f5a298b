/* The journal of a run: what was decided when, and on which numbers. For decisions that are made now and then (a kernel's
 * profile, an epoch), not for events; it is part of a run's JSON. Names are texts that live as long as the program. */
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
    unsigned program; /* that it is about */
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
