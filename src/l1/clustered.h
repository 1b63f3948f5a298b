/* Common part of the organisations with groups of shared L1s, and the interface for cooperation between groups. */
#ifndef SLUICE_L1_CLUSTERED_H
#define SLUICE_L1_CLUSTERED_H

#include "l1/controller.h"
#include "l1/group.h"

/* Cooperation of the nodes with those of other groups. It is the partner of their caches (controller.h) and takes part
 * in their ticks. */
struct cooperation {
    const struct cooperation_ops *ops;
    struct l1_partner **partner; /* [nodes] of all groups */
};

struct cooperation_ops {
    void (*destroy)(struct cooperation *cooperation);
    /* A kernel begins. */
    void (*begin)(struct cooperation *cooperation);
    /* First call in the node's tick: receives messages of other groups. */
    void (*receive)(struct cooperation *cooperation, unsigned node, uint64_t now);
    /* Whether an answer of another group is visible. */
    bool (*answered)(const struct cooperation *cooperation, unsigned node, uint64_t now);
    /* Whether another group's request can be served now, by `serve`; otherwise schedules a wake for when it can. */
    bool (*asked)(struct cooperation *cooperation, unsigned node, uint64_t now);
    void (*serve)(struct cooperation *cooperation, unsigned node, uint64_t now);
    bool (*busy)(const struct cooperation *cooperation, unsigned node);
    void (*explain)(const struct cooperation *cooperation, unsigned node, FILE *out);
};

/* What a cooperation is created from. */
struct cooperation_context {
    const struct l1_context *l1;
    struct group_shape shape;
    const unsigned *component; /* [nodes] of all groups */
};

struct l1 *clustered_create(const struct l1_ops *ops, const struct l1_context *context,
                            struct cooperation *(*cooperate)(const struct cooperation_context *context),
                            struct error *err);

/* The operations of such an organisation, without policy and `create`. */
#define CLUSTERED_OPS \
    .shape = clustered_shape, .destroy = clustered_destroy, .endpoints = clustered_endpoints, \
    .endpoint_component = clustered_endpoint_component, .connect = clustered_connect, \
    .connect_control = clustered_connect_control, .tick = clustered_tick, .access = clustered_access, \
    .begin = clustered_begin, .flush = clustered_flush, .busy = clustered_busy, .explain = clustered_explain

struct l1_shape clustered_shape(const struct config *config);
void clustered_destroy(struct l1 *l1);
unsigned clustered_endpoints(const struct l1 *l1);
unsigned clustered_endpoint_component(const struct l1 *l1, unsigned endpoint);
void clustered_connect(struct l1 *l1, unsigned endpoint, const struct l1_ports *ports);
void clustered_connect_control(struct l1 *l1, unsigned endpoint, struct port *commands, struct port *reports);
unsigned clustered_tick(struct l1 *l1, unsigned sm, uint64_t now, uint32_t *token);
enum l1_outcome clustered_access(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now);
void clustered_begin(struct l1 *l1);
void clustered_flush(struct l1 *l1, unsigned sm);
bool clustered_busy(const struct l1 *l1, unsigned sm);
void clustered_explain(const struct l1 *l1, unsigned sm, FILE *out);

#endif
