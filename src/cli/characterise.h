/* `sluice list workloads --long`: what the bundled programs are like, measured. */
#ifndef SLUICE_CLI_CHARACTERISE_H
#define SLUICE_CLI_CHARACTERISE_H

#include "cli/command.h"

/* One row for each workload that has the size: executed, verified, surveyed and, if wanted, simulated on the GPU of the
 * paper that the size or else the workload is of (or `gpu`, if that is not NULL). `only` may name one workload. */
enum status characterise(const char *size, const char *gpu, const char *only, bool simulate);

#endif
