/* A crossbar of a group: from its SMs to its nodes, or back (NoC #1 of DC-L1, "Analyzing and Leveraging Decoupled L1
 * Caches in GPUs", HPCA 2021). One component of the engine.
 *
 * Enters: packets at crossbar_input, whose capacity is the injection queue.
 * Leaves: packets at crossbar_output, once the last flit has arrived; its capacity is the receiver's queue. `to` of a
 *         packet is the output.
 *
 * An input sends its head packet, one flit per cycle, and holds the output until the last flit (wormhole); a packet
 * needs an entry in the receiver's queue before its head is sent. Outputs arbitrate round robin. At zero load, a packet
 * of f flits pushed in cycle t is visible at the output in t + f + switch_cycles + link_cycles - 1.
 *
 * Not modelled: virtual channels, so the head of an input blocks all packets behind it; flit-level credits, since
 * output buffers hold whole packets.
 */
#ifndef SLUICE_L1_CROSSBAR_H
#define SLUICE_L1_CROSSBAR_H

#include "l1/group.h"
#include "l1/l1.h"
#include "sim/port.h"

struct group_packet {
    struct l1_request request; /* in a reply: token, time stamps in `address`, and `bypass` */
    uint32_t since;            /* cycle of sending, low bits */
    uint8_t from, to;          /* input and output */
    uint8_t flits;
};
_Static_assert(sizeof(struct group_packet) <= PORT_MESSAGE_MAX, "fits a port");

#define CROSSBAR_STATS(S) \
    S(SUM, packets, "packets", "packets transferred") \
    S(SUM, flits, "flits", "flits transferred")
STATS_STRUCT(crossbar_stats, CROSSBAR_STATS);

/* From the push of a packet of one flit until it is visible at the output, at zero load. */
static inline unsigned crossbar_zero_load_cycles(const struct group_config *group) {
    return (unsigned)(group->switch_cycles + group->link_cycles);
}

struct crossbar_plan {
    const char *name; /* prefix of the port names */
    const struct stat_table *table;
    const struct group_config *group;
    unsigned inputs, outputs, input_queue, output_queue;
    const unsigned *sender, *receiver; /* components at the inputs and outputs */
};

extern const struct stat_table crossbar_request_table, crossbar_reply_table;

struct crossbar;
struct crossbar *crossbar_create(const struct crossbar_plan *plan, struct engine *engine, struct stats *stats,
                                 unsigned index);
void crossbar_destroy(struct crossbar *crossbar);
struct port *crossbar_input(struct crossbar *crossbar, unsigned input);
struct port *crossbar_output(struct crossbar *crossbar, unsigned output);

#endif
