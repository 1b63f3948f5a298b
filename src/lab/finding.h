/* A textual summary of a figure: by its first metric, how much better or worse each design is on each group of
 * workloads, its best and worst workload, the published values, and missing runs. A difference below 1 % counts as
 * none. */
#ifndef SLUICE_LAB_FINDING_H
#define SLUICE_LAB_FINDING_H

#include "lab/cells.h"
#include "lab/figure.h"

/* The figure has its papers and missing runs. The caller frees the text. NULL with an error. */
char *finding_write(const struct figure *figure, const struct cells *cells, struct error *err);

#endif
