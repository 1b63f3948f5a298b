#include "energy/link.h"

#include <math.h>

#include "base/base.h"

struct repeaters {
    unsigned count;
    double size;
};

static struct repeaters repeaters_of(const struct link_table *table, double length_mm, double available_ps) {
    double fastest = table->repeater_ps > 0 ? round(length_mm * sqrt(table->wire_ps / table->repeater_ps)) : 1;
    unsigned most = (unsigned)fmin(fmax(fastest, 1), 10000);
    for (unsigned n = 1; n <= most; n++)
        for (unsigned i = 0; i < table->sizes_percent.count; i++) {
            double size = (double)table->sizes_percent.value[i] / 100;
            double ps = n * table->repeater_ps + table->wire_ps * length_mm * length_mm / n +
                        length_mm * (table->drive_ps / size + table->load_ps * size);
            if (ps <= available_ps) return (struct repeaters){n, size};
        }
    return (struct repeaters){most, 1};
}

struct link_cost link_cost(const struct link_table *table, unsigned bits, double length_mm, double available_ps) {
    struct repeaters repeaters = repeaters_of(table, length_mm, available_ps);
    double strength = bits * repeaters.count * repeaters.size;
    return (struct link_cost){
        .repeaters = repeaters.count,
        .size = repeaters.size,
        .pj = table->wire_pj * bits * length_mm + table->repeater_pj * strength,
        .leak_mw = table->repeater_leak_mw * strength,
        .area_mm2 = table->repeater_area_mm2 * bits * repeaters.count * (1 + repeaters.size),
        .wire_mm2 = table->wire_area_mm2 * bits * length_mm,
    };
}

#define REAL(field) TABLE_REAL(struct link_table, field)
static const struct yaml_key keys[] = {
    TABLE_HEAD,
    REAL(wire_pj),
    REAL(repeater_pj),
    REAL(repeater_leak_mw),
    REAL(repeater_area_mm2),
    REAL(wire_area_mm2),
    REAL(repeater_ps),
    REAL(wire_ps),
    REAL(drive_ps),
    REAL(load_ps),
    {.param = P_LIST(struct link_table, sizes_percent, "[100]", 1, CONFIG_LIST_MAX, 1, 100000, "%", "")},
};
const struct yaml_form link_form = {.noun = "a table of links", .keys = keys, .count = COUNT_OF(keys)};
