/* Routers that are powered off and bypassed: input i of each is wired to its output i (ISCA 2019, sections 4.1 and
 * 4.2). For fabric.c.
 *
 * A flit that arrives takes a cycle for the bypass multiplexer and is on the link behind the output. It never waits:
 * there is no route to compute, nothing to allocate and nobody to share the output with, and that there is room for it
 * is known before it is sent. For whoever sends to the router then holds the credits of the buffer behind it, as many
 * as that has flits; a credit that comes back over the link behind the router goes on over the link before it, without
 * a cycle of its own and without the time that a router takes to handle it. So a bypassed router holds nothing, and
 * the two links are one whose credits take longer to come back. What that costs: a buffer shallower than the longer
 * loop cannot be kept full.
 *
 * Left out: wires of the bypass that are longer than those through the router.
 */
#ifndef SLUICE_NOC_BYPASS_H
#define SLUICE_NOC_BYPASS_H

#include "noc/fabric.h"
#include "noc/router.h"

/* The stage whose routers can be bypassed, and its books. All of its routers are switched together. */
struct bypass {
    unsigned gated;                    /* whose routers these books are about; NO_STAGE if there never were any */
    unsigned stage;                    /* the same while they are bypassed; NO_STAGE */
    uint64_t from;                     /* core cycle: nothing moves in the network before */
    uint64_t gated_from, gated_cycles; /* core cycles: powered off since; powered off before that */
    uint64_t frozen;                   /* core cycle from which no time is counted any more */
    uint64_t *flits; /* [routers]: that went round it; while it is bypassed, less what its outputs have sent */
};

/* Flits arrive at bypassed routers, by VC of a word of the link's mask. */
void bypass_arrive(struct router_stage *stage, unsigned word, uint64_t mask, uint64_t cycle);
/* Credits come back to them. */
void bypass_credit(struct router_stage *stage, unsigned word, uint64_t mask, uint64_t cycle);

/* Cycles of the core up to the end of `now` - 1 in which the routers were powered off. */
static inline uint64_t bypass_gated_cycles(const struct bypass *bypass, uint64_t now) {
    uint64_t until = min_u64(now, bypass->frozen);
    bool off = bypass->stage != NO_STAGE && until > bypass->gated_from;
    return bypass->gated_cycles + (off ? until - bypass->gated_from : 0);
}

#endif
