/* Inter-group cache cooperation ("GPU Performance Optimization via Inter-group Cache Cooperation", section III):
 * before it goes to the LLC, a read that missed asks the corresponding nodes of other groups for its line. What the
 * two schemes have in common is here; what tells them apart is whom to ask and when (icc_agc.c, icc_mgc.c).
 *
 * Beside what a clustered node has, there are requests to and from other groups (Q6, Q2), replies to and from them
 * (Q3, Q7), and two arbiters: lookups for SMs and for other groups take turns, and so do lines from the LLC and from
 * other groups. The networks between groups are cooperation.h.
 *
 * A miss for which others are asked is a pursuit. It has an MSHR and a reserved line like any miss, and room in Q6;
 * if there is none it goes to the LLC. The first answer with the line fills it, and what comes later is dropped.
 * Once nobody who was to answer quickly has it, the LLC is asked as well, by the miss queue, before which the answer
 * waits in Q7. A line that misses without a pursuit leaves for the LLC a cycle later than it would without
 * cooperation: it was looked for.
 *
 * A group never takes back an older copy of what it wrote: nobody is asked for a line that the group has stored to
 * since its nodes were last emptied, and an answer that finds its line stored to in the meantime is dropped for the
 * LLC's. Nor is anybody asked for thread-local memory.
 *
 * Assumed: answering a probe takes a cycle, whatever a hit takes, and leaves the replacement policy as it was unless
 * `touch` says otherwise. A probe that finds no room to go on is answered as missed. Which lines a group has stored
 * to is known exactly.
 */
#ifndef SLUICE_L1_ICC_H
#define SLUICE_L1_ICC_H

#include "base/line_map.h"
#include "l1/clustered.h"
#include "l1/cooperation.h"

#define ICC_STATS(S) \
    S(SUM, asked, "accesses", "read misses for which other groups were asked") \
    S(SUM, remote_hits, "accesses", "of these: served by another group") \
    S(SUM, hit_cycles, "cycles", "of these: from the miss to the line, summed") \
    S(SUM, fetches, "accesses", "read misses for which the LLC was asked after other groups") \
    S(SUM, probe_cycles, "cycles", "of these: from the miss to asking the LLC, summed") \
    S(SUM, stale, "replies", "lines from other groups that a store of the own group had made old") \
    S(SUM, late, "replies", "lines that came when another had come before, from other groups or the LLC") \
    S(SUM, written, "accesses", "read misses of lines that the group has written, for which nobody was asked") \
    S(SUM, crowded, "accesses", "read misses for which nobody was asked for want of room") \
    S(SUM, served, "requests", "requests of other groups that were looked up") \
    S(SUM, served_hits, "requests", "of these: the line was there") \
    S(SUM, given_up, "requests", "of these: it was not, and there was no room to ask on")
STATS_STRUCT(icc_stats, ICC_STATS);

/* What both schemes can be told: members of their configurations, and rows of their tables. */
#define ICC_VALUES \
    bool cooperate, touch; \
    int64_t queue
#define ICC_PARAMS(owner) \
    P_BOOL(owner, cooperate, true, "ask other groups at all; else as clustered"), \
        P_BOOL(owner, touch, false, "a line that another group has asked for counts as used"), \
        P_INT(owner, queue, 5, 1, 256, "messages", "in each of the queues to and from other groups (Q2, Q3, Q6, Q7)")

/* A miss for which others were asked, until all that was asked for it has come. */
struct pursuit {
    struct l1_request request;
    uint64_t since, fetched; /* cycles of the miss, and of asking the LLC */
    uint32_t next;           /* free list */
    uint16_t mshr;
    uint8_t awaited; /* answers of other groups */
    bool fetching;   /* the LLC has been asked and has not answered */
    bool filled;     /* the line has come */
    bool remote;     /* from another group */
    bool sampled;    /* the scheme's */
};

struct icc_node {
    struct l1_partner base;
    struct icc *icc;
    unsigned number, group;
    unsigned component;
    struct coop_ports ports;
    struct pursuit *pursuit;
    uint32_t pursuit_free, pursuit_count, pursuits;
    struct line_map written; /* since the node was last emptied */
    bool others_next;        /* whose line is taken next, if both have come */
    struct icc_stats stats;
};

/* What a scheme is. Functions may be left out unless marked. */
struct icc_scheme {
    size_t node_size;                                                 /* of a struct that begins with icc_node */
    struct coop_network *(*network)(const struct coop_site *context); /* must be */
    unsigned answers;                                                 /* to each probe */
    void (*init)(struct icc_node *node, const struct cooperation_context *context);
    void (*release)(struct icc_node *node);
    /* Whether to ask about a line that may be asked about; must be. Changes nothing that counts. */
    bool (*promising)(struct icc_node *node, const struct cache_access *access);
    /* A pursuit begins: says whom the probe is for. */
    void (*aim)(struct icc_node *node, struct pursuit *pursuit, struct coop_message *probe);
    /* A read miss that nobody was asked about though it might have been. */
    void (*passed)(struct icc_node *node);
    /* The line of a pursuit has come. */
    void (*ended)(struct icc_node *node, const struct pursuit *pursuit, uint64_t now);
    void (*observed)(struct icc_node *node, enum l1_event event, unsigned set, uint64_t key, uint64_t now);
    void (*receive)(struct icc_node *node, uint64_t now);
};

struct icc {
    struct cooperation base;
    const struct icc_scheme *scheme;
    bool touch;
    struct engine *engine;
    struct group_shape shape;
    unsigned nodes;
    struct icc_node **node;        /* [nodes] */
    struct coop_network **network; /* [nodes of a group] */
};

/* `plan` gives the length of the queues and what concerns the scheme's network; the rest is filled in. */
struct cooperation *icc_create(const struct icc_scheme *scheme, const struct cooperation_context *context,
                               struct coop_site plan, bool touch);
bool icc_check(const struct config *config, struct error *err);
/* What cooperation stores at each node, in the order in which it is declared. */
enum icc_store {
    ICC_REQUESTS,  /* Q2 and Q6 */
    ICC_LINES,     /* Q3 and Q7 */
    ICC_DIRECTORY, /* of icc-agc alone */
    ICC_STORES,
};
/* The four queues. */
unsigned icc_storage(const struct config *config, int64_t queue, struct storage_item *items);

static inline bool icc_has_written(const struct icc_node *node, uint64_t key) {
    return line_map_find(&node->written, key) != NULL;
}

#endif
