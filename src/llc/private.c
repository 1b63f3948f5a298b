/* Private LLC: of the slices of a controller, each serves one cluster of SMs, so a line that several clusters use has a
 * copy for each of them. More bandwidth to lines that are shared, less room for different ones. From "Adaptive
 * Memory-Side Last-Level GPU Caching" (ISCA 2019, section 2.1): needs as many slices per controller as there are
 * clusters; writes go through, and slices are flushed with the L1s at a kernel's end.
 *
 * Atomics need one place for a word: the cluster's slice passes them on to an LLC that all clusters share (llc/atomics.h).
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
        "a private LLC has a slice for each cluster at every memory controller, but llc.slices_per_mc is %lld and gpu.clusters %lld; make them equal",
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
    .policy = {"private", "at every controller a slice for each cluster, which holds its own copies", NULL},
    .own_slice_only = true,
    .private_atomics = private_atomics,
    .check = llc_private_check,
    .create = private_create,
    .destroy = private_destroy,
    .target = private_target,
};
