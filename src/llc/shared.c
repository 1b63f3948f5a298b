/* Shared LLC: each line has one home slice, chosen by its address, which serves all SMs. The baseline of "Adaptive
 * Memory-Side Last-Level GPU Caching" (ISCA 2019, section 2.1). */
#include <stdlib.h>

#include "base/base.h"
#include "llc/organisation.h"

const struct llc_organisation_ops llc_organisation_shared;

struct llc_shared {
    struct llc_organisation base;
    unsigned slices_per_mc;
};

static struct llc_organisation *shared_create(const struct llc_context *context, struct error *err) {
    (void)err;
    struct llc_shared *shared = mem_alloc(1, sizeof *shared);
    *shared = (struct llc_shared){.base = {.ops = &llc_organisation_shared, .map = context->map},
                                  .slices_per_mc = address_map_slices_per_mc(context->map)};
    return &shared->base;
}

static void shared_destroy(struct llc_organisation *organisation) { free(organisation); }

static unsigned shared_target(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                              unsigned home, unsigned cluster, uint64_t now) {
    (void)message, (void)cluster, (void)now;
    const struct llc_shared *shared = (const struct llc_shared *)organisation;
    return mc * shared->slices_per_mc + home;
}

const struct llc_organisation_ops llc_organisation_shared = {
    .policy = {"shared", "each line has one home slice, which serves all SMs", NULL},
    .create = shared_create,
    .destroy = shared_destroy,
    .target = shared_target,
};
