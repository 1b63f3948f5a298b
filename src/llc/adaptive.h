/* The decision rules of the adaptive LLC (adaptive.c) as functions of a profile, and its counters. */
#ifndef SLUICE_LLC_ADAPTIVE_H
#define SLUICE_LLC_ADAPTIVE_H

#include "stats/stats.h"

#define ADAPTIVE_STATS(S) \
    S(SUM, shared_cycles, "cycles", "cycles in shared mode, including profiling") \
    S(SUM, private_cycles, "cycles", "cycles in private mode") \
    S(SUM, profile_cycles, "cycles", "cycles of profiling phases") \
    S(SUM, decisions, "decisions", "decisions at the end of a profiling phase") \
    S(SUM, rule_1, "decisions", "decisions for private mode by similar miss rates (rule 1)") \
    S(SUM, rule_2, "decisions", "decisions for private mode by higher bandwidth (rule 2)") \
    S(SUM, rule_3, "times", "returns to shared mode at a new epoch or a kernel's end (rule 3)") \
    S(SUM, directory_reads, "reads", "reads in profiling phases to sets that the auxiliary tag directory shadows") \
    S(SUM, directory_hits, "reads", "of those, predicted hits in a private LLC")

STATS_STRUCT(adaptive_stats, ADAPTIVE_STATS);
extern const struct stat_table adaptive_stat_table;

struct adaptive_profile {
    double shared_hits, private_hits; /* hit rates of reads */
    double shared_lsp, private_lsp;
    double slice_bytes, memory_bytes; /* per cycle: of one slice, of all of memory */
    double similar;                   /* hit rates that differ by at most this are similar */
};

enum adaptive_verdict {
    ADAPTIVE_STAY,
    ADAPTIVE_RULE_1,
    ADAPTIVE_RULE_2,
    ADAPTIVE_ATOMICS, /* stays shared because of atomics */
    ADAPTIVE_NOTHING, /* stays shared because there is no profile */
};

/* Bandwidth of LLC and memory together, in bytes per cycle. */
double adaptive_bandwidth(const struct adaptive_profile *profile, double hits, double lsp);
enum adaptive_verdict adaptive_rule(const struct adaptive_profile *profile);

#endif
