/* The internal state of a slice, and what its two files share: slice.c, and sectored.c for sectored lines. */
#ifndef SLUICE_LLC_SLICE_STATE_H
#define SLUICE_LLC_SLICE_STATE_H

#include "base/ring.h"
#include "cache/cache.h"
#include "cache/mshr.h"
#include "llc/llc.h"
#include "llc/organisation.h"
#include "sim/latency.h"

/* Why the oldest request is blocked. */
enum hold {
    HOLD_NONE,
    HOLD_MSHR,
    HOLD_MERGE,
    HOLD_LINE,
    HOLD_REPLY,
    HOLD_HIT,  /* by the full reply queue, as HOLD_REPLY; it is a hit on `blocked_line` (foresee) */
    HOLD_MISS, /* by the lack of an MSHR, as HOLD_MSHR (foresee) */
    HOLD_MEMORY,
    HOLD_FLUSH,
    HOLD_PASS,
    HOLD_AHEAD, /* it is not, but waits for the cycle after a lookup that was made ahead of time (look_up_ahead) */
};

/* The `tag` of a message to memory, which identifies its answer. */
#define TAG_FILL       UINT32_C(0) /* low bits: the MSHR */
#define TAG_WRITE_BACK (UINT32_C(1) << 30)
#define TAG_FLUSHED    (TAG_WRITE_BACK | 1)
#define TAG_THROUGH    (UINT32_C(2) << 30) /* low bits: the write that waits for it */
#define TAG_KIND       (UINT32_C(3) << 30)

enum { THROUGH_WRITES = 256 }; /* more than the ports to and from memory hold */

/* The kind of a waiter whose write memory acknowledges: it gets no reply when the line arrives. */
enum { WRITE_PASSED_ON = MESSAGE_ACK };

/* Flag of a line being fetched: a write or an atomic waits for it. */
enum { LINE_AWAITED_BY_CHANGE = 1 };

/* A request in the replay queue, decoded for the lookup. */
struct lookup {
    struct cache_access access;
    struct message message;
};

struct slice {
    unsigned index, component;
    struct waker waker; /* of the component */
    struct engine *engine;
    const struct address_map *map;    /* home slices of lines */
    struct llc_organisation *watcher; /* organisation of the first program, if it observes lookups; else NULL */
    struct port *from_network, *to_network, *from_memory, *to_memory;
    struct port *commands, *reports, *to_atomics, *from_atomics;
    unsigned latency_cycles, atomic_cycles, flush_lines, line_log2;
    uint16_t data_cycles[SECTORS_MAX + 1]; /* of the data port, by number of sectors */
    uint8_t whole_line;                    /* all sectors of a line */
    bool write_through[PROGRAMS_MAX], allocate_through, whole_write_backs;
    struct cache cache;
    struct mshr_table mshrs;
    struct slice_sectors *sectors; /* NULL: lines are not sectored */
    struct message *reply;         /* hits that wait for the data port */
    uint32_t reply_mask, reply_capacity, reply_head, reply_tail;
    unsigned replies_waiting; /* in the reply queue and in `arrived` */
    struct ring arrived; /* answers of memory whose requests are to be answered, oldest first: MSHRs, or TAG_THROUGH and
                             a write */
    struct lookup *replay; /* oldest first */
    unsigned replay_count, replay_capacity;
    bool replay_retry;                     /* a line has arrived since the last attempt */
    struct message *through;               /* writes not yet acknowledged by memory */
    uint16_t through_free[THROUGH_WRITES]; /* stack of free entries */
    unsigned through_free_count;
    uint32_t outstanding_writes[PROGRAMS_MAX]; /* write-backs and write-throughs not yet acknowledged by memory */
    uint64_t port_free_at, lookup_free_at;
    enum hold hold;                     /* in the last tick; constant while the slice sleeps */
    uint64_t settled;                   /* counters include all cycles before this one */
    struct cache_access blocked_access; /* with HOLD_HIT and HOLD_MISS: the access of the oldest request, */
    struct cache_line *blocked_line;    /* and, with HOLD_HIT, its line */
    bool looks_ahead;                   /* nothing else depends on the cycles of lookups: see look_up_ahead */
    uint64_t *ahead;   /* the counter of a lookup made in the cycle before its own (look_up_ahead); else NULL */
    uint64_t ahead_at; /* the cycle of that lookup */
    bool ahead_evicts; /* it evicts a line */
    bool flushing;
    struct slice_command flush;
    uint32_t flush_writes; /* of a flush, not yet acknowledged by memory */
    uint32_t flush_set, flush_way;
    uint64_t flush_done_at;
    slice_observer *observer;
    void *observer_user;
    struct latency *latency;       /* observer of latencies; NULL: none */
    enum latency_stage arrives_by; /* what is in front of it */
    bool copies;                   /* its memory is the mirror of a slice */
    struct llc_stats stats;
    struct llc_reservation_fail_stats fails;
};

/* Reports an event to the observer. */
static inline void notify(const struct slice *slice, enum slice_event event, uint64_t key,
                          const struct message *message, uint64_t now) {
    if (UNLIKELY(slice->observer != NULL))
        slice->observer(slice->observer_user, slice->index, event, key, message, now);
}

static inline uint8_t key_program(uint64_t key) { return (uint8_t)(key >> 56); }

static ALWAYS_INLINE void send_to_memory(struct slice *slice, enum message_kind kind, uint64_t key, uint8_t sectors,
                                         uint32_t tag, uint64_t now) {
    *(struct message *)port_push_place(slice->to_memory, now) = (struct message){
        .address = (key & low_mask(56)) << slice->line_log2,
        .tag = tag,
        .source = (uint16_t)slice->index,
        .kind = (uint8_t)kind,
        .sectors = sectors,
        .program = key_program(key),
    };
}

/* The counter of hits or misses of a kind of request. */
static inline uint64_t *counter_of(struct llc_stats *stats, uint8_t kind, bool hit) {
    if (kind == MESSAGE_WRITE) return hit ? &stats->write_hits : &stats->write_misses;
    if (kind == MESSAGE_ATOMIC) return hit ? &stats->atomic_hits : &stats->atomic_misses;
    return hit ? &stats->read_hits : &stats->read_misses;
}

/* Observation of latencies, in slices with `latency`: a successful lookup; a fetch that has been sent to memory, and the
 * arrival of its sectors; a waiter of that fetch, which then has all sectors that it needs. */
void slice_observe_lookup(struct slice *slice, const struct message *message, bool present, bool pending, uint64_t now);
void slice_observe_fetch(struct slice *slice, unsigned mshr, uint8_t sectors, uint64_t now);
void slice_observe_served(struct slice *slice, const struct message *waiter, unsigned mshr, uint8_t sectors);

/* Counts a lookup: `present` and `pending` are hits. */
static ALWAYS_INLINE void count(struct slice *slice, const struct cache_access *access, const struct message *message,
                                bool present, bool pending, bool plain, uint64_t now) {
    struct llc_stats *stats = &slice->stats;
    if (!plain && UNLIKELY(slice->latency != NULL)) slice_observe_lookup(slice, message, present, pending, now);
    if (!plain && UNLIKELY(slice->watcher != NULL))
        slice->watcher->ops->profile->looked_up(llc_of_program(slice->watcher, message->program), slice->index, message,
                                                access, present || pending, now);
    if (pending && message->kind == MESSAGE_READ)
        stats->read_pending_hits++;
    else
        ++*counter_of(stats, message->kind, present || pending);
}

static inline bool reply_queue_full(const struct slice *slice) {
    return slice->reply_tail - slice->reply_head >= slice->reply_capacity;
}

/* Writes the dirty sectors of a line to memory. */
void slice_write_back(struct slice *slice, struct cache_line *line, uint32_t tag, uint64_t now);

#endif
