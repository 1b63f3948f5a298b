/* What the values of a figure say, in words: by its first metric, which design is ahead by how much on which group of
 * workloads, where it falls behind, what the paper states beside it, and what is still missing. Nothing is said that the
 * values do not show; a difference of less than one per cent is none. */
#ifndef SLUICE_LAB_FINDING_H
#define SLUICE_LAB_FINDING_H

#include "lab/cells.h"
#include "lab/figure.h"

/* Of a figure whose papers and missing runs are counted. The caller frees it. NULL with an error. */
char *finding_write(const struct figure *figure, const struct cells *cells, struct error *err);

#endif
