/* Issue: which warps could go, which one goes, and when its result is there.
 *
 * In-order issue within a warp, one instruction per scheduler and cycle, a scoreboard on registers (a busy source or
 * destination holds the instruction: RAW and WAW). A result can be used `operand_cycles` + latency + `writeback_cycles`
 * after issue. A pipeline takes a new instruction every initiation interval of the last.
 *
 * Left out: register-bank conflicts and the limit on results written back per cycle, which GPGPU-Sim 3.2.2 models in
 * its operand collectors.
 */
#include "sm/sm_state.h"

/* Instructions of all programs lie here, out of the way of their data. */
#define INSTRUCTION_BASE UINT64_C(0xE0000000)

/* Results. */

void sm_result_later(struct sm *sm, uint64_t at, struct result result) {
    if (sm->result_free == RESULT_NONE) {
        unsigned old = sm->result_count, grown = 2 * old;
        assert(grown < RESULT_NONE);
        sm->result = mem_grow(sm->result, grown, sizeof *sm->result);
        for (unsigned i = old; i < grown; i++) sm->result[i].next = (uint16_t)(i + 1 < grown ? i + 1 : RESULT_NONE);
        sm->result_free = (uint16_t)old;
        sm->result_count = grown;
    }
    assert(at > sm->engine->now && at - sm->engine->now < RESULT_WHEEL);
    uint16_t node = sm->result_free;
    sm->result_free = sm->result[node].next;
    uint16_t *slot = &sm->result_slot[at % RESULT_WHEEL];
    result.next = *slot;
    sm->result[node] = result;
    *slot = node;
    sm->results_pending++;
    engine_wake(sm->engine, sm->component, at);
}

static void registers_free(struct sm *sm, unsigned warp, const uint8_t *dst) {
    sm->busy[warp][dst[0]] = REGISTER_THERE;
    if (UNLIKELY(dst[1]))
        for (unsigned i = 1; i < INSTR_DSTS; i++) sm->busy[warp][dst[i]] = REGISTER_THERE;
    sm->busy_count[warp]--;
    if ((sm->wait_alu | sm->wait_memory) >> warp & 1) sm_classify(sm, warp);
}

void sm_results_due(struct sm *sm, uint64_t now) {
    uint16_t *slot = &sm->result_slot[now % RESULT_WHEEL];
    uint16_t node = *slot;
    *slot = RESULT_NONE;
    while (node != RESULT_NONE) {
        struct result *result = &sm->result[node];
        uint16_t next = result->next;
        sm->results_pending--;
        if (result->kind == RESULT_BARRIER) {
            cta_barrier_release(sm, result->warp, result->dst[0]);
        } else {
            if (result->dst[0]) registers_free(sm, result->warp, result->dst);
            if (result->kind == RESULT_MEMORY) sm->outstanding[result->warp]--;
            if ((sm->at_fence | sm->exited) >> result->warp & 1) cta_warp_check(sm, result->warp, now);
        }
        result->next = sm->result_free;
        sm->result_free = node;
        node = next;
    }
}

/* What a warp waits for. */

void sm_classify(struct sm *sm, unsigned warp) {
    uint64_t bit = UINT64_C(1) << warp;
    sm->wait_alu &= ~bit;
    sm->wait_memory &= ~bit;
    if ((sm->at_barrier | sm->at_fence | sm->exited | sm->fetching | sm->unfetched) & bit) return;
    if (sm->busy_count[warp]) {
        const struct instr *instr = sm->next[warp];
        const uint8_t *busy = sm->busy[warp];
        unsigned state = 0;
        for (unsigned i = 0; i < INSTR_DSTS; i++) state |= busy[instr->dst[i]];
        for (unsigned i = 0; i < INSTR_SRCS; i++) state |= busy[instr->src[i]];
        if (state) {
            if (state & REGISTER_LOADING)
                sm->wait_memory |= bit;
            else
                sm->wait_alu |= bit;
            return;
        }
    }
    sm->ready |= bit;
}

/* Counted from 1, so that 0 can mean none. */
static uint32_t instruction_line(const struct sm *sm, const struct instr *instr) {
    return (instr->id >> (sm->shared->line_log2 - sm->shared->instruction_log2)) + 1;
}

/* Looks for the line of the warp's next instruction; the warp waits if it is not there. */
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
}

/* The warp's record at `next` has issued: on to the one after it. */
void sm_advance(struct sm *sm, unsigned warp) {
    struct warp_stream *stream = &sm->stream[warp];
    uint64_t bit = UINT64_C(1) << warp;
    const struct instr *instr = sm->next[warp] + 1;
    sm->by_unit[sm->unit_of[warp]] &= ~bit;
    if (instr == stream->instr + stream->count) {
        sm->launch->source->ops->refill(sm->launch->source, stream);
        assert(stream->count > 0);
        instr = stream->instr;
    }
    sm->unit_of[warp] = sm->shared->op[instr->op].unit;
    sm->by_unit[sm->unit_of[warp]] |= bit;
    sm->next[warp] = instr;
    sm->ready &= ~bit;
    if (instruction_line(sm, instr) != sm->fetched_line[warp] && !sm->shared->perfect_instruction) sm_fetch(sm, warp);
    sm_classify(sm, warp);
}

/* Issuing. */

static void registers_take(struct sm *sm, unsigned warp, const struct instr *instr, bool memory) {
    uint8_t state = memory ? REGISTER_BUSY | REGISTER_LOADING : REGISTER_BUSY;
    sm->busy[warp][instr->dst[0]] = state;
    if (UNLIKELY(instr->dst[1]))
        for (unsigned i = 1; i < INSTR_DSTS && instr->dst[i]; i++) sm->busy[warp][instr->dst[i]] = state;
    sm->busy_count[warp]++;
}

/* Whether one more instruction can go to the unit in this cycle. */
static bool unit_free(const struct sm *sm, enum unit unit, uint64_t now) {
    return unit == UNIT_MEM ? lsu_has_room(sm) : sm->pipeline_free_at[unit][0] <= now;
}

static void unit_take(struct sm *sm, enum unit unit, unsigned interval, uint64_t now) {
    uint64_t *free_at = sm->pipeline_free_at[unit], busy_until = now + interval;
    unsigned last = sm->shared->units[unit] - 1, i = 0;
    for (; i < last && free_at[i + 1] < busy_until; i++) free_at[i] = free_at[i + 1];
    free_at[i] = busy_until;
}

static void issue(struct sm *sm, unsigned warp, uint64_t now) {
    const struct instr *instr = sm->next[warp];
    const struct op_timing *timing = &sm->shared->op[instr->op];
    sm->stats.warp_instructions++;
    sm->stats.thread_instructions += (unsigned)__builtin_popcount(instr->active);
    sm->op_issued[instr->op]++;
    sm->engine->progress++;
    if (timing->unit != UNIT_MEM) unit_take(sm, timing->unit, timing->interval, now);
    switch (instr->op) {
    case OP_load:
    case OP_store:
    case OP_atomic:
        if (instr->dst[0]) registers_take(sm, warp, instr, instr->space != SPACE_SHARED);
        lsu_accept(sm, warp, instr, now);
        break;
    case OP_barrier: cta_barrier(sm, warp, instr, now); break;
    case OP_fence:
        if (sm->outstanding[warp] || sm->stores[warp]) sm->at_fence |= UINT64_C(1) << warp;
        break;
    case OP_exit: cta_warp_exit(sm, warp, now); return;
    default:
        if (!instr->dst[0]) break;
        registers_take(sm, warp, instr, false);
        struct result result = {.kind = RESULT_ALU, .warp = (uint8_t)warp};
        memcpy(result.dst, instr->dst, sizeof result.dst);
        sm_result_later(sm, now + timing->result_cycles, result);
        break;
    }
    sm_advance(sm, warp);
}

bool sm_issue_cycle(struct sm *sm, uint64_t now) {
    if (!sm->ready || sm->halted) return false;
    /* The warps whose next instruction finds its unit free. A warp belongs to one scheduler, so an issue changes
     * nothing in the others' share but the unit that it took. */
    uint64_t open[UNIT_COUNT];
    for (enum unit unit = 0; unit < UNIT_COUNT; unit++) open[unit] = unit_free(sm, unit, now) ? sm->by_unit[unit] : 0;
    bool issued = false;
    unsigned schedulers = sm->shared->schedulers, s = (unsigned)(now % schedulers);
    for (unsigned i = 0; i < schedulers; i++, s = s + 1 < schedulers ? s + 1 : 0) {
        uint64_t candidates =
            sm->ready & sm->view[s].mine & (open[UNIT_SP] | open[UNIT_SFU] | open[UNIT_DP] | open[UNIT_MEM]);
        if (!candidates) continue;
        struct warp_view *view = &sm->view[s];
        view->waiting_memory = sm->wait_memory;
        view->resident = sm->resident & ~sm->exited;
        view->ctas = sm->ctas;
        unsigned warp = sm->shared->scheduler->pick(sm->scheduler[s], candidates, view);
        enum unit unit = sm->unit_of[warp];
        issue(sm, warp, now);
        if (!unit_free(sm, unit, now)) open[unit] = 0;
        issued = true;
    }
    return issued;
}

/* The next cycle in which something that is ready now can issue; the load/store unit's room comes with its own ticks.
 */
uint64_t sm_next_issue(const struct sm *sm, uint64_t now) {
    if (!sm->ready || sm->halted) return NEVER;
    uint64_t next = NEVER;
    for (enum unit unit = 0; unit < UNIT_COUNT; unit++) {
        if (!(sm->ready & sm->by_unit[unit])) continue;
        uint64_t free_at = unit != UNIT_MEM ? sm->pipeline_free_at[unit][0] : lsu_has_room(sm) ? now : NEVER;
        if (free_at <= now + 1) return now + 1;
        next = min_u64(next, free_at);
    }
    return next;
}

enum sm_stall sm_stall_cause(const struct sm *sm) {
    if (!sm->resident) return STALL_idle;
    if (sm->ready) {
        if (sm->refusal && (sm->ready & sm->by_unit[UNIT_MEM]))
            return STALL_mshr + (enum sm_stall)(sm->refusal - L1_NO_MSHR);
        return STALL_pipeline;
    }
    if (sm->wait_memory) return STALL_memory;
    if (sm->wait_alu) return STALL_alu;
    if (sm->fetching | sm->unfetched) return STALL_fetch;
    return sm->at_barrier ? STALL_barrier : STALL_drain;
}
