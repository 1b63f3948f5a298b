/* Dynamic sending: whether the read misses of an L1 node probe the other groups or go directly to the LLC. "GPU
 * Performance Optimization via Inter-group Cache Cooperation", section III-C3.
 *
 * A node divides its read misses into periods. The sampled misses, at the beginning of a period, all probe the groups
 * and are timed; the executed misses, the rest, use the faster path according to the samples: the groups if
 *
 *     T_MGC = R_h T_h + R_m (T_m + T_mL2)  <  T_L2
 *
 * with R_h and R_m the fractions of samples served and not served by a group, T_h the time from the probe to a group's
 * data, T_m from the probe to the LLC request, and T_mL2 from there to the data. The paper's T_L2, the latency of
 * direct LLC requests, cannot be measured while all misses probe the groups; T_mL2 is used instead.
 *
 * Misses between the last sample and its completion probe the groups like samples and are the first executed ones. If
 * no sample needed the LLC, the groups are used.
 */
#ifndef SLUICE_L1_DYNAMIC_SENDING_H
#define SLUICE_L1_DYNAMIC_SENDING_H

#include "base/base.h"
#include "stats/stats.h"

#define SENDING_STATS(S) \
    S(SUM, sampled, "accesses", "sampled read misses") \
    S(SUM, to_groups, "accesses", "executed read misses that probed other groups") \
    S(SUM, to_llc, "accesses", "executed read misses sent directly to the LLC") \
    S(SUM, periods_groups, "periods", "periods in which the other groups were faster") \
    S(SUM, periods_llc, "periods", "periods in which the LLC was faster")

STATS_STRUCT(sending_stats, SENDING_STATS);
extern const struct stat_table sending_stat_table;

enum sending_target {
    SENDING_L2,      /* directly to the LLC */
    SENDING_RING,    /* probe the other groups */
    SENDING_SAMPLED, /* probe the other groups and report the time */
};

struct sending_sum {
    uint64_t count, cycles;
};

struct dynamic_sending {
    unsigned sampled, executed; /* misses per period */
    unsigned misses;            /* misses of the current period */
    unsigned untold;            /* samples not completed */
    enum sending_target target; /* path of the executed misses */
    /* Samples of the current period. */
    struct sending_sum hit;   /* served by a group */
    struct sending_sum asked; /* not served: until the LLC request, */
    struct sending_sum llc;   /* and from there to the data */
    struct sending_stats stats;
};

/* With sampled = 0 every miss probes the groups. */
void dynamic_sending_init(struct dynamic_sending *sending, unsigned sampled, unsigned executed);

/* The path of the next read miss; the first function only predicts the result of the second. */
enum sending_target dynamic_sending_next(const struct dynamic_sending *sending);
enum sending_target dynamic_sending_ask(struct dynamic_sending *sending);

/* Reports a completed sample: data from a group after `ring_cycles`, or an LLC request after `ring_cycles` and its data
 * `l2_cycles` later. Returns whether it decides the path of the executed misses, `target`. */
bool dynamic_sending_report(struct dynamic_sending *sending, bool hit, uint64_t ring_cycles, uint64_t l2_cycles);

#endif
