/* HBM2e at 1512 MHz, a pseudo-channel of 64 bits: 32 bytes in two cycles. Timings are those of Accel-Sim's A100-80GB, whose
 * channels have 128 bits: column commands follow each other after two cycles instead of one. Refresh (every 3.9 us, 350 ns)
 * is JEDEC's. Not modelled: per-bank refresh. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DEVICE_BANKS(16),       DEVICE_BANK_GROUPS(4),  DEVICE_ROW_BYTES(1024),
    DEVICE_BURST_BYTES(32), DEVICE_BURST_CYCLES(2), DEVICE_TWO_COMMAND_BUSES(true),
    DEVICE_TCL(22),         DEVICE_TWL(4),          DEVICE_TRCD(22),
    DEVICE_TRCDW(17),       DEVICE_TRP(22),         DEVICE_TRAS(50),
    DEVICE_TRC(72),         DEVICE_TRRDS(7),        DEVICE_TRRDL(7),
    DEVICE_TFAW(0),         DEVICE_TCCDS(2),        DEVICE_TCCDL(4),
    DEVICE_TRTP(7),         DEVICE_TWR(19),         DEVICE_TWTRS(5),
    DEVICE_TWTRL(5),        DEVICE_TURNAROUND(2),   DEVICE_REFRESH(false),
    DEVICE_TRFC(529),       DEVICE_TREFI(5897),
};
_Static_assert(COUNT_OF(params) == DEVICE_PARAMS, "every row once");

static const struct section section = {
    .path = "hbm2e",
    .help = "HBM2e device",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct dram_device),
};

const struct dram_kind dram_kind_hbm2e = {
    {"hbm2e", "HBM2e at 1512 MHz (A100): 32 bytes in two cycles, two command buses", &section}};
