/* The CTA's sixteen barriers; each counts the warps that have arrived.
 *
 * A warp counts as a whole, whichever of its lanes arrive (GPGPU-Sim, and hardware before Volta); with independent thread
 * scheduling it arrives when all its live lanes are at the barrier (strand.c). Exited warps are not
 * waited for unless the barrier was given a number of threads smaller than the CTA. If all live warps wait, the barrier
 * is deadlocked: a fault. */
#include "emu/cta.h"

#include <stdio.h>

/* Writes the result of bar.red. */
static void reduction_write(struct warp_state *w, const struct cta_barrier *barrier) {
    const struct op *op = w->waits_at;
    if (op->operation != OPERATION_bar_red) return;
    if (op->mode == BAR_RED_POPC) {
        uint32_t *row = warp_place(&w->warp, op->dst);
        FOR_LANES (lane, w->waits_mask) row[lane] = barrier->true_lanes;
    } else {
        bool holds = op->mode == BAR_RED_AND ? barrier->true_lanes == barrier->lanes : barrier->true_lanes > 0;
        warp_set_predicate(&w->warp, op->dst, holds ? UINT32_MAX : 0, w->waits_mask);
    }
}

static void reduction_add(const struct warp_state *w, const struct op *op, uint32_t mask, struct cta_barrier *barrier) {
    if (op->operation != OPERATION_bar_red) return;
    barrier->lanes += (uint32_t)__builtin_popcount(mask);
    barrier->true_lanes += (uint32_t)__builtin_popcount(mask & warp_predicate(&w->warp, op->c));
}

static void barrier_check(struct cta *cta, struct cta_barrier *barrier) {
    uint32_t expected = barrier->expected ? barrier->expected : cta->live;
    if (!barrier->arrived || barrier->arrived < expected) return;
    cta->ready += (uint32_t)__builtin_popcount(barrier->waiting);
    for (uint32_t waiting = barrier->waiting; waiting; waiting &= waiting - 1) {
        struct warp_state *w = &cta->warps[lowest_bit(waiting)];
        if (barrier->lanes) reduction_write(w, barrier);
        if (UNLIKELY(w->strand_count)) strands_release(w, barrier, reduction_write);
        w->status = WARP_READY;
    }
    *barrier = (struct cta_barrier){0};
}

static void deadlock_check(struct warp_state *w) {
    struct cta *cta = w->warp.cta;
    if (cta->ready || !cta->live) return;
    for (uint32_t i = 0; i < w->run->warps; i++) /* the others may be released by another CTA (cluster.c) */
        if (cta->warps[i].status == WARP_WAITING && cta->warps[i].waits_barrier == CLUSTER_BARRIER) return;
    for (uint32_t i = 0; i < w->run->warps; i++) {
        struct warp_state *waiting = &cta->warps[i];
        if (waiting->status != WARP_WAITING) continue;
        const struct cta_barrier *barrier = &cta->barriers[waiting->waits_barrier];
        fault_set(waiting, waiting->waits_at, lowest_bit(waiting->waits_mask),
                  "deadlock at barrier %u: %u of %u warps have arrived, and all live warps of the block wait",
                  waiting->waits_barrier, barrier->arrived, barrier->expected ? barrier->expected : cta->live);
        return;
    }
}

void barrier_execute(struct warp_state *w, const struct op *op, uint32_t mask, struct instr *record) {
    struct cta *cta = w->warp.cta;
    if (op->operation == OPERATION_cluster_arrive || op->operation == OPERATION_cluster_wait) {
        cluster_barrier(w, op, mask, record);
        return;
    }
    uint32_t id = lane_u32(w, op->a, mask), threads = op->b == PLACE_NONE ? 0 : lane_u32(w, op->b, mask);
    if (id >= CTA_BARRIERS || threads % WARP_LANES || threads > CTA_WARPS * WARP_LANES) {
        fault_set(w, op, lowest_bit(mask),
                  "barrier %u with %u threads: the barrier must be 0 to 15, threads a multiple of 32, at most 1024", id,
                  threads);
        return;
    }
    struct cta_barrier *barrier = &cta->barriers[id];
    uint32_t warps = threads / WARP_LANES;
    w->run->changed |= CHANGED_CONTROL;
    barrier->expected = warps == w->run->warps ? 0 : warps;
    barrier->arrived++;
    reduction_add(w, op, mask, barrier);
    record->barrier = (uint8_t)id;
    record->count = (uint16_t)barrier->expected;
    if (op->operation == OPERATION_bar_arrive) {
        record->flags |= INSTR_ARRIVE;
    } else {
        barrier->waiting |= UINT32_C(1) << w->index;
        w->status = WARP_WAITING;
        w->waits_at = op;
        w->waits_mask = mask;
        w->waits_barrier = id;
        cta->ready--;
    }
    barrier_check(cta, barrier);
    deadlock_check(w);
    cluster_check(w);
}

void barrier_join(struct warp_state *w, const struct op *op, uint32_t mask) {
    uint32_t id = lane_u32(w, op->a, mask);
    if (id < CTA_BARRIERS) reduction_add(w, op, mask, &w->warp.cta->barriers[id]);
}

/* A barrier with a number of threads counts no exits. So that it releases the warps that wait at it, another warp that does
 * not wait arrives for the missing ones. */
void barriers_cut(struct cta *cta) {
    for (uint32_t id = 0; cta->live && id < CTA_BARRIERS; id++) {
        const struct cta_barrier *barrier = &cta->barriers[id];
        if (!barrier->waiting || !barrier->expected) continue;
        const struct warp_state *waiting = &cta->warps[lowest_bit(barrier->waiting)];
        struct instr record = record_of(waiting, waiting->waits_at, waiting->waits_mask);
        record.barrier = (uint8_t)id;
        record.count = (uint16_t)barrier->expected;
        record.flags |= INSTR_ARRIVE;
        for (uint32_t i = 0; i < cta->run->warps; i++) {
            const struct warp_state *w = &cta->warps[i];
            bool waits = w->status == WARP_WAITING && w->waits_barrier != CLUSTER_BARRIER;
            if (waits || !w->writer) continue;
            for (uint32_t left = barrier->expected - barrier->arrived; left; left--)
                trace_put(w->writer, &record, NULL);
            break;
        }
    }
}

void barrier_warp_ended(struct warp_state *w) {
    struct cta *cta = w->warp.cta;
    w->status = WARP_ENDED;
    w->run->changed |= CHANGED_CONTROL;
    cta->ready--;
    cta->live--;
    for (unsigned id = 0; cta->live && id < CTA_BARRIERS; id++)
        if (cta->barriers[id].waiting && !cta->barriers[id].expected) barrier_check(cta, &cta->barriers[id]);
    deadlock_check(w);
    cluster_check(w);
}
