#include "sim/gpu_config.h"

static const struct param gpu_params[] = {
    P_INT(struct gpu_config, core_mhz, 1400, 1, 100000, "MHz", "SM clock; all cycle counts refer to it"),
    P_INT(struct gpu_config, clusters, 8, 1, 512, "clusters",
          "SM clusters; in a hierarchical network, the SMs behind one SM-router"),
    P_INT(struct gpu_config, line_bytes, 128, 64, 256, "B", "line size of L1 and LLC: 64, 128 or 256"),
    P_INT(struct gpu_config, address_bits, 32, 16, 64, "bits", "physical address width; determines the tag storage"),
};

static bool check(const struct config *config, struct error *err) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    return is_power_of_two((uint64_t)gpu->line_bytes) ||
           config_error(config, "gpu.line_bytes", err, "the line size must be 64, 128 or 256 B");
}

const struct section gpu_section = {
    .params = gpu_params, .count = COUNT_OF(gpu_params), .size = sizeof(struct gpu_config), .check = check};

static const struct param sm_params[] = {
    P_INT(struct sm_count_config, count, 80, 1, 512, "SMs", "number of streaming multiprocessors"),
};

const struct section sm_count_section = {
    .params = sm_params, .count = COUNT_OF(sm_params), .size = sizeof(struct sm_count_config)};

static const struct param slice_params[] = {
    P_INT(struct slice_count_config, slices_per_mc, 8, 1, 64, "slices", "LLC slices per memory controller"),
};

const struct section slice_count_section = {
    .params = slice_params, .count = COUNT_OF(slice_params), .size = sizeof(struct slice_count_config)};
