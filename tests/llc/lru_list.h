/* One set of an LRU cache as a list, most recently used line first. Each line has a set of users, for the models of tag
 * directories (adaptive_oracle.h, selrep_oracle.h). */
#ifndef SLUICE_TESTS_LLC_LRU_LIST_H
#define SLUICE_TESTS_LLC_LRU_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LRU_LIST_USERS = 16, LRU_LIST_LINES = 16 };

struct lru_line {
    uint64_t line;
    bool used_by[LRU_LIST_USERS];
};

struct lru_list {
    unsigned count;
    struct lru_line at[LRU_LIST_LINES];
};

/* Accesses a line of a set of `ways` lines. The line is first from then on, and the last one is evicted if there are
 * too many. Returns whether the line was present; `before` receives its state before, without users if it was not. */
static inline bool lru_list_access(struct lru_list *list, unsigned ways, uint64_t line, struct lru_line *before) {
    unsigned place = 0;
    while (place < list->count && list->at[place].line != line) place++;
    bool found = place < list->count;
    *before = found ? list->at[place] : (struct lru_line){.line = line};
    if (!found && list->count < ways) list->count++;
    if (!found) place = list->count - 1;
    memmove(&list->at[1], &list->at[0], place * sizeof list->at[0]);
    list->at[0] = *before;
    return found;
}

#endif
