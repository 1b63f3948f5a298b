/* CTAs in an SM: launch, barriers, warp exit. */
#include "sm/sm_state.h"

/* The first CTA of a kernel: the L1, which is empty, gets what shared memory leaves of their array. */
static void carve_out(struct sm *sm) {
    sm->l1_ways = sm->launch->carve_out.l1_ways;
    sm->l1->ops->resize(sm->l1, sm->index, sm->l1_ways);
}

/* The warps of a CTA occupy consecutive slots: within a CTA, a lower slot is older. */
void cta_launch(struct sm *sm, uint64_t index, uint64_t now) {
    unsigned slot = 0, warps = sm->launch->warps_per_cta;
    if (UNLIKELY(sm->l1_ways != sm->launch->carve_out.l1_ways)) carve_out(sm);
    while (sm->cta[slot].used) slot++;
    assert((slot + 1) * warps <= sm->shared->warps);
    struct cta *cta = &sm->cta[slot];
    *cta = (struct cta){.used = true, .index = index, .slots = low_mask(warps) << (slot * warps), .live = warps};
    if (sm->copies) copies_launch(sm, slot);
    sm->cta_order[sm->ctas] = (uint8_t)slot;
    sm->cta_slots[sm->ctas++] = cta->slots;
    sm->stats.ctas++;
    sm->stats.warps += warps;
    sm->resident |= cta->slots;
    sm->cluster_passed &= ~cta->slots;
    for (unsigned i = 0; i < warps; i++) {
        unsigned warp = slot * warps + i;
        struct warp_stream *stream = &sm->stream[warp];
        stream->cta = index;
        stream->warp = i;
        stream->pauses = false;
        sm->launch->source->ops->open(sm->launch->source, stream);
        sm_refill(sm, warp);
        sm->cta_of[warp] = (uint8_t)slot;
        sm->unit_of[warp] = (uint8_t)sm->shared->op[stream->instr->op].unit;
        sm->by_unit[sm->unit_of[warp]] |= UINT64_C(1) << warp;
        sm->fetched_line[warp] = LINE_NONE;
        if (!sm->shared->perfect_instruction) sm_fetch(sm, warp);
        sm_classify(sm, warp, now);
    }
}

static void cta_end(struct sm *sm, unsigned slot, uint64_t now) {
    struct sm_report report = {REPORT_CTA_DONE, .cta = sm->cta[slot].index};
    sm->cta[slot].used = false;
    unsigned i = 0;
    while (sm->cta_order[i] != slot) i++;
    sm->ctas--;
    for (; i < sm->ctas; i++) {
        sm->cta_order[i] = sm->cta_order[i + 1];
        sm->cta_slots[i] = sm->cta_slots[i + 1];
    }
    port_push(sm->reports, now, &report, sizeof report);
}

/* Called when an access or result of the warp completes: releases it from its fence, or ends it after its exit. */
void cta_warp_check(struct sm *sm, unsigned warp, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp;
    if (!((sm->at_fence | sm->exited) & bit) || sm->outstanding[warp] || sm->stores[warp]) return;
    bool fence = sm->at_fence & bit;
    if (!fence && sm->copies_of[warp]) return;
    uint64_t at = fence ? sm->loads_at[warp] : sm->results_at[warp];
    if (at > now) {
        sm_due_later(sm, bit, at);
        return;
    }
    if (fence) {
        sm->at_fence &= ~bit;
        sm_classify(sm, warp, now);
        return;
    }
    sm->resident &= ~bit;
    sm->exited &= ~bit;
    unsigned slot = sm->cta_of[warp];
    if (!(sm->cta[slot].slots & sm->resident)) cta_end(sm, slot, now);
}

/* Releases the barrier if all expected warps have arrived. Exited warps are not expected. */
static void barrier_check(struct sm *sm, unsigned slot, unsigned id, uint64_t now) {
    struct cta *cta = &sm->cta[slot];
    unsigned expected = cta->barrier[id].expected ? cta->barrier[id].expected : cta->live;
    if (!cta->barrier[id].arrived || cta->barrier[id].arrived < expected) return;
    sm->stats.barriers++;
    cta->barrier[id].arrived = 0;
    if (!cta->barrier[id].waiting) return; /* all arrivals were non-blocking: no warp waits */
    sm_due_later(sm, cta->barrier[id].waiting, now + sm->shared->op[OP_barrier].result_cycles);
    cta->barrier[id].waiting = 0;
}

void cta_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now) {
    if (instr->flags & INSTR_CLUSTER) {
        cta_cluster_barrier(sm, warp, instr, now);
        return;
    }
    unsigned slot = sm->cta_of[warp], id = instr->barrier % SM_BARRIERS;
    struct cta *cta = &sm->cta[slot];
    cta->barrier[id].arrived++;
    cta->barrier[id].expected = instr->count;
    if (!(instr->flags & INSTR_ARRIVE)) {
        cta->barrier[id].waiting |= UINT64_C(1) << warp;
        sm->at_barrier |= UINT64_C(1) << warp;
    }
    barrier_check(sm, slot, id, now);
}

void cta_warp_exit(struct sm *sm, unsigned warp, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp;
    struct cta *cta = &sm->cta[sm->cta_of[warp]];
    sm->ready &= ~bit;
    sm->by_unit[sm->unit_of[warp]] &= ~bit;
    sm->exited |= bit;
    cta->live--;
    if (cta->live)
        for (unsigned id = 0; id < SM_BARRIERS; id++)
            if (cta->barrier[id].waiting && !cta->barrier[id].expected) barrier_check(sm, sm->cta_of[warp], id, now);
    if (cta->cluster.arrived) cta_cluster_check(sm, sm->cta_of[warp], now);
    cta_warp_check(sm, warp, now);
}
