/* Row policies: when an open row that no queued request needs is closed. A row policy is one file with one `struct
 * row_policy_ops`, and one line in row_policies.def.
 *
 * The policy does not apply to a row that a queued request of the channel needs, read or write, nor to the precharge
 * for a request that needs another row, nor to refresh. A precharge of the policy has the lowest priority: it is issued
 * in a cycle in which the command bus is free, and of several banks the lowest comes first.
 *
 * Contract: `close_after` is constant during a run, in memory cycles: the row may be closed that many cycles after its
 * last column command, as soon as the timings allow, unless a request for it has entered the queue in an earlier cycle.
 * A policy without it leaves the row open.
 */
#ifndef SLUICE_DRAM_ROW_POLICY_H
#define SLUICE_DRAM_ROW_POLICY_H

#include "config/config.h"

struct row_policy_ops {
    struct policy policy;
    /* `values` are those of the policy's section, NULL if it has none. */
    int64_t (*close_after)(const void *values);
};

#endif
