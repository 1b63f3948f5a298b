/* 64 queues for links that carry one item per cycle. Items are indistinguishable, so a queue is its length. */
#ifndef SLUICE_NOC_QUEUE_H
#define SLUICE_NOC_QUEUE_H

#include "noc/tally.h"

struct queue_word {
    uint64_t some; /* is not empty, */
    struct tally length;
};

/* One cycle of a link that can be offered two items: one item joins every queue of `first` and of `second`, then one
 * leaves every queue that is not empty. Returns the queues that an item left. `planes` is as for tallies. */
static inline uint64_t queue_pass(struct queue_word *queue, unsigned planes, uint64_t first, uint64_t second) {
    uint64_t offered = first | second, longer = first & second, shorter = queue->some & ~offered;
    if (shorter) queue->some = tally_take(&queue->length, planes, shorter);
    if (longer) tally_add(&queue->length, longer);
    queue->some |= longer;
    return offered | shorter; /* a queue with arrivals is not empty; one without has just lost an item */
}

#endif
