/* Dynamic sending: whether an L1 node asks the other groups about its read misses, or goes straight to the LLC. "GPU
 * Performance Optimization via Inter-group Cache Cooperation", section III-C3.
 *
 * A node counts its read misses in periods. Those sampled, at the beginning of a period, all go to the groups and are
 * timed; those executed, the rest, go where the samples say is faster, to the groups if
 *
 *     T_MGC = R_h T_h + R_m (T_m + T_mL2)  <  T_L2
 *
 * with R_h and R_m the shares of samples that a group served or none did, T_h from asking to a group's data, T_m from
 * asking to turning to the LLC, and T_mL2 from there to its data. The paper's T_L2, the time of requests that go straight
 * to the LLC, has nobody to be taken from while all are sent to the groups: here it is T_mL2 itself.
 *
 * Misses between the last sample's asking and the last one's answer go to the groups, like samples, and are the first
 * of those executed. If no sample had to ask the LLC there is nothing against the groups.
 */
#ifndef SLUICE_L1_DYNAMIC_SENDING_H
#define SLUICE_L1_DYNAMIC_SENDING_H

#include "base/base.h"
#include "stats/stats.h"

#define SENDING_STATS(S) \
    S(SUM, sampled, "accesses", "read misses that were sampled") \
    S(SUM, to_groups, "accesses", "read misses executed by asking the other groups") \
    S(SUM, to_llc, "accesses", "read misses executed by going straight to the LLC") \
    S(SUM, periods_groups, "periods", "periods whose samples spoke for the other groups") \
    S(SUM, periods_llc, "periods", "periods whose samples spoke for the LLC")

STATS_STRUCT(sending_stats, SENDING_STATS);
extern const struct stat_table sending_stat_table;

enum sending_target {
    SENDING_L2,      /* go straight to the LLC */
    SENDING_RING,    /* ask the other groups */
    SENDING_SAMPLED, /* likewise, and its time is to be told */
};

struct sending_sum {
    uint64_t count, cycles;
};

struct dynamic_sending {
    unsigned sampled, executed; /* misses of a period */
    unsigned misses;            /* of this period so far */
    unsigned untold;            /* samples whose time is not known yet */
    enum sending_target target; /* of those executed */
    /* Of this period's samples. */
    struct sending_sum hit;   /* served by a group */
    struct sending_sum asked; /* not served: until the LLC was asked, */
    struct sending_sum llc;   /* and from there to its data */
    struct sending_stats stats;
};

/* With none sampled every miss goes to the groups. */
void dynamic_sending_init(struct dynamic_sending *sending, unsigned sampled, unsigned executed);

/* Where the next read miss goes; the first only says what the second will. */
enum sending_target dynamic_sending_next(const struct dynamic_sending *sending);
enum sending_target dynamic_sending_ask(struct dynamic_sending *sending);

/* What became of a sample: a group's data came after `ring_cycles`; or the LLC was asked after them, and its data came
 * `l2_cycles` later. */
void dynamic_sending_report(struct dynamic_sending *sending, bool hit, uint64_t ring_cycles, uint64_t l2_cycles);

#endif
