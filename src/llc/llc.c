#include "llc/llc.h"

#include "base/base.h"
#include "cache/geometry.h"
#include "cache/replacement.h"
#include "dram/dram_config.h"
#include "llc/organisation.h"
#include "llc/sectored.h"
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

/* Policies for a write miss that does not cover its line. */
static const struct policy allocate_fetch = {
    "fetch",
    "write-back, fetch on write: a write miss fetches the line and modifies it, unless it covers the whole line", NULL};
const struct policy llc_allocate_through = {
    "through",
    "a write miss or pending hit is written through to memory, which acknowledges it; the line is also fetched (GPGPU-Sim's W)",
    NULL};
const struct policy llc_allocate_validate = {
    "validate",
    "write-back, write-validate: a write fetches nothing; a sector of which it leaves bytes unwritten is fetched when it is read (sectored LLCs)",
    NULL};
static const struct policy *const allocations[] = {&allocate_fetch, &llc_allocate_through, &llc_allocate_validate};
static const struct family allocation_family = {"write allocation", allocations, COUNT_OF(allocations)};

static const struct param params[] = {
    P_CHOICE(struct llc_config, organisation, llc_organisation_family, "shared", "organisation: maps lines to slices"),
    P_INT(struct llc_config, partitions, 1, 1, 2, "partitions",
          "halves of slices and clusters between which requests cross a bridge (bridge.*); 1: one pool"),
    P_CHOICE(struct llc_config, replacement, replacement_family, "lru", "replacement policy"),
    P_INT(struct llc_config, slice_kb, 96, 1, 65536, "KB", "capacity of a slice"),
    P_INT(struct llc_config, ways, 16, 1, 32768, "lines", "associativity"),
    P_INT(struct llc_config, sets, 0, 0, 65536, "sets",
          "sets per slice; derived from slice_kb, ways and gpu.line_bytes if 0 or if one of these is set alone"),
    P_INT(struct llc_config, latency_cycles, 120, 1, 900, "cycles", "access latency, from arrival to lookup"),
    P_INT(struct llc_config, port_bytes, 32, 1, 256, "B/cycle", "width of the data port"),
    P_INT(struct llc_config, mshrs, 32, 1, 4096, "MSHRs", "MSHRs per slice: lines that can be in flight"),
    P_INT(struct llc_config, mshr_merges, 16, 1, 1024, "requests",
          "MSHR merge limit: requests that can wait for one line, including the first"),
    P_INT(
        struct llc_config, replay_queue, 16, 0, 1024, "requests",
        "replay queue depth, for requests at the MSHR merge limit of their line; 0: they block the requests behind them"),
    P_INT(struct llc_config, input_queue, 8, 1, 1024, "requests",
          "input queue depth, in addition to the access pipeline"),
    P_BOOL(struct llc_config, input_gate, false,
           "accept requests only while the input queue, behind the access pipeline, has space (GPGPU-Sim); "
           "off: also while only the pipeline has"),
    P_INT(struct llc_config, reply_queue, 8, 1, 1024, "replies",
          "reply queue depth, for hits that wait for the data port"),
    P_INT(struct llc_config, atomic_cycles, 1, 1, 64, "cycles",
          "latency of the atomics unit per lane on the same word"),
    P_CHOICE(struct llc_config, write_allocate, allocation_family, "fetch", "write-miss policy of a write-back LLC"),
    P_BOOL(struct llc_config, whole_write_backs, false,
           "write back whole lines (GPGPU-Sim); off: only modified sectors"),
    P_INT(struct llc_config, sector_bytes, 0, 0, 32, "B",
          "32: a sectored LLC, whose lines are valid, fetched and written back by sectors; 0: whole lines are fetched"),
    P_INT(struct llc_config, fetch_bytes, 0, 0, 256, "B",
          "bytes that a sectored LLC fetches together, aligned: a power of two up to the line; 0: one sector"),
    P_INT(struct llc_config, flush_lines, 8, 1, 65536, "lines/cycle", "invalidation rate of a slice during a flush"),
    P_INT(struct llc_config, sharing_window, 0, 0, 1000000000, "cycles",
          "window in which the clusters that access each line, and the SMs that read each read-only line, are counted "
          "(sharing.*); 0: off"),
};

/* With bypassed MC-routers every request arrives at its cluster's slice, whatever its target. */
static bool check_bypass(const struct config *config, const struct llc_organisation_ops *organisation,
                         struct error *err) {
    const struct noc_config *noc = config_get(config, &noc_section);
    if (!noc->bypass || organisation->own_slice_only) return true;
    return config_error(
        config, "noc.bypass", err,
        "with bypassed MC-routers a cluster reaches only its own slices, but llc.organisation %s sends requests "
        "to others; choose one that does not, such as private",
        organisation->policy.name);
}

static struct cache_params cache_params(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    return (struct cache_params){"llc.slice_kb", "llc.ways", "llc.sets", llc->slice_kb, llc->ways, llc->sets};
}

static void derive(struct config *config) {
    struct cache_params params_ = cache_params(config);
    cache_derive_sets(config, &params_);
}

static bool check(const struct config *config, struct error *err) {
    const struct llc_config *llc = config_get(config, &llc_section);
    struct cache_params params_ = cache_params(config);
    if (!cache_check_size(config, &params_, err) || !slice_sectors_check(config, err)) return false;
    const struct dram_config *dram = config_get(config, &dram_section);
    if (llc->write_allocate == &llc_allocate_through && dram->port_entries < ALLOCATE_THROUGH_ENTRIES)
        return config_error(config, "dram.port_entries", err,
                            "must be at least %d with llc.write_allocate=through: a write-back, the write, the fetch",
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
    .derive = derive,
    .storage = storage,
};

unsigned llc_sets(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    return (unsigned)(llc->sets ? llc->sets : llc->slice_kb * 1024 / gpu->line_bytes / llc->ways);
}

unsigned llc_tag_bits(const struct config *config) { return gpu_tag_bits(config, llc_sets(config)); }

/* If lines may be outside their home slice, the tags also hold the address bits that choose among the slices of a
 * controller ("Selective Replication in Memory-Side GPU Caches", section IV-D). */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    if (llc->organisation == &llc_organisation_shared.policy || llc->slices_per_mc == 1) return 0;
    items[0] = (struct storage_item){"larger tags, for lines with other home slices",
                                     (uint64_t)(llc->slices_per_mc * dram->mcs),
                                     (uint64_t)llc_sets(config) * (uint64_t)llc->ways,
                                     log2_floor(round_up_power_of_two((uint64_t)llc->slices_per_mc))};
    return 1;
}

struct llc_organisation *llc_organisation_create(const struct llc_context *context, struct error *err) {
    const struct llc_config *llc = config_get(context->config, &llc_section);
    return ((const struct llc_organisation_ops *)llc->organisation)->create(context, err);
}
