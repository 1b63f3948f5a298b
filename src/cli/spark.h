/* Small curves of block characters, for the live views on a terminal. */
#ifndef SLUICE_CLI_SPARK_H
#define SLUICE_CLI_SPARK_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the terminal shows block characters; otherwise curves are of ASCII. */
bool spark_unicode(void);
/* The scale ends at `top`, or for 0 at the largest value. */
void spark_draw(FILE *out, const double *values, unsigned count, double top, bool unicode);

#endif
