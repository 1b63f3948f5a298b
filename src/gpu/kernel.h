/* Begin and end of a kernel in one partition:
 *
 *     NONE ── kernel_begin ──▶ RUNNING ── all CTAs have ended ──▶ FLUSHING_L1 ── all L1s are flushed ──▶ ENDING ──▶ NONE
 *
 * RUNNING      CTAs are dispatched from `start_at` on, and the LLC organisation is called when it asked for it.
 * FLUSHING_L1  L1s invalidate their lines (l1.flush_at_kernel_end), as software coherence asks.
 * ENDING       Where lines had replicas, or the LLC was private, these are invalidated, and where there are to be replicas, modified
 *              lines are written to memory: a reconfiguration that stops nothing. A shared LLC keeps its lines: it is on the memory's
 *              side of the network and holds nothing stale.
 */
#ifndef SLUICE_GPU_KERNEL_H
#define SLUICE_GPU_KERNEL_H

#include "gpu/control_state.h"

void kernel_begin(struct control *control, struct partition *partition, const struct launch *launch, uint64_t now);
void kernel_tick(struct control *control, struct partition *partition, uint64_t now);

#endif
