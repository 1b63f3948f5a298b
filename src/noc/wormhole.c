#include "noc/wormhole.h"

#include <stdio.h>
#include <stdlib.h>

/* Flits in consecutive cycles: flit number `first` in cycle `time`, and so on up to the next run. Time 0: no flit. */
struct run {
    uint64_t time;
    uint32_t first;
};

/* A packet whose delivery is not known. */
struct pending {
    struct message message;
    uint64_t start; /* when it left its injection queue */
    uint32_t flits;
    uint32_t output;
    uint64_t spare[2];
};
_Static_assert(sizeof(struct pending) == 64, "found by a shift");

/* A packet that has been or will be delivered. */
struct delivery {
    uint64_t at, start;
};

/* Flits and packets are counted by free-running numbers. A number, masked, is the position in a ring: [ports] of
 * 1 << ring_shift. */
struct wormhole_input {
    uint64_t last_sent, last_left;
    uint64_t free_at;        /* when it can accept a packet; NEVER if unknown */
    uint32_t accepted;       /* flits of all packets accepted, */
    uint32_t sent, left;     /* and those whose times are known */
    uint32_t first, packets; /* the first packet whose last flit has no known time of leaving; all packets accepted */
    uint32_t last_repaid;    /* its last run in `repaid` */
    uint64_t *sent_at;       /* its rings: when a flit was sent, */
    struct run *repaid;      /* when the credit of the space that it left returns, */
    struct pending *queue;   /* and packets */
    uint64_t spare[7];
};

struct wormhole_output {
    uint64_t last_left, last_ejected; /* last_left is at least the cycle of the last grant */
    uint64_t granted_at;              /* cycle of the last grant */
    uint64_t waiting;                 /* inputs that request it */
    uint32_t owner;                   /* input whose packet is not known to have left; NOBODY if none */
    uint32_t unleft, unejected;       /* flits without a known time, of the owner and of the last packet admitted */
    uint32_t left, ejected;           /* flits whose times are known */
    uint32_t delivered, admitted, granted; /* packets */
    uint32_t limit;                        /* packets that can be admitted to the places known to be free */
    uint32_t pointer;                      /* round robin over the inputs */
    uint32_t destination;
    uint32_t last_freed;       /* its last run in `freed` */
    struct run *freed;         /* its rings: when the credit of a flit returns, */
    uint64_t *crossed_at;      /* when a flit arrives at the ejector, */
    struct pending *leaving;   /* packets that have been granted the output and are delayed, */
    struct delivery *delivery; /* and deliveries */
    uint64_t spare[2];
};
_Static_assert(sizeof(struct wormhole_input) == 128 && sizeof(struct wormhole_output) == 128, "found by a shift");

/* Events of a cycle, as masks of inputs or outputs. */
enum { ROW_ACCEPT, ROW_REQUEST, ROW_OPEN, ROW_ADMIT, ROW_WORDS };
struct row {
    uint64_t word[ROW_WORDS];
};

struct wormhole {
    struct network *network;
    struct injection *injection;
    const uint16_t *route;
    struct engine *engine;
    struct waker waker;
    struct row *row; /* [row_mask + 1]: events of the coming cycles */
    uint32_t row_mask;
    unsigned inputs, outputs;
    unsigned vc_flits;
    unsigned link,
        credit; /* of the input links: cycles of a flit, and from leaving a buffer until the credit returns */
    unsigned out_link, out_credit; /* of the output links; the traversal of the switch included */
    unsigned routing;              /* cycles of route computation */
    bool direct;                   /* a packet can take part in the allocation of the cycle after its acceptance */
    unsigned ring_shift, ring_mask;
    uint64_t arrived;                  /* inputs with a message */
    uint64_t asked;                    /* outputs that may be allocated in this cycle */
    uint64_t held;                     /* outputs whose next packet has not been admitted */
    uint64_t allocated;                /* grants of all outputs */
    uint64_t flits;                    /* of all packets accepted */
    uint64_t delivered, packet_cycles; /* of all packets whose delivery is known */
    struct wormhole_input *input;      /* [inputs] */
    struct wormhole_output *output;    /* [outputs] */
    uint64_t *sent;                    /* rings of inputs: when a flit was sent, */
    struct run *repaid;                /* when the credit of the space that it left returns, */
    struct pending *queue;             /* and packets */
    uint64_t *crossed;                 /* rings of outputs: when a flit arrives at the ejector, */
    struct run *freed;                 /* when its credit returns, */
    struct pending *leaving;           /* packets, */
    struct delivery *delivery;         /* and deliveries */
};

/* ---- building --------------------------------------------------------------------------------------------------- */

static bool fits(const struct network *network, const struct router_stage *stage, const struct injection *injection) {
    return stage->one_word && !stage->fast && injection->simple && stage->out != stage->in &&
           network->destinations == stage->output_ports && network->clock.domain == network->clock.core &&
           !network->topology->can_bypass;
}

struct wormhole *wormhole_create(struct network *network, const struct router_stage *stage,
                                 struct injection *injection) {
    if (!fits(network, stage, injection)) return NULL;
    struct wormhole *x = mem_alloc(1, sizeof *x);
    unsigned vc_flits = (unsigned)network->config->vc_flits, longest = 0;
    for (unsigned sectors = 0; sectors < COUNT_OF(injection->flits_of[0]); sectors++)
        if (injection->flits_of[MESSAGE_DATA][sectors] > longest) longest = injection->flits_of[MESSAGE_DATA][sectors];
    *x = (struct wormhole){
        .network = network,
        .injection = injection,
        .route = stage->route,
        .engine = network->engine,
        .waker = network->waker,
        .inputs = stage->inputs,
        .outputs = stage->outputs,
        .vc_flits = vc_flits,
        .link = stage->in->flit_cycles,
        .credit = stage->in->credit_cycles,
        .out_link = stage->out->flit_cycles + stage->traversal_steps,
        .out_credit = stage->out->credit_cycles,
        .routing = stage->lookahead ? 0 : 1,
    };
    x->direct = x->link + x->routing == 1;
    /* A ring holds the flits of a buffer, those of a packet in the future, and those on a link. */
    x->ring_shift = log2_floor(round_up_power_of_two(vc_flits + longest + x->link + 2));
    x->ring_mask = (1u << x->ring_shift) - 1;
    /* Between two flits that use the same space of a buffer lie at most both loops of credits. */
    unsigned loops = x->link + x->credit + x->out_link + x->out_credit + 4;
    x->row_mask = (uint32_t)round_up_power_of_two((longest / vc_flits + 2) * loops + longest + vc_flits + 1) - 1;
    if (x->row_mask >= ENGINE_WHEEL) { /* events would be beyond what engine_wake_near() covers */
        free(x);
        return NULL;
    }
    x->row = mem_alloc_lines(x->row_mask + 1, sizeof *x->row);
    size_t ins = (size_t)x->inputs << x->ring_shift, outs = (size_t)x->outputs << x->ring_shift;
    x->input = mem_alloc_lines(x->inputs, sizeof *x->input);
    x->output = mem_alloc_lines(x->outputs, sizeof *x->output);
    x->sent = mem_alloc_lines(ins, sizeof *x->sent);
    x->repaid = mem_alloc_lines(ins, sizeof *x->repaid);
    x->queue = mem_alloc_lines(ins, sizeof *x->queue);
    x->crossed = mem_alloc_lines(outs, sizeof *x->crossed);
    x->freed = mem_alloc_lines(outs, sizeof *x->freed);
    x->leaving = mem_alloc_lines(outs, sizeof *x->leaving);
    x->delivery = mem_alloc_lines(outs, sizeof *x->delivery);
    for (unsigned i = 0; i < x->inputs; i++) {
        x->input[i].sent_at = x->sent + ((size_t)i << x->ring_shift);
        x->input[i].repaid = x->repaid + ((size_t)i << x->ring_shift);
        x->input[i].queue = x->queue + ((size_t)i << x->ring_shift);
    }
    for (unsigned i = 0; i < x->outputs; i++) {
        x->output[i].owner = NOBODY;
        x->output[i].freed = x->freed + ((size_t)i << x->ring_shift);
        x->output[i].crossed_at = x->crossed + ((size_t)i << x->ring_shift);
        x->output[i].leaving = x->leaving + ((size_t)i << x->ring_shift);
        x->output[i].delivery = x->delivery + ((size_t)i << x->ring_shift);
    }
    for (unsigned i = 0; i < network->destinations; i++) x->output[x->route[i]].destination = i;
    return x;
}

void wormhole_destroy(struct wormhole *x) {
    if (!x) return;
    void *const blocks[] = {x->row,   x->input,   x->output, x->sent,    x->repaid,
                            x->queue, x->crossed, x->freed,  x->leaving, x->delivery};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
    free(x);
}

/* ---- times of flits --------------------------------------------------------------------------------------------- */

static inline void schedule(struct wormhole *x, uint64_t cycle, unsigned word, unsigned index) {
    assert(cycle > x->engine->now && cycle - x->engine->now <= x->row_mask);
    x->row[cycle & x->row_mask].word[word] |= UINT64_C(1) << index;
    engine_wake_near(x->engine, x->waker, cycle);
}

/* The flits from number `first` on begin a run in cycle `time`. */
static inline void run_start(struct run *ring, uint32_t mask, uint32_t *last, uint32_t first, uint64_t time) {
    ring[++*last & mask] = (struct run){time, first};
}

/* The next flit, which may continue the last run. */
static inline void run_add(struct run *ring, uint32_t mask, uint32_t *last, uint32_t number, uint64_t time) {
    const struct run *run = &ring[*last & mask];
    if (time != run->time + (number - run->first)) run_start(ring, mask, last, number, time);
}

/* The run of a flit. Its time is 0 if there is no such flit. */
static inline uint32_t run_of(const struct run *ring, uint32_t mask, uint32_t last, uint32_t number) {
    const struct run *run = &ring[last & mask];
    while ((int32_t)(number - run->first) < 0 && run->time) run = &ring[--last & mask];
    return last;
}

/* The cycle of a flit; 0 if there is no such flit. */
static inline uint64_t run_time(const struct run *ring, uint32_t mask, uint32_t last, uint32_t number) {
    const struct run *run = &ring[run_of(ring, mask, last, number) & mask];
    return run->time ? run->time + (number - run->first) : 0;
}

/* Times of consecutive cycles from `time` on, for the flits of a ring from number `first` on. */
static inline void set_times(uint64_t *ring, uint32_t mask, uint32_t first, uint32_t flits, uint64_t time) {
    do ring[first++ & mask] = time++;
    while (--flits);
}

/* Sends `flits` of an input, for which credits are known. */
static NEVER_INLINE void send_some(struct wormhole_input *in, uint32_t flits, uint32_t space, uint32_t mask) {
    uint64_t *sent = in->sent_at, at = in->last_sent;
    uint32_t number = in->sent, end = number + flits, last = in->last_repaid;
    uint32_t current = run_of(in->repaid, mask, last, number - space);
    do {
        const struct run *run = &in->repaid[current & mask];
        at = max_u64(at + 1, run->time ? run->time + (number - space - run->first) : 0);
        sent[number++ & mask] = at;
        if (current != last && in->repaid[(current + 1) & mask].first == number - space) current++;
    } while (number != end);
    in->sent = number;
    in->last_sent = at;
}

/* Sends the flits of an input for which credits are known. */
static inline void send(struct wormhole *x, unsigned index) {
    struct wormhole_input *in = &x->input[index];
    uint32_t flits = in->accepted - in->sent, known = x->vc_flits - (in->sent - in->left), mask = x->ring_mask;
    if (!known) return;
    bool all = flits <= known;
    if (!all) flits = known;
    uint32_t end = in->sent + flits;
    uint64_t credit = run_time(in->repaid, mask, in->last_repaid, end - 1 - x->vc_flits), last = in->last_sent + flits;
    if (credit <= last || flits == 1) { /* credits return in order, so that no other delays a flit */
        last = max_u64(last, credit);
        set_times(in->sent_at, mask, in->sent, flits, last + 1 - flits);
        in->sent = end;
        in->last_sent = last;
    } else {
        send_some(in, flits, x->vc_flits, mask);
    }
    if (!all || in->free_at != NEVER) return;
    in->free_at = in->last_sent + 1;
    if (x->arrived >> index & 1) schedule(x, in->free_at, ROW_ACCEPT, index);
}

static inline const struct pending *first_packet(const struct wormhole *x, const struct wormhole_input *in) {
    return &in->queue[in->first & x->ring_mask];
}

/* The first packet of an input takes part in the next allocation of its output. */
static inline void request(struct wormhole *x, unsigned index) {
    unsigned output = first_packet(x, &x->input[index])->output;
    x->output[output].waiting |= UINT64_C(1) << index;
    x->asked |= UINT64_C(1) << output;
}

/* It does so once it is at the front of the buffer and its route is known. */
static inline void request_in_time(struct wormhole *x, unsigned index, uint64_t now) {
    struct wormhole_input *in = &x->input[index];
    uint64_t arrival = in->sent_at[in->left & x->ring_mask] + x->link;
    uint64_t at = max_u64(arrival, in->last_left + 1) + x->routing;
    if (at > now + 1)
        schedule(x, at - 1, ROW_REQUEST, index);
    else
        request(x, index);
}

/* Flits of the output's owner leave the router, as far as its credits are known. */
static void leave(struct wormhole *x, unsigned index) {
    struct wormhole_output *out = &x->output[index];
    struct wormhole_input *in = &x->input[out->owner];
    uint32_t mask = x->ring_mask, room = x->vc_flits - (out->left - out->ejected);
    uint32_t count = out->unleft < room ? out->unleft : room;
    uint64_t at = out->last_left;
    for (uint32_t i = 0; i < count; i++) {
        if (in->sent == in->left) send(x, out->owner);
        at = max_u64(max_u64(at + 1, in->sent_at[in->left & mask] + x->link),
                     run_time(out->freed, mask, out->last_freed, out->left - x->vc_flits));
        run_add(in->repaid, mask, &in->last_repaid, in->left++, at + x->credit);
        out->crossed_at[out->left++ & mask] = at + x->out_link;
    }
    out->unleft -= count;
    out->last_left = at;
    if (count) in->last_left = at;
}

/* Whether the destination has a place for another packet, whose head arrives in cycle `at`. The port is read only when
 * all known places are taken. A gate that is open in cycle `at` by the credits that are known stays so with further ones. */
static inline bool has_place(struct wormhole *x, struct wormhole_output *out, uint64_t at, uint64_t now) {
    if (LIKELY(out->admitted != out->limit)) return true;
    struct port *port = &x->network->output[out->destination];
    out->limit = port->pushed + port_credits(port, now);
    if (UNLIKELY(port->gate) && out->admitted != out->limit) /* asked for each packet */
        out->limit = out->admitted + port_is_open(port, max_u64(at, now));
    return out->admitted != out->limit;
}

/* Admits the output's next packet, whose head arrives or has arrived, if it can. A place that is known now is still
 * there when the head arrives. */
static bool admit(struct wormhole *x, unsigned index, uint64_t now) {
    struct wormhole_output *out = &x->output[index];
    uint64_t arrival = out->crossed_at[out->ejected & x->ring_mask], at = max_u64(arrival, out->last_ejected + 1);
    uint64_t bit = UINT64_C(1) << index;
    if (UNLIKELY(!has_place(x, out, at, now))) {
        if (at > now) {
            schedule(x, at, ROW_ADMIT, index);
        } else {
            if (!(x->held & bit) && arrival == now) x->network->stats.ejection_stalls++;
            x->held |= bit;
            port_await_credit(&x->network->output[out->destination], now);
        }
        return false;
    }
    x->held &= ~bit;
    out->unejected = out->leaving[out->admitted & x->ring_mask].flits;
    out->admitted++;
    out->last_ejected = max_u64(out->last_ejected, now - 1); /* not before the admission */
    return true;
}

/* The output's next packet is delivered in cycle `at`, when its last flit leaves the network. The push is made as soon
 * as this cycle is known: the destination sees the message when it would see that of a push in cycle `at`. */
static inline void deliver(struct wormhole *x, struct wormhole_output *out, const struct message *message,
                           uint64_t start, uint64_t at, uint64_t now) {
    struct port *port = &x->network->output[out->destination];
    assert(!port->watch); /* which tells only of messages of the next cycle */
    port_push_late(port, now, at - now, message, sizeof *message);
    out->delivery[out->delivered++ & x->ring_mask] = (struct delivery){at, start};
    x->delivered++;
    x->packet_cycles += at - start;
}

/* Flits leave the network, as far as their packets have been admitted. */
static void eject(struct wormhole *x, unsigned index, uint64_t now) {
    struct wormhole_output *out = &x->output[index];
    uint32_t mask = x->ring_mask;
    while (out->ejected != out->left) {
        if (!out->unejected && !admit(x, index, now)) return;
        uint32_t known = out->left - out->ejected, count = out->unejected < known ? out->unejected : known;
        uint64_t at = out->last_ejected;
        for (uint32_t i = 0; i < count; i++, out->ejected++) {
            at = max_u64(at + 1, out->crossed_at[out->ejected & mask]);
            run_add(out->freed, mask, &out->last_freed, out->ejected, at + x->out_credit);
        }
        out->last_ejected = at;
        out->unejected -= count;
        if (out->unejected) return;
        const struct pending *packet = &out->leaving[out->delivered & mask];
        deliver(x, out, &packet->message, packet->start, at, now);
    }
}

/* All flits of a packet leave the router in consecutive cycles from `at` on, and the network as they arrive. */
static inline void pass(struct wormhole *x, struct wormhole_input *in, struct wormhole_output *out, uint32_t flits,
                        uint64_t at) {
    uint64_t ejected = max_u64(at + x->out_link, out->last_ejected + 1);
    uint32_t mask = x->ring_mask;
    run_start(in->repaid, mask, &in->last_repaid, in->left, at + x->credit);
    run_start(out->freed, mask, &out->last_freed, out->left, ejected + x->out_credit);
    in->left += flits;
    out->left = out->ejected = out->left + flits;
    in->last_left = out->last_left = at + flits - 1;
    out->last_ejected = ejected + flits - 1;
    out->unleft = 0;
    out->admitted++;
}

/* Whether neither a credit nor the destination delays the flits of a packet that leave the router in consecutive cycles
 * from `at` on. The credit of the last flit that was ejected is needed by the last one that fits into the buffer. */
static inline bool unhindered(struct wormhole *x, struct wormhole_output *out, uint32_t flits, uint64_t at,
                              uint64_t now) {
    return flits <= x->vc_flits && out->ejected == out->left && !out->unejected &&
           out->last_ejected + x->out_credit <= at + x->vc_flits - 1 &&
           has_place(x, out, max_u64(at + x->out_link, out->last_ejected + 1), now);
}

/* The common case: the flits of the output's owner have been sent in consecutive cycles, or wait together, and nothing
 * delays them. Returns false if this is not known. */
static inline bool stream(struct wormhole *x, struct wormhole_output *out, struct wormhole_input *in,
                          const struct pending *packet, uint64_t now) {
    uint32_t flits = out->unleft, from = in->left, mask = x->ring_mask;
    const uint64_t *sent = in->sent_at;
    if (in->sent - from < flits) return false;
    uint64_t at = max_u64(out->last_left + 1, sent[from & mask] + x->link);
    if (sent[(from + flits - 1) & mask] + x->link > at + flits - 1 || !unhindered(x, out, flits, at, now)) return false;
    pass(x, in, out, flits, at);
    deliver(x, out, &packet->message, packet->start, out->last_ejected, now);
    return true;
}

/* The general case: as many flits leave the router and the network as have known times. */
static NEVER_INLINE void trickle(struct wormhole *x, struct wormhole_output *out, unsigned index, uint64_t now) {
    uint32_t before;
    do {
        before = out->ejected;
        if (out->owner != NOBODY) leave(x, index);
        eject(x, index, now);
    } while (out->owner != NOBODY && out->unleft && out->ejected != before);
}

/* Computes what is known of the packets of an output with an owner, whose packet is `packet`. */
static ALWAYS_INLINE void advance_owner(struct wormhole *x, unsigned index, const struct pending *packet,
                                        uint64_t now) {
    struct wormhole_output *out = &x->output[index];
    uint32_t owner = out->owner;
    struct wormhole_input *in = &x->input[owner];
    if (!stream(x, out, in, packet, now)) {
        struct pending *leaving = &out->leaving[(out->granted - 1) & x->ring_mask];
        if (packet != leaving) *leaving = *packet;
        trickle(x, out, index, now);
    }
    if (!out->unleft) {
        out->owner = NOBODY;
        if (out->waiting) schedule(x, out->last_left, ROW_OPEN, index);
        in->first++;
    }
    if (in->sent != in->accepted) send(x, owner);
    if (!out->unleft && in->first != in->packets) request_in_time(x, owner, now);
}

static NEVER_INLINE void advance(struct wormhole *x, unsigned index, uint64_t now) {
    struct wormhole_output *out = &x->output[index];
    if (out->owner == NOBODY)
        trickle(x, out, index, now);
    else
        advance_owner(x, index, &out->leaving[(out->granted - 1) & x->ring_mask], now);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* The shortest way through the network: a packet that has just been accepted, at an input without others, for an output
 * that is free and that no other input requests. It does what accepting, allocating and advancing do for such a packet.
 * Returns false if it is not one. */
static inline bool express(struct wormhole *x, unsigned index, unsigned output, const struct message *message,
                           uint32_t flits, uint64_t now) {
    struct wormhole_input *in = &x->input[index];
    struct wormhole_output *out = &x->output[output];
    uint64_t at = now + 2; /* the cycle after the allocation */
    if (!x->direct || in->first != in->packets || in->last_left > now ||
        in->last_left + x->credit >= now + x->vc_flits || out->owner != NOBODY || out->waiting ||
        out->last_left > now || !unhindered(x, out, flits, at, now))
        return false;
    set_times(in->sent_at, x->ring_mask, in->sent, flits, now);
    in->accepted = in->sent = in->sent + flits;
    in->last_sent = now + flits - 1;
    in->free_at = now + flits;
    in->first = ++in->packets;
    if (x->arrived >> index & 1) schedule(x, in->free_at, ROW_ACCEPT, index);
    out->pointer = index + 1;
    out->granted++;
    out->granted_at = now + 1;
    x->allocated++;
    pass(x, in, out, flits, at);
    deliver(x, out, message, now, out->last_ejected, now);
    return true;
}

/* `contended`: outputs that several inputs may request for the next cycle. */
static inline void accept(struct wormhole *x, unsigned index, uint64_t contended, uint64_t now) {
    struct wormhole_input *in = &x->input[index];
    struct port *port = &x->network->input[index];
    const struct message *message = port_take(port, now);
    uint32_t flits = injection_flits(x->injection, message);
    unsigned output = x->route[injection_destination(x->injection, message)];
    if (port->pushed == port->popped) x->arrived &= ~(UINT64_C(1) << index);
    x->network->stats.packets_injected++;
    x->flits += flits;
    if (!(contended >> output & 1) && express(x, index, output, message, flits, now)) return;
    struct pending *packet = &in->queue[in->packets & x->ring_mask];
    packet->message = *message;
    packet->start = now;
    packet->flits = flits;
    packet->output = output;
    in->accepted += flits;
    in->last_sent = max_u64(in->last_sent, now - 1);
    in->free_at = NEVER;
    send(x, index);
    if (in->packets++ == in->first) request_in_time(x, index, now);
}

/* Of these inputs, which have a message, those that accept it now. The others are looked at again when they have sent
 * their packet; those whose message is not visible yet, in the next cycle. */
static inline uint64_t ready_inputs(struct wormhole *x, uint64_t inputs, uint64_t now) {
    uint64_t ready = inputs;
    for (; inputs; inputs &= inputs - 1) {
        unsigned index = lowest_bit(inputs);
        uint64_t free_at = x->input[index].free_at;
        if (LIKELY(free_at <= now && port_next_visible(&x->network->input[index]) <= now)) continue;
        ready ^= inputs & -inputs;
        if (free_at != NEVER) schedule(x, max_u64(free_at, now + 1), ROW_ACCEPT, index);
    }
    return ready;
}

/* The outputs to which the next packets of several of these inputs go. */
static NEVER_INLINE uint64_t contended_outputs(const struct wormhole *x, uint64_t inputs) {
    uint64_t once = 0, again = 0;
    for (; inputs; inputs &= inputs - 1) {
        const struct port *port = &x->network->input[lowest_bit(inputs)];
        const void *message = port->slot[port->popped & port->mask].message;
        uint64_t bit = UINT64_C(1) << x->route[network_destination(x->network, message)];
        again |= once & bit;
        once |= bit;
    }
    return again;
}

/* Allocates the output to the next of the inputs that request it, in cycle now + 1, if it is free by then. */
static void allocate(struct wormhole *x, unsigned index, uint64_t now) {
    struct wormhole_output *out = &x->output[index];
    if (!out->waiting || out->owner != NOBODY) return;
    if (out->last_left > now) {
        schedule(x, out->last_left, ROW_OPEN, index);
        return;
    }
    unsigned input = islip_first(out->waiting, out->pointer % 64); /* one beyond the last acts as the first */
    const struct pending *packet = first_packet(x, &x->input[input]);
    out->pointer = input + 1;
    out->waiting ^= UINT64_C(1) << input;
    out->owner = input;
    out->unleft = packet->flits;
    out->granted++;
    out->granted_at = out->last_left = now + 1;
    x->allocated++;
    advance_owner(x, index, packet, now);
}

/* Packets are admitted first, since their flits free places. Requests come before acceptances, so that a packet
 * that is accepted knows whether its output is requested. */
void wormhole_tick(struct wormhole *x, uint64_t now) {
    uint64_t *pushed = &x->injection->pushed[0][(now + 1) % 2];
    struct row *due = &x->row[now & x->row_mask], row = *due;
    *due = (struct row){0};
    uint64_t accepting = *pushed | row.word[ROW_ACCEPT], admitting = x->held | row.word[ROW_ADMIT];
    x->arrived |= *pushed;
    *pushed = 0;
    x->asked = row.word[ROW_OPEN];
    for (; admitting; admitting &= admitting - 1) {
        unsigned index = lowest_bit(admitting);
        /* A packet without a place waits for nothing else: only its admission tells more of the output's flits. */
        if (x->held & (admitting & -admitting) && !has_place(x, &x->output[index], now, now)) {
            port_await_credit(&x->network->output[x->output[index].destination], now); /* the last left a gate closed */
            continue;
        }
        advance(x, index, now);
    }
    for (uint64_t bits = row.word[ROW_REQUEST]; bits; bits &= bits - 1) request(x, lowest_bit(bits));
    accepting = ready_inputs(x, accepting & x->arrived, now);
    uint64_t contended = accepting & (accepting - 1) ? contended_outputs(x, accepting) : 0;
    for (; accepting; accepting &= accepting - 1) accept(x, lowest_bit(accepting), contended, now);
    for (uint64_t bits = x->asked; bits; bits &= bits - 1) allocate(x, lowest_bit(bits), now);
}

/* ---- counters and checks ------------------------------------------------------------------------------------------- */

/* Of `known` flits with times in a ring, in order, the number of those at or after `from`; then the same for runs. */
static uint32_t count_from(const struct wormhole *x, const uint64_t *times, unsigned index, uint32_t known,
                           uint64_t from) {
    const uint64_t *ring = times + ((size_t)index << x->ring_shift);
    uint32_t count = 0;
    while (count <= x->ring_mask && ring[(known - 1 - count) & x->ring_mask] >= from) count++;
    return count;
}

static uint32_t count_runs_from(const struct wormhole *x, const struct run *ring, uint32_t last, uint32_t known,
                                uint64_t from) {
    uint32_t first = known;
    for (uint32_t i = 0; i <= x->ring_mask; i++) {
        const struct run *run = &ring[(last - i) & x->ring_mask];
        uint64_t end = run->time + (first - run->first); /* one cycle after its last flit */
        if (!run->time || end <= from) break;
        first = run->time >= from ? run->first : first - (uint32_t)(end - from);
        if (run->time < from) break;
    }
    return known - first;
}

/* Whether the last of `known` packets is delivered at or after `from`. Earlier ones are delivered earlier. */
static bool is_delivered_from(const struct wormhole *x, const struct wormhole_output *out, uint32_t known,
                              uint64_t from) {
    return known && out->delivered - known <= x->ring_mask && out->delivery[(known - 1) & x->ring_mask].at >= from;
}

unsigned wormhole_packets(const struct wormhole *x) {
    uint64_t packets = x->network->stats.packets_injected - x->delivered;
    for (unsigned i = 0; i < x->outputs; i++) {
        const struct wormhole_output *out = &x->output[i];
        for (uint32_t number = out->delivered; is_delivered_from(x, out, number, x->network->engine->now); number--)
            packets++;
    }
    return (unsigned)packets;
}

void wormhole_settle(struct wormhole *x, uint64_t now, struct router_stats *router) {
    struct network_stats *stats = &x->network->stats;
    uint64_t injected = x->flits, written = injected, read = injected, ejected = injected, allocated = x->allocated,
             started = now > x->link ? now - x->link : 1, packets = x->delivered, cycles = x->packet_cycles;
    for (unsigned i = 0; i < x->inputs; i++) {
        const struct wormhole_input *in = &x->input[i];
        uint32_t unsent = in->accepted - in->sent, unleft = in->accepted - in->left;
        injected -= unsent + count_from(x, x->sent, i, in->sent, now);
        written -= unsent + count_from(x, x->sent, i, in->sent, started);
        read -= unleft + count_runs_from(x, in->repaid, in->last_repaid, in->left, now + x->credit);
        ejected -= unleft;
    }
    for (unsigned i = 0; i < x->outputs; i++) {
        const struct wormhole_output *out = &x->output[i];
        ejected -= out->left - out->ejected +
                   count_runs_from(x, out->freed, out->last_freed, out->ejected, now + x->out_credit);
        allocated -= out->granted_at >= now && out->granted;
        for (uint32_t number = out->delivered; is_delivered_from(x, out, number, now); number--) {
            const struct delivery *delivery = &out->delivery[(number - 1) & x->ring_mask];
            packets--;
            cycles -= delivery->at - delivery->start;
        }
    }
    stats->packets_ejected = packets;
    stats->packet_cycles = cycles;
    stats->flits_injected = injected;
    stats->flits_ejected = ejected;
    stats->flit_hops = read;
    *router = (struct router_stats){
        .buffer_writes = written,
        .buffer_reads = read,
        .vc_allocations = allocated,
        .switch_allocations = read,
        .crossbar_traversals = read,
        .link_traversals = read,
    };
}

void wormhole_explain(const struct wormhole *x, const char *name, FILE *out) {
    for (unsigned i = 0; i < x->inputs; i++) {
        const struct wormhole_input *in = &x->input[i];
        if (in->accepted == in->left) continue;
        unsigned output = first_packet(x, in)->output;
        fprintf(out, "%s network: input %u has %u flits to send and holds %u, %s output %u\n", name, i,
                in->accepted - in->sent, in->sent - in->left,
                x->output[output].owner == i ? "without credits for" : "waits for", output);
    }
    for (unsigned i = 0; i < x->outputs; i++)
        if (x->held >> i & 1)
            fprintf(out, "%s network: output %u holds %u flits that wait for space in the ejection queue\n", name, i,
                    x->output[i].left - x->output[i].ejected);
}

/* Credits return without an event. */
bool wormhole_conserved(const struct wormhole *x, const char *name, char *text, size_t size) {
    uint64_t now = x->network->engine->now;
    for (unsigned i = 0; i < x->inputs + x->outputs; i++) {
        bool input = i < x->inputs;
        unsigned index = input ? i : i - x->inputs;
        const struct wormhole_input *in = &x->input[input ? index : 0];
        const struct wormhole_output *out = &x->output[input ? 0 : index];
        uint32_t missing = input ? count_runs_from(x, in->repaid, in->last_repaid, in->left, now)
                                 : count_runs_from(x, out->freed, out->last_freed, out->ejected, now);
        if (!missing) continue;
        snprintf(text, size, "%s network: %u credits return to the %s link %u", name, missing,
                 input ? "input" : "output", index);
        return false;
    }
    return true;
}
