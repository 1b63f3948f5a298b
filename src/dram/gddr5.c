/* GDDR5 as in GPGPU-Sim 3.2.2 for the GTX 480: 64 bytes (a burst of eight on two 32-bit chips) in two command cycles,
 * 16 banks in four groups, one command bus. The timings are also those of Table 1 of "Adaptive Memory-Side Last-Level
 * GPU Caching" (ISCA 2019). Activate to write is shorter than activate to read by the write latency plus one. GPGPU-Sim
 * has neither refresh nor a four-activate window: both are off by default; refresh is that of a 1 Gb part at 1 GHz. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DEVICE_BANKS(16),       DEVICE_BANK_GROUPS(4),  DEVICE_ROW_BYTES(4096),
    DEVICE_BURST_BYTES(64), DEVICE_BURST_CYCLES(2), DEVICE_TWO_COMMAND_BUSES(false),
    DEVICE_TCL(12),         DEVICE_TWL(4),          DEVICE_TRCD(12),
    DEVICE_TRCDW(7),        DEVICE_TRP(12),         DEVICE_TRAS(28),
    DEVICE_TRC(40),         DEVICE_TRRDS(6),        DEVICE_TRRDL(6),
    DEVICE_TFAW(0),         DEVICE_TCCDS(2),        DEVICE_TCCDL(3),
    DEVICE_TRTP(2),         DEVICE_TWR(12),         DEVICE_TWTRS(5),
    DEVICE_TWTRL(5),        DEVICE_TURNAROUND(2),   DEVICE_REFRESH(false),
    DEVICE_TRFC(110),       DEVICE_TREFI(3900),
};
_Static_assert(COUNT_OF(params) == DEVICE_PARAMS, "every row once");

static const struct section section = {
    .path = "gddr5",
    .help = "GDDR5 device",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct dram_device),
};

const struct dram_kind dram_kind_gddr5 = {
    {"gddr5", "GDDR5: one command bus, four bank groups, 64 bytes in two cycles", &section}};
