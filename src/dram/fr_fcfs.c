/* First-ready, first-come-first-served (Rixner et al., "Memory Access Scheduling", ISCA 2000): a bank offers the column
 * command of the oldest request for its open row; if there is none, the row command of its oldest request. A row
 * therefore stays open as long as a queued request needs it. The channel implements this offer itself. */
#include "dram/scheduler.h"

const struct dram_scheduler_ops dram_scheduler_fr_fcfs = {
    .policy = {"fr-fcfs", "row hits first, then the oldest request; a row stays open while a request needs it", NULL},
};
