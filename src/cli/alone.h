/* Runs concurrent programs alone on the whole GPU: the baseline of STP and ANTT. */
#ifndef SLUICE_CLI_ALONE_H
#define SLUICE_CLI_ALONE_H

#include "cli/command.h"
#include "cli/report.h"
#include "config/config.h"

/* Sets alone_ipc of each program. Reports the error of a failed run. `extent` is that of each program, with the limit of
 * the run. */
enum status alone_measure(const struct config *config, struct stream_source *const *sources,
                          const struct program_extent *extent, uint64_t max_insts, struct report_programs *programs);

#endif
