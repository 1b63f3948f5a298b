/* GDDR5, as GPGPU-Sim 3.2.2 describes the GTX 480's: 64 bytes (burst of eight on two 32-bit chips) in two command cycles, 16 banks in four groups,
 * one command bus. The timings are also those of Table 1 of "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019). Activate to
 * write is shorter than to read by the write latency and one. GPGPU-Sim has neither refresh nor a limit on four activates: both are off by default. */
#include "base/base.h"
#include "dram/kind.h"

static const struct param params[] = {
    DRAM_DEVICE_PARAMS(16, 4, 4096, 64, 2, false, /* tCL */ 12, /* tWL */ 4, /* tRCD */ 12, /* tRCDW */ 7, /* tRP */ 12, /* tRAS */ 28,
                       /* tRC */ 40, /* tRRDS */ 6, /* tRRDL */ 6, /* tFAW */ 0, /* tCCDS */ 2, /* tCCDL */ 3, /* tRTP */ 2, /* tWR */ 12,
                       /* tWTRS */ 5, /* tWTRL */ 5, /* turnaround */ 2, /* refresh */ false, /* tRFC */ 156, /* tREFI */ 3900),
};

static const struct section section = {
    .path = "gddr5", .help = "GDDR5 device", .params = params, .count = COUNT_OF(params), .size = sizeof(struct dram_device)};

const struct dram_kind dram_kind_gddr5 = {{"gddr5", "GDDR5: one command bus, four bank groups, 64 bytes in two cycles", &section}};
