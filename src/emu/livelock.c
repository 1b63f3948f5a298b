/* Livelock: the proof that no warp of a kernel makes progress any more.
 *
 * While no thread stores, changes memory by an atomic, arrives at a barrier or exits, the future of a warp follows from
 * its own state (registers, local memory, SIMT stack). If the state of every warp that does not wait at a barrier
 * recurs, none of them ever leaves its loop. Recurrence is detected by comparison with the state after a power of two of
 * instructions (Brent 1980).
 *
 * Not detected: loops that count their iterations in a register or read a clock. They may end. */
#include "emu/cta.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 8192, NAMED_WARPS = 4 };

struct state {
    uint32_t carry, live, path_count, frame_count, registers_room, local_room;
    struct path *paths;
    struct frame *frames;
    uint8_t *registers, *local;
};

static void *copy_of(const void *from, size_t bytes) {
    void *to = mem_alloc(bytes + 1, 1);
    if (bytes) memcpy(to, from, bytes);
    return to;
}

static bool same(const void *a, const void *b, size_t bytes) { return !bytes || memcmp(a, b, bytes) == 0; }

static void state_release(struct state *s) {
    free(s->paths);
    free(s->frames);
    free(s->registers);
    free(s->local);
}

static void state_save(const struct warp_state *w, struct state *s) {
    state_release(s);
    *s = (struct state){
        .carry = w->warp.carry,
        .live = w->live,
        .path_count = w->path_count,
        .frame_count = w->frame_count,
        .registers_room = w->registers_room,
        .local_room = w->local_room,
        .paths = copy_of(w->paths, w->path_count * sizeof *w->paths),
        .frames = copy_of(w->frames, w->frame_count * sizeof *w->frames),
        .registers = copy_of(w->registers, w->registers_room),
        .local = copy_of(w->local, (size_t)w->local_room * WARP_LANES),
    };
}

static bool state_recurs(const struct warp_state *w, const struct state *s) {
    return s->path_count == w->path_count && s->frame_count == w->frame_count &&
           same(s->paths, w->paths, w->path_count * sizeof *w->paths) && s->carry == w->warp.carry &&
           s->live == w->live && s->registers_room == w->registers_room && s->local_room == w->local_room &&
           same(s->frames, w->frames, w->frame_count * sizeof *w->frames) &&
           same(s->registers, w->registers, w->registers_room) &&
           same(s->local, w->local, (size_t)w->local_room * WARP_LANES);
}

/* The operation that the warp executes next; NULL at the end of a function. */
static const struct op *next_op(const struct warp_state *w) {
    const struct program_function *function = w->frame->code->function;
    uint32_t pc = w->paths[w->path_count - 1].pc;
    return pc < function->op_count ? &function->ops[pc] : NULL;
}

/* Runs the warp until its state recurs. Returns the instructions of one repetition, or 0 if it does not recur. */
static unsigned period_find(struct warp_state *w) {
    struct state saved = {0};
    unsigned period = 0, at = 0;
    for (unsigned step = 0; step < STEPS_MAX && !period; step++) {
        if (!(step & (step - 1))) state_save(w, &saved), at = step;
        const struct op *op = next_op(w);
        if (op && op->operation == OPERATION_special) break; /* may be a clock */
        warp_run(w, 1);
        if (w->run->failed || w->status != WARP_READY || run_progressed(w->run)) break;
        if (state_recurs(w, &saved)) period = step + 1 - at;
    }
    state_release(&saved);
    return period;
}

/* The report */

struct text {
    char bytes[768];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, arguments);
    va_end(arguments);
    text->used = min_u64(text->used + (size_t)added, sizeof text->bytes - 1);
}

/* A poll: a load or an atomic on memory that other threads can change. */
struct poll {
    const struct op *op;
    enum ptx_space space;
    uint64_t address, value;
    unsigned lane, bytes;
};

static bool poll_make(struct warp_state *w, struct poll *poll) {
    const struct op *op = next_op(w);
    if (!op || (op->operation != OPERATION_ld && op->operation != OPERATION_atom)) return false;
    uint32_t mask = w->paths[w->path_count - 1].mask & warp_predicate(&w->warp, op->guard);
    if (!mask || op->modifiers & MOD_FRAME) return false;
    uint64_t address[WARP_LANES];
    access_addresses(w, op, mask, address);
    *poll = (struct poll){.op = op, .lane = lowest_bit(mask), .bytes = ptx_type_bytes(op->element)};
    poll->address = address[poll->lane];
    poll->space = space_resolve(op->space, &poll->address);
    if (poll->space != PTX_SPACE_GLOBAL && poll->space != PTX_SPACE_SHARED) return false;
    unsigned bytes = poll->bytes < sizeof poll->value ? poll->bytes : (unsigned)sizeof poll->value;
    return space_copy(w, poll->lane, poll->space, poll->address, &poll->value, bytes, ACCESS_READ);
}

/* The first poll of the loop; without any, the next operation. */
static struct poll poll_find(struct warp_state *w) {
    unsigned period = period_find(w);
    struct poll poll;
    for (unsigned step = 0; step < period; step++, warp_run(w, 1))
        if (poll_make(w, &poll)) return poll;
    const struct op *op = next_op(w);
    return (struct poll){.op = op ? op : w->frame->code->function->ops,
                         .lane = lowest_bit(w->paths[w->path_count - 1].mask)};
}

static void poll_describe(const struct poll *poll, struct text *text) {
    if (!poll->bytes)
        text_add(text, "loops without polling memory");
    else
        text_add(text, "polls %u bytes of %s memory at 0x%" PRIx64 " (0x%" PRIx64 ")", poll->bytes,
                 poll->space == PTX_SPACE_SHARED ? "shared" : "global", poll->address, poll->value);
}

static void warp_name(const struct warp_state *w, struct text *text) {
    const uint32_t *cta = w->warp.cta->ctaid;
    text_add(text, "; block (%u,%u,%u) warp %u ", cta[0], cta[1], cta[2], w->index);
}

static uint64_t warps_count(const struct run *run, const struct cta *ctas, uint32_t count, enum warp_status status) {
    uint64_t warps = 0;
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < run->warps; i++) warps += ctas[c].warps[i].status == status;
    return warps;
}

static void report(struct run *run, struct cta *ctas, uint32_t count, uint64_t instructions) {
    struct text text = {0};
    struct poll first = {0};
    struct warp_state *spins = NULL;
    unsigned spinning = 0, waiting = 0;
    text_add(&text,
             "livelock: no store, change by an atomic, barrier arrival or exit in %" PRIu64
             " instructions of each warp; %" PRIu64 " warps repeat a loop, %" PRIu64 " wait at barriers",
             instructions, warps_count(run, ctas, count, WARP_READY), warps_count(run, ctas, count, WARP_WAITING));
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < run->warps; i++) {
            struct warp_state *w = &ctas[c].warps[i];
            if (w->status == WARP_READY && spinning++ < NAMED_WARPS) {
                struct poll poll = poll_find(w);
                if (!spins) spins = w, first = poll;
                warp_name(w, &text);
                poll_describe(&poll, &text);
                text_add(&text, " in line %u", poll.op->line);
            } else if (w->status == WARP_WAITING && waiting++ < NAMED_WARPS) {
                warp_name(w, &text);
                text_add(&text, "waits at barrier %u in line %u", w->waits_barrier, w->waits_at->line);
            }
        }
    fault_set(spins, first.op, first.lane, "%s", text.bytes);
}

void livelock_check(struct run *run, struct cta *ctas, uint32_t count, uint64_t instructions) {
    run->changed = 0;
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < run->warps; i++)
            if (ctas[c].warps[i].status == WARP_READY && !period_find(&ctas[c].warps[i])) return;
    report(run, ctas, count, instructions);
}
