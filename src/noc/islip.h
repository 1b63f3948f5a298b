/* The round-robin choices that iSLIP is made of.
 *
 * iSLIP (McKeown 1999) matches inputs to outputs in iterations of three moves: every unmatched input requests, every
 * unmatched output grants the first requesting input at or after its pointer, every input accepts the first granting
 * output at or after its own. Pointers move one beyond the partner, and only for pairs accepted in the first iteration:
 * so an output that was refused insists on the same input next time, which is what pulls the pointers of a busy switch
 * apart until they stop colliding.
 *
 * Requests are bits, so that a choice costs a shift and a count of zeros, whatever the number of requesters.
 */
#ifndef SLUICE_NOC_ISLIP_H
#define SLUICE_NOC_ISLIP_H

#include "base/base.h"

/* The first set bit at or after `pointer`, going round. `requests` must not be 0; pointer is below 64. */
static inline unsigned islip_first(uint64_t requests, unsigned pointer) {
    uint64_t ahead = requests >> pointer << pointer;
    return lowest_bit(ahead ? ahead : requests);
}

/* The same over several words, of which one at least is not 0. */
static inline unsigned islip_first_of(const uint64_t *requests, unsigned words, unsigned pointer) {
    unsigned word = pointer / 64;
    uint64_t ahead = requests[word] >> (pointer % 64) << (pointer % 64);
    for (unsigned i = 0; i <= words; i++) {
        if (ahead) return word * 64 + lowest_bit(ahead);
        word = word + 1 == words ? 0 : word + 1;
        ahead = requests[word];
    }
    assert(false && "no requester");
    return 0;
}

/* How far `candidate` lies after `pointer` on a circle of `count`: the smaller, the sooner it is chosen. */
static inline unsigned islip_distance(unsigned candidate, unsigned pointer, unsigned count) {
    return candidate >= pointer ? candidate - pointer : candidate + count - pointer;
}

#endif
