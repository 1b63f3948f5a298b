/* Round robin over banks: DRAMsim3's rule. Of the banks with a command that can be issued, the first after the bank of
 * the last column command is served, regardless of age. Banks that are out of step stay so, and each opens its next row
 * during the transfers of the others; age order would synchronise them again. Within a bank row hits come first; after
 * `row_hits` column commands to a row, the bank's oldest request may close it. */
#include "base/base.h"
#include "dram/channel.h"
#include "dram/scheduler.h"

struct round_robin_config {
    int64_t row_hits;
};

static const struct param params[] = {
    P_INT(struct round_robin_config, row_hits, 4, 1, 1000000, "commands",
          "column commands to a row after which an older request to the bank may close it"),
};

static const struct section section = {.path = "round-robin",
                                       .help = "round robin over banks",
                                       .params = params,
                                       .count = COUNT_OF(params),
                                       .size = sizeof(struct round_robin_config)};

static struct dram_offer offer(const struct dram_channel *channel, const struct dram_queue *queue, unsigned bank) {
    const struct round_robin_config *config = channel->scheduler_values;
    struct dram_offer offer = {channel_oldest_hit(channel, queue, bank), queue->head[bank]};
    bool served = channel->row_columns[bank] >= config->row_hits;
    if (offer.column && (offer.column == offer.row || !served)) offer.row = NULL;
    return offer;
}

static unsigned order(const struct dram_channel *channel, unsigned bank) {
    return (bank - channel->last_column_bank - 1) % (unsigned)channel->device->banks;
}

const struct dram_scheduler_ops dram_scheduler_round_robin = {
    .policy = {"round-robin", "round robin over banks, row hits first within a bank", &section},
    .offer = offer,
    .order = order,
};
