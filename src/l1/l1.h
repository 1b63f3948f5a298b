/* The first level: between the load/store units and the network.
 *
 * An L1 organisation is one object for the whole machine, one file and one line in organisations.def.
 *
 * Owns: the L1 caches with their queues, the network between them, if any, and the endpoints on the network to the LLC.
 * Enters: requests of the SMs by `access` (struct l1_ops), a call that in the same cycle accepts the request or returns
 *         the cause of a reservation failure (a call instead of a port, because a private L1 is part of its SM);
 *         replies from the reply network.
 * Leaves: completions by `tick`; requests to the request network.
 *
 * All memory requests of an SM pass through here, including those that bypass the L1 data cache: atomics, and misses of
 * the instruction, constant and read-only caches are requests with `bypass` set.
 */
#ifndef SLUICE_L1_L1_H
#define SLUICE_L1_L1_H

#include "config/config.h"
#include "sim/engine.h"
#include "sim/message.h"
#include "sim/port.h"
#include "stats/journal.h"
#include "stats/stats.h"

struct l1_config {
    const struct policy *organisation;
    const struct policy *insertion;
    const struct policy *replacement;
    int64_t sector_bytes;
    const struct policy *allocate_on, *write_allocate;
    int64_t size_kb, ways, sets;
    int64_t latency_cycles;
    int64_t tags_per_cycle, port_bytes;
    int64_t mshrs, mshr_merges;
    int64_t miss_queue, bypass_queue;
    bool write_back_slot;
    bool flush_at_kernel_end;
    const struct policy *observe_reuse;
    bool observe_duplication;
    bool observe_shared_data;
};

extern const struct section l1_section;
extern const struct family l1_organisation_family;
extern const struct policy l1_allocate_on_fill, l1_write_validate; /* of sectored L1s (sectored.h) */

enum l1_outcome {
    L1_HIT,         /* complete after latency_cycles; no completion follows */
    L1_PENDING_HIT, /* hit on a line in flight; completes by a tick, like the next four */
    L1_MISS,
    L1_BYPASS,   /* a read that bypasses the cache */
    L1_SENT,     /* a write or atomic */
    L1_QUEUED,   /* waits in front of the cache, where any of the above may follow */
    L1_ACCEPTED, /* outcomes below are acceptances; those above are reservation failures: no state has changed, retry */
    L1_FAIL_MSHR,        /* no free MSHR */
    L1_FAIL_MSHR_MERGE,  /* MSHR merge limit reached */
    L1_FAIL_LINE,        /* all lines of the set are reserved */
    L1_FAIL_MISS_QUEUE,  /* miss queue full */
    L1_FAIL_NETWORK,     /* miss queue full because the network is blocked */
    L1_FAIL_STORE_ORDER, /* store to the same sectors not acknowledged, and the network may reorder, or the store is in
                            the other queue */
    L1_FAIL_INPUT_QUEUE, /* queues in front of the cache full, or none preserves the order */
    L1_OUTCOMES,
};

/* Reservation failures of an L1 by cause, in the order of enum l1_outcome. */
#define L1_RESERVATION_FAILS(S) \
    S(SUM, mshr, "cycles", "cycles of reservation failure: no free MSHR") \
    S(SUM, mshr_merge, "cycles", "cycles of reservation failure: MSHR merge limit") \
    S(SUM, line, "cycles", "cycles of reservation failure: all lines of the set are reserved") \
    S(SUM, miss_queue, "cycles", "cycles of reservation failure: miss queue full") \
    S(SUM, network, "cycles", "cycles of reservation failure: miss queue full, network blocked") \
    S(SUM, store_order, "cycles", "cycles of reservation failure: store to the same sectors not acknowledged") \
    S(SUM, input_queue, "cycles", "cycles of reservation failure: input queue full")

STATS_STRUCT(l1_reservation_fail_stats, L1_RESERVATION_FAILS);

struct l1_request {
    uint64_t address; /* of the line */
    uint32_t token;   /* returned by a tick */
    uint32_t instr;
    uint8_t kind; /* MESSAGE_READ, MESSAGE_WRITE or MESSAGE_ATOMIC */
    uint8_t sectors;
    uint8_t flags; /* enum message_flags */
    uint8_t program;
    uint8_t conflicts;
    bool bypass;  /* bypasses the data cache */
    bool local;   /* thread-local memory: write-back instead of write-through */
    uint8_t warp; /* requesting warp; L1_NO_WARP: one of the SM's other caches */
};

enum { L1_NO_WARP = 0xFF };

/* Per cycle: one bypassing access, one load that waited for a line, one hit of a request queued in front of the
 * cache. */
enum { L1_COMPLETIONS = 3 };

struct l1;
struct llc_organisation;

/* What an organisation is created from. */
struct l1_context {
    const struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct journal *journal; /* records decisions at run time; may be NULL */
    struct llc_organisation *llc;
    unsigned sms;
    unsigned clusters;
    const unsigned *sm_component; /* [sms] */
    unsigned homes;               /* lines are interleaved over this many L1s; 0: an L1 holds any line */
    struct l1_partner **partner;  /* [sms] cooperating caches (controller.h); NULL: none */
    struct l1_watch *watch;       /* an observer; NULL: only those enabled by the configuration */
};

/* Groups of L1s. The address space is interleaved over the L1s of a group. L1s are numbered group by group. */
struct l1_shape {
    unsigned groups, per_group;
};

/* The ports of an endpoint. */
struct l1_ports {
    struct port *to_network, *from_network;
    struct port *to_control; /* copies of requests that the LLC organisation counts; NULL if it counts none */
};

struct l1_ops {
    struct policy policy;
    struct l1_shape (*shape)(const struct config *config); /* NULL: each SM's L1 is its own group */
    struct l1 *(*create)(const struct l1_context *context, struct error *err);
    void (*destroy)(struct l1 *l1);
    /* Endpoints on the network, and the component of each. */
    unsigned (*endpoints)(const struct l1 *l1);
    unsigned (*endpoint_component)(const struct l1 *l1, unsigned endpoint);
    void (*connect)(struct l1 *l1, unsigned endpoint, const struct l1_ports *ports);
    /* For endpoints that are components by themselves: ports from and to the control plane, for struct l1_command and
     * struct l1_report. NULL: commands arrive through the SM. */
    void (*connect_control)(struct l1 *l1, unsigned endpoint, struct port *commands, struct port *reports);
    /* Called in the SM's tick before its load/store unit: receives a reply from the network, sends a request, and
     * writes the tokens of accesses that complete in this cycle. Returns their number, at most L1_COMPLETIONS. The L1
     * wakes the SM for later work. */
    unsigned (*tick)(struct l1 *l1, unsigned sm, uint64_t now, uint32_t *token);
    /* In place of `tick` in a cycle in which nobody can accept a completion: receives a reply unless it completes an
     * access, and sends a request. For caches behind a queue of completions (clustered.c). */
    void (*tick_blocked)(struct l1 *l1, unsigned sm, uint64_t now);
    enum l1_outcome (*access)(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now);
    /* The reservation failure that `access` would return in the next cycle and in every later one until gate->changes
     * grows, provided that the SM has no other request before; 0 if it may accept. NULL: always 0. */
    enum l1_outcome (*foresee)(struct l1 *l1, unsigned sm, const struct l1_request *request);
    /* Makes accesses of the coming cycles ahead of time, as long as they hit: those of `request` to the lines of
     * access[0..count-1] (the low bits of an address within its line are ignored). Returns their number. Exact because
     * replies neither change nor evict a line that is valid, and the replacement policy sees only accesses. NULL:
     * always 0. */
    unsigned (*hits)(struct l1 *l1, unsigned sm, const struct l1_request *request, const uint64_t *access,
                     unsigned count);
    /* A kernel begins. No access is outstanding. NULL: no effect. */
    void (*begin)(struct l1 *l1);
    /* Kernel boundary: invalidates all lines. Nothing is outstanding then. */
    void (*flush)(struct l1 *l1, unsigned sm);
    /* Sets the number of ways of an L1 without lines, between two kernels. The state of its replacement policy is
     * reset. NULL: not supported. */
    void (*resize)(struct l1 *l1, unsigned sm, unsigned ways);
    bool (*busy)(const struct l1 *l1, unsigned sm);
    void (*explain)(const struct l1 *l1, unsigned sm, FILE *out);
};

struct l1_command {
    enum {
        L1_COMMAND_FLUSH,  /* invalidate all lines, then report L1_REPORT_FLUSHED */
        L1_COMMAND_STEER,  /* as l1_steer, without a report */
        L1_COMMAND_REPORT, /* report L1_REPORT_QUIET when nothing is in flight */
    } kind;
    bool plain;     /* as for l1_steer */
    uint32_t round; /* as for l1_steer */
};
struct l1_report {
    enum l1_report_kind { L1_REPORT_FLUSHED, L1_REPORT_QUIET } kind;
};

/* Checked by the SM before it calls the L1: before `open_at`, while no reply is visible, a tick has no effect. */
struct l1_gate {
    const struct port *replies;
    uint64_t open_at; /* when a request can be sent, or a completion returned; NEVER: none waits, or for a credit */
    uint32_t changes; /* grows with every event that can resolve the last reservation failure; retry only then */
};

struct insertion_ops;

/* Events of an L1's lines, for observers. */
enum l1_event {
    L1_EVENT_MISS,       /* a read miss was accepted and its line reserved */
    L1_EVENT_INSERT,     /* a line was filled */
    L1_EVENT_REMOVE,     /* a line was evicted, or invalidated by a store */
    L1_EVENT_STORE,      /* a store or an atomic was sent */
    L1_EVENT_INVALIDATE, /* all lines were invalidated */
};

/* An observer. Within a cycle the L1s call it in any order. Lines invalidated by an insertion policy are not
 * reported. */
struct l1_watch {
    void (*observe)(struct l1_watch *watch, unsigned l1, enum l1_event event, uint64_t key, uint64_t now);
};

/* The base of every organisation. */
struct l1 {
    const struct l1_ops *ops;
    struct l1_gate *gate;                  /* [sms] */
    const struct insertion_ops *insertion; /* NULL if every read miss allocates */
    void *insertion_state;
    struct l1_watch *watch; /* NULL: none */
};

static inline bool l1_idle(const struct l1_gate *gate, uint64_t now) {
    return gate->open_at > now && port_next_visible(gate->replies) > now;
}

struct l1 *l1_create(const struct l1_context *context, struct error *err);
struct l1_shape l1_shape(const struct config *config);
/* Whether two programs can run concurrently: the L1s of one must not affect those of the other. */
bool l1_suits_programs(const struct config *config, struct error *err);
/* Whether the L1s can change their number of ways between kernels, as the parameter `key` requires. */
bool l1_can_resize(const struct config *config, struct error *err);
unsigned l1_count(const struct config *config);
/* Whether groups of SMs share L1s (group.h). */
bool l1_is_grouped(const struct config *config);
/* Number of engine components that the L1s add. */
unsigned l1_components(const struct config *config);
unsigned l1_sets(const struct config *config);
unsigned l1_tag_bits(const struct config *config);
/* Cycles that the insertion policy adds to every lookup. */
unsigned l1_probe_cycles(const struct config *config);
/* The program's next kernel begins, numbered from 0. l1_finish follows the last one; it fails if the policy cannot
 * write its output. */
void l1_begin(struct l1 *l1, unsigned kernel);
bool l1_finish(struct l1 *l1, struct error *err);
/* SM dueling (insertion.h): whether it is enabled, the port for the reports of SM 0 and SM 1, and the decision. */
struct duel_rule;
bool l1_duel(const struct config *config, struct duel_rule *rule);
void l1_report_to(struct l1 *l1, unsigned sm, struct port *control);
void l1_steer(struct l1 *l1, unsigned sm, bool plain, uint32_t round);

struct cache;
/* For organisations: creates the insertion policy for the caches of all SMs, */
bool l1_insertion_create(struct l1 *l1, const struct l1_context *context, struct cache **caches, struct error *err);
void l1_insertion_destroy(struct l1 *l1);
/* and the stages in front of them: observers, and the policy's own. Returns the first stage, which then owns the L1. */
struct l1 *l1_stages_create(struct l1 *l1, const struct l1_context *context);

#define L1_STATS(S) \
    S(SUM, read_hits, "accesses", "read hits") \
    S(SUM, read_pending_hits, "accesses", "read pending hits (line in flight)") \
    S(SUM, read_misses, "accesses", "read misses that allocate") \
    S(SUM, read_bypasses, "accesses", "reads that bypass the L1") \
    S(SUM, write_hits, "accesses", "write hits; a global write invalidates the line") \
    S(SUM, write_misses, "accesses", "write misses") \
    S(SUM, atomics, "accesses", "atomics and reductions, sent to the LLC") \
    S(SUM, evictions, "lines", "lines evicted") \
    S(SUM, write_backs, "lines", "dirty local-memory lines written back on eviction") \
    S(SUM, fills, "lines", "fills, stale ones included") \
    S(SUM, stale_fills, "lines", "fills dropped because a store to the line was sent while it was in flight") \
    S(MAX, mshrs_peak, "MSHRs", "maximum number of MSHRs in use") \
    S(SUM, requests, "packets", "requests sent to the network") \
    S(SUM, replies, "packets", "replies received from the network") \
    S(SUM, flushes, "flushes", "invalidations of the whole cache")

STATS_STRUCT(l1_stats, L1_STATS);

#endif
