#include "sm/sm_config.h"

#include "base/base.h"
#include "cache/geometry.h"
#include "l1/l1.h"
#include "sim/gpu_config.h"
#include "sm/coalescing.h"
#include "sm/warp_scheduler.h"

static const struct policy atomics_sector = {
    "sector", "one access per sector, which the LLC performs lane by lane on its busiest word", NULL};
const struct policy sm_atomics_lane = {
    "lane", "as sector, plus one access for each further lane on the busiest word (GPGPU-Sim)", NULL};
const struct policy sm_atomics_combined = {
    "combined", "one access per sector, in which the LLC combines the lanes on a word", NULL};
static const struct policy *const atomics[] = {&atomics_sector, &sm_atomics_lane, &sm_atomics_combined};
static const struct family atomics_family = {"rule for atomics", atomics, COUNT_OF(atomics)};

#define SM(field, fallback, min, max, unit, help) P_INT(struct sm_config, field, fallback, min, max, unit, help)
/* One parameter per operation class with a configurable latency. */
#define OP_TIMED(name_, latency, interval, help_) \
    {.name = "op_" #name_, \
     .type = PARAM_LIST, \
     .offset = offsetof(struct sm_config, op) + OP_##name_ * sizeof(struct int_list), \
     .fallback = "[" #latency ", " #interval "]", \
     .min = 1, \
     .max = 400, \
     .min_count = 2, \
     .max_count = 2, \
     .unit = "cycles", \
     .help = "latency and initiation interval of: " help_},
#define OP_PARAM_SP  OP_TIMED
#define OP_PARAM_SFU OP_TIMED
#define OP_PARAM_DP  OP_TIMED
#define OP_PARAM_MEM(...)
#define OP_PARAM_CONTROL(...)
#define OP_PARAM_TENSOR(...)
/* One parameter per format of tensor instructions. */
#define TENSOR_PARAM(name_, most, latency, rate, help_) \
    {.name = "tensor_" #name_, \
     .type = PARAM_LIST, \
     .offset = offsetof(struct sm_config, tensor) + TENSOR_##name_ * sizeof(struct int_list), \
     .fallback = "[" #latency ", " #rate "]", \
     .min = 1, \
     .max = 32768, \
     .min_count = 2, \
     .max_count = 2, \
     .unit = "cycles", \
     .help = "tensor instructions, latency and multiply-adds per cycle and pipeline: " help_},
#define OP_PARAM(name, unit, latency, interval, help) OP_PARAM_##unit(name, latency, interval, help)

static const struct param params[] = {
    SM(warps, 64, 1, 64, "warps", "maximum resident warps per SM"),
    SM(threads, 2048, 32, 2048, "threads", "maximum resident threads per SM"),
    SM(ctas, 32, 1, 64, "CTAs", "maximum resident CTAs per SM"),
    SM(registers, 65536, 32, 1048576, "registers", "32-bit registers per SM"),
    SM(register_unit, 4, 1, 256, "registers", "allocation granularity of registers per thread"),
    SM(shared_kb, 64, 0, 1024, "KB", "shared memory per SM; follows from carve_outs, if there are any"),
    P_LIST(
        struct sm_config, carve_outs, "[]", 0, CONFIG_LIST_MAX, 0, 1024, "KB",
        "sizes that shared memory can have in the array that it shares with the L1 (l1.size_kb), ascending, as far as they "
        "leave something of it to the L1; []: it is an array of its own"),
    SM(carve_out_kb, -1, -1, 1024, "KB",
       "size of shared memory for all kernels, one of carve_outs; -1: for each kernel the smallest that holds its CTAs"),
    SM(shared_reserved_bytes, 0, 0, 65536, "B", "shared memory that each CTA occupies in addition to its own"),
    SM(warp_size, 32, 32, 32, "threads", "lanes per warp; streams require 32"),
    SM(shared_banks, 32, 32, 32, "banks", "shared-memory banks; streams record conflicts for 32"),
    SM(schedulers, 2, 1, 4, "schedulers",
       "warp schedulers per SM; each issues one instruction per cycle from its share of the warps"),
    SM(subcores, 1, 1, 4, "sub-cores",
       "equal parts of an SM, each with its share of schedulers, warps and registers, with pipelines and with a queue "
       "in front of the load/store unit"),
    P_CHOICE(struct sm_config, warp_scheduler, warp_scheduler_family, "gto", "warp scheduling policy"),
    SM(sp_units, 2, 1, 8, "pipelines", "pipelines of a sub-core for simple integer and floating-point operations"),
    SM(sfu_units, 1, 1, 8, "pipelines",
       "pipelines of a sub-core for divisions, special functions and integer multiplies (see int_multiply_on_sp)"),
    SM(dp_units, 0, 0, 8, "pipelines",
       "double-precision pipelines of a sub-core; 0: the SP pipelines execute these operations"),
    SM(tensor_units, 4, 0, 8, "pipelines",
       "tensor pipelines of a sub-core; 0: none, programs with tensor instructions are rejected"),
    P_BOOL(struct sm_config, int_multiply_on_sp, false,
           "integer multiplies use the SP pipelines (GPGPU-Sim 4); off: the SFU pipelines (3.2.2)"),
    SM(operand_cycles, 3, 1, 32, "cycles", "operand collection latency, from issue to execution"),
    SM(operand_read_cycles, 0, 0, 8, "cycles", "additional operand collection latency per source register"),
    SM(sp_collectors, 0, 0, 8, "instructions",
       "operand collectors of the SP pipelines of a sub-core; 0: limited only by the pipelines"),
    SM(sfu_collectors, 0, 0, 8, "instructions",
       "operand collectors of the SFU pipelines of a sub-core; 0: limited only by the pipelines"),
    SM(writeback_cycles, 2, 0, 32, "cycles", "from a result to the issue of a dependent instruction"),
    SM(load_stages, 0, 0, 32, "cycles", "additional write-back latency of loads"),
    SM(branch_cycles, 1, 1, 32, "cycles", "from a taken branch to the issue of the warp's next instruction"),
    SM(shared_latency_cycles, 3, 1, 255, "cycles", "shared-memory latency without bank conflicts"),
    SM(cluster_shared_cycles, 200, 1, 255, "cycles",
       "latency of shared memory of another CTA of the cluster, without bank conflicts"),
    SM(lsu_queue, 2, 1, 64, "instructions",
       "load/store unit queue of a sub-core, including its instruction in execution"),
    SM(lsu_interval, 1, 1, 32, "cycles", "between the memory instructions that the load/store unit begins, at least"),
    SM(loads_in_flight, 512, 1, 4096, "instructions", "maximum outstanding load instructions per SM"),
    SM(bulk_cycles, 106, 0, 1000, "cycles", "from the load/store unit to the first request of a bulk copy"),
    SM(bulk_interval, 1, 1, 64, "cycles", "between the requests of a bulk copy"),
    P_CHOICE(struct sm_config, coalescing, coalescing_family, "segment", "coalescing rule"),
    P_CHOICE(struct sm_config, atomics, atomics_family, "sector",
             "accesses of an atomic with several lanes on one word"),
    P_BOOL(struct sm_config, atomics_hold, false,
           "a warp issues nothing until its atomic has completed (GPGPU-Sim), used or not, in shared memory as well"),
    P_BOOL(struct sm_config, volatile_past_l1, true, "volatile global loads bypass the L1, like .cg loads"),
    SM(instruction_kb, 2, 0, 1024, "KB", "instruction cache size; 0: every fetch hits"),
    SM(instruction_ways, 4, 1, 1024, "lines", "instruction cache associativity"),
    SM(instruction_bytes, 8, 4, 16, "B", "instruction size"),
    SM(constant_kb, 8, 0, 1024, "KB", "constant cache size; 0: every access hits"),
    SM(constant_ways, 2, 1, 1024, "lines", "constant cache associativity"),
    SM(read_only_kb, 12, 0, 1024, "KB", "read-only (texture) cache size; 0: none, its loads use the L1"),
    SM(read_only_ways, 24, 1, 1024, "lines", "read-only cache associativity"),
    SM(read_only_mshrs, 16, 1, 1024, "MSHRs", "MSHRs of each of the three read-only caches"),
    SM(read_only_merges, 64, 1, 1024, "accesses", "MSHR merge limit of each of the three read-only caches"),
    OP_LIST(OP_PARAM) TENSOR_LIST(TENSOR_PARAM)};

/* Size 0: no such cache. */
static bool check_cache(const struct config *config, const char *size_key, const char *ways_key, int64_t size_kb,
                        int64_t ways, struct error *err) {
    struct cache_params params_ = {size_key, ways_key, NULL, size_kb, ways, 0};
    return size_kb == 0 || cache_check_size(config, &params_, err);
}

/* A result must be due within the SM's wheel of events. */
enum { TENSOR_LATENCY_MOST = 100, TENSOR_INTERVAL_MOST = 256 };
static bool check_tensor(const struct config *config, const struct sm_config *sm, struct error *err) {
    static const struct {
        const char *key;
        unsigned most;
    } formats[] = {
#define X(name, most, latency, rate, help) {"sm.tensor_" #name, most},
        TENSOR_LIST(X)
#undef X
    };
    for (unsigned i = 0; i < TENSOR_COUNT; i++) {
        int64_t latency = sm->tensor[i].value[0], rate = sm->tensor[i].value[1];
        if (latency > TENSOR_LATENCY_MOST)
            return config_error(config, formats[i].key, err, "the latency must be at most %d cycles",
                                TENSOR_LATENCY_MOST);
        if (rate * TENSOR_INTERVAL_MOST < formats[i].most)
            return config_error(config, formats[i].key, err,
                                "the rate must be at least %u multiply-adds per cycle: the largest instruction has %u, "
                                "and may take %d cycles",
                                formats[i].most / TENSOR_INTERVAL_MOST, formats[i].most, TENSOR_INTERVAL_MOST);
    }
    return true;
}

unsigned sm_carve_out_count(const struct config *config) {
    const struct sm_config *sm = config_get(config, &sm_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    unsigned count = 0;
    while (count < sm->carve_outs.count && sm->carve_outs.value[count] < l1->size_kb) count++;
    return count;
}

static void derive(struct config *config) {
    const struct sm_config *sm = config_get(config, &sm_section);
    unsigned count = sm_carve_out_count(config);
    if (count && config_is_newer(config, "sm.carve_outs", "sm.shared_kb"))
        config_derive(config, "sm.shared_kb", "sm.carve_outs", sm->carve_outs.value[count - 1]);
}

/* A carve-out takes whole ways from the L1, which keeps at least one. */
static bool check_carve_out(const struct config *config, int64_t kb, int64_t before, struct error *err) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    long long way_bytes = gpu->line_bytes * (int64_t)l1_sets(config);
    if (kb <= before)
        return config_error(config, "sm.carve_outs", err, "%lld KB follow %lld KB; list the sizes in ascending order",
                            (long long)kb, (long long)before);
    if (before < 0 && kb >= l1->size_kb) /* larger ones are left out */
        return config_error(config, "sm.carve_outs", err,
                            "%lld KB leave nothing of the array of %lld KB (l1.size_kb) to the L1", (long long)kb,
                            (long long)l1->size_kb);
    if (way_bytes && kb < l1->size_kb && kb * 1024 % way_bytes)
        return config_error(config, "sm.carve_outs", err,
                            "%lld KB are not a multiple of a way of the L1, %lld B (l1.sets × gpu.line_bytes)",
                            (long long)kb, way_bytes);
    return true;
}

static bool check_carve_outs(const struct config *config, const struct sm_config *sm, struct error *err) {
    const struct int_list *sizes = &sm->carve_outs;
    unsigned usable = sm_carve_out_count(config);
    bool listed = sm->carve_out_kb < 0;
    for (unsigned i = 0; i < sizes->count; i++) {
        if (!check_carve_out(config, sizes->value[i], i ? sizes->value[i - 1] : -1, err)) return false;
        listed |= i < usable && sm->carve_out_kb == sizes->value[i];
    }
    if (!listed)
        return config_error(config, "sm.carve_out_kb", err, "%lld KB is none of the sizes of sm.carve_outs%s",
                            (long long)sm->carve_out_kb,
                            sizes->count ? "" : ": L1 and shared memory of this GPU are two arrays");
    if (!sizes->count) return true;
    if (sm->shared_kb != sizes->value[usable - 1])
        return config_error(config, "sm.shared_kb", err,
                            "the largest of sm.carve_outs is %lld KB; set only sm.carve_outs, and shared_kb follows, "
                            "or select one with sm.carve_out_kb",
                            (long long)sizes->value[usable - 1]);
    return l1_can_resize(config, err);
}

static bool check(const struct config *config, struct error *err) {
    const struct sm_config *sm = config_get(config, &sm_section);
    if (sm->ctas > sm->warps)
        return config_error(config, "sm.ctas", err,
                            "more CTAs than warps: a CTA has at least one warp, and an SM holds %lld (sm.warps)",
                            (long long)sm->warps);
    if (sm->threads > sm->warps * 32)
        return config_error(config, "sm.threads", err,
                            "more threads than %lld warps of 32 (sm.warps) hold; use at most %lld",
                            (long long)sm->warps, (long long)sm->warps * 32);
    if (sm->schedulers % sm->subcores != 0)
        return config_error(config, "sm.subcores", err,
                            "%lld schedulers (sm.schedulers) do not divide evenly among %lld sub-cores",
                            (long long)sm->schedulers, (long long)sm->subcores);
    if (sm->registers % sm->subcores != 0)
        return config_error(config, "sm.registers", err,
                            "%lld registers do not divide evenly among %lld sub-cores (sm.subcores)",
                            (long long)sm->registers, (long long)sm->subcores);
    if (!is_power_of_two((uint64_t)sm->instruction_bytes))
        return config_error(config, "sm.instruction_bytes", err, "the instruction size must be 4, 8 or 16 B");
    if (!check_tensor(config, sm, err) || !check_carve_outs(config, sm, err)) return false;
    return check_cache(config, "sm.instruction_kb", "sm.instruction_ways", sm->instruction_kb, sm->instruction_ways,
                       err) &&
           check_cache(config, "sm.constant_kb", "sm.constant_ways", sm->constant_kb, sm->constant_ways, err) &&
           check_cache(config, "sm.read_only_kb", "sm.read_only_ways", sm->read_only_kb, sm->read_only_ways, err);
}

_Static_assert(offsetof(struct sm_config, count) == offsetof(struct sm_count_config, count), "a prefix");
const struct section sm_section = {
    .path = "sm",
    .help = "streaming multiprocessors",
    .base = &sm_count_section,
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct sm_config),
    .check = check,
    .derive = derive,
};

enum unit sm_unit_of(const struct sm_config *sm, enum op_class op) {
#define X(name, unit, latency, interval, help) UNIT_##unit,
    static const uint8_t units[] = {OP_LIST(X)};
#undef X
    enum unit unit = units[op];
    if ((op == OP_int_mul || op == OP_int_mad) && sm->int_multiply_on_sp) return UNIT_SP;
    return unit == UNIT_DP && sm->dp_units == 0 ? UNIT_SP : unit;
}

struct op_cycles sm_op_cycles(const struct sm_config *sm, enum op_class op) {
#define X(name, unit, latency, interval, help) {latency, interval},
    static const struct op_cycles fixed[] = {OP_LIST(X)};
#undef X
    if (sm->op[op].count == 0) return fixed[op];
    return (struct op_cycles){(unsigned)sm->op[op].value[0], (unsigned)sm->op[op].value[1]};
}
