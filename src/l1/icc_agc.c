/* ICC-AGC, cooperation of adjacent groups ("GPU Performance Optimization via Inter-group Cache Cooperation", section
 * III-B): a directory at each node (acd.h) records which lines the corresponding nodes of the left and right groups
 * hold. A read miss probes the left node if that is recorded as a holder, else the right one if that is, else it goes
 * to the LLC. If the probe misses, the LLC follows.
 *
 * Nodes notify their neighbours of insertions and evictions, by notes that take one cycle and are not limited in
 * bandwidth. Notes of lines that the group has written are ignored: the neighbour may have read the line before the
 * store.
 */
#include <stdlib.h>

#include "l1/acd.h"
#include "l1/icc.h"

struct agc_config {
    ICC_VALUES;
    int64_t hash_bits;
};

static const struct param params[] = {
    ICC_PARAMS(struct agc_config),
    P_INT(struct agc_config, hash_bits, 20, 1, ACD_HASH_BITS_MAX, "bits", "hashed tag width of the directory"),
};

static const struct section agc_section;

static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct agc_config *values = config_get(config, &agc_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    if (!values->cooperate) return 0;
    icc_storage(config, values->queue, items);
    items[ICC_DIRECTORY] =
        (struct storage_item){"directory of adjacent groups", l1_count(config), l1_sets(config) * (uint64_t)l1->ways,
                              acd_entry_bits((unsigned)values->hash_bits)};
    return ICC_STORES;
}

static const struct section agc_section = {
    .path = "icc-agc",
    .help = "clustered L1s that probe the left and right groups",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct agc_config),
    .check = icc_check,
    .storage = storage,
};

/* A neighbour's insertion or eviction. */
struct note {
    uint64_t key;
    uint32_t set;
    bool there;
};

struct agc_node {
    struct icc_node base;
    struct acd acd;
    struct port notes[COOP_DIRECTIONS]; /* from the left and the right */
    struct agc_node *neighbour[COOP_DIRECTIONS];
};

static const enum acd_holder holder[COOP_DIRECTIONS] = {ACD_LEFT, ACD_RIGHT};

static void agc_init(struct icc_node *base, const struct cooperation_context *context) {
    enum { ROOM = 16 /* more than a node can insert and evict within the round trip of a credit */, LATENCY = 1 };
    struct agc_node *node = (struct agc_node *)base;
    const struct agc_config *values = config_get(context->l1->config, &agc_section);
    const struct l1_config *l1 = config_get(context->l1->config, &l1_section);
    unsigned groups = context->shape.groups, each = context->shape.nodes;
    acd_init(&node->acd, l1_sets(context->l1->config), (unsigned)l1->ways, (unsigned)values->hash_bits);
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) {
        unsigned group = (base->group + (direction == COOP_LEFT ? groups - 1 : 1)) % groups;
        node->neighbour[direction] = (struct agc_node *)base->icc->node[group * each + base->number % each];
        port_init(&node->notes[direction], context->l1->engine, "notes of lines",
                  node->neighbour[direction]->base.component, base->component, ROOM, LATENCY);
    }
}

static void agc_release(struct icc_node *base) {
    struct agc_node *node = (struct agc_node *)base;
    acd_release(&node->acd);
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) port_release(&node->notes[direction]);
}

static bool agc_promising(struct icc_node *base, const struct cache_access *access) {
    return acd_look(&((struct agc_node *)base)->acd, access->set, access->key) & (ACD_LEFT | ACD_RIGHT);
}

static void agc_aim(struct icc_node *base, struct pursuit *pursuit, struct coop_message *probe) {
    struct agc_node *node = (struct agc_node *)base;
    (void)pursuit;
    probe->direction = acd_look(&node->acd, probe->set, probe->key) & ACD_LEFT ? COOP_LEFT : COOP_RIGHT;
    probe->target = (uint8_t)node->neighbour[probe->direction]->base.group;
}

static void agc_observed(struct icc_node *base, enum l1_event event, unsigned set, uint64_t key, uint64_t now) {
    struct agc_node *node = (struct agc_node *)base;
    struct note note = {key, set, event == L1_EVENT_INSERT};
    switch (event) {
    case L1_EVENT_INSERT: acd_set(&node->acd, set, key, ACD_LOCAL); break;
    case L1_EVENT_REMOVE: acd_clear(&node->acd, set, key, ACD_LOCAL); break;
    case L1_EVENT_STORE: acd_clear(&node->acd, set, key, ACD_LEFT | ACD_RIGHT); return;
    case L1_EVENT_INVALIDATE: acd_empty(&node->acd); return;
    case L1_EVENT_MISS: return;
    }
    /* This node is the right neighbour of its left one. */
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++)
        port_push(&node->neighbour[direction]->notes[direction == COOP_LEFT ? COOP_RIGHT : COOP_LEFT], now, &note,
                  sizeof note);
}

static void agc_receive(struct icc_node *base, uint64_t now) {
    struct agc_node *node = (struct agc_node *)base;
    const struct note *note;
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++)
        while ((note = port_peek(&node->notes[direction], now))) {
            if (!note->there)
                acd_clear(&node->acd, note->set, note->key, holder[direction]);
            else if (!icc_has_written(base, note->key))
                acd_set(&node->acd, note->set, note->key, holder[direction]);
            port_pop(&node->notes[direction], now);
        }
}

static const struct icc_scheme agc = {
    .node_size = sizeof(struct agc_node),
    .network = adjacent_create,
    .answers = 1,
    .init = agc_init,
    .release = agc_release,
    .promising = agc_promising,
    .aim = agc_aim,
    .observed = agc_observed,
    .receive = agc_receive,
};

const struct l1_ops l1_icc_agc;

static struct cooperation *agc_cooperate(const struct cooperation_context *context) {
    const struct agc_config *values = config_get(context->l1->config, &agc_section);
    return icc_create(&agc, context, (struct coop_context){.queue = (unsigned)values->queue}, values->probe,
                      values->touch);
}

static struct l1 *agc_create(const struct l1_context *context, struct error *err) {
    const struct agc_config *values = config_get(context->config, &agc_section);
    return clustered_create(&l1_icc_agc, context, values->cooperate ? agc_cooperate : NULL, err);
}

const struct l1_ops l1_icc_agc = {
    .policy = {"icc-agc", "clustered; misses probe the left and right groups before the LLC", &agc_section},
    .create = agc_create,
    CLUSTERED_OPS,
};
