/* Energy of a run, computed from its counters afterwards: Σ events × energy per event + static power × time.
 *
 * Owns:   tables of coefficients (energy/NAME.yaml, or a user's files) and the cost functions of routers (router.h), links
 *         (link.h) and arrays (array.h).
 * Enters: a machine's configuration and its counters.
 * Leaves: joules by component (struct energy_book), and the storage and area that a design adds (overhead.h).
 *
 * Contract: the module runs after the simulation and does not affect it.
 *
 * Sources: the structure is that of GPUWattch (ISCA 2013) and AccelWattch (MICRO 2021); networks by DSENT, arrays by
 * CACTI. docs/energy.md describes how events are counted and how accurate the fits are.
 *
 * Not modelled: temperature, voltage and frequency scaling; data-dependent energy; the dependence of an SM's static
 * power on the instruction mix.
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

/* Energy of events in and around the SMs in picojoules, and constant power. */
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
    C(tensor_pj) \
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

/* Reads the tables that the configuration names; NULL with a located error. free() releases the model. */
struct energy_model *energy_open(const struct config *config, struct error *err);

/* Components to which energy is attributed. */
#define ENERGY_PARTS(P) \
    P(issue, "instruction supply: fetch, decode, scheduling") \
    P(registers, "register files") \
    P(arithmetic, "arithmetic units") \
    P(shared_memory, "shared memory") \
    P(sm_caches, "instruction, constant and read-only caches") \
    P(l1, "L1 data caches") \
    P(l1_crossbars, "crossbars between SMs and shared L1s") \
    P(l1_cooperation, "networks between groups of L1s, and their directories") \
    P(noc_routers, "network routers") \
    P(noc_links, "network links") \
    P(llc, "LLC slices") \
    P(dram, "DRAM") \
    P(sm_idle, "static power of the SMs") \
    P(constant, "other constant power")

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

/* Hardware cost of the networks, both directions together. */
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
    /* noc_routers by stage, request and reply network together, in the order in which requests pass them. */
    struct energy_stage {
        const char *name; /* "sm_router", "mc_router", "router", "concentrator", "distributor" */
        struct energy_entry energy;
    } stage[NOC_ROUTER_GROUPS];
    unsigned stages;
    struct noc_cost noc;
};

/* Computes the energy of a run of `cycles` from its counters, for networks of this shape. */
void energy_account(const struct energy_model *model, const struct config *config, const struct network_shape *shape,
                    const struct stats *stats, uint64_t cycles, struct energy_book *book);
double energy_total(const struct energy_book *book);
/* Energy of both networks. */
double energy_noc(const struct energy_book *book);

struct noc_cost energy_noc_cost(const struct energy_model *model, const struct config *config,
                                const struct network_shape *shape);

#endif
