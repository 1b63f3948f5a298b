/* A run put together from the launches of several: of each launch, the part of that run in which it is fastest. What a
 * design shows that searches `best_for: kernel`, such as Best Static Replication of "Selective Replication in Memory-Side
 * GPU Caches" (section V).
 *
 * A launch's part goes from its beginning to that of the next, so that what its end takes (flushes) is its own, and the
 * parts of a run add up to the run. The fastest is the one with the fewest cycles for an instruction: the fewest cycles, as
 * all designs execute the same instructions, unless max_insts cuts the run, which ends each candidate elsewhere in its
 * last launch.
 *
 * It is an estimate: a launch finds the machine as its own run has left it and not as the chosen one has. Deliberately
 * left out: whatever a run counts as a whole only. */
#ifndef SLUICE_LAB_COMPOSITION_H
#define SLUICE_LAB_COMPOSITION_H

#include "lab/store.h"

struct composition {
    unsigned launches;
    unsigned *chosen; /* of each launch: index of the run that it is taken from, the first of the fastest */
    double cycles, thread_instructions, warp_instructions;
};

/* Of runs that launch the same kernels. False, with the reason, if they do not, or none; of runs that may be `cut`,
 * launches that not all of them have begun are left out. */
bool composition_make(struct composition *composition, struct stored_run *const *runs, unsigned count, bool cut,
                      struct error *why);
void composition_release(struct composition *composition);

/* The run that all launches are taken from; -1: they are from several. */
int composition_only(const struct composition *composition);

/* One of cycles, ipc, thread_instructions, warp_instructions; false: another, which is not known. */
bool composition_value(const struct composition *composition, const char *name, double *value);

#endif
