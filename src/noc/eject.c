/* Ejection: reassembles packets. A packet needs a place in its destination's ejection queue before its head may leave
 * the network; its flits then leave as they arrive, and with the last one the packet is delivered. */
#include "noc/endpoints.h"

#define NEVER_INLINE __attribute__((noinline)) /* around inner loops: alone, they fit into the host's registers */

void ejection_init(struct ejection *ejection, struct network *network, struct packet_pool *pool, struct link *link,
                   unsigned outputs) {
    const struct noc_config *noc = network->config;
    unsigned vc_shift = log2_floor(round_up_power_of_two((uint64_t)noc->vcs));
    *ejection = (struct ejection){
        .network = network,
        .pool = pool,
        .link = link,
        .buffers = buffers_of(outputs << vc_shift, (unsigned)noc->vc_flits),
        .vc_shift = vc_shift,
    };
    ejection->admission = mem_alloc(network->destinations, sizeof *ejection->admission);
    ejection->entered = mem_alloc(link->words, sizeof *ejection->entered);
    ejection->left = mem_alloc(link->words, sizeof *ejection->left);
    ejection->holding = mem_alloc(link->words, sizeof *ejection->holding);
    ejection->drained = mem_alloc(link->words, sizeof *ejection->drained);
    ejection->drained_in = NEVER;
    ejection->waiting = mem_alloc(outputs << vc_shift, sizeof *ejection->waiting);
    ejection->turn = mem_alloc(outputs, sizeof *ejection->turn);
}

void ejection_release(struct ejection *ejection) {
    void *const blocks[] = {ejection->buffers.memory, ejection->admission, ejection->entered, ejection->left,
                            ejection->holding,        ejection->drained,   ejection->waiting, ejection->turn};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
}

/* An admitted packet holds a reservation in the destination's port. The port is read for free places only when all that
 * are known are reserved. If there is none, the port wakes the network when one becomes free. */
static NEVER_INLINE bool more_places(struct ejection *ejection, unsigned destination, uint64_t now) {
    struct admission *admission = &ejection->admission[destination];
    struct port *port = &ejection->network->output[destination];
    admission->limit = port->pushed + port_credits(port, now);
    bool places = admission->admitted != admission->limit;
    if (UNLIKELY(port->gate)) { /* asked for each packet */
        places = places && port_is_open(port, now);
        admission->limit = admission->admitted + places;
    }
    if (places) return true;
    port_await_credit(port, now);
    return false;
}

/* Admits the packets whose heads have arrived in a word's buffers. Returns those without a place at their
 * destination. */
static NEVER_INLINE uint64_t admit(struct ejection *ejection, unsigned word, uint64_t heads, uint64_t now) {
    const unsigned char *packets = ejection->pool->packet;
    struct buffers buffers = ejection->buffers;
    struct admission *admissions = ejection->admission;
    struct tally *left = &ejection->left[word];
    uint64_t refused = 0;
    for (; heads; heads &= heads - 1) {
        unsigned index = lowest_bit(heads);
        uint32_t name = buffer_first(buffers_get(&buffers, word * 64 + index), buffers.mask);
        const struct packet *packet = packet_at(packets, name);
        struct admission *admission = &admissions[packet->destination];
        if (UNLIKELY(admission->admitted == admission->limit) && !more_places(ejection, packet->destination, now)) {
            refused |= heads & -heads;
            continue;
        }
        admission->admitted++;
        tally_start(left, index, packet->flits);
    }
    return refused;
}

/* Delivers the packets whose last flits have left a word's buffers. */
static NEVER_INLINE void hand_over(struct ejection *ejection, unsigned word, uint64_t ended, uint64_t cycle,
                                   uint64_t now) {
    struct network_stats *stats = &ejection->network->stats;
    struct packet_pool *pool = ejection->pool;
    const unsigned char *packets = pool->packet;
    struct port *output = ejection->network->output;
    uint32_t *freed = pool->free + pool->free_count, *first = freed;
    struct buffers buffers = ejection->buffers;
    uint64_t starts = 0;
    for (; ended; ended &= ended - 1) {
        struct buffer *buffer = buffers_get(&buffers, word * 64 + lowest_bit(ended));
        uint32_t name = buffer->packet[buffer->head++ & buffers.mask];
        const struct packet *packet = packet_at(packets, name);
        port_push(&output[packet->destination], now, &packet->message, sizeof packet->message);
        starts += packet->start;
        *freed++ = name;
    }
    uint32_t count = (uint32_t)(freed - first);
    pool->free_count += count;
    stats->packets_ejected += count;
    stats->packet_cycles += count * cycle - starts;
}

/* The first flits of a word's buffers leave if they can; heads only if their packet is admitted. Returns those that
 * stay. */
static inline uint64_t take(struct ejection *ejection, unsigned word, uint64_t flits, uint64_t cycle, uint64_t now) {
    uint64_t heads = flits & ~ejection->entered[word], refused = heads ? admit(ejection, word, heads, now) : 0;
    flits ^= refused;
    uint64_t entered = tally_take(&ejection->left[word], ejection->pool->planes, flits), ended = flits & ~entered;
    ejection->entered[word] = entered;
    if (ended) hand_over(ejection, word, ended, cycle, now);
    return refused;
}

void ejection_arrive(struct ejection *ejection, unsigned word, uint64_t mask, uint64_t cycle, uint64_t now) {
    struct link *link = ejection->link;
    struct network_stats *stats = &ejection->network->stats;
    uint64_t behind = mask & ejection->holding[word], at = cycle + link->credit_cycles; /* flits behind others stay */
    if (UNLIKELY(ejection->drained_in == cycle)) behind |= mask & ejection->drained[word];
    uint64_t refused = take(ejection, word, mask ^ behind, cycle, now), stay = refused | behind;
    uint64_t *returning = &timeline_row(link->time, at)[link->returning + word];
    assert(!(*returning & (mask ^ stay))); /* a link carries one credit per VC and cycle */
    *returning |= mask ^ stay;
    timeline_mark(link->time, at);
    stats->flits_ejected += (unsigned)__builtin_popcountll(mask ^ stay);
    if (LIKELY(!stay)) return;
    stats->ejection_stalls += (unsigned)__builtin_popcountll(refused);
    ejection->held += (unsigned)__builtin_popcountll(stay);
    ejection->holding[word] |= stay;
    for (; stay; stay &= stay - 1) ejection->waiting[word * 64 + lowest_bit(stay)]++;
}

/* Ejects one flit of the output whose buffers with flits are `group` (bits from `first` on), round robin over its
 * VCs. */
static bool drain_output(struct ejection *ejection, uint32_t first, unsigned group, uint64_t cycle, uint64_t now) {
    struct link *link = ejection->link;
    uint8_t *turn = &ejection->turn[first >> ejection->vc_shift];
    while (group) {
        unsigned vc = islip_first(group, *turn), number = first + vc;
        group &= ~(1u << vc);
        uint64_t at = cycle + link->credit_cycles, bit = UINT64_C(1) << (number % 64);
        if (take(ejection, number / 64, bit, cycle, now)) continue;
        *turn = (uint8_t)(vc + 1); /* one beyond the last acts as the first */
        timeline_row(link->time, at)[link->returning + number / 64] |= bit;
        timeline_mark(link->time, at);
        ejection->network->stats.flits_ejected++;
        ejection->held--;
        if (--ejection->waiting[number] == 0) ejection->holding[number / 64] ^= bit;
        return true;
    }
    return false;
}

void ejection_drain(struct ejection *ejection, uint64_t cycle, uint64_t now) {
    unsigned shift = ejection->vc_shift, group_mask = (1u << (1u << shift)) - 1;
    ejection->draining = false;
    ejection->drained_in = cycle;
    for (unsigned word = 0; word < ejection->link->words; word++) {
        ejection->drained[word] = 0;
        for (uint64_t bits = ejection->holding[word]; bits;) {
            unsigned start = lowest_bit(bits) >> shift << shift, group = (unsigned)(bits >> start) & group_mask;
            bits &= ~((uint64_t)group << start);
            if (!drain_output(ejection, word * 64 + start, group, cycle, now)) continue;
            ejection->draining = true;
            ejection->drained[word] |= (uint64_t)group_mask << start;
        }
    }
}
