#include "l1/icc.h"

#include <stdlib.h>

#include "sim/gpu_config.h"

STATS_TABLE(icc_stat_table, "l1.icc", icc_stats, ICC_STATS);

enum { NO_PURSUIT = UINT32_MAX };

static struct icc_node *icc_node_of(const struct l1_partner *partner) { return (struct icc_node *)(uintptr_t)partner; }

static struct icc_node *node_at(const struct cooperation *base, unsigned node) {
    return ((const struct icc *)base)->node[node];
}

/* ---- pursuits --------------------------------------------------------------------------------------------------- */

/* Bounded only by the networks, so the table grows on demand. */
static uint32_t pursuit_take(struct icc_node *node) {
    if (node->pursuit_free == NO_PURSUIT) {
        uint32_t old = node->pursuit_count, grown = old ? 2 * old : 64;
        node->pursuit = mem_grow(node->pursuit, grown, sizeof *node->pursuit);
        for (uint32_t i = grown; i > old; i--) {
            node->pursuit[i - 1].next = node->pursuit_free;
            node->pursuit_free = i - 1;
        }
        node->pursuit_count = grown;
    }
    uint32_t name = node->pursuit_free;
    node->pursuit_free = node->pursuit[name].next;
    node->pursuits++;
    return name;
}

/* Ends the pursuit when no further reply can arrive. */
static void pursuit_check(struct icc_node *node, uint32_t name) {
    struct pursuit *pursuit = &node->pursuit[name];
    if (pursuit->awaited || pursuit->fetching) return;
    assert(pursuit->filled);
    pursuit->next = node->pursuit_free;
    node->pursuit_free = name;
    node->pursuits--;
}

static void pursuit_fill(struct icc_node *node, struct pursuit *pursuit, bool remote, uint64_t now) {
    if (pursuit->filled) {
        node->stats.late++;
        return;
    }
    pursuit->filled = true;
    pursuit->remote = remote;
    if (remote && node->icc->engine->latency) l1_controller_observe_partner(node->base.controller, pursuit->mshr, now);
    l1_controller_fill(node->base.controller, pursuit->mshr, now);
    if (remote) {
        node->stats.remote_hits++;
        node->stats.hit_cycles += now - pursuit->since;
    }
    if (node->icc->scheme->ended) node->icc->scheme->ended(node, pursuit, now);
}

/* ---- a node's own misses ---------------------------------------------------------------------------------------- */

static bool eligible(const struct icc_node *node, const struct l1_request *request, uint64_t key) {
    return !request->local && !icc_has_written(node, key);
}

static bool icc_wants(const struct l1_partner *partner, const struct l1_request *request,
                      const struct cache_access *access, uint64_t now) {
    struct icc_node *node = icc_node_of(partner);
    return node->icc->probe && eligible(node, request, access->key) && node->icc->scheme->promising(node, access) &&
           port_can_push(node->ports.requests_out, now);
}

static void begin(struct icc_node *node, const struct l1_request *request, const struct cache_access *access,
                  unsigned mshr, uint64_t now) {
    const struct icc_scheme *scheme = node->icc->scheme;
    uint32_t name = pursuit_take(node);
    struct pursuit *pursuit = &node->pursuit[name];
    *pursuit = (struct pursuit){
        .request = *request, .since = now, .mshr = (uint16_t)mshr, .awaited = (uint8_t)scheme->answers};
    struct coop_message probe = {
        .key = access->key, .set = access->set, .pursuit = name, .kind = COOP_PROBE, .source = (uint8_t)node->group};
    scheme->aim(node, pursuit, &probe);
    port_push(node->ports.requests_out, now, &probe, sizeof probe);
    node->stats.asked++;
}

static void icc_missed(struct l1_partner *partner, const struct l1_request *request, const struct cache_access *access,
                       unsigned mshr, bool wanted, uint64_t now) {
    struct icc_node *node = icc_node_of(partner);
    const struct icc_scheme *scheme = node->icc->scheme;
    if (!node->icc->probe) return;
    if (wanted) {
        begin(node, request, access, mshr, now);
    } else if (eligible(node, request, access->key)) {
        if (scheme->promising(node, access))
            node->stats.crowded++;
        else if (scheme->passed)
            scheme->passed(node);
    } else {
        node->stats.written += !request->local;
    }
}

/* Handles an answer. Returns false if it needs space in the miss queue and there is none. */
static bool receive_answer(struct icc_node *node, const struct coop_message *answer, uint64_t now) {
    struct pursuit *pursuit = &node->pursuit[answer->pursuit];
    bool data = answer->kind == COOP_DATA,
         stale = data && !pursuit->filled && l1_controller_stale(node->base.controller, pursuit->mshr);
    bool quick =
        answer->direction == COOP_LEFT || pursuit->awaited == 1; /* the other of two probes may take much longer */
    bool fetch = !pursuit->filled && !pursuit->fetching && (stale || (!data && quick));
    if (fetch && !l1_controller_can_fetch(node->base.controller)) return false;
    pursuit->awaited--;
    node->stats.stale += stale;
    if (data && !stale) pursuit_fill(node, pursuit, true, now);
    if (fetch) {
        pursuit->fetching = true;
        pursuit->fetched = now;
        node->stats.fetches++;
        node->stats.probe_cycles += now - pursuit->since;
        l1_controller_fetch(node->base.controller, &pursuit->request, answer->pursuit, now);
    }
    pursuit_check(node, answer->pursuit);
    return true;
}

static void icc_fetched(struct l1_partner *partner, uint32_t name, uint64_t now) {
    struct icc_node *node = icc_node_of(partner);
    node->pursuit[name].fetching = false;
    if (node->icc->engine->latency && !node->pursuit[name].filled)
        l1_controller_observe_fetched(node->base.controller, node->pursuit[name].mshr, name);
    pursuit_fill(node, &node->pursuit[name], false, now);
    pursuit_check(node, name);
}

/* Receives one line per cycle, alternating between the LLC and the other groups. */
static bool icc_receive(struct l1_partner *partner, uint64_t now, uint32_t *token) {
    struct icc_node *node = icc_node_of(partner);
    struct port *replies = node->ports.replies_in;
    uint32_t nobody;
    bool open = token != NULL, network = l1_controller_replied(partner->controller, open, now);
    const struct coop_message *answer = network && !node->others_next ? NULL : port_peek(replies, now);
    bool taken = answer && receive_answer(node, answer, now);
    if (taken) port_pop(replies, now);
    if (taken || network) node->others_next = !taken;
    bool completes = !taken && network && l1_controller_receive(partner->controller, now, open ? token : &nobody);
    if (port_next_visible(replies) <= now || l1_controller_replied(partner->controller, open, now))
        engine_wake(node->icc->engine, node->component, now + 1);
    return completes;
}

static void icc_observed(struct l1_partner *partner, enum l1_event event, unsigned set, uint64_t key, uint64_t now) {
    struct icc_node *node = icc_node_of(partner);
    if (event == L1_EVENT_STORE) line_map_at(&node->written, key);
    if (event == L1_EVENT_INVALIDATE) line_map_clear(&node->written);
    if (node->icc->scheme->observed) node->icc->scheme->observed(node, event, set, key, now);
}

static const struct l1_partner_ops partner_ops = {
    .wants = icc_wants,
    .missed = icc_missed,
    .receive = icc_receive,
    .fetched = icc_fetched,
    .observed = icc_observed,
};

/* ---- other groups' misses --------------------------------------------------------------------------------------- */

static void icc_begin(struct cooperation *base) {
    const struct icc *icc = (const struct icc *)base;
    for (unsigned i = 0; i < icc->nodes; i++) line_map_clear(&icc->node[i]->written);
}

static void icc_receive_notes(struct cooperation *base, unsigned number, uint64_t now) {
    struct icc_node *node = node_at(base, number);
    if (node->icc->scheme->receive) node->icc->scheme->receive(node, now);
}

static bool icc_answered(const struct cooperation *base, unsigned number, uint64_t now) {
    return port_next_visible(node_at(base, number)->ports.replies_in) <= now;
}

static bool icc_asked(struct cooperation *base, unsigned number, uint64_t now) {
    const struct coop_ports *ports = &node_at(base, number)->ports;
    if (port_next_visible(ports->requests_in) > now) return false;
    if (port_can_push(ports->replies_out, now)) return true;
    port_await_credit(ports->replies_out, now);
    return false;
}

static void icc_serve(struct cooperation *base, unsigned number, uint64_t now) {
    struct icc_node *node = node_at(base, number);
    struct coop_message message = *(const struct coop_message *)port_take(node->ports.requests_in, now);
    struct cache *cache = &node->base.controller->cache;
    const struct cache_line *line = l1_controller_find(node->base.controller, message.set, message.key);
    struct cache_access access = {.key = message.key, .set = message.set};
    node->stats.served++;
    node->stats.served_hits += line != NULL;
    if (line && node->icc->touch) cache_touch(cache, line, &access);
    struct port *out = node->ports.replies_out;
    if (!line && message.queries) {
        if (port_can_push(node->ports.requests_out, now))
            out = node->ports.requests_out;
        else
            node->stats.given_up++;
    }
    if (out == node->ports.replies_out) {
        message.kind = line ? COOP_DATA : COOP_MISS;
        message.target = (uint8_t)node->group;
    }
    port_push(out, now, &message, sizeof message);
}

static bool icc_busy(const struct cooperation *base, unsigned number) { return node_at(base, number)->pursuits > 0; }

static void icc_explain(const struct cooperation *base, unsigned number, FILE *out) {
    unsigned pursuits = node_at(base, number)->pursuits;
    if (pursuits) fprintf(out, "  %u lines requested from other groups\n", pursuits);
}

static void icc_destroy(struct cooperation *base) {
    struct icc *icc = (struct icc *)base;
    for (unsigned i = 0; i < icc->shape.nodes; i++) coop_network_destroy(icc->network[i]);
    for (unsigned i = 0; i < icc->nodes; i++) {
        if (icc->scheme->release) icc->scheme->release(icc->node[i]);
        line_map_release(&icc->node[i]->written);
        free(icc->node[i]->pursuit);
        free(icc->node[i]);
    }
    free(icc->network);
    free(icc->node);
    free(icc->base.partner);
    free(icc);
}

static const struct cooperation_ops cooperation_ops = {
    .destroy = icc_destroy,
    .begin = icc_begin,
    .receive = icc_receive_notes,
    .answered = icc_answered,
    .asked = icc_asked,
    .serve = icc_serve,
    .busy = icc_busy,
    .explain = icc_explain,
};

/* ---- creation --------------------------------------------------------------------------------------------------- */

static void create_node(struct icc *icc, unsigned number, const struct cooperation_context *context) {
    struct icc_node *node = mem_alloc(1, icc->scheme->node_size);
    icc->node[number] = node;
    icc->base.partner[number] = &node->base;
    *node = (struct icc_node){
        .base.ops = &partner_ops,
        .icc = icc,
        .number = number,
        .group = number / icc->shape.nodes,
        .component = context->component[number],
        .pursuit_free = NO_PURSUIT,
    };
    line_map_init(&node->written);
    stats_add(context->l1->stats, &icc_stat_table, &node->stats);
}

struct cooperation *icc_create(const struct icc_scheme *scheme, const struct cooperation_context *context,
                               struct coop_context plan, bool probe, bool touch) {
    unsigned groups = context->shape.groups, each = context->shape.nodes;
    struct icc *icc = mem_alloc(1, sizeof *icc);
    *icc = (struct icc){
        .base = {&cooperation_ops, mem_alloc(groups * each, sizeof *icc->base.partner)},
        .scheme = scheme,
        .probe = probe,
        .touch = touch,
        .engine = context->l1->engine,
        .shape = context->shape,
        .nodes = groups * each,
        .node = mem_alloc(groups * each, sizeof *icc->node),
        .network = mem_alloc(each, sizeof *icc->network),
    };
    plan.engine = context->l1->engine;
    plan.stats = context->l1->stats;
    plan.groups = groups;
    for (unsigned i = 0; i < icc->nodes; i++) create_node(icc, i, context);
    unsigned *stops = mem_alloc(groups, sizeof *stops);
    for (plan.position = 0; plan.position < each; plan.position++) {
        for (unsigned g = 0; g < groups; g++) stops[g] = context->component[g * each + plan.position];
        plan.component = stops;
        struct coop_network *network = icc->network[plan.position] = scheme->network(&plan);
        for (unsigned g = 0; g < groups; g++)
            icc->node[g * each + plan.position]->ports = coop_network_ports(network, g);
    }
    free(stops);
    for (unsigned i = 0; scheme->init && i < icc->nodes; i++) scheme->init(icc->node[i], context);
    return &icc->base;
}

bool icc_check(const struct config *config, struct error *err) {
    const struct group_config *group = config_get(config, &group_section);
    unsigned groups = group_shape(config).groups;
    if (groups >= 2 && groups <= COOP_GROUPS_MAX) return true;
    return config_error(config, group->count ? "group.count" : "l1.organisation", err,
                        "cooperation needs 2 to %d groups, not %u%s", COOP_GROUPS_MAX, groups,
                        group->count ? "" : ", as many as gpu.clusters; set group.count");
}

unsigned icc_storage(const struct config *config, int64_t queue, struct storage_item *items) {
    enum { REQUEST_BITS = 64 }; /* section III-E: 8 B */
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    uint64_t entries = 2 * (uint64_t)queue;
    items[ICC_REQUESTS] =
        (struct storage_item){"requests to and from other groups", l1_count(config), entries, REQUEST_BITS};
    items[ICC_LINES] = (struct storage_item){"lines to and from other groups", l1_count(config), entries,
                                             8 * (uint64_t)gpu->line_bytes};
    return ICC_DIRECTORY;
}
