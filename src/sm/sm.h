/* A streaming multiprocessor: warps, schedulers, scoreboard, pipelines, load/store unit. Each SM is one component of
 * the engine.
 *
 * Owns: resident CTAs and warps with their stream windows, register scoreboards, pipelines, the load/store unit,
 *       instruction, constant and read-only caches. A private L1 is ticked by its SM but owned by the L1 organisation.
 * Enters: commands of the control plane (CTAs to run); instruction records of the streams; completions of the L1.
 * Leaves: accesses to the L1; reports to the control plane (finished CTAs).
 *
 * Contract: in a cycle, in this order, results become visible, the L1 returns completions, the load/store unit sends
 *           an access (or several: l1.tags_per_cycle), the schedulers issue.
 */
#ifndef SLUICE_SM_SM_H
#define SLUICE_SM_SM_H

#include "l1/l1.h"
#include "sim/engine.h"
#include "sim/port.h"
#include "sm/sm_config.h"
#include "stats/stats.h"
#include "stream/stream.h"

/* The stall cause of every cycle without an issue: exactly one, the first of these that applies. */
#define SM_STALLS(S) \
    S(SUM, idle, "cycles", "no CTA is resident") \
    S(SUM, reconfiguration, "cycles", "the SM is stopped for a reconfiguration of the LLC") \
    S(SUM, mshr, "cycles", "a ready memory instruction waits behind a reservation failure: no free MSHR") \
    S(SUM, mshr_merge, "cycles", "a ready memory instruction waits behind a reservation failure: MSHR merge limit") \
    S(SUM, line, "cycles", \
      "a ready memory instruction waits behind a reservation failure: all lines of the set are reserved") \
    S(SUM, miss_queue, "cycles", "a ready memory instruction waits behind a reservation failure: miss queue full") \
    S(SUM, network, "cycles", \
      "a ready memory instruction waits behind a reservation failure: miss queue full, network blocked") \
    S(SUM, store_order, "cycles", \
      "a ready memory instruction waits behind a reservation failure: store to the same sectors not acknowledged") \
    S(SUM, input_queue, "cycles", "a ready memory instruction waits behind a reservation failure: input queue full") \
    S(SUM, pipeline, "cycles", "a ready instruction waits for its pipeline") \
    S(SUM, memory, "cycles", "warps wait for data from memory") \
    S(SUM, alu, "cycles", "warps wait for the result of an operation") \
    S(SUM, fetch, "cycles", "warps wait for an instruction fetch") \
    S(SUM, barrier, "cycles", "warps wait at a barrier") \
    S(SUM, drain, "cycles", "warps wait at a fence or after exit for outstanding accesses and results")

/* clang-format off */
enum sm_stall {
#define X(kind, name, unit, help) STALL_##name,
    SM_STALLS(X)
#undef X
    STALL_COUNT,
};
/* clang-format on */

STATS_STRUCT(sm_stall_stats, SM_STALLS);

#define SM_STATS(S) \
    S(SUM, warp_instructions, "instructions", "warp instructions issued") \
    S(SUM, thread_instructions, "instructions", "thread instructions issued (active lanes)") \
    S(SUM, cycles, "cycles", "SM cycles, summed") \
    S(SUM, issuing, "cycles", "cycles with at least one issue") \
    S(SUM, ctas, "CTAs", "CTAs run") \
    S(SUM, warps, "warps", "warps run") \
    S(SUM, barriers, "barriers", "barriers released") \
    S(SUM, loads, "instructions", \
      "load instructions to memory outside the SM, including atomics with a result and asynchronous copies") \
    S(SUM, load_cycles, "cycles", "load latency from issue to data, summed over loads") \
    S(MIN, load_cycles_min, "cycles", "minimum load latency") \
    S(MAX, load_cycles_max, "cycles", "maximum load latency") \
    S(SUM, tensor_multiply_adds, "operations", "multiply-adds of tensor instructions") \
    S(SUM, accesses, "accesses", "coalesced accesses to global and local memory") \
    S(SUM, shared_accesses, "instructions", "shared-memory instructions") \
    S(SUM, shared_conflicts, "cycles", "cycles lost to bank conflicts in shared memory") \
    S(SUM, instruction_hits, "fetches", "instruction cache hits; one lookup per change of line") \
    S(SUM, instruction_misses, "fetches", "instruction cache misses; one lookup per change of line") \
    S(SUM, constant_hits, "accesses", "constant cache hits") \
    S(SUM, constant_misses, "accesses", "constant cache misses and pending hits") \
    S(SUM, read_only_hits, "accesses", "read-only cache hits") \
    S(SUM, read_only_misses, "accesses", "read-only cache misses and pending hits")

STATS_STRUCT(sm_stats, SM_STATS);

/* Instructions issued, by operation class. */
#define SM_OP_STAT(name, unit, latency, interval, help) uint64_t name;
struct sm_op_stats {
    OP_LIST(SM_OP_STAT)
};
#undef SM_OP_STAT

/* The kernel launch shared by all SMs; constant while the kernel runs. */
struct launch {
    struct kernel kernel;
    struct stream_source *source;
    unsigned warps_per_cta;
    unsigned ctas_per_sm;
    uint8_t program;
    struct carve_out carve_out;
};

/* Commands from, and reports to, the control plane. */
struct sm_command {
    enum {
        COMMAND_RUN_CTA,
        COMMAND_FLUSH_L1,
        COMMAND_STEER_L1,
        COMMAND_STOP,
        COMMAND_GO_ON,
        COMMAND_RELEASE_CLUSTER,
        COMMAND_UPDATE_MBARRIER
    } kind;
    uint64_t cta; /* CTA to run, to release from the barrier of its cluster, or whose mbarrier is updated */
    uint64_t at;  /* when the update takes effect */
    uint8_t mbarrier;
    bool plain;     /* steer the L1 to the plain cache instead of the insertion policy */
    uint32_t round; /* of the duel that steers it */
};
struct sm_report {
    /* quiet: stopped, and nothing in flight; the CTA has arrived at the barrier of its cluster; an update, in cycle `at`,
     * of an mbarrier of the CTA, which is in the cluster of the one that updates it */
    enum { REPORT_CTA_DONE, REPORT_L1_FLUSHED, REPORT_QUIET, REPORT_CLUSTER_ARRIVED, REPORT_MBARRIER_UPDATE } kind;
    uint8_t mbarrier;
    uint64_t cta, at;
};

struct sm;
struct sm_shared; /* decoded constants, common to all SMs of a machine */

struct sm_shared *sm_shared_create(const struct config *config);
void sm_shared_destroy(struct sm_shared *shared);

struct sm *sm_create(const struct sm_shared *shared, const struct config *config, struct engine *engine,
                     struct stats *stats, unsigned index);
void sm_destroy(struct sm *sm);
unsigned sm_component(const struct sm *sm);
void sm_connect(struct sm *sm, struct l1 *l1, const struct launch *launch, struct port *commands, struct port *reports);
const struct sm_stats *sm_stats_of(const struct sm *sm);
/* Stops cycle accounting: the run is over and only in-flight accesses drain. */
void sm_freeze(struct sm *sm, uint64_t now);
/* Stops issue; what is in flight completes. */
void sm_halt(struct sm *sm);

#endif
