/* Replication at a fixed degree: what a kernel only reads has so many copies at its controller, each for its own group of
 * clusters (replication.h). The yardstick of "Selective Replication in Memory-Side GPU Caches" (section V), whose Best Static
 * Replication is the best of its degrees for each kernel.
 */
#include <stdlib.h>

#include "base/base.h"
#include "llc/replication.h"

const struct llc_organisation_ops llc_organisation_static;

struct static_config {
    int64_t degree;
    const struct policy *flush;
};

static const struct param params[] = {
    P_INT(struct static_config, degree, 2, 1, 64, "copies", "of a line that is only read: a power of two"),
    P_CHOICE(struct static_config, flush, replication_flush_family, "replicas",
             "what slices forget at a kernel's end, if there are copies"),
};

static const struct section static_section = {
    .path = "static",
    .help = "an LLC that replicates what is only read at a fixed degree",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct static_config),
};

struct llc_static {
    struct llc_organisation base;
    struct replication replication;
    unsigned degree_log2;
};

static bool static_check(const struct config *config, struct error *err) {
    const struct static_config *values = config_get(config, &static_section);
    if (!replication_check(config, err)) return false;
    struct replication replication = replication_of(config);
    if (is_power_of_two((uint64_t)values->degree) && values->degree < INT64_C(1) << replication.degrees) return true;
    return config_error(
        config, "llc.static.degree", err,
        "with %u clusters and %u slices at each controller a line has 1, 2, 4, ... up to %u copies, not %lld",
        1u << replication.clusters_log2, 1u << replication.slices_log2, 1u << (replication.degrees - 1),
        (long long)values->degree);
}

static struct llc_organisation *static_create(const struct llc_site *site, struct error *err) {
    (void)err;
    const struct static_config *values = config_get(site->config, &static_section);
    struct llc_static *s = mem_alloc(1, sizeof *s);
    *s = (struct llc_static){
        .base = {.ops = &llc_organisation_static,
                 .map = site->map,
                 .mode = {.replicas = values->degree > 1, .forget_all = values->flush == &replication_flush_whole}},
        .replication = replication_of(site->config),
        .degree_log2 = log2_floor((uint64_t)values->degree),
    };
    return &s->base;
}

static void static_destroy(struct llc_organisation *organisation) { free(organisation); }

static unsigned static_target(struct llc_organisation *organisation, const struct message *message, unsigned mc,
                              unsigned slice, unsigned cluster, uint64_t now) {
    (void)now;
    const struct llc_static *s = (const struct llc_static *)organisation;
    unsigned first = mc << s->replication.slices_log2;
    return first +
           (replication_concerns(message) ? replication_slice(&s->replication, s->degree_log2, slice, cluster) : slice);
}

const struct llc_organisation_ops llc_organisation_static = {
    .policy = {"static", "what is only read has a fixed number of copies; all else has one home slice",
               &static_section},
    .check = static_check,
    .create = static_create,
    .destroy = static_destroy,
    .target = static_target,
};
