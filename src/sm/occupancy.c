/* Occupancy: how many CTAs of a kernel an SM holds, and how much of a unified array their shared memory takes from the
 * L1.
 *
 * With sm.carve_outs, L1 and shared memory are one array. Occupancy is that of the largest carve-out; the kernel then
 * gets the smallest one that holds the shared memory of its resident CTAs, and the L1 the remaining ways (Volta: "Khairy
 * et al., Exploring Modern GPU Memory System Design Challenges through Accurate Modeling", 2018).
 */
#include "base/base.h"
#include "l1/l1.h"
#include "sim/gpu_config.h"
#include "sm/sm_config.h"

/* The registers in use when no further warp fits. Slots of warps are consecutive over CTAs, and consecutive slots belong
 * to different sub-cores: if all warps fit, each sub-core has registers for its share. */
static int64_t usable_registers(const struct sm_config *sm, int64_t per_warp) {
    if (sm->subcores == 1 || per_warp == 0) return sm->registers;
    return sm->registers / sm->subcores / per_warp * per_warp * sm->subcores;
}

static int64_t shared_bytes(const struct sm_config *sm, const struct kernel *kernel) {
    return kernel->shared_bytes + sm->shared_reserved_bytes;
}

int64_t sm_shared_kb(const struct sm_config *sm) { return sm->carve_out_kb >= 0 ? sm->carve_out_kb : sm->shared_kb; }

unsigned sm_occupancy(const struct config *config, unsigned sms, const struct kernel *kernel, struct error *err) {
    const struct sm_config *sm = config_get(config, &sm_section);
    int64_t warps = kernel_warps(kernel), threads = warps * 32;
    int64_t per_warp =
        32 * (int64_t)(div_up(kernel->registers, (uint64_t)sm->register_unit) * (uint64_t)sm->register_unit);
    struct {
        const char *what;
        int64_t needs, has;
        const char *key;
    } limit[] = {
        {"warps", warps, sm->warps, "sm.warps"},
        {"threads", threads, sm->threads, "sm.threads"},
        {"registers", warps * per_warp, usable_registers(sm, per_warp), "sm.registers"},
        {"bytes of shared memory", shared_bytes(sm, kernel), sm_shared_kb(sm) * 1024,
         sm->carve_out_kb >= 0 ? "sm.carve_out_kb" : "sm.shared_kb"},
        {"CTAs", 1, sm->ctas, "sm.ctas"},
    };
    int64_t fit = INT64_MAX;
    if (warps == 0 || kernel_ctas(kernel) == 0) {
        error_set(err, "kernel '%s' has an empty grid: %u x %u x %u CTAs of %u x %u x %u threads", kernel->name,
                  kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
                  kernel->block[2]);
        return 0;
    }
    if (kernel->tensor && sm->tensor_units == 0) {
        error_set(err,
                  "kernel '%s' belongs to a program with tensor instructions (mma, wmma), and this GPU has no tensor "
                  "pipelines; set sm.tensor_units",
                  kernel->name);
        return 0;
    }
    for (unsigned i = 0; i < COUNT_OF(limit); i++) {
        if (limit[i].needs > limit[i].has) {
            error_set(err, "kernel '%s' does not fit: a CTA needs %lld %s, an SM has %lld (%s)", kernel->name,
                      (long long)limit[i].needs, limit[i].what, (long long)limit[i].has, limit[i].key);
            return 0;
        }
        if (limit[i].needs && limit[i].has / limit[i].needs < fit) fit = limit[i].has / limit[i].needs;
    }
    /* A grid that does not fill the SMs is distributed over all of them. */
    int64_t spread = (int64_t)div_up(kernel_ctas(kernel), sms);
    if (kernel->cluster_ctas > 1) return (unsigned)fit; /* its CTAs may need more slots of some SMs */
    return (unsigned)(spread < fit ? spread : fit);
}

struct carve_out sm_carve_out(const struct config *config, const struct kernel *kernel, unsigned ctas) {
    const struct sm_config *sm = config_get(config, &sm_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    if (sm->carve_outs.count == 0) return (struct carve_out){(unsigned)sm->shared_kb, 0};
    int64_t needed = (int64_t)ctas * shared_bytes(sm, kernel), kb = sm->carve_out_kb;
    for (unsigned i = 0; kb < 0; i++)
        if (sm->carve_outs.value[i] * 1024 >= needed) kb = sm->carve_outs.value[i]; /* at the latest the largest one */
    int64_t way_bytes = gpu->line_bytes * (int64_t)l1_sets(config);
    return (struct carve_out){(unsigned)kb, (unsigned)((l1->size_kb - kb) * 1024 / way_bytes)};
}
