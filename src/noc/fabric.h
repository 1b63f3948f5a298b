/* A network of routers at flit level: stages of equal routers, one behind the other, with links between them. Full,
 * concentrated and hierarchical networks are three plans of it.
 *
 * The router is the input-queued virtual-channel router of BookSim and of GPGPU-Sim's networks: a head flit passes
 * route computation, VC allocation, switch allocation and switch traversal, one cycle each; body flits pass the last
 * two. An output VC belongs to one packet from its head's VC allocation until its tail has been granted the switch
 * (wormhole); a flit needs a credit of the output VC, that is, room in the next router's input VC. Both allocations are
 * iSLIP (islip.h). With internal speedup the pipeline takes two steps in a cycle and outputs queue what the link, one
 * flit per cycle, cannot take at once. With input speedup an input port has two ways into the switch, its even and its
 * odd VCs.
 *
 * Timing, for a link of L cycles: switch allocation in cycle s puts the flit into the next router's buffer in s + 2 +
 * L, and the credit of the place it leaves can be used upstream in s + 1 + L + credit_cycles (by an injection queue
 * credit_cycles sooner). A flit or credit that arrives in a cycle takes part in that cycle's allocations.
 *
 * How it is made fast. What can happen is bits in 64-bit words: input VCs with flits, input VCs whose output VC has a
 * credit, outputs that are wanted, outputs that have an open VC. So what is ready is an AND of words, and what waits
 * costs nothing. Whatever is counted per VC in large numbers (flits in a buffer, credits, what queues for a link) is
 * counted for 64 VCs at once (tally.h, queue.h), whatever takes time is bits in the row of the cycle in which it arrives
 * (timeline.h, link.h). Buffers hold packets: a packet enters the next buffer when it is given the VC that leads there,
 * and of its flits nothing moves but bits and one count of those left. A network in which nothing is ready sleeps until
 * the next row that is not empty.
 *
 * The routers of one stage can be powered off and bypassed (bypass.h).
 *
 * Left out: speculation, adaptive routing, priorities, switch holding, errors. Packets of a source for one destination
 * keep their order with one VC, and need not with several.
 */
#ifndef SLUICE_NOC_FABRIC_H
#define SLUICE_NOC_FABRIC_H

#include "noc/network.h"

enum { FABRIC_MAX_STAGES = 2, NO_STAGE = FABRIC_MAX_STAGES + 1 };

/* Activity of one router, for energy. */
#define ROUTER_STATS(S) \
    S(SUM, buffer_writes, "flits", "flits written into input buffers") \
    S(SUM, buffer_reads, "flits", "flits read from input buffers") \
    S(SUM, vc_allocations, "packets", "output VCs granted") \
    S(SUM, switch_allocations, "flits", "switch passages granted") \
    S(SUM, crossbar_traversals, "flits", "flits that crossed the switch") \
    S(SUM, link_traversals, "flits", "flits sent over the links behind the outputs") \
    S(SUM, bypassed_flits, "flits", "of those, flits that went round the router while it was bypassed") \
    S(SUM, gated_cycles, "cycles", "cycles of the core in which the router was powered off")
STATS_STRUCT(router_stats, ROUTER_STATS);

/* What a topology says about itself. Ports are numbered through all routers of a stage: router × ports of a router +
 * port. Source i enters at input i / concentration of the first stage, destination d is reached from output d /
 * concentration of the last. */
struct fabric_plan {
    unsigned stages;
    struct stage_plan {
        const struct stat_table *table;    /* of its routers' counters */
        unsigned routers, inputs, outputs; /* inputs and outputs of one router */
        unsigned link_cycles;              /* of the links behind its outputs */
    } stage[FABRIC_MAX_STAGES];
    unsigned added_cycles[FABRIC_MAX_STAGES]; /* of a stage's routers, beyond their pipeline */
    unsigned concentration;
    /* The output, within any router of `stage`, through which `destination` is reached. */
    unsigned (*route)(const struct fabric_plan *plan, unsigned stage, unsigned destination);
    /* The input of the next stage to which `output` of `stage` is wired. */
    unsigned (*wire)(const struct fabric_plan *plan, unsigned stage, unsigned output);
};

bool fabric_build(struct network *network, const struct fabric_plan *plan, struct stats *stats);
void fabric_destroy(struct network *network);
bool fabric_conserved(const struct network *network, char *text, size_t size);
/* With the routers of stage `bypassed` bypassed; NO_STAGE if none are. */
uint64_t fabric_unloaded_cycles(const struct noc_config *noc, const struct fabric_plan *plan, unsigned bypassed,
                                unsigned flits);
/* Bypasses the routers of `stage`, which have as many outputs as inputs, or puts them back to work. As
 * topology->set_bypass says. */
void fabric_set_bypass(struct network *network, unsigned stage, bool on, uint64_t now, uint64_t from);
/* As topology->freeze says. */
void fabric_freeze(struct network *network, uint64_t now);
extern const struct component_ops fabric_component;

/* Tables of router counters, by direction. */
extern const struct stat_table *const router_tables[2], *const sm_router_tables[2], *const mc_router_tables[2];

#endif
