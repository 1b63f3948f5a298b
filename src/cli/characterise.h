/* `sluice list workloads --long`: measured characteristics of the bundled programs. */
#ifndef SLUICE_CLI_CHARACTERISE_H
#define SLUICE_CLI_CHARACTERISE_H

#include "cli/command.h"

/* Prints one row per workload with this size: executed, verified, surveyed and, if `simulate`, simulated on `gpu`;
 * NULL: on the GPU of the paper of the size, or else of the workload. `only` may name one workload.
 * `max_insts`: thread instructions after which each ends; 0: no limit. */
enum status characterise(const char *size, const char *gpu, const char *only, uint64_t max_insts, bool simulate);

#endif
