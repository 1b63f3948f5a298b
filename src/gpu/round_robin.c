/* Round robin, in one level (`rr`: over SMs) or two (`two-level-rr`: over clusters, then over the SMs of each). CTA i
 * of a wave runs in cluster i mod clusters, so that neighbours in the grid run in different clusters: the default of
 * "Adaptive Memory-Side Last-Level GPU Caching" and "Selective Replication in Memory-Side GPU Caches", and of GPGPU-Sim
 * 3.2.2. After the first wave a slot that becomes free receives the next CTA of the grid. One level is two levels with
 * clusters of one SM. */
#include <stdlib.h>

#include "gpu/rotation.h"

struct round_robin {
    struct rotation rotation;
    uint64_t next;
};

static void *two_level_create(const struct config *config, unsigned sms, unsigned clusters) {
    struct round_robin *rr = mem_alloc(1, sizeof *rr);
    rotation_init(&rr->rotation, config, sms, clusters);
    return rr;
}

static void *one_level_create(const struct config *config, unsigned sms, unsigned clusters) {
    (void)clusters;
    return two_level_create(config, sms, sms);
}

static void round_robin_destroy(void *state) {
    rotation_release(&((struct round_robin *)state)->rotation);
    free(state);
}

static void round_robin_begin(void *state, const struct cta_view *view) {
    (void)view;
    struct round_robin *rr = state;
    rr->next = 0;
    rotation_begin(&rr->rotation);
}

static void round_robin_cycle(void *state) { rotation_cycle(&((struct round_robin *)state)->rotation); }

static bool round_robin_choose(void *state, const struct cta_view *view, struct cta_choice *choice) {
    struct round_robin *rr = state;
    if (rr->next == view->ctas) return false;
    int sm = rotation_next(&rr->rotation, view, 1);
    if (sm < 0) return false;
    *choice = (struct cta_choice){rr->next++, (unsigned)sm};
    rotation_serve(&rr->rotation, (unsigned)sm);
    return true;
}

const struct cta_scheduler_ops cta_scheduler_two_level_rr = {
    .policy = {"two-level-rr", "round robin over clusters, then over the SMs of each", NULL},
    .create = two_level_create,
    .destroy = round_robin_destroy,
    .begin = round_robin_begin,
    .cycle = round_robin_cycle,
    .choose = round_robin_choose,
};

const struct cta_scheduler_ops cta_scheduler_rr = {
    .policy = {"rr", "round robin over SMs", NULL},
    .create = one_level_create,
    .destroy = round_robin_destroy,
    .begin = round_robin_begin,
    .cycle = round_robin_cycle,
    .choose = round_robin_choose,
};
