/* An L1 cache as a controller: tags, MSHRs, the miss queue, and what has gone past the cache and is not answered. It
 * knows neither who asks nor what lies between it and those who ask: a private L1 is a node that its SM ticks.
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
#ifndef SLUICE_L1_NODE_H
#define SLUICE_L1_NODE_H

#include "base/ring.h"
#include "cache/cache.h"
#include "cache/mshr.h"
#include "l1/l1.h"

struct node;

/* Somebody else who may have the line of a read that missed, and sees what becomes of lines. */
struct node_partner {
    const struct node_partner_ops *ops;
    struct node *node; /* whose it is */
};

struct node_partner_ops {
    /* Whether the partner, not the LLC, is to be asked for the line of a read that missed. Changes nothing. */
    bool (*wants)(const struct node_partner *partner, const struct l1_request *request,
                  const struct cache_access *access, uint64_t now);
    /* A read has missed, MSHR `mshr` is taken for it, and its line is the partner's to bring if it was `wanted`. */
    void (*missed)(struct node_partner *partner, const struct l1_request *request, const struct cache_access *access,
                   unsigned mshr, bool wanted, uint64_t now);
    /* One reply may be taken in this cycle: by node_receive, or the partner's by node_fill. Returns what node_receive
     * does. */
    bool (*receive)(struct node_partner *partner, uint64_t now, uint32_t *token);
    /* The network has brought what node_fetch asked for. */
    void (*fetched)(struct node_partner *partner, uint32_t name, uint64_t now);
    void (*saw)(struct node_partner *partner, enum l1_event sight, unsigned set, uint64_t key, uint64_t now);
};

/* Something that has gone past the cache and is not answered. */
struct outside {
    uint64_t key;    /* its line */
    uint32_t token;  /* what its reply brings back */
    uint32_t next;   /* in the chain of stores, or in the free list */
    uint8_t sectors; /* in a chain: those that it stores to */
    uint8_t kind;    /* likewise: MESSAGE_WRITE or MESSAGE_ATOMIC */
};

struct node {
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
    struct outside *outside;
    uint32_t outside_free; /* head of the free list */
    uint32_t outside_count, outside_used;
    uint32_t *stores;             /* by line: those not acknowledged; NULL where the network keeps order */
    struct node_partner *partner; /* NULL: none */
    bool plain;                   /* neither an insertion policy nor a partner has a say */
    bool seen;                    /* somebody wants to know what becomes of lines */
    struct l1_stats stats;
};

/* Node `index` of `owner`. */
void node_init(struct node *node, struct l1 *owner, unsigned index, const struct l1_site *site);
/* Its owner is complete, with insertion policy and observer. */
void node_settle_in(struct node *node);
void node_release(struct node *node);
void node_connect(struct node *node, const struct l1_ports *ports);

/* As in struct l1_ops. */
enum l1_outcome node_access(struct node *node, const struct l1_request *request, uint64_t now);
unsigned node_tick(struct node *node, uint64_t now, uint32_t *token);
void node_flush(struct node *node);
bool node_busy(const struct node *node);
void node_explain(const struct node *node, FILE *out);

/* For partners. */

/* Takes a reply from the network, if one has come. Returns whether it completes an access past the cache. */
bool node_receive(struct node *node, uint64_t now, uint32_t *token);
/* The line of an MSHR has come. */
void node_fill(struct node *node, unsigned mshr, uint64_t now);
/* Whether a store has gone down since the line of an MSHR was asked for. */
bool node_outdated(const struct node *node, unsigned mshr);
/* The data line, if it is there; NULL. */
struct cache_line *node_find(struct node *node, unsigned set, uint64_t key);
/* Asks the LLC for the line of a request after all; `name` (28 bits) comes back by `fetched`. There must be room. */
bool node_can_fetch(const struct node *node);
void node_fetch(struct node *node, const struct l1_request *request, uint32_t name, uint64_t now);

#endif
