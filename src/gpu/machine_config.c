#include "gpu/machine_config.h"

#include "dram/dram_config.h"
#include "gpu/cta_scheduler.h"
#include "l1/l1.h"
#include "llc/atomics.h"
#include "llc/bridge.h"
#include "sim/engine.h"

static const struct param params[] = {
    P_CHOICE(struct machine_config, cta_scheduler, cta_scheduler_family, "two-level-rr",
             "CTA scheduler: chooses the SM that runs the next CTA"),
    P_BOOL(struct machine_config, cta_rotation_continues, false,
           "the round robin of CTAs continues after the SM that received the last CTA of the previous kernel, as in "
           "GPGPU-Sim 3.2; otherwise every kernel starts at gpu.cta_first_cluster"),
    P_INT(struct machine_config, cta_first_cluster, 0, 0, 511, "",
          "cluster at which the round robin of CTAs starts, modulo their number"),
    P_INT(struct machine_config, launch_cycles, 0, 0, 1000000, "cycles",
          "kernel launch latency, until the first CTA can start"),
    P_INT(struct machine_config, progress_limit, 100000, 1000, 1000000000, "cycles",
          "a run fails as deadlocked after this many cycles without progress"),
    P_INT(
        struct machine_config, first_program_sms, 0, 0, 1024, "SMs",
        "SMs of each cluster for the first of two programs, the second gets the rest; 0: half (clusters of one SM alternate)"),
    P_BOOL(struct machine_config, observe_latency, false,
           "attribute the cycles of loads to levels and stages of their path (latency.*)"),
};

/* Constraints that span modules. */
static bool check(const struct config *config, struct error *err) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    long long sms = gpu_sms(config), slices_per_mc = gpu_slices_per_mc(config), mcs = dram->mcs;
    if (sms % gpu->clusters != 0)
        return config_error(config, "gpu.clusters", err, "%lld clusters do not divide %lld SMs (sm.count) evenly",
                            (long long)gpu->clusters, sms);
    /* SMs, slices, controllers, two networks and the control plane, the L1s' components, for atomics a slice and a hub,
     * and for two partitions bridges and copies. */
    long long slices = slices_per_mc * mcs;
    long long components = sms + slices + mcs + 3 + l1_components(config) + 2 * (long long)atomics_slices(config) +
                           (bridges_exist(config) ? slices / 2 : 0) + (bridge_copy_ways(config) ? slices : 0);
    if (components <= ENGINE_MAX_COMPONENTS) return true;
    return config_error(
        config, "llc.slices_per_mc", err,
        "%lld slices at each of %lld controllers (dram.mcs) and %lld SMs (sm.count) make %lld components; "
        "the limit is %d",
        slices_per_mc, mcs, sms, components, ENGINE_MAX_COMPONENTS);
}

const struct section machine_section = {
    .path = "gpu",
    .help = "parameters of the GPU as a whole",
    .base = &gpu_section,
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct machine_config),
    .check = check,
};
