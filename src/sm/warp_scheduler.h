/* Warp schedulers: select the warp that issues. A policy is one file and one line in warp_schedulers.def.
 *
 * Warps are bits of a 64-bit word, indexed by slot. Scheduler s of n owns the slots with slot % n == s.
 */
#ifndef SLUICE_SM_WARP_SCHEDULER_H
#define SLUICE_SM_WARP_SCHEDULER_H

#include "base/base.h"
#include "config/config.h"

/* The state visible to a scheduler: its own slots, and references to the SM's current masks. */
struct warp_view {
    uint64_t mine;                  /* slots of this scheduler */
    const uint64_t *waiting_memory; /* warps waiting for data from memory */
    const uint64_t *resident;       /* warps launched and not ended */
    const uint64_t *exited;         /* of these: warps whose exit has issued */
    /* Resident CTAs, oldest first, as slot masks. Within a CTA, a lower slot is older. */
    const uint64_t *cta_slots;
    const unsigned *ctas;
};

struct warp_scheduler_ops {
    struct policy policy;
    void *(*create)(const struct config *config);
    void (*destroy)(void *state);
    /* Picks one of `candidates`, which is not empty; the picked warp issues. */
    unsigned (*pick)(void *state, uint64_t candidates, const struct warp_view *view);
};

#endif
