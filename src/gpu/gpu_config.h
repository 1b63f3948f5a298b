/* What concerns the whole GPU: clock, clusters, line size, kernel boundaries, how CTAs are dealt out. */
#ifndef SLUICE_GPU_GPU_CONFIG_H
#define SLUICE_GPU_GPU_CONFIG_H

#include "config/config.h"

struct gpu_config {
    int64_t core_mhz;
    int64_t clusters; /* groups of SMs: those behind one SM-router */
    int64_t line_bytes;
    const struct policy *cta_scheduler;
    int64_t launch_cycles; /* from the end of a kernel to the first CTA of the next */
    int64_t progress_limit;
};

extern const struct section gpu_section;

static inline uint64_t gpu_core_khz(const struct config *config) {
    return (uint64_t)((const struct gpu_config *)config_get(config, &gpu_section))->core_mhz * 1000;
}

#endif
