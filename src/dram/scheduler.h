/* DRAM schedulers: which command a channel issues next. A scheduler is one file with one `struct dram_scheduler_ops`, and
 * one line in schedulers.def; docs/extending.md adds one.
 *
 * In each cycle every bank offers at most one column command and one row command (activate, or precharge of a row that
 * its request does not want). The channel (channel.c) issues, of all offered commands that the timings allow, the one
 * of the oldest request; a request whose row has been opened for it is the oldest of all. With two command buses column
 * and row commands are chosen apart.
 *
 * Contract:
 *   1. `offer` is asked only for a bank that has requests in the queue. It depends on nothing but the channel as it is:
 *      it keeps no state and does not know the time. That makes skipping cycles exact: it is asked again when the
 *      channel has changed (a command, an arrival), for all banks, and not in between. The same holds for `order`.
 *   2. `offer.column` is a request for the bank's open row, `offer.row` one for another row, or any if no row is open;
 *      REQUEST_NONE offers nothing. Some bank must offer something while the queue holds a request, or it never drains.
 *   3. A request that has waited for `dram.starvation_cycles` is not overtaken in its bank: where `offer` names a
 *      younger one, the channel takes the oldest instead.
 *   4. `order`, if there is one, replaces age between banks: of the commands that could be issued, that of the bank with
 *      the lowest number goes. Below 2^32.
 *   5. `row_hit_cap`, if there is one, says how many row hits go before other requests once a row has been opened; of
 *      the further ones only the oldest request of all is served, and only if nothing else can be issued.
 *
 * A scheduler without `offer` has that of FR-FCFS, which the channel implements itself (choose_candidate): it keeps the
 * offers from one command to the next and chooses anew only in the bank that has changed.
 */
#ifndef SLUICE_DRAM_SCHEDULER_H
#define SLUICE_DRAM_SCHEDULER_H

#include "config/config.h"

struct dram_channel;
struct dram_queue;

/* Indices of requests. */
struct dram_offer {
    uint16_t column, row;
};

struct dram_scheduler_ops {
    struct policy policy;
    struct dram_offer (*offer)(const struct dram_channel *channel, const struct dram_queue *queue, unsigned bank);
    unsigned (*order)(const struct dram_channel *channel, unsigned bank);
    /* `values` are those of the policy's own section, NULL if it has none; 0: no cap. */
    int64_t (*row_hit_cap)(const void *values);
};

#endif
