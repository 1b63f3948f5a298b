/* Private L1: each SM has its own data cache (controller.h) and ticks it. */
#include <stdlib.h>

#include "l1/controller.h"

struct l1_private {
    struct l1 base;
    unsigned sms;
    const unsigned *component;
    struct l1_controller *node; /* [sms] */
    struct cache **cache;       /* [sms] their caches, for the insertion policy */
};

const struct l1_ops l1_private;

static struct l1_controller *node_of(const struct l1 *base, unsigned sm) {
    return &((const struct l1_private *)base)->node[sm];
}

static struct l1 *private_create(const struct l1_context *context, struct error *err) {
    struct l1_private *l1 = mem_alloc(1, sizeof *l1);
    *l1 = (struct l1_private){
        .base = {.ops = &l1_private, .gate = mem_alloc(context->sms, sizeof *l1->base.gate), .watch = context->watch},
        .sms = context->sms,
        .component = context->sm_component,
        .node = mem_alloc_lines(context->sms, sizeof *l1->node),
        .cache = mem_alloc(context->sms, sizeof *l1->cache),
    };
    for (unsigned sm = 0; sm < context->sms; sm++) {
        l1_controller_init(&l1->node[sm], &l1->base, sm, context);
        l1->cache[sm] = &l1->node[sm].cache;
    }
    if (!l1_insertion_create(&l1->base, context, l1->cache, err)) {
        l1_private.destroy(&l1->base);
        return NULL;
    }
    struct l1 *first = l1_stages_create(&l1->base, context);
    for (unsigned sm = 0; sm < context->sms; sm++) l1_controller_settle_in(&l1->node[sm]);
    return first;
}

static void private_destroy(struct l1 *base) {
    struct l1_private *l1 = (struct l1_private *)base;
    l1_insertion_destroy(base);
    for (unsigned sm = 0; sm < l1->sms; sm++) l1_controller_release(&l1->node[sm]);
    free(l1->base.gate);
    free(l1->cache);
    free(l1->node);
    free(l1);
}

static unsigned private_endpoints(const struct l1 *base) { return ((const struct l1_private *)base)->sms; }

static unsigned private_endpoint_component(const struct l1 *base, unsigned endpoint) {
    return ((const struct l1_private *)base)->component[endpoint];
}

static void private_connect(struct l1 *base, unsigned endpoint, const struct l1_ports *ports) {
    l1_controller_connect(node_of(base, endpoint), ports);
}

static unsigned private_tick(struct l1 *base, unsigned sm, uint64_t now, uint32_t *token) {
    return l1_controller_tick(node_of(base, sm), now, token);
}

static void private_tick_blocked(struct l1 *base, unsigned sm, uint64_t now) {
    l1_controller_tick_blocked(node_of(base, sm), now);
}

static enum l1_outcome private_access(struct l1 *base, unsigned sm, const struct l1_request *request, uint64_t now) {
    return l1_controller_access(node_of(base, sm), request, now);
}

static enum l1_outcome private_foresee(struct l1 *base, unsigned sm, const struct l1_request *request) {
    return l1_controller_foresee(node_of(base, sm), request);
}

static unsigned private_hits(struct l1 *base, unsigned sm, const struct l1_request *request, const uint64_t *access,
                             unsigned count) {
    return l1_controller_hits(node_of(base, sm), request, access, count);
}

static void private_resize(struct l1 *base, unsigned sm, unsigned ways) {
    l1_controller_resize(node_of(base, sm), ways);
}

static void private_flush(struct l1 *base, unsigned sm) { l1_controller_flush(node_of(base, sm)); }
static bool private_busy(const struct l1 *base, unsigned sm) { return l1_controller_busy(node_of(base, sm)); }
static void private_explain(const struct l1 *base, unsigned sm, FILE *out) {
    l1_controller_explain(node_of(base, sm), out);
}

const struct l1_ops l1_private = {
    .policy = {"private", "one L1 per SM", NULL},
    .create = private_create,
    .destroy = private_destroy,
    .endpoints = private_endpoints,
    .endpoint_component = private_endpoint_component,
    .connect = private_connect,
    .tick = private_tick,
    .tick_blocked = private_tick_blocked,
    .access = private_access,
    .foresee = private_foresee,
    .hits = private_hits,
    .flush = private_flush,
    .resize = private_resize,
    .busy = private_busy,
    .explain = private_explain,
};
