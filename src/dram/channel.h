/* One memory channel: a queue of requests, the banks with their open rows, and the scheduling of commands. Time is in
 * memory cycles, but requests arrive in core cycles. Private to src/dram; the controller (dram.c) owns the channels and
 * connects them to ports.
 *
 * In each cycle every bank offers at most one column command and one row command, chosen among its requests by the
 * scheduler (scheduler.h). Of the offered commands that the timings allow, the channel issues that of the oldest
 * request. A request whose row has been opened has priority over all others, and frees its entry in the queue (as in
 * Ramulator). With two command buses, column and row commands are chosen independently. A request that has waited
 * longer than the starvation limit is not overtaken in its bank. A row that no queued request needs is closed by the
 * row policy (row_policy.h), in a cycle in which the command bus is free.
 *
 * Lazy evaluation. A channel advances from event to event: `next` is a cycle before which no command can be issued, and
 * channel_catch_up() jumps there. It is the minimum of lower bounds, one for each class of command (`column_next`,
 * `row_next`) and one for rare events (`rare_next`: starvation, refresh, row policy).
 *
 *   - Why it is exact: the commands possible in a cycle depend on the queues, the open rows and the earliest issue times,
 *     and these change only by a command or an arrival. Each change lowers the bounds to the first cycle in which it could
 *     allow a command (`expect`). A bound that is too low costs a check that finds nothing and changes only the bounds; a
 *     bound that is too high would be an error.
 *   - Bursts: up to the bounds of all other commands, the further column commands of a request follow its first one
 *     without being chosen again (issue_all_but_last). The request has priority over all other candidates that are ready,
 *     and none of them can be issued before its next command (others_come_first).
 *   - The plain version: `*polled` (`--no-skip`) sets the bounds to the next cycle after every check, so that every cycle
 *     is checked, and issues one command at a time.
 *   - The tests that compare the two: tests/dram/policy_test.c, over all schedulers and row policies on both kinds, and
 *     tests/dram/dram_test.c; the checker of tests/dram/command_test.c and the oracle of tests/dram/oracle_test.c do not
 *     use the bounds.
 *
 * The controller postpones work in a second layer: dram.c.
 */
#ifndef SLUICE_DRAM_CHANNEL_H
#define SLUICE_DRAM_CHANNEL_H

#include "base/base.h"
#include "dram/dram.h"
#include "dram/dram_config.h"
#include "dram/scheduler.h"
#include "sim/clock.h"
#include "sim/message.h"

enum { DRAM_BANKS_MAX = 64 };

/* The buses of column and row commands; the same bus in memories with one command bus. */
enum dram_bus { COLUMN_BUS, ROW_BUS };

/* A request, from leaving a slice's port until its reply is pushed into one. */
struct dram_request {
    struct message message;
    struct dram_request *next; /* next younger arrival, then request of the same bank and queue; the next free one */
    uint64_t entered;          /* time of entering the queue, in memory cycles */
    uint64_t done;             /* last data on the bus, in memory cycles */
    uint64_t ready;            /* earliest core cycle to enter the queue, then that of entering it */
    uint64_t ready_cycle;      /* the same in memory cycles: the last that has begun by then */
    uint64_t rank;             /* priority, lowest first: RANK_WAITING, order of arrival, bank */
    uint64_t begun_at;         /* memory cycle of its first command */
    uint32_t row;
    uint32_t column; /* for the command log */
    uint16_t slice;  /* source port */
    uint8_t bank;
    uint8_t write;  /* 0 or 1 */
    uint8_t bursts; /* bursts of the line still to be transferred, one bit each */
    bool begun;     /* its first command has been issued */
    bool forwarded; /* a read whose data came from the write queue */
};

/* Bits of a rank: the request's row has not been opened for it, or has; then it has priority over all others. Either
 * bit also makes a rank, read as a floating-point number, a normal one. */
#define RANK_WAITING (UINT64_C(1) << 62)
#define RANK_OPENED  (UINT64_C(1) << 61)

static inline bool request_row_opened(const struct dram_request *request) { return request->rank < RANK_WAITING; }

_Static_assert(sizeof(struct dram_request) <= 128, "two cache lines of the host");

/* Requests that compete with each other: all of a channel's, or only its reads or its writes. The requests whose
 * commands a bank offers are its *candidates*, one for a column and one for a row command; sets of banks are bit
 * masks. */
struct dram_queue {
    uint64_t hit[2];    /* banks with a candidate for a column command: read, write */
    uint64_t closed;    /* banks with a candidate for an activate */
    uint64_t conflict;  /* banks with a candidate for a precharge */
    uint64_t activated; /* banks whose candidate has had its row opened */
    uint64_t strict;    /* banks whose oldest request is starved: no row hit overtakes it */
    unsigned room;      /* free entries of the channel's queue */
    unsigned in_queue;  /* requests that hold an entry, until their row is opened */
    unsigned waiting;   /* requests that still need a column command */
    struct dram_request *candidate[2][DRAM_BANKS_MAX];                /* by enum dram_bus */
    uint64_t rank[2][DRAM_BANKS_MAX];                                 /* of the candidates */
    struct dram_request *head[DRAM_BANKS_MAX], *tail[DRAM_BANKS_MAX]; /* the bank's requests, oldest first; or NULL */
    uint16_t entries[DRAM_BANKS_MAX];                                 /* in_queue per bank */
};

/* Minimum distances between commands, from the device's timings. [0] is for reads, [1] for writes. */
struct dram_delays {
    uint64_t burst, burst_bytes;
    uint64_t done[2]; /* column command to the end of its data */
    uint64_t same[2]; /* to the next in the same direction */
    uint64_t same_group[2];
    uint64_t other[2]; /* to the next in the other direction */
    uint64_t other_group[2];
    uint64_t repeat[2];   /* to the next for the same row */
    bool repeat_first[2]; /* none for another row can be issued before that */
    uint64_t precharge[2];
    uint64_t column[2];                      /* activate to column command */
    uint64_t first_column;                   /* the shorter of the two */
    uint64_t row_open, row_cycle, row_close; /* tRAS, tRC, tRP */
    uint64_t activate, activate_group, four_activates;
};

/* Which rules apply, beyond those of FR-FCFS with one queue, one command bus and open rows. channel.c compiles its loop
 * for the common combinations, so that rules that do not apply cost nothing. */
struct rules {
    bool drain;     /* a separate queue for writes */
    bool two_buses; /* column and row commands on separate buses */
    bool special;   /* a scheduler with its own `offer` or a cap, a row policy that closes rows */
};

struct dram_channel {
    uint64_t next;         /* earliest cycle of the next command */
    uint64_t column_next;  /* lower bound of the next column command */
    uint64_t row_next;     /* lower bound of the next activate or precharge */
    uint64_t starve_next;  /* when the oldest request will be starved */
    uint64_t refresh_next; /* next step of the refresh: it is due, or can continue */
    uint64_t close_next;   /* lower bound of the next precharge by the row policy */
    uint64_t rare_next;    /* the earliest of the three */
    bool refreshing;
    bool writing;                        /* the write queue is being drained */
    bool turns;                          /* the direction changes at the next command */
    bool column_groups, activate_groups; /* whether timings within a bank group are longer than others */
    struct rules rules;
    struct dram_queue *active, *idle; /* of `queue`: the one that is served, and the other */
    unsigned group_mask;
    uint64_t next_rank; /* of the next request, without its bank */
    uint64_t by_offer;  /* all banks if the scheduler has an `offer`, else none */
    const struct dram_scheduler_ops *scheduler;
    const void *scheduler_values; /* of the scheduler's section, NULL if it has none */
    unsigned last_column_bank;    /* if the scheduler has an `offer` */

    /* Earliest cycle of each command as constrained by the channel, a bank group and a bank. */
    uint64_t column_at[2], activate_at;
    /* Banks, and groups, that may have to wait for their own timings; the others need not. */
    uint64_t column_wait[2], activate_wait, precharge_wait;
    uint64_t column_group_wait[2], activate_group_wait;
    uint64_t open;              /* banks with an open row */
    uint64_t capped;            /* banks whose open row has exceeded the cap on row hits */
    uint64_t unwanted;          /* banks whose open row no queued request needs, if the row policy closes rows */
    struct dram_queue queue[2]; /* reads (or all requests) and writes */
    uint64_t bank_column_at[2][DRAM_BANKS_MAX], bank_activate_at[DRAM_BANKS_MAX], bank_precharge_at[DRAM_BANKS_MAX];
    uint64_t group_column_at[2][DRAM_BANKS_MAX], group_activate_at[DRAM_BANKS_MAX];
    uint64_t group_banks[DRAM_BANKS_MAX]; /* the banks of a group */
    uint32_t open_row[DRAM_BANKS_MAX];
    uint32_t row_columns[DRAM_BANKS_MAX]; /* column commands to the open row */
    uint64_t unwanted_at[DRAM_BANKS_MAX]; /* earliest cycle in which the row policy may close it */
    uint64_t last_activates[4];
    unsigned activate_count;

    struct dram_request *request, *free_request; /* all requests; the free ones, linked by `next` */
    unsigned free_count, request_count;
    struct dram_request *arrival, *last_arrival; /* requests on the path to the queue, linked by `next` */
    uint64_t blocked_since;     /* core cycle since which the first of them waits for a full queue; else NEVER */
    struct moment enter_from;   /* earliest time for the next to enter: one per core cycle */
    unsigned writes;            /* writes among all requests, from port to port */
    struct dram_request **done; /* requests whose last data is scheduled and that the controller has not collected */
    unsigned done_count;

    struct dram_delays delay;
    uint32_t row_hit_cap, columns_unnoticed; /* column commands to a row: with priority; without other effects */
    uint64_t close_after;                    /* NEVER: the row policy closes no rows */
    unsigned bank_queue;
    unsigned drain_high, drain_low, drain_idle; /* numbers of requests */
    uint64_t starvation_cycles;
    uint64_t refresh_due;
    const bool *polled; /* check every cycle, to verify that `next` skips none that matters */
    const struct dram_device *device;
    unsigned index, mc;
    uint64_t bit; /* of the channel in sets of the controller's channels */
    dram_log_fn *log;
    void *log_user;
    uint64_t columns[2]; /* column reads and writes that channel_settle has not counted yet */
    struct dram_stats stats;
};

void channel_init(struct dram_channel *channel, const struct config *config, unsigned mc, unsigned index,
                  const bool *polled);
void channel_release(struct dram_channel *channel);

/* Completes the counters. */
void channel_settle(struct dram_channel *channel);

/* Allocates a request: there must be a free one. */
static inline struct dram_request *channel_allocate(struct dram_channel *channel) {
    assert(channel->free_count);
    struct dram_request *request = channel->free_request;
    channel->free_request = request->next;
    channel->free_count--;
    return request;
}
static inline void channel_free(struct dram_channel *channel, struct dram_request *request) {
    request->next = channel->free_request;
    channel->free_request = request;
    channel->free_count++;
}

/* Adds a request to the arrivals, with the cycle from which it may enter its queue. */
static inline void channel_arrive(struct dram_channel *channel, struct dram_request *request) {
    request->next = NULL;
    *(channel->arrival ? &channel->last_arrival->next : &channel->arrival) = request;
    channel->last_arrival = request;
}

static inline bool channel_idle(const struct dram_channel *channel) {
    return channel->queue[0].waiting + channel->queue[1].waiting == 0;
}

/* A bound of the first column command to come, given that no request enters: `next` is that of any command. Without row
 * hits, and with the offers of FR-FCFS, an activate precedes it. */
static inline uint64_t channel_next_column(const struct dram_channel *channel) {
    const struct dram_queue *queue = channel->queue;
    bool hits = queue[0].hit[0] | queue[0].hit[1] | queue[1].hit[0] | queue[1].hit[1];
    return hits || channel->rules.special ? channel->next : channel->next + channel->delay.first_column;
}

static inline bool queue_has_room(const struct dram_channel *channel, const struct dram_queue *queue, unsigned bank) {
    return queue->room || queue->entries[bank] < channel->bank_queue;
}
static inline bool channel_has_room(const struct dram_channel *channel, bool write, unsigned bank) {
    return queue_has_room(channel, &channel->queue[channel->rules.drain & write], bank);
}

/* The oldest request of a bank for its open row, NULL if there is none; for schedulers. */
static inline struct dram_request *channel_oldest_hit(const struct dram_channel *channel,
                                                      const struct dram_queue *queue, unsigned bank) {
    struct dram_request *hit = channel->open >> bank & 1 ? queue->head[bank] : NULL;
    while (hit && hit->row != channel->open_row[bank]) hit = hit->next;
    return hit;
}

/* Whether channel_catch_up() would do anything. */
static inline bool channel_has_work(const struct dram_channel *channel, uint64_t before, uint64_t until) {
    if (channel->next <= until) return true;
    const struct dram_request *first = channel->blocked_since == NEVER ? channel->arrival : NULL;
    return first && first->ready < before && channel->enter_from.core < before;
}

/* Computes what has happened before core cycle `before` and in memory cycles up to and including `until`, in order of
 * time: issues the commands that are due, and moves arrivals into their queue, one per core cycle. The channel has caught
 * up with `from` before. */
void channel_catch_up(struct dram_channel *channel, struct clock clock, const struct moment *from, uint64_t before,
                      uint64_t until);

#endif
