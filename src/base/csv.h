/* Comma-separated values as in RFC 4180: a field with a comma, a quote or a line break is in double quotes, and quotes
 * inside are doubled. */
#ifndef SLUICE_BASE_CSV_H
#define SLUICE_BASE_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a field, after a comma unless it is the first of its row. */
void csv_write(FILE *out, const char *text, bool first);

/* The field at *at, unquoted in place. *at advances past the comma or line break that ends it, which is stored in *end
 * ('\n' for a line break, 0 at the end of the text). */
const char *csv_take(char **at, char *end);

#endif
