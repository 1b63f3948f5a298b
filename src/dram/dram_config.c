/* The `dram` section: controllers, channels, queues and the choices of kind, mapping, scheduler and row policy, and what must
 * fit together among them. */
#include "dram/dram_config.h"

#include "base/base.h"
#include "dram/kind.h"
#include "dram/layout.h"
#include "sim/gpu_config.h"

static const struct param params[] = {
    P_CHOICE(struct dram_config, kind, dram_kind_family, "gddr5", "kind of memory device"),
    P_CHOICE(struct dram_config, mapping, dram_mapping_family, "pae",
             "how addresses are spread over controllers, channels and banks"),
    P_CHOICE(struct dram_config, scheduler, dram_scheduler_family, "fr-fcfs",
             "which of a channel's requests has its next command issued"),
    P_CHOICE(struct dram_config, row_policy, row_policy_family, "open",
             "when an open row that no queued request wants is closed"),
    P_INT(struct dram_config, mcs, 8, 1, 64, "", "memory controllers"),
    P_INT(struct dram_config, channels_per_mc, 1, 1, 32, "",
          "channels of a controller, a power of two; every slice of the controller reaches all of them"),
    P_INT(struct dram_config, clock_mhz, 924, 0, 10000, "MHz", "command clock of the memory; 0: the core's"),
    P_INT(struct dram_config, interleave_bytes, 256, 32, 4096, "bytes",
          "consecutive bytes that stay in one controller"),
    P_INT(struct dram_config, read_queue, 32, 1, 1024, "requests",
          "entries of a channel's queue (reads; writes too unless write_drain)"),
    P_INT(struct dram_config, write_queue, 32, 1, 1024, "requests",
          "entries of a channel's write queue, with write_drain"),
    P_INT(struct dram_config, bank_queue, 0, 0, 256, "requests",
          "entries of a queue of each bank's own, filled before the channel's (as DRAMsim3 has); 0: none"),
    P_INT(struct dram_config, return_queue, 116, 1, 1024, "requests",
          "requests of a channel beyond its queues: on their way there, or replies that a slice does not take yet"),
    P_BOOL(struct dram_config, write_drain, false,
           "writes have a queue of their own, drained in batches (as Ramulator); off: one queue (as GPGPU-Sim)"),
    P_INT(struct dram_config, drain_high_percent, 80, 1, 100, "%",
          "draining starts above this share of the write queue, or when no read waits (drain_idle_writes)"),
    P_INT(struct dram_config, drain_low_percent, 20, 0, 100, "%",
          "draining ends below this share of the write queue if a read waits"),
    P_INT(struct dram_config, drain_idle_writes, 1, 1, 1024, "requests",
          "writes that must wait for draining to start when no read does"),
    P_INT(struct dram_config, starvation_cycles, 8192, 0, 1000000000, "memory cycles",
          "a request older than this goes before any row hit in its bank; 0: never"),
    P_INT(struct dram_config, controller_cycles, 0, 0, 512, "core cycles",
          "from taking a request off a slice's port to its channel's queue"),
    P_INT(struct dram_config, port_entries, 16, 1, 1024, "requests",
          "capacity of the ports between a slice and its controller, either way"),
    P_INT(struct dram_config, port_cycles, 1, 1, 512, "core cycles", "latency of those ports"),
};

static bool need_power_of_two(const struct config *config, const char *key, int64_t value, struct error *err) {
    if (is_power_of_two((uint64_t)value)) return true;
    return config_error(config, key, err, "%lld is not a power of two; the nearest below is %llu", (long long)value,
                        1ULL << log2_floor((uint64_t)value));
}

static bool check(const struct config *config, struct error *err) {
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    if (!need_power_of_two(config, "dram.channels_per_mc", dram->channels_per_mc, err)) return false;
    if (!need_power_of_two(config, "dram.interleave_bytes", dram->interleave_bytes, err)) return false;
    if (dram->interleave_bytes < gpu->line_bytes)
        return config_error(config, "dram.interleave_bytes", err,
                            "a line (gpu.line_bytes: %lld) would lie in two controllers; at least %lld is needed",
                            (long long)gpu->line_bytes, (long long)gpu->line_bytes);
    if (dram->drain_low_percent >= dram->drain_high_percent)
        return config_error(config, "dram.drain_low_percent", err,
                            "draining would never end: it must be below dram.drain_high_percent (%lld)",
                            (long long)dram->drain_high_percent);
    return dram_kind_check(config, err) && address_map_check(config, err);
}

double dram_peak_bytes_per_us(const struct config *config) {
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct dram_device *device = dram_device_of(config);
    double mhz = dram->clock_mhz ? (double)dram->clock_mhz : (double)gpu_core_khz(config) / 1000;
    return (double)(dram->mcs * dram->channels_per_mc) * (double)device->burst_bytes / (double)device->burst_cycles *
           mhz;
}

const struct section dram_section = {
    .path = "dram",
    .help = "memory controllers, their channels and the address mapping",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct dram_config),
    .check = check,
};
