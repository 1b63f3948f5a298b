/* The cache controller of an L1: tags, MSHRs, miss queue, and the requests that bypass the cache and are not answered.
 * It does not depend on who sends requests or how they arrive: a private L1 is a controller ticked by its SM.
 *
 * Models the L1 of GPGPU-Sim 3.2.2 as described in "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015, section
 * 2.2): allocation on a miss, MSHRs with merging, a miss queue, and reservation failures that the load/store unit
 * replays. Global writes are write-through and invalidate a line they hit; thread-local writes stay in a line they hit,
 * which is written back on eviction. Writes do not allocate. Atomics, which invalidate a line like a write, and reads
 * with `bypass` set bypass the cache.
 *
 * A thread observes its own earlier stores:
 *   - A fill in flight when a store to its line is sent may be older than the store. It is stale: it serves its waiters
 *     and is then dropped. Later reads of the line do not merge with it but bypass the cache, behind the store.
 *   - If the network may reorder packets, an access to a sector with an unacknowledged store is a reservation failure
 *     until the acknowledgement: reads and atomics must observe the store, and of two stores the later must win.
 *     Atomics count as stores, except among themselves: none is lost in any order. The comparison is exact, by line and
 *     sectors.
 *
 * The insertion policy (insertion.h) decides whether a read miss allocates; otherwise the read bypasses the cache.
 *
 * With l1.bypass_queue, reads and atomics that bypass the cache wait for the network in their own queue ("the bypassed
 * requests do not compete for L1 MSHRs and miss queues", ICS 2015, section 6.1e). The two queues send in turn. An access
 * to a line with a store in the other queue is a reservation failure until the store is sent.
 *
 * A request is sent in the cycle of its lookup unless others are queued. Per cycle: the accesses of the load/store unit,
 * usually one (l1.tags_per_cycle), one reply received, one request sent, one waiter woken. The waiters of a filled line
 * are woken one per cycle, and its MSHR is freed with the last.
 *
 * With l1.sector_bytes, lines are sectored (sectored.h); this header describes whole lines.
 *
 * Not modelled: the banks of the data array (the load/store unit models the width of its port, l1.port_bytes); a store
 * that overtakes an earlier read in the network, whose data would then be too new.
 */
#ifndef SLUICE_L1_CONTROLLER_H
#define SLUICE_L1_CONTROLLER_H

#include "base/ring.h"
#include "cache/cache.h"
#include "cache/mshr.h"
#include "l1/l1.h"

struct l1_controller;
struct l1_sectors;

/* A cooperating cache: may supply a line on a read miss; observes fills, evictions and stores. */
struct l1_partner {
    const struct l1_partner_ops *ops;
    struct l1_controller *controller; /* its controller */
};

struct l1_partner_ops {
    /* Whether to request the line of a read miss from the partner instead of the LLC. Changes no state. */
    bool (*wants)(const struct l1_partner *partner, const struct l1_request *request, const struct cache_access *access,
                  uint64_t now);
    /* A read missed and MSHR `mshr` was allocated. The partner supplies the line if it was `wanted`. */
    void (*missed)(struct l1_partner *partner, const struct l1_request *request, const struct cache_access *access,
                   unsigned mshr, bool wanted, uint64_t now);
    /* Receives one reply per cycle: from the network by l1_controller_receive, or the partner's by l1_controller_fill.
     * Returns the result of l1_controller_receive. `token` is NULL if no access can complete in this cycle. */
    bool (*receive)(struct l1_partner *partner, uint64_t now, uint32_t *token);
    /* The reply to an l1_controller_fetch has arrived. */
    void (*fetched)(struct l1_partner *partner, uint32_t name, uint64_t now);
    void (*observed)(struct l1_partner *partner, enum l1_event event, unsigned set, uint64_t key, uint64_t now);
};

/* A request that bypasses the cache and is not answered. */
struct outstanding {
    uint64_t key;    /* line key */
    uint32_t token;  /* returned on completion */
    uint32_t next;   /* in the store chain or the free list */
    uint8_t sectors; /* in a store chain: sectors stored to */
    uint8_t kind;    /* in a store chain: MESSAGE_WRITE or MESSAGE_ATOMIC */
};

/* Requests waiting for the network, a ring buffer. */
struct l1_queue {
    struct message *entry;
    uint32_t mask, capacity, head, tail;
};

struct l1_controller {
    struct cache cache;
    struct mshr_table mshrs;
    struct l1 *owner; /* provides the gate and the insertion policy */
    struct l1_gate *gate;
    struct port *to_network, *from_network, *to_control;
    struct llc_organisation *llc;
    struct engine *engine;
    const struct config *config;
    struct waker waker; /* of the component that ticks it */
    uint16_t index, cluster;
    uint8_t line_log2;
    uint8_t whole_line;    /* all sectors of a line */
    uint8_t home_log2;     /* lines are interleaved over 2^home_log2 nodes */
    uint32_t homes;        /* or, if not 0, over this many */
    unsigned probe_cycles; /* of the insertion policy */
    struct l1_queue miss_queue;
    struct l1_queue bypass_queue; /* of reads and atomics that bypass the cache; capacity 0: they use the miss queue */
    uint32_t miss_slots, merge_slots; /* free entries of the miss queue that a miss and a pending hit need */
    bool bypass_next;                 /* the queue whose turn it is if both have requests */
    /* MSHRs of filled lines whose waiters are being woken, oldest first. */
    struct ring arrived;
    uint64_t sent_at; /* cycle of the last request sent */
    struct outstanding *outstanding;
    uint32_t outstanding_free; /* head of the free list */
    uint32_t outstanding_count, outstanding_used;
    bool ordered;               /* requests may overtake each other, in two queues or in the network */
    uint32_t *stores;           /* unacknowledged stores, hashed by line; NULL if the network preserves order */
    struct l1_partner *partner; /* NULL: none */
    struct l1_sectors *sectors; /* NULL: lines are not sectored */
    bool plain;                 /* whole lines, without insertion policy and partner */
    uint32_t awaited;           /* by the last request with a reservation failure: enum change, or a set; 0: any */
    bool seen;                  /* line events have an observer */
    struct l1_stats stats;
};

/* Initialises controller `index` of `owner`. */
void l1_controller_init(struct l1_controller *controller, struct l1 *owner, unsigned index,
                        const struct l1_context *context);
/* Called once the owner has its insertion policy and observer. */
void l1_controller_settle_in(struct l1_controller *controller);
void l1_controller_release(struct l1_controller *controller);
void l1_controller_connect(struct l1_controller *controller, const struct l1_ports *ports);

/* As in struct l1_ops. */
enum l1_outcome l1_controller_access(struct l1_controller *controller, const struct l1_request *request, uint64_t now);
enum l1_outcome l1_controller_foresee(struct l1_controller *controller, const struct l1_request *request);
unsigned l1_controller_hits(struct l1_controller *controller, const struct l1_request *request, const uint64_t *access,
                            unsigned count);
unsigned l1_controller_tick(struct l1_controller *controller, uint64_t now, uint32_t *token);
void l1_controller_tick_blocked(struct l1_controller *controller, uint64_t now);
void l1_controller_flush(struct l1_controller *controller);
void l1_controller_resize(struct l1_controller *controller, unsigned ways);
bool l1_controller_busy(const struct l1_controller *controller);
void l1_controller_explain(const struct l1_controller *controller, FILE *out);

/* For partners. */

/* Whether a reply of the network can be received; if not `open`, only one that completes no access. */
bool l1_controller_replied(const struct l1_controller *controller, bool open, uint64_t now);
/* Receives a reply from the network, if one is visible. Returns whether it completes a bypassing access. */
bool l1_controller_receive(struct l1_controller *controller, uint64_t now, uint32_t *token);
/* Fills the line of an MSHR. */
void l1_controller_fill(struct l1_controller *controller, unsigned mshr, uint64_t now);
/* Whether a store to the line was sent since the MSHR was allocated. */
bool l1_controller_stale(const struct l1_controller *controller, unsigned mshr);
/* The line if it is valid, else NULL. */
struct cache_line *l1_controller_find(struct l1_controller *controller, unsigned set, uint64_t key);
/* Requests the line of a request from the LLC; `name` (30 bits) is returned by `fetched`. The miss queue must have
 * space. */
bool l1_controller_can_fetch(const struct l1_controller *controller);
void l1_controller_fetch(struct l1_controller *controller, const struct l1_request *request, uint32_t name,
                         uint64_t now);

/* With a latency observer: the partner supplies the line of an MSHR; the answer of an l1_controller_fetch, for its line,
 * has arrived. Both precede the fill. */
void l1_controller_observe_partner(struct l1_controller *controller, unsigned mshr, uint64_t now);
void l1_controller_observe_fetched(struct l1_controller *controller, unsigned mshr, uint32_t name);

/* For the sectored L1. */

enum l1_outcome l1_controller_pass_by(struct l1_controller *controller, const struct l1_request *request, uint64_t now);
/* The reservation failure of a miss that requests these sectors, by stores or the miss queue; 0: none. */
enum l1_outcome l1_controller_can_request(struct l1_controller *controller, uint64_t key, uint8_t sectors,
                                          uint64_t now);
/* The same of a pending hit. */
enum l1_outcome l1_controller_can_merge(struct l1_controller *controller, uint64_t now);
/* Requests sectors of the line of a request. The reply calls l1_sectored_fill. */
void l1_controller_request_sectors(struct l1_controller *controller, const struct l1_request *request, unsigned mshr,
                                   uint8_t sectors, uint64_t now);

#endif
