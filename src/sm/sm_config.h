/* The configuration of an SM. */
#ifndef SLUICE_SM_SM_CONFIG_H
#define SLUICE_SM_SM_CONFIG_H

#include "config/config.h"
#include "stream/stream.h"

enum unit { UNIT_SP, UNIT_SFU, UNIT_DP, UNIT_TENSOR, UNIT_MEM, UNIT_COUNT };
enum { UNIT_CONTROL = UNIT_SP }; /* issues like a simple operation, without a result */

struct sm_config {
    int64_t count; /* first: a lower module declares it (sim/gpu_config.h) */
    int64_t warps, threads, ctas, registers, register_unit, shared_kb;
    struct int_list carve_outs;
    int64_t carve_out_kb, shared_reserved_bytes;
    int64_t warp_size, shared_banks;
    int64_t schedulers, subcores;
    const struct policy *warp_scheduler;
    int64_t sp_units, sfu_units, dp_units, tensor_units;
    bool int_multiply_on_sp;
    int64_t sp_collectors, sfu_collectors;
    int64_t operand_cycles, operand_read_cycles, writeback_cycles, load_stages, branch_cycles;
    int64_t shared_latency_cycles;
    int64_t cluster_shared_cycles;
    int64_t lsu_queue, lsu_interval, loads_in_flight;
    int64_t bulk_cycles, bulk_interval;
    const struct policy *coalescing;
    const struct policy *atomics;
    bool atomics_hold;
    bool volatile_past_l1;
    int64_t instruction_kb, instruction_ways, instruction_bytes;
    int64_t constant_kb, constant_ways;
    int64_t read_only_kb, read_only_ways;
    int64_t read_only_mshrs, read_only_merges;
    struct int_list op[OP_COUNT];         /* latency, initiation interval; empty: not configurable (sm_op_cycles) */
    struct int_list tensor[TENSOR_COUNT]; /* latency, multiply-adds per cycle and pipeline */
};

extern const struct section sm_section;
extern const struct family warp_scheduler_family;
extern const struct family coalescing_family;
extern const struct policy sm_atomics_lane, sm_atomics_combined;

/* The pipeline of an operation class; classes of a unit that this SM lacks use SP. */
enum unit sm_unit_of(const struct sm_config *sm, enum op_class op);

/* Latency and initiation interval. Not configurable for memory accesses, fences and exits. */
struct op_cycles {
    unsigned latency, interval;
};
struct op_cycles sm_op_cycles(const struct sm_config *sm, enum op_class op);
/* Tensor instructions occupy a pipeline for `interval` cycles and have their result `latency` cycles later. */
static inline unsigned sm_tensor_interval(unsigned multiply_adds, unsigned rate) {
    return multiply_adds > rate ? (multiply_adds + rate - 1) / rate : 1;
}

/* Occupancy: CTAs of a kernel that are resident in an SM at once, limited by warps, threads, registers, shared memory
 * and CTA slots, and for a small grid by its even share of the `sms` SMs that it runs on. 0, with the reason in `err`, if not
 * even one fits. */
unsigned sm_occupancy(const struct config *config, unsigned sms, const struct kernel *kernel, struct error *err);

/* How L1 and shared memory divide their array for a kernel of which each SM holds `ctas` CTAs (sm_occupancy). */
struct carve_out {
    unsigned shared_kb;
    unsigned l1_ways; /* 0: two arrays, whose sizes are fixed */
};
/* The sizes of sm.carve_outs that the array has. */
unsigned sm_carve_out_count(const struct config *config);
struct carve_out sm_carve_out(const struct config *config, const struct kernel *kernel, unsigned ctas);
/* Shared memory of an SM: that of the largest carve-out, unless one is selected. */
int64_t sm_shared_kb(const struct sm_config *sm);

#endif
