#include "llc/replication.h"

#include "base/base.h"
#include "llc/llc.h"
#include "sim/gpu_config.h"

const struct policy replication_flush_replicas = {"replicas",
                                                  "lines outside their home slice, after a kernel with replicas", NULL};
static const struct policy flush_whole = {"whole", "all lines, after a kernel with replicas", NULL};
const struct policy replication_flush_always = {"always", "all lines, after every kernel", NULL};
static const struct policy *const flushes[] = {&replication_flush_replicas, &flush_whole, &replication_flush_always};
const struct family replication_flush_family = {"flush", flushes, COUNT_OF(flushes)};

struct replication replication_of(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    unsigned clusters = log2_floor((uint64_t)gpu->clusters), slices = log2_floor((uint64_t)llc->slices_per_mc);
    return (struct replication){clusters, slices, 1 + (clusters < slices ? clusters : slices)};
}

bool replication_check(const struct config *config, struct error *err) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    struct {
        const char *key;
        int64_t value;
    } counts[] = {{"gpu.clusters", gpu->clusters}, {"llc.slices_per_mc", llc->slices_per_mc}};
    for (unsigned i = 0; i < COUNT_OF(counts); i++)
        if (!is_power_of_two((uint64_t)counts[i].value))
            return config_error(config, counts[i].key, err,
                                "must be a power of two with llc.organisation %s, not %lld; choose %llu or %llu",
                                llc->organisation->name, (long long)counts[i].value,
                                1ULL << log2_floor((uint64_t)counts[i].value),
                                2ULL << log2_floor((uint64_t)counts[i].value));
    return true;
}
