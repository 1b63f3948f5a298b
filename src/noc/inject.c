/* Where packets become flits. */
#include <string.h>

#include "noc/endpoints.h"

#define NEVER_INLINE __attribute__((noinline)) /* around inner loops: alone, they fit into the host's registers */

void injection_init(struct injection *injection, struct network *network, struct packet_pool *pool, struct link *link,
                    const struct stage *next, unsigned sources_each) {
    unsigned inputs = next->routers * next->inputs, words = (unsigned)div_up(inputs, 64);
    *injection = (struct injection){
        .network = network,
        .pool = pool,
        .link = link,
        .next = next->input,
        .inputs = inputs,
        .sources_each = sources_each,
        .vcs = next->vcs,
        .vc_shift = next->vc_shift,
        .words = words,
    };
    injection->pushed = mem_alloc((size_t)sources_each * words, sizeof *injection->pushed);
    injection->arrived = mem_alloc((size_t)sources_each * words, sizeof *injection->arrived);
    injection->idle = mem_alloc(words, sizeof *injection->idle);
    injection->choosing = mem_alloc(words, sizeof *injection->choosing);
    injection->blocked = mem_alloc(words, sizeof *injection->blocked);
    injection->sending = mem_alloc(link->words, sizeof *injection->sending);
    injection->packet = mem_alloc(inputs, sizeof *injection->packet);
    injection->left = mem_alloc(link->words, sizeof *injection->left);
    injection->turn = mem_alloc(inputs, sizeof *injection->turn);
    injection->vc = mem_alloc(inputs, sizeof *injection->vc);
    memset(injection->idle, 0xff, words * sizeof *injection->idle);
    for (unsigned i = 0; i < inputs; i++) {
        injection->vc[i] = (uint8_t)(next->vcs - 1);
        for (unsigned source = 0; source < sources_each; source++)
            port_watch(&network->input[i * sources_each + source], injection->pushed[source * words + i / 64], i % 64);
    }
    for (unsigned kind = 0; kind < COUNT_OF(injection->flits_of); kind++)
        for (unsigned sectors = 0; sectors < COUNT_OF(injection->flits_of[kind]); sectors++) {
            struct message message = {.kind = (uint8_t)kind, .sectors = (uint8_t)sectors};
            unsigned flits = message_flits(&message, (unsigned)network->config->channel_bytes);
            injection->flits_of[kind][sectors] = (uint16_t)flits;
            injection->planes = (unsigned)max_u64(injection->planes, tally_planes(flits));
        }
}

void injection_release(struct injection *injection) {
    void *const blocks[] = {injection->pushed,  injection->arrived, injection->idle,   injection->choosing,
                            injection->blocked, injection->sending, injection->packet, injection->left,
                            injection->turn,    injection->vc};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
}

void injection_collect(struct injection *injection, uint64_t now) {
    unsigned turn = (now + 1) % 2;
    for (unsigned i = 0; i < injection->sources_each * injection->words; i++) {
        injection->arrived[i] |= injection->pushed[i][turn];
        injection->pushed[i][turn] = 0;
    }
}

void injection_credit(struct injection *injection, unsigned word, uint64_t mask) {
    link_repay(injection->link, word, mask);
    if (injection->vcs > 1)
        memset(injection->blocked, 0, injection->words * sizeof *injection->blocked); /* they look again */
}

unsigned injection_left(const struct injection *injection, unsigned input) {
    unsigned vc = input << injection->vc_shift | (injection->vcs == 1 ? 0 : injection->vc[input]);
    return tally_value(&injection->left[vc / 64], vc % 64);
}

/* A packet has its VC of the link. */
static inline void start_packet(struct injection *injection, uint32_t name, unsigned vc) {
    buffer_add(buffers_get(&injection->next, vc), injection->next.mask, name);
    tally_start(&injection->left[vc / 64], vc % 64, packet_at(injection->pool->packet, name)->flits);
    injection->sending[vc / 64] |= UINT64_C(1) << (vc % 64);
}

/* Takes the source's next packet if it can be seen. */
static inline bool accept_packet(struct injection *injection, unsigned input, unsigned source, uint64_t cycle,
                                 uint64_t now) {
    struct network *network = injection->network;
    struct packet_pool *pool = injection->pool;
    struct port *port = &network->input[input * injection->sources_each + source];
    const struct message *message = port_peek(port, now);
    if (UNLIKELY(!message)) return false;
    assert(pool->free_count > 0);
    uint32_t name = pool->free[--pool->free_count];
    struct packet *packet = packet_at(pool->packet, name);
    packet->message = *message;
    packet->start = cycle;
    packet->destination = (uint16_t)network_destination(network, message);
    assert(packet->destination < network->destinations);
    packet->flits = injection->flits_of[message->kind][message->sectors];
    port_pop(port, now);
    if (port->pushed == port->popped)
        injection->arrived[source * injection->words + input / 64] ^= UINT64_C(1) << (input % 64);
    if (injection->vcs == 1)
        start_packet(injection, name, input);
    else
        injection->packet[input] = name;
    return true;
}

/* The same of the sources that share an input, which take turns. */
static bool accept_in_turn(struct injection *injection, unsigned input, uint64_t cycle, uint64_t now) {
    unsigned words = injection->words, sources = injection->sources_each;
    for (unsigned i = 0, source = injection->turn[input]; i < sources; i++) {
        unsigned next = source + 1 == sources ? 0 : source + 1;
        if ((injection->arrived[source * words + input / 64] >> (input % 64) & 1) &&
            accept_packet(injection, input, source, cycle, now)) {
            injection->turn[input] = (uint16_t)next;
            return true;
        }
        source = next;
    }
    return false;
}

/* Inputs of a word that have nothing to send and a source that has. */
static NEVER_INLINE void accept_packets(struct injection *injection, unsigned word, uint64_t inputs, uint64_t cycle,
                                        uint64_t now) {
    uint64_t accepted = inputs;
    bool alone = injection->sources_each == 1;
    for (uint64_t bits = inputs; bits; bits &= bits - 1) {
        unsigned input = word * 64 + lowest_bit(bits);
        if (UNLIKELY(!(alone ? accept_packet(injection, input, 0, cycle, now)
                             : accept_in_turn(injection, input, cycle, now))))
            accepted ^= bits & -bits;
    }
    injection->idle[word] ^= accepted;
    if (injection->vcs > 1) injection->choosing[word] |= accepted;
    injection->network->stats.packets_injected += (unsigned)__builtin_popcountll(accepted);
}

/* Several VCs: a packet takes the first that has a credit, after the one that the last packet took. */
static NEVER_INLINE void choose_vcs(struct injection *injection, unsigned word, uint64_t bits) {
    unsigned all = (1u << injection->vcs) - 1;
    for (uint64_t rest; bits; bits = rest) {
        rest = bits & (bits - 1);
        unsigned input = word * 64 + lowest_bit(bits), base = input << injection->vc_shift;
        unsigned credit = (unsigned)(injection->link->word[base / 64].credit >> (base % 64)) & all;
        if (!credit) {
            injection->blocked[word] |= bits ^ rest;
            continue;
        }
        unsigned vc = islip_first(credit, injection->vc[input] + 1u);
        injection->vc[input] = (uint8_t)vc;
        injection->choosing[word] ^= bits ^ rest;
        start_packet(injection, injection->packet[input], base + vc);
    }
}

/* The VCs in `bits` send a flit: they had one and the credit that it needs. */
static inline void send(struct injection *injection, unsigned word, uint64_t bits) {
    uint64_t ended = bits & ~tally_take(&injection->left[word], injection->planes, bits);
    injection->sending[word] ^= ended;
    if (injection->vcs == 1) {
        injection->idle[word] |= ended;
        return;
    }
    for (; ended; ended &= ended - 1) {
        unsigned input = (word * 64 + lowest_bit(ended)) >> injection->vc_shift;
        injection->idle[input / 64] |= UINT64_C(1) << (input % 64);
    }
}

void injection_run(struct injection *injection, uint64_t cycle, uint64_t now) {
    struct link *link = injection->link;
    unsigned words = injection->words, sources = injection->sources_each;
    for (unsigned word = 0; word < words; word++) {
        uint64_t arrived = injection->arrived[word];
        for (unsigned source = 1; source < sources; source++) arrived |= injection->arrived[source * words + word];
        if (injection->idle[word] & arrived)
            accept_packets(injection, word, injection->idle[word] & arrived, cycle, now);
        uint64_t choosing = injection->choosing[word] & ~injection->blocked[word];
        if (choosing) choose_vcs(injection, word, choosing);
    }
    uint64_t at = cycle + link->flit_cycles, *arriving = timeline_row(link->time, at) + link->arriving, any = 0;
    for (unsigned word = 0; word < link->words; word++) {
        uint64_t bits = injection->sending[word] & link->word[word].credit;
        if (!bits) continue;
        any |= bits;
        arriving[word] |= bits;
        link_spend(link, word, bits);
        injection->network->stats.flits_injected += (unsigned)__builtin_popcountll(bits);
        send(injection, word, bits);
    }
    if (any) timeline_mark(link->time, at);
}

bool injection_ready(const struct injection *injection) {
    uint64_t any = 0;
    for (unsigned word = 0; word < injection->link->words; word++)
        any |= injection->sending[word] & injection->link->word[word].credit;
    if (any) return true;
    for (unsigned word = 0; word < injection->words; word++) {
        any |= injection->choosing[word] & ~injection->blocked[word];
        for (unsigned i = word; i < injection->sources_each * injection->words; i += injection->words)
            any |= (injection->idle[word] & injection->arrived[i]);
    }
    return any != 0;
}
