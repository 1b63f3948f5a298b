/* Round robin over clusters and over the SMs of each, common to the CTA schedulers. */
#ifndef SLUICE_GPU_ROTATION_H
#define SLUICE_GPU_ROTATION_H

#include "gpu/cta_scheduler.h"

struct rotation {
    unsigned clusters, sms_per_cluster;
    unsigned cluster; /* next cluster to be tried */
    unsigned *sm;     /* [clusters] next SM of each */
    bool *served;     /* [clusters] has received a CTA, or a block of CTAs, in this cycle */
    bool continues;   /* a kernel begins where the last one ended */
    unsigned first;   /* cluster at which the first kernel begins, or every kernel */
};

void rotation_init(struct rotation *rotation, const struct config *config, unsigned sms, unsigned clusters);
void rotation_release(struct rotation *rotation);
void rotation_begin(struct rotation *rotation);
void rotation_cycle(struct rotation *rotation);
/* The next SM of `cluster` in round-robin order with at least `slots` free; -1 if there is none. */
int rotation_sm(const struct rotation *rotation, const struct cta_view *view, unsigned cluster, unsigned slots);
/* The next SM, round robin over the clusters not served in this cycle; -1 if there is none. */
int rotation_next(const struct rotation *rotation, const struct cta_view *view, unsigned slots);
/* `sm` has received its CTAs of this cycle: marks its cluster as served and advances both pointers past it. */
void rotation_serve(struct rotation *rotation, unsigned sm);

#endif
