/* Clustered L1 (CSD-L1, "Analyzing and Leveraging Decoupled L1 Caches in GPUs", HPCA 2021, as used in "GPU Performance
 * Optimization via Inter-group Cache Cooperation", section II-B): the L1s are moved out of the SMs into groups of
 * nodes. The SMs of a group share its nodes, over which lines are interleaved, so a group holds a line at most once.
 * Groups are independent of each other.
 *
 * A node is a component: a cache (controller.h) with a request queue (Q1), from which it accepts one request per cycle,
 * and a reply queue (Q4). Requests and replies cross the crossbars of the group (crossbar.h); misses go from the node's
 * miss queue (Q5) to the network. Requests that bypass the L1 also go through the line's home node, which keeps all
 * accesses to a line in order. A reply carries the requested sectors.
 *
 * The caches are the private organisation, created for nodes instead of SMs, with its insertion policies and stages.
 *
 * A node without space in Q4 accepts no request and wakes no waiter. It still fills lines and sends requests, which need
 * no space in Q4; a reply that completes an access without a fill waits at the head of the network's port. Q4 has
 * additional entries for the accesses that complete after the stall.
 *
 * Assumed, since neither paper specifies them: lengths of Q1 and Q4.
 */
#include "l1/clustered.h"

#include <stdlib.h>

#include "l1/crossbar.h"
#include "sim/gpu_config.h"
#include "sim/latency.h"

/* Latency breakdown of an SM's completed reads of global and local memory. */
#define READ_STATS(S) \
    S(SUM, reads, "accesses", "reads answered by nodes, without those that bypass the L1") \
    S(SUM, request_cycles, "cycles", "from the load/store unit to acceptance by the node, summed over these reads") \
    S(SUM, node_cycles, "cycles", "from acceptance to the data in the node, summed over these reads") \
    S(SUM, reply_cycles, "cycles", "from the node to the SM, summed over these reads")
STATS_STRUCT(read_stats, READ_STATS);
STATS_TABLE(l1_read_stat_table, "l1.latency", read_stats, READ_STATS);

/* Reservation failures of the request at the head of Q1, by cause, in the order of enum l1_outcome. */
STATS_TABLE(l1_reservation_fail_stat_table, "l1.reservation_fail", l1_reservation_fail_stats, L1_RESERVATION_FAILS);

enum { NO_VISITOR = UINT32_MAX };

/* An access accepted by a node and not answered. Its index is the token used with the cache. */
struct visitor {
    uint32_t token; /* the SM's */
    uint32_t since, taken;
    uint32_t next; /* free list */
    uint8_t sm, sectors, kind;
    bool read; /* a read that does not bypass the L1 */
};

struct hub {
    struct clustered *l1;
    unsigned node, component;
    struct port *requests, *replies; /* Q1, Q4 */
    struct port *commands, *reports; /* of the control plane */
    struct visitor *visitor;
    uint32_t visitor_free, visitor_count, visitors;
    uint32_t *hit;           /* [hit_cycles + 1] hits, by the cycle in which their data is due */
    unsigned hits;           /* number of such hits */
    bool others_next;        /* the next lookup is another group's */
    bool reporting;          /* L1_COMMAND_REPORT received: report when nothing is in flight */
    enum l1_outcome failure; /* reservation failure of the head of Q1; 0: none */
    uint32_t failed_changes;
    uint64_t failed_since; /* earlier cycles are accounted */
    uint64_t failed_cycles[L1_OUTCOMES - L1_FAIL_MSHR];
};

/* An SM's interface to the crossbars of its group. */
struct inlet {
    struct port *requests, *replies;
    uint32_t outstanding;
    bool waits; /* a request failed for lack of credits */
    struct read_stats stats;
};

struct clustered {
    struct l1 base;
    struct l1 *caches;               /* one per node */
    struct cooperation *cooperation; /* NULL: none */
    struct engine *engine;
    const unsigned *sm_component;
    struct group_shape shape;
    unsigned nodes, sms; /* in all groups */
    unsigned line_log2, hit_cycles, channel_bytes;
    unsigned crossbar_cycles;           /* of a packet of one flit at zero load */
    struct hub *hub;                    /* [nodes] */
    struct inlet *inlet;                /* [sms] */
    unsigned *component;                /* [nodes] */
    struct crossbar **request, **reply; /* [groups] */
};

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static uint32_t visitor_take(struct hub *hub) {
    if (hub->visitor_free == NO_VISITOR) {
        uint32_t old = hub->visitor_count, grown = old ? 2 * old : 64;
        hub->visitor = mem_grow(hub->visitor, grown, sizeof *hub->visitor);
        for (uint32_t i = grown; i > old; i--) {
            hub->visitor[i - 1].next = hub->visitor_free;
            hub->visitor_free = i - 1;
        }
        hub->visitor_count = grown;
    }
    uint32_t index = hub->visitor_free;
    hub->visitor_free = hub->visitor[index].next;
    hub->visitors++;
    return index;
}

static void visitor_leave(struct hub *hub, uint32_t index) {
    hub->visitor[index].next = hub->visitor_free;
    hub->visitor_free = index;
    hub->visitors--;
}

static uint8_t flits_of(const struct clustered *l1, enum message_kind kind, uint8_t sectors) {
    struct message message = {.kind = (uint8_t)kind, .sectors = sectors};
    return (uint8_t)message_flits(&message, l1->channel_bytes);
}

/* Observation of latencies: the path of a visitor is that of the cache's client; the path of its SM's access is extended
 * by the crossbars, and by the visitor's path when that is complete. */

static uint64_t visitor_key(const struct hub *hub, uint32_t index) {
    return latency_key(LATENCY_ACCESS, hub->node, index, 0);
}

static uint64_t sm_key(const struct hub *hub, unsigned sm_of_group, uint32_t token) {
    unsigned group = hub->node / hub->l1->shape.nodes;
    return latency_key(LATENCY_SHARED, group * hub->l1->shape.sms + sm_of_group, token, 0);
}

static void observe_crossing(const struct clustered *l1, uint64_t key, unsigned flits, uint64_t now) {
    latency_mark_loaded(l1->engine->latency, key, LATENCY_l1_queue, LATENCY_l1_crossbar,
                        l1->crossbar_cycles + flits - 1, now);
}

static NEVER_INLINE void observe_answer(const struct hub *hub, uint32_t index, uint64_t now) {
    const struct visitor *visitor = &hub->visitor[index];
    struct latency *latency = hub->l1->engine->latency;
    if (visitor->kind != MESSAGE_WRITE) {
        latency_mark(latency, visitor_key(hub, index), LATENCY_l1, now); /* a hit: others end in this cycle */
        latency_join(latency, sm_key(hub, visitor->sm, visitor->token), visitor_key(hub, index), LATENCY_l1);
    }
    latency_close(latency, visitor_key(hub, index));
}

/* Sends the answer of a completed access to the SM. The address field, unused in replies, carries the timestamps. */
static void answer(struct hub *hub, uint32_t index, uint64_t now) {
    const struct visitor *visitor = &hub->visitor[index];
    enum message_kind kind = visitor->kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    struct group_packet packet = {
        .request = {.address = (uint64_t)visitor->since << 32 | visitor->taken,
                    .token = visitor->token,
                    .bypass = !visitor->read},
        .since = (uint32_t)now,
        .from = (uint8_t)(hub->node % hub->l1->shape.nodes),
        .to = visitor->sm,
        .flits = flits_of(hub->l1, kind, visitor->sectors),
    };
    port_push(hub->replies, now, &packet, sizeof packet);
    if (UNLIKELY(hub->l1->engine->latency != NULL)) observe_answer(hub, index, now);
    visitor_leave(hub, index);
}

static void report(struct hub *hub, enum l1_report_kind kind, uint64_t now) {
    struct l1_report report = {kind};
    port_push(hub->reports, now, &report, sizeof report);
}

static void take_commands(struct hub *hub, uint64_t now) {
    struct l1 *caches = hub->l1->caches;
    const struct l1_command *order;
    while ((order = port_peek(hub->commands, now))) {
        switch (order->kind) {
        case L1_COMMAND_FLUSH:
            caches->ops->flush(caches, hub->node);
            report(hub, L1_REPORT_FLUSHED, now);
            break;
        case L1_COMMAND_STEER: l1_steer(&hub->l1->base, hub->node, order->plain, order->round); break;
        case L1_COMMAND_REPORT: hub->reporting = true; break;
        }
        port_pop(hub->commands, now);
    }
}

static void count_failure(struct hub *hub, uint64_t now) {
    if (hub->failure) hub->failed_cycles[hub->failure - L1_FAIL_MSHR] += now - hub->failed_since;
    hub->failed_since = now;
}

/* The head of Q1, unless its reservation failure cannot have been resolved. */
static const struct group_packet *next_request(struct hub *hub, uint64_t now) {
    const struct l1_gate *gate = &hub->l1->caches->gate[hub->node];
    return hub->failure && hub->failed_changes == gate->changes ? NULL : port_peek(hub->requests, now);
}

/* Returns whether the cache accepted it. */
static bool take_request(struct hub *hub, const struct group_packet *packet, uint64_t now) {
    struct clustered *l1 = hub->l1;
    uint32_t index = visitor_take(hub);
    struct l1_request request = packet->request;
    request.token = index;
    if (UNLIKELY(l1->engine->latency != NULL)) latency_open(l1->engine->latency, visitor_key(hub, index), now);
    enum l1_outcome outcome = l1->caches->ops->access(l1->caches, hub->node, &request, now);
    count_failure(hub, now);
    hub->failure = outcome > L1_ACCEPTED ? outcome : 0;
    hub->failed_changes = l1->caches->gate[hub->node].changes;
    if (hub->failure) {
        if (UNLIKELY(l1->engine->latency != NULL)) latency_close(l1->engine->latency, visitor_key(hub, index));
        visitor_leave(hub, index);
        return false;
    }
    if (UNLIKELY(l1->engine->latency != NULL))
        observe_crossing(l1, sm_key(hub, packet->from, packet->request.token), packet->flits, now);
    struct visitor *visitor = &hub->visitor[index];
    *visitor = (struct visitor){
        .token = packet->request.token,
        .since = packet->since,
        .taken = (uint32_t)now,
        .sm = packet->from,
        .sectors = request.sectors,
        .kind = request.kind,
        .read = request.kind == MESSAGE_READ && !request.bypass,
    };
    if (outcome == L1_HIT) {
        hub->hit[(now + l1->hit_cycles) % (l1->hit_cycles + 1)] = index;
        hub->hits++;
        engine_wake(l1->engine, hub->component, now + l1->hit_cycles);
    }
    port_pop(hub->requests, now);
    return true;
}

/* One lookup per cycle, alternating between requests of the group's SMs and of other groups. */
static void look_up(struct hub *hub, bool room, uint64_t now) {
    struct cooperation *others = hub->l1->cooperation;
    const struct group_packet *packet = room ? next_request(hub, now) : NULL;
    bool asked = others && others->ops->asked(others, hub->node, now);
    bool taken = packet && !(asked && hub->others_next) && take_request(hub, packet, now);
    if (asked && !taken) others->ops->serve(others, hub->node, now);
    if (asked || taken) hub->others_next = taken;
}

/* Includes work that no SM waits for: write-backs, and requests to and from other groups. */
static bool hub_busy(const void *self) {
    const struct hub *hub = self;
    const struct clustered *l1 = hub->l1;
    return hub->visitors || l1->caches->ops->busy(l1->caches, hub->node) ||
           (l1->cooperation && l1->cooperation->ops->busy(l1->cooperation, hub->node));
}

static void hub_tick(void *self, uint64_t now) {
    struct hub *hub = self;
    struct clustered *l1 = hub->l1;
    struct cooperation *others = l1->cooperation;
    const struct l1_gate *gate = &l1->caches->gate[hub->node];
    if (UNLIKELY(port_next_visible(hub->commands) <= now)) take_commands(hub, now);
    if (others) others->ops->receive(others, hub->node, now);
    uint32_t *hit = &hub->hit[now % (l1->hit_cycles + 1)];
    if (*hit != NO_VISITOR) {
        answer(hub, *hit, now);
        *hit = NO_VISITOR;
        hub->hits--;
    }
    bool room = port_credits(hub->replies, now) > L1_COMPLETIONS + hub->hits;
    if (!room) port_await_credit(hub->replies, now);
    bool due = !l1_idle(gate, now) || (others && others->ops->answered(others, hub->node, now));
    if (due && !room) l1->caches->ops->tick_blocked(l1->caches, hub->node, now);
    if (due && room) {
        uint32_t index[L1_COMPLETIONS];
        unsigned completions = l1->caches->ops->tick(l1->caches, hub->node, now, index);
        for (unsigned i = 0; i < completions; i++) answer(hub, index[i], now);
    }
    look_up(hub, room, now);
    if ((room && next_request(hub, now)) || (others && others->ops->asked(others, hub->node, now)))
        engine_wake(l1->engine, hub->component, now + 1);
    if (UNLIKELY(hub->reporting) && !hub_busy(hub)) {
        hub->reporting = false;
        report(hub, L1_REPORT_QUIET, now);
    }
}

static void hub_settle(void *self, uint64_t now) { count_failure(self, now); }

static void hub_explain(const void *self, uint64_t now, FILE *out) {
    const struct hub *hub = self;
    const struct clustered *l1 = hub->l1;
    (void)now;
    if (!hub_busy(hub)) return;
    fprintf(out, "l1 node %u: %u accesses outstanding\n", hub->node, hub->visitors);
    l1->caches->ops->explain(l1->caches, hub->node, out);
    if (l1->cooperation) l1->cooperation->ops->explain(l1->cooperation, hub->node, out);
}

static const struct component_ops hub_ops = {"l1 node", hub_tick, hub_settle, hub_explain, hub_busy};

/* ---- SMs -------------------------------------------------------------------------------------------------------- */

static struct inlet *inlet_of(const struct l1 *base, unsigned sm) {
    return &((const struct clustered *)base)->inlet[sm];
}

enum l1_outcome clustered_access(struct l1 *base, unsigned sm, const struct l1_request *request, uint64_t now) {
    const struct clustered *l1 = (const struct clustered *)base;
    struct inlet *inlet = inlet_of(base, sm);
    if (!port_can_push(inlet->requests, now)) {
        inlet->waits = true;
        port_await_credit_at(inlet->requests, now, &base->gate[sm].open_at);
        return L1_FAIL_INPUT_QUEUE;
    }
    struct group_packet packet = {
        .request = *request,
        .since = (uint32_t)now,
        .from = (uint8_t)(sm % l1->shape.sms),
        .to = (uint8_t)((request->address >> l1->line_log2) % l1->shape.nodes),
        .flits = flits_of(l1, request->kind, request->sectors),
    };
    port_push(inlet->requests, now, &packet, sizeof packet);
    inlet->outstanding++;
    return L1_QUEUED;
}

static void count_read(struct read_stats *stats, const struct group_packet *reply, uint64_t now) {
    uint32_t since = (uint32_t)(reply->request.address >> 32), taken = (uint32_t)reply->request.address;
    stats->reads++;
    stats->request_cycles += (uint32_t)(taken - since);
    stats->node_cycles += (uint32_t)(reply->since - taken);
    stats->reply_cycles += (uint32_t)((uint32_t)now - reply->since);
}

unsigned clustered_tick(struct l1 *base, unsigned sm, uint64_t now, uint32_t *token) {
    const struct clustered *l1 = (const struct clustered *)base;
    struct inlet *inlet = inlet_of(base, sm);
    base->gate[sm].open_at = NEVER;
    if (inlet->waits) {
        inlet->waits = !port_can_push(inlet->requests, now);
        base->gate[sm].changes += !inlet->waits;
        if (inlet->waits) port_await_credit_at(inlet->requests, now, &base->gate[sm].open_at);
    }
    if (port_next_visible(inlet->replies) > now) return 0;
    const struct group_packet *reply = port_take(inlet->replies, now);
    if (!reply->request.bypass) count_read(&inlet->stats, reply, now);
    *token = reply->request.token;
    if (UNLIKELY(l1->engine->latency != NULL))
        observe_crossing(l1, latency_key(LATENCY_SHARED, sm, *token, 0), reply->flits, now);
    inlet->outstanding--;
    if (port_next_visible(inlet->replies) <= now) engine_wake(l1->engine, l1->sm_component[sm], now + 1);
    return 1;
}

void clustered_begin(struct l1 *base) {
    struct cooperation *others = ((struct clustered *)base)->cooperation;
    if (others) others->ops->begin(others);
}

/* Nodes are invalidated by commands of the control plane. */
void clustered_flush(struct l1 *base, unsigned sm) { (void)base, (void)sm; }

bool clustered_busy(const struct l1 *base, unsigned sm) { return inlet_of(base, sm)->outstanding != 0; }

void clustered_explain(const struct l1 *base, unsigned sm, FILE *out) {
    if (inlet_of(base, sm)->outstanding)
        fprintf(out, "  %u accesses outstanding at the L1s of the group\n", inlet_of(base, sm)->outstanding);
}

/* ---- the organisation ------------------------------------------------------------------------------------------- */

unsigned clustered_endpoints(const struct l1 *base) { return ((const struct clustered *)base)->nodes; }

unsigned clustered_endpoint_component(const struct l1 *base, unsigned endpoint) {
    return ((const struct clustered *)base)->component[endpoint];
}

void clustered_connect(struct l1 *base, unsigned endpoint, const struct l1_ports *ports) {
    struct l1 *caches = ((struct clustered *)base)->caches;
    caches->ops->connect(caches, endpoint, ports);
}

void clustered_connect_control(struct l1 *base, unsigned endpoint, struct port *commands, struct port *reports) {
    struct hub *hub = &((struct clustered *)base)->hub[endpoint];
    hub->commands = commands;
    hub->reports = reports;
}

static void create_hub(struct clustered *l1, unsigned node, struct stats *stats) {
    struct hub *hub = &l1->hub[node];
    *hub = (struct hub){.l1 = l1, .node = node, .visitor_free = NO_VISITOR};
    hub->hit = mem_alloc(l1->hit_cycles + 1, sizeof *hub->hit);
    for (unsigned i = 0; i <= l1->hit_cycles; i++) hub->hit[i] = NO_VISITOR;
    hub->component = l1->component[node] = engine_add(l1->engine, &hub_ops, hub, node);
    stats_add(stats, &l1_reservation_fail_stat_table, hub->failed_cycles);
}

static void create_crossbars(struct clustered *l1, unsigned group, const struct group_config *values,
                             struct stats *stats) {
    unsigned sms = l1->shape.sms, nodes = l1->shape.nodes, skid = L1_COMPLETIONS + l1->hit_cycles;
    struct hub *hub = &l1->hub[group * nodes];
    struct inlet *inlet = &l1->inlet[group * sms];
    const unsigned *sm_component = &l1->sm_component[group * sms], *node_component = &l1->component[group * nodes];
    struct crossbar_plan request = {"l1 requests",
                                    &crossbar_request_table,
                                    values,
                                    sms,
                                    nodes,
                                    (unsigned)values->injection_packets,
                                    (unsigned)values->request_queue,
                                    sm_component,
                                    node_component};
    struct crossbar_plan reply = {"l1 replies",
                                  &crossbar_reply_table,
                                  values,
                                  nodes,
                                  sms,
                                  (unsigned)values->reply_queue + skid,
                                  (unsigned)values->injection_packets,
                                  node_component,
                                  sm_component};
    l1->request[group] = crossbar_create(&request, l1->engine, stats, group);
    l1->reply[group] = crossbar_create(&reply, l1->engine, stats, group);
    for (unsigned i = 0; i < nodes; i++) {
        hub[i].requests = crossbar_output(l1->request[group], i);
        hub[i].replies = crossbar_input(l1->reply[group], i);
    }
    for (unsigned i = 0; i < sms; i++) {
        inlet[i].requests = crossbar_input(l1->request[group], i);
        inlet[i].replies = crossbar_output(l1->reply[group], i);
        l1->base.gate[group * sms + i].replies = inlet[i].replies;
        stats_add(stats, &l1_read_stat_table, &inlet[i].stats);
    }
}

/* Creates the caches: a private organisation with nodes in place of SMs. */
static bool create_caches(struct clustered *l1, const struct l1_context *context, struct error *err) {
    extern const struct l1_ops l1_private;
    struct l1_context inner = *context;
    inner.sms = l1->nodes;
    inner.sm_component = l1->component;
    inner.homes = l1->shape.nodes;
    inner.partner = l1->cooperation ? l1->cooperation->partner : NULL;
    l1->caches = l1_private.create(&inner, err);
    if (!l1->caches) return false;
    l1->base.insertion = l1->caches->insertion;
    l1->base.insertion_state = l1->caches->insertion_state;
    return true;
}

struct l1_shape clustered_shape(const struct config *config) {
    struct group_shape shape = group_shape(config);
    return (struct l1_shape){shape.groups, shape.nodes};
}

struct l1 *clustered_create(const struct l1_ops *ops, const struct l1_context *context,
                            struct cooperation *(*cooperate)(const struct cooperation_context *context),
                            struct error *err) {
    const struct l1_config *config = config_get(context->config, &l1_section);
    const struct gpu_config *gpu = config_get(context->config, &gpu_section);
    const struct group_config *values = config_get(context->config, &group_section);
    struct group_shape shape = group_shape(context->config);
    unsigned nodes = shape.groups * shape.nodes;
    struct clustered *l1 = mem_alloc(1, sizeof *l1);
    *l1 = (struct clustered){
        .base = {.ops = ops, .gate = mem_alloc(context->sms, sizeof *l1->base.gate)},
        .engine = context->engine,
        .sm_component = context->sm_component,
        .shape = shape,
        .nodes = nodes,
        .sms = context->sms,
        .line_log2 = log2_floor((uint64_t)gpu->line_bytes),
        .hit_cycles = (unsigned)config->latency_cycles + l1_probe_cycles(context->config),
        .channel_bytes = (unsigned)values->channel_bytes,
        .crossbar_cycles = crossbar_zero_load_cycles(values),
        .hub = mem_alloc_lines(nodes, sizeof *l1->hub),
        .inlet = mem_alloc(context->sms, sizeof *l1->inlet),
        .component = mem_alloc(nodes, sizeof *l1->component),
        .request = mem_alloc(shape.groups, sizeof *l1->request),
        .reply = mem_alloc(shape.groups, sizeof *l1->reply),
    };
    for (unsigned node = 0; node < nodes; node++) create_hub(l1, node, context->stats);
    for (unsigned group = 0; group < shape.groups; group++) create_crossbars(l1, group, values, context->stats);
    struct cooperation_context others = {context, shape, l1->component};
    if (cooperate) l1->cooperation = cooperate(&others);
    if (create_caches(l1, context, err)) return &l1->base;
    clustered_destroy(&l1->base);
    return NULL;
}

void clustered_destroy(struct l1 *base) {
    struct clustered *l1 = (struct clustered *)base;
    if (l1->caches) l1->caches->ops->destroy(l1->caches);
    if (l1->cooperation) l1->cooperation->ops->destroy(l1->cooperation);
    for (unsigned group = 0; group < l1->shape.groups; group++) {
        crossbar_destroy(l1->request[group]);
        crossbar_destroy(l1->reply[group]);
    }
    for (unsigned node = 0; node < l1->nodes; node++) {
        free(l1->hub[node].visitor);
        free(l1->hub[node].hit);
    }
    free(l1->base.gate);
    free(l1->hub);
    free(l1->inlet);
    free(l1->component);
    free(l1->request);
    free(l1->reply);
    free(l1);
}

const struct l1_ops l1_clustered;

static struct l1 *plain_create(const struct l1_context *context, struct error *err) {
    return clustered_create(&l1_clustered, context, NULL, err);
}

const struct l1_ops l1_clustered = {
    .policy = {"clustered", "SMs of a group share L1s with interleaved lines (CSD-L1)", NULL},
    .create = plain_create,
    CLUSTERED_OPS,
};
