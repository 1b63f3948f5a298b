/* Where packets become flits. */
#include <string.h>

#include "noc/endpoints.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

void injection_init(struct injection *injection, struct network *network, struct packet_pool *pool, struct timeline *time, unsigned inputs,
                    unsigned sources_each) {
    const struct noc_config *noc = network->config;
    unsigned vcs = (unsigned)noc->vcs, vc_shift = log2_floor(round_up_power_of_two(vcs));
    *injection = (struct injection){
        .network = network,
        .pool = pool,
        .time = time,
        .link_cycles = (unsigned)noc->link_cycles,
        .inputs = inputs,
        .sources_each = sources_each,
        .vcs = vcs,
        .vc_shift = vc_shift,
        .words = (unsigned)div_up(inputs, 64),
        .credit_words = (unsigned)div_up((uint64_t)inputs << vc_shift, 64),
    };
    unsigned words = injection->words;
    injection->pushed = mem_alloc((size_t)sources_each * words, sizeof *injection->pushed);
    injection->arrived = mem_alloc((size_t)sources_each * words, sizeof *injection->arrived);
    injection->idle = mem_alloc(words, sizeof *injection->idle);
    injection->blocked = mem_alloc(words, sizeof *injection->blocked);
    injection->flit = mem_alloc(inputs, sizeof *injection->flit);
    injection->left = mem_alloc(inputs, sizeof *injection->left);
    injection->turn = mem_alloc(inputs, sizeof *injection->turn);
    injection->vc = mem_alloc(inputs, sizeof *injection->vc);
    injection->started = mem_alloc(inputs, sizeof *injection->started);
    injection->target = mem_alloc((size_t)inputs << vc_shift, sizeof *injection->target);
    injection->credit = mem_alloc(injection->credit_words, sizeof *injection->credit);
    tally_init(&injection->credits, injection->credit_words, (unsigned)noc->vc_flits);
    memset(injection->idle, 0xff, words * sizeof *injection->idle);
    for (unsigned i = 0; i < inputs; i++) {
        injection->vc[i] = (uint8_t)(vcs - 1);
        for (unsigned vc = 0; vc < vcs; vc++) {
            unsigned index = (i << vc_shift) + vc;
            tally_set(&injection->credits, index, (unsigned)noc->vc_flits);
            injection->credit[index / 64] |= UINT64_C(1) << (index % 64);
        }
        for (unsigned source = 0; source < sources_each; source++)
            port_watch(&network->input[i * sources_each + source], injection->pushed[source * words + i / 64], i % 64);
    }
    for (unsigned kind = 0; kind < COUNT_OF(injection->flits_of); kind++)
        for (unsigned sectors = 0; sectors < COUNT_OF(injection->flits_of[kind]); sectors++) {
            struct message message = {.kind = (uint8_t)kind, .sectors = (uint8_t)sectors};
            injection->flits_of[kind][sectors] = (uint16_t)message_flits(&message, (unsigned)noc->channel_bytes);
        }
}

void injection_release(struct injection *injection) {
    void *const blocks[] = {injection->pushed, injection->arrived, injection->idle,    injection->blocked, injection->flit,  injection->left,
                            injection->turn,   injection->vc,      injection->started, injection->target,  injection->credit};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
    tally_release(&injection->credits);
}

void injection_collect(struct injection *injection, uint64_t now) {
    unsigned turn = (now + 1) % 2;
    for (unsigned i = 0; i < injection->sources_each * injection->words; i++) {
        injection->arrived[i] |= injection->pushed[i][turn];
        injection->pushed[i][turn] = 0;
    }
}

void injection_wake(struct injection *injection, const uint64_t *event, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        unsigned source = (unsigned)(event[i] >> 32), input = (unsigned)(uint32_t)event[i];
        injection->arrived[source * injection->words + input / 64] |= UINT64_C(1) << (input % 64);
    }
}

void injection_credit(struct injection *injection, unsigned word, uint64_t mask) {
    tally_add(&injection->credits, word, mask);
    injection->credit[word] |= mask;
    if (injection->vcs == 1)
        injection->blocked[word] &= ~mask;
    else
        memset(injection->blocked, 0, injection->words * sizeof *injection->blocked); /* they look again */
}

/* A source whose message is far from visible is looked at again only when it will be. */
static void look_later(struct injection *injection, unsigned input, unsigned source, uint64_t visible, uint64_t cycle) {
    uint64_t at = clock_domain_cycle(injection->network->clock, visible);
    at = min_u64(max_u64(at, cycle + 1), cycle + injection->time->mask);
    injection->arrived[source * injection->words + input / 64] ^= UINT64_C(1) << (input % 64);
    timeline_push(injection->time, injection->wake_list, at, (uint64_t)source << 32 | input);
}

/* Takes the source's next packet if it can be seen. */
static inline bool accept_packet(struct injection *injection, struct port *port, unsigned input, unsigned source, uint64_t cycle, uint64_t now) {
    const struct message *message = port_peek(port, now);
    if (UNLIKELY(!message)) {
        if (port_next_visible(port) > now + 1) look_later(injection, input, source, port_next_visible(port), cycle);
        return false;
    }
    struct network *network = injection->network;
    struct packet_pool *pool = injection->pool;
    assert(pool->free_count > 0);
    uint32_t name = pool->free[--pool->free_count];
    struct packet *packet = packet_at(pool->packet, name);
    packet->message = *message;
    packet->start = cycle;
    packet->destination = (uint16_t)network_destination(network, message);
    assert(packet->destination < network->destinations);
    injection->flit[input] = injection->vcs == 1 ? injection->target[input] | name : name;
    injection->left[input] = injection->flits_of[message->kind][message->sectors];
    injection->started[input] = false;
    port_pop(port, now);
    uint64_t bit = UINT64_C(1) << (input % 64);
    if (port->pushed == port->popped) injection->arrived[source * injection->words + input / 64] ^= bit;
    injection->idle[input / 64] ^= bit;
    network->stats.packets_injected++;
    return true;
}

static void accept_packets(struct injection *injection, uint64_t cycle, uint64_t now) {
    unsigned words = injection->words, sources = injection->sources_each;
    struct port *port = injection->network->input;
    for (unsigned word = 0; word < words; word++) {
        uint64_t arrived = injection->arrived[word];
        for (unsigned source = 1; source < sources; source++) arrived |= injection->arrived[source * words + word];
        for (uint64_t bits = injection->idle[word] & arrived; bits; bits &= bits - 1) {
            unsigned input = word * 64 + lowest_bit(bits);
            if (LIKELY(sources == 1)) {
                accept_packet(injection, &port[input], input, 0, cycle, now);
                continue;
            }
            for (unsigned i = 0, source = injection->turn[input]; i < sources; i++) {
                unsigned next = source + 1 == sources ? 0 : source + 1;
                if ((injection->arrived[source * words + word] & (bits & -bits)) &&
                    accept_packet(injection, &port[input * sources + source], input, source, cycle, now)) {
                    injection->turn[input] = (uint16_t)next;
                    break;
                }
                source = next;
            }
        }
    }
}

/* Several VCs: a packet takes the first that has a credit, after the one that the last packet took. */
static inline bool choose_vc(struct injection *injection, unsigned input) {
    unsigned base = input << injection->vc_shift, vc = injection->vc[input];
    unsigned credit = (unsigned)(injection->credit[base / 64] >> (base % 64)) & ((1u << injection->vcs) - 1);
    if (injection->started[input]) return credit >> vc & 1;
    if (!credit) return false;
    vc = islip_first(credit, vc + 1);
    injection->vc[input] = (uint8_t)vc;
    injection->started[input] = true;
    injection->flit[input] |= injection->target[base + vc];
    return true;
}

static ALWAYS_INLINE uint64_t *send(struct injection *injection, uint64_t *event, bool single) {
    for (unsigned word = 0; word < injection->words; word++) {
        uint64_t idle = injection->idle[word], bits = ~idle & ~injection->blocked[word];
        if (!bits) continue;
        if (single) injection->blocked[word] |= ~(injection->credit[word] = tally_take(&injection->credits, word, bits));
        for (uint64_t next; bits; bits = next) {
            next = bits & (bits - 1);
            unsigned input = word * 64 + lowest_bit(bits);
            if (!single) {
                if (!choose_vc(injection, input)) {
                    injection->blocked[word] |= bits ^ next;
                    continue;
                }
                unsigned index = (input << injection->vc_shift) + injection->vc[input];
                injection->credit[index / 64] = tally_take(&injection->credits, index / 64, UINT64_C(1) << (index % 64));
            }
            uint64_t flit = injection->flit[input];
            if (--injection->left[input] == 0) {
                flit |= FLIT_TAIL;
                idle ^= bits ^ next;
            }
            *event++ = flit;
        }
        injection->idle[word] = idle;
    }
    return event;
}

void injection_run(struct injection *injection, uint64_t cycle, uint64_t now) {
    accept_packets(injection, cycle, now);
    uint64_t at = cycle + injection->link_cycles;
    uint64_t *before = timeline_open(injection->time, injection->flit_list, at);
    uint64_t *event = injection->vcs == 1 ? send(injection, before, true) : send(injection, before, false);
    if (event == before) return;
    injection->network->stats.flits_injected += (uint64_t)(event - before);
    timeline_close(injection->time, injection->flit_list, at, event);
}

bool injection_ready(const struct injection *injection) {
    uint64_t any = 0;
    for (unsigned word = 0; word < injection->words; word++) {
        any |= ~injection->idle[word] & ~injection->blocked[word];
        for (unsigned i = word; i < injection->sources_each * injection->words; i += injection->words)
            any |= (injection->idle[word] & injection->arrived[i]) | injection->pushed[i][0] | injection->pushed[i][1];
    }
    return any != 0;
}
