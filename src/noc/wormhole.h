/* A network of one small router with one VC, simulated packet by packet instead of flit by flit. Private to fabric.c.
 *
 * In a router with one VC, the only decisions are which packet an output serves next (VC allocation) and whether its
 * destination has a place for it (admission). Once both are known, the cycle of everything else that happens to the
 * packet's flits follows. With B flits per buffer, and flit k of an input or of an output:
 *
 *   sent[k]    = max(sent[k - 1] + 1, left[k - B] + credit return)                            leaves the injection queue
 *   left[k]    = max(left[k - 1] + 1, sent[k] + link, grant + 1, ejected[k - B] + credit return)    leaves the router
 *   ejected[k] = max(ejected[k - 1] + 1, left[k] + traversal and link, admission)             leaves the network
 *
 * The times of a packet's flits are computed together, as far as they are known, and kept for the last flits of each
 * input and output. A term that is unknown (a credit of a packet that has no grant or no admission yet) ends the
 * computation; it continues when the packet gets it. The network is ticked for the events of packets only: acceptance
 * from an injection queue, allocation, and admission if no place is known in advance. A packet is pushed into its
 * output port as soon as the cycle of its delivery is known, with the latency until then. An allocation is decided one
 * cycle early, after the acceptances: every packet that can take part in it has then been accepted. A packet alone in
 * the network takes one tick, whatever its length.
 *
 * The result is that of router.c in every cycle, which --no-skip uses. tests/noc/wormhole_test.c compares them.
 */
#ifndef SLUICE_NOC_WORMHOLE_H
#define SLUICE_NOC_WORMHOLE_H

#include "noc/endpoints.h"
#include "noc/fabric.h"

struct wormhole;

/* NULL if the network is not of this kind: one stage with up to 64 inputs and outputs, one source or destination each,
 * one VC, no internal speedup, in the clock of the core. */
struct wormhole *wormhole_create(struct network *network, const struct router_stage *stage,
                                 struct injection *injection);
void wormhole_destroy(struct wormhole *wormhole);
void wormhole_tick(struct wormhole *wormhole, uint64_t now);
/* Counters up to the end of cycle now - 1. */
void wormhole_settle(struct wormhole *wormhole, uint64_t now, struct router_stats *router);
/* Packets in flight at the end of the last cycle. */
unsigned wormhole_packets(const struct wormhole *wormhole);
void wormhole_explain(const struct wormhole *wormhole, const char *name, FILE *out);
/* As network_conserved, for a network without packets. */
bool wormhole_conserved(const struct wormhole *wormhole, const char *name, char *text, size_t size);

#endif
