#include "l1/cooperation.h"

#include <stdlib.h>

STATS_TABLE(adjnet_stat_table, "l1.adjnet", coop_stats, COOP_STATS);
STATS_TABLE(mulnet_stat_table, "l1.mulnet", coop_stats, COOP_STATS);

struct stop {
    struct port requests_out, requests_in, replies_out, replies_in;
    uint8_t owed;    /* ways that the first probe of Q6 has yet to take, a bit for each */
    uint8_t leaving; /* 1 + the way that the first answer of Q3 is to take in this cycle; 0: there is none */
    uint8_t first_probe, first_answer; /* the way whose traffic enters Q2 and Q7 first: the other one than last time */
};

/* An answer on its way, at a stop that it passes. */
struct passing {
    bool full;
    struct coop_message message;
};

struct coop_network {
    struct engine *engine;
    unsigned component, groups;
    unsigned queries[COOP_WAYS];        /* of fresh probes */
    bool adjacent;                      /* probes take the one way they name */
    struct stop *stop;                  /* [groups] */
    struct passing *passing[COOP_WAYS]; /* [groups] by direction of travel */
    struct passing *arrived[COOP_WAYS]; /* the same for the next cycle */
    unsigned passing_count;
    struct coop_stats stats;
};

static unsigned next_stop(const struct coop_network *network, unsigned stop, enum coop_way way) {
    unsigned next = way == COOP_RIGHT ? stop + 1 : stop + network->groups - 1;
    return next < network->groups ? next : next - network->groups;
}

static enum coop_way other_way(unsigned way) { return way == COOP_LEFT ? COOP_RIGHT : COOP_LEFT; }

/* The shorter way from a stop to the source; back where the probe came from if both are equal. */
static enum coop_way way_back(const struct coop_network *network, unsigned stop, const struct coop_message *message) {
    unsigned right = (message->source + network->groups - stop) % network->groups, left = network->groups - right;
    return right < left ? COOP_RIGHT : left < right ? COOP_LEFT : other_way(message->way);
}

/* --- probes --- */

/* The first probe of Q6, with the ways that it has yet to take. */
static const struct coop_message *probe_at(struct coop_network *network, unsigned s, uint64_t now) {
    struct stop *stop = &network->stop[s];
    const struct coop_message *probe = port_peek(&stop->requests_out, now);
    if (!probe || stop->owed) return probe;
    bool fresh = probe->source == s, both = fresh && !network->adjacent;
    for (unsigned way = 0; way < COOP_WAYS; way++)
        if (both ? network->queries[way] > 0 : probe->way == way) stop->owed |= (uint8_t)(1u << way);
    network->stats.asked += fresh;
    return probe;
}

/* Takes the first probe of stop `from` to Q2 of stop `to`. */
static bool probe_deliver(struct coop_network *network, unsigned from, unsigned to, enum coop_way way, uint64_t now) {
    struct port *queue = &network->stop[to].requests_in;
    if (!port_can_push(queue, now)) {
        port_await_credit(queue, now);
        return false;
    }
    struct stop *stop = &network->stop[from];
    struct coop_message probe = *(const struct coop_message *)port_peek(&stop->requests_out, now);
    bool fresh = probe.source == from;
    probe.way = (uint8_t)way;
    probe.queries = (uint8_t)((fresh ? network->queries[way] : probe.queries) - 1);
    port_push(queue, now, &probe, sizeof probe);
    stop->owed &= (uint8_t) ~(1u << way);
    network->stats.probes++;
    stat_max(&network->stats.probes_peak, queue->capacity - port_credits(queue, now));
    return true;
}

/* Lets in what both neighbours have for this stop, in turns if there is room for one. */
static void probes_enter(struct coop_network *network, unsigned to, uint64_t now) {
    enum coop_way first = network->stop[to].first_probe;
    for (unsigned i = 0; i < COOP_WAYS; i++) {
        enum coop_way way = i == 0 ? first : other_way(first);
        unsigned from = next_stop(network, to, other_way(way));
        if (network->stop[from].owed & 1u << way && probe_deliver(network, from, to, way, now))
            network->stop[to].first_probe = (uint8_t)other_way(way);
    }
}

static bool probes_leave(struct coop_network *network, uint64_t now) {
    uint64_t heads = 0;
    bool more = false;
    for (unsigned s = 0; s < network->groups; s++) heads |= (uint64_t)(probe_at(network, s, now) != NULL) << s;
    if (!heads) return false;
    for (unsigned s = 0; s < network->groups; s++) probes_enter(network, s, now);
    for (; heads; heads &= heads - 1) {
        struct stop *stop = &network->stop[lowest_bit(heads)];
        if (stop->owed) continue;
        network->stats.probe_wait_cycles += now - port_next_visible(&stop->requests_out);
        port_pop(&stop->requests_out, now);
        more |= port_next_visible(&stop->requests_out) <= now;
    }
    return more;
}

/* --- answers --- */

/* Takes an answer on to stop `to`, and into Q7 if it is at home there. One that is not on the ring yet, `entering`, must
 * find room; one that is goes round once more. */
static bool answer_deliver(struct coop_network *network, unsigned to, enum coop_way way,
                           const struct coop_message *answer, bool entering, uint64_t now) {
    struct port *queue = &network->stop[to].replies_in;
    bool home = answer->source == to, room = home && port_can_push(queue, now);
    if (entering && home && !room) {
        port_await_credit(queue, now);
        return false;
    }
    network->stats.answer_hops++;
    if (room) {
        port_push(queue, now, answer, sizeof *answer);
        stat_max(&network->stats.answers_peak, queue->capacity - port_credits(queue, now));
        network->stop[to].first_answer = (uint8_t)other_way(way);
    } else {
        network->stats.answer_rounds += home;
        network->arrived[way][to] = (struct passing){true, *answer};
        network->passing_count++;
    }
    return true;
}

/* Whatever comes to stop `to` in this direction: an answer that passes the stop before, else the first of that stop's
 * Q3. Returns whether the next cycle may bring more from there. */
static bool answer_enter(struct coop_network *network, unsigned to, enum coop_way way, uint64_t now) {
    unsigned from = next_stop(network, to, other_way(way));
    struct passing *passing = &network->passing[way][from];
    bool waits = network->stop[from].leaving == 1 + way;
    if (passing->full) {
        passing->full = false;
        network->passing_count--;
        answer_deliver(network, to, way, &passing->message, false, now);
        return waits;
    }
    if (!waits) return false;
    struct port *queue = &network->stop[from].replies_out;
    const struct coop_message *answer = port_peek(queue, now);
    if (!answer_deliver(network, to, way, answer, true, now)) return false;
    ++*(answer->kind == COOP_DATA ? &network->stats.data_answers : &network->stats.miss_answers);
    network->stats.answer_wait_cycles += now - port_next_visible(queue);
    port_pop(queue, now);
    return port_next_visible(queue) <= now;
}

static bool answers_move(struct coop_network *network, uint64_t now) {
    bool any = network->passing_count > 0, more = false;
    for (unsigned s = 0; s < network->groups; s++) {
        const struct coop_message *answer = port_peek(&network->stop[s].replies_out, now);
        network->stop[s].leaving = answer ? (uint8_t)(1 + way_back(network, s, answer)) : 0;
        any |= answer != NULL;
    }
    if (!any) return false;
    for (unsigned to = 0; to < network->groups; to++) {
        enum coop_way first = network->stop[to].first_answer;
        more |= answer_enter(network, to, first, now);
        more |= answer_enter(network, to, other_way(first), now);
    }
    for (unsigned way = 0; way < COOP_WAYS; way++) {
        struct passing *emptied = network->passing[way];
        network->passing[way] = network->arrived[way];
        network->arrived[way] = emptied;
    }
    return more || network->passing_count > 0;
}

static void tick(void *self, uint64_t now) {
    struct coop_network *network = self;
    bool again = probes_leave(network, now);
    again |= answers_move(network, now);
    if (again) engine_wake(network->engine, network->component, now + 1);
}

/* --- the component --- */

static bool busy(const void *self) { return ((const struct coop_network *)self)->passing_count > 0; }

static void explain(const void *self, uint64_t now, FILE *out) {
    const struct coop_network *network = self;
    (void)now;
    if (network->passing_count) fprintf(out, "%u answers on the ring\n", network->passing_count);
    for (unsigned s = 0; s < network->groups; s++)
        if (network->stop[s].owed)
            fprintf(out, "the first probe of group %u waits for room at its %s\n", s,
                    network->stop[s].owed == 1u << COOP_LEFT    ? "left"
                    : network->stop[s].owed == 1u << COOP_RIGHT ? "right"
                                                                : "left and right");
}

static const struct component_ops adjacent_ops = {.kind = "adjnet", .tick = tick, .explain = explain, .busy = busy};
static const struct component_ops ring_ops = {.kind = "mulnet", .tick = tick, .explain = explain, .busy = busy};

static void stop_init(struct coop_network *network, unsigned s, const struct coop_site *site) {
    struct stop *stop = &network->stop[s];
    unsigned node = site->component[s], self = network->component;
    port_init(&stop->requests_out, site->engine, "requests to other groups", node, self, site->queue, 1);
    port_init(&stop->requests_in, site->engine, "requests of other groups", self, node, site->queue, 1);
    port_init(&stop->replies_out, site->engine, "replies to other groups", node, self, site->queue, 1);
    port_init(&stop->replies_in, site->engine, "replies of other groups", self, node, site->queue, 1);
}

static struct coop_network *create(const struct coop_site *site, const struct component_ops *ops,
                                   const struct stat_table *table, unsigned left, unsigned right) {
    assert(site->groups >= 2 && site->groups <= COOP_GROUPS_MAX && left + right > 0);
    struct coop_network *network = mem_alloc(1, sizeof *network);
    *network = (struct coop_network){
        .engine = site->engine,
        .groups = site->groups,
        .queries = {(unsigned)min_u64(left, site->groups - 1), (unsigned)min_u64(right, site->groups - 1)},
        .adjacent = ops == &adjacent_ops,
        .stop = mem_alloc(site->groups, sizeof *network->stop),
    };
    network->component = engine_add(site->engine, ops, network, site->position);
    for (unsigned s = 0; s < site->groups; s++) stop_init(network, s, site);
    for (unsigned way = 0; way < COOP_WAYS; way++) {
        network->passing[way] = mem_alloc(site->groups, sizeof *network->passing[way]);
        network->arrived[way] = mem_alloc(site->groups, sizeof *network->arrived[way]);
    }
    stats_add(site->stats, table, &network->stats);
    return network;
}

struct coop_network *adjacent_create(const struct coop_site *site) {
    return create(site, &adjacent_ops, &adjnet_stat_table, 1, 1);
}

struct coop_network *ring_create(const struct coop_site *site) {
    return create(site, &ring_ops, &mulnet_stat_table, site->short_queries, site->long_queries);
}

void coop_network_destroy(struct coop_network *network) {
    if (!network) return;
    for (unsigned s = 0; s < network->groups; s++) {
        struct coop_ports ports = coop_network_ports(network, s);
        port_release(ports.requests_out);
        port_release(ports.requests_in);
        port_release(ports.replies_out);
        port_release(ports.replies_in);
    }
    for (unsigned way = 0; way < COOP_WAYS; way++) free(network->passing[way]), free(network->arrived[way]);
    free(network->stop);
    free(network);
}

struct coop_ports coop_network_ports(struct coop_network *network, unsigned group) {
    struct stop *stop = &network->stop[group];
    return (struct coop_ports){&stop->requests_out, &stop->requests_in, &stop->replies_out, &stop->replies_in};
}
