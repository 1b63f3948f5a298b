/* Energy: what a run costs, told from its counters afterwards. Energy = Σ events × energy of an event + static power × time.
 *
 * Owns: tables of coefficients (YAML files of energy/; a user's own in their place) and the functions that make costs of shapes: routers
 * (router.h), links (link.h), arrays (array.h). Enters: a machine's description and its counters. Leaves: a book of joules by
 * component, and what a design's hardware adds in storage and area (overhead.h). Nothing here runs with the machine.
 *
 * Sources: the structure is GPUWattch's (ISCA 2013) and AccelWattch's (MICRO 2021); networks by DSENT, arrays by CACTI.
 * docs/energy.md tells what is counted as what, and how well the fits hold.
 *
 * Left out: temperature, voltage and frequency scaling; energy that depends on data; how static power of an SM varies with the mix
 * of instructions.
 */
#ifndef SLUICE_ENERGY_ENERGY_H
#define SLUICE_ENERGY_ENERGY_H

#include "config/config.h"
#include "energy/array.h"
#include "energy/link.h"
#include "energy/router.h"
#include "noc/noc.h"
#include "stats/stats.h"

struct energy_config {
    char router[CONFIG_TEXT_MAX], link[CONFIG_TEXT_MAX], array[CONFIG_TEXT_MAX], gpu[CONFIG_TEXT_MAX],
        dram[CONFIG_TEXT_MAX];
    bool measured_caches;
    double link_mm, long_link_mm, gated_leak, die_mm2;
};

extern const struct section energy_section;

/* Picojoules of events in and around the SMs, and power that is always on. */
#define GPU_COEFFICIENTS(C) \
    C(instruction_pj) \
    C(schedule_pj) \
    C(register_read_pj) \
    C(register_write_pj) \
    C(instruction_hit_pj) \
    C(instruction_miss_pj) \
    C(constant_hit_pj) \
    C(constant_miss_pj) \
    C(read_only_pj) \
    C(shared_pj) \
    C(l1_read_hit_pj) \
    C(l1_read_miss_pj) \
    C(l1_write_hit_pj) \
    C(l1_write_miss_pj) \
    C(llc_read_hit_pj) \
    C(llc_read_miss_pj) \
    C(llc_write_hit_pj) \
    C(llc_write_miss_pj) \
    C(int_pj) \
    C(int_mul_pj) \
    C(f32_pj) \
    C(f32_mul_pj) \
    C(f64_pj) \
    C(f64_mul_pj) \
    C(special_pj) \
    C(sm_watts) \
    C(constant_watts) \
    C(register_reads) \
    C(register_writes)

#define DRAM_COEFFICIENTS(C) \
    C(activate_pj) \
    C(read_pj_per_byte) \
    C(write_pj_per_byte) \
    C(refresh_pj) \
    C(channel_milliwatts)

#define C(name) double name;
struct gpu_table {
    struct table_head head;
    GPU_COEFFICIENTS(C)
};
struct dram_table {
    struct table_head head;
    DRAM_COEFFICIENTS(C)
};
#undef C

struct energy_model {
    struct router_table router;
    struct link_table link;
    struct array_table array;
    struct gpu_table gpu;
    struct dram_table dram;
};

/* The tables that the configuration names, or NULL with an error at the place in the file. free() releases it. */
struct energy_model *energy_open(const struct config *config, struct error *err);

/* Where energy goes. */
#define ENERGY_PARTS(P) \
    P(issue, "instruction supply: fetch, decoding, scheduling") \
    P(registers, "register files") \
    P(arithmetic, "arithmetic units") \
    P(shared_memory, "shared memory") \
    P(sm_caches, "instruction, constant and read-only caches") \
    P(l1, "L1 data caches") \
    P(l1_crossbars, "crossbars between SMs and the L1s that they share") \
    P(l1_cooperation, "networks between groups of L1s, and directories of what they hold") \
    P(noc_routers, "routers") \
    P(noc_links, "links") \
    P(llc, "LLC slices") \
    P(dram, "memory") \
    P(sm_idle, "SMs, whether they work or not") \
    P(constant, "all else that is always on")

enum energy_part {
#define P(name, help) ENERGY_##name,
    ENERGY_PARTS(P)
#undef P
        ENERGY_PART_COUNT,
};

struct energy_part_info {
    const char *name, *help;
};
extern const struct energy_part_info energy_parts[ENERGY_PART_COUNT];

/* A network's hardware, both directions together. */
struct noc_cost {
    struct router_area router; /* of all routers together */
    double router_area_mm2, link_area_mm2, wire_mm2;
    double router_watts, clock_watts, link_watts;
};

/* In joules: by events, and by time. */
struct energy_book {
    double seconds;
    struct energy_entry {
        double events, time;
    } part[ENERGY_PART_COUNT];
    struct noc_cost noc;
};

/* What a run of so many cycles cost whose counters these are, on networks of this shape. */
void energy_account(const struct energy_model *model, const struct config *config, const struct network_shape *shape,
                    const struct stats *stats, uint64_t cycles, struct energy_book *book);
double energy_total(const struct energy_book *book);
/* Of both networks. */
double energy_noc(const struct energy_book *book);

struct noc_cost energy_noc_cost(const struct energy_model *model, const struct config *config,
                                const struct network_shape *shape);

#endif
