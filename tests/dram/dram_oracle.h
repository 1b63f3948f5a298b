/* A memory channel as its definition says: in every cycle it looks at every request and every earlier command.
 *
 * Sources: S. Rixner et al., "Memory Access Scheduling", ISCA 2000, section 3 (first-ready and in-order scheduling); the
 * rule of Ramulator's FRFCFS and that of DRAMsim3 as docs/model/dram.md states them; the JEDEC timings in the names of
 * the device's parameters. The rules between banks are those of docs/model/dram.md:
 *
 *   - Each bank offers commands for its requests, by the scheduler.
 *   - Of the offered commands that the timings allow, that of the oldest request is issued; a request whose row has been
 *     opened for it comes before all others. With two command buses this holds for column and row commands separately,
 *     but a bank issues one command per cycle.
 *   - A request holds an entry of the queue until its row is opened for it or, if it finds the row open, until its last
 *     column command.
 *
 *   - With a write queue (fr-fcfs only) one direction is served at a time. Writes begin when more of them than the high
 *     mark hold entries, or as many as drain_idle_writes and no read does; they go on while as many as the low mark do,
 *     or any and no read. Of the other direction, requests whose row has been opened for them get their column commands,
 *     and their row is not closed before.
 *
 * Not covered: starvation, refresh, row policies other than open rows, the cap on row hits.
 */
#ifndef SLUICE_TESTS_DRAM_DRAM_ORACLE_H
#define SLUICE_TESTS_DRAM_DRAM_ORACLE_H

#include <string.h>

#include "dram/dram.h"
#include "dram/dram_config.h"

enum oracle_rule { ORACLE_FR_FCFS, ORACLE_FCFS, ORACLE_OLDEST_READY, ORACLE_ROUND_ROBIN };
enum { ORACLE_QUEUE = 256, ORACLE_BANKS = 64, ORACLE_COMMANDS = 4096 };

struct oracle_request {
    unsigned name, bank, row, bursts; /* bursts: column commands to be issued */
    bool write, opened;               /* opened: an activate was issued for it */
};

struct oracle_command {
    int64_t cycle;
    enum dram_command command;
    unsigned bank, row, name; /* name of the request */
};

struct dram_oracle {
    enum oracle_rule rule;
    unsigned row_hits; /* ORACLE_ROUND_ROBIN: column commands after which an older request may close the row */
    const struct dram_device *device;
    unsigned entries[2];       /* of the queue: for reads, or all requests; for writes */
    bool write_drain, writing; /* writes have their own queue; it is being served */
    unsigned drain_high, drain_low, drain_idle;
    struct oracle_request queue[ORACLE_QUEUE]; /* oldest first */
    unsigned count;
    bool open[ORACLE_BANKS];
    unsigned row[ORACLE_BANKS], columns[ORACLE_BANKS]; /* columns: column commands to the open row */
    unsigned last_bank;                                /* of the last column command */
    struct oracle_command command[ORACLE_COMMANDS];    /* everything issued so far */
    unsigned commands;
};

/* The queue of a request: 0 for reads, or all requests. */
static inline unsigned oracle_queue_of(const struct dram_oracle *oracle, bool write) {
    return oracle->write_drain && write;
}

static inline unsigned oracle_held(const struct dram_oracle *oracle, unsigned queue) {
    unsigned held = 0;
    for (unsigned i = 0; i < oracle->count; i++)
        held += !oracle->queue[i].opened && oracle_queue_of(oracle, oracle->queue[i].write) == queue;
    return held;
}

static inline bool dram_oracle_has_room(const struct dram_oracle *oracle, bool write) {
    unsigned queue = oracle_queue_of(oracle, write);
    return oracle_held(oracle, queue) < oracle->entries[queue];
}

/* The direction that is served in this cycle. */
static inline bool oracle_direction(const struct dram_oracle *oracle) {
    unsigned reads = oracle_held(oracle, 0), writes = oracle_held(oracle, 1);
    if (!oracle->write_drain) return false;
    if (oracle->writing) return writes >= oracle->drain_low || (reads == 0 && writes > 0);
    return writes > oracle->drain_high || (reads == 0 && writes >= oracle->drain_idle);
}

/* The smallest distance that the device allows between two commands; 0 if any. */
static inline int64_t oracle_distance(const struct dram_device *d, const struct oracle_command *a, enum dram_command b,
                                      unsigned bank) {
    bool same_bank = a->bank == bank, same_group = a->bank % d->bank_groups == bank % d->bank_groups;
    int64_t column = same_group ? d->tCCDL : d->tCCDS, written = d->tWL + d->burst_cycles;
    if (column < d->burst_cycles) column = d->burst_cycles;
    int64_t read_to_write = d->tCL + d->burst_cycles + d->turnaround - d->tWL;
    switch (a->command) {
    case DRAM_ACTIVATE:
        if (b == DRAM_ACTIVATE) return same_bank ? d->tRC : same_group ? d->tRRDL : d->tRRDS;
        if (!same_bank) return 0;
        return b == DRAM_READ ? d->tRCD : b == DRAM_WRITE ? d->tRCDW : d->tRAS;
    case DRAM_PRECHARGE: return same_bank && b == DRAM_ACTIVATE ? d->tRP : 0;
    case DRAM_READ:
        if (b == DRAM_READ) return column;
        if (b == DRAM_WRITE) return read_to_write > 1 ? read_to_write : 1;
        return same_bank && b == DRAM_PRECHARGE ? d->tRTP : 0;
    case DRAM_WRITE:
        if (b == DRAM_WRITE) return column;
        if (b == DRAM_READ) return written + (same_group ? d->tWTRL : d->tWTRS);
        return same_bank && b == DRAM_PRECHARGE ? written + d->tWR : 0;
    default: return 0;
    }
}

static inline bool oracle_allowed(const struct dram_oracle *oracle, enum dram_command command, unsigned bank,
                                  int64_t cycle) {
    unsigned activates = 0;
    for (unsigned i = oracle->commands; i-- > 0 && oracle->command[i].cycle > cycle - 400;) {
        const struct oracle_command *before = &oracle->command[i];
        if (cycle - before->cycle < oracle_distance(oracle->device, before, command, bank)) return false;
        if (command == DRAM_ACTIVATE && before->command == DRAM_ACTIVATE && ++activates == 4 &&
            cycle - before->cycle < oracle->device->tFAW)
            return false;
    }
    return true;
}

/* What the bank offers: requests by their places in the queue; -1 for none. */
struct oracle_offer {
    int column, row;
};

static inline struct oracle_offer oracle_offer_of(const struct dram_oracle *oracle, unsigned bank, unsigned queue) {
    struct oracle_offer offer = {-1, -1};
    int oldest = -1, oldest_miss = -1;
    for (int i = (int)oracle->count - 1; i >= 0; i--) {
        if (oracle->queue[i].bank != bank || oracle_queue_of(oracle, oracle->queue[i].write) != queue) continue;
        bool hit = oracle->open[bank] && oracle->queue[i].row == oracle->row[bank];
        oldest = i;
        *(hit ? &offer.column : &oldest_miss) = i;
    }
    switch (oracle->rule) {
    case ORACLE_FR_FCFS: /* the row stays open while a request needs it */
        if (offer.column < 0) offer.row = oldest;
        break;
    case ORACLE_FCFS: /* nothing but the oldest request of all */
        if (oldest != 0) return (struct oracle_offer){-1, -1};
        if (offer.column != 0) offer = (struct oracle_offer){-1, 0};
        break;
    case ORACLE_OLDEST_READY: /* a precharge is a command like any other, unless the row was opened for the hit */
        if (offer.column < 0 || !oracle->queue[offer.column].opened) offer.row = oldest_miss;
        break;
    case ORACLE_ROUND_ROBIN: /* an older request may close the row after `row_hits` column commands */
        if (offer.column < 0 || (oldest != offer.column && oracle->columns[bank] >= oracle->row_hits))
            offer.row = oldest;
        break;
    }
    return offer;
}

/* Priority, lowest first. */
static inline unsigned oracle_priority(const struct dram_oracle *oracle, int request) {
    const struct oracle_request *r = &oracle->queue[request];
    unsigned banks = (unsigned)oracle->device->banks;
    if (oracle->rule != ORACLE_ROUND_ROBIN) return (r->opened ? 0 : ORACLE_QUEUE) + (unsigned)request;
    return (r->bank + banks - oracle->last_bank - 1) % banks;
}

static inline void oracle_issue(struct dram_oracle *oracle, int request, bool column, int64_t cycle) {
    struct oracle_request *r = &oracle->queue[request];
    unsigned bank = r->bank;
    enum dram_command command = column               ? r->write ? DRAM_WRITE : DRAM_READ
                                : oracle->open[bank] ? DRAM_PRECHARGE
                                                     : DRAM_ACTIVATE;
    oracle->command[oracle->commands++] = (struct oracle_command){
        cycle, command, bank, column || !oracle->open[bank] ? r->row : oracle->row[bank], r->name};
    if (column) {
        oracle->columns[bank]++;
        oracle->last_bank = bank;
        if (--r->bursts) return;
        oracle->count--;
        memmove(r, r + 1, (oracle->count - (unsigned)request) * sizeof *r);
    } else if (command == DRAM_PRECHARGE) {
        oracle->open[bank] = false;
    } else {
        oracle->open[bank] = r->opened = true;
        oracle->row[bank] = r->row;
        oracle->columns[bank] = 0;
    }
}

/* What a bank offers in both directions, [row, column][direction]. */
static inline void oracle_offers(const struct dram_oracle *oracle, unsigned bank, int offered[2][2]) {
    struct oracle_offer served = oracle_offer_of(oracle, bank, oracle->writing),
                        other = oracle_offer_of(oracle, bank, !oracle->writing);
    bool unfinished = oracle->write_drain && other.column >= 0 && oracle->queue[other.column].opened;
    bool may_close = !unfinished || !oracle->open[bank];
    offered[0][0] = may_close ? served.row : -1;
    offered[0][1] = -1;
    offered[1][0] = served.column;
    offered[1][1] = unfinished ? other.column : -1;
}

/* One cycle, of the requests that entered the queue in earlier ones. */
static inline void dram_oracle_cycle(struct dram_oracle *oracle, int64_t cycle) {
    int first[2] = {-1, -1}; /* the chosen request: for a row command, for a column command */
    oracle->writing = oracle_direction(oracle);
    for (unsigned bank = 0; bank < (unsigned)oracle->device->banks; bank++) {
        int offered[2][2];
        oracle_offers(oracle, bank, offered);
        for (unsigned i = 0; i < 4; i++) {
            bool column = i / 2;
            int request = offered[column][i % 2];
            if (request < 0) continue;
            enum dram_command command = !column ? oracle->open[bank] ? DRAM_PRECHARGE : DRAM_ACTIVATE
                                        : oracle->queue[request].write ? DRAM_WRITE
                                                                       : DRAM_READ;
            if (!oracle_allowed(oracle, command, bank, cycle)) continue;
            if (first[column] < 0 || oracle_priority(oracle, request) < oracle_priority(oracle, first[column]))
                first[column] = request;
        }
    }
    if (first[0] >= 0 && first[1] >= 0 &&
        (!oracle->device->two_command_buses || oracle->queue[first[0]].bank == oracle->queue[first[1]].bank)) {
        /* Equal: two commands of one bank in turn, of which its older request has the row command. */
        bool row = oracle_priority(oracle, first[0]) <= oracle_priority(oracle, first[1]);
        first[row] = -1;
    }
    if (first[1] >= 0 && first[0] >= 0) { /* the column command may remove its request */
        unsigned name = oracle->queue[first[0]].name;
        oracle_issue(oracle, first[1], true, cycle);
        for (first[0] = 0; oracle->queue[first[0]].name != name;) first[0]++;
        oracle_issue(oracle, first[0], false, cycle);
    } else if (first[1] >= 0) {
        oracle_issue(oracle, first[1], true, cycle);
    } else if (first[0] >= 0) {
        oracle_issue(oracle, first[0], false, cycle);
    }
}

#endif
