/* Replication at a fixed degree: lines that a kernel only reads have a fixed number of replicas at their controller,
 * one per group of clusters (replication.h). A reference for "Selective Replication in Memory-Side GPU Caches" (section
 * V), whose Best Static Replication is the best degree for each kernel: `by_kernel` sets the degree of every launch.
 *
 * The next degree is known when a kernel ends: a launch at degree 1 whose successor has replicas writes modified lines
 * to memory at its end, as one with replicas does.
 *
 * Not modelled: a program that restarts next to another does not start at the head of the list again.
 */
#include <stdlib.h>

#include "base/base.h"
#include "llc/replication.h"

const struct llc_organisation_ops llc_organisation_static;

struct static_config {
    int64_t degree;
    struct int_list by_kernel;
    const struct policy *flush;
};

static const struct param params[] = {
    P_INT(struct static_config, degree, 2, 1, 64, "replicas", "replication degree of read-only lines, a power of two"),
    P_LIST(
        struct static_config, by_kernel, "[]", 0, CONFIG_LIST_MAX, 1, 64, "replicas",
        "replication degree of each launch, overriding degree; the last applies to all further launches; empty: none"),
    P_CHOICE(struct static_config, flush, replication_flush_family, "replicas",
             "lines that slices invalidate at a kernel's end"),
};

static const struct section static_section = {
    .path = "static",
    .help = "an LLC that replicates read-only lines at a fixed degree",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct static_config),
};

struct llc_static {
    struct llc_organisation base;
    const struct static_config *values;
    struct replication replication;
    unsigned launch;
    unsigned degree_log2;
};

/* The degree of the current or next launch. */
static unsigned degree_of(const struct llc_static *s) {
    const struct int_list *list = &s->values->by_kernel;
    int64_t degree = list->count ? list->value[min_u64(s->launch, list->count - 1)] : s->values->degree;
    return log2_floor((uint64_t)degree);
}

/* Whether the slices must be flushed at the end of the current or next launch. */
static bool may_replicate(const struct llc_static *s) {
    return s->degree_log2 > 0 || s->values->flush == &replication_flush_always;
}

static bool degree_check(const struct config *config, const char *key, int64_t degree, struct error *err) {
    struct replication replication = replication_of(config);
    if (is_power_of_two((uint64_t)degree) && degree < INT64_C(1) << replication.degrees) return true;
    return config_error(
        config, key, err,
        "with %u clusters and %u slices per controller the replication degree is 1, 2, 4, ... up to %u, not %lld",
        1u << replication.clusters_log2, 1u << replication.slices_log2, 1u << (replication.degrees - 1),
        (long long)degree);
}

static bool static_check(const struct config *config, struct error *err) {
    const struct static_config *values = config_get(config, &static_section);
    bool good = replication_check(config, err) && degree_check(config, "llc.static.degree", values->degree, err);
    for (unsigned i = 0; good && i < values->by_kernel.count; i++)
        good = degree_check(config, "llc.static.by_kernel", values->by_kernel.value[i], err);
    return good;
}

static struct llc_organisation *static_create(const struct llc_context *context, struct error *err) {
    (void)err;
    const struct static_config *values = config_get(context->config, &static_section);
    struct llc_static *s = mem_alloc(1, sizeof *s);
    *s = (struct llc_static){
        .base = {.ops = &llc_organisation_static,
                 .map = context->map,
                 .mode.invalidate_all = values->flush != &replication_flush_replicas},
        .values = values,
        .replication = replication_of(context->config),
    };
    s->degree_log2 = degree_of(s);
    s->base.mode.replicas = may_replicate(s); /* nothing is modified yet */
    return &s->base;
}

static void static_destroy(struct llc_organisation *organisation) { free(organisation); }

static unsigned static_target(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                              unsigned home, unsigned cluster, uint64_t now) {
    (void)now;
    const struct llc_static *s = (const struct llc_static *)organisation;
    unsigned first = mc << s->replication.slices_log2;
    return first +
           (replication_concerns(message) ? replication_slice(&s->replication, s->degree_log2, home, cluster) : home);
}

/* At a kernel's end nothing is in flight, and the degree can change. */
static struct llc_mode static_decide(struct llc_organisation *organisation, enum llc_occasion occasion, uint64_t now,
                                     uint64_t *again) {
    struct llc_static *s = (struct llc_static *)organisation;
    struct llc_mode wanted = organisation->mode;
    (void)now;
    *again = NEVER;
    s->launch += occasion == LLC_KERNEL_ENDS;
    s->degree_log2 = degree_of(s);
    wanted.replicas = may_replicate(s);
    return wanted;
}

const struct llc_organisation_ops llc_organisation_static = {
    .policy = {"static", "read-only lines have a fixed number of replicas; others have one home slice",
               &static_section},
    .check = static_check,
    .create = static_create,
    .destroy = static_destroy,
    .target = static_target,
    .control = &(const struct llc_control_ops){.decide = static_decide},
};
