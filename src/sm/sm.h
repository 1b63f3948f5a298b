/* A streaming multiprocessor: warps, schedulers, scoreboard, pipelines, load/store unit. One component of the engine
 * each.
 *
 * Owns: its resident CTAs and warps and their windows on the stream, register scoreboards, pipelines, the load/store
 *       unit, instruction, constant and read-only caches. The private L1, where there is one, is ticked from here but
 *       owned by the L1 organisation.
 * Enters: CTAs to run, from the dispatcher's port; instruction records from the stream; completions from the L1.
 * Leaves: accesses to the L1; word of finished CTAs to the dispatcher.
 *
 * Order within a cycle: results become visible, the L1 gives back what completed, the load/store unit makes one
 * access, the schedulers issue.
 */
#ifndef SLUICE_SM_SM_H
#define SLUICE_SM_SM_H

#include "l1/l1.h"
#include "sim/engine.h"
#include "sim/port.h"
#include "sm/sm_config.h"
#include "stats/stats.h"
#include "stream/stream.h"

/* What every cycle of an SM is spent on, if not on issuing: exactly one reason, the first of these that holds. */
#define SM_STALLS(S) \
    S(SUM, idle, "cycles", "no CTA is resident") \
    S(SUM, reconfiguration, "cycles", "the machine is stopped to be switched to another organisation") \
    S(SUM, mshr, "cycles", "a memory instruction could issue, but the L1 refuses the one before it: no MSHR") \
    S(SUM, mshr_merge, "cycles", "likewise: no room in a line's MSHR for one more waiter") \
    S(SUM, line, "cycles", "likewise: every line of the set is reserved") \
    S(SUM, miss_queue, "cycles", "likewise: the miss queue is full") \
    S(SUM, network, "cycles", "likewise: the miss queue is full because the network takes nothing") \
    S(SUM, store_order, "cycles", "likewise: it would overtake a store to the same sectors") \
    S(SUM, input_queue, "cycles", "likewise: no room in the queues before it") \
    S(SUM, pipeline, "cycles", "an instruction could issue, but its pipeline is busy") \
    S(SUM, memory, "cycles", "data from memory is awaited") \
    S(SUM, alu, "cycles", "the result of an operation is awaited") \
    S(SUM, fetch, "cycles", "an instruction is fetched") \
    S(SUM, barrier, "cycles", "warps wait at a barrier") \
    S(SUM, drain, "cycles", "warps wait at a fence, or have ended, until their last accesses and results are there")

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
    S(SUM, thread_instructions, "instructions", "instructions issued, counted by active lane") \
    S(SUM, cycles, "cycles", "cycles, summed over SMs") \
    S(SUM, issuing, "cycles", "cycles in which at least one instruction issued") \
    S(SUM, ctas, "CTAs", "CTAs run") \
    S(SUM, warps, "warps", "warps run") \
    S(SUM, barriers, "barriers", "barriers released") \
    S(SUM, loads, "instructions", "load instructions to memory beyond the SM, atomics with a result included") \
    S(SUM, load_cycles, "cycles", "from issue of these to their data, summed") \
    S(MIN, load_cycles_min, "cycles", "the shortest of these") \
    S(MAX, load_cycles_max, "cycles", "the longest of these") \
    S(SUM, accesses, "accesses", "coalesced accesses of global and local memory") \
    S(SUM, shared_accesses, "instructions", "shared-memory instructions") \
    S(SUM, shared_conflicts, "cycles", "cycles lost to bank conflicts in shared memory") \
    S(SUM, instruction_hits, "fetches", "changes of instruction line that hit the instruction cache") \
    S(SUM, instruction_misses, "fetches", "changes of instruction line that missed it") \
    S(SUM, constant_hits, "accesses", "constant accesses that hit") \
    S(SUM, constant_misses, "accesses", "constant accesses that missed or waited") \
    S(SUM, read_only_hits, "accesses", "accesses of the read-only cache that hit") \
    S(SUM, read_only_misses, "accesses", "accesses of the read-only cache that missed or waited")

STATS_STRUCT(sm_stats, SM_STATS);

/* Instructions issued, by operation class. */
#define SM_OP_STAT(name, unit, latency, interval, help) uint64_t name;
struct sm_op_stats {
    OP_LIST(SM_OP_STAT)
};
#undef SM_OP_STAT

/* What all SMs share while a kernel runs; constant for them. */
struct launch {
    struct kernel kernel;
    struct stream_source *source;
    unsigned warps_per_cta;
    unsigned ctas_per_sm;
    uint8_t program;
};

/* Messages between the dispatcher and an SM. */
struct sm_command {
    enum { COMMAND_RUN_CTA, COMMAND_FLUSH_L1, COMMAND_STEER_L1, COMMAND_STOP, COMMAND_GO_ON } kind;
    uint64_t cta; /* to run */
    bool plain;   /* the L1 steered to: the plain cache, not the insertion policy */
};
struct sm_report {
    enum { REPORT_CTA_DONE, REPORT_L1_FLUSHED, REPORT_QUIET } kind; /* quiet: stopped, and nothing of it is under way */
    uint64_t cta;
};

struct sm;
struct sm_shared; /* decoded constants that all SMs of a machine use */

struct sm_shared *sm_shared_create(const struct config *config);
void sm_shared_destroy(struct sm_shared *shared);

struct sm *sm_create(const struct sm_shared *shared, const struct config *config, struct engine *engine,
                     struct stats *stats, unsigned index);
void sm_destroy(struct sm *sm);
unsigned sm_component(const struct sm *sm);
void sm_connect(struct sm *sm, struct l1 *l1, const struct launch *launch, struct port *commands, struct port *reports);
const struct sm_stats *sm_stats_of(const struct sm *sm);
/* From now on no cycles are counted: the run is over and what is left only drains. */
void sm_freeze(struct sm *sm, uint64_t now);
/* No further instruction issues; what is in flight completes. */
void sm_halt(struct sm *sm);

#endif
