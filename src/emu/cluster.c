/* Clusters of CTAs: their barrier, and the shared memory of the other CTAs (distributed shared memory). PTX ISA 9.0:
 * barrier.cluster, mapa, getctarank, the shared::cluster window.
 *
 * The CTAs of a cluster are neighbours in the window of emulation, in the order of their ranks. An address in the
 * shared memory of the CTA of rank r is its offset there plus (r + 1) << CLUSTER_RANK_SHIFT; without a rank it is in the
 * CTA of the thread.
 *
 * The barrier has two phases: a thread arrives, and later waits until all threads of the cluster have arrived or exited.
 * A thread that arrives twice, or waits without having arrived, is a fault; so is access to the memory of a CTA that has
 * ended. */
#include "emu/cta.h"

#include <inttypes.h>

static struct cta *cluster_first(struct cta *cta) { return cta - cta->rank; }

struct cta *cluster_cta(struct warp_state *w, uint64_t address) {
    struct cta *own = w->warp.cta;
    uint64_t field = address >> CLUSTER_RANK_SHIFT;
    if (!field) return own;
    struct cta *cta = field <= w->run->cluster_ctas ? cluster_first(own) + (field - 1) : NULL;
    return cta && cta->live ? cta : NULL;
}

bool cluster_is_remote(const struct warp_state *w, uint64_t address) {
    uint64_t field = address >> CLUSTER_RANK_SHIFT;
    return field && field - 1 != w->warp.cta->rank;
}

void cluster_record(const struct warp_state *w, uint64_t address, struct instr *record) {
    if (LIKELY(!cluster_is_remote(w, address))) return;
    record->flags |= INSTR_CLUSTER;
    record->updates = (uint8_t)((address >> CLUSTER_RANK_SHIFT) - 1);
}

/* Ends the phase if every live thread of the cluster has arrived. */
static void phase_check(struct cta *first, uint32_t ctas) {
    const struct run *run = first->run;
    for (uint32_t c = 0; c < ctas; c++)
        for (uint32_t i = 0; first[c].live && i < run->warps; i++) {
            const struct warp_state *w = &first[c].warps[i];
            if (w->status != WARP_ENDED && w->live & ~w->cluster_arrived) return;
        }
    for (uint32_t c = 0; c < ctas; c++)
        for (uint32_t i = 0; first[c].live && i < run->warps; i++) {
            struct warp_state *w = &first[c].warps[i];
            w->cluster_passed |= w->cluster_arrived;
            w->cluster_arrived = 0;
            if (w->status != WARP_WAITING || w->waits_barrier != CLUSTER_BARRIER) continue;
            w->cluster_passed &= ~w->waits_mask;
            w->status = WARP_READY;
            first[c].ready++;
        }
}

/* All live warps of the cluster wait, at its barrier or at those of their CTAs: nothing can release them. */
static void deadlock_check(struct warp_state *w) {
    struct cta *first = cluster_first(w->warp.cta);
    const struct warp_state *waiting = NULL;
    for (uint32_t c = 0; c < w->run->cluster_ctas; c++) {
        if (first[c].ready) return;
        for (uint32_t i = 0; first[c].live && i < w->run->warps && !waiting; i++)
            if (first[c].warps[i].status == WARP_WAITING && first[c].warps[i].waits_barrier == CLUSTER_BARRIER)
                waiting = &first[c].warps[i];
    }
    if (waiting)
        fault_set(
            (struct warp_state *)(uintptr_t)waiting, waiting->waits_at, lowest_bit(waiting->waits_mask),
            "deadlock at the barrier of the cluster: all live warps of its %u CTAs wait, but some threads have not arrived",
            w->run->cluster_ctas);
}

void cluster_barrier(struct warp_state *w, const struct op *op, uint32_t mask, struct instr *record) {
    bool arrive = op->operation == OPERATION_cluster_arrive;
    w->run->changed |= CHANGED_CONTROL;
    record->barrier = CLUSTER_BARRIER;
    record->flags |= INSTR_CLUSTER | (arrive ? INSTR_ARRIVE : 0);
    if (arrive) {
        if (mask & (w->cluster_arrived | w->cluster_passed)) {
            fault_set(w, op, lowest_bit(mask & (w->cluster_arrived | w->cluster_passed)),
                      "arrives at the barrier of the cluster again without having waited");
            return;
        }
        if (w->cluster_arrived) record->op = OP_other; /* for timing, a warp arrives with its first lanes */
        w->cluster_arrived |= mask;
        phase_check(cluster_first(w->warp.cta), w->run->cluster_ctas);
        return;
    }
    uint32_t absent = mask & ~(w->cluster_arrived | w->cluster_passed);
    if (absent) {
        fault_set(w, op, lowest_bit(absent), "waits at the barrier of the cluster without having arrived");
        return;
    }
    if (!(mask & w->cluster_arrived)) { /* the phase has ended; other lanes may have arrived for the next one */
        if (w->cluster_arrived) record->op = OP_other;
        w->cluster_passed &= ~mask;
        return;
    }
    w->status = WARP_WAITING;
    w->waits_at = op;
    w->waits_mask = mask;
    w->waits_barrier = CLUSTER_BARRIER;
    w->warp.cta->ready--;
    deadlock_check(w);
}

void cluster_progress(struct warp_state *w) {
    if (w->run->failed) return;
    phase_check(cluster_first(w->warp.cta), w->run->cluster_ctas);
    deadlock_check(w);
}

/* mapa: the address of the same variable in the CTA of a rank. */
static void execute_mapa(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    unsigned bytes = ptx_type_bytes(op->element);
    uint64_t value[WARP_LANES], rank[WARP_LANES], window = op->space == PTX_SPACE_GENERIC ? WINDOW_SHARED : 0;
    row_read(w, op->a, bytes, value);
    row_read(w, op->b, 4, rank);
    FOR_LANES (lane, mask) {
        uint64_t offset = value[lane] & low_mask(CLUSTER_RANK_SHIFT);
        if (rank[lane] >= w->run->cluster_ctas) {
            fault_set(w, op, lane, "maps an address to rank %" PRIu64 " of a cluster of %u CTAs", rank[lane],
                      w->run->cluster_ctas);
            return;
        }
        if (window && (value[lane] & WINDOW_MASK) != window) {
            fault_set(w, op, lane, "maps 0x%" PRIx64 ", which is not a generic address of shared memory", value[lane]);
            return;
        }
        value[lane] = window | (rank[lane] + 1) << CLUSTER_RANK_SHIFT | offset;
    }
    row_write(w, op->dst, bytes, value, mask);
}

/* getctarank: the rank of the CTA that an address is in. */
static void execute_getctarank(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t value[WARP_LANES];
    row_read(w, op->a, op->src_bytes ? op->src_bytes : ptx_type_bytes(op->element), value);
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t field = (value[i] & ~WINDOW_MASK) >> CLUSTER_RANK_SHIFT;
        value[i] = field ? field - 1 : w->warp.cta->rank;
    }
    row_write(w, op->dst, 4, value, mask);
}

op_handler *cluster_handler_find(const struct op *op) {
    return op->operation == OPERATION_mapa         ? execute_mapa
           : op->operation == OPERATION_getctarank ? execute_getctarank
                                                   : NULL;
}
