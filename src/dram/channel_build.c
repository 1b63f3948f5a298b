/* Builds a channel from the configuration: delays between commands, queues, policies. */
#include <stdlib.h>

#include "dram/channel.h"
#include "dram/row_policy.h"

static struct dram_delays delays_of(const struct dram_device *d) {
    uint64_t burst = (uint64_t)d->burst_cycles, same = max_u64((uint64_t)d->tCCDS, burst),
             same_group = max_u64((uint64_t)d->tCCDL, burst);
    uint64_t repeat = max_u64(same, same_group);
    uint64_t read_done = (uint64_t)d->tCL + burst, write_done = (uint64_t)d->tWL + burst;
    int64_t to_write = d->tCL + d->burst_cycles + d->turnaround - d->tWL;
    uint64_t read_to_write = max_u64(to_write > 0 ? (uint64_t)to_write : 0, 1);
    return (struct dram_delays){
        .burst = burst,
        .burst_bytes = (uint64_t)d->burst_bytes,
        .done = {read_done, write_done},
        .same = {same, same},
        .same_group = {same_group, same_group},
        .repeat = {repeat, repeat},
        .repeat_first = {repeat <= same && repeat <= read_to_write,
                         repeat <= same && repeat <= write_done + (uint64_t)d->tWTRS},
        .other = {read_to_write, write_done + (uint64_t)d->tWTRS},
        .other_group = {read_to_write, write_done + (uint64_t)d->tWTRL},
        .precharge = {(uint64_t)d->tRTP, write_done + (uint64_t)d->tWR},
        .column = {(uint64_t)d->tRCD, (uint64_t)d->tRCDW},
        .first_column = min_u64((uint64_t)d->tRCD, (uint64_t)d->tRCDW),
        .row_open = (uint64_t)d->tRAS,
        .row_cycle = (uint64_t)d->tRC,
        .row_close = (uint64_t)d->tRP,
        .activate = (uint64_t)d->tRRDS,
        .activate_group = (uint64_t)d->tRRDL,
        .four_activates = (uint64_t)d->tFAW,
    };
}

/* Whether a column command can delay those of its group more than those of other groups. */
static bool groups_bind(const struct dram_delays *delay) {
    bool bind = false;
    for (unsigned write = 0; write < 2; write++)
        bind |= delay->same_group[write] > delay->same[write] || delay->other_group[write] > delay->other[write];
    return bind;
}

static void init_queue(struct dram_queue *queue, int64_t room) { queue->room = (unsigned)room; }

static void init_requests(struct dram_channel *ch, const struct dram_config *dram) {
    unsigned queues = dram->write_drain ? 2 : 1;
    ch->request_count = ch->queue[0].room + ch->queue[1].room + queues * ch->bank_queue * (unsigned)ch->device->banks +
                        (unsigned)dram->return_queue;
    ch->request = mem_alloc_lines(ch->request_count, sizeof *ch->request);
    ch->done = mem_alloc(ch->request_count, sizeof *ch->done);
    for (unsigned i = ch->request_count; i-- > 0;) channel_free(ch, &ch->request[i]);
}

static const void *values_of(const struct config *config, const struct policy *policy) {
    return policy->section ? config_get(config, policy->section) : NULL;
}

static void init_policies(struct dram_channel *ch, const struct config *config, const struct dram_config *dram) {
    const struct dram_scheduler_ops *scheduler = (const struct dram_scheduler_ops *)dram->scheduler;
    const struct row_policy_ops *row_policy = (const struct row_policy_ops *)dram->row_policy;
    ch->scheduler = scheduler;
    ch->scheduler_values = values_of(config, dram->scheduler);
    int64_t cap = scheduler->row_hit_cap ? scheduler->row_hit_cap(ch->scheduler_values) : 0;
    ch->by_offer = scheduler->offer ? low_mask((unsigned)ch->device->banks) : 0;
    ch->row_hit_cap = cap ? (uint32_t)cap : UINT32_MAX;
    ch->columns_unnoticed = scheduler->offer ? 0 : ch->row_hit_cap;
    ch->close_after = NEVER;
    if (row_policy->close_after)
        ch->close_after = (uint64_t)row_policy->close_after(values_of(config, dram->row_policy));
    ch->rules.special = scheduler->offer || cap || row_policy->close_after;
    ch->rules.drain = dram->write_drain;
    ch->rules.two_buses = ch->device->two_command_buses;
}

void channel_init(struct dram_channel *ch, const struct config *config, unsigned mc, unsigned index,
                  const bool *polled) {
    const struct dram_config *dram = config_get(config, &dram_section);
    ch->device = dram_device_of(config);
    ch->delay = delays_of(ch->device);
    ch->mc = mc;
    ch->index = index;
    ch->bit = UINT64_C(1) << index;
    ch->polled = polled;
    ch->group_mask = (unsigned)ch->device->bank_groups - 1;
    ch->column_groups = groups_bind(&ch->delay);
    ch->activate_groups = ch->delay.activate_group > ch->delay.activate;
    for (unsigned bank = 0; bank < (unsigned)ch->device->banks; bank++)
        ch->group_banks[bank & ch->group_mask] |= UINT64_C(1) << bank;
    ch->drain_high = (unsigned)(dram->write_queue * dram->drain_high_percent / 100);
    ch->drain_low = (unsigned)(dram->write_queue * dram->drain_low_percent / 100);
    if (ch->drain_low < 1) ch->drain_low = 1; /* draining ends with an empty queue */
    ch->drain_idle = (unsigned)dram->drain_idle_writes;
    ch->starvation_cycles = (uint64_t)dram->starvation_cycles;
    ch->bank_queue = (unsigned)dram->bank_queue;
    init_policies(ch, config, dram);
    init_queue(&ch->queue[0], dram->read_queue);
    init_queue(&ch->queue[1], dram->write_drain ? dram->write_queue : 0);
    init_requests(ch, dram);
    ch->active = &ch->queue[0];
    ch->idle = &ch->queue[1];
    ch->next_rank = RANK_WAITING;
    ch->column_next = ch->row_next = ch->starve_next = ch->close_next = ch->blocked_since = NEVER;
    ch->refresh_due = ch->device->refresh ? (uint64_t)ch->device->tREFI : NEVER;
    ch->refresh_next = ch->rare_next = ch->next = ch->refresh_due;
}

void channel_release(struct dram_channel *ch) {
    free(ch->request);
    free(ch->done);
}
