/* High-bandwidth memory: one channel of a stack, with separate buses for row and column commands. The timings are those
 * of Table I of "Selective Replication in Memory-Side GPU Caches", which transfers 32 bytes per cycle; those that the
 * table does not give (tRCDW, tWR, tWTR, refresh) are Ramulator's for HBM at 1 Gb/s per pin. Not modelled:
 * pseudo-channels, per-bank refresh. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DEVICE_BANKS(16),       DEVICE_BANK_GROUPS(4),  DEVICE_ROW_BYTES(2048),
    DEVICE_BURST_BYTES(32), DEVICE_BURST_CYCLES(1), DEVICE_TWO_COMMAND_BUSES(true),
    DEVICE_TCL(7),          DEVICE_TWL(2),          DEVICE_TRCD(7),
    DEVICE_TRCDW(6),        DEVICE_TRP(7),          DEVICE_TRAS(17),
    DEVICE_TRC(24),         DEVICE_TRRDS(4),        DEVICE_TRRDL(5),
    DEVICE_TFAW(20),        DEVICE_TCCDS(1),        DEVICE_TCCDL(1),
    DEVICE_TRTP(7),         DEVICE_TWR(8),          DEVICE_TWTRS(2),
    DEVICE_TWTRL(4),        DEVICE_TURNAROUND(2),   DEVICE_REFRESH(false),
    DEVICE_TRFC(130),       DEVICE_TREFI(1950),
};
_Static_assert(COUNT_OF(params) == DEVICE_PARAMS, "every row once");

static const struct section section = {
    .path = "hbm",
    .help = "HBM device",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct dram_device),
};

const struct dram_kind dram_kind_hbm = {
    {"hbm", "HBM: row and column command buses, four bank groups, 32 bytes in one cycle", &section}};
