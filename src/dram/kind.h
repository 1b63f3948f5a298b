/* A kind of memory device: one file with a `struct dram_kind` and one line in kinds.def. A kind brings the defaults of everything that
 * describes a device; the rows of its section are the same for all kinds, so they are written once here and filled with the kind's values.
 */
#ifndef SLUICE_DRAM_KIND_H
#define SLUICE_DRAM_KIND_H

#include "dram/dram_config.h"

struct dram_kind {
    struct policy policy; /* its section's values are a struct dram_device */
};

/* Whether the chosen kind's description fits together. */
bool dram_kind_check(const struct config *config, struct error *err);

#define DEVICE_CYCLES_(field, fallback, least, help) P_INT(struct dram_device, field, fallback, least, 100000, "memory cycles", help)

/* All rows of a kind's section. Each argument is a row's default. */
#define DRAM_DEVICE_PARAMS(banks_, groups_, row_, burst_, burst_cycles_, two_buses_, tCL_, tWL_, tRCD_, tRCDW_, tRP_, tRAS_, tRC_, tRRDS_, \
                           tRRDL_, tFAW_, tCCDS_, tCCDL_, tRTP_, tWR_, tWTRS_, tWTRL_, turnaround_, refresh_, tRFC_, tREFI_) \
    P_INT(struct dram_device, banks, banks_, 1, 64, "", "banks of a channel, a power of two"), \
    P_INT(struct dram_device, bank_groups, groups_, 1, 64, "", "groups of banks; the low bits of a bank's number are its group"), \
    P_INT(struct dram_device, row_bytes, row_, 256, 65536, "bytes", "a row of a bank, a power of two"), \
    P_INT(struct dram_device, burst_bytes, burst_, 32, 256, "bytes", "moved by one column command, a power of two"), \
    P_INT(struct dram_device, burst_cycles, burst_cycles_, 1, 64, "memory cycles", "that one column command holds the data bus"), \
    P_BOOL(struct dram_device, two_command_buses, two_buses_, "row and column commands have a bus each and can be issued in the same cycle"), \
    DEVICE_CYCLES_(tCL, tCL_, 1, "column read to its first data"), \
    DEVICE_CYCLES_(tWL, tWL_, 1, "column write to its first data"), \
    DEVICE_CYCLES_(tRCD, tRCD_, 1, "activate to column read"), \
    DEVICE_CYCLES_(tRCDW, tRCDW_, 1, "activate to column write"), \
    DEVICE_CYCLES_(tRP, tRP_, 1, "precharge to activate, same bank"), \
    DEVICE_CYCLES_(tRAS, tRAS_, 1, "activate to precharge, same bank"), \
    DEVICE_CYCLES_(tRC, tRC_, 1, "activate to activate, same bank"), \
    DEVICE_CYCLES_(tRRDS, tRRDS_, 1, "activate to activate, different bank groups"), \
    DEVICE_CYCLES_(tRRDL, tRRDL_, 1, "activate to activate, same bank group"), \
    DEVICE_CYCLES_(tFAW, tFAW_, 0, "window that holds at most four activates; 0: no such limit"), \
    DEVICE_CYCLES_(tCCDS, tCCDS_, 1, "column to column of the same direction, different bank groups"), \
    DEVICE_CYCLES_(tCCDL, tCCDL_, 1, "column to column of the same direction, same bank group"), \
    DEVICE_CYCLES_(tRTP, tRTP_, 1, "column read to precharge"), \
    DEVICE_CYCLES_(tWR, tWR_, 1, "last data written to precharge"), \
    DEVICE_CYCLES_(tWTRS, tWTRS_, 0, "last data written to column read, different bank groups"), \
    DEVICE_CYCLES_(tWTRL, tWTRL_, 0, "last data written to column read, same bank group"), \
    DEVICE_CYCLES_(turnaround, turnaround_, 0, "idle data bus between a read's and a write's data"), \
    P_BOOL(struct dram_device, refresh, refresh_, "refresh all banks every tREFI"), \
    DEVICE_CYCLES_(tRFC, tRFC_, 1, "refresh to activate"), \
    DEVICE_CYCLES_(tREFI, tREFI_, 1, "refresh to refresh, on average")

#endif
