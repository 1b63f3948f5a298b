/* Zero-load latency of memory, computed from the configuration: core cycles from pushing the read of a whole line into
 * dram_input of an idle memory with a closed bank, in cycle `now`, until its data is visible at dram_output. If the
 * clocks differ, it varies by one or two cycles with `now`. Without refresh. */
#ifndef SLUICE_TESTS_DRAM_ZERO_LOAD_H
#define SLUICE_TESTS_DRAM_ZERO_LOAD_H

#include "dram/dram_config.h"
#include "sim/clock.h"
#include "sim/gpu_config.h"

static inline uint64_t dram_zero_load_cycles(const struct config *config, uint64_t now) {
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct dram_device *d = dram_device_of(config);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    uint64_t core_khz = gpu_core_khz(config);
    struct clock clock = clock_of(dram->clock_mhz ? (uint64_t)dram->clock_mhz * 1000 : core_khz, core_khz);
    uint64_t port = (uint64_t)dram->port_cycles;
    uint64_t bursts = div_up((uint64_t)gpu->line_bytes, (uint64_t)d->burst_bytes);
    uint64_t between = (uint64_t)(d->tCCDL > d->burst_cycles ? d->tCCDL : d->burst_cycles);
    uint64_t entered = clock_domain_cycle(clock, now + port + (uint64_t)dram->controller_cycles);
    uint64_t done = entered + 1 + (uint64_t)d->tRCD + (bursts - 1) * between + (uint64_t)(d->tCL + d->burst_cycles);
    return clock_core_cycle(clock, done) + port - now;
}

#endif
