/* CTA schedulers as their sources define them, one cycle at a time and without rotating pointers that are shared.
 *
 * Sources: GPGPU-Sim 3.2.2 and "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019) for round robin: in every cycle
 * the dispatcher visits all clusters, starting after the last one that received a CTA; each accepts one, for its next SM
 * with a free slot. Lee et al. (HPCA 2014) for BCS: blocks of consecutive CTAs to an SM with free slots for all of
 * them. Arunkumar et al. (ISCA 2017) for DCS: cluster j of C owns the CTAs from j G / C to (j + 1) G / C.
 */
#ifndef SLUICE_TESTS_GPU_CTA_ORACLE_H
#define SLUICE_TESTS_GPU_CTA_ORACLE_H

#include "base/base.h"

enum { CTA_ORACLE_CLUSTERS = 64 };

struct cta_oracle {
    unsigned clusters, members; /* members: SMs per cluster */
    unsigned ctas, dispatched;
    unsigned block;                        /* CTAs dispatched together */
    bool owned;                            /* DCS: every cluster has its own part of the grid */
    unsigned next[CTA_ORACLE_CLUSTERS];    /* DCS: next CTA of each cluster's part, */
    unsigned end[CTA_ORACLE_CLUSTERS];     /* and its end */
    unsigned last_cluster;                 /* that received a CTA */
    unsigned last_sm[CTA_ORACLE_CLUSTERS]; /* of each cluster, within it */
};

/* The member of the cluster that comes next after the last one, with enough free slots; -1 if there is none. */
static inline int cta_oracle_member(const struct cta_oracle *oracle, unsigned cluster, const unsigned *free_slots,
                                    unsigned slots) {
    for (unsigned i = 1; i <= oracle->members; i++) {
        unsigned member = (oracle->last_sm[cluster] + i) % oracle->members;
        if (free_slots[cluster * oracle->members + member] >= slots) return (int)member;
    }
    return -1;
}

/* Dispatches the next CTAs to the cluster, if it has an SM for them; for each, its SM in sm_of. Takes the slots from
 * free_slots. */
static inline bool cta_oracle_visit(struct cta_oracle *oracle, unsigned cluster, unsigned *free_slots, int *sm_of) {
    unsigned cta = oracle->owned ? oracle->next[cluster] : oracle->dispatched;
    unsigned left = (oracle->owned ? oracle->end[cluster] : oracle->ctas) - cta;
    unsigned count = left < oracle->block ? left : oracle->block;
    int member = count ? cta_oracle_member(oracle, cluster, free_slots, count) : -1;
    if (member < 0) return false;
    unsigned sm = cluster * oracle->members + (unsigned)member;
    for (unsigned k = 0; k < count; k++) sm_of[cta + k] = (int)sm;
    free_slots[sm] -= count;
    oracle->dispatched += count;
    oracle->next[cluster] += count;
    oracle->last_sm[cluster] = (unsigned)member;
    oracle->last_cluster = cluster;
    return true;
}

/* One cycle. The grid's last block may be shorter than the one for which a cluster had no space a moment ago: clusters
 * that received nothing are visited until nothing changes. */
static inline void cta_oracle_cycle(struct cta_oracle *oracle, unsigned *free_slots, int *sm_of) {
    bool served[CTA_ORACLE_CLUSTERS] = {false}, any = true;
    while (any) {
        unsigned first = oracle->last_cluster + 1;
        any = false;
        for (unsigned i = 0; i < oracle->clusters; i++) {
            unsigned cluster = (first + i) % oracle->clusters;
            if (served[cluster] || !cta_oracle_visit(oracle, cluster, free_slots, sm_of)) continue;
            served[cluster] = any = true;
        }
    }
}

#endif
