/* Greedy, then oldest: issues from the last warp while it is ready, else from the oldest ready warp. Age is the launch
 * order; the warps of a new CTA are the youngest. */
#include <stdlib.h>

#include "sm/warp_scheduler.h"

struct gto {
    unsigned last;
};

static void *gto_create(const struct config *config) {
    (void)config;
    return mem_alloc(1, sizeof(struct gto));
}

static unsigned gto_pick(void *state, uint64_t candidates, const struct warp_view *view) {
    struct gto *gto = state;
    if (candidates >> gto->last & 1) return gto->last;
    for (const uint64_t *slots = view->cta_slots;; slots++) {
        assert(slots != view->cta_slots + *view->ctas && "a candidate belongs to a CTA");
        uint64_t ready = candidates & *slots;
        if (ready) return gto->last = lowest_bit(ready);
    }
}

const struct warp_scheduler_ops warp_scheduler_gto = {
    .policy = {"gto", "greedy, then oldest", NULL},
    .create = gto_create,
    .destroy = free,
    .pick = gto_pick,
};
