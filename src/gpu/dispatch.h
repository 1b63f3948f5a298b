/* CTA dispatch: assigns the CTAs of a kernel to the SMs of its partition while they have free slots, in the order that
 * the CTA scheduler chooses (cta_scheduler.h); clusters of CTAs as a whole (cluster.h). */
#ifndef SLUICE_GPU_DISPATCH_H
#define SLUICE_GPU_DISPATCH_H

#include "gpu/control_state.h"

void dispatch_begin(struct control *control, struct partition *partition, const struct launch *launch);
void dispatch_tick(struct control *control, struct partition *partition, uint64_t now);
/* SM `sm` has reported the end of a CTA. */
static inline void dispatch_end_cta(struct partition *partition, unsigned sm) {
    partition->dispatch.ended++;
    partition->dispatch.free_slots[sm]++;
}
static inline bool dispatch_done(const struct partition *partition) {
    return partition->dispatch.ended == partition->dispatch.ctas;
}

#endif
