/* The rules of the adaptive LLC (adaptive.c) as functions of a profile, and what it counts. */
#ifndef SLUICE_LLC_ADAPTIVE_H
#define SLUICE_LLC_ADAPTIVE_H

#include "stats/stats.h"

#define ADAPTIVE_STATS(S) \
    S(SUM, shared_cycles, "cycles", "in shared mode, profiling included") \
    S(SUM, private_cycles, "cycles", "in private mode") \
    S(SUM, profile_cycles, "cycles", "of profiling phases") \
    S(SUM, decisions, "decisions", "made at the end of a profiling phase") \
    S(SUM, rule_1, "decisions", "for private, since the miss rates are about equal") \
    S(SUM, rule_2, "decisions", "for private, since it supplies more bandwidth") \
    S(SUM, rule_3, "times", "back to shared, for a new epoch or at a kernel's end") \
    S(SUM, directory_reads, "reads", "in profiling phases, of the sets that the tag directory shadows") \
    S(SUM, directory_hits, "reads", "of those, the ones that would hit in a private LLC, as the directory says")

STATS_STRUCT(adaptive_stats, ADAPTIVE_STATS);
extern const struct stat_table adaptive_stat_table;

struct adaptive_profile {
    double shared_hits, private_hits; /* of reads */
    double shared_lsp, private_lsp;
    double slice_bytes, memory_bytes; /* per cycle: what a slice, what all of memory can give */
    double similar;                   /* difference of hit rates up to which they are about equal */
};

enum adaptive_verdict {
    ADAPTIVE_STAY,
    ADAPTIVE_RULE_1,
    ADAPTIVE_RULE_2,
    ADAPTIVE_ATOMICS, /* stays shared for their sake */
    ADAPTIVE_NOTHING, /* stays shared, since there is no profile */
};

/* What LLC and memory together supply, in bytes per cycle. */
double adaptive_bandwidth(const struct adaptive_profile *profile, double hits, double lsp);
enum adaptive_verdict adaptive_rule(const struct adaptive_profile *profile);

#endif
