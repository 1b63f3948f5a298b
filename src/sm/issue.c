/* Issue: readiness of warps, warp selection and result latency.
 *
 * In-order issue within a warp, one instruction per scheduler and cycle, and a scoreboard on registers: a busy source
 * or destination register blocks the instruction (RAW and WAW). A result is available `operand_cycles` + latency +
 * `writeback_cycles` after issue. A pipeline belongs to a sub-core, whose schedulers share it, and accepts an
 * instruction every initiation interval. Optional: operand registers are read one after the other
 * (`operand_read_cycles`) by a limited number of collectors, a taken branch flushes the warp's instruction buffer
 * (`branch_cycles`), and an atomic holds its warp (`atomics_hold`).
 *
 * Not modelled: register-bank conflicts and the limit on write-backs per cycle of GPGPU-Sim's operand collectors;
 * instruction buffers other than by `branch_cycles`.
 */
#include "sm/sm_state.h"

/* Instruction addresses of all programs, disjoint from their data. */
#define INSTRUCTION_BASE UINT64_C(0xE0000000)

/* Schedules a re-check of the warps in cycle `at`. A warp is scheduled only while it waits for an event that does not
 * occur earlier. */
void sm_due_later(struct sm *sm, uint64_t warps, uint64_t at) {
    assert(at > sm->engine->now && at - sm->engine->now < WARP_WHEEL);
    sm->due[at % WARP_WHEEL] |= warps;
    engine_wake_near(sm->engine, sm->waker, at);
}

static void streams_go_on(struct sm *sm, uint64_t warps);

void sm_due(struct sm *sm, uint64_t *due, uint64_t now) {
    uint64_t warps = *due, dated = warps & sm->dated;
    *due = 0;
    sm->ready |= dated;
    sm->wait_alu &= ~dated;
    sm->wait_memory &= ~dated;
    sm->dated ^= dated;
    warps ^= dated;
    if (LIKELY(!warps)) return; /* a dated warp waits for nothing but a register */
    sm->at_barrier &= ~warps;
    if (UNLIKELY(sm->paused & warps)) streams_go_on(sm, sm->paused & warps);
    sm->branching &= ~warps;
    sm->at_atomic &= ~warps;
    sm->at_copy &= ~warps;
    for (; warps; warps &= warps - 1) {
        unsigned warp = lowest_bit(warps);
        if ((sm->at_fence | sm->exited) >> warp & 1)
            cta_warp_check(sm, warp, now);
        else
            sm_classify(sm, warp, now);
    }
}

/* The warp waits until `until` for a register; `last` is when its last register is available. */
static inline void wait_until(struct sm *sm, uint64_t bit, uint64_t *why, uint64_t until, uint64_t last) {
    *why |= bit;
    if (until >= REGISTER_UNKNOWN(false)) return;
    sm_due_later(sm, bit, until >> 1);
    if (until == last) sm->dated |= bit;
}

/* Registers beyond the first destination and the first three sources, which few instructions have. */
static bool has_more_registers(const struct instr *instr) {
    uint32_t dst, src;
    memcpy(&dst, instr->dst, sizeof dst);
    memcpy(&src, instr->src + 2, sizeof src);
    static const union {
        uint8_t byte[4];
        uint32_t word;
    } rest = {{0, 0xFF, 0xFF, 0xFF}};
    return (dst | src) & rest.word;
}

/* When the last of the instruction's registers is available; `memory`: of those that come from memory, else 0. */
static ALWAYS_INLINE uint64_t last_register(const struct instr *instr, const uint64_t *at, bool memory) {
#define AT(index) (memory ? at[index] & -(at[index] & 1) : at[index])
    uint64_t last =
        max_u64(max_u64(AT(instr->dst[0]), AT(instr->src[0])), max_u64(AT(instr->src[1]), AT(instr->src[2])));
    if (UNLIKELY(has_more_registers(instr))) {
        for (unsigned i = 1; i < INSTR_DSTS; i++) last = max_u64(last, AT(instr->dst[i]));
        for (unsigned i = 3; i < INSTR_SRCS; i++) last = max_u64(last, AT(instr->src[i]));
    }
    return last;
#undef AT
}

/* The latest of the instruction's registers, available at `last`, comes from an operation. While another one comes from
 * memory, the warp counts as waiting for memory. */
static NEVER_INLINE void wait_for_either(struct sm *sm, unsigned warp, uint64_t last, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp, memory = 0;
    if (sm->beyond[warp] || sm->beyond_at[warp] > now)
        memory = last_register(sm->next[warp], sm->register_at[warp], true);
    else
        sm->loading &= ~bit;
    if (memory > REGISTER_AT(now, 1))
        wait_until(sm, bit, &sm->wait_memory, memory, last);
    else
        wait_until(sm, bit, &sm->wait_alu, last, last);
}

/* The same; most warps have no load from memory in flight. */
static inline void wait_for_any(struct sm *sm, unsigned warp, uint64_t last, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp;
    if (sm->loading & bit)
        wait_for_either(sm, warp, last, now);
    else
        wait_until(sm, bit, &sm->wait_alu, last, last);
}

/* Whether the warp waits for anything but registers. */
static inline bool held(const struct sm *sm, uint64_t bit) {
    return (sm->at_barrier | sm->at_fence | sm->exited | sm->fetching | sm->unfetched | sm->branching | sm->at_atomic |
            sm->at_copy) &
           bit;
}

/* Determines whether the warp is ready or for which registers of `next`, its next instruction, it waits. Its previous
 * state is cleared. */
static inline void classify(struct sm *sm, unsigned warp, const struct instr *next, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp;
    assert(!held(sm, bit) && next == sm->next[warp]);
    uint64_t last = last_register(next, sm->register_at[warp], false);
    if (last <= REGISTER_AT(now, 1))
        sm->ready |= bit;
    else if (last & 1)
        wait_until(sm, bit, &sm->wait_memory, last, last);
    else
        wait_for_any(sm, warp, last, now);
}

void sm_classify(struct sm *sm, unsigned warp, uint64_t now) {
    sm->wait_alu &= ~(UINT64_C(1) << warp);
    sm->wait_memory &= ~(UINT64_C(1) << warp);
    if (!held(sm, UINT64_C(1) << warp)) classify(sm, warp, sm->next[warp], now);
}

void sm_classify_waiting(struct sm *sm, unsigned warp, uint64_t now) {
    sm->wait_alu &= ~(UINT64_C(1) << warp);
    sm->wait_memory &= ~(UINT64_C(1) << warp);
    classify(sm, warp, sm->next[warp], now);
}

static uint32_t instruction_line(const struct sm *sm, const struct instr *instr) {
    return instr->id >> sm->shared->instruction_line_log2;
}

/* Retries rejected fetches and unsent read-only misses in the next cycle. */
void sm_retry_later(struct sm *sm) {
    if (sm->unsent | sm->unfetched) engine_wake_near(sm->engine, sm->waker, sm->engine->now + 1);
}

/* Looks up the line of the warp's next instruction; on a miss the warp waits. */
void sm_fetch(struct sm *sm, unsigned warp) {
    uint64_t bit = UINT64_C(1) << warp, offset = (uint64_t)sm->next[warp]->id << sm->shared->instruction_log2;
    uint32_t line = instruction_line(sm, sm->next[warp]);
    sm->unfetched &= ~bit;
    switch (readonly_access(&sm->instruction_cache, INSTRUCTION_BASE + offset, sm->launch->program, warp)) {
    case READONLY_HIT:
        sm->stats.instruction_hits++;
        sm->fetched_line[warp] = line;
        break;
    case READONLY_WAIT:
        sm->stats.instruction_misses++;
        sm->fetched_line[warp] = line;
        sm->fetching |= bit;
        break;
    case READONLY_REFUSED: sm->unfetched |= bit; break;
    }
    sm_retry_later(sm);
}

void sm_refill(struct sm *sm, unsigned warp) {
    struct warp_stream *stream = &sm->stream[warp];
    sm->launch->source->ops->refill(sm->launch->source, stream);
    assert(stream->count > 0);
    sm->next[warp] = stream->instr;
    sm->end[warp] = stream->instr + stream->count;
}

/* Selects the unit of `instr`, the warp's next instruction, and fetches its line. Returns whether the fetch may have to
 * wait. */
static ALWAYS_INLINE bool prepare_next(struct sm *sm, unsigned warp, const struct instr *instr) {
    uint64_t bit = UINT64_C(1) << warp;
    unsigned unit = sm->shared->op[instr->op].unit;
    if (unit != sm->unit_of[warp]) {
        sm->by_unit[sm->unit_of[warp]] &= ~bit;
        sm->by_unit[unit] |= bit;
        sm->unit_of[warp] = (uint8_t)unit;
    }
    if (LIKELY(instruction_line(sm, instr) == sm->fetched_line[warp]) || sm->shared->perfect_instruction) return false;
    sm_fetch(sm, warp);
    return true;
}

/* The warp has consumed its window. If the stream pauses at the barrier that the warp waits at, an empty window stands
 * for the rest until the barrier releases the warp; its line is fetched as that of the instruction after the barrier. */
static NEVER_INLINE void next_window(struct sm *sm, unsigned warp) {
    struct warp_stream *stream = &sm->stream[warp];
    uint32_t following = sm->end[warp][-1].id + 1;
    if (LIKELY(!stream->pauses) || !(sm->at_barrier >> warp & 1)) {
        sm_refill(sm, warp);
        return;
    }
    stream->instr[0] = (struct instr){.id = following, .op = OP_other};
    sm->next[warp] = sm->end[warp] = stream->instr;
    sm->paused |= UINT64_C(1) << warp;
}

/* Barriers have released warps with an empty window. If a line is being fetched for a warp, it waits for this one only,
 * even if the expected instruction does not follow. */
static NEVER_INLINE void streams_go_on(struct sm *sm, uint64_t warps) {
    sm->paused &= ~warps;
    for (; warps; warps &= warps - 1) {
        unsigned warp = lowest_bit(warps);
        sm_refill(sm, warp);
        if (sm->fetching >> warp & 1) sm->fetched_line[warp] = instruction_line(sm, sm->next[warp]);
        prepare_next(sm, warp, sm->next[warp]);
    }
}

/* Advances the warp to its next instruction, *next. Returns whether it may have to wait for anything but registers. */
static ALWAYS_INLINE bool advance(struct sm *sm, unsigned warp, const struct instr **next, bool plain, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp;
    uint32_t following = plain ? 0 : sm->next[warp]->id + 1;
    *next = ++sm->next[warp];
    if (UNLIKELY(*next == sm->end[warp])) {
        next_window(sm, warp);
        *next = sm->next[warp];
    }
    sm->ready &= ~bit;
    bool may_be_held = prepare_next(sm, warp, *next);
    if (!plain && sm->shared->branch_cycles > 1 && (*next)->id != following &&
        !((sm->at_atomic | sm->at_barrier | sm->at_copy) & bit)) { /* released by their own events */
        sm->branching |= bit;
        sm_due_later(sm, bit, now + sm->shared->branch_cycles);
        may_be_held = true;
    }
    return may_be_held;
}

/* Occupies the first free one of `count` until `busy_until`; keeps the array sorted. */
static inline void take_first(uint64_t *free_at, unsigned count, uint64_t busy_until, uint64_t now) {
    unsigned last = count - 1, i = 0;
    if (LIKELY(free_at[last] <= now)) i = last; /* all are free: the order does not matter */
    for (; i < last && free_at[i + 1] < busy_until; i++) free_at[i] = free_at[i + 1];
    free_at[i] = busy_until;
}

/* Cycles to read the instruction's registers one after the other. */
static unsigned read_cycles(const struct sm *sm, const struct instr *instr) {
    unsigned reads = 0;
    while (reads < INSTR_SRCS && instr->src[reads]) reads++;
    return reads * sm->shared->operand_read_cycles;
}

/* Occupies a pipeline of the operation's unit. With a pipeline for each scheduler, an operation that occupies an idle
 * unit for this cycle only keeps no other one from issuing. */
static ALWAYS_INLINE void unit_take(const struct sm *sm, struct subcore *subcore, const struct op_timing *timing,
                                    unsigned reads, bool plain, uint64_t now) {
    enum unit unit = timing->unit;
    if (plain && timing->brief && subcore->unit_idle_at[unit] <= now) return;
    take_first(subcore->pipeline_free_at[unit], sm->shared->units[unit], now + timing->interval, now);
    subcore->unit_idle_at[unit] = max_u64(subcore->unit_idle_at[unit], now + timing->interval);
    if (!plain && sm->shared->collectors[unit])
        take_first(subcore->collector_free_at[unit], sm->shared->collectors[unit],
                   now + sm->shared->operand_cycles + reads, now);
    subcore->unit_free_at[unit] =
        plain ? subcore->pipeline_free_at[unit][0]
              : max_u64(subcore->pipeline_free_at[unit][0], subcore->collector_free_at[unit][0]);
    subcore->units_free_at = max_u64(subcore->units_free_at, subcore->unit_free_at[unit]);
}

/* The shape of the instruction determines how long it occupies its pipeline. */
static NEVER_INLINE void issue_tensor(struct sm *sm, unsigned warp, const struct instr *instr, unsigned reads,
                                      uint64_t now) {
    const struct tensor_timing *tensor = &sm->shared->tensor[instr->space];
    struct op_timing timing = {.unit = UNIT_TENSOR,
                               .interval = (uint16_t)sm_tensor_interval(instr->count, tensor->rate)};
    sm->stats.tensor_multiply_adds += instr->count;
    unit_take(sm, &sm->subcore[sm->subcore_of[warp]], &timing, reads, false, now);
    sm_result_at(sm, warp, instr->dst, false, now + timing.interval + tensor->latency_cycles + reads);
}

/* An opcode with its own latency or pipeline. */
static NEVER_INLINE void issue_timed(struct sm *sm, unsigned warp, const struct instr *instr, unsigned reads,
                                     uint64_t now) {
    enum { MOST_CYCLES = WARP_WHEEL - 1 - INSTR_SRCS * 8 };
    const struct op_timing *class = &sm->shared->op[instr->space];
    struct op_timing timing = sm->shared->op[instr->op];
    if (timing.unit == class->unit) timing.interval = class->interval;
    int cycles = class->result_cycles + (int8_t)instr->bytes_log2;
    cycles = cycles < 1 ? 1 : cycles > MOST_CYCLES ? MOST_CYCLES : cycles;
    sm->op_issued[instr->space]++;
    unit_take(sm, &sm->subcore[sm->subcore_of[warp]], &timing, reads, false, now);
    if (instr->dst[0]) sm_result_at(sm, warp, instr->dst, false, now + (unsigned)cycles + reads);
}

/* Barriers, fences and exits. Returns whether the warp has ended. */
static NEVER_INLINE bool issue_control(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now) {
    switch (instr->op) {
    case OP_barrier:
        if (UNLIKELY(instr->flags & INSTR_ASYNC))
            copy_barrier(sm, warp, instr, now);
        else
            cta_barrier(sm, warp, instr, now);
        return false;
    case OP_fence:
        if (UNLIKELY(instr->flags & INSTR_ASYNC)) {
            copy_wait(sm, warp, instr, now);
        } else if (sm->outstanding[warp] || sm->stores[warp] || sm->loads_at[warp] > now) {
            sm->at_fence |= UINT64_C(1) << warp;
            cta_warp_check(sm, warp, now);
        }
        return false;
    default:
        assert(instr->op == OP_exit);
        cta_warp_exit(sm, warp, now);
        return true;
    }
}

static ALWAYS_INLINE void issue(struct sm *sm, struct subcore *subcore, unsigned warp, bool plain, uint64_t now) {
    const struct instr *instr = sm->next[warp];
    const struct op_timing *timing = &sm->shared->op[instr->op];
    sm->stats.warp_instructions++;
    sm->stats.thread_instructions += (unsigned)__builtin_popcount(instr->active);
    sm->op_issued[instr->op]++;
    bool may_be_held = false;
    unsigned reads = plain ? 0 : read_cycles(sm, instr);
    if (LIKELY(instr->op < OP_load)) { /* arithmetic, first in OP_LIST */
        unit_take(sm, subcore, timing, reads, plain, now);
        if (instr->dst[0]) sm_result_at(sm, warp, instr->dst, false, now + timing->result_cycles + reads);
    } else if (instr_is_memory(instr)) {
        lsu_accept(sm, &subcore->queue, warp, instr, reads, now);
        may_be_held = sm->at_atomic != 0;
    } else if (instr->op >= OP_tensor) { /* the last class */
        (instr->op == OP_tensor ? issue_tensor : issue_timed)(sm, warp, instr, reads, now);
    } else {
        unit_take(sm, subcore, timing, reads, plain, now);
        if (issue_control(sm, warp, instr, now)) return;
        may_be_held = true;
    }
    may_be_held |= advance(sm, warp, &instr, plain, now);
    if (UNLIKELY(may_be_held) && held(sm, UINT64_C(1) << warp)) return;
    classify(sm, warp, instr, now);
}

/* Each warp belongs to one scheduler, so an issue affects the other schedulers only through the unit that it
 * occupies: those of its sub-core, and through the last entry for a load all of them. */
static ALWAYS_INLINE void issue_cycle(struct sm *sm, uint64_t open, bool plain, bool divided, uint64_t now) {
    unsigned schedulers = sm->shared->schedulers;
    unsigned s = open & (open - 1) ? (unsigned)(now % schedulers) : sm->scheduler_of[lowest_bit(open)];
    for (;; s = s + 1 < schedulers ? s + 1 : 0) {
        const struct scheduler *scheduler = &sm->scheduler[s];
        uint64_t candidates = open & scheduler->view.mine;
        if (!candidates) continue;
        unsigned warp = scheduler->pick(scheduler->state, candidates, &scheduler->view);
        struct subcore *subcore = divided ? &sm->subcore[sm->subcore_of[warp]] : sm->subcore;
        issue(sm, subcore, warp, plain, now);
        open ^= candidates;
        if (!open) return;
        if (divided) {
            uint64_t same = open & subcore->warps;
            open ^= same ^ subcore_open_warps(sm, subcore, same, now);
            if (UNLIKELY(sm->load_free == LOAD_NONE)) open &= ~sm->by_unit[UNIT_MEM];
        } else {
            open &= subcore_open_warps(sm, subcore, sm->ready, now);
        }
        if (!open) return;
    }
}

static NEVER_INLINE void issue_cycle_of_subcores(struct sm *sm, uint64_t open, uint64_t now) {
    issue_cycle(sm, open, true, true, now);
}
static NEVER_INLINE void issue_cycle_in_general(struct sm *sm, uint64_t open, uint64_t now) {
    issue_cycle(sm, open, false, true, now);
}

/* The code for limited collectors, operands read one after the other and flushed instruction buffers is compiled out of
 * the issue of an SM without them, and so is that for several sub-cores. */
void sm_issue_cycle(struct sm *sm, uint64_t open, uint64_t now) {
    if (UNLIKELY(!sm->shared->plain_issue))
        issue_cycle_in_general(sm, open, now);
    else if (LIKELY(sm->shared->subcores == 1))
        issue_cycle(sm, open, true, false, now);
    else
        issue_cycle_of_subcores(sm, open, now);
}

/* Space in the load/store unit becomes available in the unit's own ticks. */
void sm_next_issue(struct sm *sm, uint64_t now) {
    if (sm_open_warps(sm, now + 1)) {
        engine_wake_near(sm->engine, sm->waker, now + 1);
        return;
    }
    for (const struct subcore *subcore = sm->subcore; subcore < sm->subcore + sm->shared->subcores; subcore++) {
        if (subcore->units_free_at <= now + 1) continue;
        for (enum unit unit = 0; unit < UNIT_MEM; unit++)
            if (sm->ready & sm->by_unit[unit] & subcore->warps)
                engine_wake_by(sm->engine, sm->waker, subcore->unit_free_at[unit]);
    }
}
