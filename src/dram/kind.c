/* The family of memory kinds, and the consistency checks of device parameters. */
#include "dram/kind.h"

#include <stdio.h>

#include "base/base.h"

#define KIND(name) extern const struct dram_kind dram_kind_##name;
#include "dram/kinds.def"
#undef KIND

static const struct policy *const members[] = {
#define KIND(name) &dram_kind_##name.policy,
#include "dram/kinds.def"
#undef KIND
};

const struct family dram_kind_family = {"memory kind", members, COUNT_OF(members)};

const struct dram_device *dram_device_of(const struct config *config) {
    const struct dram_config *dram = config_get(config, &dram_section);
    return config_get(config, dram->kind->section);
}

static bool blame(const struct config *config, const char *field, struct error *err, const char *what, int64_t value,
                  int64_t other) {
    const struct dram_config *dram = config_get(config, &dram_section);
    char key[96];
    snprintf(key, sizeof key, "dram.%s.%s", dram->kind->name, field);
    return config_error(config, key, err, "%lld %s %lld", (long long)value, what, (long long)other);
}

bool dram_kind_check(const struct config *config, struct error *err) {
    const struct dram_device *d = dram_device_of(config);
    const struct {
        const char *field;
        int64_t value;
    } powers[] = {{"banks", d->banks},
                  {"bank_groups", d->bank_groups},
                  {"row_bytes", d->row_bytes},
                  {"burst_bytes", d->burst_bytes}};
    for (unsigned i = 0; i < COUNT_OF(powers); i++)
        if (!is_power_of_two((uint64_t)powers[i].value))
            return blame(config, powers[i].field, err, "is not a power of two; the nearest below is", powers[i].value,
                         (int64_t)1 << log2_floor((uint64_t)powers[i].value));
    const struct {
        const char *field;
        int64_t value, least;
        const char *what;
    } orders[] = {
        {"banks", d->banks, d->bank_groups, "is less than bank_groups:"},
        {"row_bytes", d->row_bytes, d->burst_bytes, "is less than burst_bytes:"},
        {"tRC", d->tRC, d->tRAS, "is less than tRAS, which is part of it:"},
        {"tRRDL", d->tRRDL, d->tRRDS, "is less than tRRDS, the timing for different bank groups:"},
        {"tCCDL", d->tCCDL, d->tCCDS, "is less than tCCDS, the timing for different bank groups:"},
        {"tWTRL", d->tWTRL, d->tWTRS, "is less than tWTRS, the timing for different bank groups:"},
    };
    for (unsigned i = 0; i < COUNT_OF(orders); i++)
        if (orders[i].value < orders[i].least)
            return blame(config, orders[i].field, err, orders[i].what, orders[i].value, orders[i].least);
    if (d->refresh && d->tREFI <= d->tRFC + d->tRP + d->tRAS)
        return blame(config, "tREFI", err, "leaves no time for requests: tRFC + tRP + tRAS is", d->tREFI,
                     d->tRFC + d->tRP + d->tRAS);
    return true;
}
