/* Two-level scheduling with fetch groups (Narasiman et al., MICRO 2011; "2LEVEL" in "Locality-Driven Dynamic GPU Cache
 * Bypassing"): the warps of a scheduler form fixed groups. It schedules round robin within the active group and moves
 * to the next group only when every warp of the active one waits for memory or has exited, so that the groups reach
 * long-latency stalls at different times.
 */
#include <stdlib.h>

#include "sm/sm_config.h"
#include "sm/warp_scheduler.h"

struct two_level_config {
    int64_t group_warps;
};

static const struct param params[] = {
    P_INT(struct two_level_config, group_warps, 8, 1, 64, "warps", "warps per fetch group"),
};

static const struct section two_level_section = {
    .path = "two-level",
    .help = "two-level warp scheduling",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct two_level_config),
};

struct two_level {
    unsigned group_warps;
    unsigned group;
    unsigned next; /* slot after the last issued */
};

static void *two_level_create(const struct config *config) {
    const struct two_level_config *values = config_get(config, &two_level_section);
    struct two_level *state = mem_alloc(1, sizeof *state);
    state->group_warps = (unsigned)values->group_warps;
    return state;
}

/* Slots of group `group` of the scheduler that owns `mine`, in slot order. */
static uint64_t group_slots(uint64_t mine, unsigned group, unsigned group_warps) {
    uint64_t slots = 0;
    unsigned i = 0;
    for (uint64_t rest = mine; rest; rest &= rest - 1, i++)
        if (i / group_warps == group) slots |= rest & -rest;
    return slots;
}

/* The first group with a ready warp, starting from the active one, gets the cycle. It becomes the active group only if
 * all groups before it wait for memory; a group with a shorter stall stays active. */
static unsigned two_level_pick(void *state, uint64_t candidates, const struct warp_view *view) {
    struct two_level *two = state;
    unsigned groups = (unsigned)div_up((uint64_t)__builtin_popcountll(view->mine), two->group_warps);
    bool stalled = true;
    uint64_t ready = 0, running = *view->resident & ~*view->exited;
    for (unsigned i = 0; i < groups && !ready; i++) {
        unsigned group = (two->group + i) % groups;
        uint64_t slots = group_slots(view->mine, group, two->group_warps);
        ready = candidates & slots;
        if (ready && stalled) two->group = group;
        stalled = stalled && !(slots & running & ~*view->waiting_memory);
    }
    uint64_t after = ready & ~low_mask(two->next);
    unsigned warp = lowest_bit(after ? after : ready);
    two->next = (warp + 1) % 64;
    return warp;
}

const struct warp_scheduler_ops warp_scheduler_two_level = {
    .policy = {"two-level", "round robin within fetch groups that stall at different times", &two_level_section},
    .create = two_level_create,
    .destroy = free,
    .pick = two_level_pick,
};
