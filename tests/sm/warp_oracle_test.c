/* The warp schedulers against their definitions (warp_oracle.h), pick by pick, while warps stall and CTAs come and go at
 * random. */
#include "sm/warp_oracle.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "settings.h"
#include "sm/sm_config.h"
#include "sm/warp_scheduler.h"

enum { PICKS = 4000, CTA_WARPS = 4, CTAS_MAX = ORACLE_WARPS / CTA_WARPS };

/* The CTAs of an SM with all 64 slots, of which the scheduler under test owns those with slot % schedulers == own. */
struct machine {
    struct warp_oracle oracle;
    uint64_t cta_slots[CTAS_MAX], resident, exited, waiting_memory, candidates;
    unsigned ctas, age;
    uint64_t random;
};

static void launch_and_end(struct machine *machine) {
    if (machine->ctas && random_below(&machine->random, 12) == 0) {
        unsigned ends = (unsigned)random_below(&machine->random, machine->ctas);
        machine->resident &= ~machine->cta_slots[ends];
        machine->exited &= ~machine->cta_slots[ends];
        machine->ctas--;
        memmove(&machine->cta_slots[ends], &machine->cta_slots[ends + 1],
                (machine->ctas - ends) * sizeof machine->cta_slots[0]);
    }
    for (unsigned first = 0; first < ORACLE_WARPS; first += CTA_WARPS) {
        uint64_t slots = low_mask(CTA_WARPS) << first;
        if (machine->resident & slots || random_below(&machine->random, 6)) continue;
        machine->cta_slots[machine->ctas++] = slots;
        machine->resident |= slots;
        for (unsigned i = 0; i < CTA_WARPS; i++) machine->oracle.age[first + i] = machine->age++;
    }
}

/* Warps become ready, stall for memory or for something short, and exit. */
static void change_states(struct machine *machine) {
    machine->waiting_memory = machine->candidates = 0;
    for (unsigned slot = 0; slot < ORACLE_WARPS; slot++) {
        uint64_t bit = UINT64_C(1) << slot;
        enum warp_state *state = &machine->oracle.state[slot];
        if (!(machine->resident & bit)) *state = WARP_NONE;
        if (machine->resident & bit && random_below(&machine->random, 400) == 0) machine->exited |= bit;
        if (machine->exited & bit) *state = WARP_NONE;
        bool runs = machine->resident & ~machine->exited & bit;
        if (runs && (*state == WARP_NONE || random_below(&machine->random, 4) == 0)) {
            uint64_t draw = random_below(&machine->random, 10);
            *state = draw < 2 ? WARP_READY : draw < 9 ? WARP_MEMORY : WARP_SHORT;
        }
        if (*state == WARP_MEMORY) machine->waiting_memory |= bit;
        if (oracle_can_issue(&machine->oracle, (int)slot)) machine->candidates |= bit;
    }
}

static const struct warp_scheduler_ops *ops_named(const char *name) {
    for (unsigned i = 0; i < warp_scheduler_family.count; i++)
        if (strcmp(warp_scheduler_family.members[i]->name, name) == 0)
            return (const struct warp_scheduler_ops *)warp_scheduler_family.members[i];
    REQUIRE(!"a scheduler of that name");
    return NULL;
}

static void compare(const char *name, int (*oracle_pick)(struct warp_oracle *), unsigned schedulers, unsigned own,
                    unsigned group_warps) {
    char setting[64];
    snprintf(setting, sizeof setting, "sm.two-level.group_warps=%u", group_warps);
    struct config *config = config_with(SETTINGS(setting));
    const struct warp_scheduler_ops *ops = ops_named(name);
    void *state = ops->create(config);
    struct machine machine = {.oracle = {.last = -1, .group_warps = group_warps}, .random = schedulers * 10 + own + 1};
    uint64_t mine = 0;
    for (unsigned slot = own; slot < ORACLE_WARPS; slot += schedulers) {
        machine.oracle.mine[slot] = true;
        mine |= UINT64_C(1) << slot;
    }
    struct warp_view view = {
        mine, &machine.waiting_memory, &machine.resident, &machine.exited, machine.cta_slots, &machine.ctas};
    unsigned picks = 0, wrong = 0;
    for (unsigned cycle = 0; cycle < PICKS && !wrong; cycle++) {
        launch_and_end(&machine);
        change_states(&machine);
        if (!machine.candidates) continue;
        wrong += ops->pick(state, machine.candidates, &view) != (unsigned)oracle_pick(&machine.oracle);
        picks++;
    }
    if (wrong) printf("%s, %u schedulers, groups of %u: pick %u\n", name, schedulers, group_warps, picks);
    CHECK_EQ(wrong, 0u);
    CHECK(wrong || picks > PICKS / 2);
    ops->destroy(state);
    config_destroy(config);
}

TEST("GTO picks the warp of its definition: the last one while it is ready, then the oldest") {
    for (unsigned schedulers = 1; schedulers <= 4; schedulers *= 2)
        compare("gto", warp_oracle_gto, schedulers, schedulers - 1, 8);
}

TEST("LRR picks the warp of its definition: the next ready one after the last") {
    for (unsigned schedulers = 1; schedulers <= 4; schedulers *= 2)
        compare("lrr", warp_oracle_lrr, schedulers, schedulers / 2, 8);
}

TEST("two-level picks the warp of its definition: in turn within the active group, until all of it waits for memory") {
    for (unsigned schedulers = 1; schedulers <= 4; schedulers *= 2) {
        compare("two-level", warp_oracle_two_level, schedulers, schedulers - 1, 8);
        compare("two-level", warp_oracle_two_level, schedulers, 0, 3);
    }
}
