/* Reconfiguration changes the machine from one mode of the LLC (struct llc_mode) to another, as decided at run time by
 * the organisation. There is one at a time, for one partition:
 *
 *     IDLE ──▶ STOPPING ──▶ SETTLING ──▶ FLUSHING ──▶ SWITCHING ──▶ IDLE
 *
 * STOPPING   The SMs concerned stop issuing; waits until each reports that it has nothing in flight.
 * SETTLING   L1s that are separate components report the same: they may hold requests that no SM waits for.
 * FLUSHING   No request is in flight. Slices write modified lines to memory and invalidate lines that would be left in
 *            more than one slice. If MC-routers are to be switched, waits until every packet and credit has left the
 *            networks.
 * SWITCHING  MC-routers are powered off and bypassed, or powered on.
 *
 * Then the SMs continue. Every state is entered; one that has nothing to wait for is left in the same cycle.
 *
 * The SMs concerned are those of the partition if its private mode or its bypass changes while a kernel runs, and those
 * of all partitions if MC-routers are switched, which are off only while every program wants that. No SM is stopped at
 * a kernel's end, where the program has nothing in flight, nor for replicas of lines that a kernel only reads
 * (llc/replication.h): before the first replica of a kernel, slices write modified lines to memory, the source of
 * replicas, while the program runs (a background flush).
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
    bool bypass;           /* MC-routers are bypassed, or will be at its end */
    bool power;            /* it powers them off or on */
    unsigned awaited;      /* reports that the state waits for: from SMs, L1s or slices */
    uint64_t since, until; /* entry into the state; earliest exit from it */
    uint64_t quiet_cycles, gating_cycles;
};

static inline bool reconfiguration_concerns(const struct reconfiguration *reconfiguration,
                                            const struct partition *partition) {
    return reconfiguration->state != RECONFIGURATION_IDLE && reconfiguration->partition == partition;
}

/* Starts the partition's reconfiguration if it needs one and none is in progress. */
void reconfiguration_begin(struct control *control, struct partition *partition, uint64_t now);
/* Advances as far as possible. */
void reconfiguration_advance(struct control *control, uint64_t now);
/* Whether the change to the wanted mode stops the partition's SMs. */
bool reconfiguration_stops(const struct partition *partition);

#endif
