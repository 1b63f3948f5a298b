/* The barrier of a cluster, as an SM sees it: a CTA arrives once all its live warps have, reports that to the control
 * plane and waits for its command, which follows when all CTAs of the cluster have arrived or ended. A warp arrives, and
 * waits later, unless the phase of its arrival has ended in the meantime. */
#include "sm/sm_state.h"

static void release(struct sm *sm, struct cta *cta, uint64_t now) {
    sm->cluster_passed |= cta->cluster.arrived;
    cta->cluster.arrived = 0;
    cta->cluster.reported = false;
    sm->stats.barriers++;
    if (!cta->cluster.waiting) return;
    sm_due_later(sm, cta->cluster.waiting, now + sm->shared->op[OP_barrier].result_cycles);
    cta->cluster.waiting = 0;
}

void cta_cluster_check(struct sm *sm, unsigned slot, uint64_t now) {
    struct cta *cta = &sm->cta[slot];
    uint64_t live = cta->slots & sm->resident & ~sm->exited;
    if (!live || live & ~cta->cluster.arrived || cta->cluster.reported) return;
    if (sm->launch->kernel.cluster_ctas <= 1) {
        release(sm, cta, now);
        return;
    }
    struct sm_report report = {REPORT_CLUSTER_ARRIVED, cta->index};
    cta->cluster.reported = true;
    port_push(sm->reports, now, &report, sizeof report);
}

void cta_cluster_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now) {
    uint64_t bit = UINT64_C(1) << warp;
    unsigned slot = sm->cta_of[warp];
    if (instr->flags & INSTR_ARRIVE) {
        sm->cluster_passed &= ~bit;
        sm->cta[slot].cluster.arrived |= bit;
        cta_cluster_check(sm, slot, now);
    } else if (!(sm->cluster_passed & bit)) {
        sm->cta[slot].cluster.waiting |= bit;
        sm->at_barrier |= bit;
    }
}

/* A CTA that has ended in the meantime is not there any more. */
void cta_cluster_release(struct sm *sm, uint64_t index, uint64_t now) {
    for (unsigned slot = 0; slot < SM_WARPS; slot++)
        if (sm->cta[slot].used && sm->cta[slot].index == index) release(sm, &sm->cta[slot], now);
}
