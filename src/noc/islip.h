/* The round-robin choices of iSLIP.
 *
 * iSLIP (McKeown 1999) matches inputs to outputs in iterations of three steps: every unmatched input requests, every
 * unmatched output grants the first requesting input at or after its pointer, every input accepts the first granting
 * output at or after its own. Pointers advance one beyond the partner, and only for pairs accepted in the first
 * iteration. An output whose grant was not accepted therefore grants the same input again, which desynchronises the
 * pointers of a loaded switch.
 *
 * Requests are bits, so that a choice costs one shift and one count of zeros for any number of requesters.
 */
#ifndef SLUICE_NOC_ISLIP_H
#define SLUICE_NOC_ISLIP_H

#include "base/base.h"

/* The first set bit at or after `pointer`, with wrap-around. `requests` must not be 0; pointer is below 64. */
static inline unsigned islip_first(uint64_t requests, unsigned pointer) {
    uint64_t ahead = requests >> pointer << pointer;
    return lowest_bit(ahead ? ahead : requests);
}

/* The same over several words, at least one of which is not 0. */
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

#endif
