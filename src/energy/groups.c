/* Energy of L1s shared by groups of SMs (l1/group.h), and of groups that request lines from each other (l1/icc.h),
 * without the L1s themselves: the two crossbars of each group; the stops of AdjNet or MulNet with their queues, and the
 * links between them; and the directories of adjacent groups. Nothing if each SM has a private L1.
 *
 * All of them except the directories are switches: ports around a crossbar with an arbiter, input and output queues,
 * and links. A group's crossbar has a buffer for one packet per input and, like an SM-router, short links to SMs and
 * nodes. A stop has three ports: that of its node, with Q6 and Q2 (Q3 and Q7) as its queues, and those to the left and
 * right, whose registers belong to the switch. It has one switch for probes and one for answers, which is as wide as a
 * line. A hop is as long as a group's share of the chip is wide.
 *
 * An answer without a line moves as many bits as a probe; its share of hops is assumed to be its share of answers. A
 * directory is looked up by every read miss, and updated for every line that its node or one of two neighbours gains or
 * loses.
 *
 * Not modelled: queues of SMs and nodes for their crossbar or L1 (Q1, Q4), since such queues are everywhere; wires of
 * the notes to neighbours; the counters of dynamic sending.
 */
#include <math.h>

#include "base/base.h"
#include "energy/account.h"
#include "l1/group.h"
#include "l1/icc.h"
#include "l1/l1.h"
#include "sim/gpu_config.h"
#include "sim/message.h"

struct switch_queue {
    unsigned ports, flits; /* of one switch; of one queue */
};

struct switch_plan {
    enum energy_part part;
    unsigned switches, inputs, outputs, bits;
    struct switch_queue before, behind;
    unsigned links; /* of one switch */
    double link_mm;
    double link_cycles;
};

/* Over all switches. */
struct switch_use {
    double entered, left;  /* flits through the input and output queues */
    double crossed, moved; /* through the crossbar, and over a link */
    double granted;        /* by the arbiter */
};

static void account_queue(const struct account *account, const struct switch_plan *plan, struct switch_queue queue,
                          double flits) {
    const struct router_table *table = &account->model->router;
    struct router_shape shape = {plan->inputs, plan->outputs, plan->bits, 1, queue.flits};
    account_events(account, plan->part, flits,
                   router_value(&table->buffer_write_pj, &shape) + router_value(&table->buffer_read_pj, &shape));
    account_power(account, plan->part,
                  plan->switches * queue.ports * router_value(&table->input_leak_mw, &shape) * MILLI);
}

static void account_switch(const struct account *account, const struct switch_plan *plan, struct switch_use use) {
    const struct router_table *table = &account->model->router;
    struct router_shape shape = {plan->inputs, plan->outputs, plan->bits, 1, 0};
    double hertz = account_core_hertz(account->config);
    struct link_cost link =
        link_cost(&account->model->link, plan->bits, plan->link_mm, plan->link_cycles * 1e12 / hertz);
    account_queue(account, plan, plan->before, use.entered);
    account_queue(account, plan, plan->behind, use.left);
    account_events(account, plan->part, use.crossed, router_value(&table->crossbar_pj, &shape));
    account_events(account, plan->part, use.granted, router_value(&table->switch_allocation_pj, &shape));
    account_events(account, plan->part, use.moved, link.pj);
    double leak_mw = router_value(&table->crossbar_leak_mw, &shape) + router_value(&table->allocator_leak_mw, &shape) +
                     router_value(&table->register_leak_mw, &shape) + plan->links * link.leak_mw;
    account_power(account, plan->part,
                  plan->switches * (leak_mw * MILLI + router_value(&table->clock_pj, &shape) * PICO * hertz));
}

/* --- within a group --- */

static void account_crossbars(const struct account *account) {
    const struct group_config *group = config_get(account->config, &group_section);
    const struct energy_config *values = config_get(account->config, &energy_section);
    const struct gpu_config *gpu = config_get(account->config, &gpu_section);
    struct group_shape shape = group_shape(account->config);
    unsigned flits = /* of the longest packet */
        (unsigned)div_up((uint64_t)(MESSAGE_HEADER_BYTES + gpu->line_bytes), (uint64_t)group->channel_bytes);
    struct switch_plan plan = {
        .part = ENERGY_l1_crossbars,
        .switches = shape.groups,
        .bits = 8 * (unsigned)group->channel_bytes,
        .links = shape.sms + shape.nodes,
        .link_mm = values->link_mm,
        .link_cycles = (double)group->link_cycles,
    };
    const struct direction {
        const char *flits, *packets;
        unsigned inputs, outputs;
    } direction[] = {{"l1.request_crossbar.flits", "l1.request_crossbar.packets", shape.sms, shape.nodes},
                     {"l1.reply_crossbar.flits", "l1.reply_crossbar.packets", shape.nodes, shape.sms}};
    for (unsigned i = 0; i < COUNT_OF(direction); i++) {
        double moved = account_count(account, direction[i].flits),
               packets = account_count(account, direction[i].packets);
        plan.inputs = direction[i].inputs, plan.outputs = direction[i].outputs;
        plan.before = (struct switch_queue){plan.inputs, flits};
        account_switch(account, &plan,
                       (struct switch_use){.entered = moved,
                                           .crossed = moved,
                                           .moved = 2 * moved, /* to and from the crossbar */
                                           .granted = packets});
    }
}

/* --- between groups --- */

static double both(const struct account *account, const char *adjacent, const char *ring) {
    return account_count(account, adjacent) + account_count(account, ring); /* at most one of them exists */
}
#define BOTH(account, counter) both(account, "l1.adjnet." counter, "l1.mulnet." counter)

static struct switch_plan stops(const struct account *account, const struct storage_item *queues) {
    const struct energy_config *values = config_get(account->config, &energy_section);
    struct switch_queue queue = {1, (unsigned)queues->entries / 2}; /* one per direction */
    return (struct switch_plan){
        .part = ENERGY_l1_cooperation,
        .switches = (unsigned)queues->copies,
        .inputs = 3,
        .outputs = 3,
        .bits = (unsigned)queues->bits,
        .before = queue,
        .behind = queue,
        .links = COOP_DIRECTIONS,
        .link_mm = sqrt(values->die_mm2 / group_shape(account->config).groups),
        .link_cycles = 1,
    };
}

static void account_directory(const struct account *account, const struct storage_item *directory) {
    enum { TABLES = 3 /* the node's and its neighbours' */ };
    const struct array_table *table = &account->model->array;
    double bytes = (double)(directory->entries * directory->bits) / 8;
    double lines = account_count(account, "l1.fills") - account_count(account, "l1.stale_fills") +
                   account_count(account, "l1.evictions") + account_count(account, "l1.write_hits");
    account_events(account, ENERGY_l1_cooperation, account_count(account, "l1.read_misses") + TABLES * lines,
                   array_table_read_pj(table, bytes));
    account_power(account, ENERGY_l1_cooperation,
                  (double)directory->copies * array_table_leak_mw(table, bytes) * MILLI);
}

static void account_cooperation(const struct account *account, const struct storage_item item[ICC_STORES]) {
    struct switch_plan asking = stops(account, &item[ICC_REQUESTS]), answering = stops(account, &item[ICC_LINES]);
    double probes = BOTH(account, "probes"), hops = BOTH(account, "answer_hops");
    double lines = BOTH(account, "data_answers"), answers = lines + BOTH(account, "miss_answers");
    double full = lines + (answers - lines) * asking.bits / answering.bits; /* in answers with a line */
    hops *= answers > 0 ? full / answers : 0;
    account_switch(account, &asking, (struct switch_use){probes, probes, probes, probes, probes});
    account_switch(account, &answering, (struct switch_use){full, full, hops, hops, BOTH(account, "answer_hops")});
}

void account_groups(const struct account *account) {
    const struct l1_config *l1 = config_get(account->config, &l1_section);
    const struct section *section = l1->organisation->section;
    struct storage_item item[STORAGE_ITEMS];
    if (!l1_is_grouped(account->config)) return;
    account_crossbars(account);
    if (stats_find(account->stats, "l1.icc.asked") < 0)
        return; /* a machine with these counters has the storage of icc.h */
    unsigned items = section->storage(account->config, item);
    if (items > ICC_LINES) account_cooperation(account, item);
    if (items > ICC_DIRECTORY) account_directory(account, &item[ICC_DIRECTORY]);
}
