/* Loose round robin: the next ready warp after the one that issued last. */
#include <stdlib.h>

#include "sm/warp_scheduler.h"

struct lrr {
    unsigned next;
};

static void *lrr_create(const struct config *config) {
    (void)config;
    return mem_alloc(1, sizeof(struct lrr));
}

static unsigned lrr_pick(void *state, uint64_t candidates, const struct warp_view *view) {
    (void)view;
    struct lrr *lrr = state;
    uint64_t after = candidates & ~low_mask(lrr->next);
    unsigned warp = lowest_bit(after ? after : candidates);
    lrr->next = (warp + 1) % 64;
    return warp;
}

const struct warp_scheduler_ops warp_scheduler_lrr = {
    .policy = {"lrr", "loose round robin", NULL},
    .create = lrr_create,
    .destroy = free,
    .pick = lrr_pick,
};
