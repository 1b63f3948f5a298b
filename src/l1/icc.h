/* Inter-group cache cooperation ("GPU Performance Optimization via Inter-group Cache Cooperation", section III): a read
 * miss probes the corresponding nodes of other groups before the LLC. This is the common part of the two schemes, which
 * differ in when and whom to probe (icc_agc.c, icc_mgc.c).
 *
 * A node has, in addition to a clustered node, queues for requests to and from other groups (Q6, Q2), for replies to
 * and from them (Q3, Q7), and two arbiters: lookups alternate between SMs and other groups, and so do fills between the
 * LLC and other groups. The networks between groups are in cooperation.h.
 *
 * A miss that probes other groups is a pursuit. It has an MSHR and a reserved line like any miss, and an entry in Q6;
 * if Q6 is full, the miss goes to the LLC. The first answer with the line fills it; later ones are dropped. If
 * the answer of the short probe, or the last one, is a miss, the line is requested from the LLC as well, through the
 * miss queue; if that is full, the answer waits in Q7. A miss without a pursuit is sent to the LLC one cycle later than
 * without cooperation, because of the lookup.
 *
 * Within a kernel a group never accepts stale data after its own stores: it does not probe for a line that it has stored
 * to, and drops an answer whose line was stored to in the meantime in favour of the LLC's. The set of these lines is
 * cleared when a kernel begins, whether or not L1s are invalidated then: a thread, which must see its own stores, ends
 * with its kernel. If L1s are not invalidated, a kernel may read stale lines of earlier kernels, from its own L1 as well.
 * Thread-local memory is never probed for.
 *
 * With `probe` off no miss probes, and everything else stays: the difference from `clustered` is what the cycle of the
 * lookup changes, and a gain of cooperation that is not larger is chance.
 *
 * Assumed: answering a probe takes one cycle, regardless of the hit latency, and does not update the replacement state
 * unless `touch` is set. A probe that cannot be forwarded is answered as a miss. The set of lines that a group has
 * stored to is exact.
 */
#ifndef SLUICE_L1_ICC_H
#define SLUICE_L1_ICC_H

#include "base/line_map.h"
#include "l1/clustered.h"
#include "l1/cooperation.h"

#define ICC_STATS(S) \
    S(SUM, asked, "accesses", "read misses that probed other groups") \
    S(SUM, remote_hits, "accesses", "read misses served by another group") \
    S(SUM, hit_cycles, "cycles", "latency of read misses served by another group, summed") \
    S(SUM, fetches, "accesses", "read misses sent to the LLC after probing other groups") \
    S(SUM, probe_cycles, "cycles", "from the miss to the LLC request, summed over these misses") \
    S(SUM, stale, "replies", "stale lines from other groups, dropped because of a store in this group") \
    S(SUM, late, "replies", "redundant lines, dropped because the line had been filled from another source") \
    S(SUM, written, "accesses", "read misses without a probe because the group has written the line") \
    S(SUM, crowded, "accesses", "read misses without a probe because Q6 was full") \
    S(SUM, served, "requests", "probes of other groups looked up") \
    S(SUM, served_hits, "requests", "probes of other groups that hit") \
    S(SUM, given_up, "requests", "probes that missed and could not be forwarded because Q6 was full")
STATS_STRUCT(icc_stats, ICC_STATS);

/* Parameters of both schemes: members of their configurations, and rows of their tables. */
#define ICC_VALUES \
    bool cooperate, probe, touch; \
    int64_t queue
#define ICC_PARAMS(owner) \
    P_BOOL(owner, cooperate, true, "probe other groups; off: as clustered"), \
        P_BOOL(owner, probe, true, \
               "send probes; off: a control that has their hardware and timing, and never probes"), \
        P_BOOL(owner, touch, false, "a probe from another group counts as a use of the line"), \
        P_INT(owner, queue, 5, 1, 256, "messages", "length of each queue to and from other groups (Q2, Q3, Q6, Q7)")

/* A miss that probes other groups, until all replies have arrived. */
struct pursuit {
    struct l1_request request;
    uint64_t since, fetched; /* cycles of the miss and of the LLC request */
    uint32_t next;           /* free list */
    uint16_t mshr;
    uint8_t awaited; /* pending answers of other groups */
    bool fetching;   /* LLC reply pending */
    bool filled;     /* line filled */
    bool remote;     /* filled by another group */
    bool sampled;    /* used by the scheme */
};

struct icc_node {
    struct l1_partner base;
    struct icc *icc;
    unsigned number, group;
    unsigned component;
    struct coop_ports ports;
    struct pursuit *pursuit;
    uint32_t pursuit_free, pursuit_count, pursuits;
    struct line_map written; /* lines stored to in this kernel */
    bool others_next;        /* another group's line has priority */
    struct icc_stats stats;
};

/* A cooperation scheme. Functions are optional unless marked. */
struct icc_scheme {
    size_t node_size;                                                    /* of a struct that begins with icc_node */
    struct coop_network *(*network)(const struct coop_context *context); /* required */
    unsigned answers;                                                    /* answers per pursuit */
    void (*init)(struct icc_node *node, const struct cooperation_context *context);
    void (*release)(struct icc_node *node);
    /* Whether to probe for an eligible line; required. Must not change state that affects counters. */
    bool (*promising)(struct icc_node *node, const struct cache_access *access);
    /* A pursuit begins: sets the target of the probe. */
    void (*aim)(struct icc_node *node, struct pursuit *pursuit, struct coop_message *probe);
    /* An eligible read miss without a probe. */
    void (*passed)(struct icc_node *node);
    /* The line of a pursuit was filled. */
    void (*ended)(struct icc_node *node, const struct pursuit *pursuit, uint64_t now);
    void (*observed)(struct icc_node *node, enum l1_event event, unsigned set, uint64_t key, uint64_t now);
    void (*receive)(struct icc_node *node, uint64_t now);
};

struct icc {
    struct cooperation base;
    const struct icc_scheme *scheme;
    bool probe, touch;
    struct engine *engine;
    struct group_shape shape;
    unsigned nodes;
    struct icc_node **node;        /* [nodes] */
    struct coop_network **network; /* [nodes of a group] */
};

/* `plan` contains the queue length and the parameters of the scheme's network; the rest is filled in. */
struct cooperation *icc_create(const struct icc_scheme *scheme, const struct cooperation_context *context,
                               struct coop_context plan, bool probe, bool touch);
bool icc_check(const struct config *config, struct error *err);
/* Storage items of cooperation per node, in order of declaration. */
enum icc_store {
    ICC_REQUESTS,  /* Q2 and Q6 */
    ICC_LINES,     /* Q3 and Q7 */
    ICC_DIRECTORY, /* icc-agc only */
    ICC_STORES,
};
unsigned icc_storage(const struct config *config, int64_t queue, struct storage_item *items);

static inline bool icc_has_written(const struct icc_node *node, uint64_t key) {
    return line_map_find(&node->written, key) != NULL;
}

#endif
