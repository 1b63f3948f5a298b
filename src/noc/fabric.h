/* A network of routers at flit level: stages of identical routers in series, connected by links. Full, concentrated and
 * hierarchical networks are three plans of it.
 *
 * The router is the input-queued virtual-channel router of BookSim and of GPGPU-Sim's networks: a head flit passes
 * route computation, VC allocation, switch allocation and switch traversal, one cycle each; body flits pass the last
 * two. An output VC belongs to one packet from the VC allocation of its head until its tail wins the switch (wormhole).
 * A flit needs a credit of the output VC, that is, space in the next router's input VC. Both allocators are iSLIP
 * (islip.h). With internal speedup the pipeline advances two steps per cycle, and outputs queue flits for the link,
 * which carries one flit per cycle. With input speedup an input port has two crossbar inputs, for its even and its odd
 * VCs.
 *
 * Timing, for a link of L cycles: a flit that wins switch allocation in cycle s is in the next router's buffer in s + 2
 * + L, and the credit of the space that it frees is usable upstream in s + 1 + L + credit_cycles (credit_cycles earlier
 * by an injection queue). A flit or credit that arrives in a cycle takes part in that cycle's allocations.
 *
 * Implementation. State that decides what can happen is kept as bits in 64-bit words: input VCs with flits, input VCs
 * whose output VC has a credit, requested outputs, outputs with a free VC. Flits that are ready are found by an AND of
 * words, and flits that wait cost nothing. Counts per VC (buffer occupancy, credits, queues for a link) are kept for 64
 * VCs at once (tally.h, queue.h); events in flight are bits in the row of the cycle in which they arrive (timeline.h,
 * link.h). Buffers hold packets: a packet enters the next buffer when it is allocated the VC that leads there, and its
 * flits are only bits and one count of those that remain. A network without ready flits sleeps until the next row that
 * is not empty.
 *
 * The routers of one stage can be powered off and bypassed (bypass.h).
 *
 * Not modelled: speculation, adaptive routing, priorities, switch holding, errors. Packets from one source to one
 * destination stay in order with one VC, and may be reordered with several.
 */
#ifndef SLUICE_NOC_FABRIC_H
#define SLUICE_NOC_FABRIC_H

#include "noc/network.h"

enum { FABRIC_MAX_STAGES = 2, NO_STAGE = FABRIC_MAX_STAGES + 1 };

/* Activity of one router, for the energy model. */
#define ROUTER_STATS(S) \
    S(SUM, buffer_writes, "flits", "flits written into input buffers") \
    S(SUM, buffer_reads, "flits", "flits read from input buffers") \
    S(SUM, vc_allocations, "packets", "output VCs allocated to packets") \
    S(SUM, switch_allocations, "flits", "switch allocations won by flits") \
    S(SUM, crossbar_traversals, "flits", "flits that traversed the crossbar") \
    S(SUM, link_traversals, "flits", "flits sent over the output links") \
    S(SUM, bypassed_flits, "flits", "of those, flits that bypassed the router while it was powered off") \
    S(SUM, gated_cycles, "cycles", "core cycles in which the router was powered off")
STATS_STRUCT(router_stats, ROUTER_STATS);

/* Describes a topology. Ports are numbered through all routers of a stage: router × ports per router + port. Source i
 * enters at input i / concentration of the first stage; destination d is reached from output d / concentration of the
 * last. */
struct fabric_plan {
    enum network_direction direction;
    unsigned stages;
    struct stage_plan {
        const struct stat_table *table;    /* counters of its routers */
        unsigned routers, inputs, outputs; /* inputs and outputs of one router */
    } stage[FABRIC_MAX_STAGES];
    unsigned added_cycles[FABRIC_MAX_STAGES]; /* latency of a stage's routers in addition to their pipeline */
    unsigned concentration;
    /* The output of every router of `stage` that leads to `destination`. */
    unsigned (*route)(const struct fabric_plan *plan, unsigned stage, unsigned destination);
    /* The input of the next stage to which `output` of `stage` is wired. */
    unsigned (*wire)(const struct fabric_plan *plan, unsigned stage, unsigned output);
};

/* The links into stage `number`, or behind the last stage. */
struct noc_links fabric_links(const struct noc_config *noc, const struct fabric_plan *plan, unsigned number);
bool fabric_build(struct network *network, const struct fabric_plan *plan, struct stats *stats);
void fabric_destroy(struct network *network);
bool fabric_conserved(const struct network *network, char *text, size_t size);
/* Zero-load latency with the routers of stage `bypassed` bypassed; NO_STAGE if none are. */
uint64_t fabric_unloaded_cycles(const struct noc_config *noc, const struct fabric_plan *plan, unsigned bypassed,
                                unsigned flits);
/* Bypasses the routers of `stage`, which have as many outputs as inputs, or powers them on again. Contract:
 * topology->set_bypass. */
void fabric_set_bypass(struct network *network, unsigned stage, bool on, uint64_t now, uint64_t from);
/* Contract: topology->freeze. */
void fabric_freeze(struct network *network, uint64_t now);
extern const struct component_ops fabric_component;

/* Tables of router counters, by direction. */
extern const struct stat_table *const router_tables[2], *const sm_router_tables[2], *const mc_router_tables[2];

#endif
