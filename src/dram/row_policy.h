/* Row policies: when an open row that no queued request wants is closed. A row policy is one file with one
 * `struct row_policy_ops`, and one line in row_policies.def.
 *
 * A row that a request of the channel's queues wants, read or write, is none of the row policy's business; neither is
 * the precharge for a request that wants another row, nor a refresh. A precharge of the policy has the least priority:
 * it is issued in a cycle in which the command bus carries nothing else, and of several banks the lowest goes first.
 *
 * Contract: `close_after` is a constant of the run, in memory cycles: the row may be closed from that many cycles after
 * its last column command on, as soon as the timings allow, unless a request for it has entered the queue in an earlier
 * cycle. A policy without it leaves the row open.
 */
#ifndef SLUICE_DRAM_ROW_POLICY_H
#define SLUICE_DRAM_ROW_POLICY_H

#include "config/config.h"

struct row_policy_ops {
    struct policy policy;
    /* `values` are those of the policy's own section, NULL if it has none. */
    int64_t (*close_after)(const void *values);
};

#endif
