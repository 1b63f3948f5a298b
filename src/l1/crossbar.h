/* A crossbar of a group: from its SMs to its nodes, or back (DC-L1's NoC #1, "Analyzing and Leveraging Decoupled L1
 * Caches in GPUs", HPCA 2021). One component of the engine.
 *
 * Enters: packets at crossbar_input, whose capacity is the injection queue. Leaves: the same at crossbar_output,
 * once the last flit has arrived; its capacity is the receiver's queue. `to` of a packet names the output.
 *
 * An input sends the packet at its head, one flit per cycle, and holds the output until the last (wormhole); a
 * packet needs a place in the receiver's queue before its head leaves. Inputs that want the same output take turns.
 * A packet of f flits pushed in cycle t is seen at the other side in t + f + switch_cycles + link_cycles - 1, if
 * nothing is in its way.
 *
 * Left out: virtual channels, so that the head of an input holds up all behind it; credits by flit, since a buffer
 * at an output is for whole packets.
 */
#ifndef SLUICE_L1_CROSSBAR_H
#define SLUICE_L1_CROSSBAR_H

#include "l1/group.h"
#include "l1/l1.h"
#include "sim/port.h"

struct group_packet {
    struct l1_request request; /* of a reply: its token */
    uint32_t since;            /* the cycle in which it was sent, its lower bits */
    uint8_t from, to;          /* input and output */
    uint8_t flits;
};
_Static_assert(sizeof(struct group_packet) <= PORT_MESSAGE_MAX, "fits a port");

#define CROSSBAR_STATS(S) \
    S(SUM, packets, "packets", "packets that crossed") \
    S(SUM, flits, "flits", "flits that crossed the switch")
STATS_STRUCT(crossbar_stats, CROSSBAR_STATS);

struct crossbar_plan {
    const char *name; /* of its ports */
    const struct stat_table *table;
    const struct group_config *group;
    unsigned inputs, outputs, input_queue, output_queue;
    const unsigned *sender, *receiver; /* components behind them, [inputs] and [outputs] */
};

extern const struct stat_table crossbar_request_table, crossbar_reply_table;

struct crossbar;
struct crossbar *crossbar_create(const struct crossbar_plan *plan, struct engine *engine, struct stats *stats,
                                 unsigned index);
void crossbar_destroy(struct crossbar *crossbar);
struct port *crossbar_input(struct crossbar *crossbar, unsigned input);
struct port *crossbar_output(struct crossbar *crossbar, unsigned output);

#endif
