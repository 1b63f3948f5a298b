/* `sluice list workloads --long`: what the bundled programs are like, measured. */
#ifndef SLUICE_CLI_CHARACTERISE_H
#define SLUICE_CLI_CHARACTERISE_H

#include "cli/command.h"

/* One row for each workload that has the size: executed, surveyed and simulated on the GPU of the paper that uses it (or
 * `gpu`, if that is not NULL). `only` may name one workload. */
enum status characterise(const char *size, const char *gpu, const char *only);

#endif
