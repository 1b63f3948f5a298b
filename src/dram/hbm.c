/* High-bandwidth memory: a channel of a stack, with row and column commands on separate buses. Timings are those of Table I of "Selective Replication
 * in Memory-Side GPU Caches", which moves 32 bytes in one cycle; what the table leaves open (tRCDW, tWR, tWTR, refresh) is Ramulator's
 * entry for HBM at 1 Gb/s per pin. Pseudo-channels and single-bank refresh are left out. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DRAM_DEVICE_PARAMS(16, 4, 2048, 32, 1, true, /* tCL */ 7, /* tWL */ 2, /* tRCD */ 7, /* tRCDW */ 6, /* tRP */ 7, /* tRAS */ 17,
                       /* tRC */ 24, /* tRRDS */ 4, /* tRRDL */ 5, /* tFAW */ 20, /* tCCDS */ 1, /* tCCDL */ 1, /* tRTP */ 7, /* tWR */ 8,
                       /* tWTRS */ 2, /* tWTRL */ 4, /* turnaround */ 2, /* refresh */ false, /* tRFC */ 130, /* tREFI */ 1950),
};

static const struct section section = {
    .path = "hbm", .help = "HBM device", .params = params, .count = COUNT_OF(params), .size = sizeof(struct dram_device)};

const struct dram_kind dram_kind_hbm = {{"hbm", "HBM: row and column command buses, four bank groups, 32 bytes in one cycle", &section}};
