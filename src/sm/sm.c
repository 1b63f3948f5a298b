#include "sm/sm.h"

#include <stdlib.h>

#include "sim/gpu_config.h"
#include "sm/sm_state.h"

STATS_TABLE(sm_stat_table, "sm", sm_stats, SM_STATS);
STATS_TABLE(sm_stall_table, "sm.stall", sm_stall_stats, SM_STALLS);
STATS_TABLE(sm_reservation_fail_table, "sm.reservation_fail", l1_reservation_fail_stats, L1_RESERVATION_FAILS);

#define SM_OP_ROW(name, unit, latency, interval, help) \
    {#name, "instructions", "warp instructions issued: " help, STAT_SUM},
static const struct stat sm_op_rows[] = {OP_LIST(SM_OP_ROW)};
static const struct stat_table sm_op_table = {"sm.op", sm_op_rows, COUNT_OF(sm_op_rows)};

static unsigned lsu_instructions(const struct sm *sm) {
    unsigned instructions = 0;
    for (unsigned i = 0; i < sm->shared->subcores; i++)
        instructions += sm->subcore[i].queue.tail - sm->subcore[i].queue.head;
    return instructions;
}

/* Whether an access is in flight or about to be sent. */
static bool in_flight(const struct sm *sm) {
    return lsu_instructions(sm) || sm->loads_used || readonly_busy(&sm->instruction_cache) ||
           readonly_busy(&sm->constant_cache) || readonly_busy(&sm->read_only_cache) ||
           sm->l1->ops->busy(sm->l1, sm->index);
}

static NEVER_INLINE void report_quiet(struct sm *sm, uint64_t now) {
    if (sm->quiet || in_flight(sm)) return;
    uint64_t left_at = lsu_left_at(&sm->subcore[0].queue); /* only a unit with one queue executes ahead */
    if (left_at > now) {
        engine_wake_near(sm->engine, sm->waker, left_at);
        return;
    }
    struct sm_report report = {.kind = REPORT_QUIET};
    port_push(sm->reports, now, &report, sizeof report);
    sm->quiet = true;
}

static void sm_tick(void *self, uint64_t now);
static void sm_settle(void *self, uint64_t now);
static void sm_explain(const void *self, uint64_t now, FILE *out);
static bool sm_busy(const void *self);

static const struct component_ops component_ops = {"sm", sm_tick, sm_settle, sm_explain, sm_busy};

struct sm_shared *sm_shared_create(const struct config *config) {
    const struct sm_config *values = config_get(config, &sm_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    struct sm_shared *shared = mem_alloc(1, sizeof *shared);
    *shared = (struct sm_shared){
        .register_at = mem_alloc((size_t)(values->count * values->warps), sizeof *shared->register_at),
        .schedulers = (unsigned)values->schedulers,
        .subcores = (unsigned)values->subcores,
        .warps = (unsigned)values->warps,
        .lsu_queue = (unsigned)values->lsu_queue,
        .lsu_interval = (unsigned)values->lsu_interval,
        .loads_in_flight = (unsigned)values->loads_in_flight,
        .ahead_loads = (unsigned)values->loads_in_flight -
                       (unsigned)min_u64((uint64_t)values->loads_in_flight, 2 * (uint64_t)values->lsu_queue),
        .operand_cycles = (unsigned)values->operand_cycles,
        .operand_read_cycles = (unsigned)values->operand_read_cycles,
        .writeback_cycles = (unsigned)values->writeback_cycles,
        .load_stages = (unsigned)values->load_stages,
        .branch_cycles = (unsigned)values->branch_cycles,
        .shared_latency_cycles = (unsigned)values->shared_latency_cycles,
        .cluster_shared_cycles = (unsigned)values->cluster_shared_cycles,
        .bulk_cycles = (unsigned)values->bulk_cycles,
        .bulk_interval = (unsigned)values->bulk_interval,
        .l1_latency_cycles = (unsigned)l1->latency_cycles + l1_probe_cycles(config),
        .l1_tags = (unsigned)l1->tags_per_cycle,
        .l1_port_bytes = (unsigned)l1->port_bytes,
        .wide_l1 = l1->tags_per_cycle > 1 || l1->port_bytes,
        .line_log2 = log2_floor((uint64_t)gpu->line_bytes),
        .line_bytes = (uint64_t)gpu->line_bytes,
        .instruction_log2 = log2_floor((uint64_t)values->instruction_bytes),
        .instruction_line_log2 = log2_floor((uint64_t)(gpu->line_bytes / values->instruction_bytes)),
        .units = {(unsigned)values->sp_units, (unsigned)values->sfu_units, (unsigned)values->dp_units,
                  (unsigned)values->tensor_units},
        .collectors = {(unsigned)values->sp_collectors, (unsigned)values->sfu_collectors},
        .plain_issue = values->sp_collectors == 0 && values->sfu_collectors == 0 && values->operand_read_cycles == 0 &&
                       values->branch_cycles == 1,
        .arbitrates = values->subcores > 1 || values->lsu_interval > 1 || l1->port_bytes,
        .perfect_instruction = values->instruction_kb == 0,
        .perfect_constant = values->constant_kb == 0,
        .has_read_only = values->read_only_kb != 0,
        .volatile_past_l1 = values->volatile_past_l1,
        .atomics_by_lane = values->atomics == &sm_atomics_lane,
        .atomics_combined = values->atomics == &sm_atomics_combined,
        .atomics_hold = values->atomics_hold,
        .coalescing = (const struct coalescing_ops *)values->coalescing,
        .scheduler = (const struct warp_scheduler_ops *)values->warp_scheduler,
    };
    for (unsigned width = 0; width < WIDTHS_USED; width++)
        for (unsigned sectors = 1; sectors <= UINT8_MAX; sectors++) {
            uint64_t touch = touch_make(0, (uint8_t)sectors), access[COALESCING_MAX];
            if (shared->coalescing->coalesce(&touch, 1, width, shared->line_log2, false, access) == 1)
                shared->one_access[width][sectors] = (uint8_t)access[0];
        }
    lsu_kinds_init(shared);
    for (unsigned i = 0; i < OP_RECORDS; i++) {
        static const uint8_t timed[] = {OP_int_add, OP_special, OP_f64_add};
        unsigned op = i < OP_COUNT ? i : timed[i - OP_COUNT];
        struct op_cycles cycles = sm_op_cycles(values, op);
        shared->op[i] = (struct op_timing){
            .result_cycles = (uint16_t)(values->operand_cycles + cycles.latency + values->writeback_cycles),
            .interval = (uint16_t)cycles.interval,
            .unit = (uint16_t)sm_unit_of(values, op),
        };
        shared->op[i].brief = cycles.interval == 1 && shared->op[i].unit < UNIT_MEM &&
                              shared->units[shared->op[i].unit] >= shared->schedulers / shared->subcores;
    }
    for (unsigned i = 0; i < TENSOR_COUNT; i++)
        shared->tensor[i] = (struct tensor_timing){
            .latency_cycles =
                (uint16_t)(values->operand_cycles + values->tensor[i].value[0] + values->writeback_cycles),
            .rate = (uint16_t)values->tensor[i].value[1],
        };
    return shared;
}

void sm_shared_destroy(struct sm_shared *shared) {
    free(shared->register_at);
    free(shared);
}

static void create_caches(struct sm *sm, const struct sm_config *values, const struct config *config) {
    struct {
        struct readonly_cache *cache;
        int64_t size_kb, ways;
        uint32_t token_kind;
        uint8_t flags;
    } caches[] = {
        {&sm->instruction_cache, values->instruction_kb, values->instruction_ways, TOKEN_INSTRUCTION, 0},
        {&sm->constant_cache, values->constant_kb, values->constant_ways, TOKEN_CONSTANT, 0},
        {&sm->read_only_cache, values->read_only_kb, values->read_only_ways, TOKEN_READ_ONLY, MESSAGE_READ_ONLY},
    };
    for (unsigned i = 0; i < COUNT_OF(caches); i++) {
        struct readonly_geometry geometry = {caches[i].size_kb,        caches[i].ways,        values->read_only_mshrs,
                                             values->read_only_merges, sm->shared->line_log2, caches[i].token_kind,
                                             caches[i].flags};
        readonly_init(caches[i].cache, &geometry, config, &sm->unsent);
    }
}

/* Slot w belongs to sub-core w % n of n. With schedulers a multiple of n, so do all slots of its scheduler. */
static void create_subcores(struct sm *sm) {
    const struct sm_shared *shared = sm->shared;
    for (unsigned warp = 0; warp < shared->warps; warp++) {
        sm->subcore_of[warp] = (uint8_t)(warp % shared->subcores);
        sm->subcore[warp % shared->subcores].warps |= UINT64_C(1) << warp;
    }
    for (unsigned i = 0; i < shared->subcores; i++) {
        struct lsu_queue *queue = &sm->subcore[i].queue;
        queue->mask = (uint32_t)round_up_power_of_two(shared->lsu_queue) - 1;
        queue->entry = mem_alloc(queue->mask + 1, sizeof *queue->entry);
        queue->room = shared->lsu_queue;
    }
}

struct sm *sm_create(const struct sm_shared *shared, const struct config *config, struct engine *engine,
                     struct stats *stats, unsigned index) {
    const struct sm_config *values = config_get(config, &sm_section);
    struct sm *sm = mem_alloc_lines(1, sizeof *sm);
    sm->index = index;
    sm->shared = shared;
    sm->engine = engine;
    sm->component = engine_add(engine, &component_ops, sm, index);
    sm->waker = waker_of(engine, sm->component);
    for (unsigned s = 0; s < shared->schedulers; s++) {
        uint64_t mine = 0;
        for (unsigned warp = s; warp < shared->warps; warp += shared->schedulers) {
            mine |= UINT64_C(1) << warp;
            sm->scheduler_of[warp] = (uint8_t)s;
        }
        sm->scheduler[s] = (struct scheduler){
            .view = {mine, &sm->wait_memory, &sm->resident, &sm->exited, sm->cta_slots, &sm->ctas},
            .state = shared->scheduler->create(config),
            .pick = shared->scheduler->pick,
        };
    }
    create_subcores(sm);
    sm->lsu = shared->arbitrates ? NULL : &sm->subcore[0].queue;
    sm->lsu_next_at = sm->bulk_next_at = NEVER;
    sm->load = mem_alloc(shared->loads_in_flight, sizeof *sm->load);
    for (unsigned i = 0; i < shared->loads_in_flight; i++)
        sm->load[i].next = (uint16_t)(i + 1 < shared->loads_in_flight ? i + 1 : LOAD_NONE);
    if (engine->latency) sm->watch = lsu_watch_create(shared);
    sm->runs_ahead = !shared->arbitrates && !shared->wide_l1 && !sm->watch && shared->ahead_loads;
    sm->register_at = shared->register_at + (size_t)index * shared->warps;
    sm->stream = mem_alloc_lines(shared->warps, sizeof *sm->stream);
    create_caches(sm, values, config);
    stats_add(stats, &sm_stat_table, &sm->stats);
    stats_add(stats, &sm_stall_table, sm->stall_cycles);
    stats_add(stats, &sm_reservation_fail_table, sm->failed_cycles);
    stats_add(stats, &sm_op_table, sm->op_issued);
    return sm;
}

void sm_destroy(struct sm *sm) {
    if (!sm) return;
    for (unsigned s = 0; s < sm->shared->schedulers; s++) sm->shared->scheduler->destroy(sm->scheduler[s].state);
    readonly_release(&sm->instruction_cache);
    readonly_release(&sm->constant_cache);
    readonly_release(&sm->read_only_cache);
    copies_destroy(sm->copies);
    free(sm->watch);
    for (unsigned i = 0; i < sm->shared->subcores; i++) free(sm->subcore[i].queue.entry);
    free(sm->load);
    free(sm->stream);
    free(sm);
}

unsigned sm_component(const struct sm *sm) { return sm->component; }

void sm_connect(struct sm *sm, struct l1 *l1, const struct launch *launch, struct port *commands,
                struct port *reports) {
    sm->l1 = l1;
    sm->gate = &l1->gate[sm->index];
    sm->launch = launch;
    sm->commands = commands;
    sm->reports = reports;
}

const struct sm_stats *sm_stats_of(const struct sm *sm) { return &sm->stats; }

void sm_freeze(struct sm *sm, uint64_t now) {
    sm_settle(sm, now);
    sm->frozen = true;
}

void sm_halt(struct sm *sm) { sm->no_issue |= HALTED; }

static inline enum sm_stall stall_cause(const struct sm *sm) {
    if (LIKELY(!sm->ready && (sm->wait_memory | sm->at_atomic | sm->at_copy) && !(sm->no_issue & STOPPED)))
        return STALL_memory;
    if (!sm->resident) return STALL_idle;
    if (sm->no_issue & STOPPED) return STALL_reconfiguration;
    if (sm->ready) {
        if (sm->failure && (sm->ready & sm->by_unit[UNIT_MEM]))
            return STALL_mshr + (enum sm_stall)(sm->failure - L1_FAIL_MSHR);
        return STALL_pipeline;
    }
    if (sm->wait_alu) return STALL_alu;
    if (sm->fetching | sm->unfetched | sm->branching) return STALL_fetch;
    return sm->at_barrier ? STALL_barrier : STALL_drain;
}

/* Accounts the cycles before `until` to `where`. */
static inline void count(struct sm *sm, uint64_t *where, uint64_t until) {
    uint64_t cycles = until - sm->stats.cycles;
    sm->stats.cycles = until;
    *where += cycles;
    if (sm->failure) sm->failed_cycles[sm->failure - L1_FAIL_MSHR] += cycles;
}

/* Accounts the cycles since the last issue. The stall cause has not changed since the last tick. */
static inline void settle(struct sm *sm, uint64_t now) {
    if (now > sm->stats.cycles && !sm->frozen) count(sm, &sm->stall_cycles[stall_cause(sm)], now);
}

static void sm_settle(void *self, uint64_t now) { settle(self, now); }

static NEVER_INLINE void take_commands(struct sm *sm, uint64_t now) {
    const struct sm_command *order;
    while ((order = port_peek(sm->commands, now))) {
        struct sm_command taken = *order;
        port_pop(sm->commands, now);
        if (taken.kind == COMMAND_RUN_CTA) {
            cta_launch(sm, taken.cta, now);
            continue;
        }
        if (taken.kind == COMMAND_STOP || taken.kind == COMMAND_GO_ON) {
            sm->no_issue = (uint8_t)((sm->no_issue & ~STOPPED) | (taken.kind == COMMAND_STOP ? STOPPED : 0));
            sm->quiet = false;
            continue;
        }
        if (taken.kind == COMMAND_RELEASE_CLUSTER) {
            cta_cluster_release(sm, taken.cta, now);
            continue;
        }
        if (taken.kind == COMMAND_UPDATE_MBARRIER) {
            mbarrier_update(sm, &taken);
            continue;
        }
        if (taken.kind == COMMAND_STEER_L1) {
            l1_steer(sm->l1, sm->index, taken.plain, taken.round);
            continue;
        }
        sm->l1->ops->flush(sm->l1, sm->index);
        readonly_flush(&sm->constant_cache);
        readonly_flush(&sm->read_only_cache);
        struct sm_report report = {.kind = REPORT_L1_FLUSHED};
        port_push(sm->reports, now, &report, sizeof report);
    }
}

/* Sends a miss of the three read-only caches: one request per cycle, instructions first. */
static void send_readonly_miss(struct sm *sm, uint64_t now) {
    struct readonly_cache *caches[] = {&sm->instruction_cache, &sm->constant_cache, &sm->read_only_cache};
    for (unsigned i = 0; i < COUNT_OF(caches); i++)
        if (readonly_send(caches[i], sm->l1, sm->index, now)) return;
}

/* Retries unsent misses and rejected fetches. */
static NEVER_INLINE void retry(struct sm *sm, uint64_t now) {
    if (sm->unsent) send_readonly_miss(sm, now);
    for (uint64_t warps = sm->unfetched; warps; warps &= warps - 1) {
        sm_fetch(sm, lowest_bit(warps));
        sm_classify(sm, lowest_bit(warps), now);
    }
    sm_retry_later(sm);
}

static NEVER_INLINE void tick_l1(struct sm *sm, uint64_t now) {
    uint32_t token[L1_COMPLETIONS];
    unsigned completions = sm->l1->ops->tick(sm->l1, sm->index, now, token);
    for (unsigned i = 0; i < completions; i++) lsu_complete(sm, token[i], now);
}

/* After the replay of an access was accepted, the next access often fails in turn: every line or MSHR that becomes free
 * is taken at once. If that is foreseen, the failure begins with the next cycle, without a tick. */
static NEVER_INLINE void foresee(struct sm *sm, uint64_t now) {
    enum l1_outcome failure = lsu_foresee(sm);
    sm->foresees = false;
    if (!failure) {
        engine_wake_near(sm->engine, sm->waker, now + 1);
        return;
    }
    settle(sm, now + 1);
    sm->failure = failure;
    sm->failed_changes = sm->gate->changes;
}

static inline void issue_stage(struct sm *sm, uint64_t now) {
    if (UNLIKELY(sm->no_issue)) {
        if (sm->no_issue & STOPPED) report_quiet(sm, now);
        return;
    }
    if (!sm->ready) return;
    uint64_t open = sm_open_warps(sm, now);
    if (open) {
        sm_issue_cycle(sm, open, now);
        if (LIKELY(!sm->frozen)) { /* earlier cycles are already accounted */
            sm->stats.cycles = now + 1;
            sm->stats.issuing++;
            if (UNLIKELY(sm->failure)) sm->failed_cycles[sm->failure - L1_FAIL_MSHR]++;
        }
    } else if (LIKELY(sm->shared->subcores == 1) && sm->subcore->units_free_at <= now) {
        return; /* a ready warp waits for the load/store unit, which wakes the SM */
    }
    if (sm->ready) sm_next_issue(sm, now);
}

static void sm_tick(void *self, uint64_t now) {
    struct sm *sm = self;
    settle(sm, now);
    if (UNLIKELY(port_next_visible(sm->commands) <= now)) take_commands(sm, now);
    uint64_t *due = &sm->due[now % WARP_WHEEL];
    if (*due) sm_due(sm, due, now);
    if (!l1_idle(sm->gate, now)) tick_l1(sm, now);
    if (UNLIKELY(sm->unsent | sm->unfetched)) retry(sm, now);
    if (sm->lsu_next_at <= now) lsu_tick(sm, now);
    if (UNLIKELY(sm->bulk_next_at <= now)) bulk_tick(sm, now);
    issue_stage(sm, now);
    if (UNLIKELY(sm->foresees)) foresee(sm, now);
}

static bool sm_busy(const void *self) {
    const struct sm *sm = self;
    return (sm->resident && !(sm->no_issue & HALTED)) || in_flight(sm);
}

static void sm_explain(const void *self, uint64_t now, FILE *out) {
    static const char *const failure[] = {"accepts accesses",
                                          "reservation failure: no free MSHR",
                                          "reservation failure: MSHR merge limit",
                                          "reservation failure: all lines of the set are reserved",
                                          "reservation failure: miss queue full",
                                          "reservation failure: miss queue full, network blocked",
                                          "reservation failure: store to the same sectors not acknowledged",
                                          "reservation failure: input queue full"};
    const struct sm *sm = self;
    (void)now;
    if (!sm_busy(sm)) return;
    fprintf(out,
            "sm %u: %u CTAs, %d warps: %d ready, %d waiting for memory, %d for results, %d for instructions, "
            "%d at a barrier, %d at a fence, %d exited; "
            "load/store unit: %u instructions, %u loads outstanding; L1: %s\n",
            sm->index, sm->ctas, __builtin_popcountll(sm->resident), __builtin_popcountll(sm->ready),
            __builtin_popcountll(sm->wait_memory | sm->at_atomic | sm->at_copy), __builtin_popcountll(sm->wait_alu),
            __builtin_popcountll(sm->fetching | sm->unfetched), __builtin_popcountll(sm->at_barrier),
            __builtin_popcountll(sm->at_fence), __builtin_popcountll(sm->exited), lsu_instructions(sm), sm->loads_used,
            failure[sm->failure ? sm->failure - L1_ACCEPTED : 0]);
    for (unsigned slot = 0; slot < SM_WARPS; slot++)
        if (sm->cta[slot].used && sm->cta[slot].cluster.waiting)
            fprintf(out, "  barrier of the cluster of CTA %llu: %d warps wait, %s\n",
                    (unsigned long long)sm->cta[slot].index, __builtin_popcountll(sm->cta[slot].cluster.waiting),
                    sm->cta[slot].cluster.reported ? "for other CTAs" : "for warps of this CTA");
    for (unsigned slot = 0; slot < SM_WARPS; slot++)
        for (unsigned id = 0; sm->cta[slot].used && id < SM_BARRIERS; id++) {
            unsigned expected =
                sm->cta[slot].barrier[id].expected ? sm->cta[slot].barrier[id].expected : sm->cta[slot].live;
            if (sm->cta[slot].barrier[id].waiting)
                fprintf(out, "  barrier %u of CTA %llu: %u of %u warps have arrived\n", id,
                        (unsigned long long)sm->cta[slot].index, sm->cta[slot].barrier[id].arrived, expected);
        }
    copies_explain(sm, out);
    sm->l1->ops->explain(sm->l1, sm->index, out);
}
