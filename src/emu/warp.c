/* Execution of a warp: fetch, guard, execute, record.
 *
 * Straight-line code and uniform branches stay in one loop; operations that change the SIMT stack leave it. A record is
 * written after execution, when the touched blocks are known, and whether it was the warp's last instruction. */
#include "emu/cta.h"

#include <stdlib.h>
#include <string.h>

/* The block of fixed special registers, with the rows of specials.def. */
struct special_block {
#define FIXED_ROWS(name, vector)    uint32_t name[(vector) ? 3 : 1][WARP_LANES];
#define CHANGING_ROWS(name, vector) /* read by an operation */
#define X(name, text, vector, kind) kind##_ROWS(name, vector)
#include "ptx/specials.def"
#undef X
};

/* What is the same for all CTAs. The block is initially zero. */
static void specials_fill(struct special_block *s, const struct run *run, uint32_t warp) {
    const uint32_t *grid = run->launch->grid, *block = run->launch->block;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        uint32_t thread = warp * WARP_LANES + lane, bit = UINT32_C(1) << lane;
        uint32_t tid[3] = {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
        for (unsigned i = 0; i < 3; i++) {
            s->tid[i][lane] = tid[i];
            s->ntid[i][lane] = block[i];
            s->nctaid[i][lane] = grid[i];
            s->nclusterid[i][lane] = grid[i] / run->cluster[i];
            s->cluster_nctaid[i][lane] = run->cluster[i];
        }
        s->laneid[0][lane] = lane;
        s->warpid[0][lane] = warp;
        s->nwarpid[0][lane] = run->warps;
        s->nsmid[0][lane] = SM_COUNT;
        s->lanemask_eq[0][lane] = bit;
        s->lanemask_lt[0][lane] = bit - 1;
        s->lanemask_le[0][lane] = bit | (bit - 1);
        s->lanemask_ge[0][lane] = ~(bit - 1);
        s->lanemask_gt[0][lane] = ~(bit | (bit - 1));
        s->total_smem_size[0][lane] = s->aggr_smem_size[0][lane] = run->shared_bytes;
        s->dynamic_smem_size[0][lane] = run->launch->dynamic_shared_bytes;
        s->cluster_nctarank[0][lane] = run->cluster_ctas;
        s->is_explicit_cluster[0][lane] = run->explicit_cluster;
    }
}

uint8_t *specials_create(struct run *run) {
    struct special_block *blocks = mem_alloc_lines(run->warps, sizeof *blocks);
    if (run->specials) {
        memcpy(blocks, run->specials, run->warps * sizeof *blocks);
    } else {
        for (uint32_t i = 0; i < run->warps; i++) specials_fill(&blocks[i], run, i);
        run->specials = (const uint8_t *)blocks;
    }
    return (uint8_t *)blocks;
}

static void specials_place(struct special_block *s, const struct cta *cta) {
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned i = 0; i < 3; i++) {
            s->ctaid[i][lane] = cta->ctaid[i];
            s->clusterid[i][lane] = cta->ctaid[i] / cta->run->cluster[i];
            s->cluster_ctaid[i][lane] = cta->ctaid[i] % cta->run->cluster[i];
        }
        s->cluster_ctarank[0][lane] = cta->rank;
        s->smid[0][lane] = (uint32_t)(cta->index % SM_COUNT);
    }
}

void warp_begin(struct warp_state *w, struct cta *cta, uint32_t index) {
    struct run *run = cta->run;
    uint32_t left = run->threads - index * WARP_LANES;
    if (!w->frames) {
        w->frame_room = 4;
        w->frames = mem_alloc(w->frame_room, sizeof *w->frames);
    } else {
        memset(w->registers, 0, w->frames[0].window_end);
    }
    struct special_block *specials = (struct special_block *)(void *)cta->specials + index;
    w->run = run;
    w->index = index;
    w->warp.cta = cta;
    w->warp.carry = 0;
    w->warp.base[PLACE_SPECIAL] = (uint8_t *)specials;
    w->status = WARP_READY;
    w->live = w->lanes = left < WARP_LANES ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
    w->executed = w->since = w->together = w->quiet = 0;
    w->parked_rounds = 0;
    w->cluster_arrived = w->cluster_passed = 0;
    w->path_count = w->frame_count = 0;
    w->suspended = 0;
    copies_begin(w);
    w->writer = run->trace ? trace_open_writer(run->trace, cta->index, index) : NULL;
    specials_place(specials, cta);
    frame_push(w, run->kernel, NULL, w->live);
    simt_push(w, (struct path){0, NO_PC, w->live});
}

void warp_release(struct warp_state *w) {
    free(w->paths);
    free(w->frames);
    free(w->registers);
    free(w->local);
    strands_free(w);
    poll_free(w);
    copies_release(w);
}

/* Records */

struct instr record_of(const struct warp_state *w, const struct op *op, uint32_t mask) {
    const struct program_function *function = w->frame->code->function;
    struct instr record = function->records[op - function->ops];
    record.active = mask;
    return record;
}

static void record_put(struct warp_state *w, const struct instr *record) {
    if (w->writer) trace_put(w->writer, record, NULL);
}

/* The record of a texture or surface operation: without lanes that are in earlier records of it, and no access if all
 * lanes are outside the image. */
static NEVER_INLINE void record_texture(struct warp_state *w, struct instr *record) {
    record->active &= ~w->recorded;
    if (!w->note.count) record->op = OP_other;
    w->textured = false;
}

/* Inlined into the loop over instructions, which has the record at hand; elsewhere record_access. */
static ALWAYS_INLINE void access_put(struct warp_state *w, const struct op *op, struct instr record, uint32_t mask) {
    record.active = mask;
    if (UNLIKELY(w->textured)) record_texture(w, &record);
    bool memory = record.op == OP_load || record.op == OP_store || record.op == OP_atomic;
    if (memory && mask) {
        record.space = w->note.space;
        record.flags |= w->note.flags;
        record.conflicts = w->note.conflicts;
        record.count = w->note.count;
        if (record.space != SPACE_GLOBAL)
            record.flags &= (uint8_t)~INSTR_READ_ONLY; /* a generic address in another space */
        if (w->run->loaded->promises) promise_note(w, op, &record);
        trace_put_access(w->writer, &record, w->note.touch);
        return;
    }
    if (memory || !mask) record.op = OP_other;
    trace_put(w->writer, &record, w->note.touch);
}

void record_access(struct warp_state *w, const struct op *op, uint32_t mask) {
    access_put(w, op, record_of(w, op, mask), mask);
}

void record_part(struct warp_state *w, const struct op *op, uint32_t lanes) {
    struct instr record = record_of(w, op, lanes);
    memset(record.dst, 0, sizeof record.dst);
    record.space = w->note.space;
    record.count = w->note.count;
    if (w->run->loaded->promises) promise_note(w, op, &record);
    trace_put(w->writer, &record, w->note.touch);
}

/* Control */

/* Groups lanes by equal keys: the group with the highest lane comes first. */
static unsigned groups_make(const uint64_t key[WARP_LANES], uint32_t mask, struct path groups[WARP_LANES]) {
    unsigned count = 0;
    while (mask) {
        unsigned highest = log2_floor(mask);
        uint32_t same = 0;
        FOR_LANES (lane, mask) same |= (uint32_t)(key[lane] == key[highest]) << lane;
        groups[count++] = (struct path){.pc = (uint32_t)key[highest], .mask = same};
        mask &= ~same;
    }
    return count;
}

static void branch_diverge(struct warp_state *w, const struct op *op, uint32_t pc, uint32_t taken, uint32_t active) {
    struct path go = {.pc = op->target, .mask = taken}, stay = {.pc = pc + 1, .mask = active & ~taken};
    bool go_first = go.mask > stay.mask;
    struct path groups[2] = {go_first ? go : stay, go_first ? stay : go};
    simt_diverge(w, groups, 2, op->reconverge);
}

static void table_branch(struct warp_state *w, const struct op *op, uint32_t pc, uint32_t taken, uint32_t active) {
    const struct program_function *function = w->frame->code->function;
    const struct op_targets *list = &function->targets[op->target];
    const uint32_t *index = taken ? warp_place(&w->warp, op->a) : NULL;
    uint64_t next[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++) next[i] = pc + 1;
    FOR_LANES (lane, taken) {
        if (index[lane] >= list->count) {
            fault_set(w, op, lane, "index %u is out of range: the list has %u targets", index[lane], list->count);
            return;
        }
        next[lane] = function->target_list[list->first + index[lane]];
    }
    struct path groups[WARP_LANES];
    unsigned count = groups_make(next, active, groups);
    if (count == 1)
        w->paths[w->path_count - 1].pc = groups[0].pc;
    else
        simt_diverge(w, groups, count, op->reconverge);
}

/* Lanes that call different functions execute group by group: each returns to this operation with one target. False if
 * the operation has to be executed again. */
static bool call_indirect(struct warp_state *w, const struct op *op, uint32_t pc, uint32_t mask) {
    uint64_t address[WARP_LANES];
    row_read(w, op->a, op->src_bytes ? op->src_bytes : 8, address);
    struct path groups[WARP_LANES];
    unsigned count = groups_make(address, mask, groups);
    if (count > 1) {
        for (unsigned i = 0; i < count; i++) groups[i].pc = pc;
        simt_diverge(w, groups, count, pc + 1);
        return false;
    }
    const struct function_code *target = call_target(w, address[lowest_bit(mask)]);
    if (!target) {
        fault_set(w, op, lowest_bit(mask), "there is no function at address 0x%llx",
                  (unsigned long long)address[lowest_bit(mask)]);
        return true;
    }
    w->paths[w->path_count - 1].pc = pc + 1;
    call_function(w, op, (uint32_t)(target - w->run->loaded->codes), mask);
    return true;
}

static void strand_or_warp_ended(struct warp_state *w) {
    if (!w->strand_count) {
        copies_end(w);
        barrier_warp_ended(w);
        return;
    }
    strand_end(w);
    cluster_check(w);
}

/* Executes an operation that is not a uniform step; false: the path was only split, and the operation repeats. */
static bool control_step(struct warp_state *w, const struct op *op, enum step_kind kind, uint32_t pc, uint32_t mask,
                         uint32_t active) {
    struct instr record = record_of(w, op, mask);
    struct path *path = &w->paths[w->path_count - 1];
    path->pc = pc + 1;
    switch (kind) {
    case STEP_BRANCH:
    case STEP_LOOP: branch_diverge(w, op, pc, mask, active); break;
    case STEP_TABLE_BRANCH: table_branch(w, op, pc, mask, active); break;
    case STEP_CALL:
        if (mask) call_function(w, op, op->target, mask);
        break;
    case STEP_CALL_INDIRECT:
        if (mask && !call_indirect(w, op, pc, mask)) return false;
        break;
    case STEP_RETURN: simt_return(w, mask); break;
    case STEP_EXIT: simt_exit(w, mask); break;
    default: break;
    }
    if (w->run->failed) return true;
    bool goes_on = simt_settle(w);
    if (record.op == OP_exit) record.op = OP_other;
    if (!goes_on && !w->strand_count) record.op = OP_exit;
    record_put(w, &record);
    if (!goes_on)
        strand_or_warp_ended(w);
    else if (kind == STEP_EXIT)
        cluster_check(w);
    return true;
}

/* Executes a barrier at which all lanes of the path arrive that its guard selects. */
static void barrier_step(struct warp_state *w, const struct op *op, struct path *path, uint32_t mask) {
    struct instr record = record_of(w, op, mask);
    if (++path->pc == path->reconverge) simt_settle(w);
    if (mask)
        barrier_execute(w, op, mask, &record);
    else
        record.op = OP_other;
    record_put(w, &record);
}

/* A function that ends without a return. */
static void implicit_return(struct warp_state *w, uint32_t active) {
    const struct program_function *function = w->frame->code->function;
    simt_return(w, active);
    if (simt_settle(w)) return;
    struct instr record = {.op = OP_exit, .id = function->first_id, .active = active, .conflicts = 1};
    if (!w->strand_count) record_put(w, &record);
    strand_or_warp_ended(w);
}

static bool splits_at_barrier(const struct warp_state *w, uint32_t mask) {
    return mask != w->live && mask && w->run->loaded->independent;
}

/* Runs the top path until it ends, diverges or the quantum is used up; returns the rest of the quantum. */
static NEVER_INLINE unsigned path_run(struct warp_state *w, unsigned quantum) {
    struct path *path = &w->paths[w->path_count - 1];
    const struct function_code *code = w->frame->code;
    const struct op *ops = code->function->ops;
    const struct instr *records = code->function->records;
    const uint32_t stop = path->reconverge, active = path->mask;
    const unsigned lanes = (unsigned)__builtin_popcount(active);
    uint32_t pc = path->pc;
    uint64_t threads = 0;
    while (quantum) {
        const struct step *step = &code->steps[pc];
        const struct op *op = &ops[pc];
        if (step->straight) {
            uint32_t end = pc + (step->straight < quantum ? step->straight : quantum);
            if (stop - pc < end - pc) end = stop;
            if (w->writer) trace_put_static(w->writer, records[pc].id, active, end - pc);
            quantum -= end - pc;
            w->executed += end - pc;
            threads += (uint64_t)lanes * (end - pc);
            for (; pc < end; pc++, step++, op++) step->handler(&w->warp, op, active);
            if (pc == stop) break;
            continue;
        }
        if (UNLIKELY(step->kind == STEP_END)) {
            implicit_return(w, active);
            goto left;
        }
        uint32_t mask = active & warp_predicate(&w->warp, op->guard);
        if (step->kind == STEP_PLAIN) {
            if (LIKELY(mask)) step->handler(&w->warp, op, mask);
            if (w->writer) trace_put_static(w->writer, records[pc].id, mask, 1);
            pc++;
        } else if (step->kind == STEP_ACCESS) {
            if (mask) step->handler(&w->warp, op, mask);
            if (UNLIKELY(w->run->failed)) goto left;
            if (w->writer) access_put(w, op, records[pc], mask);
            pc++;
            if (UNLIKELY(w->strand_count)) {
                path->pc = pc;
                if (w->run->changed & CHANGED_SHARED && pc != stop && strand_store(w)) {
                    w->executed++;
                    threads += (unsigned)__builtin_popcount(mask);
                    quantum--;
                    goto left;
                }
            }
        } else if (step->kind == STEP_BRANCH && (mask == active || !mask || op->target == pc + 1)) {
            if (w->writer) trace_put_static(w->writer, records[pc].id, mask, 1);
            pc = mask ? op->target : pc + 1;
        } else if (step->kind == STEP_LOOP && (mask == active || !mask)) {
            if (w->writer) trace_put_static(w->writer, records[pc].id, mask, 1);
            path->pc = pc = mask ? op->target : pc + 1;
            w->executed++;
            threads += (unsigned)__builtin_popcount(mask);
            quantum--;
            if (pc == stop) break;
            if (mask && poll_repeats(w, active)) goto left;
            if (mask && poll_yields(w)) {
                quantum = 0;
                goto left;
            }
            path = &w->paths[w->path_count - 1]; /* a repetition may have moved it */
            continue;
        } else if (step->kind == STEP_BARRIER && LIKELY(!splits_at_barrier(w, mask))) {
            path->pc = pc;
            barrier_step(w, op, path, mask);
            w->executed++;
            threads += (unsigned)__builtin_popcount(mask);
            quantum--;
            goto left;
        } else if (step->kind == STEP_MEET && (mask == w->live || !mask || strand_complete(w, op, mask))) {
            if (LIKELY(mask)) step->handler(&w->warp, op, mask);
            if (w->writer) trace_put_static(w->writer, records[pc].id, mask, 1);
            pc++;
        } else if (step->kind == STEP_ALIGNED && (mask == w->live || !mask)) {
            if (mask) step->handler(&w->warp, op, mask);
            if (UNLIKELY(w->run->failed)) goto left;
            if (w->writer) access_put(w, op, records[pc], mask);
            pc++;
        } else if (step->kind == STEP_MEET || step->kind == STEP_BARRIER || step->kind == STEP_ALIGNED) {
            path->pc = pc;
            strand_await(w, op, mask);
            goto left;
        } else if (step->kind == STEP_ASYNC) {
            w->pause = PAUSE_NONE;
            if (mask)
                step->handler(&w->warp, op, mask);
            else if (w->writer)
                record_access(w, op, mask);
            if (UNLIKELY(w->run->failed)) goto left;
            if (w->pause == PAUSE_REPEAT) {
                path->pc = pc;
                quantum = 0;
                goto left;
            }
            pc++;
            if (w->pause == PAUSE_YIELD) quantum = 1;
        } else {
            if (control_step(w, op, step->kind, pc, mask, active)) {
                w->executed++;
                threads += (unsigned)__builtin_popcount(mask);
                quantum = step->kind == STEP_YIELD ? 0 : quantum - 1;
            }
            goto left;
        }
        w->executed++;
        threads += (unsigned)__builtin_popcount(mask);
        quantum--;
        if (pc == stop) break;
    }
    path->pc = pc;
    simt_settle(w);
    if (UNLIKELY(w->strand_count) && pc == stop) strand_converge(w);
left:
    w->run->counts.thread_instructions += threads;
    return quantum;
}

void warp_run(struct warp_state *w, unsigned quantum) {
    struct run *run = w->run;
    uint64_t before = w->executed;
    run->changed_before |= run->changed;
    run->changed = 0;
    if (w->path_count <= 1 && !w->strand_count)
        w->together = before;
    else if (run->loaded->independent && !w->probed)
        strand_rotate(w);
    while (quantum && w->status == WARP_READY && !run->failed) quantum = path_run(w, quantum);
    if (run->changed & CHANGED_ANY) w->quiet = 0;
    if (run->changed & (CHANGED_SHARED | CHANGED_CONTROL)) w->idle = 0;
    run->counts.warp_instructions += w->executed - before;
}

const struct op *warp_next(const struct warp_state *w, uint32_t *mask) {
    const struct program_function *function = w->frame->code->function;
    const struct path *path = &w->paths[w->path_count - 1];
    if (path->pc >= function->op_count) return NULL;
    const struct op *op = &function->ops[path->pc];
    *mask = path->mask & warp_predicate(&w->warp, op->guard);
    return op;
}

/* Strands that meet */

/* The path continues after its operation, for which `record` is written. */
static void meet_end(struct warp_state *w, struct path *path, const struct instr *record) {
    path->pc++;
    simt_settle(w);
    record_put(w, record);
    w->executed++;
    w->run->counts.thread_instructions += (unsigned)__builtin_popcount(record->active);
}

void warp_arrive(struct warp_state *w, const struct op *op, bool last) {
    struct path *path = &w->paths[w->path_count - 1];
    const uint32_t mask = path->mask;
    if (last) {
        barrier_step(w, op, path, mask);
        w->executed++;
        w->run->counts.thread_instructions += (unsigned)__builtin_popcount(mask);
        return;
    }
    struct instr record = record_of(w, op, mask);
    record.op = OP_other;
    barrier_join(w, op, mask);
    meet_end(w, path, &record);
}

void warp_meet(struct warp_state *w, const struct op *op, const struct meeting *meeting) {
    struct path *path = &w->paths[w->path_count - 1];
    struct instr record = record_of(w, op, path->mask);
    w->meeting = meeting;
    w->frame->code->steps[path->pc].handler(&w->warp, op, path->mask);
    w->meeting = NULL;
    meet_end(w, path, &record);
}
