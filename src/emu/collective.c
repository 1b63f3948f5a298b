/* Operations across the lanes of a warp (shuffles, votes, matches, reductions) and access to the environment: changing
 * special registers, address spaces, the stack.
 *
 * Participants of a .sync operation are the lanes of the member mask that execute it now: with a SIMT stack there is
 * nothing to wait for. With independent thread scheduling the lanes that meet may execute different operations with the
 * same mask (strand.c); their operands are then in `meeting`. Lanes with different masks (tiles of cooperative groups) form separate groups. A shuffle from a
 * lane that does not participate returns the lane's own value, where PTX leaves it undefined. */
#include "emu/cta.h"
#include "emu/real.h"

#include <string.h>

/* With a compile-time width each of these is a short loop. */
static inline void row_load(const uint8_t *row, unsigned bytes, uint64_t value[WARP_LANES]) {
    for (unsigned i = 0; i < WARP_LANES; i++) {
        value[i] = 0;
        memcpy(&value[i], row + (size_t)i * bytes, bytes < 8 ? bytes : 8);
    }
}

static inline void row_store(uint8_t *row, unsigned bytes, const uint64_t value[WARP_LANES], uint32_t mask) {
    if (mask == UINT32_MAX)
        for (unsigned i = 0; i < WARP_LANES; i++) memcpy(row + (size_t)i * bytes, &value[i], bytes < 8 ? bytes : 8);
    else
        FOR_LANES (lane, mask) memcpy(row + (size_t)lane * bytes, &value[lane], bytes < 8 ? bytes : 8);
}

void row_read(const struct warp_state *w, uint32_t place, unsigned bytes, uint64_t value[WARP_LANES]) {
    const uint8_t *row = warp_place(&w->warp, place);
    bytes == 4 ? row_load(row, 4, value) : bytes == 8 ? row_load(row, 8, value) : row_load(row, bytes, value);
}

void row_write(struct warp_state *w, uint32_t place, unsigned bytes, const uint64_t value[WARP_LANES], uint32_t mask) {
    uint8_t *row = warp_place(&w->warp, place);
    if (bytes == 4)
        row_store(row, 4, value, mask);
    else if (bytes == 8)
        row_store(row, 8, value, mask);
    else
        row_store(row, bytes, value, mask);
}

static void row_fill(struct warp_state *w, uint32_t place, unsigned bytes, uint64_t value, uint32_t mask) {
    uint64_t row[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++) row[i] = value;
    row_write(w, place, bytes, row, mask);
}

static unsigned dst_bytes(const struct op *op) { return op->dst_bytes ? op->dst_bytes : ptx_type_bytes(op->element); }

/* Participating lanes: the active lanes of the member mask `place`, if there is one. */
static uint32_t members(const struct warp_state *w, uint32_t place, uint32_t mask) {
    if (place == PLACE_NONE) return mask;
    return (w->meeting ? w->meeting->lanes : mask) & lane_u32(w, place, mask);
}

/* The operand that other lanes see. */
static const void *common_row(const struct warp_state *w, const struct op *op) {
    return w->meeting ? w->meeting->row : warp_place(&w->warp, op->a);
}

void collective_gather(struct warp_state *w, const struct op *op, uint32_t lanes, struct meeting *meeting) {
    meeting->lanes |= lanes;
    if (op->operation == OPERATION_vote) {
        meeting->votes |= warp_predicate(&w->warp, op->a) & lanes;
    } else if (op->operation != OPERATION_elect && op->operation != OPERATION_warp_sync) {
        unsigned bytes = op->operation == OPERATION_match ? ptx_type_bytes(op->element) : 4;
        const uint8_t *row = warp_place(&w->warp, op->a);
        FOR_LANES (lane, lanes) memcpy((uint8_t *)meeting->row + lane * bytes, row + lane * bytes, bytes);
    }
}

/* Shuffles (PTX ISA, shfl.sync): the source lane, and whether it is within the segment. */
static bool shuffle_source(enum shfl mode, unsigned lane, uint32_t b, uint32_t c, unsigned *source) {
    unsigned bound = c & 31, segment = c >> 8 & 31;
    unsigned highest = (lane & segment) | (bound & ~segment), lowest = lane & segment;
    int from = 0;
    switch (mode) {
    case SHFL_UP: from = (int)lane - (int)(b & 31); break;
    case SHFL_DOWN: from = (int)(lane + (b & 31)); break;
    case SHFL_BFLY: from = (int)(lane ^ (b & 31)); break;
    case SHFL_IDX: from = (int)(lowest | ((b & 31) & ~segment)); break;
    }
    bool within = mode == SHFL_UP ? from >= (int)highest : from <= (int)highest;
    *source = within ? (unsigned)from & 31 : lane;
    return within;
}

static void execute_shfl(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    const uint32_t *a = common_row(w, op), *b = warp_place(warp, op->b), *c = warp_place(warp, op->c);
    uint32_t here = op->modifiers & MOD_SYNC ? members(w, op->d, mask) : mask, result[WARP_LANES], valid = 0;
    FOR_LANES (lane, mask) {
        unsigned source;
        valid |= (uint32_t)shuffle_source(op->mode, lane, b[lane], c[lane], &source) << lane;
        result[lane] = a[here >> source & 1 ? source : lane];
    }
    uint32_t *row = op->dst == PLACE_NONE ? NULL : warp_place(warp, op->dst);
    FOR_LANES (lane, row ? mask : 0) row[lane] = result[lane];
    if (op->dst2 != PLACE_NONE) warp_set_predicate(warp, op->dst2, valid, mask);
}

static void execute_vote(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint32_t here = op->modifiers & MOD_SYNC ? members(w, op->b, mask) : mask;
    uint32_t votes = (w->meeting ? w->meeting->votes : warp_predicate(warp, op->a)) & here;
    bool result = false;
    switch ((enum vote)op->mode) {
    case VOTE_BALLOT: row_fill(w, op->dst, 4, votes, mask); return;
    case VOTE_ALL: result = votes == here; break;
    case VOTE_ANY: result = votes != 0; break;
    case VOTE_UNI: result = votes == here || votes == 0; break;
    }
    warp_set_predicate(warp, op->dst, result ? UINT32_MAX : 0, mask);
}

static void execute_match(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t value[WARP_LANES], result[WARP_LANES] = {0};
    row_load(common_row(w, op), ptx_type_bytes(op->element), value);
    uint32_t here = members(w, op->b, mask), all = 0;
    FOR_LANES (lane, here) {
        FOR_LANES (other, here) result[lane] |= (uint64_t)(value[other] == value[lane]) << other;
        all |= (uint32_t)(result[lane] == here) << lane;
    }
    bool agree = all == here;
    if (op->modifiers & MOD_ALL)
        for (unsigned i = 0; i < WARP_LANES; i++) result[i] = agree ? here : 0;
    if (op->dst != PLACE_NONE) row_write(w, op->dst, 4, result, mask);
    if (op->dst2 != PLACE_NONE) warp_set_predicate(warp, op->dst2, agree ? UINT32_MAX : 0, mask);
}

/* Numbers win over NaN, unless .NaN is given; a NaN result is canonical. */
static uint32_t reduce_f32(const struct op *op, uint32_t x, uint32_t y) {
    const uint32_t magnitude = op->modifiers & MOD_ABS ? INT32_MAX : UINT32_MAX;
    const f32 r =
        f32_extreme(f32_of(x & magnitude), f32_of(y & magnitude), op->mode == ATOMIC_MAX, op->modifiers & MOD_NAN_WINS);
    return f32_bits(f32_canonical(r));
}

static uint32_t reduce(const struct op *op, uint32_t x, uint32_t y) {
    if (op->element == PTX_f32) return reduce_f32(op, x, y);
    bool less = op->element == PTX_s32 ? (int32_t)x < (int32_t)y : x < y;
    switch ((enum atomic)op->mode) {
    case ATOMIC_ADD: return x + y;
    case ATOMIC_MIN: return less ? x : y;
    case ATOMIC_MAX: return less ? y : x;
    case ATOMIC_AND: return x & y;
    case ATOMIC_OR: return x | y;
    default: return x ^ y;
    }
}

static void execute_redux(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint32_t here = members(w, op->b, mask);
    if (!here) return;
    const uint32_t *a = common_row(w, op);
    uint32_t sum = a[lowest_bit(here)];
    if (op->element == PTX_f32) sum = reduce(op, sum, sum); /* one lane alone */
    FOR_LANES (lane, here & (here - 1)) sum = reduce(op, sum, a[lane]);
    row_fill(w, op->dst, 4, sum, mask);
}

static void execute_elect(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint32_t here = members(w, op->a, mask), leader = here & -here;
    if (op->dst != PLACE_NONE) row_fill(w, op->dst, 4, here ? lowest_bit(here) : 0, mask);
    if (op->dst2 != PLACE_NONE) warp_set_predicate(warp, op->dst2, leader, mask);
}

/* Executes one group of lanes with equal member masks at a time; a group writes only its own lanes' registers. */
static void by_group(op_handler *execute, uint32_t place, struct warp *warp, const struct op *op, uint32_t mask) {
    const uint32_t *named = warp_place(warp, place);
    for (uint32_t rest = mask, group; rest; rest &= ~group) {
        const uint32_t first = named[lowest_bit(rest)];
        group = 0;
        for (unsigned lane = 0; lane < WARP_LANES; lane++) group |= (uint32_t)(named[lane] == first) << lane;
        group &= rest;
        execute(warp, op, group);
    }
}
#define BY_GROUP(name, place) \
    static void groups_##name(struct warp *warp, const struct op *op, uint32_t mask) { \
        by_group(execute_##name, op->place, warp, op, mask); \
    }
BY_GROUP(shfl, d)
BY_GROUP(vote, b)
BY_GROUP(match, b)
BY_GROUP(redux, b)
BY_GROUP(elect, a)

static void execute_activemask(struct warp *warp, const struct op *op, uint32_t mask) {
    row_fill(warp_state(warp), op->dst, dst_bytes(op), mask, mask);
}

/* Changing special registers. Time is the number of executed instructions: of the warp, or of the whole run. */
static uint64_t special_value(const struct warp_state *w, enum special special, unsigned number) {
    uint64_t timer = w->run->counts.warp_instructions, workspace = w->run->launch->workspace;
    switch (special) {
    case SPECIAL_gridid: return w->run->device->launches;
    case SPECIAL_clock:
    case SPECIAL_clock64: return w->executed;
    case SPECIAL_clock_hi: return w->executed >> 32;
    case SPECIAL_globaltimer:
    case SPECIAL_globaltimer_lo: return timer;
    case SPECIAL_globaltimer_hi: return timer >> 32;
    case SPECIAL_envreg: return number == 1 ? workspace >> 32 : number == 2 ? (uint32_t)workspace : 0;
    default: return 0;
    }
}

static void execute_special(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    if (op->immediate >= SPECIAL_clock && op->immediate <= SPECIAL_globaltimer_hi) w->run->changed |= CHANGED_CLOCK;
    row_fill(w, op->dst, dst_bytes(op), special_value(w, (enum special)op->immediate, op->mode), mask);
}

/* Address spaces */

static uint64_t window_of(enum ptx_space space) {
    return space == PTX_SPACE_SHARED  ? WINDOW_SHARED
           : space == PTX_SPACE_LOCAL ? WINDOW_LOCAL
           : space == PTX_SPACE_PARAM ? WINDOW_PARAM
                                      : 0;
}

static void execute_mov_frame(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t window = op->space == PTX_SPACE_GENERIC ? WINDOW_LOCAL : 0;
    row_fill(w, op->dst, dst_bytes(op), window + w->frame->local_base + (uint64_t)op->immediate, mask);
}

static void execute_cvta(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t value[WARP_LANES], window = window_of(op->space);
    unsigned bytes = ptx_type_bytes(op->element);
    row_read(w, op->a, op->src_bytes ? op->src_bytes : bytes, value);
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t at = bytes == 4 ? address_widen(value[i]) : value[i];
        if (op->modifiers & MOD_TO)
            value[i] = window ? at & ~WINDOW_MASK : value[i];
        else
            value[i] = bytes == 4 ? address_narrow(value[i] | window) : value[i] | window;
    }
    row_write(w, op->dst, op->dst_bytes ? op->dst_bytes : bytes, value, mask);
}

static void execute_isspacep(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t value[WARP_LANES];
    const unsigned bytes = op->src_bytes ? op->src_bytes : 8;
    row_read(w, op->a, bytes, value);
    const struct program *program = w->run->loaded->program;
    uint32_t holds = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        bool variable = value[i] - program->image_address < program->image_bytes;
        uint64_t at = bytes == 4 ? address_widen(value[i]) : value[i];
        enum ptx_space space = space_resolve(PTX_SPACE_GENERIC, &at);
        for (uint32_t v = 0; variable && v < program->variable_count; v++)
            if (value[i] - program->variables[v].address < program->variables[v].size_bytes)
                space = program->variables[v].space;
        bool in = space == op->space;
        if (space == PTX_SPACE_SHARED && !(op->modifiers & MOD_CLUSTER)) in &= !cluster_is_remote(w, at);
        holds |= (uint32_t)in << i;
    }
    warp_set_predicate(warp, op->dst, holds, mask);
}

/* The stack. Space that one lane needs is allocated for all: addresses are the same in every lane. */

static void execute_alloca(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t size[WARP_LANES], most = 0,
                               align = op->immediate > FRAME_ALIGN_BYTES ? (uint64_t)op->immediate : FRAME_ALIGN_BYTES;
    row_read(w, op->a, op->src_bytes ? op->src_bytes : 8, size);
    FOR_LANES (lane, mask) most = max_u64(most, size[lane]);
    uint64_t base = div_up(w->frame->local_top, align) * align;
    if (most > STACK_LIMIT_BYTES || base + most > w->frames[0].code->function->frame_bytes + STACK_LIMIT_BYTES) {
        fault_set(w, op, lowest_bit(mask), "alloca of %llu bytes: more than %u KiB of stack", (unsigned long long)most,
                  STACK_LIMIT_BYTES / 1024);
        return;
    }
    w->frame->local_top = (uint32_t)(div_up(base + most, 4) * 4);
    frame_reserve_local(w, w->frame->local_top);
    row_fill(w, op->dst, dst_bytes(op), base, mask);
}

static void execute_stacksave(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    row_fill(w, op->dst, dst_bytes(op), w->frame->local_top, mask);
}

/* Only if all lanes of the function do it: allocations of the others may be above. */
static void execute_stackrestore(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    if (mask != (w->frame->mask & w->live)) return;
    uint64_t saved[WARP_LANES], most = 0;
    row_read(w, op->a, op->src_bytes ? op->src_bytes : 8, saved);
    FOR_LANES (lane, mask) most = max_u64(most, saved[lane]);
    uint64_t floor = w->frame->local_base + w->frame->code->function->frame_bytes;
    if (most >= floor && most <= w->frame->local_top) w->frame->local_top = (uint32_t)most;
}

static void execute_trap(struct warp *warp, const struct op *op, uint32_t mask) {
    fault_set(warp_state(warp), op, lowest_bit(mask), "the program executed trap");
}

static void execute_nothing(struct warp *warp, const struct op *op, uint32_t mask) { (void)warp, (void)op, (void)mask; }

op_handler *collective_handler_find(const struct op *op) {
    static op_handler *const handlers[OPERATION_COUNT] = {
        [OPERATION_shfl] = groups_shfl,
        [OPERATION_vote] = groups_vote,
        [OPERATION_match] = groups_match,
        [OPERATION_redux] = groups_redux,
        [OPERATION_elect] = groups_elect,
        [OPERATION_activemask] = execute_activemask,
        [OPERATION_special] = execute_special,
        [OPERATION_mov_frame] = execute_mov_frame,
        [OPERATION_cvta] = execute_cvta,
        [OPERATION_isspacep] = execute_isspacep,
        [OPERATION_alloca] = execute_alloca,
        [OPERATION_stacksave] = execute_stacksave,
        [OPERATION_stackrestore] = execute_stackrestore,
        [OPERATION_trap] = execute_trap,
        [OPERATION_brkpt] = execute_nothing,
        [OPERATION_nop] = execute_nothing,
        [OPERATION_warp_sync] = execute_nothing,
        [OPERATION_fence] = execute_nothing,
        [OPERATION_prefetch] = execute_nothing,
        [OPERATION_nanosleep] = execute_nothing,
    };
    if (op->operation == OPERATION_shfl && !(op->modifiers & MOD_SYNC)) return execute_shfl;
    if (op->operation == OPERATION_vote && !(op->modifiers & MOD_SYNC)) return execute_vote;
    return handlers[op->operation];
}
