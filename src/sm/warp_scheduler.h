/* Warp schedulers: which of its ready warps a scheduler issues from. A policy is one file and one line in
 * warp_schedulers.def.
 *
 * Warps are bits in 64-bit words, by their slot in the SM. A scheduler owns the slots whose number, modulo the
 * schedulers of the SM, is its own.
 */
#ifndef SLUICE_SM_WARP_SCHEDULER_H
#define SLUICE_SM_WARP_SCHEDULER_H

#include "base/base.h"
#include "config/config.h"

/* What a scheduler may look at: its own slots, and the SM's words as they are now. */
struct warp_view {
    uint64_t mine;                  /* slots that are this scheduler's */
    const uint64_t *waiting_memory; /* warps whose next instruction waits for data from memory */
    const uint64_t *resident;       /* warps that have been launched and not completely ended */
    const uint64_t *exited;         /* of these: warps that will issue nothing more */
    /* CTAs in the SM, oldest first, as masks of their slots. Within a CTA a lower slot is older. */
    const uint64_t *cta_slots;
    const unsigned *ctas;
};

struct warp_scheduler_ops {
    struct policy policy;
    void *(*create)(const struct config *config);
    void (*destroy)(void *state);
    /* Picks one of `candidates`, which is not empty; what it picks issues. */
    unsigned (*pick)(void *state, uint64_t candidates, const struct warp_view *view);
};

#endif
