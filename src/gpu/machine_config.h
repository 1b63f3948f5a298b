/* Parameters of the machine as a whole: CTA dispatch, kernel boundaries, two programs. */
#ifndef SLUICE_GPU_MACHINE_CONFIG_H
#define SLUICE_GPU_MACHINE_CONFIG_H

#include "sim/gpu_config.h"

struct machine_config {
    struct gpu_config gpu;
    const struct policy *cta_scheduler;
    bool cta_rotation_continues;
    int64_t cta_first_cluster;
    int64_t launch_cycles; /* from the end of a kernel to the first CTA of the next */
    int64_t progress_limit;
    int64_t first_program_sms; /* per cluster, if two programs share the GPU; 0: half of them */
    bool observe_latency;
};

extern const struct section machine_section;

#endif
