/* Warp schedulers as their definitions say, over a list of warps instead of bit masks.
 *
 * Sources: GPGPU-Sim 3.2.2 for LRR (all warps, starting after the one that issued last) and GTO (the warp that issued
 * last, then the others by age: CTAs in launch order, warps of a CTA by number). Narasiman et al., MICRO 2011, for
 * two-level: fixed fetch groups; round robin within the active group; the next group becomes active when all warps of
 * the active one are stalled on memory or have ended. A cycle that the active group cannot use goes to the next group
 * that can (src/sm/two_level.c).
 */
#ifndef SLUICE_TESTS_SM_WARP_ORACLE_H
#define SLUICE_TESTS_SM_WARP_ORACLE_H

#include <stdbool.h>

enum { ORACLE_WARPS = 64 };
enum warp_state {
    WARP_NONE /* no warp, or it has ended */,
    WARP_READY,
    WARP_MEMORY /* waits for memory */,
    WARP_SHORT
};

struct warp_oracle {
    enum warp_state state[ORACLE_WARPS]; /* by slot */
    unsigned age[ORACLE_WARPS];          /* lower is older */
    bool mine[ORACLE_WARPS];
    int last; /* slot that issued last; -1: none */
    unsigned group_warps, group;
};

static inline bool oracle_can_issue(const struct warp_oracle *oracle, int slot) {
    return oracle->mine[slot] && oracle->state[slot] == WARP_READY;
}

static inline int warp_oracle_gto(struct warp_oracle *oracle) {
    if (oracle->last >= 0 && oracle_can_issue(oracle, oracle->last)) return oracle->last;
    int oldest = -1;
    for (int slot = 0; slot < ORACLE_WARPS; slot++)
        if (oracle_can_issue(oracle, slot) && (oldest < 0 || oracle->age[slot] < oracle->age[oldest])) oldest = slot;
    return oracle->last = oldest;
}

static inline int warp_oracle_lrr(struct warp_oracle *oracle) {
    for (int i = 1; i <= ORACLE_WARPS; i++) {
        int slot = (oracle->last + i) % ORACLE_WARPS;
        if (oracle_can_issue(oracle, slot)) return oracle->last = slot;
    }
    return -1;
}

/* The fetch group of a slot: the scheduler's slots in order, `group_warps` at a time. */
static inline unsigned oracle_group(const struct warp_oracle *oracle, int slot) {
    unsigned before = 0;
    for (int i = 0; i < slot; i++) before += oracle->mine[i];
    return before / oracle->group_warps;
}

static inline int warp_oracle_two_level(struct warp_oracle *oracle) {
    unsigned own = 0;
    for (int slot = 0; slot < ORACLE_WARPS; slot++) own += oracle->mine[slot];
    unsigned groups = (own + oracle->group_warps - 1) / oracle->group_warps;
    bool stalled = true; /* all groups so far */
    for (unsigned i = 0; i < groups; i++) {
        unsigned group = (oracle->group + i) % groups;
        for (int k = 1; k <= ORACLE_WARPS; k++) {
            int slot = (oracle->last + k) % ORACLE_WARPS;
            if (!oracle_can_issue(oracle, slot) || oracle_group(oracle, slot) != group) continue;
            if (stalled) oracle->group = group;
            return oracle->last = slot;
        }
        for (int slot = 0; slot < ORACLE_WARPS; slot++)
            if (oracle->mine[slot] && oracle_group(oracle, slot) == group && oracle->state[slot] == WARP_SHORT)
                stalled = false;
    }
    return -1;
}

#endif
