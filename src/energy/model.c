/* The tables of a model, and the parameters that select them. */
#include <stdlib.h>

#include "base/base.h"
#include "dram/dram_config.h"
#include "energy/energy.h"

static const struct param params[] = {
    P_TEXT(struct energy_config, router, "router-22nm", "router table: a bundled name or a YAML file"),
    P_TEXT(struct energy_config, link, "link-22nm-global", "link table"),
    P_TEXT(struct energy_config, array, "array-22nm", "cache and array table"),
    P_TEXT(struct energy_config, gpu, "gpu-volta", "table of SM events and constant power"),
    P_TEXT(struct energy_config, dram, "", "DRAM table; empty: the bundled one for dram.kind"),
    P_BOOL(
        struct energy_config, measured_caches, true,
        "L1 and LLC accesses by the GPU table, whose constant power includes their leakage; off: both by the array table"),
    P_REAL(struct energy_config, link_mm, 1, 0, 1000, "mm", "length of a link between an SM or slice and its router"),
    P_REAL(
        struct energy_config, long_link_mm, 12.3, 0, 1000, "mm",
        "length of a link across the chip: between the stages of a hierarchical crossbar, or between SMs and another crossbar"),
    P_REAL(struct energy_config, gated_leak, 0.05, 0, 1, "of its leakage", "leakage of a router that is powered off"),
    P_REAL(struct energy_config, die_mm2, 610, 1, 100000, "mm2", "chip area, the reference for area overheads"),
};

const struct section energy_section = {
    .path = "energy",
    .help = "energy and area model",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct energy_config),
};

static const struct yaml_key gpu_keys[] = {TABLE_HEAD,
#define C(name) TABLE_REAL(struct gpu_table, name),
                                           GPU_COEFFICIENTS(C)
#undef C
};
static const struct yaml_form gpu_form = {
    .noun = "a table of a GPU's events", .keys = gpu_keys, .count = COUNT_OF(gpu_keys)};

static const struct yaml_key dram_keys[] = {TABLE_HEAD,
#define C(name) TABLE_REAL(struct dram_table, name),
                                            DRAM_COEFFICIENTS(C)
#undef C
};
static const struct yaml_form dram_form = {
    .noun = "a table of a memory", .keys = dram_keys, .count = COUNT_OF(dram_keys)};

struct energy_model *energy_open(const struct config *config, struct error *err) {
    const struct energy_config *values = config_get(config, &energy_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    struct energy_model *model = mem_alloc(1, sizeof *model);
    char *memory = *values->dram ? mem_text(values->dram) : text_format("dram-%s", dram->kind->name);
    bool good = table_read(values->router, &router_form, &model->router, err) &&
                table_read(values->link, &link_form, &model->link, err) &&
                table_read(values->array, &array_form, &model->array, err) &&
                table_read(values->gpu, &gpu_form, &model->gpu, err) &&
                table_read(memory, &dram_form, &model->dram, err);
    free(memory);
    if (good) return model;
    free(model);
    return NULL;
}
