/* CTA schedulers choose the SM that runs the next CTA. A policy is one file and one line in cta_schedulers.def.
 *
 * The dispatcher calls `choose` repeatedly within a cycle until it returns false; a policy serves each cluster at most
 * once per cycle.
 */
#ifndef SLUICE_GPU_CTA_SCHEDULER_H
#define SLUICE_GPU_CTA_SCHEDULER_H

#include "base/base.h"
#include "config/config.h"

struct cta_view {
    unsigned sms, clusters; /* SM i belongs to cluster i / (sms / clusters) */
    uint64_t ctas;          /* of the grid */
    unsigned ctas_per_sm;
    const unsigned *free_slots; /* [sms] CTAs that each SM can accept */
};

struct cta_choice {
    uint64_t cta;
    unsigned sm;
};

struct cta_scheduler_ops {
    struct policy policy;
    void *(*create)(const struct config *config, unsigned sms, unsigned clusters);
    void (*destroy)(void *state);
    /* A new kernel starts. */
    void (*begin)(void *state, const struct cta_view *view);
    /* A new cycle starts. May be NULL. */
    void (*cycle)(void *state);
    bool (*choose)(void *state, const struct cta_view *view, struct cta_choice *choice);
};

extern const struct family cta_scheduler_family;

#endif
