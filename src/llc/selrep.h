/* The performance model of selective replication (selrep.c), and its counters. */
#ifndef SLUICE_LLC_SELREP_H
#define SLUICE_LLC_SELREP_H

#include "llc/replication.h"
#include "stats/stats.h"

#define SELREP_STATS(S) \
    S(SUM, cycles_1, "cycles", "cycles at replication degree 1") \
    S(SUM, cycles_2, "cycles", "cycles at replication degree 2") \
    S(SUM, cycles_4, "cycles", "cycles at replication degree 4") \
    S(SUM, cycles_8, "cycles", "cycles at replication degree 8") \
    S(SUM, cycles_16, "cycles", "cycles at replication degree 16") \
    S(SUM, cycles_32, "cycles", "cycles at replication degree 32") \
    S(SUM, cycles_64, "cycles", "cycles at replication degree 64") \
    S(SUM, epochs, "epochs", "epochs that ended with a decision") \
    S(SUM, changes, "decisions", "decisions that changed the degree") \
    S(SUM, requests, "requests", "read-only requests to the first controller") \
    S(SUM, samples_1, "requests", "of those, samples: requests that the directory uses for degree 1") \
    S(SUM, samples_2, "requests", "samples for degree 2") \
    S(SUM, samples_4, "requests", "samples for degree 4") \
    S(SUM, samples_8, "requests", "samples for degree 8") \
    S(SUM, samples_16, "requests", "samples for degree 16") \
    S(SUM, samples_32, "requests", "samples for degree 32") \
    S(SUM, samples_64, "requests", "samples for degree 64") \
    S(SUM, hits_1, "requests", "of the samples, predicted hits at degree 1") \
    S(SUM, hits_2, "requests", "predicted hits at degree 2") \
    S(SUM, hits_4, "requests", "predicted hits at degree 4") \
    S(SUM, hits_8, "requests", "predicted hits at degree 8") \
    S(SUM, hits_16, "requests", "predicted hits at degree 16") \
    S(SUM, hits_32, "requests", "predicted hits at degree 32") \
    S(SUM, hits_64, "requests", "predicted hits at degree 64") \
    S(SUM, bandwidth_1, "B/kcycle", "predicted bandwidth of a controller's slices at degree 1, summed over decisions") \
    S(SUM, bandwidth_2, "B/kcycle", "predicted bandwidth at degree 2") \
    S(SUM, bandwidth_4, "B/kcycle", "predicted bandwidth at degree 4") \
    S(SUM, bandwidth_8, "B/kcycle", "predicted bandwidth at degree 8") \
    S(SUM, bandwidth_16, "B/kcycle", "predicted bandwidth at degree 16") \
    S(SUM, bandwidth_32, "B/kcycle", "predicted bandwidth at degree 32") \
    S(SUM, bandwidth_64, "B/kcycle", "predicted bandwidth at degree 64")

STATS_STRUCT(selrep_stats, SELREP_STATS);

struct selrep_profile {
    unsigned degrees;
    double hits[REPLICATION_DEGREES]; /* hit rate at each degree */
    double lsp[REPLICATION_DEGREES];
    double slice_bytes, memory_bytes; /* per cycle: bandwidth of a slice, and of a slice's share of memory */
    double demand_bytes;              /* per cycle: demanded bandwidth */
    double demand_share; /* demand, relative to the bandwidth at degree 1, below which there are no replicas */
    bool copies;         /* the current degree is above 1 */
    double gain_share;   /* if not: gain, relative to the bandwidth at degree 1, that replicas must exceed */
};

enum selrep_verdict {
    SELREP_SUPPLIES_MOST,
    SELREP_LITTLE_DEMAND, /* demand too low for replicas */
    SELREP_LITTLE_GAIN,   /* gain too low for replicas */
};

/* Bandwidth of a controller's slices in bytes per cycle (Equation 2). */
double selrep_bandwidth(const struct selrep_profile *profile, unsigned degree_log2);
/* The degree with the highest bandwidth, the smallest if equal; degree 1 if demand is low, or as long as replicas gain
 * little. */
unsigned selrep_best(const struct selrep_profile *profile, enum selrep_verdict *verdict);

#endif
