/* Tables of coefficients: energy/NAME.yaml, or a file of the user's own. Every table is a mapping of its keys, all of which
 * must be there, with `description` and `source` in front. */
#ifndef SLUICE_ENERGY_TABLE_H
#define SLUICE_ENERGY_TABLE_H

#include "config/yaml_reader.h"

/* What every table begins with; the first member of its struct. */
struct table_head {
    char description[CONFIG_TEXT_MAX], source[CONFIG_TEXT_MAX];
};

#define TABLE_HEAD \
    {.param = P_TEXT(struct table_head, description, "", "")}, { .param = P_TEXT(struct table_head, source, "", "") }
/* A coefficient: never below 0, so that more hardware never costs less. */
#define TABLE_REAL(owner, field) \
    { .param = P_REAL(owner, field, 0, 0, 1e12, "", "") }

/* Reads the table that `word` stands for (catalogue.h) into `table`. */
bool table_read(const char *word, const struct yaml_form *form, void *table, struct error *err);
/* The mapping that the current event starts, with none of its keys left out. */
bool table_read_whole(struct yaml_reader *reader, const struct yaml_form *form, void *to);

#endif
