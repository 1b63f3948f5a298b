/* Reconfiguration: brings the machine from one mode of the LLC (struct llc_mode) to another, as the organisation decided at run time.
 * One at a time, for one partition:
 *
 *     IDLE ──▶ STOPPING ──▶ SETTLING ──▶ FLUSHING ──▶ SWITCHING ──▶ IDLE
 *
 * STOPPING   The SMs concerned stop issuing; waits until each reports that nothing of it is in flight.
 * SETTLING   L1s that are components of their own report the same: they may hold what no SM waits for.
 * FLUSHING   No request is in flight. Slices write modified lines to memory and, where lines would be left in more than one slice,
 *            invalidate them. Before MC-routers are switched, waits also until every packet and credit has left the networks.
 * SWITCHING  MC-routers are powered off and bypassed, or on.
 *
 * Then the SMs go on. Every state is entered; one that has nothing to wait for is left in the same cycle.
 *
 * Which SMs are concerned: those of the partition if its private mode or its bypass changes while a kernel runs; those of all
 * partitions if MC-routers are switched, which are off only while every program wants that. None at a kernel's end, where nothing of
 * the program is in flight. None for replicas of lines that a kernel only reads (llc/replication.h): before the first of a kernel, slices write
 * modified lines to memory, where replicas come from, while the program runs (a background flush).
 */
#ifndef SLUICE_GPU_RECONFIGURATION_H
#define SLUICE_GPU_RECONFIGURATION_H

#include "base/base.h"

struct control;
struct partition;

enum reconfiguration_state {
    RECONFIGURATION_IDLE,
    RECONFIGURATION_STOPPING,
    RECONFIGURATION_SETTLING,
    RECONFIGURATION_FLUSHING,
    RECONFIGURATION_SWITCHING,
    RECONFIGURATION_STATES,
};

struct reconfiguration {
    enum reconfiguration_state state;
    struct partition *partition;
    bool bypass;           /* MC-routers are bypassed, or will be when it is over */
    bool power;            /* it switches them */
    unsigned awaited;      /* reports that the state waits for: of SMs, L1s or slices */
    uint64_t since, until; /* the state was entered, and is not left before */
    uint64_t quiet_cycles, gating_cycles;
};

static inline bool reconfiguration_concerns(const struct reconfiguration *reconfiguration,
                                            const struct partition *partition) {
    return reconfiguration->state != RECONFIGURATION_IDLE && reconfiguration->partition == partition;
}

/* Begins that of the partition if it needs one and none is under way. */
void reconfiguration_begin(struct control *control, struct partition *partition, uint64_t now);
/* Goes on as far as it can. */
void reconfiguration_advance(struct control *control, uint64_t now);
/* Whether the change to the wanted mode stops the partition's SMs. */
bool reconfiguration_stops(const struct partition *partition);

#endif
