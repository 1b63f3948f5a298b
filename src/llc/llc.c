#include "llc/llc.h"

#include "base/base.h"
#include "cache/replacement.h"
#include "dram/dram_config.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"

#define LLC_ORGANISATION(name) extern const struct llc_organisation_ops llc_organisation_##name;
#include "llc/organisations.def"
#undef LLC_ORGANISATION

static const struct policy *const members[] = {
#define LLC_ORGANISATION(name) &llc_organisation_##name.policy,
#include "llc/organisations.def"
#undef LLC_ORGANISATION
};

const struct family llc_organisation_family = {"LLC organisation", members, COUNT_OF(members)};

/* What a write does that misses and does not cover its line. */
static const struct policy allocate_fetch = {
    "fetch", "a write that misses fetches its line and modifies it, unless it covers the line: write-back", NULL};
const struct policy llc_allocate_through = {
    "through",
    "a write that misses, or finds its line on its way, goes on to memory, which acknowledges it; the line is fetched, too (GPGPU-Sim's W)",
    NULL};
static const struct policy *const allocations[] = {&allocate_fetch, &llc_allocate_through};
static const struct family allocation_family = {"write allocation", allocations, COUNT_OF(allocations)};

static const struct param params[] = {
    P_CHOICE(struct llc_config, organisation, llc_organisation_family, "shared", "which slice holds a line"),
    P_CHOICE(struct llc_config, replacement, replacement_family, "lru", "which line goes when a set is full"),
    P_INT(struct llc_config, slice_kb, 96, 1, 65536, "KB", "data of one slice"),
    P_INT(struct llc_config, ways, 16, 1, 32768, "lines", "lines of a set"),
    P_INT(struct llc_config, sets, 0, 0, 65536, "sets",
          "sets of a slice; 0: follows from slice_kb, ways and gpu.line_bytes"),
    P_INT(struct llc_config, latency_cycles, 120, 1, 900, "cycles", "from a request's arrival to its lookup"),
    P_INT(struct llc_config, port_bytes, 32, 1, 256, "B/cycle", "width of the data port"),
    P_INT(struct llc_config, mshrs, 32, 1, 4096, "MSHRs", "lines that can be on their way at once, per slice"),
    P_INT(struct llc_config, mshr_merges, 16, 1, 1024, "requests",
          "requests that can wait for one line, the first included"),
    P_INT(
        struct llc_config, replay_queue, 16, 0, 1024, "requests",
        "requests that can be set replay_queue while their line has no room for one more waiter; 0: they hold up all behind them"),
    P_INT(struct llc_config, input_queue, 8, 1, 1024, "requests",
          "requests that can wait for the lookup, beyond those in the pipeline"),
    P_INT(struct llc_config, reply_queue, 8, 1, 1024, "replies", "replies of lookups that can wait for the data port"),
    P_INT(struct llc_config, atomic_cycles, 1, 1, 64, "cycles",
          "of the atomics unit, for each lane that meets on one word"),
    P_CHOICE(struct llc_config, write_allocate, allocation_family, "fetch",
             "what a write does that misses, where writes do not all go through"),
    P_BOOL(struct llc_config, whole_write_backs, false,
           "a modified line goes to memory as a whole (GPGPU-Sim); off: just the sectors that were written"),
    P_INT(struct llc_config, flush_lines, 8, 1, 65536, "lines/cycle", "that a slice forgets while it is flushed"),
    P_INT(
        struct llc_config, sharing_window, 0, 0, 1000000000, "cycles",
        "counts of every line how many clusters access it within so many cycles, and how many SMs, if it is only read "
        "(sharing.*); 0: does not"),
};

/* Past bypassed MC-routers a request comes to its cluster's slice, wherever it was meant to go. */
static bool check_bypass(const struct config *config, const struct llc_organisation_ops *organisation,
                         struct error *err) {
    const struct noc_config *noc = config_get(config, &noc_section);
    if (!noc->bypass || organisation->own_slice_only) return true;
    return config_error(
        config, "noc.bypass", err,
        "past bypassed MC-routers a cluster reaches its own slices only, and llc.organisation %s sends requests "
        "to others, too; take one that does not, such as private",
        organisation->policy.name);
}

static bool check(const struct config *config, struct error *err) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    int64_t size_bytes = llc->slice_kb * 1024, lines = size_bytes / gpu->line_bytes;
    if (llc->sets && llc->sets * llc->ways * gpu->line_bytes != size_bytes)
        return config_error(config, "llc.slice_kb", err,
                            "%lld KB is not llc.sets × llc.ways × gpu.line_bytes = %lld × %lld × %lld = %.6g KB",
                            (long long)llc->slice_kb, (long long)llc->sets, (long long)llc->ways,
                            (long long)gpu->line_bytes, (double)(llc->sets * llc->ways * gpu->line_bytes) / 1024);
    if (lines == 0 || lines % llc->ways != 0 || lines * gpu->line_bytes != size_bytes)
        return config_error(config, "llc.ways", err,
                            "%lld KB in lines of %lld B are %lld lines, which do not make whole sets of %lld ways; "
                            "take a number of ways that divides %lld",
                            (long long)llc->slice_kb, (long long)gpu->line_bytes, (long long)lines,
                            (long long)llc->ways, (long long)lines);
    const struct dram_config *dram = config_get(config, &dram_section);
    if (llc->write_allocate == &llc_allocate_through && dram->port_entries < ALLOCATE_THROUGH_ENTRIES)
        return config_error(
            config, "dram.port_entries", err,
            "llc.write_allocate=through sends up to %d requests to memory at once: a modified line, the write, the fetch",
            ALLOCATE_THROUGH_ENTRIES);
    if (!replacement_check(config, &llc_section, llc->replacement, llc_sets(config), err)) return false;
    const struct llc_organisation_ops *organisation = (const struct llc_organisation_ops *)llc->organisation;
    return check_bypass(config, organisation, err) && (!organisation->check || organisation->check(config, err));
}

static unsigned storage(const struct config *config, struct storage_item *items);

_Static_assert(offsetof(struct llc_config, slices_per_mc) == offsetof(struct slice_count_config, slices_per_mc),
               "a prefix");
const struct section llc_section = {
    .path = "llc",
    .help = "the last-level cache, in slices in front of the memory controllers",
    .base = &slice_count_section,
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct llc_config),
    .check = check,
    .storage = storage,
};

unsigned llc_sets(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    return (unsigned)(llc->sets ? llc->sets : llc->slice_kb * 1024 / gpu->line_bytes / llc->ways);
}

unsigned llc_tag_bits(const struct config *config) { return gpu_tag_bits(config, llc_sets(config)); }

/* Where a line may be in another slice than its home, a slice's tags hold the address bits that choose among the slices of a
 * controller, too ("Selective Replication in Memory-Side GPU Caches", section IV-D). */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    if (llc->organisation == &llc_organisation_shared.policy || llc->slices_per_mc == 1) return 0;
    items[0] =
        (struct storage_item){"larger tags, for lines of other slices", (uint64_t)(llc->slices_per_mc * dram->mcs),
                              (uint64_t)llc_sets(config) * (uint64_t)llc->ways,
                              log2_floor(round_up_power_of_two((uint64_t)llc->slices_per_mc))};
    return 1;
}

struct llc_organisation *llc_organisation_create(const struct llc_context *context, struct error *err) {
    const struct llc_config *llc = config_get(context->config, &llc_section);
    return ((const struct llc_organisation_ops *)llc->organisation)->create(context, err);
}
