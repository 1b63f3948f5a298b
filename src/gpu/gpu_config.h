/* What concerns the whole GPU: clock, clusters, line size, kernel boundaries, how CTAs are dealt out. */
#ifndef SLUICE_GPU_GPU_CONFIG_H
#define SLUICE_GPU_GPU_CONFIG_H

#include "base/base.h"
#include "config/config.h"

struct gpu_config {
    int64_t core_mhz;
    int64_t clusters; /* groups of SMs: those behind one SM-router */
    int64_t line_bytes;
    int64_t address_bits; /* for what tags cost, and nothing else */
    const struct policy *cta_scheduler;
    int64_t launch_cycles; /* from the end of a kernel to the first CTA of the next */
    int64_t progress_limit;
    int64_t first_program_sms; /* of each cluster, where two programs run side by side; 0: half of them */
};

extern const struct section gpu_section;

static inline uint64_t gpu_core_khz(const struct config *config) {
    return (uint64_t)((const struct gpu_config *)config_get(config, &gpu_section))->core_mhz * 1000;
}

/* Bits of a physical address that are left for the tag of a line in a cache of so many sets. */
static inline unsigned gpu_tag_bits(const struct config *config, unsigned sets) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    unsigned below = log2_floor((uint64_t)gpu->line_bytes) + log2_floor(round_up_power_of_two(sets));
    return (unsigned)gpu->address_bits > below ? (unsigned)gpu->address_bits - below : 1;
}

#endif
