/* ICC-MGC, cooperation of multiple groups ("GPU Performance Optimization via Inter-group Cache Cooperation", section
 * III-C): a read miss sends probes in both directions of a ring of the corresponding nodes: a short one that queries
 * few nodes, and a long one that queries all. If the short one returns without the line, the LLC is requested in
 * parallel with the long one. Dynamic sending (dynamic_sending.h) decides periodically whether misses use the ring.
 */
#include "l1/dynamic_sending.h"
#include "l1/icc.h"

struct mgc_config {
    ICC_VALUES;
    int64_t short_queries, long_queries, channel_queue, sampled, executed;
};

static const struct param params[] = {
    ICC_PARAMS(struct mgc_config),
    P_INT(struct mgc_config, short_queries, 2, 0, COOP_GROUPS_MAX, "L1s",
          "nodes queried by the probe to the left (MNQ of R_k)"),
    P_INT(struct mgc_config, long_queries, 7, 0, COOP_GROUPS_MAX, "L1s",
          "nodes queried by the probe to the right (MNQ of R_a)"),
    P_INT(struct mgc_config, channel_queue, 5, 2, 256, "messages",
          "length of the queue of answers in transit, per node and direction of the ring"),
    P_INT(struct mgc_config, sampled, 256, 0, 1000000, "misses",
          "sampled misses, which use the ring at the beginning of a period; 0: all misses use it"),
    P_INT(struct mgc_config, executed, 4096, 0, 1000000, "misses",
          "executed misses, which use the faster path for the rest of the period"),
};

static const struct section mgc_section;

static const struct mgc_config *values_of(const struct config *config) { return config_get(config, &mgc_section); }

static bool check(const struct config *config, struct error *err) {
    const struct mgc_config *values = values_of(config);
    if (values->short_queries == 0 && values->long_queries == 0)
        return config_error(config, "l1.icc-mgc.long_queries", err,
                            "no L1 would be probed; set it or l1.icc-mgc.short_queries to 1 or more");
    return icc_check(config, err);
}

/* Without the channel queues, which are part of the network; section III-E counts four queues. */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct mgc_config *values = values_of(config);
    return values->cooperate ? icc_storage(config, values->queue, items) : 0;
}

static const struct section mgc_section = {
    .path = "icc-mgc",
    .help = "clustered L1s that probe the other groups in a ring",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct mgc_config),
    .check = check,
    .storage = storage,
};

struct mgc_node {
    struct icc_node base;
    struct dynamic_sending sending;
    struct journal *journal;
};

static const char SENDING[] = "dynamic sending";

static struct dynamic_sending *sending_of(struct icc_node *base) { return &((struct mgc_node *)base)->sending; }

static void mgc_init(struct icc_node *base, const struct cooperation_context *context) {
    const struct mgc_config *values = values_of(context->l1->config);
    dynamic_sending_init(sending_of(base), (unsigned)values->sampled, (unsigned)values->executed);
    stats_add(context->l1->stats, &sending_stat_table, &sending_of(base)->stats);
    struct journal *journal = ((struct mgc_node *)base)->journal = context->l1->journal;
    if (values->sampled)
        journal_announce(journal, &(struct journal_mechanism){
                                      .name = SENDING,
                                      .undecided = "no L1 node completed a sampling phase of #",
                                      .length = (uint64_t)values->sampled,
                                      .unit = "misses",
                                      .summarised = true,
                                  });
}

static bool mgc_promising(struct icc_node *base, const struct cache_access *access) {
    (void)access;
    return dynamic_sending_next(sending_of(base)) != SENDING_L2;
}

static void mgc_aim(struct icc_node *base, struct pursuit *pursuit, struct coop_message *probe) {
    (void)probe;
    pursuit->sampled = dynamic_sending_ask(sending_of(base)) == SENDING_SAMPLED;
}

static void mgc_passed(struct icc_node *base) { dynamic_sending_ask(sending_of(base)); }

static void mgc_ended(struct icc_node *base, const struct pursuit *pursuit, uint64_t now) {
    struct dynamic_sending *sending = sending_of(base);
    if (!pursuit->sampled) return;
    bool decides = pursuit->remote ? dynamic_sending_report(sending, true, now - pursuit->since, 0)
                                   : dynamic_sending_report(sending, false, pursuit->fetched - pursuit->since,
                                                            now - pursuit->fetched);
    if (!decides) return;
    bool groups = sending->target == SENDING_RING;
    journal_count(((struct mgc_node *)base)->journal, SENDING, 0, groups ? "probe other groups" : "directly to the LLC",
                  groups ? "probes made the sampled misses of an L1 node faster"
                         : "probes made the sampled misses of an L1 node slower",
                  now);
}

/* One answer per probe. */
#define MGC(answers_) \
    { \
        .node_size = sizeof(struct mgc_node), .network = ring_create, .answers = answers_, .init = mgc_init, \
        .promising = mgc_promising, .aim = mgc_aim, .passed = mgc_passed, .ended = mgc_ended \
    }
static const struct icc_scheme one_way = MGC(1), two_way = MGC(2);

const struct l1_ops l1_icc_mgc;

static struct cooperation *mgc_cooperate(const struct cooperation_context *context) {
    const struct mgc_config *values = values_of(context->l1->config);
    struct coop_context plan = {.queue = (unsigned)values->queue,
                                .channel = (unsigned)values->channel_queue,
                                .short_queries = (unsigned)values->short_queries,
                                .long_queries = (unsigned)values->long_queries};
    bool both = values->short_queries && values->long_queries;
    return icc_create(both ? &two_way : &one_way, context, plan, values->probe, values->touch);
}

static struct l1 *mgc_create(const struct l1_context *context, struct error *err) {
    return clustered_create(&l1_icc_mgc, context, values_of(context->config)->cooperate ? mgc_cooperate : NULL, err);
}

const struct l1_ops l1_icc_mgc = {
    .policy = {"icc-mgc", "clustered; misses probe all groups of a ring before the LLC", &mgc_section},
    .create = mgc_create,
    CLUSTERED_OPS,
};
