/* One memory channel: a queue of requests, the banks with their open rows, and the schedule of commands between them.
 * Time is in cycles of the memory's clock. Inside src/dram only; the controller (dram.c) owns channels and connects
 * them to ports.
 *
 * In each cycle every bank offers at most one column command and one row command, chosen among its requests by the
 * scheduler (scheduler.h). The channel issues, of those that the timings allow, the command of the oldest request; a
 * request whose row has been opened goes before all others, and gives up its entry in the queue (as in Ramulator). With
 * two command buses, column commands and row commands are chosen apart. A request that has waited longer than the
 * starvation limit is not overtaken in its bank. A row that no queued request wants is closed when the row policy says
 * so (row_policy.h), in a cycle in which the command bus is free.
 *
 * Lazy evaluation. A channel is advanced from event to event: `next` is a cycle before which no command can be issued,
 * and channel_run() jumps there. It is the least of lower bounds, one for each sort of command (`column_next`,
 * `row_next`) and for what happens rarely (`rare_next`: starvation, refresh, the row policy).
 *
 *   - Why it is exact: what may be issued in a cycle depends on the queues, the banks' rows and the "not before" times,
 *     and these change only by a command or an arrival. Each change lowers the bounds to the first cycle in which it
 *     could allow a command (`expect`); a bound that is too low costs a look that finds nothing, and a look changes
 *     nothing but the bounds. A bound that is too high would be an error.
 *   - The plain version: `*polled` (`--no-skip`) sets the bounds to the next cycle after every look, so that every cycle
 *     is looked at.
 *   - The tests that compare the two: tests/dram/policy_test.c, over all schedulers and row policies on both kinds,
 *     and tests/dram/dram_test.c; the checker of tests/dram/command_test.c knows nothing of bounds.
 *
 * What the controller does later than in its cycle is a second layer: dram.c.
 */
#ifndef SLUICE_DRAM_CHANNEL_H
#define SLUICE_DRAM_CHANNEL_H

#include "base/base.h"
#include "dram/dram.h"
#include "dram/dram_config.h"
#include "dram/scheduler.h"
#include "sim/message.h"

enum { DRAM_BANKS_MAX = 64, REQUEST_NONE = 0xFFFF };

/* What carries column commands, and what carries row commands; one and the same in memories with one command bus. */
enum dram_bus { COLUMN_BUS, ROW_BUS };

/* A request from the moment it leaves a slice's port until its reply is handed to one. Two cache lines of the host, so
 * that finding one is a shift. */
struct dram_request {
    struct message message;
    uint64_t entered;     /* the queue, in memory cycles */
    uint64_t done;        /* last data on the bus, in memory cycles */
    uint64_t ready;       /* for the queue, in core cycles */
    uint64_t ready_cycle; /* the same in memory cycles: the last that has begun by then */
    uint64_t rank;        /* of those that could go, the lowest does: RANK_WAITING, order of entering, bank */
    uint32_t row, column;
    uint16_t next;  /* the next younger one of the same bank and queue */
    uint16_t slice; /* the port it came by */
    uint8_t bank;
    uint8_t write;  /* 0 or 1 */
    uint8_t bursts; /* of the line that are still to be moved, one bit each */
    bool begun;     /* a command has been issued for it */
    uint8_t spare[40];
};

/* In ranks: the request's row has not been opened for it, or has; then it goes before all others. Either bit also makes
 * a rank, read as a floating-point number, a normal one. */
#define RANK_WAITING (UINT64_C(1) << 62)
#define RANK_OPENED  (UINT64_C(1) << 61)

static inline bool request_row_opened(const struct dram_request *request) { return request->rank < RANK_WAITING; }

_Static_assert(sizeof(struct dram_request) == 128, "two cache lines of the host");

/* Requests that compete with each other: all of a channel's, or its reads or writes alone. The requests whose commands a
 * bank offers are its *candidates*, one for a column and one for a row command; sets of banks are bit masks. */
struct dram_queue {
    uint64_t hit[2];                       /* banks with a candidate for a column command: a read, a write */
    uint64_t closed;                       /* banks with a candidate for an activate */
    uint64_t conflict;                     /* banks with a candidate for a precharge */
    uint64_t activated;                    /* banks whose candidate has had its row opened for it */
    uint64_t strict;                       /* banks whose oldest request has waited too long: no row hit overtakes it */
    unsigned room;                         /* free entries of the channel's queue */
    unsigned in_queue;                     /* requests that hold an entry: they give it up when their row is opened */
    unsigned waiting;                      /* requests that still need their column command */
    uint16_t candidate[2][DRAM_BANKS_MAX]; /* by enum dram_bus */
    uint64_t rank[2][DRAM_BANKS_MAX];      /* of the candidates */
    uint16_t head[DRAM_BANKS_MAX], tail[DRAM_BANKS_MAX]; /* of the bank's requests, oldest first */
    uint16_t entries[DRAM_BANKS_MAX];                    /* in_queue by bank */
};

/* Least distances between commands, from the device's timings. [0] is for reads, [1] for writes. */
struct dram_delays {
    uint64_t burst, burst_bytes;
    uint64_t done[2]; /* column command to the end of its data */
    uint64_t same[2]; /* to the next of the same direction */
    uint64_t same_group[2];
    uint64_t other[2]; /* to the next of the other direction */
    uint64_t other_group[2];
    uint64_t precharge[2];
    uint64_t column[2];                      /* activate to column command */
    uint64_t row_open, row_cycle, row_close; /* tRAS, tRC, tRP */
    uint64_t activate, activate_group, four_activates;
};

struct dram_channel {
    uint64_t next;         /* no command can be issued before this cycle */
    uint64_t column_next;  /* lower bound of the next column command */
    uint64_t row_next;     /* lower bound of the next activate or precharge */
    uint64_t starve_next;  /* when the oldest request will have waited too long */
    uint64_t refresh_next; /* when the refresh has something to do: it is due, or its next step can be taken */
    uint64_t close_next;   /* lower bound of the next precharge by the row policy */
    uint64_t rare_next;    /* the earliest of the three */
    bool refreshing;
    bool writing; /* the write queue is being drained */
    bool write_drain, two_command_buses;
    bool common_case;                 /* one queue, FR-FCFS, open rows: an arrival concerns its bank alone */
    struct dram_queue *active, *idle; /* of `queue`: the one that is served, and the other */
    struct dram_queue *queue_of[2];   /* of `queue`: the one that reads enter, and writes */
    unsigned group_mask;
    uint64_t next_rank; /* of the next request, but for its bank */
    uint64_t by_offer;  /* all banks if the scheduler has an `offer`, else none */
    const struct dram_scheduler_ops *scheduler;
    const void *scheduler_values; /* of its own section, NULL if it has none */
    unsigned last_column_bank;    /* if the scheduler has an `offer` */

    /* When each command may next be issued as far as the whole channel, a bank group and a bank are concerned. */
    uint64_t column_at[2], activate_at;
    uint64_t groups_column_at[2]; /* the latest of group_column_at */
    uint64_t groups_activate_at;
    /* Banks whose own time may not have come yet; the others' has. */
    uint64_t column_wait[2], activate_wait, precharge_wait;
    uint64_t open;              /* banks with an open row */
    uint64_t capped;            /* banks whose open row has had more column commands than the cap allows to go first */
    uint64_t unwanted;          /* banks whose open row no queued request wants, if the row policy closes rows */
    struct dram_queue queue[2]; /* reads (or everything) and writes */
    uint64_t bank_column_at[2][DRAM_BANKS_MAX], bank_activate_at[DRAM_BANKS_MAX], bank_precharge_at[DRAM_BANKS_MAX];
    uint64_t group_column_at[2][DRAM_BANKS_MAX], group_activate_at[DRAM_BANKS_MAX];
    uint64_t group_banks[DRAM_BANKS_MAX]; /* the banks of a group */
    uint32_t open_row[DRAM_BANKS_MAX];
    uint32_t row_columns[DRAM_BANKS_MAX]; /* column commands to the open row */
    uint64_t unwanted_at[DRAM_BANKS_MAX]; /* from when on the row policy may close it */
    uint64_t last_activates[4];
    unsigned activate_count;

    struct dram_request *request;
    uint16_t *free_request;
    unsigned free_count, request_count;
    uint16_t arrival, last_arrival; /* requests on their way to the queue, linked by `next`; REQUEST_NONE: none */
    uint64_t blocked_since;         /* core cycle in which the first of them found the queue full, else NEVER */
    uint64_t enter_from;            /* core cycle from which the next may enter: one in each */
    unsigned writes;                /* requests that are writes, from port to port */
    uint16_t *done; /* requests whose last data has been scheduled and that the controller has not collected yet */
    unsigned done_count;

    struct dram_delays delay;
    uint32_t row_hit_cap, columns_unnoticed; /* column commands to a row: that go first, that change nothing else */
    uint64_t close_after;                    /* NEVER: the row policy closes no rows */
    unsigned bank_queue;
    unsigned drain_high, drain_low, drain_idle; /* requests */
    uint64_t starvation_cycles;
    uint64_t refresh_due;
    const bool *polled; /* every cycle is looked at, as a check that `next` leaves out none that matters */
    const struct dram_device *device;
    unsigned index, mc;
    dram_log_fn *log;
    void *log_user;
    struct dram_stats stats;
};

void channel_init(struct dram_channel *channel, const struct config *config, unsigned mc, unsigned index,
                  const bool *polled);
void channel_release(struct dram_channel *channel);

/* A free request: there must be one. */
static inline uint16_t channel_allocate(struct dram_channel *channel) {
    assert(channel->free_count);
    return channel->free_request[--channel->free_count];
}
static inline void channel_free(struct dram_channel *channel, uint16_t index) {
    channel->free_request[channel->free_count++] = index;
}

static inline bool channel_idle(const struct dram_channel *channel) {
    return channel->queue[0].waiting + channel->queue[1].waiting == 0;
}

static inline bool channel_has_room(const struct dram_channel *channel, bool write, unsigned bank) {
    const struct dram_queue *queue = channel->queue_of[write];
    return queue->room || queue->entries[bank] < channel->bank_queue;
}

/* The oldest of a bank's requests for its open row, REQUEST_NONE if there is none; for schedulers. */
static inline uint16_t channel_oldest_hit(const struct dram_channel *channel, const struct dram_queue *queue,
                                          unsigned bank) {
    uint16_t hit = channel->open >> bank & 1 ? queue->head[bank] : REQUEST_NONE;
    while (hit != REQUEST_NONE && channel->request[hit].row != channel->open_row[bank])
        hit = channel->request[hit].next;
    return hit;
}

/* Puts a request, which must find room, into its queue in memory cycle `cycle`; commands for it can be issued from the
 * next one on. */
void channel_enter(struct dram_channel *channel, uint16_t index, uint64_t cycle);

/* Issues everything that is due in cycles up to and including `until`; but if a request is waiting for room in its
 * queue, only up to the cycle that makes some. Returns that cycle, NEVER if there was none. */
uint64_t channel_run(struct dram_channel *channel, uint64_t until, const struct dram_request *waiting);

#endif
