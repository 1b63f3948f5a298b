/* Energy accounting of a run: counters times the tables' coefficients, and static power times the run time.
 *
 * Quantities that the machine does not count are averages: lanes per instruction over all instructions, registers as in
 * the table. A line that is wider than its array's output takes several accesses; a write moves a whole line.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "dram/dram_config.h"
#include "energy/account.h"
#include "l1/l1.h"
#include "llc/atomics.h"
#include "llc/llc.h"
#include "sim/gpu_config.h"
#include "sm/sm_config.h"

const struct energy_part_info energy_parts[ENERGY_PART_COUNT] = {
#define P(name, help) {#name, help},
    ENERGY_PARTS(P)
#undef P
};

double account_core_hertz(const struct config *config) { return (double)gpu_core_khz(config) * 1e3; }

static double noc_hertz(const struct config *config) {
    const struct noc_config *noc = config_get(config, &noc_section);
    return noc->clock_mhz ? (double)noc->clock_mhz * 1e6 : account_core_hertz(config);
}

/* --- events with their own coefficient --- */

enum per { PER_WARP, PER_LANE };

static const struct event {
    enum energy_part part;
    const char *counter;
    enum per per;
    size_t coefficient;
} events[] =
    {
#define E(part, counter, per, coefficient) \
    { ENERGY_##part, counter, per, offsetof(struct gpu_table, coefficient) }
        E(issue, "sm.warp_instructions", PER_WARP, instruction_pj),
        E(issue, "sm.warp_instructions", PER_WARP, schedule_pj),
        E(sm_caches, "sm.instruction_hits", PER_WARP, instruction_hit_pj),
        E(sm_caches, "sm.instruction_misses", PER_WARP, instruction_miss_pj),
        E(sm_caches, "sm.constant_hits", PER_WARP, constant_hit_pj),
        E(sm_caches, "sm.constant_misses", PER_WARP, constant_miss_pj),
        E(sm_caches, "sm.read_only_hits", PER_WARP, read_only_pj),
        E(sm_caches, "sm.read_only_misses", PER_WARP, read_only_pj),
        E(shared_memory, "sm.shared_accesses", PER_WARP, shared_pj),
        E(arithmetic, "sm.op.other", PER_LANE, int_pj),
        E(arithmetic, "sm.op.int_add", PER_LANE, int_pj),
        E(arithmetic, "sm.op.int_minmax", PER_LANE, int_pj),
        E(arithmetic, "sm.op.int_mul", PER_LANE, int_mul_pj),
        E(arithmetic, "sm.op.int_mad", PER_LANE, int_mul_pj),
        E(arithmetic, "sm.op.int_div", PER_LANE, special_pj),
        E(arithmetic, "sm.op.f32_add", PER_LANE, f32_pj),
        E(arithmetic, "sm.op.f32_minmax", PER_LANE, f32_pj),
        E(arithmetic, "sm.op.f32_mul", PER_LANE, f32_mul_pj),
        E(arithmetic, "sm.op.f32_fma", PER_LANE, f32_mul_pj),
        E(arithmetic, "sm.op.f32_div", PER_LANE, special_pj),
        E(arithmetic, "sm.op.f64_add", PER_LANE, f64_pj),
        E(arithmetic, "sm.op.f64_minmax", PER_LANE, f64_pj),
        E(arithmetic, "sm.op.f64_mul", PER_LANE, f64_mul_pj),
        E(arithmetic, "sm.op.f64_fma", PER_LANE, f64_mul_pj),
        E(arithmetic, "sm.op.f64_div", PER_LANE, special_pj),
        E(arithmetic, "sm.op.special", PER_LANE, special_pj),
        E(arithmetic, "sm.tensor_multiply_adds", PER_WARP, tensor_pj),
},
  cache_events[] = {
      E(l1, "l1.read_hits", PER_WARP, l1_read_hit_pj),
      E(l1, "l1.read_pending_hits", PER_WARP, l1_read_hit_pj),
      E(l1, "l1.read_misses", PER_WARP, l1_read_miss_pj),
      E(l1, "l1.read_bypasses", PER_WARP, l1_read_miss_pj),
      E(l1, "l1.write_hits", PER_WARP, l1_write_hit_pj),
      E(l1, "l1.write_misses", PER_WARP, l1_write_miss_pj),
      E(l1, "l1.icc.served_hits", PER_WARP, l1_read_hit_pj),
      E(llc, "llc.read_hits", PER_WARP, llc_read_hit_pj),
      E(llc, "llc.read_pending_hits", PER_WARP, llc_read_hit_pj),
      E(llc, "llc.read_misses", PER_WARP, llc_read_miss_pj),
      E(llc, "llc.write_hits", PER_WARP, llc_write_hit_pj),
      E(llc, "llc.write_misses", PER_WARP, llc_write_miss_pj),
      E(llc, "llc.atomic_hits", PER_WARP, llc_write_hit_pj),
      E(llc, "llc.atomic_misses", PER_WARP, llc_write_miss_pj),
      E(llc, "copies.read_hits", PER_WARP, llc_read_hit_pj),
      E(llc, "copies.read_pending_hits", PER_WARP, llc_read_hit_pj),
      E(llc, "copies.read_misses", PER_WARP, llc_read_miss_pj),
      E(llc, "atomics.atomic_hits", PER_WARP, llc_write_hit_pj),
      E(llc, "atomics.atomic_misses", PER_WARP, llc_write_miss_pj),
#undef E
};

static void add_table(const struct account *account, const struct event *event, unsigned rows, double lanes) {
    for (const struct event *end = event + rows; event < end; event++) {
        double pj = *(const double *)(const void *)((const char *)&account->model->gpu + event->coefficient);
        account_events(account, event->part,
                       account_count(account, event->counter) * (event->per == PER_LANE ? lanes : 1), pj);
    }
}

static void account_sms(const struct account *account) {
    const struct gpu_table *gpu = &account->model->gpu;
    const struct sm_config *sm = config_get(account->config, &sm_section);
    double warps = account_count(account, "sm.warp_instructions"),
           threads = account_count(account, "sm.thread_instructions");
    add_table(account, events, COUNT_OF(events), warps > 0 ? threads / warps : 0);
    account_events(account, ENERGY_registers, threads * gpu->register_reads, gpu->register_read_pj);
    account_events(account, ENERGY_registers, threads * gpu->register_writes, gpu->register_write_pj);
    account_power(account, ENERGY_sm_idle, gpu->sm_watts * (double)sm->count);
    account_power(account, ENERGY_constant, gpu->constant_watts);
}

/* --- caches by their geometry --- */

/* `arrays` identical caches: lookups, line reads and line writes, over all of them. */
static void account_array(const struct account *account, enum energy_part part, const struct array_shape *shape,
                          unsigned line_bytes, double arrays, double lookups, double reads, double writes) {
    const struct array_table *table = &account->model->array;
    double accesses = (double)div_up(8 * line_bytes, shape->bits);
    account_events(account, part, lookups, ARRAY_VALUE(table, tag_read_pj, shape));
    account_events(account, part, reads * accesses, ARRAY_VALUE(table, data_read_pj, shape));
    account_events(account, part, writes * accesses, ARRAY_VALUE(table, data_write_pj, shape));
    account_power(account, part,
                  arrays * (ARRAY_VALUE(table, data_leak_mw, shape) + ARRAY_VALUE(table, tag_leak_mw, shape)) * MILLI);
}

static double sum(const struct account *account, const char *const *counters) {
    double total = 0;
    for (; *counters; counters++) total += account_count(account, *counters);
    return total;
}
#define SUM(account, ...) sum(account, (const char *const[]){__VA_ARGS__, NULL})

static struct array_shape l1_array(const struct config *config) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    return (struct array_shape){(double)l1->size_kb * 1024, (unsigned)l1->ways, 8 * (unsigned)gpu->line_bytes};
}

/* Sectors as parts of lines: a sectored cache reads and writes only the sectors that it moves. */
static double lines_of_sectors(const struct account *account, double sectors) {
    const struct gpu_config *gpu = config_get(account->config, &gpu_section);
    return sectors * SECTOR_BYTES / (double)gpu->line_bytes;
}

/* Lines read and written in the slices whose counters begin with `prefix`, "llc", "copies" or "atomics". */
static void sectored_slices(const struct account *account, const char *prefix, double *reads, double *writes) {
    static const char *const moved[] = {"read", "written_back", "written", "fetched"};
    double sectors[COUNT_OF(moved)];
    for (unsigned i = 0; i < COUNT_OF(moved); i++) {
        char counter[40];
        snprintf(counter, sizeof counter, "%s.sectors.%s", prefix, moved[i]);
        sectors[i] = account_count(account, counter);
    }
    *reads = lines_of_sectors(account, sectors[0] + sectors[1]);
    *writes = lines_of_sectors(account, sectors[2] + sectors[3]);
}

static void account_arrays(const struct account *a, unsigned slices) {
    const struct gpu_config *gpu = config_get(a->config, &gpu_section);
    const struct llc_config *llc = config_get(a->config, &llc_section);
    unsigned line = (unsigned)gpu->line_bytes;
    struct array_shape near = l1_array(a->config);
    double filled = SUM(a, "l1.fills");
    if (((const struct l1_config *)config_get(a->config, &l1_section))->sector_bytes)
        filled = lines_of_sectors(a, SUM(a, "l1.sectors.fetched", "l1.sectors.written"));
    account_array(a, ENERGY_l1, &near, line, l1_count(a->config),
                  SUM(a, "l1.read_hits", "l1.read_pending_hits", "l1.read_misses", "l1.write_hits", "l1.write_misses",
                      "l1.icc.served"),
                  SUM(a, "l1.read_hits", "l1.read_pending_hits", "l1.write_backs", "l1.icc.served_hits"), filled);
    struct array_shape far = {(double)llc->slice_kb * 1024, (unsigned)llc->ways, 8 * (unsigned)llc->port_bytes};
    double reads = SUM(a, "llc.data_replies", "llc.write_backs") - account_count(a, "llc.atomics_forwarded"),
           writes = SUM(a, "llc.fills", "llc.write_hits", "llc.write_misses", "llc.atomic_hits", "llc.atomic_misses");
    if (llc->sector_bytes) sectored_slices(a, "llc", &reads, &writes);
    account_array(a, ENERGY_llc, &far, line, slices,
                  SUM(a, "llc.read_hits", "llc.read_pending_hits", "llc.read_misses", "llc.write_hits",
                      "llc.write_misses", "llc.atomic_hits", "llc.atomic_misses"),
                  reads, writes);
    reads = account_count(a, "copies.data_replies"); /* in the same arrays, whose leakage is accounted for */
    writes = account_count(a, "copies.fills");
    if (llc->sector_bytes) sectored_slices(a, "copies", &reads, &writes);
    account_array(a, ENERGY_llc, &far, line, 0,
                  SUM(a, "copies.read_hits", "copies.read_pending_hits", "copies.read_misses"), reads, writes);
    const struct atomics_config *atomics = config_get(a->config, &atomics_section);
    struct array_shape apart = {(double)atomics->size_kb * 1024, (unsigned)atomics->ways, far.bits};
    double performed = SUM(a, "atomics.atomic_hits", "atomics.atomic_misses");
    reads = SUM(a, "atomics.data_replies", "atomics.write_backs");
    writes = account_count(a, "atomics.fills") + performed;
    if (llc->sector_bytes) sectored_slices(a, "atomics", &reads, &writes);
    account_array(a, ENERGY_llc, &apart, line, atomics_slices(a->config), performed, reads, writes);
}

/* Another group's request that misses is not a miss as measured on hardware, which fetches a line: it only reads
 * tags. */
static void account_measured(const struct account *account) {
    struct array_shape near = l1_array(account->config);
    double vain = account_count(account, "l1.icc.served") - account_count(account, "l1.icc.served_hits");
    add_table(account, cache_events, COUNT_OF(cache_events), 0);
    account_events(account, ENERGY_l1, vain, ARRAY_VALUE(&account->model->array, tag_read_pj, &near));
}

/* --- networks --- */

/* One stage of routers of a network with its output links, or the injection links (no routers). */
struct part {
    struct router_group group;
    struct router_shape shape;
    unsigned links;
    struct link_cost link;
};

enum { PARTS = 1 + NOC_ROUTER_GROUPS };

static unsigned network_parts(const struct energy_model *model, const struct config *config,
                              enum network_direction direction, const struct network_shape *shape,
                              struct part part[PARTS]) {
    const struct noc_config *noc = config_get(config, &noc_section);
    const struct energy_config *values = config_get(config, &energy_section);
    double cycle_ps = 1e12 / noc_hertz(config);
    unsigned bits = 8 * (unsigned)noc->channel_bytes;
    struct router_group group[NOC_ROUTER_GROUPS];
    struct noc_links injection;
    unsigned groups = noc_routers(config, direction, shape, &injection, group);
    if (groups == 0) return 0;
    part[0] = (struct part){.links = group[0].routers * group[0].inputs, .group.links = injection};
    for (unsigned i = 0; i < groups; i++) {
        unsigned flits = group[i].kind == DISTRIBUTOR ? 0 : (unsigned)noc->vc_flits;
        part[i + 1] = (struct part){
            .group = group[i],
            .shape = {group[i].inputs, group[i].outputs, bits, (unsigned)noc->vcs, flits},
            .links = group[i].routers * group[i].outputs,
        };
    }
    for (unsigned i = 0; i <= groups; i++) {
        struct noc_links links = part[i].group.links;
        part[i].link = link_cost(&model->link, bits, links.across ? values->long_link_mm : values->link_mm,
                                 cycle_ps * links.cycles);
    }
    return groups + 1;
}

/* Concentrators and distributors have no pipeline registers, and a distributor has no buffers. */
static struct router_area part_area(const struct router_table *table, const struct part *part) {
    struct router_area area = router_area(table, &part->shape);
    if (part->group.kind != ROUTER) area.registers = 0;
    if (part->group.kind == DISTRIBUTOR) area.buffers = area.allocators = 0;
    return area;
}

static double part_leak_mw(const struct router_table *table, const struct part *part) {
    const struct router_shape *shape = &part->shape;
    if (part->group.kind == ROUTER) return router_leak_mw(table, shape);
    double leak = router_value(&table->crossbar_leak_mw, shape);
    if (part->group.kind == CONCENTRATOR)
        leak +=
            shape->inputs * router_value(&table->input_leak_mw, shape) + router_value(&table->allocator_leak_mw, shape);
    return leak;
}

static double part_clock_pj(const struct router_table *table, const struct part *part) {
    return part->group.kind == ROUTER ? router_value(&table->clock_pj, &part->shape) : 0;
}

static double group_count(const struct account *account, const struct router_group *group, const char *counter) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", group->name, counter);
    return account_count(account, name);
}

/* Every flit passes one concentrator and one distributor; an arbiter decides once per packet. */
static void account_concentrators(const struct account *account, const struct part *part) {
    const struct router_table *table = &account->model->router;
    const struct router_shape *shape = &part->shape;
    account_power(account, ENERGY_noc_routers, part->group.routers * part_leak_mw(table, part) * MILLI);
    bool buffered = part->group.kind == CONCENTRATOR;
    double flits = group_count(account, &part->group, buffered ? "flits_injected" : "flits_ejected");
    account_events(account, ENERGY_noc_routers, flits, router_value(&table->crossbar_pj, shape));
    if (!buffered) return;
    account_events(account, ENERGY_noc_routers, flits,
                   router_value(&table->buffer_write_pj, shape) + router_value(&table->buffer_read_pj, shape));
    account_events(account, ENERGY_noc_routers, group_count(account, &part->group, "packets_injected"),
                   router_value(&table->switch_allocation_pj, shape));
}

/* A gated router leaks through its sleep transistors, and its clock is off. */
static void account_routers(const struct account *account, const struct part *part) {
    const struct router_table *table = &account->model->router;
    const struct energy_config *values = config_get(account->config, &energy_section);
    const struct router_shape *shape = &part->shape;
    double off =
        group_count(account, &part->group, "gated_cycles") / account_core_hertz(account->config); /* router-seconds */
    double on = part->group.routers * account->seconds - off;
    double clock = part_clock_pj(table, part) * PICO * noc_hertz(account->config);
    double leak = part_leak_mw(table, part) * MILLI;
    struct energy_entry *entry = &account->book->part[ENERGY_noc_routers];
    entry->time += on * (leak + clock) + off * leak * values->gated_leak;
#define EVENT(counter, quantity) \
    account_events(account, ENERGY_noc_routers, group_count(account, &part->group, counter), \
                   router_value(&table->quantity, shape))
    EVENT("buffer_writes", buffer_write_pj);
    EVENT("buffer_reads", buffer_read_pj);
    EVENT("vc_allocations", vc_allocation_pj);
    EVENT("switch_allocations", switch_allocation_pj);
    EVENT("crossbar_traversals", crossbar_pj);
#undef EVENT
}

/* The stage of these routers, which both networks have: a new one if the book has none of this name. */
static struct energy_stage *stage_of(struct energy_book *book, const struct router_group *group) {
    const char *name = group->kind == CONCENTRATOR  ? "concentrator"
                       : group->kind == DISTRIBUTOR ? "distributor"
                                                    : strrchr(group->name, '.') + 1;
    struct energy_stage *stage = book->stage;
    while (stage < book->stage + book->stages && strcmp(stage->name, name) != 0) stage++;
    if (stage == book->stage + book->stages) {
        assert(book->stages < NOC_ROUTER_GROUPS);
        *stage = (struct energy_stage){.name = name};
        book->stages++;
    }
    return stage;
}

static void account_stage(const struct account *account, const struct part *part) {
    const struct energy_entry *routers = &account->book->part[ENERGY_noc_routers];
    struct energy_entry before = *routers, *stage = &stage_of(account->book, &part->group)->energy;
    (part->group.kind == ROUTER ? account_routers : account_concentrators)(account, part);
    stage->events += routers->events - before.events;
    stage->time += routers->time - before.time;
}

static void account_network(const struct account *account, enum network_direction direction,
                            const struct network_shape *shape) {
    struct part part[PARTS];
    unsigned parts = network_parts(account->model, account->config, direction, shape, part);
    const char *injected = direction == NETWORK_REQUEST ? "noc.request.flits_injected" : "noc.reply.flits_injected";
    static const char *const sent[] = {
        [ROUTER] = "link_traversals", [CONCENTRATOR] = "flits_injected", [DISTRIBUTOR] = "flits_ejected"};
    for (unsigned i = 0; i < parts; i++) {
        enum router_kind kind = part[i].group.kind;
        double flits = i ? group_count(account, &part[i].group, sent[kind]) : account_count(account, injected);
        account_events(account, ENERGY_noc_links, flits, part[i].link.pj);
        account_power(account, ENERGY_noc_links, part[i].links * part[i].link.leak_mw * MILLI);
        if (i) account_stage(account, &part[i]);
    }
}

struct noc_cost energy_noc_cost(const struct energy_model *model, const struct config *config,
                                const struct network_shape *shape) {
    struct noc_cost cost = {0};
    for (unsigned direction = 0; direction < 2; direction++) {
        struct part part[PARTS];
        unsigned parts = network_parts(model, config, direction, shape, part);
        for (unsigned i = 0; i < parts; i++) {
            cost.link_area_mm2 += part[i].links * part[i].link.area_mm2;
            cost.wire_mm2 += part[i].links * part[i].link.wire_mm2;
            cost.link_watts += part[i].links * part[i].link.leak_mw * MILLI;
            if (i == 0) continue;
            unsigned routers = part[i].group.routers;
            struct router_area area = part_area(&model->router, &part[i]);
            cost.router.buffers += routers * area.buffers;
            cost.router.crossbar += routers * area.crossbar;
            cost.router.allocators += routers * area.allocators;
            cost.router.registers += routers * area.registers;
            cost.router_area_mm2 += routers * (area.buffers + area.crossbar + area.allocators + area.registers);
            cost.router_watts += routers * part_leak_mw(&model->router, &part[i]) * MILLI;
            cost.clock_watts += routers * part_clock_pj(&model->router, &part[i]) * PICO * noc_hertz(config);
        }
    }
    return cost;
}

static void account_dram(const struct account *account) {
    const struct dram_table *dram = &account->model->dram;
    const struct dram_config *values = config_get(account->config, &dram_section);
    account_events(account, ENERGY_dram, account_count(account, "dram.activates"), dram->activate_pj);
    account_events(account, ENERGY_dram, account_count(account, "dram.read_bytes"), dram->read_pj_per_byte);
    account_events(account, ENERGY_dram, account_count(account, "dram.write_bytes"), dram->write_pj_per_byte);
    account_events(account, ENERGY_dram, account_count(account, "dram.refreshes"), dram->refresh_pj);
    account_power(account, ENERGY_dram,
                  dram->channel_milliwatts * MILLI * (double)(values->mcs * values->channels_per_mc));
}

void energy_account(const struct energy_model *model, const struct config *config, const struct network_shape *shape,
                    const struct stats *stats, uint64_t cycles, struct energy_book *book) {
    const struct energy_config *values = config_get(config, &energy_section);
    *book = (struct energy_book){.seconds = (double)cycles / account_core_hertz(config),
                                 .noc = energy_noc_cost(model, config, shape)};
    struct account account = {model, config, stats, book, book->seconds};
    account_sms(&account);
    if (values->measured_caches)
        account_measured(&account);
    else
        account_arrays(&account, shape->slices);
    account_network(&account, NETWORK_REQUEST, shape);
    account_network(&account, NETWORK_REPLY, shape);
    account_groups(&account);
    account_dram(&account);
}

double energy_total(const struct energy_book *book) {
    double total = 0;
    for (unsigned i = 0; i < ENERGY_PART_COUNT; i++) total += book->part[i].events + book->part[i].time;
    return total;
}

double energy_noc(const struct energy_book *book) {
    const struct energy_entry *routers = &book->part[ENERGY_noc_routers], *links = &book->part[ENERGY_noc_links];
    return routers->events + routers->time + links->events + links->time;
}
