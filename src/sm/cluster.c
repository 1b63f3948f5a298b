/* The barrier of a cluster, and updates of mbarriers in its other CTAs, as an SM sees them. A CTA arrives at the barrier
 * once all its live warps have, reports that to the control plane and waits for its command, which follows when all CTAs
 * of the cluster have arrived or ended. A warp arrives, and waits later, unless the phase of its arrival has ended in the
 * meantime. */
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
    struct sm_report report = {REPORT_CLUSTER_ARRIVED, .cta = cta->index};
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

/* The message takes the latency of distributed shared memory, but at least the two cycles of the control plane. The CTA
 * does not end before the update has taken effect. */
void cta_cluster_update(struct sm *sm, unsigned warp, unsigned rank, uint8_t mbarrier, uint64_t from, uint64_t now) {
    uint32_t ctas = sm->launch->kernel.cluster_ctas;
    if (rank >= ctas) return; /* not a stream of the emulator */
    uint64_t index = sm->cta[sm->cta_of[warp]].index;
    uint64_t at = max_u64(max_u64(from, now) + sm->shared->cluster_shared_cycles, now + 2);
    struct sm_report report = {REPORT_MBARRIER_UPDATE, .mbarrier = mbarrier, .cta = index - index % ctas + rank,
                               .at = at};
    sm->results_at[warp] = max_u64(sm->results_at[warp], at);
    port_push(sm->reports, now, &report, sizeof report);
}
