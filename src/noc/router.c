/* The routers of one stage, step by step. fabric.h describes the router; this file computes it.
 *
 * There is one step, run_step(), and one loop over a cycle for each way of sharing links:
 *
 *   loop               VCs      speedup  omits
 *   run_several        any      1        nothing: the general version
 *   run_several_fast   any      2        nothing: the general version
 *   run_single         one      1        switch allocation. The owner of an output's only VC is its only requester: every
 *                                        flit with a credit wins, and one AND of words finds 64 of them
 *   run_single_fast    one      2        the same; flits and credits that wait for a link are counted 64 VCs at a time
 *                                        (queue.h) instead of each being assigned its cycle (leave_late)
 *   run_single_common, run_single_fast_common
 *                      one      1, 2     what a router needs only with a longer traversal, more than 64 input VCs or deep
 *                                        buffers: loops over planes and over the words of a router have a fixed length
 *   run_several_narrow several  1        the same, for routers without input speedup and further iterations: a flit leaves
 *                                        as soon as it is matched
 *   run_single_fast_word
 *                      one      2        in addition, loops over the words of a stage with up to 64 input and output VCs
 *
 * They are the same code, with constants that the compiler propagates.
 *
 * The general loops handle one VC as well, and --no-skip uses them for every network. Every test that compares a run
 * with its --no-skip run therefore compares the loops, too: tests/cli/run_test.sh on every bundled GPU,
 * tests/machine/random_test.c on random ones.
 */
#include "noc/router.h"

#include <string.h>

static void run_first(struct router_stage *stage, uint64_t cycle);

/* ---- building --------------------------------------------------------------------------------------------------- */

static void allocate(struct router_stage *stage, unsigned destinations) {
    unsigned xbar_inputs = stage->routers * stage->router_xbar_inputs, ports = stage->routers * stage->inputs;
    stage->route = mem_alloc(destinations, sizeof *stage->route);
    stage->in_word = mem_alloc_lines(stage->in_words + stage->span, sizeof *stage->in_word); /* none beyond the last */
    stage->out_word = mem_alloc_lines(stage->out_words, sizeof *stage->out_word);
    stage->port_word = mem_alloc(stage->port_words, sizeof *stage->port_word);
    stage->output = mem_alloc_lines(stage->output_vcs, sizeof *stage->output);
    stage->open = mem_alloc(stage->output_ports, sizeof *stage->open);
    stage->waiting = mem_alloc((size_t)stage->output_ports * stage->wait_words, sizeof *stage->waiting);
    stage->first_input = mem_alloc(stage->output_ports, sizeof *stage->first_input);
    stage->output_of = mem_alloc(stage->output_vcs, sizeof *stage->output_of);
    stage->owner = mem_alloc(stage->output_vcs, sizeof *stage->owner);
    stage->vc_grant = mem_alloc(stage->output_vcs, sizeof *stage->vc_grant);
    stage->vc_accept = mem_alloc(stage->input_vcs, sizeof *stage->vc_accept);
    stage->request = mem_alloc((size_t)stage->output_ports * stage->span, sizeof *stage->request);
    stage->behind = mem_alloc((size_t)xbar_inputs * stage->span, sizeof *stage->behind);
    stage->xbar_input = mem_alloc_lines(xbar_inputs + 1, sizeof *stage->xbar_input); /* the last is nobody */
    stage->first_of = mem_alloc((size_t)(stage->in_words + stage->span) * FIRST_OF_WORD, sizeof *stage->first_of);
    stage->offered = mem_alloc(xbar_inputs + 1, sizeof *stage->offered);
    stage->ended = mem_alloc(xbar_inputs + 1, sizeof *stage->ended);
    stage->link_free = mem_alloc(stage->output_ports, sizeof *stage->link_free);
    stage->credit_free = mem_alloc(ports, sizeof *stage->credit_free);
    stage->credit_step = mem_alloc(ports, sizeof *stage->credit_step);
}

void router_stage_release(struct router_stage *stage) {
    void *const blocks[] = {stage->route,       stage->input.memory, stage->in_word,     stage->out_word,
                            stage->port_word,   stage->output,       stage->open,        stage->waiting,
                            stage->first_input, stage->output_of,    stage->vc_grant,    stage->vc_accept,
                            stage->request,     stage->behind,       stage->xbar_input,  stage->first_of,
                            stage->offered,     stage->link_free,    stage->credit_free, stage->credit_step,
                            stage->owner,       stage->ended};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
    *stage = (struct router_stage){0};
}

static void init_inputs(struct router_stage *stage) {
    unsigned locals = stage->inputs << stage->vc_shift;
    for (unsigned i = 0; i < stage->input_vcs; i++) {
        struct buffer *in = buffers_get(&stage->input, i);
        in->word = &stage->in_word[i / 64];
        in->bit = UINT64_C(1) << (i % 64);
        in->first_output = (uint16_t)(i / locals * stage->outputs);
        in->waiting = &stage->waiting[in->first_output * stage->wait_words + i % locals / 64];
        in->local = (uint16_t)(i % locals);
        in->word_in_span = (uint16_t)(i / 64 - i / locals * locals / 64);
        in->word->idle |= in->bit;
        stage->vc_accept[i] = NOBODY;
    }
}

/* With input speedup the VCs of an input belong to its crossbar inputs in turn. */
static void init_xbar_inputs(struct router_stage *stage) {
    unsigned vcs = 1u << stage->vc_shift, speedup = stage->input_speedup, span = stage->span;
    for (unsigned router = 0; router < stage->routers; router++) {
        unsigned first = router * stage->inputs << stage->vc_shift;
        uint64_t *later = mem_alloc(span, sizeof *later); /* of those from the last to the current one */
        for (unsigned i = stage->router_xbar_inputs; i-- > 0;) {
            unsigned number = router * stage->router_xbar_inputs + i, base = first + i / speedup * vcs;
            struct xbar_input *input = &stage->xbar_input[number];
            memcpy(&stage->behind[(size_t)number * span], later, span * sizeof *later);
            input->behind = &stage->behind[(size_t)number * span];
            for (unsigned vc = i % speedup; vc < vcs; vc += speedup) input->vcs |= UINT64_C(1) << (base + vc) % 64;
            later[base / 64 - first / 64] |= input->vcs;
            input->word = &stage->in_word[base / 64];
            input->buffers = (unsigned char *)buffers_get(&stage->input, base / 64 * 64);
            input->word_in_span = base / 64 - first / 64;
            input->nearest = NO_OFFER;
            for (unsigned vc = base % 64; vc < base % 64 + vcs; vc++)
                stage->first_of[base / 64 * FIRST_OF_WORD + vc] = input - i % speedup;
        }
        free(later);
    }
    struct xbar_input *nobody = &stage->xbar_input[stage->routers * stage->router_xbar_inputs];
    for (unsigned word = 0; word < stage->in_words + span; word++)
        stage->first_of[word * FIRST_OF_WORD + 64] = nobody; /* it has an offer already, and none is nearer */
}

static void init_outputs(struct router_stage *stage) {
    for (unsigned port = 0; port < stage->output_ports; port++) {
        unsigned router = port / stage->outputs;
        stage->first_input[port] = router * stage->inputs << stage->vc_shift;
        for (unsigned i = 0; i < stage->span; i++) {
            unsigned word = stage->first_input[port] / 64 + i;
            stage->request[port * stage->span + i] = (struct request_word){
                .word = &stage->in_word[word], .first_input = &stage->first_of[word * FIRST_OF_WORD]};
        }
        stage->port_word[port / 64].open |= UINT64_C(1) << (port % 64);
        stage->open[port] = (uint16_t)((1u << stage->vcs) - 1);
    }
}

/* The words that `count` consecutive bits are in, at most, if they start at a multiple of `count`. */
static unsigned span_of(unsigned multiples, unsigned count) {
    unsigned span = 0;
    for (unsigned i = 0; i < multiples; i++) {
        unsigned words = ((i + 1) * count - 1) / 64 - i * count / 64 + 1;
        if (words > span) span = words;
    }
    return span;
}

void router_stage_init(struct router_stage *stage, const struct noc_config *noc, unsigned routers, unsigned inputs,
                       unsigned outputs, unsigned destinations) {
    unsigned vc_shift = log2_floor(round_up_power_of_two((uint64_t)noc->vcs)), vc_flits = (unsigned)noc->vc_flits;
    static const bool never = false;
    *stage = (struct router_stage){
        .plain = &never,
        .loop = run_first,
        .routers = routers,
        .inputs = inputs,
        .outputs = outputs,
        .vcs = (unsigned)noc->vcs,
        .vc_shift = vc_shift,
        .input_speedup = (unsigned)noc->input_speedup,
        .fast = noc->internal_speedup > 1,
        .lookahead = noc->lookahead,
        .router_xbar_inputs = inputs * (unsigned)noc->input_speedup,
        .iterations = (unsigned)noc->iterations,
        .traversal_steps = 1 + (unsigned)noc->stages - 4,
        .input_vcs = routers * inputs << vc_shift,
        .output_ports = routers * outputs,
        .output_vcs = routers * outputs << vc_shift,
        .wait_words = (unsigned)div_up(inputs << vc_shift, 64),
    };
    stage->in_words = (unsigned)div_up(stage->input_vcs, 64);
    stage->out_words = (unsigned)div_up(stage->output_vcs, 64);
    stage->span = span_of(routers, inputs << vc_shift);
    stage->port_words = (unsigned)div_up(stage->output_ports, 64);
    stage->input = buffers_of(stage->input_vcs, vc_flits);
    stage->planes = tally_planes(vc_flits);
    stage->common_case = stage->traversal_steps == 1 && stage->wait_words == 1 && stage->planes == TALLY_UNROLLED;
    stage->narrow = stage->span == 1 && stage->input_speedup == 1 && stage->iterations == 1;
    stage->one_word = stage->in_words == 1 && stage->out_words == 1 && stage->port_words == 1;
    allocate(stage, destinations);
    init_inputs(stage);
    init_xbar_inputs(stage);
    init_outputs(stage);
}

void router_stage_wire(struct router_stage *stage, unsigned number, unsigned vc) {
    unsigned port = number >> stage->vc_shift;
    stage->output[number] = (struct output_vc){.target_bit = UINT64_C(1) << (vc % 64),
                                               .target = &stage->out->word[vc / 64],
                                               .buffer = buffers_get(&stage->next, vc),
                                               .owner = &stage->owner[vc],
                                               .port = &stage->port_word[port / 64],
                                               .port_bit = UINT64_C(1) << (port % 64)};
    stage->output_of[vc] = number;
}

/* ---- arrival and routing ---------------------------------------------------------------------------------------- */

void router_stage_arrive(struct router_stage *stage, unsigned word, uint64_t mask) {
    struct input_word *in = &stage->in_word[word];
    uint64_t heads = mask & in->idle;
    tally_add(&in->filled, mask);
    in->nonempty |= mask;
    in->idle ^= heads;
    in->fresh |= heads;
    stage->active = true;
}

void router_stage_credit(struct router_stage *stage, unsigned word, uint64_t mask) {
    for (uint64_t supplied = link_repay(stage->out, word, mask); supplied; supplied &= supplied - 1) {
        const struct buffer *owner = stage->owner[word * 64 + lowest_bit(supplied)];
        if (!owner) continue;
        owner->word->go |= owner->bit;
        stage->active = true;
    }
}

/* Heads at the front of their buffers request a VC of the output that leads to their destination. */
static NEVER_INLINE void compute_routes(struct router_stage *stage, unsigned word) {
    unsigned shift = stage->input.shift, mask = stage->input.mask, words = stage->wait_words;
    unsigned char *memory = stage->input.memory + ((size_t)word * 64 << shift);
    struct port_word *ports = stage->port_word;
    for (uint64_t fresh = stage->in_word[word].fresh; fresh; fresh &= fresh - 1) {
        struct buffer *in = buffer_at(memory, (size_t)lowest_bit(fresh) << shift);
        const struct packet *packet = packet_at(stage->packets, buffer_first(in, mask));
        uint32_t output = stage->route[packet->destination], port = in->first_output + output;
        in->left = packet->flits;
        in->waiting[output * words] |= UINT64_C(1) << (in->local % 64);
        ports[port / 64].want |= UINT64_C(1) << (port % 64);
    }
    stage->in_word[word].fresh = 0;
}

/* ---- VC allocation ---------------------------------------------------------------------------------------------- */

/* Gives the output VC a new owner, which may use the switch from the next step on. */
static inline void give_vc(const struct router_stage *stage, struct output_vc *out, struct buffer *in) {
    unsigned mask = stage->input.mask;
    in->output = out;
    in->target_bit = out->target_bit;
    in->target = out->target;
    buffer_add(out->buffer, mask, buffer_first(in, mask));
    out->given += in->left;
    out->allocated++;
    *out->owner = in;
    if (out->target->credit & out->target_bit) in->word->granted |= in->bit;
}

/* One VC: an input VC requests a single output VC, so that every grant is accepted and one iteration suffices. `ports`:
 * outputs of a word that are free and requested. */
static NEVER_INLINE void allocate_single_word(struct router_stage *stage, unsigned number, uint64_t ports) {
    uint32_t *pointer = stage->vc_grant + (size_t)number * 64;
    const uint32_t *first_input = stage->first_input + (size_t)number * 64;
    struct output_vc *output = stage->output + (size_t)number * 64;
    uint64_t *waiting = stage->waiting + (size_t)number * 64, satisfied = 0;
    stage->port_word[number].open ^= ports;
    do {
        unsigned port = lowest_bit(ports);
        uint64_t waits = waiting[port];
        unsigned local = islip_first(waits, pointer[port] % 64); /* one beyond the last acts as the first */
        pointer[port] = local + 1;
        if (!(waiting[port] = waits ^ UINT64_C(1) << local)) satisfied |= ports & -ports;
        give_vc(stage, &output[port], buffers_get(&stage->input, first_input[port] + local));
    } while (ports &= ports - 1);
    stage->port_word[number].want ^= satisfied;
}

static ALWAYS_INLINE void allocate_single(struct router_stage *stage, unsigned words) {
    const struct port_word *ports = stage->port_word;
    unsigned word = 0;
    do
        if (ports[word].want & ports[word].open) allocate_single_word(stage, word, ports[word].want & ports[word].open);
    while (++word != words);
}

/* The same for routers with more than 64 inputs. */
static NEVER_INLINE void allocate_single_wide(struct router_stage *stage) {
    unsigned words = stage->wait_words;
    for (unsigned word = 0; word < stage->port_words; word++) {
        uint64_t ports = stage->port_word[word].want & stage->port_word[word].open;
        stage->port_word[word].open ^= ports;
        for (; ports; ports &= ports - 1) {
            uint32_t port = word * 64 + lowest_bit(ports), *pointer = &stage->vc_grant[port];
            uint64_t *waiting = &stage->waiting[port * words], rest = 0;
            unsigned local = islip_first_of(waiting, words, *pointer);
            waiting[local / 64] ^= UINT64_C(1) << (local % 64);
            for (unsigned i = 0; i < words; i++) rest |= waiting[i];
            if (!rest) stage->port_word[word].want ^= ports & -ports;
            *pointer = local + 1 == stage->inputs ? 0 : local + 1;
            give_vc(stage, &stage->output[port], buffers_get(&stage->input, stage->first_input[port] + local));
        }
    }
}

/* Where the input VC is among the owners of the output's VCs. */
static ALWAYS_INLINE uint64_t *owned_word(const struct router_stage *stage, uint32_t port, const struct buffer *in,
                                          bool narrow) {
    return &stage->request[narrow ? port : port * stage->span + in->word_in_span].owned;
}

/* The input VC accepts the first of the output VCs that grant it, at or after its pointer. Returns the VC. */
static ALWAYS_INLINE unsigned accept_vc(struct router_stage *stage, uint32_t port, uint32_t local, unsigned offers,
                                        bool first, bool narrow) {
    uint32_t base = port << stage->vc_shift, input_vc = stage->first_input[port] + local;
    uint32_t start =
        stage->vc_accept[input_vc] - base; /* if the pointer is not among this output's VCs, its first VC comes first */
    unsigned vc = islip_first(offers, start < stage->vcs ? start : 0);
    if (first) {
        stage->vc_accept[input_vc] = base + vc + 1;
        stage->vc_grant[base + vc] = local + 1; /* one beyond the last acts as the first */
    }
    struct buffer *in = buffers_get(&stage->input, input_vc);
    *owned_word(stage, port, in, narrow) |= in->bit;
    give_vc(stage, &stage->output[base + vc], in);
    return vc;
}

/* One iteration for one output: each of its free VCs grants, each input VC with a grant accepts. All requests of an
 * input VC are for one output, so outputs are independent. `open` holds the output's free VCs from bit 0 on. Returns
 * those that were allocated. */
static unsigned allocate_output(struct router_stage *stage, uint32_t port, unsigned open, bool first) {
    unsigned words = stage->wait_words, inputs = stage->inputs << stage->vc_shift, taken = 0;
    uint64_t *waiting = &stage->waiting[port * words];
    const uint32_t *pointer = &stage->vc_grant[port << stage->vc_shift];
    unsigned granted[NOC_MAX_VCS];
    for (unsigned vcs = open; vcs; vcs &= vcs - 1) {
        unsigned vc = lowest_bit(vcs);
        granted[vc] = islip_first_of(waiting, words, pointer[vc] == inputs ? 0 : pointer[vc]);
    }
    while (open) {
        unsigned local = granted[lowest_bit(open)], offers = 0;
        for (unsigned vcs = open; vcs; vcs &= vcs - 1)
            if (granted[lowest_bit(vcs)] == local) offers |= vcs & -vcs;
        open &= ~offers;
        taken |= 1u << accept_vc(stage, port, local, offers, first, false);
        waiting[local / 64] ^= UINT64_C(1) << (local % 64);
    }
    return taken;
}

static bool any_waiting(const struct router_stage *stage, uint32_t port) {
    uint64_t any = 0;
    for (unsigned i = 0; i < stage->wait_words; i++) any |= stage->waiting[port * stage->wait_words + i];
    return any != 0;
}

/* All iterations for one output, while it has free VCs and requesters. Returns whether an input VC still waits for
 * it. */
static bool allocate_among(struct router_stage *stage, uint32_t port, unsigned *open) {
    bool more = true;
    for (unsigned i = 0; i < stage->iterations && *open && more; i++) {
        *open &= ~allocate_output(stage, port, *open, i == 0);
        more = any_waiting(stage, port);
    }
    return more;
}

/* `ports`: outputs of a word that are requested and have a free VC. */
static ALWAYS_INLINE void allocate_several_word(struct router_stage *stage, unsigned word, uint64_t ports,
                                                bool narrow) {
    bool one_word = narrow || stage->wait_words == 1;
    uint64_t satisfied = 0, exhausted = 0;
    stage->port_word[word].held |= ports; /* each allocates at least one VC */
    for (uint64_t rest; ports; ports = rest) {
        rest = ports & (ports - 1);
        uint32_t port = word * 64 + lowest_bit(ports);
        unsigned open = stage->open[port];
        uint64_t waiting = stage->waiting[port];
        bool more = false;
        if (LIKELY(one_word &&
                   !(waiting & (waiting - 1)))) { /* the only requester: it receives all grants and accepts one */
            open &= ~(1u << accept_vc(stage, port, lowest_bit(waiting), open, true, narrow));
            stage->waiting[port] = 0;
        } else {
            more = allocate_among(stage, port, &open);
        }
        stage->open[port] = (uint16_t)open;
        if (!more) satisfied |= ports ^ rest;
        if (!open) exhausted |= ports ^ rest;
    }
    stage->port_word[word].want ^= satisfied;
    stage->port_word[word].open ^= exhausted;
}

static NEVER_INLINE void allocate_wide_word(struct router_stage *stage, unsigned word, uint64_t ports) {
    allocate_several_word(stage, word, ports, false);
}
static NEVER_INLINE void allocate_narrow_word(struct router_stage *stage, unsigned word, uint64_t ports) {
    allocate_several_word(stage, word, ports, true);
}

/* `narrow`: of a stage in the common case, too. */
static ALWAYS_INLINE void allocate_several(struct router_stage *stage, bool narrow) {
    for (unsigned word = 0; word < stage->port_words; word++) {
        uint64_t ports = stage->port_word[word].want & stage->port_word[word].open;
        if (ports) (narrow ? allocate_narrow_word : allocate_wide_word)(stage, word, ports);
    }
}

void router_stage_allocate_vcs(struct router_stage *stage) {
    if (stage->vcs > 1)
        allocate_several(stage, false);
    else if (stage->wait_words > 1)
        allocate_single_wide(stage);
    else
        allocate_single(stage, stage->port_words);
}

/* What a loop is made for. The loops differ only in these constants. */
struct loop {
    bool single;      /* one VC; the general loops also run networks with one VC, as several */
    bool fast;        /* internal speedup */
    bool common_case; /* of the stage, */
    bool one_word;    /* likewise */
    bool narrow; /* of the stage, and without internal speedup: several VCs whose flits leave as they are matched */
};

static ALWAYS_INLINE unsigned words_of(unsigned words, struct loop loop) { return loop.one_word ? 1 : words; }

static ALWAYS_INLINE void allocate_vcs(struct router_stage *stage, struct loop loop) {
    if (!loop.single)
        allocate_several(stage, loop.narrow);
    else if (!loop.common_case)
        router_stage_allocate_vcs(stage);
    else
        allocate_single(stage, words_of(stage->port_words, loop));
}

/* ---- switch allocation ------------------------------------------------------------------------------------------ */

/* Every output grants to the nearest crossbar input behind its pointer among those with a flit for it. Every crossbar
 * input prefers the nearest output at or after its pointer among those that grant to it. Returns the number of crossbar
 * inputs with an offer. What an output decides is as good as random, so that a branch on it would often be mispredicted:
 * outputs without requests grant to `nobody`. */
static ALWAYS_INLINE unsigned grant_switch(struct router_stage *stage, unsigned span, bool simple, bool first) {
    struct xbar_input **offered = stage->offered;
    for (uint32_t word = 0; word < stage->port_words; word++) {
        uint64_t ports = stage->port_word[word].held;
        if (!first) ports &= ~stage->port_word[word].matched;
        for (; ports; ports &= ports - 1) {
            uint32_t port = word * 64 + lowest_bit(ports);
            const struct request_word *request = &stage->request[port * span], *end = request + span, *nearest = NULL;
            uint64_t requests = 0;
            do { /* the first word with requests behind the pointer; without such, the first with requests */
                uint64_t vcs = request->owned & request->word->nonempty & request->word->go;
                if (!first) vcs &= ~request->word->matched;
                uint64_t behind = vcs & request->behind;
                if (span == 1) {
                    requests = behind ? behind : vcs;
                    nearest = request;
                } else if (behind) {
                    requests = behind;
                    nearest = request;
                    break;
                } else if (!requests) {
                    requests = vcs;
                    nearest = request;
                }
            } while (++request != end);
            struct xbar_input *input = nearest->first_input[lowest_bit_or_64(requests)];
            while (!simple && requests && !(requests & input->vcs)) input++; /* not the first of its input */
            uint64_t before = input->nearest, distance = port - input->accept;
            *offered = input;
            offered += before == NO_OFFER;
            input->nearest = distance < before ? distance : before;
        }
    }
    return (unsigned)(offered - stage->offered);
}

static NEVER_INLINE unsigned grant_in_word(struct router_stage *stage) { return grant_switch(stage, 1, true, true); }
static NEVER_INLINE unsigned grant_in_words(struct router_stage *stage, bool first) {
    return grant_switch(stage, stage->span, false, first);
}

/* Frees the output VC. */
static ALWAYS_INLINE void end_packet(struct router_stage *stage, struct buffer *in, bool single, bool narrow) {
    struct output_vc *out = in->output;
    in->head++;
    *out->owner = NULL;
    out->port->open |= out->port_bit;
    if (single) return;
    unsigned number = (unsigned)(out - stage->output), port = number >> stage->vc_shift;
    unsigned vc = number & ((1u << stage->vc_shift) - 1);
    stage->open[port] |= (uint16_t)(1u << vc);
    uint64_t *owned = owned_word(stage, port, in, narrow);
    *owned ^= in->bit;
    if (narrow ? !*owned : stage->open[port] == (1u << stage->vcs) - 1) out->port->held ^= out->port_bit;
}

/* Crossbar inputs accept their offers, and their VCs with a flit for that output take turns. Pointers move in the first
 * iteration only. With `leaves`, the flits also leave the buffers, as in leave(). */
static ALWAYS_INLINE void match_switch(struct router_stage *stage, unsigned offered, unsigned span, bool first,
                                       bool leaves) {
    struct buffer **ended = stage->ended;
    unsigned shift = stage->input.shift;
    for (struct xbar_input **next = stage->offered, **end = next + offered; next != end; next++) {
        struct xbar_input *input = *next;
        struct input_word *word = input->word;
        uint32_t port = input->accept + (uint32_t)input->nearest;
        struct request_word *request = &stage->request[port * span];
        uint64_t vcs = request[span == 1 ? 0 : input->word_in_span].owned & word->nonempty & word->go & input->vcs;
        uint64_t later = vcs & input->later, winners = later ? later : vcs;
        input->nearest = NO_OFFER;
        input->later = ~(winners ^ (winners - 1));
        word->sending |= winners & -winners;
        if (first) {
            for (unsigned i = 0; i < span; i++) request[i].behind = input->behind[i];
            input->accept = port + 1;
        }
        if (!leaves && UNLIKELY(stage->iterations > 1)) { /* neither takes part in the next */
            word->matched |= input->vcs;
            stage->port_word[port / 64].matched |= UINT64_C(1) << (port % 64);
        }
        if (!leaves) continue;
        struct buffer *in = buffer_at(input->buffers, (size_t)lowest_bit(winners) << shift);
        in->target->spent |= in->target_bit;
        *ended = in;
        ended += --in->left == 0; /* which packets end is as good as random, too */
    }
    for (struct buffer **next = stage->ended; leaves && next != ended; next++) {
        (*next)->word->ended |= (*next)->bit;
        end_packet(stage, *next, false, true);
    }
}

static NEVER_INLINE void match_in_word(struct router_stage *stage, unsigned offered) {
    match_switch(stage, offered, 1, true, false);
}
static NEVER_INLINE void match_in_words(struct router_stage *stage, unsigned offered, bool first) {
    match_switch(stage, offered, stage->span, first, false);
}
static NEVER_INLINE void match_and_leave(struct router_stage *stage, unsigned offered) {
    match_switch(stage, offered, 1, true, true);
}

void router_stage_allocate_switch(struct router_stage *stage) {
    bool simple = stage->span == 1 && stage->input_speedup == 1;
    for (unsigned i = 0; i < stage->iterations; i++) {
        bool in_word = simple && i == 0;
        unsigned offered = in_word ? grant_in_word(stage) : grant_in_words(stage, i == 0);
        if (!offered) break;
        if (in_word)
            match_in_word(stage, offered);
        else
            match_in_words(stage, offered, i == 0);
    }
    if (stage->iterations == 1) return;
    for (unsigned word = 0; word < stage->in_words; word++) stage->in_word[word].matched = 0;
    for (unsigned word = 0; word < stage->port_words; word++) stage->port_word[word].matched = 0;
}

/* ---- switch traversal ------------------------------------------------------------------------------------------- */

/* Internal speedup and several VCs: flit and credit are each sent when their link is free. */
static void leave_late(struct router_stage *stage, uint64_t step, const struct buffer *in, uint32_t number) {
    uint32_t port = (uint32_t)(in->output - stage->output) >> stage->vc_shift, input = number >> stage->vc_shift;
    uint64_t leave = max_u64((step + stage->traversal_steps) / 2, stage->link_free[port]),
             at = leave + stage->out->flit_cycles;
    stage->link_free[port] = leave + 1;
    timeline_row(stage->out->time, at)[stage->out->arriving + (unsigned)(in->target - stage->out->word)] |=
        in->target_bit;
    timeline_mark(stage->out->time, at);
    if (stage->credit_step[input] != step + 1) {
        stage->credit_step[input] = step + 1;
        stage->credit_free[input] = max_u64(step / 2, stage->credit_free[input]) + 1;
    }
    at = stage->credit_free[input] - 1 + stage->in->credit_cycles;
    timeline_row(stage->in->time, at)[stage->in->returning + number / 64] |= UINT64_C(1) << (number % 64);
    timeline_mark(stage->in->time, at);
}

static ALWAYS_INLINE unsigned planes_of(const struct router_stage *stage, struct loop loop) {
    return loop.common_case ? TALLY_UNROLLED : stage->planes;
}

/* Each input VC that won the switch sends a flit to the buffer at the far end of its link. */
static ALWAYS_INLINE void leave(struct router_stage *stage, uint64_t step, unsigned word, uint64_t sending,
                                struct loop loop) {
    unsigned shift = stage->input.shift;
    unsigned char *memory = stage->input.memory + ((size_t)word * 64 << shift);
    struct input_word *in_word = &stage->in_word[word];
    uint64_t ended = 0, spent = 0;
    bool one_word = loop.single && words_of(stage->out_words, loop) == 1; /* of targets */
    if (loop.narrow) {
        ended = in_word->ended;
        in_word->ended = 0;
    }
    for (uint64_t rest = loop.narrow ? 0 : sending; rest; rest &= rest - 1) {
        unsigned index = lowest_bit(rest);
        struct buffer *in = buffer_at(memory, (size_t)index << shift);
        if (one_word)
            spent |= in->target_bit;
        else
            in->target->spent |= in->target_bit;
        if (!loop.single && loop.fast) leave_late(stage, step, in, word * 64 + index);
        if (--in->left) continue;
        ended |= rest & -rest;
        end_packet(stage, in, loop.single, false);
    }
    if (one_word) stage->out->word->spent |= spent;
    in_word->nonempty = tally_take(&in_word->filled, planes_of(stage, loop), sending);
    in_word->go &= ~ended;
    in_word->fresh |= ended & in_word->nonempty;
    in_word->idle |= ended & ~in_word->nonempty;
}

/* Stops the owners of output VCs without credits. The VC of a packet that has just ended has no owner. */
static void stop_owners(struct router_stage *stage, unsigned word, uint64_t exhausted) {
    for (; exhausted; exhausted &= exhausted - 1) {
        const struct buffer *owner = stage->owner[word * 64 + lowest_bit(exhausted)];
        if (owner) owner->word->go &= ~owner->bit;
    }
}

/* A longer traversal: `spent` enters the switch; returns the flits that leave it. */
static NEVER_INLINE uint64_t cross_slowly(struct router_stage *stage, struct output_word *out, uint64_t step,
                                          uint64_t spent) {
    out->crossing[(step + stage->traversal_steps - 1) % 8] = spent;
    uint64_t crossed = out->crossing[step % 8];
    out->crossing[step % 8] = 0;
    stage->crossing_steps += (spent != 0) - (unsigned)(crossed != 0);
    return crossed;
}

/* One step, except for spending credits. Allocations see the state at the start of the step: VC allocation runs first
 * but takes effect last, so that a packet needs one step for each, and an output VC that is freed in this step is
 * allocated in the next. Routes are known at the end of the step, with lookahead at its start. Without internal speedup
 * the credits of the freed space start in `returning`. Returns 0 if no flit left. */
static ALWAYS_INLINE uint64_t run_step(struct router_stage *stage, uint64_t step, uint64_t *returning,
                                       struct loop loop) {
    uint64_t moved = 0;
    unsigned words = words_of(stage->in_words, loop);
    for (unsigned word = 0; stage->lookahead && word < words; word++)
        if (stage->in_word[word].fresh) compute_routes(stage, word);
    allocate_vcs(stage, loop);
    if (loop.narrow)
        match_and_leave(stage, grant_in_word(stage));
    else if (!loop.single)
        router_stage_allocate_switch(stage);
    for (unsigned word = 0; word < words; word++) {
        struct input_word *in = &stage->in_word[word];
        uint64_t sending = loop.single ? in->nonempty & in->go : in->sending;
        if (loop.single && loop.fast) in->sent = in->sending;
        if (loop.single && loop.fast) in->sending = sending;
        if (!loop.single && !(sending | in->fresh | in->granted)) continue;
        if (!loop.single) in->sending = 0;
        if (in->fresh) compute_routes(stage, word);
        if (sending) leave(stage, step, word, sending, loop);
        assert(loop.fast || !(returning[word] & sending)); /* a link carries one credit per VC and cycle */
        if (!loop.fast) returning[word] |= sending;
        in->go |= in->granted;
        in->granted = 0;
        moved |= sending;
    }
    return moved;
}

/* Spends the credits of the flits that have left. Returns their targets, by VC of one word of the link's mask. */
static ALWAYS_INLINE uint64_t spend_credits(struct router_stage *stage, unsigned word, struct loop loop) {
    uint64_t spent = stage->out->word[word].spent;
    if (!spent) return 0;
    stage->out->word[word].spent = 0;
    uint64_t exhausted = link_spend(stage->out, word, planes_of(stage, loop), spent);
    if (exhausted) stop_owners(stage, word, exhausted);
    return spent;
}

static inline bool several_bits(uint64_t mask) { return (mask & (mask - 1)) != 0; }

/* Without internal speedup a flit that leaves is on its link at once. */
static ALWAYS_INLINE void run_plain(struct router_stage *stage, uint64_t cycle, struct loop loop) {
    struct link *in = stage->in, *out = stage->out;
    uint64_t flits_at = cycle + out->flit_cycles + stage->traversal_steps, credits_at = cycle + in->credit_cycles;
    uint64_t *arriving = timeline_row(out->time, flits_at) + out->arriving,
             *returning = timeline_row(in->time, credits_at) + in->returning;
    uint64_t moved = run_step(stage, cycle, returning, loop);
    stage->busy = several_bits(moved);
    if (!moved) return;
    for (unsigned word = 0; word < stage->out_words; word++) {
        uint64_t flits = spend_credits(stage, word, loop);
        assert(!(arriving[word] & flits));
        arriving[word] |= flits;
    }
    timeline_mark(out->time, flits_at);
    timeline_mark(in->time, credits_at);
}

static NEVER_INLINE void run_single(struct router_stage *stage, uint64_t cycle) {
    run_plain(stage, cycle, (struct loop){.single = true});
}
static NEVER_INLINE void run_single_common(struct router_stage *stage, uint64_t cycle) {
    run_plain(stage, cycle, (struct loop){.single = true, .common_case = true});
}
static NEVER_INLINE void run_several(struct router_stage *stage, uint64_t cycle) {
    run_plain(stage, cycle, (struct loop){0});
}

static NEVER_INLINE void run_several_narrow(struct router_stage *stage, uint64_t cycle) {
    run_plain(stage, cycle, (struct loop){.narrow = true, .common_case = true});
}

/* Several VCs and internal speedup: flits and credits are assigned a cycle of their link as they leave. */
static NEVER_INLINE void run_several_fast(struct router_stage *stage, uint64_t cycle) {
    const struct loop loop = {.fast = true};
    for (uint64_t step = 2 * cycle; step < 2 * cycle + 2; step++) {
        uint64_t moved = run_step(stage, step, NULL, loop);
        stage->busy = several_bits(moved);
        if (!moved) continue;
        for (unsigned word = 0; word < stage->out_words; word++) spend_credits(stage, word, loop);
    }
}

/* The flits that leave the switch in this step. */
static ALWAYS_INLINE uint64_t cross(struct router_stage *stage, uint64_t step, unsigned word, struct loop loop) {
    uint64_t spent = spend_credits(stage, word, loop);
    return !loop.common_case && UNLIKELY(stage->traversal_steps > 1)
               ? cross_slowly(stage, &stage->out_word[word], step, spent)
               : spent;
}

/* One VC and internal speedup: in cycle c a link carries one of the flits that have crossed by step 2c, and one of the
 * credits of the steps up to 2c + 1. */
static ALWAYS_INLINE void run_twice(struct router_stage *stage, uint64_t cycle, struct loop loop) {
    struct link *in = stage->in, *out = stage->out;
    uint64_t flits_at = cycle + out->flit_cycles, credits_at = cycle + in->credit_cycles, sent = 0, repaid = 0;
    unsigned in_words = words_of(stage->in_words, loop), out_words = words_of(stage->out_words, loop);
    uint64_t moved = run_step(stage, 2 * cycle, NULL, loop);
    uint64_t *arriving = timeline_row(out->time, flits_at) + out->arriving;
    for (unsigned word = 0; word < out_words; word++) {
        struct output_word *links = &stage->out_word[word];
        uint64_t flits =
            queue_pass(&links->queued, planes_of(stage, loop), links->crossed, cross(stage, 2 * cycle, word, loop));
        assert(!(arriving[word] & flits));
        arriving[word] |= flits;
        sent |= flits;
    }
    if (sent) timeline_mark(out->time, flits_at);
    moved |= run_step(stage, 2 * cycle + 1, NULL, loop);
    for (unsigned word = 0; word < out_words; word++)
        stage->out_word[word].crossed = cross(stage, 2 * cycle + 1, word, loop);
    uint64_t *returning = timeline_row(in->time, credits_at) + in->returning;
    for (unsigned word = 0; word < in_words; word++) {
        struct input_word *links = &stage->in_word[word];
        uint64_t credits = queue_pass(&links->owed, planes_of(stage, loop), links->sent, links->sending);
        assert(!(returning[word] & credits));
        returning[word] |= credits;
        repaid |= credits;
    }
    if (repaid) timeline_mark(in->time, credits_at);
    stage->busy = several_bits(moved);
}

static NEVER_INLINE void run_single_fast(struct router_stage *stage, uint64_t cycle) {
    run_twice(stage, cycle, (struct loop){.single = true, .fast = true});
}
static NEVER_INLINE void run_single_fast_common(struct router_stage *stage, uint64_t cycle) {
    run_twice(stage, cycle, (struct loop){.single = true, .fast = true, .common_case = true});
}

static NEVER_INLINE void run_single_fast_word(struct router_stage *stage, uint64_t cycle) {
    run_twice(stage, cycle, (struct loop){.single = true, .fast = true, .common_case = true, .one_word = true});
}

/* Whether the next cycle has work even if nothing arrives. */
static NEVER_INLINE bool anything_left(const struct router_stage *stage) {
    uint64_t any = stage->crossing_steps;
    const struct input_word *in = stage->in_word, *in_end = in + stage->in_words;
    do any |= (in->go & in->nonempty) | in->fresh | in->owed.some;
    while (++in != in_end);
    const struct port_word *port = stage->port_word, *port_end = port + stage->port_words;
    do any |= port->want & port->open;
    while (++port != port_end);
    if (!stage->fast) return any != 0;
    for (const struct output_word *out = stage->out_word, *end = out + stage->out_words; out != end; out++)
        any |= out->queued.some | out->crossed;
    return any != 0;
}

/* The loop of a stage that has not run yet: chooses the one that it will use, and runs it. */
static NEVER_INLINE void run_first(struct router_stage *stage, uint64_t cycle) {
    bool single = stage->vcs == 1 && !*stage->plain;
    if (single && stage->common_case && stage->fast && stage->one_word)
        stage->loop = run_single_fast_word;
    else if (single && stage->common_case)
        stage->loop = stage->fast ? run_single_fast_common : run_single_common;
    else if (single)
        stage->loop = stage->fast ? run_single_fast : run_single;
    else if (!*stage->plain && stage->narrow && stage->common_case && !stage->fast)
        stage->loop = run_several_narrow;
    else
        stage->loop = stage->fast ? run_several_fast : run_several;
    stage->loop(stage, cycle);
}

void router_stage_run(struct router_stage *stage, uint64_t cycle) {
    stage->loop(stage, cycle);
    stage->active = stage->busy || anything_left(stage);
}
