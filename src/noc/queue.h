/* Queues for links that take one at a time, 64 side by side. What queues is all alike, so a queue is its length. Most
 * are short: only what is beyond the first is counted.
 */
#ifndef SLUICE_NOC_QUEUE_H
#define SLUICE_NOC_QUEUE_H

#include "noc/tally.h"

struct queue_word {
    uint64_t some, more; /* is not empty; is longer than one, */
    struct tally beyond; /* by so many */
};

/* One more in every queue of `mask`. */
static inline void queue_push(struct queue_word *queue, uint64_t mask) {
    uint64_t again = mask & queue->some;
    queue->some |= mask;
    if (!again) return;
    queue->more |= again;
    tally_add(&queue->beyond, again);
}

/* The first leaves every queue that has one. Returns which have. `planes` is as for tallies. */
static inline uint64_t queue_pop(struct queue_word *queue, unsigned planes) {
    uint64_t left = queue->some;
    queue->some = queue->more;
    if (queue->more) queue->more = tally_take(&queue->beyond, planes, queue->more);
    return left;
}

#endif
