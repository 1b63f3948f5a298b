/* The networks by which corresponding L1 nodes of the groups ask each other for lines: AdjNet, between neighbours, and
 * MulNet, all the way round. "GPU Performance Optimization via Inter-group Cache Cooperation", sections III-B2 and III-C.
 *
 * One network, and one component, for each place in a group. Its stops are the nodes of that place, one of each group, in
 * a ring: left of group g is g - 1, right is g + 1.
 *
 * Enters: probes by Q6, answers by Q3. Leaves: probes by Q2, answers by Q7. The four queues are ports between a node and
 * the network, and their depth is the ports' capacity.
 *
 * A node that asks pushes one probe. AdjNet takes it to the neighbour that it names. MulNet makes two of it, each sent as
 * soon as its way is free: one to the left that may ask `short_queries` caches, one to the right that may ask
 * `long_queries` (the paper's R_k and R_a, MNQ 2 and 7). A cache that does not have the line sends the probe on, by its own
 * Q6, until no queries are left. Answers go back by the shorter way.
 *
 * Time: a hop takes one cycle, from queue to queue or to the next stop, when the way is free. A way carries one probe and
 * one answer per cycle in each direction. What waits, waits in its queue. Answers that pass a stop go before those that
 * enter there, and never wait: one whose Q7 is full goes round once more. So answers move on whatever probes do, and
 * since a node never waits for Q6 to answer a probe, nothing can wait for itself in a circle, however short the queues.
 *
 * Left out: widths. An answer with a line takes a cycle per hop like one without.
 */
#ifndef SLUICE_L1_COOPERATION_H
#define SLUICE_L1_COOPERATION_H

#include "sim/port.h"
#include "stats/stats.h"

enum coop_kind { COOP_PROBE, COOP_DATA, COOP_MISS };
/* The direction in which a probe travels. An answer keeps its probe's, whatever way it takes itself. */
enum coop_direction { COOP_LEFT, COOP_RIGHT, COOP_DIRECTIONS };

enum { COOP_GROUPS_MAX = 64 };

struct coop_message {
    uint64_t key;     /* cache_key of the line */
    uint32_t set;     /* of the line, in every node alike */
    uint32_t pursuit; /* the asker's own name for the miss; comes back untouched */
    uint32_t since;   /* low bits of a cycle, the asker's; comes back untouched */
    uint8_t kind, direction;
    uint8_t source;  /* group that asks */
    uint8_t target;  /* AdjNet: group that is asked. Answers: group that answers */
    uint8_t queries; /* caches that may be asked after this one */
};

_Static_assert(sizeof(struct coop_message) <= PORT_MESSAGE_MAX, "a port carries it");

/* The queues of one node. The network owns them. */
struct coop_ports {
    struct port *requests_out; /* Q6: the node pushes */
    struct port *requests_in;  /* Q2: the node pops */
    struct port *replies_out;  /* Q3: the node pushes */
    struct port *replies_in;   /* Q7: the node pops */
};

struct coop_site {
    struct engine *engine;
    struct stats *stats;
    unsigned groups, position;            /* position: index of the component */
    unsigned queue;                       /* depth of Q2, Q3, Q6, Q7 */
    unsigned short_queries, long_queries; /* MulNet */
    const unsigned *component;            /* [groups] of the nodes at the stops */
};

#define COOP_STATS(S) \
    S(SUM, asked, "requests", "read misses that were sent to other groups") \
    S(SUM, probes, "requests", "times that a cache of another group was asked") \
    S(SUM, probe_wait_cycles, "cycles", "that probes waited to leave, over all probes") \
    S(SUM, data_answers, "replies", "answers with the line") \
    S(SUM, miss_answers, "replies", "answers without it") \
    S(SUM, answer_hops, "hops", "of answers") \
    S(SUM, answer_wait_cycles, "cycles", "that answers waited to leave, over all answers") \
    S(SUM, answer_rounds, "replies", "answers that found no room and went round once more") \
    S(MAX, probes_peak, "requests", "most probes waiting for one cache") \
    S(MAX, answers_peak, "replies", "most answers waiting for one node")

STATS_STRUCT(coop_stats, COOP_STATS);

struct coop_network;

struct coop_network *adjacent_create(const struct coop_site *context);
struct coop_network *ring_create(const struct coop_site *context);
void coop_network_destroy(struct coop_network *network);
struct coop_ports coop_network_ports(struct coop_network *network, unsigned group);

#endif
