/* Polls: loops that read memory until another thread changes it.
 *
 * If the state of a strand (registers, local memory, SIMT stack) is the same after two iterations of a loop, and its
 * warp has not changed anything in between, all further iterations are the same until a value that the loop reads
 * changes. The strand is parked until then, so that only the first polls and those after each change are executed and
 * recorded. Recurrence is detected by comparison with the state after a power of two of iterations (Brent 1980).
 *
 * Not parked: loops that count their iterations, read a clock, store, or read many different words; loops of functions with much
 * local memory; targets without independent thread scheduling. After a few short iterations in which it has changed nothing,
 * such a loop yields: it executes one iteration in each round (grid.c), so that what it waits for happens after few polls.
 *
 * Loops that may poll are found when a module is loaded (device.c), for sm_50 and later: the streams of bundled programs, which
 * are compiled for sm_30, have all polls, as in their published results. */
#include "emu/cta.h"

#include <stdlib.h>
#include <string.h>

/* Iterations after which the next attempt is far away. */
#define UNWATCHED ((UINT64_C(1) << 32) + 1)

enum { YIELD_ITERATIONS = 4, YIELD_PERIOD = 32 };
enum { WATCHED_MAX = 128, LOCAL_MAX_BYTES = 4096 };

struct poll_state {
    uint64_t executed;
    uint32_t carry, live, path_count, frame_count, register_bytes, local_bytes;
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

static size_t local_bytes(const struct warp_state *w) { return (size_t)w->frame->local_top * WARP_LANES; }

static void state_clear(struct poll_state *s) {
    free(s->paths);
    free(s->frames);
    free(s->registers);
    free(s->local);
    *s = (struct poll_state){0};
}

void poll_free(struct warp_state *w) {
    if (w->poll) state_clear(w->poll);
    free(w->poll);
    w->poll = NULL;
}

static void state_save(struct warp_state *w) {
    if (!w->poll) w->poll = mem_alloc(1, sizeof *w->poll);
    state_clear(w->poll);
    *w->poll = (struct poll_state){
        .executed = w->executed,
        .carry = w->warp.carry,
        .live = w->live,
        .path_count = w->path_count,
        .frame_count = w->frame_count,
        .register_bytes = w->frame->window_end,
        .local_bytes = w->frame->local_top,
        .paths = copy_of(w->paths, w->path_count * sizeof *w->paths),
        .frames = copy_of(w->frames, w->frame_count * sizeof *w->frames),
        .registers = copy_of(w->registers, w->frame->window_end),
        .local = copy_of(w->local, local_bytes(w)),
    };
}

static bool state_recurs(const struct warp_state *w) {
    const struct poll_state *s = w->poll;
    return s->path_count == w->path_count && s->frame_count == w->frame_count &&
           same(s->paths, w->paths, w->path_count * sizeof *w->paths) && s->carry == w->warp.carry &&
           s->live == w->live && s->register_bytes == w->frame->window_end && s->local_bytes == w->frame->local_top &&
           same(s->frames, w->frames, w->frame_count * sizeof *w->frames) &&
           same(s->registers, w->registers, s->register_bytes) && same(s->local, w->local, local_bytes(w));
}

/* Whether a probed warp goes on and has changed nothing of these. */
static bool still_quiet(const struct warp_state *w, uint32_t changes) {
    return !w->run->failed && w->status == WARP_READY && !(w->run->changed & changes) && w->probed;
}

unsigned poll_period(struct warp_state *w) {
    unsigned period = 0;
    w->probed = true;
    for (unsigned step = 0; step < POLL_PERIOD_MAX && !period; step++) {
        if (!(step & (step - 1))) state_save(w);
        warp_run(w, 1);
        if (!still_quiet(w, CHANGED_ANY)) break;
        if (state_recurs(w)) period = (unsigned)(w->executed - w->poll->executed);
    }
    w->probed = false;
    poll_free(w);
    return period;
}

/* What one operation reads of memory that other threads can change; false if that is not known or too much. */
static bool watch_op(struct warp_state *w, const struct op *op, uint32_t mask, struct watched *items, uint32_t *count) {
    uint64_t address[WARP_LANES];
    if (op->operation == OPERATION_st) return true; /* to local memory, which is part of the state */
    if (op->operation != OPERATION_ld && op->operation != OPERATION_atom && op->operation != OPERATION_red &&
        op->operation != OPERATION_mbarrier_wait)
        return false;
    if (op->modifiers & MOD_FRAME) return true;
    access_addresses(w, op, mask, address);
    FOR_LANES (lane, mask) {
        struct watched item = {.op = op, .address = address[lane], .lane = (uint8_t)lane};
        item.space = (uint8_t)space_resolve(op->space, &item.address);
        item.bytes = (uint8_t)(ptx_type_bytes(op->element) * (op->vector ? op->vector : 1));
        if (item.space != PTX_SPACE_GLOBAL && item.space != PTX_SPACE_SHARED) continue;
        bool known = false;
        for (uint32_t i = 0; i < *count; i++)
            known |= items[i].address == item.address && items[i].space == item.space && items[i].bytes >= item.bytes;
        if (known) continue;
        if (*count == WATCHED_MAX || item.bytes > sizeof item.value ||
            !space_copy(w, lane, item.space, item.address, item.value, item.bytes, ACCESS_READ))
            return false;
        items[(*count)++] = item;
    }
    return true;
}

/* Executes one instruction, after it has noted what it reads; false if that is not known or too much. `reads`: the number
 * of instructions that read memory. *phases is set if it tests an mbarrier or waits for copies: what completes those is not
 * all in memory. */
static bool watch_step(struct warp_state *w, struct watched *items, uint32_t *count, uint64_t *reads, bool *phases) {
    uint32_t mask = 0;
    bool good = true;
    const struct op *op = warp_next(w, &mask);
    const struct step *steps = w->frame->code->steps;
    enum step_kind kind = op ? steps[op - w->frame->code->function->ops].kind : STEP_END;
    if (mask && (kind == STEP_ACCESS || kind == STEP_ASYNC)) {
        good = watch_op(w, op, mask, items, count);
        ++*reads;
    }
    warp_run(w, 1);
    *phases |= kind == STEP_ASYNC;
    return good;
}

bool poll_watch(struct warp_state *w, uint64_t period, struct watched **items, uint32_t *count) {
    struct trace_writer *writer = w->writer;
    const struct emu_counts counts = w->run->counts;
    const uint64_t executed = w->executed, quiet = w->quiet;
    const uint32_t changed = w->run->changed;
    bool good = period <= POLL_PERIOD_MAX;
    struct watched found[WATCHED_MAX];
    uint64_t reads = 0;
    *count = 0;
    w->writer = NULL;
    w->probed = true;
    bool phases = false;
    for (uint64_t step = 0, end = good ? period : 0; step < end; step++)
        good &= watch_step(w, found, count, &reads, &phases) && !phases;
    w->probed = false;
    w->writer = writer;
    w->run->counts = counts;
    w->run->changed = changed;
    w->executed = executed;
    w->quiet = quiet;
    *items = copy_of(found, *count * sizeof *found);
    return good;
}

bool poll_suspected(struct warp_state *w, struct watched *first) {
    struct watched found[WATCHED_MAX];
    uint32_t count = 0;
    uint64_t reads = 0;
    bool good = w->status == WARP_READY;
    w->probed = true;
    bool phases = false; /* tested again and again, they are complete or never will be */
    for (unsigned step = 0; step < POLL_PERIOD_MAX && good; step++)
        good = watch_step(w, found, &count, &reads, &phases) && still_quiet(w, CHANGED_ANY & ~CHANGED_CLOCK);
    w->probed = false;
    if (count) *first = found[0];
    return good && count && reads >= 2 * (uint64_t)count;
}

bool poll_yields(const struct warp_state *w) { return !w->probed && w->idle >= YIELD_ITERATIONS; }

bool poll_repeats(struct warp_state *w, uint32_t lanes) {
    struct run *run = w->run;
    if (w->probed) return false;
    bool progressed = run->changed & (CHANGED_SHARED | CHANGED_CONTROL);
    w->idle = progressed || w->executed - w->looped > YIELD_PERIOD ? 0 : w->idle + 1;
    w->looped = w->executed;
    if (!run->loaded->independent) {
        run->changed_before |= run->changed;
        run->changed = 0;
        return false;
    }
    if (run->changed & CHANGED_ANY) {
        run->changed_before |= run->changed;
        run->changed = 0;
        w->quiet = 0;
        return false;
    }
    w->quiet++;
    struct watched *items;
    uint32_t count;
    if (w->quiet > 1 && w->poll && state_recurs(w)) {
        bool good = poll_watch(w, w->executed - w->poll->executed, &items, &count);
        poll_free(w);
        if (good) {
            strand_poll(w, lanes, items, count);
            return true;
        }
        free(items);
        w->quiet = UNWATCHED;
    }
    if (w->quiet & (w->quiet - 1)) return false;
    if (w->frame->local_top <= LOCAL_MAX_BYTES)
        state_save(w);
    else
        poll_free(w);
    return false;
}
