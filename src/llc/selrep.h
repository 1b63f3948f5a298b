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
    S(SUM, samples, "requests", "of these, in sets that the directory shadows") \
    S(SUM, hits_1, "requests", "of the samples: would hit with one home only") \
    S(SUM, hits_2, "requests", "would hit with 2 copies") \
    S(SUM, hits_4, "requests", "would hit with 4 copies") \
    S(SUM, hits_8, "requests", "would hit with 8 copies") \
    S(SUM, hits_16, "requests", "would hit with 16 copies") \
    S(SUM, hits_32, "requests", "would hit with 32 copies") \
    S(SUM, hits_64, "requests", "would hit with 64 copies") \
    S(SUM, bandwidth_1, "B/kcycle", \
      "predicted for the slices of a controller with one home only, summed over decisions") \
    S(SUM, bandwidth_2, "B/kcycle", "predicted with 2 copies") \
    S(SUM, bandwidth_4, "B/kcycle", "predicted with 4 copies") \
    S(SUM, bandwidth_8, "B/kcycle", "predicted with 8 copies") \
    S(SUM, bandwidth_16, "B/kcycle", "predicted with 16 copies") \
    S(SUM, bandwidth_32, "B/kcycle", "predicted with 32 copies") \
    S(SUM, bandwidth_64, "B/kcycle", "predicted with 64 copies")

STATS_STRUCT(selrep_stats, SELREP_STATS);

struct selrep_profile {
    unsigned degrees;
    double hits[REPLICATION_DEGREES]; /* of requests, at each degree */
    double lsp[REPLICATION_DEGREES];
    double slice_bytes, memory_bytes; /* per cycle: what a slice, and what a slice's part of memory can give */
    double demand_bytes;              /* per cycle: what is asked for */
    double demand_share;              /* of what one home supplies: what must be asked for if there are to be copies */
    bool copies;                      /* there are some now */
    double gain_share;                /* if not: of what one home supplies, by how much they must be better */
};

enum selrep_verdict {
    SELREP_SUPPLIES_MOST,
    SELREP_LITTLE_DEMAND, /* and so there are no copies */
    SELREP_LITTLE_GAIN,   /* likewise */
};

/* What the slices of a controller would supply in bytes per cycle (Equation 2). */
double selrep_bandwidth(const struct selrep_profile *profile, unsigned degree_log2);
/* The degree that supplies most, of equal ones the least; one home where little is asked for, or as long as copies would
 * supply little more. */
unsigned selrep_best(const struct selrep_profile *profile, enum selrep_verdict *verdict);

#endif
