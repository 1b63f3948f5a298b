/* Clusters of CTAs: dispatched together to the SMs of one SM cluster, and synchronised by their barrier. The CTA
 * scheduler is not asked. */
#ifndef SLUICE_GPU_CLUSTER_H
#define SLUICE_GPU_CLUSTER_H

#include "gpu/control_state.h"

/* Whether a cluster of the kernel fits in an SM cluster of the program; otherwise the error gives both sizes. */
bool cluster_fits(const struct kernel *kernel, unsigned sms, unsigned groups, const uint8_t *program_of,
                  unsigned program, unsigned ctas_per_sm, struct error *err);
/* The number of CTAs, in whole clusters, that the program's SMs hold at once. */
uint64_t cluster_resident(unsigned cluster_ctas, unsigned sms, unsigned groups, const uint8_t *program_of,
                          unsigned program, unsigned ctas_per_sm);
void cluster_begin(struct dispatch *dispatch, const struct kernel *kernel);
/* Starts at most one cluster in each SM cluster. */
void cluster_dispatch(struct control *control, struct partition *partition, uint64_t now);
/* All live warps of the CTA have arrived at the barrier; the CTA has ended. */
void cluster_arrived(struct control *control, struct partition *partition, uint64_t cta, uint64_t now);
void cluster_ended(struct control *control, struct partition *partition, uint64_t cta, uint64_t now);
/* Forwards the update of an mbarrier to the SM of its CTA; and those that could not be forwarded earlier. */
void cluster_update(struct control *control, struct partition *partition, const struct sm_report *report, uint64_t now);
void cluster_forward_parked(struct control *control, struct partition *partition, uint64_t now);

#endif
