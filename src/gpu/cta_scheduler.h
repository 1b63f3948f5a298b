/* CTA schedulers: which SM gets the next CTA. A policy is one file and one line in cta_schedulers.def.
 *
 * The dispatcher asks again and again within a cycle until the answer is no; a policy serves each cluster at most once
 * per cycle.
 */
#ifndef SLUICE_GPU_CTA_SCHEDULER_H
#define SLUICE_GPU_CTA_SCHEDULER_H

#include "base/base.h"
#include "config/config.h"

struct cta_view {
    unsigned sms, clusters; /* SM i belongs to cluster i / (sms / clusters) */
    uint64_t ctas;          /* of the grid */
    unsigned ctas_per_sm;
    const unsigned *free_slots; /* [sms] CTAs that each could take */
};

struct cta_choice {
    uint64_t cta;
    unsigned sm;
};

struct cta_scheduler_ops {
    struct policy policy;
    void *(*create)(const struct config *config, unsigned sms, unsigned clusters);
    void (*destroy)(void *state);
    /* A new kernel. */
    void (*begin)(void *state, const struct cta_view *view);
    /* A new cycle. May be NULL. */
    void (*cycle)(void *state);
    bool (*choose)(void *state, const struct cta_view *view, struct cta_choice *choice);
};

extern const struct family cta_scheduler_family;

#endif
