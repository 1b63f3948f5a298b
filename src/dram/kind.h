/* A kind of memory device: one file with a `struct dram_kind` and one line in kinds.def. A kind provides the defaults
 * of all device parameters. The rows of its section are the same for all kinds: names, bounds and help are written once
 * here, and the kind's file sets their values. */
#ifndef SLUICE_DRAM_KIND_H
#define SLUICE_DRAM_KIND_H

#include "dram/dram_config.h"

struct dram_kind {
    struct policy policy; /* its section is a struct dram_device */
};

/* Whether the parameters of the selected kind are consistent. */
bool dram_kind_check(const struct config *config, struct error *err);

#define DEVICE_INT_(field, fallback, min, max, unit, help) \
    P_INT(struct dram_device, field, fallback, min, max, unit, help)
#define DEVICE_CYCLES_(field, fallback, min, help) \
    P_INT(struct dram_device, field, fallback, min, 100000, "memory cycles", help)

#define DEVICE_BANKS(n) DEVICE_INT_(banks, n, 1, 64, "", "banks per channel, a power of two")
#define DEVICE_BANK_GROUPS(n) \
    DEVICE_INT_(bank_groups, n, 1, 64, "", "bank groups; the low bits of the bank number select the group")
#define DEVICE_ROW_BYTES(n)   DEVICE_INT_(row_bytes, n, 256, 65536, "bytes", "row size of a bank, a power of two")
#define DEVICE_BURST_BYTES(n) DEVICE_INT_(burst_bytes, n, 32, 256, "bytes", "data transferred by one column command")
#define DEVICE_BURST_CYCLES(n) \
    DEVICE_INT_(burst_cycles, n, 1, 64, "memory cycles", "data bus occupancy of one column command")
#define DEVICE_TWO_COMMAND_BUSES(yes) \
    P_BOOL(struct dram_device, two_command_buses, yes, \
           "separate buses for row and column commands, which can be issued in the same cycle")
#define DEVICE_TCL(n)        DEVICE_CYCLES_(tCL, n, 1, "column read to its first data")
#define DEVICE_TWL(n)        DEVICE_CYCLES_(tWL, n, 1, "column write to its first data")
#define DEVICE_TRCD(n)       DEVICE_CYCLES_(tRCD, n, 1, "activate to column read")
#define DEVICE_TRCDW(n)      DEVICE_CYCLES_(tRCDW, n, 1, "activate to column write")
#define DEVICE_TRP(n)        DEVICE_CYCLES_(tRP, n, 1, "precharge to activate, same bank")
#define DEVICE_TRAS(n)       DEVICE_CYCLES_(tRAS, n, 1, "activate to precharge, same bank")
#define DEVICE_TRC(n)        DEVICE_CYCLES_(tRC, n, 1, "activate to activate, same bank")
#define DEVICE_TRRDS(n)      DEVICE_CYCLES_(tRRDS, n, 1, "activate to activate, different bank groups")
#define DEVICE_TRRDL(n)      DEVICE_CYCLES_(tRRDL, n, 1, "activate to activate, same bank group")
#define DEVICE_TFAW(n)       DEVICE_CYCLES_(tFAW, n, 0, "four-activate window; 0: no limit")
#define DEVICE_TCCDS(n)      DEVICE_CYCLES_(tCCDS, n, 1, "column to column, same direction, different bank groups")
#define DEVICE_TCCDL(n)      DEVICE_CYCLES_(tCCDL, n, 1, "column to column, same direction, same bank group")
#define DEVICE_TRTP(n)       DEVICE_CYCLES_(tRTP, n, 1, "column read to precharge")
#define DEVICE_TWR(n)        DEVICE_CYCLES_(tWR, n, 1, "write recovery: last data written to precharge")
#define DEVICE_TWTRS(n)      DEVICE_CYCLES_(tWTRS, n, 0, "last data written to column read, different bank groups")
#define DEVICE_TWTRL(n)      DEVICE_CYCLES_(tWTRL, n, 0, "last data written to column read, same bank group")
#define DEVICE_TURNAROUND(n) DEVICE_CYCLES_(turnaround, n, 0, "idle cycles of the data bus between reads and writes")
#define DEVICE_REFRESH(yes)  P_BOOL(struct dram_device, refresh, yes, "refresh all banks every tREFI")
#define DEVICE_TRFC(n)       DEVICE_CYCLES_(tRFC, n, 1, "refresh to activate (refresh cycle time)")
#define DEVICE_TREFI(n)      DEVICE_CYCLES_(tREFI, n, 1, "average refresh interval")

enum { DEVICE_PARAMS = 26 };

#endif
