/* Distributed CTA scheduling (Arunkumar et al., "MCM-GPU", ISCA 2017): cluster j owns the j-th part of the grid, so
 * that neighbours share a cluster; within it, CTAs are distributed round robin over SMs. A cluster that has finished
 * its part stays idle; clusters without an SM of the program get no part. */
#include <stdlib.h>

#include "gpu/rotation.h"

struct dcs {
    struct rotation rotation;
    uint64_t *next, *end; /* [clusters] */
};

static void *dcs_create(const struct config *config, unsigned sms, unsigned clusters) {
    struct dcs *dcs = mem_alloc(1, sizeof *dcs);
    rotation_init(&dcs->rotation, config, sms, clusters);
    dcs->next = mem_alloc(clusters, sizeof *dcs->next);
    dcs->end = mem_alloc(clusters, sizeof *dcs->end);
    return dcs;
}

static void dcs_destroy(void *state) {
    struct dcs *dcs = state;
    rotation_release(&dcs->rotation);
    free(dcs->next);
    free(dcs->end);
    free(dcs);
}

static void dcs_begin(void *state, const struct cta_view *view) {
    struct dcs *dcs = state;
    unsigned parts = 0, part = 0;
    rotation_begin(&dcs->rotation);
    for (unsigned i = 0; i < view->clusters; i++) parts += rotation_sm(&dcs->rotation, view, i, 1) >= 0;
    for (unsigned i = 0; i < view->clusters; i++) {
        dcs->next[i] = view->ctas * part / parts;
        part += rotation_sm(&dcs->rotation, view, i, 1) >= 0;
        dcs->end[i] = view->ctas * part / parts;
    }
}

static void dcs_cycle(void *state) { rotation_cycle(&((struct dcs *)state)->rotation); }

static bool dcs_choose(void *state, const struct cta_view *view, struct cta_choice *choice) {
    struct dcs *dcs = state;
    for (unsigned cluster = 0; cluster < view->clusters; cluster++) {
        if (dcs->rotation.served[cluster] || dcs->next[cluster] == dcs->end[cluster]) continue;
        int sm = rotation_sm(&dcs->rotation, view, cluster, 1);
        if (sm < 0) continue;
        *choice = (struct cta_choice){dcs->next[cluster]++, (unsigned)sm};
        rotation_serve(&dcs->rotation, (unsigned)sm);
        return true;
    }
    return false;
}

const struct cta_scheduler_ops cta_scheduler_dcs = {
    .policy = {"dcs", "a contiguous part of the grid for each cluster", NULL},
    .create = dcs_create,
    .destroy = dcs_destroy,
    .begin = dcs_begin,
    .cycle = dcs_cycle,
    .choose = dcs_choose,
};
