/* Calls: a called function gets its own window of registers and frame of local memory, above its caller's.
 *
 * Arguments and results are copied according to the lists built by lowering. The stack is limited to STACK_LIMIT_BYTES
 * per thread; a call uses its frame and its registers (which a real GPU would spill).
 *
 * Local memory starts as zeros and is not cleared between CTAs; neither are the registers of a called function. */
#include "emu/cta.h"

#include <stdlib.h>
#include <string.h>

static uint32_t round_up(uint32_t x, uint32_t to) { return (x + to - 1) / to * to; }

static uint8_t *grow_lines(uint8_t *old, size_t old_bytes, size_t bytes) {
    uint8_t *fresh = mem_alloc_lines(bytes, 1);
    if (old_bytes) memcpy(fresh, old, old_bytes);
    free(old);
    return fresh;
}

/* Updates the bases of places after the running frame has changed. */
void frame_enter(struct warp_state *w) {
    w->frame = &w->frames[w->frame_count - 1];
    const struct program_function *function = w->frame->code->function;
    w->warp.base[PLACE_REGISTER] = w->registers + w->frame->window;
    w->warp.base[PLACE_CONSTANT] = function->constants;
    w->warp.elements = function->element_list;
    w->warp.predicates = (uint32_t *)(void *)(w->registers + w->frame->window + round_up(function->window_bytes, 64));
}

bool frame_reserve_local(struct warp_state *w, uint64_t top) {
    uint64_t limit = (uint64_t)w->frames[0].local_top + STACK_LIMIT_BYTES;
    if (w->frame_count > 1 && top > limit) return false;
    if (top > w->local_room) {
        uint32_t room = (uint32_t)max_u64(top, 2 * (uint64_t)w->local_room);
        w->local = grow_lines(w->local, (size_t)w->local_room * WARP_LANES, (size_t)room * WARP_LANES);
        w->local_room = room;
    }
    return true;
}

bool frame_push(struct warp_state *w, const struct function_code *code, const struct op *call, uint32_t mask) {
    const struct program_function *function = code->function;
    struct frame frame = {.code = code, .call = call, .mask = mask, .first_path = w->path_count};
    if (w->frame_count) {
        frame.window = (uint32_t)max_u64(w->frame->window_end, strands_window_end(w));
        frame.local_base = round_up(w->frame->local_top, FRAME_ALIGN_BYTES);
    }
    uint64_t local_top = (uint64_t)frame.local_base + function->frame_bytes;
    frame.window_end = frame.window + round_up(function->window_bytes, 64) + round_up(function->predicates * 4 + 4, 64);
    frame.spilled = w->frame_count ? w->frame->spilled + frame.window_end - frame.window : 0;
    if (w->frame_count && local_top + frame.spilled / WARP_LANES > (uint64_t)w->frames[0].local_top + STACK_LIMIT_BYTES)
        return false;
    frame.local_top = round_up((uint32_t)local_top, 4);
    if (w->frame_count == w->frame_room) {
        w->frame_room *= 2;
        w->frames = mem_grow(w->frames, w->frame_room, sizeof *w->frames);
    }
    w->frames[w->frame_count++] = frame;
    if (frame.window_end > w->registers_room) {
        uint32_t room = (uint32_t)max_u64(frame.window_end, 2 * (uint64_t)w->registers_room);
        w->registers = grow_lines(w->registers, w->registers_room, room);
        w->registers_room = room;
    }
    bool fits = frame_reserve_local(w, frame.local_top);
    assert(fits);
    (void)fits;
    frame_enter(w);
    w->warp.predicates[0] = UINT32_MAX;
    return true;
}

/* One side of a copy: a row of registers, or bytes in each lane's frame. */
struct side {
    uint8_t *row;
    uint32_t local;
};

static struct side side_of(struct warp_state *w, const struct frame *frame, bool is_place, uint32_t where) {
    if (!is_place) return (struct side){.local = frame->local_base + where};
    uint32_t offset = where & ((UINT32_C(1) << PLACE_SHIFT) - 1);
    switch (where >> PLACE_SHIFT) {
    case PLACE_REGISTER: return (struct side){.row = w->registers + frame->window + offset};
    case PLACE_CONSTANT: return (struct side){.row = frame->code->function->constants + offset};
    default: return (struct side){.row = w->warp.base[PLACE_SPECIAL] + offset};
    }
}

static void lane_move(struct warp_state *w, struct side side, unsigned lane, uint8_t *data, uint32_t bytes,
                      bool write) {
    if (!side.row) {
        local_copy(w, lane, side.local, data, bytes, write);
        return;
    }
    uint8_t *at = side.row + (size_t)lane * (bytes < 2 ? 2 : bytes);
    write ? memcpy(at, data, bytes) : memcpy(data, at, bytes);
}

static void value_copy(struct warp_state *w, struct side from, struct side to, uint32_t bytes, uint32_t mask) {
    if (!from.row && !to.row && mask == UINT32_MAX && !((from.local | to.local | bytes) & 3)) {
        memcpy(w->local + local_offset(to.local, 0), w->local + local_offset(from.local, 0),
               (size_t)bytes * WARP_LANES);
        return;
    }
    for (uint32_t done = 0; done < bytes;) {
        uint8_t data[64];
        uint32_t part = (uint32_t)min_u64(bytes - done, sizeof data);
        FOR_LANES (lane, mask) {
            lane_move(w, from, lane, data, part, false);
            lane_move(w, to, lane, data, part, true);
        }
        from.local += part, to.local += part, done += part;
    }
}

static uint32_t *predicates_of(const struct warp_state *w, const struct frame *frame) {
    uint32_t after = round_up(frame->code->function->window_bytes, 64);
    return (uint32_t *)(void *)(w->registers + frame->window + after);
}

static void predicate_copy(const struct warp_state *w, const struct frame *from, uint32_t source,
                           const struct frame *to, uint32_t destination, uint32_t mask) {
    uint32_t value = predicates_of(w, from)[source >> 1] ^ -(source & 1);
    uint32_t *at = &predicates_of(w, to)[destination >> 1];
    *at = (*at & ~mask) | (value & mask);
}

static const struct op_call *call_lists(const struct frame *caller, const struct op *call) {
    return &caller->code->function->calls[call->arguments];
}

static void arguments_copy(struct warp_state *w, const struct frame *caller, const struct frame *callee,
                           const struct op *call) {
    const struct op_call *lists = call_lists(caller, call);
    const struct op_argument *argument = &caller->code->function->arguments[lists->first];
    for (uint32_t i = 0; i < lists->argument_count; i++, argument++)
        if (argument->is_predicate)
            predicate_copy(w, caller, argument->caller, callee, argument->callee, callee->mask);
        else
            value_copy(w, side_of(w, caller, argument->caller_is_place, argument->caller),
                       side_of(w, callee, argument->callee_is_place, argument->callee), argument->bytes, callee->mask);
}

static void returns_copy(struct warp_state *w, const struct frame *caller, const struct frame *callee,
                         const struct op *call) {
    const struct op_call *lists = call_lists(caller, call);
    const struct op_argument *argument = &caller->code->function->arguments[lists->first + lists->argument_count];
    for (uint32_t i = 0; i < lists->return_count; i++, argument++)
        if (argument->is_predicate)
            predicate_copy(w, callee, argument->callee, caller, argument->caller, callee->mask & w->live);
        else
            value_copy(w, side_of(w, callee, argument->callee_is_place, argument->callee),
                       side_of(w, caller, argument->caller_is_place, argument->caller), argument->bytes,
                       callee->mask & w->live);
}

void frame_pop(struct warp_state *w) {
    struct frame callee = *w->frame;
    w->frame_count--;
    frame_enter(w);
    returns_copy(w, w->frame, &callee, callee.call);
}

void call_function(struct warp_state *w, const struct op *op, uint32_t function, uint32_t mask) {
    const struct function_code *code = &w->run->loaded->codes[function];
    if (code->function->problem) { /* through an address that no instruction names */
        fault_set(w, op, lowest_bit(mask), "calls `%s`, which cannot be executed", code->function->name);
        return;
    }
    if (!frame_push(w, code, op, mask)) {
        fault_set(w, op, lowest_bit(mask), "calls are nested too deeply: more than %u KiB of stack at %u calls",
                  STACK_LIMIT_BYTES / 1024, w->frame_count - 1);
        return;
    }
    arguments_copy(w, w->frame - 1, w->frame, op);
    if (code->function->builtin) {
        builtin_run(w, op, w->frame, mask);
        if (!w->run->failed) frame_pop(w);
        return;
    }
    simt_push(w, (struct path){0, NO_PC, mask});
}

const struct function_code *call_target(const struct warp_state *w, uint64_t address) {
    const struct program *program = w->run->loaded->program;
    if (program->module->address_bits == 32) address = address_widen(address);
    uint64_t index = (address - FUNCTION_ADDRESS) / 16;
    if ((address & 15) || index >= program->function_count) return NULL;
    const struct function_code *code = &w->run->loaded->codes[index];
    return !code->function->is_kernel && (code->function->defined || code->function->builtin) ? code : NULL;
}
