/* Injection: splits packets into flits. */
#include "noc/endpoints.h"

#define NEVER_INLINE __attribute__((noinline)) /* around inner loops: alone, they fit into the host's registers */

void injection_init(struct injection *injection, struct network *network, struct packet_pool *pool, struct link *link,
                    const struct router_stage *next, unsigned sources_each) {
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
        .source_words = sources_each * words,
        .simple = sources_each == 1 && next->vcs == 1,
        .destination_at =
            network->direction == NETWORK_REQUEST ? offsetof(struct message, target) : offsetof(struct message, source),
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
            injection->flits_of[kind][sectors] =
                (uint16_t)message_flits(&message, (unsigned)network->config->channel_bytes);
        }
}

void injection_release(struct injection *injection) {
    void *const blocks[] = {injection->pushed,  injection->arrived, injection->idle,   injection->choosing,
                            injection->blocked, injection->sending, injection->packet, injection->left,
                            injection->turn,    injection->vc};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
}

void injection_collect(struct injection *injection, uint64_t now) {
    unsigned turn = (now + 1) % 2, i = 0;
    do {
        injection->arrived[i] |= injection->pushed[i][turn];
        injection->pushed[i][turn] = 0;
    } while (++i < injection->source_words);
}

void injection_credit(struct injection *injection, unsigned word, uint64_t mask) {
    link_repay(injection->link, word, mask);
    if (LIKELY(!injection->any_blocked)) return;
    injection->any_blocked = false;
    memset(injection->blocked, 0, injection->words * sizeof *injection->blocked); /* they try again */
}

unsigned injection_left(const struct injection *injection, unsigned input) {
    unsigned vc = input << injection->vc_shift | (injection->vcs == 1 ? 0 : injection->vc[input]);
    return tally_value(&injection->left[vc / 64], vc % 64);
}

/* The packet has been assigned its VC of the link. */
static ALWAYS_INLINE void start_packet(struct injection *injection, uint32_t name, unsigned flits, unsigned word,
                                       unsigned index) {
    buffer_add(buffers_get(&injection->next, word * 64 + index), injection->next.mask, name);
    tally_start(&injection->left[word], index, flits);
}

/* The source whose packet an input accepts next, round robin over those that share it; `sources_each` if no packet is
 * visible. */
static unsigned source_in_turn(struct injection *injection, unsigned input, uint64_t now) {
    unsigned words = injection->words, sources = injection->sources_each;
    const struct port *port = &injection->network->input[input * sources];
    for (unsigned i = 0, source = injection->turn[input]; i < sources; i++) {
        unsigned next = source + 1 == sources ? 0 : source + 1;
        if ((injection->arrived[source * words + input / 64] >> (input % 64) & 1) &&
            port_next_visible(&port[source]) <= now) {
            injection->turn[input] = (uint16_t)next;
            return source;
        }
        source = next;
    }
    return sources;
}

/* Inputs of a word that are idle and have a source with a message: each accepts the packet if it is visible. */
static ALWAYS_INLINE void accept_packets(struct injection *injection, unsigned word, uint64_t inputs, uint64_t cycle,
                                         uint64_t now, bool alone, bool single) {
    struct packet_pool *pool = injection->pool;
    unsigned char *packets = pool->packet;
    struct port *ports = injection->network->input;
    const uint32_t *names = pool->free + pool->free_count;
    uint64_t accepted = 0, emptied = 0;
    for (; inputs; inputs &= inputs - 1) {
        unsigned index = lowest_bit(inputs), input = word * 64 + index;
        unsigned source = alone ? 0 : source_in_turn(injection, input, now);
        if (!alone && source == injection->sources_each) continue;
        struct port *port = &ports[alone ? input : input * injection->sources_each + source];
        if (alone && UNLIKELY(port_next_visible(port) > now)) continue;
        assert(names != pool->free);
        uint32_t name = *--names;
        struct packet *packet = packet_at(packets, name);
        injection_fill(injection, packet, port_take(port, now), cycle);
        uint64_t bit = inputs & -inputs;
        accepted |= bit;
        if (port->pushed == port->popped) {
            if (alone)
                emptied |= bit;
            else
                injection->arrived[source * injection->words + word] ^= bit;
        }
        if (single)
            start_packet(injection, name, packet->flits, word, index);
        else
            injection->packet[input] = name;
    }
    pool->free_count = (uint32_t)(names - pool->free);
    injection->network->stats.packets_injected += (unsigned)__builtin_popcountll(accepted);
    injection->idle[word] ^= accepted;
    *(single ? &injection->sending[word] : &injection->choosing[word]) |= accepted;
    if (alone) injection->arrived[word] ^= emptied;
}

static NEVER_INLINE void accept_simply(struct injection *injection, unsigned word, uint64_t inputs, uint64_t cycle,
                                       uint64_t now) {
    accept_packets(injection, word, inputs, cycle, now, true, true);
}

static NEVER_INLINE void accept_alone(struct injection *injection, unsigned word, uint64_t inputs, uint64_t cycle,
                                      uint64_t now) {
    accept_packets(injection, word, inputs, cycle, now, true, false);
}

static NEVER_INLINE void accept_any(struct injection *injection, unsigned word, uint64_t inputs, uint64_t cycle,
                                    uint64_t now) {
    accept_packets(injection, word, inputs, cycle, now, false, injection->vcs == 1);
}

/* Several VCs: a packet takes the first VC with a credit, starting after the one that the previous packet took. */
static NEVER_INLINE void choose_vcs(struct injection *injection, unsigned word, uint64_t bits) {
    unsigned all = (1u << injection->vcs) - 1;
    for (uint64_t rest; bits; bits = rest) {
        rest = bits & (bits - 1);
        unsigned input = word * 64 + lowest_bit(bits), base = input << injection->vc_shift;
        unsigned credit = (unsigned)(injection->link->word[base / 64].credit >> (base % 64)) & all;
        if (!credit) {
            injection->blocked[word] |= bits ^ rest;
            injection->any_blocked = true;
            continue;
        }
        unsigned vc = islip_first(credit, injection->vc[input] + 1u);
        injection->vc[input] = (uint8_t)vc;
        injection->choosing[word] ^= bits ^ rest;
        uint32_t name = injection->packet[input];
        start_packet(injection, name, packet_at(injection->pool->packet, name)->flits, base / 64, base % 64 + vc);
        injection->sending[base / 64] |= UINT64_C(1) << (base % 64 + vc);
    }
}

/* Sends a flit over each VC in `bits`; each has a flit and a credit. */
static ALWAYS_INLINE void send(struct injection *injection, unsigned word, uint64_t bits, bool single) {
    uint64_t ended = bits & ~tally_take(&injection->left[word], injection->pool->planes, bits);
    injection->sending[word] ^= ended;
    if (single) {
        injection->idle[word] |= ended;
        return;
    }
    for (; ended; ended &= ended - 1) {
        unsigned input = (word * 64 + lowest_bit(ended)) >> injection->vc_shift;
        injection->idle[input / 64] |= UINT64_C(1) << (input % 64);
    }
}

/* Every VC with a flit and a credit sends the flit. Returns those that can send another in the next cycle. */
static ALWAYS_INLINE uint64_t send_flits(struct injection *injection, unsigned word, uint64_t cycle, bool single) {
    struct link *link = injection->link;
    uint64_t bits = injection->sending[word] & link->word[word].credit;
    if (!bits) return 0;
    uint64_t at = cycle + link->flit_cycles;
    timeline_row(link->time, at)[link->arriving + word] |= bits;
    timeline_mark(link->time, at);
    injection->network->stats.flits_injected += (unsigned)__builtin_popcountll(bits);
    link_spend(link, word, link->planes, bits);
    send(injection, word, bits, single);
    return injection->sending[word] & link->word[word].credit;
}

/* The common case: one source and one VC per input, so that inputs and VCs have the same numbers. */
static ALWAYS_INLINE bool run_simply(struct injection *injection, uint64_t cycle, uint64_t now) {
    uint64_t more = 0;
    unsigned word = 0;
    do {
        uint64_t inputs = injection->idle[word] & injection->arrived[word];
        if (inputs) accept_simply(injection, word, inputs, cycle, now);
        more |= send_flits(injection, word, cycle, true) | (injection->idle[word] & injection->arrived[word]);
    } while (++word < injection->words);
    return more != 0;
}

/* Inputs of a word that have a source with a message. */
static ALWAYS_INLINE uint64_t arrived_at(const struct injection *injection, unsigned word, bool alone) {
    uint64_t arrived = injection->arrived[word];
    for (unsigned i = 1; !alone && i < injection->sources_each; i++)
        arrived |= injection->arrived[i * injection->words + word];
    return arrived;
}

/* `alone`: one source and several VCs per input. */
static ALWAYS_INLINE bool run_in_general(struct injection *injection, uint64_t cycle, uint64_t now, bool alone) {
    unsigned words = injection->words;
    uint64_t more = 0;
    for (unsigned word = 0; word < words; word++) {
        uint64_t inputs = injection->idle[word] & arrived_at(injection, word, alone);
        if (inputs) (alone ? accept_alone : accept_any)(injection, word, inputs, cycle, now);
        uint64_t choosing = injection->choosing[word] & ~injection->blocked[word];
        if (choosing) choose_vcs(injection, word, choosing);
    }
    for (unsigned word = 0; word < injection->link->words; word++)
        more |= send_flits(injection, word, cycle, !alone && injection->vcs == 1);
    for (unsigned word = 0; word < words; word++)
        more |= (injection->choosing[word] & ~injection->blocked[word]) |
                (injection->idle[word] & arrived_at(injection, word, alone));
    return more != 0;
}

static NEVER_INLINE bool run_alone(struct injection *injection, uint64_t cycle, uint64_t now) {
    return run_in_general(injection, cycle, now, true);
}

static NEVER_INLINE bool run_any(struct injection *injection, uint64_t cycle, uint64_t now) {
    return run_in_general(injection, cycle, now, false);
}

bool injection_run(struct injection *injection, uint64_t cycle, uint64_t now) {
    if (injection->simple) return run_simply(injection, cycle, now);
    return injection->sources_each == 1 ? run_alone(injection, cycle, now) : run_any(injection, cycle, now);
}
