/* Routers that are powered off and bypassed: input i of each is wired to its output i (ISCA 2019, sections 4.1 and
 * 4.2). Private to fabric.c.
 *
 * A flit that arrives spends one cycle in the bypass multiplexer and continues on the output link. It never stalls:
 * there is no route to compute, no allocation, no contention for the output, and its space downstream is reserved
 * before it is sent. The sender upstream holds the credits of the buffer downstream of the router; a credit that
 * returns over the output link continues over the input link, without a cycle of its own and without the router's
 * credit processing. So a bypassed router holds no flits, and the two links form one link with a longer credit loop. A
 * buffer shallower than this loop cannot sustain full bandwidth.
 *
 * Not modelled: bypass wires that are longer than those through the router.
 */
#ifndef SLUICE_NOC_BYPASS_H
#define SLUICE_NOC_BYPASS_H

#include "noc/fabric.h"
#include "noc/router.h"

/* The stage whose routers can be bypassed, with its counters. All of its routers are switched together. */
struct bypass {
    unsigned gated;                    /* the stage that these counters describe; NO_STAGE if none was ever bypassed */
    unsigned stage;                    /* the stage that is bypassed now; NO_STAGE if none is */
    uint64_t from;                     /* core cycle before which nothing moves in the network */
    uint64_t gated_from, gated_cycles; /* core cycles: start of the current gated period; length of earlier ones */
    uint64_t frozen;                   /* core cycle from which on time is not counted */
    uint64_t *flits; /* [routers]: flits that bypassed it; while bypassed, minus the total that its outputs have sent */
};

/* Flits arrive at bypassed routers, by VC of one word of the link's mask. */
void bypass_arrive(struct router_stage *stage, unsigned word, uint64_t mask, uint64_t cycle);
/* Credits return to bypassed routers. */
void bypass_credit(struct router_stage *stage, unsigned word, uint64_t mask, uint64_t cycle);

/* Core cycles up to the end of `now` - 1 in which the routers were powered off. */
static inline uint64_t bypass_gated_cycles(const struct bypass *bypass, uint64_t now) {
    uint64_t until = min_u64(now, bypass->frozen);
    bool off = bypass->stage != NO_STAGE && until > bypass->gated_from;
    return bypass->gated_cycles + (off ? until - bypass->gated_from : 0);
}

#endif
