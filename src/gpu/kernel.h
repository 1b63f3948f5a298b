/* Begin and end of a kernel in one partition:
 *
 *     NONE ── kernel_begin ──▶ RUNNING ── all CTAs have ended ──▶ FLUSHING_L1 ── all L1s are flushed ──▶ ENDING ──▶ NONE
 *
 * RUNNING      CTAs are dispatched from `start_at` on, and the LLC organisation is called when it asked for it.
 * FLUSHING_L1  L1s invalidate their lines (l1.flush_at_kernel_end), as software coherence requires.
 * ENDING       Slices invalidate replicas and the lines of a private LLC; if lines are to be replicated, they write
 *              modified lines to memory. This is a reconfiguration that stops no SM. A shared LLC keeps its lines: it
 *              is on the memory side of the network and holds nothing stale.
 */
#ifndef SLUICE_GPU_KERNEL_H
#define SLUICE_GPU_KERNEL_H

#include "gpu/control_state.h"

void kernel_begin(struct control *control, struct partition *partition, const struct launch *launch, uint64_t now);
void kernel_tick(struct control *control, struct partition *partition, uint64_t now);

#endif
