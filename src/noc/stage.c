#include "noc/stage.h"

#include <string.h>

enum { ROUTING_LISTS = 4 };
#define NONE UINT32_MAX
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline)) /* around inner loops: alone, they fit into the host's registers */

/* ---- building --------------------------------------------------------------------------------------------------------------- */

static void allocate(struct stage *stage, unsigned destinations) {
    unsigned ways = stage->routers * stage->router_ways, ports = stage->routers * stage->inputs;
    stage->input = mem_alloc_lines(stage->input_vcs, (size_t)1 << stage->input_shift);
    stage->output = mem_alloc_lines(stage->output_vcs, sizeof *stage->output);
    stage->have = mem_alloc(stage->vc_words, sizeof *stage->have);
    stage->credit = mem_alloc(stage->vc_words, sizeof *stage->credit);
    stage->open = mem_alloc(stage->vc_words, sizeof *stage->open);
    stage->want = mem_alloc(stage->port_words, sizeof *stage->want);
    stage->some_open = stage->vcs == 1 ? stage->open : mem_alloc(stage->port_words, sizeof *stage->some_open);
    stage->waiting = mem_alloc((size_t)stage->output_ports * stage->wait_words, sizeof *stage->waiting);
    stage->route = mem_alloc(destinations, sizeof *stage->route);
    stage->first_input = mem_alloc(stage->output_ports, sizeof *stage->first_input);
    stage->vc_grant = mem_alloc(stage->output_vcs, sizeof *stage->vc_grant);
    stage->vc_accept = mem_alloc(stage->input_vcs, sizeof *stage->vc_accept);
    stage->switch_grant = mem_alloc(stage->output_ports, sizeof *stage->switch_grant);
    stage->switch_accept = mem_alloc(ways, sizeof *stage->switch_accept);
    stage->way_vc = mem_alloc(ways, sizeof *stage->way_vc);
    stage->next_way = mem_alloc(ways, sizeof *stage->next_way);
    stage->next_output = mem_alloc(stage->output_ports, sizeof *stage->next_output);
    stage->way = mem_alloc(stage->input_vcs, sizeof *stage->way);
    stage->owner_way = mem_alloc(stage->output_vcs, sizeof *stage->owner_way);
    for (unsigned i = 0; i < ROUTING_LISTS; i++)
        stage->routing[i] = stage->routing_end[i] = mem_alloc(stage->input_vcs, sizeof *stage->routing[i]);
    stage->granted = mem_alloc(stage->vc_words, sizeof *stage->granted);
    stage->winner = mem_alloc(stage->output_ports, sizeof *stage->winner);
    stage->offer = mem_alloc(ways, sizeof *stage->offer);
    stage->offered = mem_alloc(ways, sizeof *stage->offered);
    stage->left = mem_alloc(stage->vc_words, sizeof *stage->left);
    stage->way_taken = mem_alloc(ways, sizeof *stage->way_taken);
    stage->link_free = mem_alloc(stage->output_ports, sizeof *stage->link_free);
    stage->credit_free = mem_alloc(ports, sizeof *stage->credit_free);
    stage->credit_step = mem_alloc(ports, sizeof *stage->credit_step);
    tally_init(&stage->credits, stage->vc_words, stage->vc_flits);
}

static void init_inputs(struct stage *stage) {
    unsigned locals = stage->inputs * stage->vcs;
    for (unsigned i = 0; i < stage->input_vcs; i++) {
        struct input_vc *in = stage_input(stage, i);
        unsigned vc = i % stage->vcs;
        in->local = (uint16_t)(i % locals);
        in->vc = (uint8_t)vc;
        in->first_output = (uint16_t)(i / locals * stage->outputs);
        stage->way[i] = (i / stage->vcs * stage->input_speedup + vc % stage->input_speedup) << 3 | vc;
        stage->vc_accept[i] = NONE;
    }
    for (unsigned way = 0; way < stage->routers * stage->router_ways; way++) {
        unsigned router = way / stage->router_ways;
        stage->switch_accept[way] = router * stage->outputs;
        stage->next_way[way] = way % stage->router_ways == stage->router_ways - 1 ? router * stage->router_ways : way + 1;
        stage->offer[way] = NONE;
    }
}

static void init_outputs(struct stage *stage) {
    for (unsigned port = 0; port < stage->output_ports; port++) {
        unsigned router = port / stage->outputs;
        stage->first_input[port] = router * stage->inputs * stage->vcs << stage->input_shift;
        stage->switch_grant[port] = router * stage->router_ways;
        stage->next_output[port] = port % stage->outputs == stage->outputs - 1 ? router * stage->outputs : port + 1;
        stage->some_open[port / 64] |= UINT64_C(1) << (port % 64);
        for (unsigned vc = 0; vc < stage->vcs; vc++) {
            unsigned index = (port << stage->vc_shift) + vc;
            tally_set(&stage->credits, index, stage->vc_flits);
            stage->credit[index / 64] |= UINT64_C(1) << (index % 64);
            stage->open[index / 64] |= UINT64_C(1) << (index % 64);
        }
    }
}

void stage_init(struct stage *stage, const struct noc_config *noc, unsigned routers, unsigned inputs, unsigned outputs,
                unsigned destinations) {
    unsigned vcs = (unsigned)noc->vcs, flits = (unsigned)noc->vc_flits;
    unsigned buffer = (unsigned)round_up_power_of_two(flits);
    *stage = (struct stage){
        .routers = routers,
        .inputs = inputs,
        .outputs = outputs,
        .vcs = vcs,
        .vc_shift = log2_floor(round_up_power_of_two(vcs)),
        .vc_flits = flits,
        .input_speedup = (unsigned)noc->input_speedup,
        .internal_speedup = (unsigned)noc->internal_speedup,
        .router_ways = inputs * (unsigned)noc->input_speedup,
        .iterations = (unsigned)noc->iterations,
        .routing_steps = noc->lookahead ? 0 : 1,
        .traversal_steps = 1 + (unsigned)noc->stages - 4,
        .buffer_mask = buffer - 1,
        .input_shift = log2_floor(round_up_power_of_two(sizeof(struct input_vc) + buffer * sizeof(uint32_t))),
        .input_vcs = routers * inputs * vcs,
        .output_ports = routers * outputs,
        .wait_words = (unsigned)div_up(inputs * vcs, 64),
    };
    stage->output_vcs = stage->output_ports << stage->vc_shift;
    stage->vc_words = (unsigned)div_up(stage->output_vcs, 64);
    stage->port_words = (unsigned)div_up(stage->output_ports, 64);
    allocate(stage, destinations);
    init_inputs(stage);
    init_outputs(stage);
}

void stage_release(struct stage *stage) {
    if (stage->some_open != stage->open) free(stage->some_open);
    for (unsigned i = 0; i < ROUTING_LISTS; i++) free(stage->routing[i]);
    void *const blocks[] = {stage->input,        stage->output,        stage->have,      stage->credit,    stage->open,
                            stage->want,         stage->waiting,       stage->route,     stage->first_input, stage->vc_grant,
                            stage->vc_accept,    stage->switch_grant,  stage->switch_accept, stage->way_vc, stage->next_way,
                            stage->next_output,  stage->way,           stage->owner_way, stage->granted,   stage->winner,
                            stage->offer,        stage->offered,       stage->left,      stage->way_taken, stage->link_free,
                            stage->credit_free,  stage->credit_step};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
    tally_release(&stage->credits);
    *stage = (struct stage){0};
}

/* ---- arrival and routing ---------------------------------------------------------------------------------------------------- */

/* A head flit has come to the front of the buffer: its input VC joins those that will ask for a VC of an output. */
static inline uint64_t *ask_later(struct input_vc *in, uint32_t flit, const unsigned char *packets, const uint16_t *route, uint64_t *list) {
    uint32_t output = (uint32_t)in->first_output + route[packet_at(packets, flit)->destination];
    in->state = INPUT_WAITING;
    *list = (uint64_t)output << 32 | in->local;
    return list + 1;
}

/* Routes that are now known become requests. */
static NEVER_INLINE void ask(struct stage *stage, unsigned list) {
    uint64_t *waiting = stage->waiting, *want = stage->want;
    unsigned words = stage->wait_words;
    const uint64_t *entry = stage->routing[list], *end = stage->routing_end[list];
    stage->routing_end[list] = stage->routing[list];
    for (; entry != end; entry++) {
        uint32_t port = (uint32_t)(*entry >> 32), local = (uint32_t)*entry;
        if (LIKELY(words == 1))
            waiting[port] |= UINT64_C(1) << (local % 64);
        else
            waiting[port * words + local / 64] |= UINT64_C(1) << (local % 64);
        want[port / 64] |= UINT64_C(1) << (port % 64);
    }
}

void stage_arrive(struct stage *stage, uint64_t step, const uint64_t *event, unsigned count) {
    unsigned char *input = stage->input;
    uint64_t *have = stage->have;
    unsigned mask = stage->buffer_mask, list = (step + stage->routing_steps) % ROUTING_LISTS;
    uint64_t *routing = stage->routing_end[list];
    const unsigned char *packets = stage->ways.packets;
    const uint16_t *route = stage->route;
    for (const uint64_t *end = event + count; event != end; event++) {
        uint32_t flit = (uint32_t)*event;
        struct input_vc *in = (struct input_vc *)(void *)(input + (*event >> 32));
        in->flit[in->tail++ & mask] = flit;
        if (in->state == INPUT_ACTIVE)
            have[in->output_word] |= in->output_bit;
        else if (in->state == INPUT_IDLE)
            routing = ask_later(in, flit, packets, route, routing);
    }
    stage->routing_end[list] = routing;
    stage->active = true;
}

/* ---- VC allocation ---------------------------------------------------------------------------------------------------------- */

/* The output VC has a new owner, who may use the switch from the next step on: `have` is set at the end of this one. */
static inline void give_vc(struct stage *stage, uint32_t index, uint32_t place) {
    struct output_vc *out = &stage->output[index];
    struct input_vc *in = stage_at(stage, place);
    in->state = INPUT_ACTIVE;
    in->output = (uint16_t)index;
    in->output_word = (uint16_t)(index / 64);
    in->output_bit = UINT64_C(1) << (index % 64);
    out->owner = place;
    out->allocated++;
}

/* One VC: an input VC asks for one output VC only, so what is granted is accepted, and a second iteration finds nothing. */
static NEVER_INLINE void allocate_single(struct stage *stage, unsigned word, uint64_t ports) {
    uint32_t *pointer = &stage->vc_grant[word * 64];
    const uint32_t *first_input = &stage->first_input[word * 64];
    uint64_t *waiting = &stage->waiting[word * 64], satisfied = 0;
    unsigned shift = stage->input_shift;
    for (uint64_t next; ports; ports = next) {
        next = ports & (ports - 1);
        unsigned port = lowest_bit(ports), local = islip_first(waiting[port], pointer[port] % 64); /* beyond the last is as good as the first */
        waiting[port] ^= UINT64_C(1) << local;
        if (!waiting[port]) satisfied |= ports ^ next;
        pointer[port] = local + 1;
        give_vc(stage, word * 64 + port, first_input[port] + (local << shift));
    }
    stage->want[word] ^= satisfied;
}

/* The same for routers with more than 64 inputs. */
static NEVER_INLINE void allocate_single_wide(struct stage *stage, unsigned word, uint64_t ports) {
    unsigned words = stage->wait_words;
    for (; ports; ports &= ports - 1) {
        uint32_t port = word * 64 + lowest_bit(ports), *pointer = &stage->vc_grant[port];
        uint64_t *waiting = &stage->waiting[port * words], rest = 0;
        unsigned local = islip_first_of(waiting, words, *pointer);
        waiting[local / 64] ^= UINT64_C(1) << (local % 64);
        for (unsigned i = 0; i < words; i++) rest |= waiting[i];
        if (!rest) stage->want[word] ^= ports & -ports;
        *pointer = local + 1 == stage->inputs ? 0 : local + 1;
        give_vc(stage, port, stage->first_input[port] + (local << stage->input_shift));
    }
}

/* The input VC accepts the first of the output VCs that offer themselves, at or after its pointer. Returns which. */
static inline unsigned accept_vc(struct stage *stage, uint32_t port, unsigned local, unsigned offers, bool first) {
    uint32_t base = port << stage->vc_shift, place = stage->first_input[port] + (local << stage->input_shift);
    uint32_t number = place >> stage->input_shift, *accept = &stage->vc_accept[number];
    uint32_t start = *accept - base; /* beyond the VCs of this output if the pointer is elsewhere: then its first comes first */
    unsigned vc = islip_first(offers, start < stage->vcs ? start : 0);
    if (first) {
        *accept = vc + 1 < stage->vcs ? base + vc + 1 : NONE;
        stage->vc_grant[base + vc] = local + 1 == stage->inputs * stage->vcs ? 0 : local + 1;
    }
    stage->waiting[port * stage->wait_words + local / 64] ^= UINT64_C(1) << (local % 64);
    stage->owner_way[base + vc] = stage->way[number];
    give_vc(stage, base + vc, place);
    return vc;
}

/* One iteration for one output: each of its open VCs grants, each input VC that was granted any accepts. All requests of an input VC are for
 * one output, so outputs do not meet. `open` holds the output's open VCs from bit 0 on. Returns those that were taken. */
static unsigned allocate_output(struct stage *stage, uint32_t port, unsigned open, bool first) {
    unsigned words = stage->wait_words, taken = 0;
    const uint64_t *waiting = &stage->waiting[port * words];
    if (words == 1 && !(*waiting & (*waiting - 1))) return 1u << accept_vc(stage, port, lowest_bit(*waiting), open, first);
    const uint32_t *pointer = &stage->vc_grant[port << stage->vc_shift];
    unsigned granted[NOC_MAX_VCS];
    for (unsigned vcs = open; vcs; vcs &= vcs - 1) {
        unsigned vc = lowest_bit(vcs);
        granted[vc] = words == 1 ? islip_first(*waiting, pointer[vc]) : islip_first_of(waiting, words, pointer[vc]);
    }
    while (open) {
        unsigned local = granted[lowest_bit(open)], offers = 0;
        for (unsigned vcs = open; vcs; vcs &= vcs - 1)
            if (granted[lowest_bit(vcs)] == local) offers |= vcs & -vcs;
        open &= ~offers;
        taken |= 1u << accept_vc(stage, port, local, offers, first);
    }
    return taken;
}

static bool any_waiting(const struct stage *stage, uint32_t port) {
    uint64_t any = 0;
    for (unsigned i = 0; i < stage->wait_words; i++) any |= stage->waiting[port * stage->wait_words + i];
    return any != 0;
}

static void allocate_several(struct stage *stage) {
    unsigned all = (1u << stage->vcs) - 1;
    memset(stage->granted, 0, stage->vc_words * sizeof *stage->granted);
    for (unsigned word = 0; word < stage->port_words; word++)
        for (uint64_t ports = stage->want[word] & stage->some_open[word]; ports; ports &= ports - 1) {
            uint32_t port = word * 64 + lowest_bit(ports), base = port << stage->vc_shift;
            unsigned open = (unsigned)(stage->open[base / 64] >> (base % 64)) & all, left = open;
            bool more = true;
            for (unsigned i = 0; i < stage->iterations && left && more; i++) {
                left &= ~allocate_output(stage, port, left, i == 0);
                more = any_waiting(stage, port);
            }
            stage->granted[base / 64] |= (uint64_t)(open ^ left) << (base % 64);
            stage->open[base / 64] ^= (uint64_t)(open ^ left) << (base % 64);
            if (!more) stage->want[word] &= ~(ports & -ports);
            if (!left) stage->some_open[word] &= ~(ports & -ports);
        }
}

void stage_allocate_vcs(struct stage *stage) {
    if (stage->vcs > 1) {
        allocate_several(stage);
        return;
    }
    for (unsigned word = 0; word < stage->vc_words; word++) {
        uint64_t ports = stage->want[word] & stage->open[word];
        stage->granted[word] = ports;
        stage->open[word] ^= ports;
        if (!ports) continue;
        if (stage->wait_words == 1)
            allocate_single(stage, word, ports);
        else
            allocate_single_wide(stage, word, ports);
    }
}

/* ---- switch allocation ------------------------------------------------------------------------------------------------------ */

/* Among the VCs of an output that have a flit to send: the first way at or after the output's pointer, and of one way the first VC at or after
 * the way's. `group` has their bits from bit 0 on. Returns NONE if all their ways are taken. */
static inline uint32_t grant_switch(const struct stage *stage, uint32_t port, unsigned group, bool first) {
    uint32_t base = port << stage->vc_shift, best = NONE, pointer = stage->switch_grant[port];
    unsigned nearest = UINT32_MAX, vc_distance = 0;
    for (; group; group &= group - 1) {
        uint32_t index = base + lowest_bit(group), owner = stage->owner_way[index], way = owner >> 3;
        if (!first && stage->way_taken[way]) continue;
        unsigned distance = islip_distance(way, pointer, stage->router_ways);
        if (distance > nearest) continue;
        if (distance == nearest && islip_distance(owner & 7, stage->way_vc[way], stage->vcs) > vc_distance) continue;
        nearest = distance;
        vc_distance = islip_distance(owner & 7, stage->way_vc[way], stage->vcs);
        best = index;
    }
    return best;
}

/* The grants of one iteration: each output's best candidate becomes an offer to its way, which keeps the first at or after its pointer. */
static ALWAYS_INLINE unsigned offer_switch(struct stage *stage, bool first) {
    unsigned count = 0, shift = stage->vc_shift, group_mask = (1u << (1u << shift)) - 1;
    const uint32_t *owner_way = stage->owner_way;
    uint32_t *offer = stage->offer;
    for (unsigned word = 0; word < stage->vc_words; word++) {
        uint64_t ready = first ? stage->have[word] & stage->credit[word] : stage->left[word];
        if (first) stage->left[word] = ready;
        while (ready) {
            unsigned start = lowest_bit(ready) >> shift << shift;
            unsigned group = (unsigned)(ready >> start) & group_mask;
            uint32_t index = word * 64 + lowest_bit(ready), port = (word * 64 + start) >> shift;
            ready ^= (uint64_t)group << start;
            if ((group & (group - 1)) || !first) index = grant_switch(stage, port, group, first);
            if (index == NONE) continue;
            uint32_t way = owner_way[index] >> 3, other = offer[way];
            if (other == NONE) {
                stage->offered[count++] = way;
                offer[way] = index;
            } else {
                uint32_t pointer = stage->switch_accept[way];
                if (islip_distance(port, pointer, stage->outputs) < islip_distance(other >> shift, pointer, stage->outputs)) offer[way] = index;
            }
        }
    }
    return count;
}

unsigned stage_allocate_switch(struct stage *stage) {
    unsigned count = 0;
    bool several = stage->iterations > 1;
    for (unsigned i = 0; i < stage->iterations; i++) {
        unsigned offered = i == 0 ? offer_switch(stage, true) : offer_switch(stage, false);
        if (!offered) break;
        for (unsigned k = 0; k < offered; k++) {
            uint32_t way = stage->offered[k], index = stage->offer[way], port = index >> stage->vc_shift;
            unsigned vc = (stage->owner_way[index] & 7) + stage->input_speedup;
            stage->offer[way] = NONE;
            stage->winner[count++] = index;
            stage->way_vc[way] = (uint8_t)(vc >= stage->vcs ? vc - stage->vcs : vc);
            if (i == 0) {
                stage->switch_grant[port] = stage->next_way[way];
                stage->switch_accept[way] = stage->next_output[port];
            }
            if (several) {
                uint32_t base = port << stage->vc_shift;
                stage->way_taken[way] = true;
                stage->left[base / 64] &= ~(low_mask(1u << stage->vc_shift) << (base % 64));
            }
        }
    }
    if (several)
        for (unsigned k = 0; k < count; k++) stage->way_taken[stage->owner_way[stage->winner[k]] >> 3] = false;
    return count;
}

/* ---- switch traversal ------------------------------------------------------------------------------------------------------- */

/* Where this step's flits and credits are written. Without internal speedup all of them arrive together. */
struct sink {
    uint64_t step;
    uint64_t *flits, *credits;
    uint64_t *routing; /* heads that come to the front */
};

/* With internal speedup a link may be behind: flits and credits leave when it is free. */
static inline void send_late(struct stage *stage, uint64_t step, uint32_t port, const struct output_vc *out, const struct input_vc *in, uint64_t flit) {
    const struct stage_ways *ways = &stage->ways;
    uint64_t leave = max_u64((step + stage->traversal_steps) / 2, stage->link_free[port]);
    stage->link_free[port] = leave + 1;
    timeline_push(ways->time, ways->flits, leave + ways->flit_cycles, flit);
    uint32_t input = stage->vcs == 1 ? out->owner >> stage->input_shift : (out->owner >> stage->input_shift) / stage->vcs;
    if (stage->credit_step[input] != step + 1) {
        stage->credit_step[input] = step + 1;
        stage->credit_free[input] = max_u64(step / 2, stage->credit_free[input]) + 1;
    }
    uint64_t at = stage->credit_free[input] - 1 + ways->credit_cycles;
    timeline_credits(ways->time, ways->credits, at)[in->upstream_word] |= in->upstream_bit;
    timeline_mark(ways->time, at);
}

/* The front flit of the output VC's owner leaves. `bit` is the output VC's in its word, whose masks are passed in so that they can live in registers;
 * so is what is written. */
static ALWAYS_INLINE void send(struct stage *stage, struct sink *sink, struct output_vc *out, uint32_t index, uint64_t bit, uint64_t *have,
                               uint64_t *open, uint64_t **flits, uint64_t *credits, unsigned mask, bool fast) {
    struct input_vc *in = stage_at(stage, out->owner);
    uint16_t head = in->head;
    uint32_t flit = in->flit[head & mask];
    in->head = ++head;
    out->sent++;
    if (fast) {
        send_late(stage, sink->step, index >> stage->vc_shift, out, in, out->target | flit);
    } else {
        *(*flits)++ = out->target | flit;
        credits[in->upstream_word] |= in->upstream_bit;
    }
    if (flit & FLIT_TAIL) {
        *have ^= bit;
        *open ^= bit;
        if (head == in->tail)
            in->state = INPUT_IDLE;
        else
            sink->routing = ask_later(in, in->flit[head & mask], stage->ways.packets, stage->route, sink->routing);
    } else if (head == in->tail) {
        *have ^= bit;
    }
}

/* One VC: all flits that are ready leave. */
static ALWAYS_INLINE void send_word(struct stage *stage, struct sink *sink, unsigned word, uint64_t ready, bool fast) {
    uint64_t have = stage->have[word], open = stage->open[word], *flits = sink->flits, *credits = sink->credits;
    struct output_vc *output = &stage->output[word * 64];
    unsigned mask = stage->buffer_mask;
    for (uint64_t next; ready; ready = next) {
        next = ready & (ready - 1);
        unsigned bit = lowest_bit(ready);
        send(stage, sink, &output[bit], word * 64 + bit, ready ^ next, &have, &open, &flits, credits, mask, fast);
    }
    stage->have[word] = have;
    stage->open[word] = open;
    sink->flits = flits;
}

static NEVER_INLINE void send_word_slow(struct stage *stage, struct sink *sink, unsigned word, uint64_t ready) {
    send_word(stage, sink, word, ready, false);
}

static NEVER_INLINE void send_word_fast(struct stage *stage, struct sink *sink, unsigned word, uint64_t ready) {
    send_word(stage, sink, word, ready, true);
}

static void send_single(struct stage *stage, struct sink *sink, bool fast) {
    for (unsigned word = 0; word < stage->vc_words; word++) {
        uint64_t ready = stage->have[word] & stage->credit[word];
        if (!ready) continue;
        stage->credit[word] = tally_take(&stage->credits, word, ready);
        if (fast)
            send_word_fast(stage, sink, word, ready);
        else
            send_word_slow(stage, sink, word, ready);
    }
}

static ALWAYS_INLINE void send_winners(struct stage *stage, struct sink *sink, unsigned count, bool fast) {
    uint64_t *flits = sink->flits, *credits = sink->credits, *spent = stage->left;
    unsigned mask = stage->buffer_mask;
    for (unsigned i = 0; i < count; i++) {
        uint32_t index = stage->winner[i], word = index / 64, port = index >> stage->vc_shift;
        uint64_t bit = UINT64_C(1) << (index % 64);
        spent[word] |= bit;
        send(stage, sink, &stage->output[index], index, bit, &stage->have[word], &stage->open[word], &flits, credits, mask, fast);
        if (stage->open[word] & bit) stage->some_open[port / 64] |= UINT64_C(1) << (port % 64);
    }
    sink->flits = flits;
}

static NEVER_INLINE void send_several(struct stage *stage, struct sink *sink, bool fast) {
    unsigned count = stage_allocate_switch(stage);
    memset(stage->left, 0, stage->vc_words * sizeof *stage->left);
    if (fast)
        send_winners(stage, sink, count, true);
    else
        send_winners(stage, sink, count, false);
    for (unsigned word = 0; word < stage->vc_words; word++)
        if (stage->left[word]) stage->credit[word] = tally_take(&stage->credits, word, stage->left[word]);
}

/* The end of a step: new owners may send from now on. Returns whether the next step has anything to do. */
static inline bool finish(struct stage *stage, uint64_t step) {
    unsigned next = (step + 1) % ROUTING_LISTS, after = (step + 2) % ROUTING_LISTS; /* the only lists that can have entries */
    uint64_t any = (uint64_t)(stage->routing_end[next] != stage->routing[next]) | (stage->routing_end[after] != stage->routing[after]);
    for (unsigned i = 0; i < stage->vc_words; i++) {
        stage->have[i] |= stage->granted[i];
        any |= stage->have[i] & stage->credit[i];
    }
    for (unsigned i = 0; i < stage->port_words; i++) any |= stage->want[i] & stage->some_open[i];
    return any != 0;
}

void stage_step(struct stage *stage, uint64_t step) {
    const struct stage_ways *ways = &stage->ways;
    bool fast = stage->internal_speedup > 1;
    unsigned asking = step % ROUTING_LISTS, later = (step + 1 + stage->routing_steps) % ROUTING_LISTS;
    if (stage->routing_end[asking] != stage->routing[asking]) ask(stage, asking);
    stage_allocate_vcs(stage);

    struct sink sink = {.step = step, .routing = stage->routing_end[later]};
    uint64_t flits_at = step + stage->traversal_steps + ways->flit_cycles, credits_at = step + ways->credit_cycles, *before = NULL;
    if (!fast) {
        sink.flits = before = timeline_open(ways->time, ways->flits, flits_at);
        sink.credits = timeline_credits(ways->time, ways->credits, credits_at);
    }
    if (stage->vcs == 1)
        send_single(stage, &sink, fast);
    else
        send_several(stage, &sink, fast);
    if (sink.flits != before) {
        timeline_close(ways->time, ways->flits, flits_at, sink.flits);
        timeline_mark(ways->time, credits_at);
    }
    stage->routing_end[later] = sink.routing;
    stage->active = finish(stage, step);
}
