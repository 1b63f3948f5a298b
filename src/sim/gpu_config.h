/* Dimensions of the GPU that several modules share: clock, line size, numbers of SMs, clusters and slices.
 *
 * These are the first rows of the sections `gpu`, `sm` and `llc`. The modules gpu, sm and llc declare the remaining
 * rows of their sections; every module above sim can read these.
 */
#ifndef SLUICE_SIM_GPU_CONFIG_H
#define SLUICE_SIM_GPU_CONFIG_H

#include "base/base.h"
#include "config/config.h"

struct gpu_config {
    int64_t core_mhz;
    int64_t clusters; /* SMs behind one SM-router form a cluster */
    int64_t line_bytes;
    int64_t address_bits; /* affects only the tag width, and with it the storage overhead */
};
struct sm_count_config {
    int64_t count;
};
struct slice_count_config {
    int64_t slices_per_mc;
};

extern const struct section gpu_section, sm_count_section, slice_count_section;

static inline uint64_t gpu_core_khz(const struct config *config) {
    return (uint64_t)((const struct gpu_config *)config_get(config, &gpu_section))->core_mhz * 1000;
}

static inline unsigned gpu_sms(const struct config *config) {
    return (unsigned)((const struct sm_count_config *)config_get(config, &sm_count_section))->count;
}

static inline unsigned gpu_slices_per_mc(const struct config *config) {
    return (unsigned)((const struct slice_count_config *)config_get(config, &slice_count_section))->slices_per_mc;
}

/* Tag bits of a line in a cache with this number of sets. */
static inline unsigned gpu_tag_bits(const struct config *config, unsigned sets) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    unsigned below = log2_floor((uint64_t)gpu->line_bytes) + log2_floor(round_up_power_of_two(sets));
    return (unsigned)gpu->address_bits > below ? (unsigned)gpu->address_bits - below : 1;
}

#endif
