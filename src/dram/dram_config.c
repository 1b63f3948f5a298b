/* The `dram` section: controllers, channels, queues, the choices of kind, mapping, scheduler and row policy, and their
 * consistency. */
#include "dram/dram_config.h"

#include "base/base.h"
#include "dram/kind.h"
#include "dram/layout.h"
#include "sim/gpu_config.h"

static const struct param params[] = {
    P_CHOICE(struct dram_config, kind, dram_kind_family, "gddr5", "kind of memory device"),
    P_CHOICE(struct dram_config, mapping, dram_mapping_family, "pae",
             "address mapping over controllers, channels and banks"),
    P_CHOICE(struct dram_config, scheduler, dram_scheduler_family, "fr-fcfs",
             "DRAM scheduler: chooses the next command of a channel"),
    P_CHOICE(struct dram_config, row_policy, row_policy_family, "open",
             "row policy: when to close an open row that no queued request needs"),
    P_INT(struct dram_config, mcs, 8, 1, 64, "", "memory controllers"),
    P_INT(struct dram_config, channels_per_mc, 1, 1, 32, "",
          "channels per controller, a power of two; every slice of the controller reaches all of them"),
    P_INT(struct dram_config, clock_mhz, 924, 0, 10000, "MHz", "command clock of the memory; 0: core clock"),
    P_INT(struct dram_config, interleave_bytes, 256, 32, 4096, "bytes", "consecutive bytes in one controller"),
    P_INT(struct dram_config, read_queue, 32, 1, 1024, "requests",
          "queue entries per channel (reads; also writes unless write_drain)"),
    P_INT(struct dram_config, write_queue, 32, 1, 1024, "requests",
          "write queue entries per channel, with write_drain"),
    P_INT(struct dram_config, bank_queue, 0, 0, 256, "requests",
          "entries of a per-bank queue, filled before the channel's (as in DRAMsim3); 0: none"),
    P_INT(struct dram_config, return_queue, 116, 1, 1024, "requests",
          "requests of a channel outside its queues: before them, or replies that wait for a slice"),
    P_BOOL(struct dram_config, write_drain, false,
           "separate write queue, drained in batches (as in Ramulator); off: one queue (as in GPGPU-Sim)"),
    P_INT(struct dram_config, drain_high_percent, 80, 1, 100, "%",
          "write-queue occupancy above which draining starts, even if reads wait"),
    P_INT(struct dram_config, drain_low_percent, 20, 0, 100, "%",
          "write-queue occupancy below which draining ends if a read waits"),
    P_INT(struct dram_config, drain_idle_writes, 1, 1, 1024, "requests",
          "queued writes needed to start draining if no read waits"),
    P_INT(struct dram_config, starvation_cycles, 8192, 0, 1000000000, "memory cycles",
          "age at which a request gets priority over row hits in its bank; 0: never"),
    P_INT(struct dram_config, controller_cycles, 0, 0, 512, "core cycles",
          "controller latency, from a slice's port to the channel's queue"),
    P_INT(struct dram_config, port_entries, 16, 1, 1024, "requests",
          "depth of the ports between a slice and its controller, each way"),
    P_INT(struct dram_config, port_cycles, 1, 1, 512, "core cycles", "latency of these ports"),
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
                            "a line of %lld B (gpu.line_bytes) would span two controllers; the minimum is %lld",
                            (long long)gpu->line_bytes, (long long)gpu->line_bytes);
    if (dram->drain_low_percent >= dram->drain_high_percent)
        return config_error(config, "dram.drain_low_percent", err,
                            "must be below dram.drain_high_percent (%lld), or draining never ends",
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
