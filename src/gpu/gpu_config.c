#include "gpu/gpu_config.h"

#include "base/base.h"
#include "dram/dram_config.h"
#include "gpu/cta_scheduler.h"
#include "gpu/engine.h"
#include "l1/l1.h"
#include "llc/atomics.h"
#include "llc/llc.h"
#include "sm/sm_config.h"

static const struct param params[] = {
    P_INT(struct gpu_config, core_mhz, 1400, 1, 100000, "MHz", "clock of the SMs; all cycles are counted in it"),
    P_INT(struct gpu_config, clusters, 8, 1, 512, "clusters",
          "groups of SMs, those behind one router of a hierarchical network"),
    P_INT(struct gpu_config, line_bytes, 128, 64, 256, "B", "line of the L1 and the LLC: 64, 128 or 256"),
    P_INT(struct gpu_config, address_bits, 32, 16, 64, "bits",
          "of a physical address: how wide tags are, which costs storage"),
    P_CHOICE(struct gpu_config, cta_scheduler, cta_scheduler_family, "two-level-rr", "which SM gets the next CTA"),
    P_INT(struct gpu_config, launch_cycles, 0, 0, 1000000, "cycles", "before the first CTA of a kernel can start"),
    P_INT(struct gpu_config, progress_limit, 100000, 1000, 1000000000, "cycles",
          "without anything happening, after which a run is given up as stuck"),
    P_INT(
        struct gpu_config, first_program_sms, 0, 0, 1024, "SMs",
        "of each cluster that the first of two programs gets, the second gets the others; 0: half of them (clusters of one SM"
        " are taken in turn)"),
};

static bool check(const struct config *config, struct error *err) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct sm_config *sm = config_get(config, &sm_section);
    if (!is_power_of_two((uint64_t)gpu->line_bytes))
        return config_error(config, "gpu.line_bytes", err, "a line is 64, 128 or 256 B");
    if (sm->count % gpu->clusters != 0)
        return config_error(config, "gpu.clusters", err, "%lld clusters do not divide %lld SMs (sm.count) evenly",
                            (long long)gpu->clusters, (long long)sm->count);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    /* SMs, slices, controllers, two networks and the control plane, what the L1s bring, and for atomics a slice and a hub. */
    int64_t components =
        sm->count + llc->slices_per_mc * dram->mcs + dram->mcs + 3 + l1_components(config) + 2 * atomics_slices(config);
    if (components > ENGINE_MAX_COMPONENTS)
        return config_error(
            config, "llc.slices_per_mc", err,
            "%lld slices at each of %lld controllers (dram.mcs) and %lld SMs (sm.count) make %lld components; "
            "there is room for %d",
            (long long)llc->slices_per_mc, (long long)dram->mcs, (long long)sm->count, (long long)components,
            ENGINE_MAX_COMPONENTS);
    return true;
}

const struct section gpu_section = {
    .path = "gpu",
    .help = "what concerns the whole GPU",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct gpu_config),
    .check = check,
};
