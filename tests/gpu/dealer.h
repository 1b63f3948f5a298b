/* A CTA scheduler by itself: the test acts as the dispatcher and as the SMs, whose slots it frees.
 *
 *     struct dealer *dealer = dealer_of("bcs", (struct grid){.sms = 6, .clusters = 3, .slots = 2, .ctas = 11}, NULL);
 *     deal_all(dealer);
 *     CHECK_EQ(dealer->sm_of[10], 5u);
 *     dealer_destroy(dealer);
 */
#ifndef SLUICE_TESTS_GPU_DEALER_H
#define SLUICE_TESTS_GPU_DEALER_H

#include <stdlib.h>
#include <string.h>

#include "gpu/cta_scheduler.h"
#include "settings.h"
#include "test.h"

/* A scheduler and the SMs that it sees. */
struct dealer {
    struct config *config;
    const struct cta_scheduler_ops *ops;
    void *state;
    struct cta_view view;
    unsigned free_slots[128];
    unsigned sm_of[1024]; /* by CTA */
    unsigned times[1024];
    unsigned dealt;
};

static inline const struct cta_scheduler_ops *scheduler_named(const char *name) {
    for (unsigned i = 0; i < cta_scheduler_family.count; i++)
        if (strcmp(cta_scheduler_family.members[i]->name, name) == 0)
            return (const struct cta_scheduler_ops *)cta_scheduler_family.members[i];
    REQUIRE(!"a scheduler of that name");
    return NULL;
}

struct grid {
    unsigned sms, clusters, slots, ctas;
};

/* `setting` may be NULL. */
static inline struct dealer *dealer_of(const char *name, struct grid grid, const char *setting) {
    struct dealer *dealer = mem_alloc(1, sizeof *dealer);
    dealer->config = config_with(SETTINGS(setting));
    dealer->ops = scheduler_named(name);
    dealer->state = dealer->ops->create(dealer->config, grid.sms, grid.clusters);
    for (unsigned i = 0; i < grid.sms; i++) dealer->free_slots[i] = grid.slots;
    dealer->view = (struct cta_view){grid.sms, grid.clusters, grid.ctas, grid.slots, dealer->free_slots};
    dealer->ops->begin(dealer->state, &dealer->view);
    return dealer;
}

static inline void dealer_destroy(struct dealer *dealer) {
    dealer->ops->destroy(dealer->state);
    config_destroy(dealer->config);
    free(dealer);
}

/* One cycle as the dispatcher runs it. Returns the CTAs dealt out in it. */
static inline unsigned deal_cycle(struct dealer *dealer) {
    struct cta_choice choice;
    unsigned count = 0;
    if (dealer->ops->cycle) dealer->ops->cycle(dealer->state);
    while (dealer->ops->choose(dealer->state, &dealer->view, &choice)) {
        REQUIRE(choice.cta < dealer->view.ctas && choice.sm < dealer->view.sms);
        REQUIRE(dealer->free_slots[choice.sm] > 0);
        dealer->free_slots[choice.sm]--;
        dealer->sm_of[choice.cta] = choice.sm;
        dealer->times[choice.cta]++;
        count++;
    }
    dealer->dealt += count;
    return count;
}

static inline void deal_all(struct dealer *dealer) {
    while (deal_cycle(dealer)) continue;
}

#endif
