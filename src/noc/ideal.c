/* The ideal network, an upper bound: every source reaches every destination after a fixed latency. The only other delay
 * is serialisation: an injection link and an ejection link carry one flit per cycle. The ejection queue is unbounded.
 *
 * Not modelled, on purpose: routers, buffers, and contention other than at the two links. The cost of a real topology
 * is its difference from this one.
 */
#include <stdlib.h>

#include "noc/network.h"

struct ideal_config {
    int64_t latency_cycles;
};

static const struct param ideal_params[] = {
    P_INT(struct ideal_config, latency_cycles, 10, 1, 1000, "cycles",
          "latency from the injection queue to the destination, for a packet of one flit"),
};

static const struct section ideal_section = {
    .path = "ideal",
    .help = "the ideal network",
    .params = ideal_params,
    .count = COUNT_OF(ideal_params),
    .size = sizeof(struct ideal_config),
};

struct arrival {
    uint64_t at, injected; /* network cycles */
    uint32_t flits;
    struct message message;
};

/* Packets in flight to one destination, in order of arrival. */
struct queue {
    struct arrival *ring;
    uint32_t mask, head, tail;
    uint64_t link_free; /* first cycle in which the ejection link is free */
};

struct ideal {
    uint64_t latency;
    uint64_t next;            /* first network cycle not yet simulated */
    uint64_t *injection_free; /* [sources] */
    struct queue *queue;      /* [destinations] */
    uint64_t in_flight;       /* packets */
};

static void queue_push(struct queue *queue, const struct arrival *arrival) {
    if (queue->tail - queue->head > queue->mask || !queue->ring) {
        uint32_t old = queue->ring ? queue->mask + 1 : 0, size = old ? old * 2 : 16;
        struct arrival *ring = mem_alloc(size, sizeof *ring);
        for (uint32_t i = 0; i < old; i++) ring[i] = queue->ring[(queue->head + i) & queue->mask];
        free(queue->ring);
        queue->ring = ring;
        queue->mask = size - 1;
        queue->tail -= queue->head;
        queue->head = 0;
    }
    queue->ring[queue->tail++ & queue->mask] = *arrival;
}

static void inject(struct network *network, struct ideal *ideal, uint64_t cycle, uint64_t now, unsigned source) {
    struct port *port = &network->input[source];
    const struct message *message = port_peek(port, now);
    if (!message || ideal->injection_free[source] > cycle) return;
    unsigned flits = message_flits(message, (unsigned)network->config->channel_bytes);
    struct queue *queue = &ideal->queue[network_destination(network, message)];
    uint64_t start = max_u64(cycle + ideal->latency, queue->link_free);
    queue->link_free = start + flits;
    struct arrival arrival = {.at = start + flits - 1, .injected = cycle, .flits = flits, .message = *message};
    queue_push(queue, &arrival);
    ideal->injection_free[source] = cycle + flits;
    ideal->in_flight++;
    network->stats.packets_injected++;
    network->stats.flits_injected += flits;
    port_pop(port, now);
}

static void eject(struct network *network, struct ideal *ideal, uint64_t cycle, uint64_t now, unsigned destination) {
    struct queue *queue = &ideal->queue[destination];
    struct port *port = &network->output[destination];
    while (queue->head != queue->tail) {
        const struct arrival *arrival = &queue->ring[queue->head & queue->mask];
        if (arrival->at > cycle || !port_can_push(port, now)) return;
        port_push(port, now, &arrival->message, sizeof arrival->message);
        network->stats.packets_ejected++;
        network->stats.flits_ejected += arrival->flits;
        network->stats.packet_cycles += arrival->at - arrival->injected;
        ideal->in_flight--;
        queue->head++;
    }
}

/* The next network cycle with an event that no port announces. */
static uint64_t next_event(struct network *network, struct ideal *ideal, uint64_t now) {
    uint64_t next = NEVER;
    for (unsigned i = 0; i < network->sources; i++)
        if (port_peek(&network->input[i], now)) next = min_u64(next, max_u64(ideal->injection_free[i], ideal->next));
    for (unsigned i = 0; i < network->destinations; i++) {
        const struct queue *queue = &ideal->queue[i];
        if (queue->head == queue->tail) continue;
        uint64_t at = queue->ring[queue->head & queue->mask].at;
        if (at < ideal->next && !port_can_push(&network->output[i], now))
            port_await_credit(&network->output[i], now);
        else
            next = min_u64(next, max_u64(at, ideal->next));
    }
    return next;
}

static void ideal_tick(void *self, uint64_t now) {
    struct network *network = self;
    struct ideal *ideal = network->state;
    uint64_t last = clock_domain_cycle(network->clock, now);
    uint64_t first = now ? clock_domain_cycle(network->clock, now - 1) + 1 : 0;
    for (uint64_t cycle = max_u64(first, ideal->next); cycle <= last; cycle++) {
        for (unsigned i = 0; i < network->destinations; i++) eject(network, ideal, cycle, now, i);
        for (unsigned i = 0; i < network->sources; i++) inject(network, ideal, cycle, now, i);
        ideal->next = cycle + 1;
    }
    uint64_t next = next_event(network, ideal, now);
    if (next != NEVER)
        engine_wake_by(network->engine, network->waker, max_u64(now + 1, clock_core_cycle(network->clock, next)));
}

static void ideal_explain(const void *self, uint64_t now, FILE *out) {
    const struct network *network = self;
    const struct ideal *ideal = network->state;
    (void)now;
    if (ideal->in_flight)
        fprintf(out, "%s network: %llu packets in flight\n", network_name(network),
                (unsigned long long)ideal->in_flight);
}

static bool ideal_busy(const void *self) {
    const struct network *network = self;
    return ((const struct ideal *)network->state)->in_flight != 0;
}

static bool ideal_build(struct network *network, const struct config *config, struct stats *stats, struct error *err) {
    (void)stats, (void)err;
    const struct ideal_config *settings = config_get(config, &ideal_section);
    struct ideal *ideal = mem_alloc(1, sizeof *ideal);
    ideal->latency = (uint64_t)settings->latency_cycles;
    ideal->injection_free = mem_alloc(network->sources, sizeof *ideal->injection_free);
    ideal->queue = mem_alloc(network->destinations, sizeof *ideal->queue);
    network->state = ideal;
    return true;
}

static void ideal_destroy(struct network *network) {
    struct ideal *ideal = network->state;
    if (!ideal) return;
    for (unsigned i = 0; i < network->destinations; i++) free(ideal->queue[i].ring);
    free(ideal->queue);
    free(ideal->injection_free);
    free(ideal);
}

static bool ideal_conserved(const struct network *network, char *text, size_t size) {
    const struct ideal *ideal = network->state;
    if (ideal->in_flight == 0) return true;
    snprintf(text, size, "%s network: %llu packets in flight", network_name(network),
             (unsigned long long)ideal->in_flight);
    return false;
}

static uint64_t ideal_unloaded_cycles(const struct config *config, const struct network_shape *shape, unsigned flits) {
    (void)shape;
    const struct ideal_config *settings = config_get(config, &ideal_section);
    return (uint64_t)settings->latency_cycles + flits - 1;
}

static const struct component_ops ideal_component = {
    .kind = "network", .tick = ideal_tick, .explain = ideal_explain, .busy = ideal_busy};

const struct topology topology_ideal = {
    .policy = {"ideal", "a fixed latency, with serialisation at both ends: an upper bound", &ideal_section},
    .component = &ideal_component,
    .keeps_order = true,
    .build = ideal_build,
    .destroy = ideal_destroy,
    .conserved = ideal_conserved,
    .unloaded_cycles = ideal_unloaded_cycles,
};
