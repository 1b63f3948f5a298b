/* Tables of coefficients: energy/NAME.yaml, or a user's file. A table is a mapping that must contain all of its keys,
 * starting with `description` and `source`. */
#ifndef SLUICE_ENERGY_TABLE_H
#define SLUICE_ENERGY_TABLE_H

#include "config/yaml_reader.h"

/* Common to all tables; the first member of each struct. */
struct table_head {
    char description[CONFIG_TEXT_MAX], source[CONFIG_TEXT_MAX];
};

#define TABLE_HEAD \
    {.param = P_TEXT(struct table_head, description, "", "")}, { .param = P_TEXT(struct table_head, source, "", "") }
/* A coefficient: not negative, so that more hardware never costs less. */
#define TABLE_REAL(owner, field) \
    { .param = P_REAL(owner, field, 0, 0, 1e12, "", "") }

/* Reads the table named `word` (catalogue.h) into `table`. */
bool table_read(const char *word, const struct yaml_form *form, void *table, struct error *err);
/* Reads the mapping that starts at the current event; all of its keys are required. */
bool table_read_whole(struct yaml_reader *reader, const struct yaml_form *form, void *to);

#endif
