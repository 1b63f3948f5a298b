#include "stats/journal.h"

#include <stdlib.h>

#include "base/base.h"

void journal_add(struct journal *journal, const struct journal_entry *entry) {
    if (journal->count == journal->room) {
        journal->room = journal->room ? 2 * journal->room : 16;
        journal->entries = mem_grow(journal->entries, journal->room, sizeof *journal->entries);
    }
    journal->entries[journal->count++] = *entry;
}

void journal_release(struct journal *journal) {
    free(journal->entries);
    *journal = (struct journal){0};
}
