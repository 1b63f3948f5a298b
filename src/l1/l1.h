/* The first level: between the load/store units and the network.
 *
 * An L1 organisation is one object for the whole machine. It owns the L1 nodes, their queues and whatever network is
 * between them, and says which endpoints it has on the network to the LLC. An organisation is one file and one line in
 * organisations.def.
 *
 * Enters: requests of the SMs by `access` (struct l1_ops), a call that accepts or refuses with the reason in the same cycle (the one
 *         place where two rooms meet without a port, because a private L1 sits inside its SM); replies from the reply
 *         network.
 * Leaves: completions by `tick`; requests to the request network.
 *
 * Everything that an SM sends to memory passes here, also what uses no L1 data cache: instruction, constant and
 * read-only cache misses and atomics come as requests marked `bypass`.
 */
#ifndef SLUICE_L1_L1_H
#define SLUICE_L1_L1_H

#include "config/config.h"
#include "sim/engine.h"
#include "sim/message.h"
#include "sim/port.h"
#include "stats/stats.h"

struct l1_config {
    const struct policy *organisation;
    const struct policy *insertion;
    const struct policy *replacement;
    int64_t size_kb, ways, sets;
    int64_t latency_cycles;
    int64_t mshrs, mshr_merges;
    int64_t miss_queue;
    bool flush_at_kernel_end;
    const struct policy *observe_reuse;
    bool observe_duplication;
    bool observe_shared_data;
};

extern const struct section l1_section;
extern const struct family l1_organisation_family;

enum l1_outcome {
    L1_HIT,         /* complete after latency_cycles; no completion will follow */
    L1_PENDING_HIT, /* the line is on its way; completes by a tick, as do the three below */
    L1_MISS,
    L1_BYPASS,    /* a read that was sent past the cache */
    L1_SENT,      /* a write or atomic */
    L1_QUEUED,    /* waits before the cache: any of the above may become of it, and completes by a tick */
    L1_ACCEPTED,  /* outcomes below this are acceptances, those above are refusals: nothing has changed, try again */
    L1_FAIL_MSHR, /* every MSHR is in use */
    L1_FAIL_MSHR_MERGE, /* the line's MSHR has no room for one more waiter */
    L1_FAIL_LINE,       /* every line of the set is reserved */
    L1_FAIL_MISS_QUEUE, /* the miss queue is full */
    L1_FAIL_NETWORK,    /* the miss queue is full because the network takes nothing */
    L1_FAIL_STORE_ORDER, /* a store to the same sectors is not acknowledged, and the network might let this overtake it */
    L1_FAIL_INPUT_QUEUE, /* no room in the queues before the cache, or none that would keep its order */
    L1_OUTCOMES,
};

/* Cycles in which an L1 failed to reserve what an access needs, by cause; in the order of enum l1_outcome. */
#define L1_RESERVATION_FAILS(S) \
    S(SUM, mshr, "cycles", "the L1 refuses an access: no MSHR") \
    S(SUM, mshr_merge, "cycles", "the L1 refuses an access: no room in the line's MSHR for one more waiter") \
    S(SUM, line, "cycles", "the L1 refuses an access: every line of the set is reserved") \
    S(SUM, miss_queue, "cycles", "the L1 refuses an access: the miss queue is full") \
    S(SUM, network, "cycles", "the L1 refuses an access: the miss queue is full because the network takes nothing") \
    S(SUM, store_order, "cycles", "the L1 refuses an access: it would overtake a store to the same sectors") \
    S(SUM, input_queue, "cycles", "the L1 refuses an access: no room in the queues before it")

STATS_STRUCT(l1_reservation_fail_stats, L1_RESERVATION_FAILS);

struct l1_request {
    uint64_t address; /* of the line */
    uint32_t token;   /* comes back by a tick */
    uint32_t instr;
    uint8_t kind; /* MESSAGE_READ, MESSAGE_WRITE or MESSAGE_ATOMIC */
    uint8_t sectors;
    uint8_t flags; /* enum message_flags */
    uint8_t program;
    uint8_t conflicts;
    bool bypass;  /* past the data cache */
    bool local;   /* thread-local memory: written back, not through */
    uint8_t warp; /* that asks; L1_NO_WARP: one of the SM's other caches */
};

enum { L1_NO_WARP = 0xFF };

/* In a cycle: an access past the cache, a load that waited for a line, and a hit of what waited before the cache. */
enum { L1_COMPLETIONS = 3 };

struct l1;
struct llc_organisation;

/* The last cluster-side word on where a request goes: filled in by the LLC organisation. */
struct l1_context {
    const struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct llc_organisation *llc;
    unsigned sms;
    unsigned clusters;
    const unsigned *sm_component; /* [sms] */
    unsigned homes;               /* lines are dealt out to so many L1s in turn; 0: an L1 takes any line */
    struct l1_partner **partner;  /* [sms] whom L1s may ask before the LLC (node.h); NULL: nobody */
    struct l1_watch *watch;       /* an observer; NULL: none but what the configuration asks for */
};

/* Groups of L1s: those of a group share an address range, and each holds its part of it. L1s are numbered group by group. */
struct l1_shape {
    unsigned groups, per_group;
};

/* The ports of an endpoint. */
struct l1_ports {
    struct port *to_network, *from_network;
    struct port *to_control; /* reports of requests that the LLC organisation counts; NULL if it counts none */
};

struct l1_ops {
    struct policy policy;
    struct l1_shape (*shape)(const struct config *config); /* NULL: each SM's L1 is a group by itself */
    struct l1 *(*create)(const struct l1_context *context, struct error *err);
    void (*destroy)(struct l1 *l1);
    /* Endpoints on the network, and the component that each belongs to. */
    unsigned (*endpoints)(const struct l1 *l1);
    unsigned (*endpoint_component)(const struct l1 *l1, unsigned endpoint);
    void (*connect)(struct l1 *l1, unsigned endpoint, const struct l1_ports *ports);
    /* Where endpoints are components of their own, and not their SM's: ports from and to the control plane, for struct
     * l1_command and struct l1_report. NULL: what concerns them comes by their SM. */
    void (*connect_control)(struct l1 *l1, unsigned endpoint, struct port *commands, struct port *reports);
    /* Called in the SM's tick, before its load/store unit: takes a reply from the network, sends a request, and gives
     * the tokens of accesses that complete in this cycle. Returns how many, at most L1_COMPLETIONS. The L1 wakes the SM
     * for what it has to do later. */
    unsigned (*tick)(struct l1 *l1, unsigned sm, uint64_t now, uint32_t *token);
    enum l1_outcome (*access)(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now);
    /* Kernel boundary: forgets every line. Nothing is outstanding then. */
    void (*flush)(struct l1 *l1, unsigned sm);
    bool (*busy)(const struct l1 *l1, unsigned sm);
    void (*explain)(const struct l1 *l1, unsigned sm, FILE *out);
};

struct l1_command {
    enum {
        L1_COMMAND_FLUSH,  /* forget all lines, and say so */
        L1_COMMAND_STEER,  /* as l1_steer; nothing is said */
        L1_COMMAND_REPORT, /* say when nothing is under way any more */
    } kind;
    bool plain;
};
struct l1_report {
    enum l1_report_kind { L1_REPORT_FLUSHED, L1_REPORT_QUIET } kind;
};

/* What an SM looks at before it calls: while its gate is shut and no reply can be seen, a tick would do
 * nothing. */
struct l1_gate {
    const struct port *replies;
    bool open;        /* something waits to be sent or to complete */
    uint32_t changes; /* grows with everything that can turn a refusal into an acceptance; until then there is no use in
                         asking again */
};

struct insertion_ops;

/* What can be seen of an L1's lines. */
enum l1_event {
    L1_EVENT_MISS,       /* a read that missed was accepted, and its line reserved */
    L1_EVENT_INSERT,     /* a line has come and stays */
    L1_EVENT_REMOVE,     /* it was replaced, or a store dropped it */
    L1_EVENT_STORE,      /* a store or an atomic has gone down */
    L1_EVENT_INVALIDATE, /* all lines are forgotten */
};

/* An observer. In a cycle L1s may come in any order. An insertion policy may drop a line unseen. */
struct l1_watch {
    void (*observe)(struct l1_watch *watch, unsigned l1, enum l1_event event, uint64_t key, uint64_t now);
};

/* The head of every organisation. */
struct l1 {
    const struct l1_ops *ops;
    struct l1_gate *gate;                  /* [sms] */
    const struct insertion_ops *insertion; /* NULL if every line is inserted */
    void *insertion_state;
    struct l1_watch *watch; /* NULL: nobody watches */
};

static inline bool l1_idle(const struct l1_gate *gate, uint64_t now) {
    return !gate->open && port_next_visible(gate->replies) > now;
}

struct l1 *l1_create(const struct l1_context *context, struct error *err);
struct l1_shape l1_shape(const struct config *config);
/* Whether programs can run side by side: what one of them does to its L1s is not to be seen by the other's. */
bool l1_suits_programs(const struct config *config, struct error *err);
unsigned l1_count(const struct config *config);
/* Whether SMs share L1s, in groups (group.h). */
bool l1_is_grouped(const struct config *config);
/* Components of the engine that are the L1s' own. */
unsigned l1_components(const struct config *config);
unsigned l1_sets(const struct config *config);
unsigned l1_tag_bits(const struct config *config);
/* What the insertion policy adds to every lookup. */
unsigned l1_probe_cycles(const struct config *config);
/* The program's next kernel begins, counted from 0; after the last one comes l1_finish, which may fail to write what
 * the run was to leave behind. */
void l1_begin(struct l1 *l1, unsigned kernel);
bool l1_finish(struct l1 *l1, struct error *err);
/* SM dueling (insertion.h): whether there is any, whom SM 0 and SM 1 tell how they fare, and what is decided. */
struct duel_rule;
bool l1_duel(const struct config *config, struct duel_rule *rule);
void l1_report_to(struct l1 *l1, unsigned sm, struct port *control);
void l1_steer(struct l1 *l1, unsigned sm, bool plain);

struct cache;
/* For organisations: makes the insertion policy for the caches of all SMs, */
bool l1_insertion_create(struct l1 *l1, const struct l1_context *context, struct cache **caches, struct error *err);
void l1_insertion_destroy(struct l1 *l1);
/* and what stands before them: observers, and a stage of the policy's. Returns the first, which then owns the L1. */
struct l1 *l1_stages_create(struct l1 *l1, const struct l1_context *context);

#define L1_STATS(S) \
    S(SUM, read_hits, "accesses", "reads that found their line") \
    S(SUM, read_pending_hits, "accesses", "reads that found their line on its way") \
    S(SUM, read_misses, "accesses", "reads that fetched their line") \
    S(SUM, read_bypasses, "accesses", "reads sent past the cache") \
    S(SUM, write_hits, "accesses", "writes that found their line, which a global write then drops") \
    S(SUM, write_misses, "accesses", "writes that did not") \
    S(SUM, atomics, "accesses", "atomics and reductions, all sent to the LLC") \
    S(SUM, evictions, "lines", "lines replaced") \
    S(SUM, write_backs, "lines", "modified local lines written back when replaced") \
    S(SUM, fills, "lines", "lines that arrived") \
    S(SUM, stale_fills, "lines", "fills dropped because a store to the line was sent while it was in flight") \
    S(MAX, mshrs_peak, "MSHRs", "most MSHRs in use at once") \
    S(SUM, requests, "packets", "requests sent to the network") \
    S(SUM, replies, "packets", "replies received from the network") \
    S(SUM, flushes, "flushes", "times the cache was emptied")

STATS_STRUCT(l1_stats, L1_STATS);

#endif
