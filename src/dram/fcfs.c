/* First come, first served: the requests of a channel issue their column commands in order of arrival, and a row
 * command is issued only for the oldest request (Rixner et al., ISCA 2000: "in-order"). No activate overlaps with
 * another request's transfer: the lower bound for a scheduler. With a separate write queue, the order is that of the
 * queue being served. */
#include "base/base.h"
#include "dram/channel.h"
#include "dram/scheduler.h"

static struct dram_offer offer(const struct dram_channel *channel, const struct dram_queue *queue, unsigned bank) {
    struct dram_request *oldest = queue->head[bank];
    for (unsigned other = 0; other < (unsigned)channel->device->banks; other++)
        if (queue->head[other] && queue->head[other]->rank < oldest->rank) return (struct dram_offer){NULL, NULL};
    bool hits = channel_oldest_hit(channel, queue, bank) == oldest;
    return hits ? (struct dram_offer){oldest, NULL} : (struct dram_offer){NULL, oldest};
}

const struct dram_scheduler_ops dram_scheduler_fcfs = {
    .policy = {"fcfs", "requests in order of arrival, one at a time", NULL},
    .offer = offer,
};
