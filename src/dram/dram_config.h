/* What describes a memory system: how many controllers and channels, the kind of device behind a channel with its
 * timings, how addresses are spread over them, and the controller's queues.
 *
 * What belongs to a device (geometry of a channel, timings, refresh, command buses) stands in the section of its kind
 * (`dram.gddr5`, `dram.hbm`), because each kind has defaults of its own. All device times are in cycles of the memory's
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
    int64_t clock_mhz; /* 0: the core's */
    int64_t interleave_bytes;
    int64_t read_queue, write_queue, bank_queue, return_queue;
    bool write_drain;
    int64_t drain_high_percent, drain_low_percent, drain_idle_writes;
    int64_t starvation_cycles;
    int64_t controller_cycles;
    int64_t port_entries, port_cycles;
};

/* A channel's device, as its kind describes it. */
struct dram_device {
    int64_t banks, bank_groups;
    int64_t row_bytes;
    int64_t burst_bytes;  /* moved by one column command */
    int64_t burst_cycles; /* that it holds the data bus */
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

/* What all data buses together could carry. */
double dram_peak_bytes_per_us(const struct config *config);

/* The device of the chosen kind. */
const struct dram_device *dram_device_of(const struct config *config);

#endif
