/* Where flits become packets again. A packet needs a place in its destination's queue before its head may leave the network; its flits then
 * leave as they come, and with the last one it is handed over. */
#include "noc/endpoints.h"

void ejection_init(struct ejection *ejection, struct network *network, struct packet_pool *pool, struct timeline *time, unsigned outputs) {
    const struct noc_config *noc = network->config;
    unsigned vc_shift = log2_floor(round_up_power_of_two((uint64_t)noc->vcs));
    unsigned buffer = (unsigned)round_up_power_of_two((uint64_t)noc->vc_flits);
    *ejection = (struct ejection){
        .network = network,
        .pool = pool,
        .time = time,
        .vcs = (unsigned)noc->vcs,
        .vc_shift = vc_shift,
        .vc_count = outputs << vc_shift,
        .buffer_mask = buffer - 1,
        .words = (unsigned)div_up((uint64_t)outputs << vc_shift, 64),
    };
    ejection->ejector = mem_alloc_lines(ejection->vc_count, sizeof *ejection->ejector);
    ejection->flit = mem_alloc((size_t)ejection->vc_count * buffer, sizeof *ejection->flit);
    ejection->places = mem_alloc(network->destinations, sizeof *ejection->places);
    ejection->promised = mem_alloc(network->destinations, sizeof *ejection->promised);
    ejection->holding = mem_alloc(ejection->words, sizeof *ejection->holding);
    for (unsigned i = 0; i < ejection->vc_count; i++)
        ejection->ejector[i] = (struct ejector){
            .upstream_word = i / 64, .upstream_bit = UINT64_C(1) << (i % 64), .flit = &ejection->flit[(size_t)i * buffer]};
}

void ejection_release(struct ejection *ejection) {
    void *const blocks[] = {ejection->ejector, ejection->flit, ejection->places, ejection->promised, ejection->holding};
    for (unsigned i = 0; i < COUNT_OF(blocks); i++) free(blocks[i]);
}

/* Whether the destination has a place for one more packet, which then is promised to it. Places that are known to be free are counted here,
 * so that the port is asked only when there are none. */
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

/* Takes the head or tail of a packet out of the network if the packet has, or gets, a place at its destination. */
static inline bool take_end(struct ejection *ejection, struct ejector *ejector, uint32_t flit, uint64_t cycle, uint64_t now) {
    struct packet_pool *pool = ejection->pool;
    struct packet *packet = packet_at(pool->packet, flit);
    unsigned destination = packet->destination;
    if (!ejector->open && UNLIKELY(!reserve(ejection, destination, now))) return false;
    ejector->open = !(flit & FLIT_TAIL);
    if (ejector->open) return true;
    struct network *network = ejection->network;
    ejection->promised[destination]--;
    port_push(&network->output[destination], now, &packet->message, sizeof packet->message);
    network->stats.packets_ejected++;
    network->stats.packet_cycles += cycle - packet->start;
    pool->free[pool->free_count++] = flit ^ FLIT_TAIL;
    return true;
}

static void await_place(struct ejection *ejection, uint32_t flit, uint64_t now) {
    port_await_credit(&ejection->network->output[packet_at(ejection->pool->packet, flit)->destination], now);
}

/* A flit that cannot leave, or that comes behind one. */
static void hold(struct ejection *ejection, struct ejector *ejector, uint32_t flit, uint64_t now) {
    if (ejector->head == ejector->tail) {
        uint64_t index = (uint64_t)(ejector - ejection->ejector);
        ejection->holding[index / 64] |= UINT64_C(1) << (index % 64);
        ejection->network->stats.ejection_stalls++;
        await_place(ejection, flit, now);
    }
    ejector->passing = false;
    ejector->flit[ejector->tail++ & ejection->buffer_mask] = flit;
    ejection->held++;
}

void ejection_arrive(struct ejection *ejection, const uint64_t *event, unsigned count, uint64_t cycle, uint64_t now) {
    uint64_t at = cycle + ejection->credit_cycles, *credits = timeline_credits(ejection->time, ejection->credit_mask, at);
    unsigned char *ejectors = (unsigned char *)ejection->ejector;
    unsigned held = ejection->held;
    for (const uint64_t *end = event + count; event != end; event++) {
        uint32_t flit = (uint32_t)*event;
        struct ejector *ejector = (struct ejector *)(void *)(ejectors + (*event >> 32));
        if (!ejector->passing || (flit & FLIT_TAIL)) {
            if (UNLIKELY(ejector->head != ejector->tail) || !take_end(ejection, ejector, flit, cycle, now)) {
                hold(ejection, ejector, flit, now);
                continue;
            }
            ejector->passing = ejector->open;
        }
        credits[ejector->upstream_word] |= ejector->upstream_bit;
    }
    ejection->network->stats.flits_ejected += count - (ejection->held - held);
    timeline_mark(ejection->time, at);
}

/* One flit of the output whose ejectors with flits are `group` (bits from `first` on). Its VCs take turns. */
static bool drain_output(struct ejection *ejection, uint32_t first, unsigned group, uint64_t cycle, uint64_t now) {
    unsigned turn = (unsigned)(cycle % ejection->vcs);
    while (group) {
        unsigned vc = islip_first(group, turn), index = first + vc;
        group &= ~(1u << vc);
        struct ejector *ejector = &ejection->ejector[index];
        uint32_t flit = ejector->flit[ejector->head & ejection->buffer_mask];
        bool body = ejector->open && !(flit & FLIT_TAIL);
        if (!body && !take_end(ejection, ejector, flit, cycle, now)) {
            await_place(ejection, flit, now);
            continue;
        }
        uint64_t at = cycle + ejection->credit_cycles;
        timeline_credits(ejection->time, ejection->credit_mask, at)[ejector->upstream_word] |= ejector->upstream_bit;
        timeline_mark(ejection->time, at);
        ejection->held--;
        ejection->network->stats.flits_ejected++;
        if (++ejector->head == ejector->tail) {
            ejection->holding[index / 64] &= ~(UINT64_C(1) << (index % 64));
            ejector->passing = ejector->open;
        }
        return true;
    }
    return false;
}

void ejection_drain(struct ejection *ejection, uint64_t cycle, uint64_t now) {
    unsigned shift = ejection->vc_shift, group_mask = (1u << (1u << shift)) - 1;
    ejection->draining = false;
    for (unsigned word = 0; word < ejection->words; word++)
        for (uint64_t bits = ejection->holding[word]; bits;) {
            unsigned start = lowest_bit(bits) >> shift << shift, group = (unsigned)(bits >> start) & group_mask;
            bits &= ~((uint64_t)group << start);
            ejection->draining |= drain_output(ejection, word * 64 + start, group, cycle, now);
        }
}
