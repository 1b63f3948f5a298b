/* The model that selective replication (selrep.c) decides by, and what it counts. */
#ifndef SLUICE_LLC_SELREP_H
#define SLUICE_LLC_SELREP_H

#include "llc/replication.h"
#include "stats/stats.h"

#define SELREP_STATS(S) \
    S(SUM, cycles_1, "cycles", "in which lines had one home only") \
    S(SUM, cycles_2, "cycles", "in which lines that are only read could have 2 copies") \
    S(SUM, cycles_4, "cycles", "could have 4") \
    S(SUM, cycles_8, "cycles", "could have 8") \
    S(SUM, cycles_16, "cycles", "could have 16") \
    S(SUM, cycles_32, "cycles", "could have 32") \
    S(SUM, cycles_64, "cycles", "could have 64") \
    S(SUM, epochs, "epochs", "that ended with a decision") \
    S(SUM, changes, "decisions", "for another degree than before") \
    S(SUM, requests, "requests", "for what is only read, counted at the first controller") \
    S(SUM, samples, "requests", "of these, in sets that the directory shadows")

STATS_STRUCT(selrep_stats, SELREP_STATS);

struct selrep_profile {
    unsigned degrees;
    double hits[REPLICATION_DEGREES]; /* of requests, at each degree */
    double lsp[REPLICATION_DEGREES];
    double slice_bytes, memory_bytes; /* per cycle: what a slice, and what a slice's part of memory can give */
};

/* What the slices of a controller would supply in bytes per cycle (Equation 2). */
double selrep_bandwidth(const struct selrep_profile *profile, unsigned degree_log2);
/* The degree that supplies most; of equal ones the least. */
unsigned selrep_best(const struct selrep_profile *profile);

#endif
