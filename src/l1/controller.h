/* An L1 cache as a controller: tags, MSHRs, the miss queue, and what has gone past the cache and is not answered. It
 * knows neither who asks nor what lies between it and those who ask: a private L1 is a controller that its SM ticks.
 *
 * Models the L1 of GPGPU-Sim 3.2.2 as "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015, section 2.2)
 * describes it: allocation on a miss, MSHRs with merging, a miss queue, and reservation failures that the load/store
 * unit retries. Global writes go through and drop a line they hit; writes to thread-local memory stay in a line they
 * hit and are written back when it is replaced. Nothing is allocated by a write. Atomics, which drop a line like a
 * write, and reads marked `bypass` pass by.
 *
 * A thread sees its own earlier stores:
 *   - A line that is on its way when a store to it goes down may be older than the store. It serves those who wait
 *     for it and is dropped; later reads of it do not join them but go past the cache, behind the store.
 *   - Where the network may let packets overtake each other, whatever needs a sector with a store that is not
 *     acknowledged is refused until it is: reads and atomics, which must see the store, and stores, the last of
 *     which must win. Atomics count as stores, except among themselves: none of them is lost in whatever order they
 *     come. What goes down is compared with each such store exactly, line and sectors.
 *
 * Whether a read that misses brings its line in is the insertion policy's word (insertion.h); else it goes past the
 * cache as if it were marked so.
 *
 * A request leaves in the cycle of its lookup unless others wait before it. One access, one arriving reply, one
 * departing request and one woken load per cycle. The waiters of a line that arrived are woken one per cycle, and
 * its MSHR is free again after the last of them.
 *
 * Left out: a data port narrower than a line, so that a hit takes one cycle whatever its width; a store that
 * overtakes an earlier read in the network, whose data would then be too new.
 */
#ifndef SLUICE_L1_CONTROLLER_H
#define SLUICE_L1_CONTROLLER_H

#include "base/ring.h"
#include "cache/cache.h"
#include "cache/mshr.h"
#include "l1/l1.h"

struct l1_controller;

/* Somebody else who may have the line of a read that missed, and sees what becomes of lines. */
struct l1_partner {
    const struct l1_partner_ops *ops;
    struct l1_controller *controller; /* whose it is */
};

struct l1_partner_ops {
    /* Whether the partner, not the LLC, is to be asked for the line of a read that missed. Changes nothing. */
    bool (*wants)(const struct l1_partner *partner, const struct l1_request *request, const struct cache_access *access,
                  uint64_t now);
    /* A read has missed, MSHR `mshr` is taken for it, and its line is the partner's to bring if it was `wanted`. */
    void (*missed)(struct l1_partner *partner, const struct l1_request *request, const struct cache_access *access,
                   unsigned mshr, bool wanted, uint64_t now);
    /* One reply may be taken in this cycle: by l1_controller_receive, or the partner's by l1_controller_fill. Returns what l1_controller_receive
     * does. */
    bool (*receive)(struct l1_partner *partner, uint64_t now, uint32_t *token);
    /* The network has brought what l1_controller_fetch asked for. */
    void (*fetched)(struct l1_partner *partner, uint32_t name, uint64_t now);
    void (*observed)(struct l1_partner *partner, enum l1_event event, unsigned set, uint64_t key, uint64_t now);
};

/* Something that has gone past the cache and is not answered. */
struct outstanding {
    uint64_t key;    /* its line */
    uint32_t token;  /* what its reply brings back */
    uint32_t next;   /* in the chain of stores, or in the free list */
    uint8_t sectors; /* in a chain: those that it stores to */
    uint8_t kind;    /* likewise: MESSAGE_WRITE or MESSAGE_ATOMIC */
};

struct l1_controller {
    struct cache cache;
    struct mshr_table mshrs;
    struct l1 *owner; /* whose gate and insertion policy it uses */
    struct l1_gate *gate;
    struct port *to_network, *from_network, *to_control;
    struct llc_organisation *llc;
    struct engine *engine;
    unsigned component; /* that ticks it */
    uint16_t index, cluster;
    uint8_t line_log2;
    uint8_t whole_line;    /* all sectors of a line */
    uint8_t home_log2;     /* lines are dealt out to so many nodes as a power of two, */
    uint32_t homes;        /* or, if not 0, to this many */
    unsigned probe_cycles; /* of the insertion policy */
    /* Requests waiting for the network. */
    struct message *queue;
    uint32_t queue_mask, queue_capacity, queue_head, queue_tail;
    /* Lines that arrived and whose waiters are being woken, oldest first; at most one entry per MSHR. */
    struct ring arrived;
    uint64_t sent_at; /* cycle of the last request sent */
    struct outstanding *outstanding;
    uint32_t outstanding_free; /* head of the free list */
    uint32_t outstanding_count, outstanding_used;
    uint32_t *stores;           /* by line: those not acknowledged; NULL where the network keeps order */
    struct l1_partner *partner; /* NULL: none */
    bool plain;                 /* neither an insertion policy nor a partner has a say */
    bool seen;                  /* somebody wants to know what becomes of lines */
    struct l1_stats stats;
};

/* Node `index` of `owner`. */
void l1_controller_init(struct l1_controller *controller, struct l1 *owner, unsigned index,
                        const struct l1_context *context);
/* Its owner is complete, with insertion policy and observer. */
void l1_controller_settle_in(struct l1_controller *controller);
void l1_controller_release(struct l1_controller *controller);
void l1_controller_connect(struct l1_controller *controller, const struct l1_ports *ports);

/* As in struct l1_ops. */
enum l1_outcome l1_controller_access(struct l1_controller *controller, const struct l1_request *request, uint64_t now);
unsigned l1_controller_tick(struct l1_controller *controller, uint64_t now, uint32_t *token);
void l1_controller_flush(struct l1_controller *controller);
bool l1_controller_busy(const struct l1_controller *controller);
void l1_controller_explain(const struct l1_controller *controller, FILE *out);

/* For partners. */

/* Takes a reply from the network, if one has come. Returns whether it completes an access past the cache. */
bool l1_controller_receive(struct l1_controller *controller, uint64_t now, uint32_t *token);
/* The line of an MSHR has come. */
void l1_controller_fill(struct l1_controller *controller, unsigned mshr, uint64_t now);
/* Whether a store has gone down since the line of an MSHR was asked for. */
bool l1_controller_stale(const struct l1_controller *controller, unsigned mshr);
/* The data line, if it is there; NULL. */
struct cache_line *l1_controller_find(struct l1_controller *controller, unsigned set, uint64_t key);
/* Asks the LLC for the line of a request after all; `name` (28 bits) comes back by `fetched`. There must be room. */
bool l1_controller_can_fetch(const struct l1_controller *controller);
void l1_controller_fetch(struct l1_controller *controller, const struct l1_request *request, uint32_t name,
                         uint64_t now);

#endif
