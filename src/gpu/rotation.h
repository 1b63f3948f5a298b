/* Round robin over clusters and over the SMs of each: what the CTA schedulers of this room have in common. */
#ifndef SLUICE_GPU_ROTATION_H
#define SLUICE_GPU_ROTATION_H

#include "gpu/cta_scheduler.h"

struct rotation {
    unsigned clusters, sms_per_cluster;
    unsigned cluster; /* next cluster to be looked at */
    unsigned *sm;     /* [clusters] next SM of each */
    bool *served;     /* [clusters] has been given a CTA, or a block of them, in this cycle */
};

void rotation_init(struct rotation *rotation, unsigned sms, unsigned clusters);
void rotation_release(struct rotation *rotation);
void rotation_begin(struct rotation *rotation);
void rotation_cycle(struct rotation *rotation);
/* The next SM in turn of `cluster` with at least `slots` free; -1 if there is none. */
int rotation_sm(const struct rotation *rotation, const struct cta_view *view, unsigned cluster, unsigned slots);
/* The next SM in turn over clusters that were not served in this cycle; -1 if there is none. */
int rotation_next(const struct rotation *rotation, const struct cta_view *view, unsigned slots);
/* `sm` has been given its CTAs of this cycle: its cluster is served, and both turns go on behind it. */
void rotation_serve(struct rotation *rotation, unsigned sm);

#endif
