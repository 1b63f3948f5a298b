/* The fabric as a component: its stages and its two ends, what happens in a cycle, and when the next one is due. */
#include "noc/fabric.h"

#include <string.h>

#include "noc/endpoints.h"

STATS_TABLE(noc_request_router_table, "noc.request.router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_request_sm_router_table, "noc.request.sm_router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_request_mc_router_table, "noc.request.mc_router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_reply_router_table, "noc.reply.router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_reply_sm_router_table, "noc.reply.sm_router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_reply_mc_router_table, "noc.reply.mc_router", router_stats, ROUTER_STATS);
const struct stat_table *const router_tables[2] = {&noc_request_router_table, &noc_reply_router_table};
const struct stat_table *const sm_router_tables[2] = {&noc_request_sm_router_table, &noc_reply_sm_router_table};
const struct stat_table *const mc_router_tables[2] = {&noc_request_mc_router_table, &noc_reply_mc_router_table};

/* Lists of the timeline: flits into stage i (LIST_FLITS + i; behind the last stage, into the ejectors), and sources whose message becomes visible.
 * Masks: credits of the injection's links (0) and of stage i's outputs (i + 1). */
enum { LIST_WAKES = 0, LIST_FLITS = 1 };
_Static_assert(LIST_FLITS + FABRIC_MAX_STAGES < (int)TIMELINE_LISTS && FABRIC_MAX_STAGES < (int)TIMELINE_MASKS, "one for each place");

struct fabric {
    unsigned stages;
    unsigned speedup;
    uint64_t next; /* the first network cycle that has not been run */
    struct stage stage[FABRIC_MAX_STAGES];
    struct injection injection;
    struct ejection ejection;
    struct timeline time;
    struct packet_pool pool;
    struct router_stats *router[FABRIC_MAX_STAGES];
};

/* ---- time ------------------------------------------------------------------------------------------------------------------- */

/* The mask's words are emptied as they are taken. */
static inline void arrive_credits(struct fabric *fabric, uint64_t cycle) {
    uint64_t *mask = timeline_credits(&fabric->time, 0, cycle);
    for (unsigned word = 0; word < fabric->injection.credit_words; word++)
        if (mask[word]) {
            injection_credit(&fabric->injection, word, mask[word]);
            mask[word] = 0;
        }
    for (unsigned i = 0; i < fabric->stages; i++) {
        mask = timeline_credits(&fabric->time, i + 1, cycle);
        for (unsigned word = 0; word < fabric->stage[i].vc_words; word++)
            if (mask[word]) {
                stage_credit(&fabric->stage[i], word, mask[word]);
                mask[word] = 0;
            }
    }
}

static inline const uint64_t *take_list(struct timeline *time, unsigned list, uint64_t cycle, unsigned *count) {
    uint32_t slot = (uint32_t)cycle & time->mask;
    *count = time->count[slot * TIMELINE_LISTS + list];
    time->count[slot * TIMELINE_LISTS + list] = 0;
    return time->event[list] + (size_t)slot * time->capacity[list];
}

static void arrive(struct fabric *fabric, uint64_t cycle, uint64_t now) {
    unsigned count;
    arrive_credits(fabric, cycle);
    for (unsigned i = 0; i < fabric->stages; i++) {
        const uint64_t *event = take_list(&fabric->time, LIST_FLITS + i, cycle, &count);
        if (count) stage_arrive(&fabric->stage[i], cycle * fabric->speedup, event, count);
    }
    const uint64_t *event = take_list(&fabric->time, LIST_FLITS + fabric->stages, cycle, &count);
    if (count) ejection_arrive(&fabric->ejection, event, count, cycle, now);
    event = take_list(&fabric->time, LIST_WAKES, cycle, &count);
    if (count) injection_wake(&fabric->injection, event, count);
}

static void run_cycle(struct fabric *fabric, uint64_t cycle, uint64_t now) {
    if (fabric->ejection.held) ejection_drain(&fabric->ejection, cycle, now);
    uint32_t slot = (uint32_t)cycle & fabric->time.mask;
    uint64_t *occupied = &fabric->time.occupied[slot / 64], bit = UINT64_C(1) << (slot % 64);
    if (*occupied & bit) {
        *occupied ^= bit;
        arrive(fabric, cycle, now);
    }
    for (unsigned step = 0; step < fabric->speedup; step++)
        for (unsigned i = 0; i < fabric->stages; i++)
            if (fabric->stage[i].active) stage_step(&fabric->stage[i], cycle * fabric->speedup + step);
    injection_run(&fabric->injection, cycle, now);
}

/* The next cycle in which something happens even if no port wakes us. */
static uint64_t next_event(const struct fabric *fabric, uint64_t cycle) {
    bool soon = (fabric->ejection.held && fabric->ejection.draining) || injection_ready(&fabric->injection);
    for (unsigned i = 0; i < fabric->stages; i++) soon |= fabric->stage[i].active;
    return soon ? cycle + 1 : timeline_next(&fabric->time, cycle);
}

static void fabric_tick(void *self, uint64_t now) {
    struct network *network = self;
    struct fabric *fabric = network->state;
    uint64_t last = clock_domain_cycle(network->clock, now);
    uint64_t first = now ? clock_domain_cycle(network->clock, now - 1) + 1 : 0;
    injection_collect(&fabric->injection, now);
    for (uint64_t cycle = max_u64(first, fabric->next); cycle <= last; cycle++) {
        run_cycle(fabric, cycle, now);
        fabric->next = cycle + 1;
    }
    /* In a tick between two cycles of a slower network nothing was looked at: the next one must be. */
    uint64_t next = first > last ? last + 1 : next_event(fabric, last);
    if (next != NEVER) engine_wake(network->engine, network->id, max_u64(now + 1, clock_core_cycle(network->clock, next)));
}

/* ---- what is counted, and what must hold ------------------------------------------------------------------------------------ */

static void count_router(const struct stage *stage, unsigned router, struct router_stats *stats) {
    uint64_t sent = 0, allocated = 0, held = 0;
    for (unsigned i = 0; i < stage->outputs << stage->vc_shift; i++) {
        const struct output_vc *out = &stage->output[(router * stage->outputs << stage->vc_shift) + i];
        sent += out->sent;
        allocated += out->allocated;
    }
    for (unsigned i = 0; i < stage->inputs * stage->vcs; i++) {
        const struct input_vc *in = stage_input(stage, router * stage->inputs * stage->vcs + i);
        held += (uint16_t)(in->tail - in->head);
    }
    *stats = (struct router_stats){
        .buffer_writes = sent + held,
        .buffer_reads = sent,
        .vc_allocations = allocated,
        .switch_allocations = sent,
        .crossbar_traversals = sent,
        .link_traversals = sent,
    };
}

static void fabric_settle(void *self, uint64_t now) {
    (void)now;
    struct network *network = self;
    struct fabric *fabric = network->state;
    network->stats.flit_hops = 0;
    for (unsigned i = 0; i < fabric->stages; i++)
        for (unsigned router = 0; router < fabric->stage[i].routers; router++) {
            count_router(&fabric->stage[i], router, &fabric->router[i][router]);
            network->stats.flit_hops += fabric->router[i][router].switch_allocations;
        }
}

static void explain_stage(const struct stage *stage, const char *network, unsigned number, FILE *out) {
    for (unsigned i = 0; i < stage->input_vcs; i++) {
        const struct input_vc *in = stage_input(stage, i);
        if (in->state == INPUT_IDLE) continue;
        unsigned input = i / stage->vcs;
        fprintf(out, "%s network: stage %u router %u input %u VC %u holds %u flits and ", network, number, input / stage->inputs,
                input % stage->inputs, (unsigned)in->vc, (unsigned)(uint16_t)(in->tail - in->head));
        if (in->state == INPUT_WAITING)
            fprintf(out, "waits for a VC of output %u\n",
                    (unsigned)stage->route[packet_at(stage->ways.packets, in->flit[in->head & stage->buffer_mask])->destination]);
        else
            fprintf(out, "has output %u VC %u with %u credits\n", ((unsigned)in->output >> stage->vc_shift) - in->first_output,
                    (unsigned)in->output & ((1u << stage->vc_shift) - 1), tally_value(&stage->credits, in->output));
    }
}

static void fabric_explain(const void *self, uint64_t now, FILE *out) {
    (void)now;
    const struct network *network = self;
    const struct fabric *fabric = network->state;
    const struct injection *injection = &fabric->injection;
    const struct ejection *ejection = &fabric->ejection;
    const char *name = network_name(network);
    unsigned inside = fabric->pool.count - fabric->pool.free_count;
    if (!inside) return;
    fprintf(out, "%s network: %u packets inside\n", name, inside);
    for (unsigned i = 0; i < injection->inputs; i++)
        if (!(injection->idle[i / 64] >> (i % 64) & 1))
            fprintf(out, "%s network: input %u has %u flits of a packet to send%s\n", name, i, injection->left[i],
                    injection->blocked[i / 64] >> (i % 64) & 1 ? " and waits for a credit" : "");
    for (unsigned i = 0; i < fabric->stages; i++) explain_stage(&fabric->stage[i], name, i, out);
    for (unsigned i = 0; i < ejection->vc_count; i++)
        if (ejection->ejector[i].head != ejection->ejector[i].tail)
            fprintf(out, "%s network: output %u waits for a place at its destination\n", name, i >> ejection->vc_shift);
}

static bool fabric_busy(const void *self) {
    const struct network *network = self;
    const struct fabric *fabric = network->state;
    return fabric->pool.free_count != fabric->pool.count;
}

/* Whether all VCs of `ports` have their credits. */
static bool credits_back(const struct tally *credits, unsigned ports, unsigned vcs, unsigned vc_shift, unsigned full, const char *where,
                         char *text, size_t size) {
    for (unsigned port = 0; port < ports; port++)
        for (unsigned vc = 0; vc < vcs; vc++) {
            unsigned value = tally_value(credits, (port << vc_shift) + vc);
            if (value == full) continue;
            snprintf(text, size, "%s %u has %u credits of %u for VC %u", where, port, value, full, vc);
            return false;
        }
    return true;
}

bool fabric_conserved(const struct network *network, char *text, size_t size) {
    const struct fabric *fabric = network->state;
    const struct injection *injection = &fabric->injection;
    const char *name = network_name(network);
    unsigned full = (unsigned)network->config->vc_flits;
    char where[64];
    if (fabric_busy(network)) {
        snprintf(text, size, "%s network: %u packets are still inside", name, fabric->pool.count - fabric->pool.free_count);
        return false;
    }
    snprintf(where, sizeof where, "%s network: input", name);
    if (!credits_back(&injection->credits, injection->inputs, injection->vcs, injection->vc_shift, full, where, text, size)) return false;
    for (unsigned i = 0; i < fabric->stages; i++) {
        const struct stage *stage = &fabric->stage[i];
        snprintf(where, sizeof where, "%s network: stage %u output", name, i);
        if (!credits_back(&stage->credits, stage->output_ports, stage->vcs, stage->vc_shift, full, where, text, size)) return false;
    }
    return true;
}

/* ---- building --------------------------------------------------------------------------------------------------------------- */

static void build_pool(struct packet_pool *pool, uint32_t count) {
    pool->count = pool->free_count = count;
    pool->packet = mem_alloc_lines(count, sizeof(struct packet));
    pool->free = mem_alloc(count, sizeof *pool->free);
    for (uint32_t i = 0; i < count; i++) pool->free[i] = (count - 1 - i) << PACKET_SHIFT;
}

static void build_time(struct fabric *fabric, const struct noc_config *noc, unsigned sources) {
    uint64_t longest = 8 + (uint64_t)(noc->stages + noc->link_cycles + noc->long_link_cycles + noc->credit_cycles);
    if (fabric->speedup > 1) longest += (uint64_t)(noc->vcs * noc->vc_flits); /* what a link can be behind */
    uint32_t capacity[TIMELINE_LISTS] = {[LIST_WAKES] = sources}, words[TIMELINE_MASKS] = {fabric->injection.credit_words};
    for (unsigned i = 0; i < fabric->stages; i++) {
        capacity[LIST_FLITS + i] = fabric->stage[i].routers * fabric->stage[i].inputs;
        capacity[LIST_FLITS + i + 1] = fabric->stage[i].output_ports;
        words[i + 1] = fabric->stage[i].vc_words;
    }
    timeline_init(&fabric->time, longest, capacity, words);
}

/* Output VC `from` of a stage, or VC `from` of the injection, feeds this input VC. */
static void set_upstream(struct input_vc *in, unsigned from) {
    in->upstream_word = (uint16_t)(from / 64);
    in->upstream_bit = UINT64_C(1) << (from % 64);
}

static void wire_inputs(struct fabric *fabric) {
    struct injection *injection = &fabric->injection;
    for (unsigned i = 0; i < injection->inputs; i++)
        for (unsigned vc = 0; vc < injection->vcs; vc++) {
            unsigned from = (i << injection->vc_shift) + vc, to = i * injection->vcs + vc;
            injection->target[from] = event_of(0, to << fabric->stage[0].input_shift);
            set_upstream(stage_input(&fabric->stage[0], to), from);
        }
}

static void wire_stage(struct fabric *fabric, const struct fabric_plan *plan, unsigned number) {
    struct stage *stage = &fabric->stage[number];
    bool last = number + 1 == fabric->stages;
    for (unsigned port = 0; port < stage->output_ports; port++) {
        unsigned input = last ? port : plan->wire(plan, number, port);
        for (unsigned vc = 0; vc < stage->vcs; vc++) {
            unsigned from = (port << stage->vc_shift) + vc, to = input * stage->vcs + vc;
            if (last) {
                stage->output[from].target = event_of(0, from << EJECTOR_SHIFT);
                continue;
            }
            assert(to < stage[1].input_vcs);
            stage->output[from].target = event_of(0, to << stage[1].input_shift);
            set_upstream(stage_input(&stage[1], to), from);
        }
    }
}

static void build_stage(struct fabric *fabric, const struct network *network, const struct fabric_plan *plan, unsigned number,
                        struct stats *stats) {
    const struct noc_config *noc = network->config;
    const struct stage_plan *shape = &plan->stage[number];
    struct stage *stage = &fabric->stage[number];
    stage_init(stage, noc, shape->routers, shape->inputs, shape->outputs, network->destinations);
    for (unsigned d = 0; d < network->destinations; d++) stage->route[d] = (uint16_t)plan->route(plan, number, d);
    unsigned before = number == 0 ? (unsigned)noc->link_cycles : plan->stage[number - 1].link_cycles + (unsigned)noc->credit_cycles;
    stage->ways = (struct stage_ways){
        .time = &fabric->time,
        .flits = LIST_FLITS + number + 1,
        .credits = number,
        .flit_cycles = shape->link_cycles + (number + 1 < plan->stages), /* the last link's last cycle is the destination's port */
        .credit_cycles = 1 + before,
    };
    fabric->router[number] = mem_alloc(shape->routers, sizeof *fabric->router[number]);
    for (unsigned router = 0; router < shape->routers; router++) stats_add(stats, shape->table, &fabric->router[number][router]);
}

bool fabric_build(struct network *network, const struct fabric_plan *plan, struct stats *stats) {
    const struct noc_config *noc = network->config;
    struct fabric *fabric = mem_alloc(1, sizeof *fabric);
    network->state = fabric;
    fabric->stages = plan->stages;
    fabric->speedup = (unsigned)noc->internal_speedup;
    unsigned inputs = network->sources / plan->concentration, outputs = network->destinations / plan->concentration, ports = inputs;
    for (unsigned i = 0; i < plan->stages; i++) {
        build_stage(fabric, network, plan, i, stats);
        ports += fabric->stage[i].output_ports;
    }
    injection_init(&fabric->injection, network, &fabric->pool, &fabric->time, inputs, plan->concentration);
    ejection_init(&fabric->ejection, network, &fabric->pool, &fabric->time, outputs);
    build_time(fabric, noc, network->sources);
    /* Every packet inside has its last flit at an input or on a credit. */
    build_pool(&fabric->pool, inputs + ports * (uint32_t)(noc->vcs * noc->vc_flits));
    fabric->injection.wake_list = LIST_WAKES;
    fabric->injection.flit_list = LIST_FLITS;
    /* A credit starts back when the flit would have passed the destination's port. */
    fabric->ejection.credit_mask = plan->stages;
    fabric->ejection.credit_cycles = (unsigned)(2 + noc->link_cycles + noc->credit_cycles);
    wire_inputs(fabric);
    for (unsigned i = 0; i < plan->stages; i++) {
        fabric->stage[i].ways.packets = fabric->pool.packet;
        wire_stage(fabric, plan, i);
    }
    return true;
}

void fabric_destroy(struct network *network) {
    struct fabric *fabric = network->state;
    if (!fabric) return;
    for (unsigned i = 0; i < fabric->stages; i++) {
        stage_release(&fabric->stage[i]);
        free(fabric->router[i]);
    }
    injection_release(&fabric->injection);
    ejection_release(&fabric->ejection);
    timeline_release(&fabric->time);
    free(fabric->pool.packet);
    free(fabric->pool.free);
    free(fabric);
}

uint64_t fabric_unloaded_cycles(const struct noc_config *noc, const struct fabric_plan *plan, unsigned flits) {
    uint64_t steps = (uint64_t)noc->stages - (noc->lookahead ? 1 : 0);
    uint64_t cycles = (uint64_t)noc->link_cycles - 1; /* one cycle of the last link is the port's */
    for (unsigned i = 0; i < plan->stages; i++) cycles += div_up(steps, (uint64_t)noc->internal_speedup) + plan->stage[i].link_cycles;
    return cycles + flits - 1;
}

const struct component_ops fabric_component = {
    .kind = "network", .tick = fabric_tick, .settle = fabric_settle, .explain = fabric_explain, .busy = fabric_busy};
