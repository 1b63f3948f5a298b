#include "stats/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static void *grow(void *array, unsigned count, unsigned *room, size_t size) {
    if (count < *room) return array;
    *room = *room ? 2 * *room : 16;
    return mem_grow(array, *room, size);
}

void journal_announce(struct journal *journal, const struct journal_mechanism *mechanism) {
    if (!journal) return;
    for (unsigned i = 0; i < journal->mechanism_count; i++)
        if (strcmp(journal->mechanisms[i].name, mechanism->name) == 0) return;
    journal->mechanisms =
        grow(journal->mechanisms, journal->mechanism_count, &journal->mechanism_room, sizeof *journal->mechanisms);
    journal->mechanisms[journal->mechanism_count++] = *mechanism;
}

void journal_add(struct journal *journal, const struct journal_entry *entry) {
    if (!journal) return;
    journal->entries = grow(journal->entries, journal->count, &journal->room, sizeof *journal->entries);
    journal->entries[journal->count++] = *entry;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

void journal_count(struct journal *journal, const char *mechanism, unsigned program, const char *decision,
                   const char *reason, uint64_t cycle) {
    if (!journal) return;
    unsigned i = 0;
    for (; i < journal->tally_count; i++) {
        const struct journal_tally *tally = &journal->tallies[i];
        if (tally->program == program && same_text(tally->mechanism, mechanism) &&
            same_text(tally->decision, decision) && same_text(tally->reason, reason))
            break;
    }
    if (i == journal->tally_count) {
        journal->tallies = grow(journal->tallies, i, &journal->tally_room, sizeof *journal->tallies);
        journal->tallies[journal->tally_count++] =
            (struct journal_tally){mechanism, program, decision, reason, 0, cycle, cycle};
    }
    journal->tallies[i].count++;
    journal->tallies[i].first = min_u64(journal->tallies[i].first, cycle);
    journal->tallies[i].last = max_u64(journal->tallies[i].last, cycle);
}

void journal_release(struct journal *journal) {
    free(journal->mechanisms);
    free(journal->entries);
    free(journal->tallies);
    *journal = (struct journal){0};
}
