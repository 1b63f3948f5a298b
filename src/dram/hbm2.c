/* HBM2 at 850 MHz, a channel of 128 bits: 32 bytes in one cycle. Timings and row size are those of GPGPU-Sim 4's QV100, refresh
 * (every 3.9 us, 260 ns) is JEDEC's. Not modelled: pseudo-channels, per-bank refresh. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DEVICE_BANKS(16),       DEVICE_BANK_GROUPS(4),  DEVICE_ROW_BYTES(2048),
    DEVICE_BURST_BYTES(32), DEVICE_BURST_CYCLES(1), DEVICE_TWO_COMMAND_BUSES(true),
    DEVICE_TCL(12),         DEVICE_TWL(2),          DEVICE_TRCD(12),
    DEVICE_TRCDW(9),        DEVICE_TRP(12),         DEVICE_TRAS(28),
    DEVICE_TRC(40),         DEVICE_TRRDS(3),        DEVICE_TRRDL(3),
    DEVICE_TFAW(0),         DEVICE_TCCDS(1),        DEVICE_TCCDL(2),
    DEVICE_TRTP(3),         DEVICE_TWR(10),         DEVICE_TWTRS(3),
    DEVICE_TWTRL(3),        DEVICE_TURNAROUND(2),   DEVICE_REFRESH(false),
    DEVICE_TRFC(221),       DEVICE_TREFI(3315),
};
_Static_assert(COUNT_OF(params) == DEVICE_PARAMS, "every row once");

static const struct section section = {
    .path = "hbm2",
    .help = "HBM2 device",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct dram_device),
};

const struct dram_kind dram_kind_hbm2 = {
    {"hbm2", "HBM2 at 850 MHz (V100): 32 bytes in one cycle, two command buses", &section}};
