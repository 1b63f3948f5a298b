#include "l1/cooperation.h"

#include <stdlib.h>

STATS_TABLE(adjnet_stat_table, "l1.adjnet", coop_stats, COOP_STATS);
STATS_TABLE(mulnet_stat_table, "l1.mulnet", coop_stats, COOP_STATS);

struct stop {
    struct port requests_out, requests_in, replies_out, replies_in;
    uint8_t first_probe, first_answer; /* direction whose traffic enters Q2 and Q7 first; alternates */
};

/* A channel queue: answers in transit at a stop, in one direction. */
struct channel {
    struct coop_message *slot; /* [depth] */
    unsigned first, count;
};

/* Sets of stops are bit masks. */
struct coop_network {
    struct engine *engine;
    unsigned component, groups;
    unsigned queries[COOP_DIRECTIONS];        /* of a new probe */
    bool adjacent;                            /* a probe travels in its own direction only */
    struct stop *stop;                        /* [groups] */
    uint64_t new_probes[2], new_answers[2];   /* stops with a new message in Q6 and Q3 (port_watch) */
    uint64_t asking, answering;               /* stops with a message */
    uint64_t owed[COOP_DIRECTIONS];           /* stops whose head probe has still to be sent in this direction */
    uint64_t passing[COOP_DIRECTIONS];        /* stops with an answer in transit in this direction */
    struct channel *channel[COOP_DIRECTIONS]; /* [groups] */
    unsigned depth;                           /* of the channel queues */
    struct coop_stats stats;
};

static unsigned next_stop(const struct coop_network *network, unsigned stop, enum coop_direction direction) {
    unsigned next = direction == COOP_RIGHT ? stop + 1 : stop + network->groups - 1;
    return next < network->groups ? next : next - network->groups;
}

/* The set of neighbours of all stops in a set. */
static uint64_t next_stops(const struct coop_network *network, uint64_t stops, enum coop_direction direction) {
    unsigned last = network->groups - 1;
    return direction == COOP_RIGHT ? (stops << 1 | stops >> last) & low_mask(network->groups)
                                   : stops >> 1 | (stops & 1) << last;
}

static enum coop_direction opposite(unsigned direction) { return direction == COOP_LEFT ? COOP_RIGHT : COOP_LEFT; }

/* The shorter direction from a stop to the source; for equal distances, back towards the probe's origin. */
static enum coop_direction reply_direction(const struct coop_network *network, unsigned stop,
                                           const struct coop_message *message) {
    unsigned right = message->source + (message->source < stop ? network->groups : 0) - stop;
    unsigned left = network->groups - right;
    return right < left ? COOP_RIGHT : left < right ? COOP_LEFT : opposite(message->direction);
}

/* Stops whose queue has a newly visible message. */
static uint64_t take_new(uint64_t watched[2], uint64_t now) {
    uint64_t stops = watched[(now + 1) % 2];
    watched[(now + 1) % 2] = 0;
    return stops;
}

static bool pop_more(struct port *queue, uint64_t *stops, uint64_t stop, uint64_t now) {
    port_pop(queue, now);
    bool more = port_next_visible(queue) <= now;
    if (!more) *stops &= ~stop;
    return more;
}

/* --- probes --- */

/* Determines the directions of the head probe of a stop. */
static void probe_begin(struct coop_network *network, unsigned s, uint64_t now) {
    const struct coop_message *probe = port_peek(&network->stop[s].requests_out, now);
    bool fresh = probe->source == s, both = fresh && !network->adjacent;
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++)
        if (both ? network->queries[direction] > 0 : probe->direction == direction)
            network->owed[direction] |= UINT64_C(1) << s;
    network->stats.asked += fresh;
}

/* Moves the head probe of stop `from` to Q2 of stop `to`. */
static bool probe_deliver(struct coop_network *network, unsigned from, unsigned to, enum coop_direction direction,
                          uint64_t now) {
    struct port *queue = &network->stop[to].requests_in;
    if (!port_can_push(queue, now)) {
        port_await_credit(queue, now);
        return false;
    }
    struct coop_message *probe = port_push_place(queue, now);
    *probe = *(const struct coop_message *)port_peek(&network->stop[from].requests_out, now);
    probe->direction = (uint8_t)direction;
    probe->queries = (uint8_t)((probe->source == from ? network->queries[direction] : probe->queries) - 1);
    network->owed[direction] &= ~(UINT64_C(1) << from);
    network->stats.probes++;
    stat_max(&network->stats.probes_peak, queue->capacity - port_credits(queue, now));
    return true;
}

/* Accepts the probes of both neighbours, alternating if there is space for one only. */
static void probes_enter(struct coop_network *network, unsigned to, uint64_t now) {
    enum coop_direction first = network->stop[to].first_probe;
    for (unsigned i = 0; i < COOP_DIRECTIONS; i++) {
        enum coop_direction direction = i == 0 ? first : opposite(first);
        unsigned from = next_stop(network, to, opposite(direction));
        if (network->owed[direction] >> from & 1 && probe_deliver(network, from, to, direction, now))
            network->stop[to].first_probe = (uint8_t)opposite(direction);
    }
}

static bool probes_leave(struct coop_network *network, uint64_t now) {
    uint64_t *owed = network->owed;
    bool more = false;
    network->asking |= take_new(network->new_probes, now);
    if (!network->asking) return false;
    for (uint64_t rest = network->asking & ~(owed[COOP_LEFT] | owed[COOP_RIGHT]); rest; rest &= rest - 1)
        probe_begin(network, lowest_bit(rest), now);
    uint64_t targets =
        next_stops(network, owed[COOP_LEFT], COOP_LEFT) | next_stops(network, owed[COOP_RIGHT], COOP_RIGHT);
    for (; targets; targets &= targets - 1) probes_enter(network, lowest_bit(targets), now);
    for (uint64_t rest = network->asking & ~(owed[COOP_LEFT] | owed[COOP_RIGHT]); rest; rest &= rest - 1) {
        struct port *queue = &network->stop[lowest_bit(rest)].requests_out;
        network->stats.probe_wait_cycles += now - port_next_visible(queue);
        more |= pop_more(queue, &network->asking, rest & -rest, now);
    }
    return more;
}

/* --- answers --- */

static void channel_push(struct coop_network *network, unsigned stop, enum coop_direction direction,
                         const struct coop_message *answer) {
    struct channel *channel = &network->channel[direction][stop];
    channel->slot[(channel->first + channel->count++) % network->depth] = *answer;
    network->passing[direction] |= UINT64_C(1) << stop;
    stat_max(&network->stats.channel_peak, channel->count);
}

static const struct coop_message *channel_head(const struct coop_network *network, unsigned stop,
                                               enum coop_direction direction) {
    const struct channel *channel = &network->channel[direction][stop];
    return &channel->slot[channel->first];
}

static void channel_pop(struct coop_network *network, unsigned stop, enum coop_direction direction) {
    struct channel *channel = &network->channel[direction][stop];
    channel->first = (channel->first + 1) % network->depth;
    if (--channel->count == 0) network->passing[direction] &= ~(UINT64_C(1) << stop);
}

/* State at the beginning of a cycle, as sets of stops: what moves in a cycle does not depend on the order of moves. */
struct answers {
    uint64_t leaving[COOP_DIRECTIONS]; /* the head of Q3 leaves in this direction */
    uint64_t passing[COOP_DIRECTIONS]; /* an answer in transit leads the channel queue */
    uint64_t full[COOP_DIRECTIONS];    /* the channel queue has no space */
};

static struct answers answers_at(struct coop_network *network, uint64_t now) {
    struct answers answers = {.passing = {network->passing[COOP_LEFT], network->passing[COOP_RIGHT]}};
    for (uint64_t rest = network->answering; rest; rest &= rest - 1) {
        unsigned s = lowest_bit(rest);
        answers.leaving[reply_direction(network, s, port_peek(&network->stop[s].replies_out, now))] |= rest & -rest;
    }
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++)
        for (uint64_t rest = network->passing[direction]; rest; rest &= rest - 1) {
            unsigned count = network->channel[direction][lowest_bit(rest)].count;
            if (count == network->depth) answers.full[direction] |= rest & -rest;
            network->stats.channel_wait_cycles += count; /* minus those that move */
        }
    return answers;
}

/* Moves an answer to stop `to`: into Q7 if that is its destination, else into the channel queue unless it is `full`. */
static bool answer_deliver(struct coop_network *network, unsigned to, enum coop_direction direction,
                           const struct coop_message *answer, uint64_t full, uint64_t now) {
    struct port *queue = &network->stop[to].replies_in;
    if (answer->source != to) {
        if (full >> to & 1) return false;
        channel_push(network, to, direction, answer);
    } else {
        if (!port_can_push(queue, now)) {
            port_await_credit(queue, now);
            return false;
        }
        port_push(queue, now, answer, sizeof *answer);
        stat_max(&network->stats.answers_peak, queue->capacity - port_credits(queue, now));
        network->stop[to].first_answer = (uint8_t)opposite(direction);
    }
    network->stats.answer_hops++;
    return true;
}

/* Moves to stop `to` the answer in transit at the previous stop, else the head of that stop's Q3. Returns whether that
 * queue may go on in the next cycle. */
static bool answer_enter(struct coop_network *network, unsigned to, enum coop_direction direction,
                         const struct answers *answers, uint64_t now) {
    unsigned from = next_stop(network, to, opposite(direction));
    bool waits = answers->leaving[direction] >> from & 1;
    if (answers->passing[direction] >> from & 1) {
        if (answer_deliver(network, to, direction, channel_head(network, from, direction), answers->full[direction],
                           now)) {
            channel_pop(network, from, direction);
            network->stats.channel_wait_cycles--;
        }
        return waits;
    }
    if (!waits) return false;
    struct port *queue = &network->stop[from].replies_out;
    const struct coop_message *answer = port_peek(queue, now);
    if (!answer_deliver(network, to, direction, answer, answers->full[direction], now))
        return answer->source != to; /* else the credit wakes the network */
    ++*(answer->kind == COOP_DATA ? &network->stats.data_answers : &network->stats.miss_answers);
    network->stats.answer_wait_cycles += now - port_next_visible(queue);
    return pop_more(queue, &network->answering, UINT64_C(1) << from, now);
}

static bool answers_pass(const struct coop_network *network) {
    return network->passing[COOP_LEFT] | network->passing[COOP_RIGHT];
}

static bool answers_move(struct coop_network *network, uint64_t now) {
    uint64_t targets = 0;
    bool more = false;
    network->answering |= take_new(network->new_answers, now);
    if (!network->answering && !answers_pass(network)) return false;
    struct answers answers = answers_at(network, now);
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++)
        targets |= next_stops(network, answers.passing[direction] | answers.leaving[direction], direction);
    for (; targets; targets &= targets - 1) {
        unsigned to = lowest_bit(targets);
        enum coop_direction first = network->stop[to].first_answer, second = opposite(first);
        more |= answer_enter(network, to, first, &answers, now);
        more |= answer_enter(network, to, second, &answers, now);
    }
    return more || answers_pass(network);
}

static void tick(void *self, uint64_t now) {
    struct coop_network *network = self;
    bool again = probes_leave(network, now);
    again |= answers_move(network, now);
    if (again) engine_wake(network->engine, network->component, now + 1);
}

/* --- the component --- */

static bool busy(const void *self) { return answers_pass(self); }

static void explain(const void *self, uint64_t now, FILE *out) {
    const struct coop_network *network = self;
    (void)now;
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) {
        const char *side = direction == COOP_LEFT ? "left" : "right";
        for (uint64_t rest = network->passing[direction]; rest; rest &= rest - 1)
            fprintf(out, "answers in transit to the %s at group %u: %u\n", side, lowest_bit(rest),
                    network->channel[direction][lowest_bit(rest)].count);
        for (uint64_t rest = network->owed[direction]; rest; rest &= rest - 1)
            fprintf(out, "the head probe of group %u waits for space to the %s\n", lowest_bit(rest), side);
    }
}

static const struct component_ops adjacent_ops = {.kind = "adjnet", .tick = tick, .explain = explain, .busy = busy};
static const struct component_ops ring_ops = {.kind = "mulnet", .tick = tick, .explain = explain, .busy = busy};

static void stop_init(struct coop_network *network, unsigned s, const struct coop_context *context) {
    struct stop *stop = &network->stop[s];
    unsigned node = context->component[s], self = network->component;
    port_init(&stop->requests_out, context->engine, "requests to other groups", node, self, context->queue, 1);
    port_init(&stop->requests_in, context->engine, "requests from other groups", self, node, context->queue, 1);
    port_init(&stop->replies_out, context->engine, "replies to other groups", node, self, context->queue, 1);
    port_init(&stop->replies_in, context->engine, "replies from other groups", self, node, context->queue, 1);
    port_watch(&stop->requests_out, network->new_probes, s);
    port_watch(&stop->replies_out, network->new_answers, s);
}

static struct coop_network *create(const struct coop_context *context, const struct component_ops *ops,
                                   const struct stat_table *table, unsigned left, unsigned right) {
    assert(context->groups >= 2 && context->groups <= COOP_GROUPS_MAX && left + right > 0);
    struct coop_network *network = mem_alloc(1, sizeof *network);
    *network = (struct coop_network){
        .engine = context->engine,
        .groups = context->groups,
        .queries = {(unsigned)min_u64(left, context->groups - 1), (unsigned)min_u64(right, context->groups - 1)},
        .adjacent = ops == &adjacent_ops,
        .depth = context->channel,
        .stop = mem_alloc(context->groups, sizeof *network->stop),
    };
    network->component = engine_add(context->engine, ops, network, context->position);
    for (unsigned s = 0; s < context->groups; s++) stop_init(network, s, context);
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) {
        network->channel[direction] = mem_alloc(context->groups, sizeof *network->channel[direction]);
        for (unsigned s = 0; s < context->groups && network->depth; s++)
            network->channel[direction][s].slot = mem_alloc(network->depth, sizeof(struct coop_message));
    }
    stats_add(context->stats, table, &network->stats);
    return network;
}

struct coop_network *adjacent_create(const struct coop_context *context) {
    return create(context, &adjacent_ops, &adjnet_stat_table, 1, 1);
}

struct coop_network *ring_create(const struct coop_context *context) {
    assert(context->channel >= 2);
    return create(context, &ring_ops, &mulnet_stat_table, context->short_queries, context->long_queries);
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
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) {
        for (unsigned s = 0; s < network->groups; s++) free(network->channel[direction][s].slot);
        free(network->channel[direction]);
    }
    free(network->stop);
    free(network);
}

struct coop_ports coop_network_ports(struct coop_network *network, unsigned group) {
    struct stop *stop = &network->stop[group];
    return (struct coop_ports){&stop->requests_out, &stop->requests_in, &stop->replies_out, &stop->replies_in};
}
