/* A run composed of the launches of several runs: each launch is taken from the run in which it is fastest. Designs
 * with `best_for: kernel` use it, such as Best Static Replication of "Selective Replication in Memory-Side GPU Caches"
 * (section V).
 *
 * The part of a launch extends to the start of the next launch, so it includes the flushes at its end, and the parts
 * of a run sum to the run. The fastest part has the fewest cycles per instruction. All designs execute the same
 * instructions, unless max_insts cuts the run, which ends the last launch of each candidate at another instruction.
 *
 * The result is an estimate: a launch starts with the machine state of its own run, not of the chosen previous
 * launch. Not modelled: counters, which a run has only in total. */
#ifndef SLUICE_LAB_COMPOSITION_H
#define SLUICE_LAB_COMPOSITION_H

#include "lab/store.h"

struct composition {
    unsigned launches;
    unsigned *chosen; /* for each launch: index of its run, the first of the fastest */
    double cycles, thread_instructions, warp_instructions;
};

/* Composes runs that launch the same kernels. False, with the reason, if they launch different ones or none. If runs
 * may be `cut`, launches that not all of them have started are omitted. */
bool composition_make(struct composition *composition, struct stored_run *const *runs, unsigned count, bool cut,
                      struct error *why);
void composition_release(struct composition *composition);

/* The run of all launches; -1: several runs. */
int composition_only(const struct composition *composition);

/* Knows cycles, ipc, thread_instructions and warp_instructions; false for other names. */
bool composition_value(const struct composition *composition, const char *name, double *value);

#endif
