#include "l1/l1.h"

#include <stdio.h>

#include "base/base.h"
#include "cache/geometry.h"
#include "cache/replacement.h"
#include "l1/duplication.h"
#include "l1/insertion.h"
#include "l1/reuse.h"
#include "l1/sectored.h"
#include "l1/shared_data.h"
#include "sim/gpu_config.h"

#define L1_ORGANISATION(name) extern const struct l1_ops l1_##name;
#include "l1/organisations.def"
#undef L1_ORGANISATION

static const struct policy *const members[] = {
#define L1_ORGANISATION(name) &l1_##name.policy,
#include "l1/organisations.def"
#undef L1_ORGANISATION
};

const struct family l1_organisation_family = {"L1 organisation", members, COUNT_OF(members)};

static const struct policy allocate_on_miss = {"miss", "a read miss reserves its line", NULL};
const struct policy l1_allocate_on_fill = {
    "fill", "a read miss reserves an MSHR only, and its data evict a line when they arrive (sectored L1s)", NULL};
static const struct policy *const allocations[] = {&allocate_on_miss, &l1_allocate_on_fill};
static const struct family allocation_family = {"L1 allocation", allocations, COUNT_OF(allocations)};

static const struct policy write_none = {
    "none", "a write allocates nothing and invalidates the line, or the sectors, that it hits", NULL};
const struct policy l1_write_validate = {
    "validate",
    "a write updates its line or allocates one without fetching; sectors that it covers are valid (sectored L1s)",
    NULL};
static const struct policy *const write_allocations[] = {&write_none, &l1_write_validate};
static const struct family write_allocation_family = {"L1 write allocation", write_allocations,
                                                      COUNT_OF(write_allocations)};

static const struct param params[] = {
    P_CHOICE(struct l1_config, organisation, l1_organisation_family, "private", "L1 organisation"),
    P_CHOICE(struct l1_config, insertion, insertion_family, "always",
             "insertion policy: which read misses allocate a line"),
    P_CHOICE(struct l1_config, replacement, replacement_family, "lru", "replacement policy"),
    P_INT(struct l1_config, sector_bytes, 0, 0, 32, "B",
          "32: a sectored L1, whose lines are valid, fetched and invalidated by sectors; 0: whole lines"),
    P_CHOICE(struct l1_config, allocate_on, allocation_family, "miss", "when a read miss takes a line"),
    P_CHOICE(struct l1_config, write_allocate, write_allocation_family, "none", "effect of writes on the L1"),
    P_INT(struct l1_config, size_kb, 16, 1, 65536, "KB", "L1 size"),
    P_INT(struct l1_config, ways, 4, 1, 32768, "lines", "associativity"),
    P_INT(struct l1_config, sets, 0, 0, 65536, "sets",
          "number of sets; derived from size_kb, ways and gpu.line_bytes if 0 or if one of these is set alone"),
    P_INT(struct l1_config, latency_cycles, 1, 1, 255, "cycles", "hit latency"),
    P_INT(struct l1_config, tags_per_cycle, 1, 1, 32, "lines", "lines of a memory instruction looked up per cycle"),
    P_INT(struct l1_config, port_bytes, 0, 0, 1024, "B",
          "data port: bytes of a memory instruction's lanes per cycle; 0: a line, however much of it lanes access"),
    P_INT(struct l1_config, mshrs, 32, 1, 4096, "MSHRs", "MSHRs per L1"),
    P_INT(struct l1_config, mshr_merges, 8, 1, 1024, "accesses",
          "MSHR merge limit: accesses per MSHR, the first included"),
    P_INT(struct l1_config, miss_queue, 8, 1, 1024, "packets", "miss queue length"),
    P_INT(struct l1_config, bypass_queue, 0, 0, 1024, "packets",
          "length of the queue of reads and atomics that bypass the L1; 0: they use the miss queue"),
    P_BOOL(struct l1_config, write_back_slot, false,
           "a read miss or pending hit needs two free entries of the miss queue, one for a write-back (GPGPU-Sim); "
           "off: a miss needs one, a pending hit none"),
    P_BOOL(struct l1_config, flush_at_kernel_end, true,
           "invalidate the L1 at the end of a kernel (software coherence)"),
    P_CHOICE(struct l1_config, observe_reuse, reuse_family, "off", "count line reuse and reuse distances (reuse.*)"),
    P_BOOL(struct l1_config, observe_duplication, false,
           "count the groups of L1s that hold a missed line (duplication.*)"),
    P_BOOL(struct l1_config, observe_shared_data, false,
           "count lines shared by several SMs in a kernel, and their reads (shared_data.*)"),
};

static struct cache_params cache_params(const struct config *config) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    return (struct cache_params){"l1.size_kb", "l1.ways", "l1.sets", l1->size_kb, l1->ways, l1->sets};
}

static void derive(struct config *config) {
    struct cache_params params_ = cache_params(config);
    cache_derive_sets(config, &params_);
}

static bool check(const struct config *config, struct error *err) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    struct cache_params params_ = cache_params(config);
    if (!cache_check_size(config, &params_, err)) return false;
    if (l1->write_back_slot && l1->miss_queue < 2)
        return config_error(config, "l1.miss_queue", err,
                            "with l1.write_back_slot a miss needs two entries; use at least 2");
    if (!l1_sectors_check(config, err)) return false;
    if (l1_is_grouped(config) && (l1->tags_per_cycle > 1 || l1->port_bytes))
        return config_error(config, l1->port_bytes ? "l1.port_bytes" : "l1.tags_per_cycle", err,
                            "the L1s of l1.organisation=%s accept one access per cycle; use private",
                            l1->organisation->name);
    unsigned groups = l1_shape(config).groups;
    if (l1->observe_duplication && groups > DUPLICATION_GROUPS_MAX)
        return config_error(config, "l1.observe_duplication", err, "at most %d groups are supported, not %u",
                            DUPLICATION_GROUPS_MAX, groups);
    if (l1->observe_shared_data && l1->observe_reuse != reuse_family.members[0])
        return config_error(config, "l1.observe_shared_data", err,
                            "only one observer of accesses is supported, and l1.observe_reuse=%s is enabled",
                            l1->observe_reuse->name);
    return replacement_check(config, &l1_section, l1->replacement, l1_sets(config), err);
}

const struct section l1_section = {
    .path = "l1",
    .help = "the first-level data cache",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct l1_config),
    .check = check,
    .derive = derive,
};

static const struct l1_ops *organisation_of(const struct config *config) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    return (const struct l1_ops *)l1->organisation;
}

struct l1_shape l1_shape(const struct config *config) {
    const struct l1_ops *organisation = organisation_of(config);
    return organisation->shape ? organisation->shape(config) : (struct l1_shape){gpu_sms(config), 1};
}

unsigned l1_count(const struct config *config) {
    struct l1_shape shape = l1_shape(config);
    return shape.groups * shape.per_group;
}

bool l1_is_grouped(const struct config *config) { return organisation_of(config)->shape != NULL; }

/* Nodes, two crossbars per group, and one inter-group network per node position in a group. */
unsigned l1_components(const struct config *config) {
    struct l1_shape shape = l1_shape(config);
    return l1_is_grouped(config) ? shape.groups * (shape.per_group + 2) + shape.per_group : 0;
}

unsigned l1_sets(const struct config *config) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    return (unsigned)(l1->sets ? l1->sets : l1->size_kb * 1024 / gpu->line_bytes / l1->ways);
}

unsigned l1_tag_bits(const struct config *config) { return gpu_tag_bits(config, l1_sets(config)); }

static const struct insertion_ops *insertion_of(const struct config *config) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    return (const struct insertion_ops *)l1->insertion;
}

unsigned l1_probe_cycles(const struct config *config) {
    const struct insertion_ops *insertion = insertion_of(config);
    return insertion->probe_cycles ? insertion->probe_cycles(config) : 0;
}

bool l1_suits_programs(const struct config *config, struct error *err) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct insertion_ops *insertion = insertion_of(config);
    struct duel_rule rule;
    if (((const struct l1_ops *)l1->organisation)->shape)
        return config_error(
            config, "l1.organisation", err,
            "with %s, SMs share L1s, which concurrent programs would invalidate at different times; use private",
            l1->organisation->name);
    if (insertion->begin || l1_duel(config, &rule))
        return config_error(config, "l1.insertion", err,
                            "%s depends on the kernels or the SM dueling of a single program, and there are two; "
                            "use another policy or disable dueling",
                            l1->insertion->name);
    return true;
}

/* What else than sm.carve_outs keeps this L1 from being shared by SMs, as settings that help. */
static void list_obstacles(const struct l1_config *l1, char *text, size_t size) {
    const char *const helps[] = {
        l1->sector_bytes ? "l1.sector_bytes=0" : NULL,
        l1->allocate_on == &l1_allocate_on_fill ? "l1.allocate_on=miss" : NULL,
        l1->write_allocate == &l1_write_validate ? "l1.write_allocate=none" : NULL,
        l1->port_bytes ? "l1.port_bytes=0" : NULL,
        l1->tags_per_cycle > 1 ? "l1.tags_per_cycle=1" : NULL,
    };
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; i < COUNT_OF(helps); i++)
        if (helps[i]) used += (size_t)snprintf(text + used, size - used, ", %s", helps[i]);
}

/* Insertion policies have state by line, or a stage in front of the L1 (mrpb). */
bool l1_can_resize(const struct config *config, struct error *err) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct insertion_ops *insertion = insertion_of(config);
    if (!organisation_of(config)->resize) {
        char others[160];
        list_obstacles(l1, others, sizeof others);
        return config_error(
            config, "l1.organisation", err,
            "the L1s of %s have a fixed size, and this GPU carves shared memory out of them; use private, "
            "or set sm.carve_outs=[], sm.shared_kb and l1.size_kb%s",
            l1->organisation->name, others);
    }
    if (insertion->admit || insertion->before)
        return config_error(
            config, "l1.insertion", err,
            "%s needs an L1 of fixed size, and this GPU carves shared memory out of it (sm.carve_outs); use always",
            l1->insertion->name);
    if (!l1->flush_at_kernel_end)
        return config_error(config, "l1.flush_at_kernel_end", err,
                            "an L1 that changes its size between kernels (sm.carve_outs) is flushed there");
    return true;
}

struct l1 *l1_create(const struct l1_context *context, struct error *err) {
    return organisation_of(context->config)->create(context, err);
}

struct l1 *l1_stages_create(struct l1 *l1, const struct l1_context *context) {
    const struct l1_config *config = config_get(context->config, &l1_section);
    const struct insertion_ops *insertion = insertion_of(context->config);
    if (config->observe_duplication) duplication_observe(l1, l1_shape(context->config), context->stats);
    if (config->observe_shared_data) shared_data_observe(l1, context);
    reuse_observe(l1, config->observe_reuse, context); /* observes the accesses in their order after that stage */
    return insertion->before ? insertion->before(l1, context) : l1;
}

bool l1_insertion_create(struct l1 *l1, const struct l1_context *context, struct cache **caches, struct error *err) {
    const struct insertion_ops *insertion = insertion_of(context->config);
    if (!insertion->admit) return true;
    struct insertion_context caches_of = {context->config, context->stats, context->sms,
                                          context->homes ? context->homes : 1, caches};
    l1->insertion = insertion;
    if (insertion->create) l1->insertion_state = insertion->create(&caches_of, err);
    return !insertion->create || l1->insertion_state;
}

void l1_insertion_destroy(struct l1 *l1) {
    if (l1->insertion_state) l1->insertion->destroy(l1->insertion_state);
}

bool l1_duel(const struct config *config, struct duel_rule *rule) {
    const struct insertion_ops *insertion = insertion_of(config);
    return insertion->duel && insertion->duel(config, rule);
}

void l1_report_to(struct l1 *l1, unsigned sm, struct port *control) {
    l1->insertion->report_to(l1->insertion_state, sm, control);
}

void l1_steer(struct l1 *l1, unsigned sm, bool plain, uint32_t round) {
    l1->insertion->steer(l1->insertion_state, sm, plain, round);
}

void l1_begin(struct l1 *l1, unsigned kernel) {
    if (l1->ops->begin) l1->ops->begin(l1);
    if (l1->insertion && l1->insertion->begin) l1->insertion->begin(l1->insertion_state, kernel);
}

bool l1_finish(struct l1 *l1, struct error *err) {
    return !l1->insertion || !l1->insertion->finish || l1->insertion->finish(l1->insertion_state, err);
}
