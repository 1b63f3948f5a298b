/* Reference points from data/reference: one row of a CSV file at a time, values by the names of their columns. */
#ifndef SLUICE_TESTS_ENERGY_REFERENCE_H
#define SLUICE_TESTS_ENERGY_REFERENCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { REFERENCE_COLUMNS = 32, REFERENCE_LINE = 2048 };

struct reference {
    FILE *file;
    char head[REFERENCE_LINE], line[REFERENCE_LINE];
    char *name[REFERENCE_COLUMNS], *cell[REFERENCE_COLUMNS];
};

static inline void reference_split(char *line, char *cell[REFERENCE_COLUMNS]) {
    memset(cell, 0, REFERENCE_COLUMNS * sizeof *cell);
    line[strcspn(line, "\r\n")] = '\0';
    for (unsigned i = 0; i < REFERENCE_COLUMNS && line; i++) cell[i] = strsep(&line, ",");
}

static inline bool reference_open(struct reference *reference, const char *path) {
    char full[1024];
    snprintf(full, sizeof full, "%s/data/reference/%s", SLUICE_SOURCE_DIR, path);
    reference->file = fopen(full, "r");
    if (!reference->file || !fgets(reference->head, REFERENCE_LINE, reference->file)) return false;
    reference_split(reference->head, reference->name);
    return true;
}

static inline bool reference_next(struct reference *reference) {
    if (!fgets(reference->line, REFERENCE_LINE, reference->file)) {
        fclose(reference->file);
        return false;
    }
    reference_split(reference->line, reference->cell);
    return true;
}

static inline const char *reference_text(const struct reference *reference, const char *column) {
    for (unsigned i = 0; i < REFERENCE_COLUMNS && reference->name[i]; i++)
        if (strcmp(reference->name[i], column) == 0) return reference->cell[i] ? reference->cell[i] : "";
    test_check(TEST_PLACE, column, false);
    test_give_up();
}

static inline double reference_real(const struct reference *reference, const char *column) {
    return strtod(reference_text(reference, column), NULL);
}

#endif
