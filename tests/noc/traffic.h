/* Open-loop traffic for one network: sources that create packets at a given rate into queues without end, destinations
 * that take everything at once. Used by the tests of the network and by bench/noc; the method is BookSim's
 * (Bernoulli process, latency from creation, warm-up, then a measured interval whose packets are waited for).
 */
#ifndef SLUICE_TESTS_NOC_TRAFFIC_H
#define SLUICE_TESTS_NOC_TRAFFIC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "noc/noc.h"

enum traffic_pattern {
    TRAFFIC_UNIFORM,
    TRAFFIC_WEIGHTED_HOTSPOT, /* the first destination has weight 8, each other 1 */
    TRAFFIC_HOTSPOT,    /* of all packets the share `hot_share` goes to the first destination, the rest to others */
    TRAFFIC_COMPLEMENT, /* source i to destination n - 1 - i */
    TRAFFIC_TRANSPOSE,  /* n x n sources, row by row: (row, column) to (column, row) */
    TRAFFIC_OWN,        /* between a cluster and its own slices: those with its number, one at each controller */
    TRAFFIC_OWN_PAIRS,  /* of those, member m of a cluster and the slice at controller m */
};

struct traffic_queue {
    uint64_t *born;
    uint32_t *destination;
    uint32_t mask, head, tail;
    uint32_t given; /* packets that have left it: their tags */
};

struct traffic {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct network *network;
    struct network_shape shape;
    enum network_direction direction;
    unsigned sources, destinations;
    unsigned id;

    enum traffic_pattern pattern;
    double rate;      /* flits per cycle and source */
    double hot_share; /* TRAFFIC_HOTSPOT: of all packets, from 0 to 1 */
    unsigned flits;
    uint8_t sectors; /* that make a packet of `flits` */
    uint64_t random;
    uint64_t *next; /* [sources]: cycle of the next packet */
    struct traffic_queue *queue;
    uint64_t stop;       /* no packets are created from this cycle on */
    unsigned take_every; /* destinations accept a packet only every N cycles; 0: always */

    uint64_t measure_from, measure_until;
    uint64_t created, delivered, latency; /* of packets created in the measured interval */
    uint64_t accepted_flits;              /* delivered in the interval */
    uint64_t packets_out;

    /* Called for every packet that is delivered, if not NULL. */
    void (*observe)(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now);
    void *observer;
};

/* A message and channel width that give a packet of `flits` flits; channel_bytes 0 if there is none. */
struct traffic_size {
    unsigned channel_bytes, sectors;
};

static inline struct traffic_size traffic_size_of(unsigned flits) {
    static const unsigned channels[] = {32, 64, 16, 128, 8, 256, 4};
    for (unsigned i = 0; i < COUNT_OF(channels); i++)
        for (unsigned sectors = 0; sectors <= 8; sectors++)
            if ((MESSAGE_HEADER_BYTES + sectors * SECTOR_BYTES + channels[i] - 1) / channels[i] == flits)
                return (struct traffic_size){channels[i], sectors};
    return (struct traffic_size){0, 0};
}

/* True with this probability. */
static inline bool traffic_chance(struct traffic *traffic, double chance) {
    return (double)(random_next(&traffic->random) >> 11) * 0x1p-53 < chance;
}

/* Cycles until the next success of a Bernoulli process: 1 if it succeeds in the next cycle. */
static inline uint64_t traffic_gap(struct traffic *traffic) {
    uint64_t gap = 1;
    while (!traffic_chance(traffic, traffic->rate / traffic->flits)) gap++;
    return gap;
}

/* Rows of a square of `nodes`; 0 if they make none. */
static inline unsigned traffic_rows(unsigned nodes) {
    unsigned rows = 0;
    while (rows * rows < nodes) rows++;
    return rows * rows == nodes ? rows : 0;
}

/* Whether the pattern has a destination for every source. */
static inline bool traffic_fits(enum traffic_pattern pattern, unsigned sources, unsigned destinations) {
    if (pattern == TRAFFIC_TRANSPOSE) return sources == destinations && traffic_rows(sources);
    return pattern != TRAFFIC_HOTSPOT || destinations > 1;
}

/* The cluster's `other`th way out, from `source`: a slice for a member of the cluster, a member for a slice. */
static inline unsigned traffic_own(const struct traffic *traffic, unsigned source, unsigned other) {
    unsigned clusters = traffic->shape.clusters, members = traffic->shape.l1_endpoints / clusters;
    if (traffic->direction == NETWORK_REQUEST) return other * clusters + source / members;
    return source % clusters * members + other;
}

static inline unsigned traffic_pick(struct traffic *traffic, unsigned source) {
    switch (traffic->pattern) {
    case TRAFFIC_UNIFORM: break;
    case TRAFFIC_WEIGHTED_HOTSPOT: {
        uint64_t draw = random_below(&traffic->random, traffic->destinations + 7u); /* the first weighs 8 */
        return draw < 8 ? 0 : (unsigned)draw - 7;
    }
    case TRAFFIC_HOTSPOT:
        if (traffic_chance(traffic, traffic->hot_share)) return 0;
        return 1 + (unsigned)random_below(&traffic->random, traffic->destinations - 1);
    case TRAFFIC_TRANSPOSE: {
        unsigned rows = traffic_rows(traffic->sources);
        return source % rows * rows + source / rows;
    }
    case TRAFFIC_COMPLEMENT: return traffic->destinations - 1 - source % traffic->destinations;
    case TRAFFIC_OWN:
        return traffic_own(traffic, source,
                           (unsigned)random_below(&traffic->random, traffic->destinations / traffic->shape.clusters));
    case TRAFFIC_OWN_PAIRS:
        return traffic_own(traffic, source,
                           traffic->direction == NETWORK_REQUEST ? source % traffic->shape.mcs
                                                                 : source / traffic->shape.clusters);
    }
    return (unsigned)random_below(&traffic->random, traffic->destinations);
}

static inline void traffic_enqueue(struct traffic_queue *queue, uint64_t born, uint32_t destination) {
    if (!queue->born || queue->tail - queue->head > queue->mask) {
        uint32_t old = queue->born ? queue->mask + 1 : 0, size = old ? old * 2 : 64;
        uint64_t *borns = mem_alloc(size, sizeof *borns);
        uint32_t *destinations = mem_alloc(size, sizeof *destinations);
        for (uint32_t i = 0; i < old; i++) {
            borns[i] = queue->born[(queue->head + i) & queue->mask];
            destinations[i] = queue->destination[(queue->head + i) & queue->mask];
        }
        free(queue->born);
        free(queue->destination);
        *queue = (struct traffic_queue){.born = borns,
                                        .destination = destinations,
                                        .mask = size - 1,
                                        .tail = queue->tail - queue->head,
                                        .given = queue->given};
    }
    queue->born[queue->tail & queue->mask] = born;
    queue->destination[queue->tail & queue->mask] = destination;
    queue->tail++;
}

static inline void traffic_take(struct traffic *traffic, unsigned destination, uint64_t now) {
    struct port *port = network_output(traffic->network, destination);
    if (traffic->take_every && now % traffic->take_every != destination % traffic->take_every) return;
    for (const struct message *message; (message = port_peek(port, now)); port_pop(port, now)) {
        traffic->packets_out++;
        bool measured = message->address >= traffic->measure_from && message->address < traffic->measure_until;
        if (measured) {
            traffic->delivered++;
            traffic->latency += now - message->address;
        }
        if (now >= traffic->measure_from && now < traffic->measure_until) traffic->accepted_flits += traffic->flits;
        if (traffic->observe) traffic->observe(traffic, destination, message, now);
        if (traffic->take_every) {
            port_pop(port, now);
            return;
        }
    }
}

static inline void traffic_give(struct traffic *traffic, unsigned source, uint64_t now) {
    struct traffic_queue *queue = &traffic->queue[source];
    while (traffic->next[source] <= now && now < traffic->stop) {
        traffic_enqueue(queue, now, traffic_pick(traffic, source));
        traffic->next[source] += traffic_gap(traffic);
        if (now >= traffic->measure_from && now < traffic->measure_until) traffic->created++;
    }
    struct port *port = network_input(traffic->network, source);
    while (queue->head != queue->tail && port_can_push(port, now)) {
        uint32_t destination = queue->destination[queue->head & queue->mask];
        bool request = traffic->direction == NETWORK_REQUEST;
        struct message message = {
            .address = queue->born[queue->head & queue->mask], /* which no network looks at */
            .tag = queue->given++,
            .source = (uint16_t)(request ? source : destination),
            .target = (uint16_t)(request ? destination : source),
            .kind = MESSAGE_DATA,
            .sectors = traffic->sectors,
        };
        queue->head++;
        port_push(port, now, &message, sizeof message);
    }
}

static inline void traffic_tick(void *self, uint64_t now) {
    struct traffic *traffic = self;
    for (unsigned i = 0; i < traffic->destinations; i++) traffic_take(traffic, i, now);
    uint64_t next = NEVER;
    for (unsigned i = 0; i < traffic->sources; i++) {
        traffic_give(traffic, i, now);
        const struct traffic_queue *queue = &traffic->queue[i];
        if (traffic->next[i] < traffic->stop) next = min_u64(next, traffic->next[i]);
        if (queue->head != queue->tail) port_await_credit(network_input(traffic->network, i), now);
    }
    if (traffic->take_every)
        for (unsigned i = 0; i < traffic->destinations; i++)
            if (port_next_visible(network_output(traffic->network, i)) != NEVER) next = now + 1;
    if (next != NEVER) engine_wake(traffic->engine, traffic->id, max_u64(now + 1, next));
}

static const struct component_ops traffic_component = {.kind = "traffic", .tick = traffic_tick};

/* `settings` are key=value assignments, NULL at the end. Returns false with err filled if the network rejects them. */
static inline bool traffic_open(struct traffic *traffic, const char *const *settings, enum network_direction direction,
                                struct network_shape shape, unsigned flits, struct error *err) {
    static const struct section *const sections[] = {&noc_section};
    struct traffic_size size = traffic_size_of(flits);
    assert(size.channel_bytes && "no message has a packet of this length");
    bool request = direction == NETWORK_REQUEST;
    *traffic = (struct traffic){
        .config = config_create(sections, 1),
        .engine = engine_create(),
        .stats = stats_create(),
        .shape = shape,
        .direction = direction,
        .sources = request ? shape.l1_endpoints : shape.slices,
        .destinations = request ? shape.slices : shape.l1_endpoints,
        .flits = flits,
        .sectors = (uint8_t)low_mask(size.sectors),
        .random = 1,
        .stop = NEVER,
        .measure_until = NEVER,
    };
    char channel[64];
    snprintf(channel, sizeof channel, "noc.channel_bytes=%u", size.channel_bytes);
    if (!config_set(traffic->config, channel, err)) return false;
    for (unsigned i = 0; settings && settings[i]; i++)
        if (!config_set(traffic->config, settings[i], err)) return false;
    if (!config_check(traffic->config, err)) return false;
    traffic->id = engine_add(traffic->engine, &traffic_component, traffic, 0);
    traffic->next = mem_alloc(traffic->sources, sizeof *traffic->next);
    traffic->queue = mem_alloc(traffic->sources, sizeof *traffic->queue);
    for (unsigned i = 0; i < traffic->sources; i++) traffic->next[i] = NEVER;
    unsigned *ids = mem_alloc(NOC_MAX_ENDPOINTS, sizeof *ids);
    for (unsigned i = 0; i < NOC_MAX_ENDPOINTS; i++) ids[i] = traffic->id;
    struct network_peers peers = {ids, ids};
    traffic->network =
        network_create(traffic->config, direction, &shape, &peers, traffic->engine, 1400000, traffic->stats, err);
    free(ids);
    return traffic->network != NULL;
}

static inline void traffic_close(struct traffic *traffic) {
    network_destroy(traffic->network);
    for (unsigned i = 0; i < traffic->sources && traffic->queue; i++) {
        free(traffic->queue[i].born);
        free(traffic->queue[i].destination);
    }
    free(traffic->queue);
    free(traffic->next);
    stats_destroy(traffic->stats);
    engine_destroy(traffic->engine);
    config_destroy(traffic->config);
}

/* From the current cycle on every source creates packets at `rate`. */
static inline void traffic_start(struct traffic *traffic, enum traffic_pattern pattern, double rate) {
    assert(traffic_fits(pattern, traffic->sources, traffic->destinations));
    traffic->pattern = pattern;
    traffic->rate = rate;
    for (unsigned i = 0; i < traffic->sources; i++) traffic->next[i] = traffic->engine->now + traffic_gap(traffic) - 1;
    engine_wake(traffic->engine, traffic->id, traffic->engine->now);
}

/* One packet by hand, given to the source in cycle `at`, which is not in the past. */
static inline void traffic_packet(struct traffic *traffic, unsigned source, unsigned destination, uint64_t at) {
    traffic_enqueue(&traffic->queue[source], at, destination);
    engine_wake(traffic->engine, traffic->id, at);
}

/* Warms up, measures, and waits up to `patience` cycles for the measured packets while traffic goes on. */
static inline void traffic_measure(struct traffic *traffic, uint64_t warm_up, uint64_t interval, uint64_t patience) {
    struct engine *engine = traffic->engine;
    traffic->measure_from = engine->now + warm_up;
    traffic->measure_until = traffic->measure_from + interval;
    engine_run_until(engine, traffic->measure_until);
    uint64_t give_up = traffic->measure_until + patience;
    while (traffic->delivered < traffic->created && engine->now < give_up) engine_run_until(engine, engine->now + 100);
}

static inline double traffic_latency(const struct traffic *traffic) {
    return traffic->delivered ? (double)traffic->latency / (double)traffic->delivered : 0;
}

static inline double traffic_accepted(const struct traffic *traffic) {
    return (double)traffic->accepted_flits / (double)(traffic->measure_until - traffic->measure_from) /
           traffic->sources;
}

#endif
