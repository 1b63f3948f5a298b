/* HBM3 at 2619 MHz, two of its pseudo-channels of 32 bits as one: 32 bytes in two cycles. Of the two published sets of timings
 * for the H100, both Accel-Sim's, these are the older ones: the newer ones have tRC below tRAS + tRP. They are in cycles of 3106
 * MHz there, and taken over as cycles: at 2619 MHz tRCD, tRP and tCL last 14.1 ns as in HBM2 (14.1) and HBM2e (14.6), at
 * 3106 MHz only 11.9 ns. Refresh (every 3.9 us, 350 ns) is JEDEC's. Not modelled: per-bank refresh. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DEVICE_BANKS(16),       DEVICE_BANK_GROUPS(4),  DEVICE_ROW_BYTES(1024),
    DEVICE_BURST_BYTES(32), DEVICE_BURST_CYCLES(2), DEVICE_TWO_COMMAND_BUSES(true),
    DEVICE_TCL(37),         DEVICE_TWL(6),          DEVICE_TRCD(37),
    DEVICE_TRCDW(30),       DEVICE_TRP(37),         DEVICE_TRAS(87),
    DEVICE_TRC(124),        DEVICE_TRRDS(11),       DEVICE_TRRDL(11),
    DEVICE_TFAW(0),         DEVICE_TCCDS(2),        DEVICE_TCCDL(6),
    DEVICE_TRTP(11),        DEVICE_TWR(32),         DEVICE_TWTRS(8),
    DEVICE_TWTRL(8),        DEVICE_TURNAROUND(2),   DEVICE_REFRESH(false),
    DEVICE_TRFC(917),       DEVICE_TREFI(10214),
};
_Static_assert(COUNT_OF(params) == DEVICE_PARAMS, "every row once");

static const struct section section = {
    .path = "hbm3",
    .help = "HBM3 device",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct dram_device),
};

const struct dram_kind dram_kind_hbm3 = {
    {"hbm3", "HBM3 at 2619 MHz (H100): 32 bytes in two cycles, two command buses", &section}};
