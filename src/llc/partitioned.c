/* An LLC of two partitions that copy each other's lines (A100, H100): a cluster reads lines whose home is in the far
 * partition from copies in its own partition, which are fetched from there (bridge.h). Lines that both partitions read
 * are therefore held twice, and the capacity for them is half.
 *
 * How the hardware keeps copies coherent is not published. Here only lines that the kernel just reads are copied, so
 * that no copy becomes stale, and copies are invalidated at the kernel's end; all other requests cross to the home slice.
 */
#include <stdlib.h>

#include "base/base.h"
#include "llc/bridge.h"
#include "llc/replication.h"
#include "sim/gpu_config.h"

const struct llc_organisation_ops llc_organisation_partitioned;

struct llc_partitioned {
    struct llc_organisation base;
    unsigned slices_per_mc, mcs, clusters;
};

static bool partitioned_check(const struct config *config, struct error *err) {
    return bridges_exist(config) ||
           config_error(config, "llc.organisation", err,
                        "partitioned needs an LLC of two partitions; set llc.partitions to 2, or choose shared");
}

static struct llc_organisation *partitioned_create(const struct llc_context *context, struct error *err) {
    (void)err;
    const struct gpu_config *gpu = config_get(context->config, &gpu_section);
    struct llc_partitioned *partitioned = mem_alloc(1, sizeof *partitioned);
    *partitioned = (struct llc_partitioned){
        .base = {.ops = &llc_organisation_partitioned, .map = context->map, .mode = {.replicas = true, .copies = true}},
        .slices_per_mc = address_map_slices_per_mc(context->map),
        .mcs = address_map_mcs(context->map),
        .clusters = (unsigned)gpu->clusters,
    };
    return &partitioned->base;
}

static void partitioned_destroy(struct llc_organisation *organisation) { free(organisation); }

static unsigned partitioned_target(const struct llc_organisation *organisation, const struct message *message,
                                   unsigned mc, unsigned home, unsigned cluster, uint64_t now) {
    (void)now;
    const struct llc_partitioned *p = (const struct llc_partitioned *)organisation;
    bool far = bridge_side(mc, p->mcs) != bridge_side(cluster, p->clusters);
    if (far && replication_concerns(message)) mc = (mc + p->mcs / 2) % p->mcs;
    return mc * p->slices_per_mc + home;
}

const struct llc_organisation_ops llc_organisation_partitioned = {
    .policy = {"partitioned", "two partitions, each with copies of the other's read-only lines", NULL},
    .check = partitioned_check,
    .create = partitioned_create,
    .destroy = partitioned_destroy,
    .target = partitioned_target,
};
