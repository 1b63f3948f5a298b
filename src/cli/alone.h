/* Programs that run side by side, each alone on the whole GPU: what STP and ANTT are measured against. */
#ifndef SLUICE_CLI_ALONE_H
#define SLUICE_CLI_ALONE_H

#include "cli/command.h"
#include "cli/report.h"
#include "config/config.h"

/* Fills in alone_ipc of each. Complains if a run does not end well. */
enum status alone_measure(const struct config *config, struct stream_source *const *sources, uint64_t max_insts,
                          struct report_programs *programs);

#endif
