/* Where flits become packets again. A packet needs a place in its destination's queue before its head may leave the
 * network; its flits then leave as they come, and with the last one it is handed over. */
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
        .vcs = (unsigned)noc->vcs,
        .vc_shift = vc_shift,
    };
    ejection->places = mem_alloc(network->destinations, sizeof *ejection->places);
    ejection->promised = mem_alloc(network->destinations, sizeof *ejection->promised);
    ejection->holding = mem_alloc(link->words, sizeof *ejection->holding);
    ejection->drained = mem_alloc(link->words, sizeof *ejection->drained);
    ejection->drained_in = NEVER;
    ejection->waiting = mem_alloc(outputs << vc_shift, sizeof *ejection->waiting);
}

void ejection_release(struct ejection *ejection) {
    void *const blocks[] = {ejection->buffers.memory, ejection->places,  ejection->promised,
                            ejection->holding,        ejection->drained, ejection->waiting};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
}

/* Whether the destination has a place for one more packet, which then is promised to it. Places that are known to be
 * free are counted here, so that the port is asked only when there are none. */
static inline bool reserve(struct ejection *ejection, unsigned destination, uint64_t now) {
    if (UNLIKELY(ejection->places[destination] == 0)) {
        uint32_t credits = port_credits(&ejection->network->output[destination], now);
        ejection->places[destination] = (uint16_t)(credits - ejection->promised[destination]);
        if (ejection->places[destination] == 0) return false;
    }
    ejection->places[destination]--;
    ejection->promised[destination]++;
    return true;
}

/* The last flit of a packet has left its buffer: it is handed over. */
static inline void hand_over(struct ejection *ejection, struct buffer *buffer, uint64_t cycle, uint64_t now) {
    struct packet_pool *pool = ejection->pool;
    struct network *network = ejection->network;
    uint32_t name = buffer_first(buffer, ejection->buffers.mask);
    const struct packet *packet = packet_at(pool->packet, name);
    ejection->promised[packet->destination]--;
    port_push(&network->output[packet->destination], now, &packet->message, sizeof packet->message);
    network->stats.packets_ejected++;
    network->stats.packet_cycles += cycle - packet->start;
    pool->free[pool->free_count++] = name;
    buffer->head++;
}

/* The head of a packet gets a place at its destination. If there is none, the destination will tell when there is. */
static inline bool admit(struct ejection *ejection, struct buffer *buffer, uint64_t now) {
    const struct packet *packet = packet_at(ejection->pool->packet, buffer_first(buffer, ejection->buffers.mask));
    if (UNLIKELY(!reserve(ejection, packet->destination, now))) {
        port_await_credit(&ejection->network->output[packet->destination], now);
        return false;
    }
    buffer->left = packet->flits;
    return true;
}

/* The first flit of a buffer leaves if it can: as head of a packet only if that is admitted. */
static inline bool take_first(struct ejection *ejection, struct buffer *buffer, uint64_t cycle, uint64_t now) {
    if (!buffer->left && UNLIKELY(!admit(ejection, buffer, now))) return false;
    if (!--buffer->left) hand_over(ejection, buffer, cycle, now);
    return true;
}

/* Flits that leave as they come. Returns those that have to stay. */
static NEVER_INLINE uint64_t take_all(struct ejection *ejection, unsigned word, uint64_t flits, uint64_t cycle,
                                      uint64_t now) {
    unsigned shift = ejection->buffers.shift;
    unsigned char *memory = ejection->buffers.memory + ((size_t)word * 64 << shift);
    uint64_t stay = 0;
    for (; flits; flits &= flits - 1)
        if (UNLIKELY(!take_first(ejection, buffer_at(memory, (size_t)lowest_bit(flits) << shift), cycle, now)))
            stay |= flits & -flits;
    return stay;
}

void ejection_arrive(struct ejection *ejection, unsigned word, uint64_t mask, uint64_t cycle, uint64_t now) {
    struct link *link = ejection->link;
    struct network_stats *stats = &ejection->network->stats;
    uint64_t behind = mask & ejection->holding[word], at = cycle + link->credit_cycles; /* those behind others stay */
    if (UNLIKELY(ejection->drained_in == cycle)) behind |= mask & ejection->drained[word];
    uint64_t refused = take_all(ejection, word, mask ^ behind, cycle, now), stay = refused | behind;
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

/* One flit of the output whose buffers with flits are `group` (bits from `first` on). Its VCs take turns. */
static bool drain_output(struct ejection *ejection, uint32_t first, unsigned group, uint64_t cycle, uint64_t now) {
    struct link *link = ejection->link;
    unsigned turn = (unsigned)(cycle % ejection->vcs);
    while (group) {
        unsigned vc = islip_first(group, turn), number = first + vc;
        group &= ~(1u << vc);
        if (!take_first(ejection, buffers_get(&ejection->buffers, number), cycle, now)) continue;
        uint64_t at = cycle + link->credit_cycles, bit = UINT64_C(1) << (number % 64);
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
