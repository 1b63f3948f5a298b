/* Parameters of the memory system: controllers and channels, the kind of device with its timings, the address mapping,
 * and the controller's queues.
 *
 * Device parameters (geometry of a channel, timings, refresh, command buses) are in the section of their kind
 * (`dram.gddr5`, `dram.hbm`), because each kind has its own defaults. All device times are in cycles of the memory's
 * command clock.
 */
#ifndef SLUICE_DRAM_DRAM_CONFIG_H
#define SLUICE_DRAM_DRAM_CONFIG_H

#include "config/config.h"

struct dram_config {
    const struct policy *kind;
    const struct policy *mapping;
    const struct policy *scheduler;
    const struct policy *row_policy;
    int64_t mcs;
    int64_t channels_per_mc;
    int64_t clock_mhz; /* 0: core clock */
    int64_t interleave_bytes;
    int64_t read_queue, write_queue, bank_queue, return_queue;
    bool write_drain;
    int64_t drain_high_percent, drain_low_percent, drain_idle_writes;
    int64_t starvation_cycles;
    int64_t controller_cycles;
    int64_t port_entries, port_cycles;
};

/* The device of a channel. */
struct dram_device {
    int64_t banks, bank_groups;
    int64_t row_bytes;
    int64_t burst_bytes;  /* transferred by one column command */
    int64_t burst_cycles; /* occupancy of the data bus */
    bool two_command_buses;
    int64_t tCL, tWL, tRCD, tRCDW, tRP, tRAS, tRC;
    int64_t tRRDS, tRRDL, tFAW;
    int64_t tCCDS, tCCDL;
    int64_t tRTP, tWR, tWTRS, tWTRL;
    int64_t turnaround;
    bool refresh;
    int64_t tRFC, tREFI;
};

extern const struct section dram_section;
extern const struct family dram_kind_family;
extern const struct family dram_mapping_family;
extern const struct family dram_scheduler_family;
extern const struct family row_policy_family;

/* Peak bandwidth of all data buses together. */
double dram_peak_bytes_per_us(const struct config *config);

/* The device of the selected kind. */
const struct dram_device *dram_device_of(const struct config *config);

#endif
