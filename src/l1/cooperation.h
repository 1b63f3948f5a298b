/* The networks between corresponding L1 nodes of the groups: AdjNet, between neighbours, and MulNet, a ring. "GPU
 * Performance Optimization via Inter-group Cache Cooperation", sections III-B2 and III-C.
 *
 * There is one network, and one component, per node position in a group. Its stops are the nodes at that position, one
 * per group, in a ring: the left neighbour of group g is g - 1, the right one g + 1.
 *
 * Enters: probes by Q6, answers by Q3.
 * Leaves: probes by Q2, answers by Q7. The four queues are ports between a node and the network; their depth is the
 *         ports' capacity.
 *
 * A requesting node pushes one probe. AdjNet sends it to the neighbour that it names. MulNet sends two, each as soon as
 * its link is free: one to the left with `short_queries` lookups, one to the right with `long_queries` (R_k and R_a of
 * the paper, MNQ 2 and 7). A cache without the line forwards the probe through its own Q6 until no lookups are left.
 * Answers return in the shorter direction.
 *
 * Timing: a hop takes one cycle if the link is free. A link carries one probe and one answer per cycle and direction;
 * blocked messages wait in their queue. On MulNet an answer waits at each stop in the channel queue of its direction
 * until the next stop has space: in its channel queue, or in Q7 at the answer's destination. Answers in transit have
 * priority over entering ones: Q3 waits while the channel queue of the stop has an answer.
 *
 * There is no deadlock, at any depth of the queues:
 *   - A node takes from Q7 without waiting for a network between groups: an answer fills a line, or waits for space in
 *     the miss queue, which empties through the LLC (icc.h, clustered.c). So Q7 always gets space again.
 *   - Not all channel queues of a direction are full, because they have two places or more. An answer enters at a stop
 *     whose own channel queue was empty at the beginning of the cycle, and has at most one answer at its end, since a
 *     queue gets at most one per cycle. A cycle in which none enters adds no answer to the ring.
 *   - So some queue has space, and the last one before it that is not empty has an answer that can move, at the latest
 *     when its Q7 has space. Every move brings an answer closer to its destination: all answers arrive, and Q3 gets
 *     space again.
 *   - A node waits only for Q3 to answer a probe, and never for Q6: if that is full, it answers with a miss. So Q2 gets
 *     space again, and probes move.
 *
 * Assumed, since the paper names "channel queues" without saying how they work: their depth, the priority, and that only
 * answers use them (probes are forwarded by Q2 and Q6 of the caches).
 *
 * Not modelled: link widths. An answer with a line takes one cycle per hop, like one without.
 */
#ifndef SLUICE_L1_COOPERATION_H
#define SLUICE_L1_COOPERATION_H

#include "sim/port.h"
#include "stats/stats.h"

enum coop_kind { COOP_PROBE, COOP_DATA, COOP_MISS };
/* The direction of a probe. An answer keeps that of its probe, whichever way it returns. */
enum coop_direction { COOP_LEFT, COOP_RIGHT, COOP_DIRECTIONS };

enum { COOP_GROUPS_MAX = 64 };

struct coop_message {
    uint64_t key;     /* line key (cache_key) */
    uint32_t set;     /* set of the line, the same in every node */
    uint32_t pursuit; /* requester's name for the miss; returned unchanged */
    uint32_t since;   /* requester's time stamp, low bits of a cycle; returned unchanged */
    uint8_t kind, direction;
    uint8_t source;  /* requesting group */
    uint8_t target;  /* probe in AdjNet: group to be probed; answer: answering group */
    uint8_t queries; /* lookups left after this one */
};

_Static_assert(sizeof(struct coop_message) <= PORT_MESSAGE_MAX, "a port carries it");

/* The queues of a node, owned by the network. */
struct coop_ports {
    struct port *requests_out; /* Q6: the node pushes */
    struct port *requests_in;  /* Q2: the node pops */
    struct port *replies_out;  /* Q3: the node pushes */
    struct port *replies_in;   /* Q7: the node pops */
};

struct coop_context {
    struct engine *engine;
    struct stats *stats;
    unsigned groups, position;            /* position: index of the component */
    unsigned queue;                       /* depth of Q2, Q3, Q6, Q7 */
    unsigned channel;                     /* depth of a channel queue, at least 2; MulNet */
    unsigned short_queries, long_queries; /* MulNet */
    const unsigned *component;            /* [groups] of the nodes at the stops */
};

#define COOP_STATS(S) \
    S(SUM, asked, "requests", "read misses that probed other groups") \
    S(SUM, probes, "requests", "probes of caches in other groups") \
    S(SUM, probe_wait_cycles, "cycles", "waiting time of probes in Q6, summed") \
    S(SUM, data_answers, "replies", "answers with the line") \
    S(SUM, miss_answers, "replies", "answers without the line") \
    S(SUM, answer_hops, "hops", "hops of answers") \
    S(SUM, answer_wait_cycles, "cycles", "waiting time of answers in Q3, summed") \
    S(SUM, channel_wait_cycles, "cycles", "waiting time of answers in channel queues, summed") \
    S(MAX, probes_peak, "requests", "maximum number of probes queued at a cache (Q2)") \
    S(MAX, answers_peak, "replies", "maximum number of answers queued at a node (Q7)") \
    S(MAX, channel_peak, "replies", "maximum number of answers in a channel queue")

STATS_STRUCT(coop_stats, COOP_STATS);

struct coop_network;

struct coop_network *adjacent_create(const struct coop_context *context);
struct coop_network *ring_create(const struct coop_context *context);
void coop_network_destroy(struct coop_network *network);
struct coop_ports coop_network_ports(struct coop_network *network, unsigned group);

#endif
