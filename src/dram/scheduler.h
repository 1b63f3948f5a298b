/* DRAM schedulers: which command a channel issues next. A scheduler is one file with one `struct dram_scheduler_ops`,
 * and one line in schedulers.def; docs/extending.md adds one.
 *
 * In each cycle every bank offers at most one column command and one row command (activate, or precharge of a row that
 * its request does not need). Of all offered commands that the timings allow, the channel (channel.c) issues that of
 * the oldest request; a request whose row has been opened for it counts as the oldest of all. With two command buses
 * column and row commands are chosen independently.
 *
 * Contract:
 *   1. `offer` is called only for a bank that has requests in the queue. It depends only on the channel's current state: it
 *      keeps no state and does not know the time. That makes skipping cycles exact: it is called again, for all banks, when
 *      the channel has changed (a command, an arrival), and not in between. The same holds for `order`.
 *   2. `offer.column` is a request for the bank's open row, `offer.row` one for another row, or any if no row is open;
 *      NULL offers nothing. Some bank must offer a command while the queue holds a request, or it never drains.
 *   3. A request that has waited for `dram.starvation_cycles` is not overtaken in its bank: if `offer` returns a younger
 *      one, the channel takes the oldest instead.
 *   4. `order`, if there is one, replaces age between banks: of the commands that could be issued, that of the bank with
 *      the lowest number is. Below 2^32.
 *   5. `row_hit_cap`, if there is one, limits the row hits that have priority over other requests once a row has been
 *      opened; of the further ones only the oldest request of all is served, and only if nothing else can be issued.
 *
 * A scheduler without `offer` uses that of FR-FCFS, which the channel implements itself (choose_candidate): it keeps
 * the offers from one command to the next and recomputes only those of the bank that has changed.
 */
#ifndef SLUICE_DRAM_SCHEDULER_H
#define SLUICE_DRAM_SCHEDULER_H

#include "config/config.h"

struct dram_channel;
struct dram_queue;
struct dram_request;

struct dram_offer {
    struct dram_request *column, *row;
};

struct dram_scheduler_ops {
    struct policy policy;
    struct dram_offer (*offer)(const struct dram_channel *channel, const struct dram_queue *queue, unsigned bank);
    unsigned (*order)(const struct dram_channel *channel, unsigned bank);
    /* `values` are those of the scheduler's section, NULL if it has none; 0: no cap. */
    int64_t (*row_hit_cap)(const void *values);
};

#endif
