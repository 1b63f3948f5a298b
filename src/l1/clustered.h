/* What the organisations with groups of shared L1s have in common, and what cooperation between the groups adds to
 * it. */
#ifndef SLUICE_L1_CLUSTERED_H
#define SLUICE_L1_CLUSTERED_H

#include "l1/controller.h"
#include "l1/group.h"

/* Cooperation of the nodes with those of other groups. It is the partner of their caches (node.h), and beyond that
 * has a part in their ticks. */
struct cooperation {
    const struct cooperation_ops *ops;
    struct l1_partner **partner; /* [nodes] of the machine */
};

struct cooperation_ops {
    void (*destroy)(struct cooperation *cooperation);
    /* In the node's tick, before all else: what is heard from other groups. */
    void (*receive)(struct cooperation *cooperation, unsigned node, uint64_t now);
    /* Whether a line from another group has come. */
    bool (*answered)(const struct cooperation *cooperation, unsigned node, uint64_t now);
    /* Whether another group's request can be served; asks to be woken for it when it will be. Then `serve` may be
     * called. */
    bool (*asked)(struct cooperation *cooperation, unsigned node, uint64_t now);
    void (*serve)(struct cooperation *cooperation, unsigned node, uint64_t now);
    bool (*busy)(const struct cooperation *cooperation, unsigned node);
    void (*explain)(const struct cooperation *cooperation, unsigned node, FILE *out);
};

/* What a cooperation is made for. */
struct cooperation_context {
    const struct l1_context *l1;
    struct group_shape shape;
    const unsigned *component; /* [nodes] of the machine */
};

struct l1 *clustered_create(const struct l1_ops *ops, const struct l1_context *context,
                            struct cooperation *(*cooperate)(const struct cooperation_context *context),
                            struct error *err);

/* The operations of such an organisation, but for its policy and `create`. */
#define CLUSTERED_OPS \
    .shape = clustered_shape, .destroy = clustered_destroy, .endpoints = clustered_endpoints, \
    .endpoint_component = clustered_endpoint_component, .connect = clustered_connect, \
    .connect_control = clustered_connect_control, .tick = clustered_tick, .access = clustered_access, \
    .flush = clustered_flush, .busy = clustered_busy, .explain = clustered_explain

struct l1_shape clustered_shape(const struct config *config);
void clustered_destroy(struct l1 *l1);
unsigned clustered_endpoints(const struct l1 *l1);
unsigned clustered_endpoint_component(const struct l1 *l1, unsigned endpoint);
void clustered_connect(struct l1 *l1, unsigned endpoint, const struct l1_ports *ports);
void clustered_connect_control(struct l1 *l1, unsigned endpoint, struct port *commands, struct port *reports);
unsigned clustered_tick(struct l1 *l1, unsigned sm, uint64_t now, uint32_t *token);
enum l1_outcome clustered_access(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now);
void clustered_flush(struct l1 *l1, unsigned sm);
bool clustered_busy(const struct l1 *l1, unsigned sm);
void clustered_explain(const struct l1 *l1, unsigned sm, FILE *out);

#endif
