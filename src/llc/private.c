/* Private LLC: each slice of a controller serves one cluster of SMs, so that a line accessed by several clusters has a
 * replica for each of them: more bandwidth to shared lines, less effective capacity. From "Adaptive Memory-Side
 * Last-Level GPU Caching" (ISCA 2019, section 2.1): needs as many slices per controller as clusters; writes are written
 * through, and slices are flushed with the L1s at a kernel's end.
 *
 * All atomics to a word must be performed in one place: the cluster's slice forwards them to an LLC that all clusters
 * share (llc/atomics.h).
 */
#include <stdlib.h>

#include "base/base.h"
#include "llc/llc.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"

const struct llc_organisation_ops llc_organisation_private;

struct llc_private {
    struct llc_organisation base;
    unsigned slices_per_mc;
};

bool llc_private_check(const struct config *config, struct error *err) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    if (llc->slices_per_mc == gpu->clusters) return true;
    return config_error(
        config, "llc.organisation", err,
        "a private LLC needs one slice per cluster at every memory controller, but llc.slices_per_mc is %lld and gpu.clusters is %lld; make them equal",
        (long long)llc->slices_per_mc, (long long)gpu->clusters);
}

static struct llc_organisation *private_create(const struct llc_context *context, struct error *err) {
    (void)err;
    const struct noc_config *noc = config_get(context->config, &noc_section);
    struct llc_private *private = mem_alloc(1, sizeof *private);
    *private = (struct llc_private){
        .base = {.ops = &llc_organisation_private,
                 .map = context->map,
                 .mode = {.is_private = true, .bypass = noc->bypass}},
        .slices_per_mc = address_map_slices_per_mc(context->map),
    };
    return &private->base;
}

static void private_destroy(struct llc_organisation *organisation) { free(organisation); }

static unsigned private_target(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                               unsigned home, unsigned cluster, uint64_t now) {
    (void)message, (void)home, (void)now;
    const struct llc_private *private = (const struct llc_private *)organisation;
    return mc * private->slices_per_mc + cluster;
}

static bool private_atomics(const struct config *config) {
    (void)config;
    return true;
}

const struct llc_organisation_ops llc_organisation_private = {
    .policy = {"private", "one slice per cluster at every controller, with its own replicas", NULL},
    .own_slice_only = true,
    .private_atomics = private_atomics,
    .check = llc_private_check,
    .create = private_create,
    .destroy = private_destroy,
    .target = private_target,
};
