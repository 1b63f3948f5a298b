/* The fabric as a component: its stages and endpoints, the simulation of one cycle, and the time of the next one. */
#include "noc/fabric.h"

#include <string.h>

#include "noc/bypass.h"
#include "noc/endpoints.h"
#include "noc/wormhole.h"

STATS_TABLE(noc_request_router_table, "noc.request.router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_request_sm_router_table, "noc.request.sm_router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_request_mc_router_table, "noc.request.mc_router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_reply_router_table, "noc.reply.router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_reply_sm_router_table, "noc.reply.sm_router", router_stats, ROUTER_STATS);
STATS_TABLE(noc_reply_mc_router_table, "noc.reply.mc_router", router_stats, ROUTER_STATS);
const struct stat_table *const router_tables[2] = {&noc_request_router_table, &noc_reply_router_table};
const struct stat_table *const sm_router_tables[2] = {&noc_request_sm_router_table, &noc_reply_sm_router_table};
const struct stat_table *const mc_router_tables[2] = {&noc_request_mc_router_table, &noc_reply_mc_router_table};

/* What a word of the timeline's rows carries: flits or credits, and of which stage. */
struct cargo {
    enum cargo_kind {
        CARGO_INJECTION_CREDITS,
        CARGO_CREDITS,
        CARGO_FLITS,
        CARGO_EJECTION_FLITS,
        CARGO_BYPASS_CREDITS,
        CARGO_BYPASS_FLITS,
        CARGO_END, /* of a row: a word that is never empty, so that a scan needs no other end */
    } kind;
    unsigned word; /* of the link's masks */
    struct router_stage *stage;
};

struct fabric {
    unsigned stages;
    unsigned speedup;
    struct router_stage stage[FABRIC_MAX_STAGES];
    struct link link[FABRIC_MAX_STAGES + 1]; /* into stage i; the last into the ejectors */
    struct injection injection;
    struct ejection ejection;
    struct timeline time;
    struct cargo *cargo; /* by word of a row */
    struct packet_pool pool;
    struct router_stats *router[FABRIC_MAX_STAGES];
    struct bypass bypass;
    struct wormhole *wormhole; /* simulates the network packet by packet; NULL: it is simulated flit by flit */
};

/* ---- time ------------------------------------------------------------------------------------------------------- */

#define NEVER_INLINE __attribute__((noinline)) /* around inner loops: alone, they fit into the host's registers */

/* Delivers everything that arrives in this cycle, credits to the near end of a link and flits to the far end, and clears
 * the row. */
static NEVER_INLINE void arrive(struct fabric *fabric, uint64_t cycle, uint64_t now) {
    const struct cargo *cargo = fabric->cargo;
    for (uint64_t *row = timeline_row(&fabric->time, cycle);; row++, cargo++) {
        uint64_t mask = *row;
        if (!mask) {
            if (!(row[1] | row[2] | row[3])) row += 3, cargo += 3; /* empty words come in groups */
            continue;
        }
        switch (cargo->kind) {
        case CARGO_INJECTION_CREDITS: injection_credit(&fabric->injection, cargo->word, mask); break;
        case CARGO_CREDITS: router_stage_credit(cargo->stage, cargo->word, mask); break;
        case CARGO_FLITS: router_stage_arrive(cargo->stage, cargo->word, mask); break;
        case CARGO_EJECTION_FLITS: ejection_arrive(&fabric->ejection, cargo->word, mask, cycle, now); break;
        case CARGO_BYPASS_CREDITS: bypass_credit(cargo->stage, cargo->word, mask, cycle); break;
        case CARGO_BYPASS_FLITS: bypass_arrive(cargo->stage, cargo->word, mask, cycle); break;
        case CARGO_END: return;
        default: __builtin_unreachable(); /* without a check of the range */
        }
        *row = 0;
    }
}

/* Returns whether the next cycle has work even if nothing arrives. */
static bool run_cycle(struct fabric *fabric, uint64_t cycle, uint64_t now) {
    bool more = false;
    if (UNLIKELY(fabric->ejection.held)) ejection_drain(&fabric->ejection, cycle, now);
    if (timeline_take(&fabric->time, cycle)) arrive(fabric, cycle, now);
    struct router_stage *stage = fabric->stage, *end = stage + fabric->stages;
    do {
        if (stage->active) router_stage_run(stage, cycle);
        more |= stage->active;
    } while (++stage != end);
    more |= injection_run(&fabric->injection, cycle, now);
    return more | (fabric->ejection.held && fabric->ejection.draining);
}

/* Simulates the network flit by flit. */
static NEVER_INLINE void tick_flits(struct network *network, uint64_t now) {
    struct fabric *fabric = network->state;
    if (UNLIKELY(fabric->wormhole != NULL)) {
        assert(!network->stats.packets_injected); /* polling begins with the run */
        wormhole_destroy(fabric->wormhole);
        fabric->wormhole = NULL;
    }
    network_take_commands(network, now);
    uint64_t last = clock_domain_cycle(network->clock, now);
    uint64_t first = now ? clock_domain_cycle(network->clock, now - 1) + 1 : 0;
    injection_collect(&fabric->injection, now);
    if (UNLIKELY(now < fabric->bypass.from)) { /* routers are being powered off or on */
        engine_wake_by(network->engine, network->waker, fabric->bypass.from);
        return;
    }
    bool more = first > last; /* no network cycle began in this tick (the network clock is slower): run the next one */
    for (uint64_t cycle = first; cycle <= last; cycle++) more = run_cycle(fabric, cycle, now);
    uint64_t next = more ? last + 1 : timeline_next(&fabric->time, last);
    if (next != NEVER)
        engine_wake_by(network->engine, network->waker, max_u64(now + 1, clock_core_cycle(network->clock, next)));
}

static void fabric_tick(void *self, uint64_t now) {
    struct network *network = self;
    struct wormhole *wormhole = ((struct fabric *)network->state)->wormhole;
    if (wormhole && LIKELY(!network->engine->poll))
        wormhole_tick(wormhole, now);
    else
        tick_flits(network, now);
}

/* ---- counters and checks ------------------------------------------------------------------------------------------- */

static unsigned stage_filled(const struct router_stage *stage, unsigned input_vc) {
    return tally_value(&stage->in_word[input_vc / 64].filled, input_vc % 64);
}

/* Flits that have left the outputs of a router, through the switch or the bypass. */
static uint64_t router_sent(const struct router_stage *stage, unsigned router) {
    unsigned count = stage->outputs << stage->vc_shift;
    uint64_t sent = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct output_vc *out = &stage->output[router * count + i];
        sent += out->given - (*out->owner ? (*out->owner)->left : 0);
    }
    return sent;
}

static void count_router(const struct router_stage *stage, unsigned router, uint64_t bypassed,
                         struct router_stats *stats) {
    unsigned outputs = stage->outputs << stage->vc_shift;
    uint64_t left = router_sent(stage, router), sent = left - bypassed, allocated = 0, held = 0;
    for (unsigned i = 0; i < outputs; i++) allocated += stage->output[router * outputs + i].allocated;
    for (unsigned i = 0; i < stage->inputs << stage->vc_shift; i++)
        held += stage_filled(stage, (router * stage->inputs << stage->vc_shift) + i);
    *stats = (struct router_stats){
        .buffer_writes = sent + held,
        .buffer_reads = sent,
        .vc_allocations = allocated,
        .switch_allocations = sent,
        .crossbar_traversals = sent,
        .link_traversals = left,
        .bypassed_flits = bypassed,
    };
}

static uint64_t bypassed_flits(const struct fabric *fabric, unsigned stage, unsigned router) {
    const struct bypass *bypass = &fabric->bypass;
    if (stage != bypass->gated) return 0;
    return bypass->flits[router] + (stage == bypass->stage ? router_sent(&fabric->stage[stage], router) : 0);
}

static void fabric_settle(void *self, uint64_t now) {
    struct network *network = self;
    struct fabric *fabric = network->state;
    if (fabric->wormhole) {
        wormhole_settle(fabric->wormhole, now, fabric->router[0]);
        return;
    }
    network->stats.flit_hops = 0;
    for (unsigned i = 0; i < fabric->stages; i++)
        for (unsigned router = 0; router < fabric->stage[i].routers; router++) {
            struct router_stats *stats = &fabric->router[i][router];
            count_router(&fabric->stage[i], router, bypassed_flits(fabric, i, router), stats);
            stats->gated_cycles = i == fabric->bypass.gated ? bypass_gated_cycles(&fabric->bypass, now) : 0;
            network->stats.flit_hops += stats->switch_allocations;
        }
}

void fabric_freeze(struct network *network, uint64_t now) {
    struct fabric *fabric = network->state;
    fabric->bypass.frozen = min_u64(fabric->bypass.frozen, now);
}

static void explain_stage(const struct router_stage *stage, const char *network, unsigned number, FILE *out) {
    for (unsigned i = 0; i < stage->input_vcs; i++) {
        if (stage->in_word[i / 64].idle >> (i % 64) & 1) continue;
        const struct buffer *in = buffers_get(&stage->input, i);
        unsigned input = i >> stage->vc_shift, holds = in->output ? (unsigned)(in->output - stage->output) : 0;
        fprintf(out, "%s network: stage %u router %u input %u VC %u holds %u flits, ", network, number,
                input / stage->inputs, input % stage->inputs, i & ((1u << stage->vc_shift) - 1),
                stage_filled(stage, i));
        if (in->output && *in->output->owner == in)
            fprintf(out, "owns VC %u of output %u with %u credits\n", holds & ((1u << stage->vc_shift) - 1),
                    (holds >> stage->vc_shift) - in->first_output,
                    link_credits(stage->out, (unsigned)(in->output->owner - stage->owner)));
        else
            fprintf(
                out, "waits for a VC of output %u\n",
                (unsigned)stage->route[packet_at(stage->packets, buffer_first(in, stage->input.mask))->destination]);
    }
}

static unsigned packets_in_flight(const struct fabric *fabric) {
    return fabric->wormhole ? wormhole_packets(fabric->wormhole) : fabric->pool.count - fabric->pool.free_count;
}

static void fabric_explain(const void *self, uint64_t now, FILE *out) {
    (void)now;
    const struct network *network = self;
    const struct fabric *fabric = network->state;
    const struct injection *injection = &fabric->injection;
    const struct ejection *ejection = &fabric->ejection;
    const char *name = network_name(network);
    unsigned inside = packets_in_flight(fabric);
    if (!inside) return;
    fprintf(out, "%s network: %u packets in flight\n", name, inside);
    if (fabric->wormhole) {
        wormhole_explain(fabric->wormhole, name, out);
        return;
    }
    for (unsigned i = 0; i < injection->inputs; i++)
        if (!(injection->idle[i / 64] >> (i % 64) & 1))
            fprintf(out, "%s network: injection input %u has %u flits of a packet left to send\n", name, i,
                    injection_left(injection, i));
    for (unsigned i = 0; i < fabric->stages; i++) explain_stage(&fabric->stage[i], name, i, out);
    for (unsigned i = 0; i < fabric->stage[fabric->stages - 1].output_vcs; i++)
        if (ejection->waiting[i])
            fprintf(out, "%s network: output %u holds %u flits that wait for space in the ejection queue\n", name,
                    i >> ejection->vc_shift, (unsigned)ejection->waiting[i]);
}

static bool fabric_busy(const void *self) {
    const struct network *network = self;
    return packets_in_flight(network->state) != 0;
}

bool fabric_conserved(const struct network *network, char *text, size_t size) {
    const struct fabric *fabric = network->state;
    const char *name = network_name(network);
    unsigned full = (unsigned)network->config->vc_flits, vcs = fabric->stage[0].vcs,
             vc_shift = fabric->stage[0].vc_shift;
    if (fabric_busy(network)) {
        snprintf(text, size, "%s network: %u packets in flight", name, packets_in_flight(fabric));
        return false;
    }
    if (fabric->wormhole) return wormhole_conserved(fabric->wormhole, name, text, size);
    for (unsigned i = 0; i <= fabric->stages; i++) {
        unsigned links =
            i < fabric->stages ? fabric->stage[i].routers * fabric->stage[i].inputs : fabric->stage[i - 1].output_ports;
        for (unsigned vc = 0; vc < links << vc_shift; vc++) {
            unsigned credits = link_credits(&fabric->link[i], vc);
            if ((vc & ((1u << vc_shift) - 1)) >= vcs || credits == full) continue;
            snprintf(text, size, "%s network: link %u into stage %u has %u of %u credits for VC %u", name,
                     vc >> vc_shift, i, credits, full, vc & ((1u << vc_shift) - 1));
            return false;
        }
    }
    return true;
}

/* ---- contents of the links -------------------------------------------------------------------------------------- */

/* Depends on which stage is bypassed, if any. */
static void name_cargo(struct fabric *fabric, unsigned bypassed) {
    for (unsigned i = 0; i <= fabric->stages; i++) {
        const struct link *link = &fabric->link[i];
        struct router_stage *stage = fabric->stage;
        for (unsigned word = 0; word < link->words; word++) {
            struct cargo *flits = &fabric->cargo[link->arriving + word],
                         *credits = &fabric->cargo[link->returning + word];
            if (i == 0)
                *credits = (struct cargo){CARGO_INJECTION_CREDITS, word, NULL};
            else
                *credits =
                    (struct cargo){i - 1 == bypassed ? CARGO_BYPASS_CREDITS : CARGO_CREDITS, word, &stage[i - 1]};
            if (i == fabric->stages)
                *flits = (struct cargo){CARGO_EJECTION_FLITS, word, NULL};
            else
                *flits = (struct cargo){i == bypassed ? CARGO_BYPASS_FLITS : CARGO_FLITS, word, &stage[i]};
        }
    }
}

/* ---- bypassing -------------------------------------------------------------------------------------------------- */

/* A drained network has empty buffers and all of its credits, and this is the initial state of the other mode, too: the
 * credits upstream of the routers then count the space downstream of them, which is the same. */
void fabric_set_bypass(struct network *network, unsigned number, bool on, uint64_t now, uint64_t from) {
    struct fabric *fabric = network->state;
    struct bypass *bypass = &fabric->bypass;
    struct router_stage *stage = &fabric->stage[number];
    assert(stage->inputs == stage->outputs && on == (bypass->stage == NO_STAGE));
    if (!bypass->flits) bypass->flits = mem_alloc(stage->routers, sizeof *bypass->flits);
    for (unsigned router = 0; router < stage->routers; router++) {
        uint64_t sent = router_sent(stage, router);
        bypass->flits[router] += on ? -sent : sent;
    }
    /* A bypassed router does not process credits. */
    unsigned handling = (unsigned)network->config->credit_cycles;
    if (on) {
        stage->out->credit_cycles -= handling;
    } else {
        stage->out->credit_cycles += handling;
        bypass->gated_cycles = bypass_gated_cycles(bypass, now);
    }
    bypass->gated = number;
    bypass->gated_from = from;
    bypass->from = from;
    bypass->stage = on ? number : NO_STAGE;
    name_cargo(fabric, bypass->stage);
}

/* ---- building --------------------------------------------------------------------------------------------------- */

static void build_pool(struct packet_pool *pool, uint32_t count, unsigned channel_bytes) {
    struct message longest = {.kind = MESSAGE_DATA, .sectors = UINT8_MAX};
    pool->planes = tally_planes(message_flits(&longest, channel_bytes));
    pool->count = pool->free_count = count;
    pool->packet =
        mem_alloc(count, sizeof(struct packet)); /* few are ever touched: the packet freed last is reused first */
    pool->free = mem_alloc(count, sizeof *pool->free);
    for (uint32_t i = 0; i < count; i++) pool->free[i] = (count - 1 - i) << PACKET_SHIFT;
}

static void build_stage(struct fabric *fabric, const struct network *network, const struct fabric_plan *plan,
                        unsigned number, struct stats *stats) {
    const struct stage_plan *shape = &plan->stage[number];
    struct router_stage *stage = &fabric->stage[number];
    router_stage_init(stage, network->config, shape->routers, shape->inputs, shape->outputs, network->destinations);
    stage->plain = &network->engine->poll;
    for (unsigned d = 0; d < network->destinations; d++) stage->route[d] = (uint16_t)plan->route(plan, number, d);
    fabric->router[number] = mem_alloc(shape->routers, sizeof *fabric->router[number]);
    for (unsigned router = 0; router < shape->routers; router++)
        stats_add(stats, shape->table, &fabric->router[number][router]);
}

struct noc_links fabric_links(const struct noc_config *noc, const struct fabric_plan *plan, unsigned number) {
    bool between = number > 0 && number < plan->stages, of_l1s = (number == 0) == (plan->direction == NETWORK_REQUEST);
    bool across = plan->stages > 1 ? between : of_l1s;
    return (struct noc_links){across, (unsigned)(across ? noc->long_link_cycles : noc->link_cycles)};
}

/* Of the concentrators before the first links and of the distributors behind the last. */
static unsigned concentrator_cycles(const struct noc_config *noc, const struct fabric_plan *plan) {
    return plan->concentration > 1 ? (unsigned)noc->concentrator_cycles : 0;
}

/* Builds the links into stage `number`, or from the last stage into the ejectors. */
static void build_link(struct fabric *fabric, const struct noc_config *noc, const struct fabric_plan *plan,
                       unsigned number, unsigned *row_words) {
    bool first = number == 0, last = number == plan->stages;
    unsigned cycles = fabric_links(noc, plan, number).cycles + (first ? 0 : plan->added_cycles[number - 1]);
    unsigned links =
        last ? fabric->stage[number - 1].output_ports : fabric->stage[number].routers * fabric->stage[number].inputs;
    unsigned vc_shift = fabric->stage[0].vc_shift;
    struct link *link = &fabric->link[number];
    link_init(link, &fabric->time, row_words, links << vc_shift, (unsigned)noc->vc_flits);
    /* A flit that leaves a router is on the link in the next cycle. The last cycle of the last link is that of the
     * destination's port, where its credit starts. Injection does not take the router's time to process a credit. */
    link->flit_cycles = cycles + (!first && !last) + (first || last ? concentrator_cycles(noc, plan) : 0);
    link->credit_cycles = 1 + cycles + last + (first ? 0 : (unsigned)noc->credit_cycles);
    for (unsigned i = 0; i < links; i++)
        for (unsigned vc = 0; vc < (unsigned)noc->vcs; vc++)
            link_add_vc(link, (i << vc_shift) + vc, (unsigned)noc->vc_flits);
}

static void wire_stage(struct fabric *fabric, const struct fabric_plan *plan, unsigned number) {
    struct router_stage *stage = &fabric->stage[number];
    bool last = number + 1 == plan->stages;
    stage->in = &fabric->link[number];
    stage->out = &fabric->link[number + 1];
    stage->next = last ? fabric->ejection.buffers : stage[1].input;
    stage->packets = fabric->pool.packet;
    for (unsigned i = 0; i < stage->output_vcs; i++) {
        unsigned port = i >> stage->vc_shift, vc = i & ((1u << stage->vc_shift) - 1);
        router_stage_wire(stage, i, (last ? port : plan->wire(plan, number, port)) << stage->vc_shift | vc);
    }
}

bool fabric_build(struct network *network, const struct fabric_plan *plan, struct stats *stats) {
    const struct noc_config *noc = network->config;
    struct fabric *fabric = mem_alloc(1, sizeof *fabric);
    network->state = fabric;
    fabric->stages = plan->stages;
    fabric->speedup = (unsigned)noc->internal_speedup;
    fabric->bypass = (struct bypass){.stage = NO_STAGE, .gated = NO_STAGE, .frozen = NEVER};
    unsigned inputs = network->sources / plan->concentration, links = inputs, row_words = 0;
    for (unsigned i = 0; i < plan->stages; i++) {
        build_stage(fabric, network, plan, i, stats);
        links += fabric->stage[i].output_ports;
    }
    for (unsigned i = 0; i <= plan->stages; i++) build_link(fabric, noc, plan, i, &row_words);
    uint64_t longest = 8 + (uint64_t)(noc->stages + noc->mc_router_cycles + noc->link_cycles + noc->long_link_cycles +
                                      noc->concentrator_cycles + noc->credit_cycles);
    if (fabric->speedup > 1) longest += (uint64_t)(noc->vcs * noc->vc_flits); /* the longest backlog of a link */
    timeline_init(&fabric->time, longest, row_words + 1 + 2); /* a scan looks up to two words beyond the end */
    for (uint32_t i = 0; i <= fabric->time.mask; i++) timeline_row(&fabric->time, i)[row_words] = 1;
    fabric->cargo = mem_alloc(row_words + 1, sizeof *fabric->cargo);
    fabric->cargo[row_words].kind = CARGO_END;
    name_cargo(fabric, NO_STAGE);
    /* Every packet in flight has its last flit at an input or occupies a credit. */
    build_pool(&fabric->pool, inputs + links * (uint32_t)(noc->vcs * noc->vc_flits), (unsigned)noc->channel_bytes);
    injection_init(&fabric->injection, network, &fabric->pool, &fabric->link[0], &fabric->stage[0],
                   plan->concentration);
    ejection_init(&fabric->ejection, network, &fabric->pool, &fabric->link[plan->stages],
                  network->destinations / plan->concentration);
    for (unsigned i = 0; i < plan->stages; i++) wire_stage(fabric, plan, i);
    if (plan->stages == 1) fabric->wormhole = wormhole_create(network, fabric->stage, &fabric->injection);
    return true;
}

void fabric_destroy(struct network *network) {
    struct fabric *fabric = network->state;
    if (!fabric) return;
    for (unsigned i = 0; i < fabric->stages; i++) {
        router_stage_release(&fabric->stage[i]);
        free(fabric->router[i]);
    }
    wormhole_destroy(fabric->wormhole);
    injection_release(&fabric->injection);
    ejection_release(&fabric->ejection);
    for (unsigned i = 0; i <= fabric->stages; i++) link_release(&fabric->link[i]);
    timeline_release(&fabric->time);
    free(fabric->cargo);
    free(fabric->pool.packet);
    free(fabric->pool.free);
    free(fabric->bypass.flits);
    free(fabric);
}

uint64_t fabric_unloaded_cycles(const struct noc_config *noc, const struct fabric_plan *plan, unsigned bypassed,
                                unsigned flits) {
    uint64_t steps = (uint64_t)noc->stages - (noc->lookahead ? 1 : 0);
    uint64_t cycles = fabric_links(noc, plan, 0).cycles - 1; /* one cycle of the last link is that of the port */
    for (unsigned i = 0; i < plan->stages; i++)
        cycles += (i == bypassed ? 1 : div_up(steps, (uint64_t)noc->internal_speedup)) +
                  fabric_links(noc, plan, i + 1).cycles + plan->added_cycles[i];
    return cycles + 2 * concentrator_cycles(noc, plan) + flits - 1;
}

const struct component_ops fabric_component = {
    .kind = "network", .tick = fabric_tick, .settle = fabric_settle, .explain = fabric_explain, .busy = fabric_busy};
