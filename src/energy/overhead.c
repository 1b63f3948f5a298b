#include "energy/overhead.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "dram/dram_config.h"
#include "llc/llc.h"
#include "sim/gpu_config.h"

static void add_section(const struct config *config, const struct energy_model *model, const struct section *section,
                        const char *path, struct overhead *overhead) {
    struct storage_item items[STORAGE_ITEMS];
    unsigned count = section->storage ? section->storage(config, items) : 0;
    assert(count <= STORAGE_ITEMS);
    assert(overhead->rows + count <= OVERHEAD_ROWS);
    for (unsigned i = 0; i < count; i++) {
        struct overhead_row *row = &overhead->row[overhead->rows++];
        double each = (double)items[i].entries * (double)items[i].bits / 8;
        *row = (struct overhead_row){
            .item = items[i],
            .bytes = (double)items[i].copies * each,
            .mm2 = (double)items[i].copies * array_table_area_mm2(&model->array, each),
            .leak_mw = (double)items[i].copies * array_table_leak_mw(&model->array, each),
        };
        snprintf(row->section, sizeof row->section, "%s", path);
        overhead->bytes += row->bytes;
        overhead->mm2 += row->mm2;
        overhead->leak_mw += row->leak_mw;
        if (section == &llc_section) overhead->llc_tag_bytes += row->bytes;
    }
}

static void add_crossbars(const struct config *config, const struct energy_model *model, struct overhead *overhead) {
    const struct energy_config *values = config_get(config, &energy_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct noc_config *noc = config_get(config, &noc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    unsigned slices = (unsigned)llc->slices_per_mc, channels = (unsigned)dram->channels_per_mc,
             bits = 8 * (unsigned)noc->channel_bytes;
    if (overhead->llc_tag_bytes <= 0 || channels < 2) return;
    struct router_shape to = {slices, channels, bits, 1, 1}, from = {channels, slices, bits, 1, 1};
    double cycle_ps = 1e9 / (double)gpu_core_khz(config);
    struct link_cost link = link_cost(&model->link, bits, values->long_link_mm, cycle_ps);
    overhead->crossbar_mm2 =
        (double)dram->mcs * (router_area_mm2(&model->router, &to) + router_area_mm2(&model->router, &from));
    overhead->link_mm2 = (double)dram->mcs * 2 * slices * link.area_mm2;
}

void overhead_of(const struct config *config, const struct energy_model *model, struct overhead *overhead) {
    const struct energy_config *values = config_get(config, &energy_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    *overhead = (struct overhead){.llc_bytes = (double)(llc->slice_kb * 1024 * llc->slices_per_mc * dram->mcs)};
    char last[128] = "";
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        struct config_entry entry;
        config_entry_at(config, i, &entry);
        char *dot = strrchr(entry.key, '.');
        if (dot) *dot = '\0';
        if (!entry.in_use || strcmp(entry.key, last) == 0) continue;
        snprintf(last, sizeof last, "%s", entry.key);
        add_section(config, model, entry.section, entry.key, overhead);
    }
    add_crossbars(config, model, overhead);
    overhead->die_share = (overhead->mm2 + overhead->crossbar_mm2 + overhead->link_mm2) / values->die_mm2;
}
