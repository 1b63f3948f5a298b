/* The oldest request whose next command can be issued: Ramulator's interpretation of "first ready" (its FRFCFS; with a
 * cap of 16 its FRFCFS_Cap). A precharge is a command like any other. An older request therefore closes a row that
 * younger ones still hit as soon as the timings allow, and a younger one closes a row that older ones hit in a cycle in
 * which the data bus allows no column command; the row is then activated again for the older ones. Only a request whose
 * row has been opened for it keeps the row until its column command. FR-FCFS keeps the row open for all of them. */
#include "base/base.h"
#include "dram/channel.h"
#include "dram/scheduler.h"

struct oldest_config {
    int64_t cap;
};

static const struct param params[] = {
    P_INT(struct oldest_config, cap, 0, 0, 1000000, "commands",
          "row hits to an open row that have priority over other requests; 0: no cap"),
};

static const struct section section = {.path = "oldest-ready",
                                       .help = "the oldest ready command",
                                       .params = params,
                                       .count = COUNT_OF(params),
                                       .size = sizeof(struct oldest_config)};

static int64_t row_hit_cap(const void *values) { return ((const struct oldest_config *)values)->cap; }

static struct dram_offer offer(const struct dram_channel *channel, const struct dram_queue *queue, unsigned bank) {
    struct dram_offer offer = {channel_oldest_hit(channel, queue, bank), queue->head[bank]};
    if (!offer.column) return offer;
    while (offer.row && offer.row->row == channel->open_row[bank]) offer.row = offer.row->next;
    if (request_row_opened(offer.column)) offer.row = NULL;
    return offer;
}

const struct dram_scheduler_ops dram_scheduler_oldest_ready = {
    .policy = {"oldest-ready", "the oldest request whose next command can be issued, including precharges", &section},
    .offer = offer,
    .row_hit_cap = row_hit_cap,
};
