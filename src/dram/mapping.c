/* Address translation in both directions for any mapping: the shape comes from the configuration, the mapping places
 * the bits, and at run time there remain shifts, masks and, for a matrix, one table lookup per address byte that it
 * reads. */
#include "dram/mapping.h"

#include <stdlib.h>

#include "base/base.h"
#include "dram/layout.h"
#include "sim/gpu_config.h"

#define MAPPING(name) extern const struct mapping_ops mapping_##name;
#include "dram/mappings.def"
#undef MAPPING

static const struct policy *const members[] = {
#define MAPPING(name) &mapping_##name.policy,
#include "dram/mappings.def"
#undef MAPPING
};

const struct family dram_mapping_family = {"address mapping", members, COUNT_OF(members)};

/* Only for building and inverting the map. */
struct map_inside {
    struct bit_run mc, channel, bank_low, bank_high, slice_channel, slice_bank;
    unsigned low_bank_bits;
    struct map_shape shape;
    struct map_matrix inverse;
};

static struct map_shape shape_of(const struct config *config) {
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct dram_device *device = dram_device_of(config);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    bool divide = !is_power_of_two((uint64_t)dram->mcs);
    int64_t per_channel = (int64_t)gpu_slices_per_mc(config) / dram->channels_per_mc;
    return (struct map_shape){
        .interleave_bits = log2_floor((uint64_t)dram->interleave_bytes),
        .mc_bits = divide ? 0 : log2_floor((uint64_t)dram->mcs),
        .channel_bits = log2_floor((uint64_t)dram->channels_per_mc),
        .bank_bits = log2_floor((uint64_t)device->banks),
        .column_bits = log2_floor((uint64_t)device->row_bytes),
        .line_bits = log2_floor((uint64_t)gpu->line_bytes),
        .slices_per_channel = per_channel < 1 ? 1 : (unsigned)per_channel,
    };
}

static const struct mapping_ops *ops_of(const struct config *config) {
    return (const struct mapping_ops *)((const struct dram_config *)config_get(config, &dram_section))->mapping;
}

bool address_map_check(const struct config *config, struct error *err) {
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct dram_device *device = dram_device_of(config);
    if (dram->interleave_bytes > device->row_bytes)
        return config_error(config, "dram.interleave_bytes", err,
                            "%lld B is more than one row; the maximum is dram.%s.row_bytes=%lld",
                            (long long)dram->interleave_bytes, dram->kind->name, (long long)device->row_bytes);
    const struct mapping_ops *ops = ops_of(config);
    struct map_shape shape = shape_of(config);
    struct map_matrix matrix = {0};
    return ops->matrix ? ops->matrix(config, &shape, &matrix, err) : true;
}

bool map_matrix_invert(const struct map_matrix *forward, unsigned first_bit, struct map_matrix *inverse) {
    unsigned n = forward->count;
    uint64_t field = low_mask(n) << first_bit;
    uint64_t left[MATRIX_BITS_MAX]; /* old bits of the field in equation i */
    for (unsigned i = 0; i < n; i++) {
        left[i] = forward->mask[i] & field;
        inverse->mask[i] = (forward->mask[i] & ~field) | UINT64_C(1) << (first_bit + i);
    }
    inverse->count = n;
    for (unsigned column = 0; column < n; column++) {
        uint64_t bit = UINT64_C(1) << (first_bit + column);
        unsigned pivot = column;
        while (pivot < n && !(left[pivot] & bit)) pivot++;
        if (pivot == n) return false;
        uint64_t l = left[pivot], r = inverse->mask[pivot];
        left[pivot] = left[column], inverse->mask[pivot] = inverse->mask[column];
        left[column] = l, inverse->mask[column] = r;
        for (unsigned i = 0; i < n; i++)
            if (i != column && (left[i] & bit)) left[i] ^= l, inverse->mask[i] ^= r;
    }
    return true;
}

static struct bit_run bit_run_of(unsigned from, unsigned bits, unsigned to) {
    assert(from >= to);
    return (struct bit_run){from - to, low_mask(bits) << to};
}

/* Places the fields from bit 0 up. */
static void place_fields(struct address_map *map) {
    const struct map_shape *s = &map->inside->shape;
    unsigned at = s->interleave_bits, low = map->inside->low_bank_bits, high = s->bank_bits - low;
    map->inside->mc = bit_run_of(at, s->mc_bits, 0);
    at += s->mc_bits;
    map->inside->channel = bit_run_of(at, s->channel_bits, 0);
    at += s->channel_bits;
    map->inside->bank_low = bit_run_of(at, low, 0);
    at += low;
    map->column_high = bit_run_of(at, s->column_bits - s->interleave_bits, s->interleave_bits);
    at += s->column_bits - s->interleave_bits;
    map->inside->bank_high = bit_run_of(at, high, low);
    map->row_shift = at + high;
}

/* A slice is its channel's number and, below it, the low bank bits; so a channel's slices share its banks evenly. */
static void place_slices(struct address_map *map) {
    const struct map_shape *s = &map->inside->shape;
    unsigned at = s->interleave_bits + s->mc_bits;
    map->partition_shift = at;
    if (!is_power_of_two(map->slices)) {
        map->slice_divisor = map->slices;
        return;
    }
    unsigned bits = log2_floor(map->slices), from_channel = bits < s->channel_bits ? bits : s->channel_bits;
    unsigned from_bank = bits - from_channel;
    map->inside->slice_bank = bit_run_of(at + s->channel_bits, from_bank, 0);
    map->inside->slice_channel = (struct bit_run){at, low_mask(from_channel)};
    map->partition_shift = at + bits;
}

static inline uint64_t bit_run_put(struct bit_run run, uint64_t field) { return (field & run.mask) << run.shift; }

static uint64_t table_entry(const struct address_map *map, const struct map_matrix *forward, uint64_t address) {
    uint64_t mapped = address;
    for (unsigned i = 0; i < forward->count; i++) {
        unsigned bit = map->interleave_bits + i;
        mapped = (mapped & ~(UINT64_C(1) << bit)) | (uint64_t)__builtin_parityll(address & forward->mask[i]) << bit;
    }
    uint64_t bank = bit_run_get(map->inside->bank_low, mapped) | bit_run_get(map->inside->bank_high, mapped);
    uint64_t slice = 0;
    if (!map->slice_divisor)
        slice = bit_run_get(map->inside->slice_channel, mapped) * (map->inside->slice_bank.mask + 1) +
                bit_run_get(map->inside->slice_bank, mapped);
    return (mapped ^ address) | bit_run_get(map->inside->mc, mapped) << MAP_ENTRY_MC |
           bit_run_get(map->inside->channel, mapped) << MAP_ENTRY_CHANNEL | slice << MAP_ENTRY_SLICE |
           bank << MAP_ENTRY_BANK;
}

struct address_map *address_map_create(const struct config *config, struct error *err) {
    const struct mapping_ops *ops = ops_of(config);
    const struct dram_config *dram = config_get(config, &dram_section);
    if (!address_map_check(config, err)) return NULL;
    struct address_map *map = mem_alloc(1, sizeof *map);
    map->inside = mem_alloc(1, sizeof *map->inside);
    map->inside->shape = shape_of(config);
    map->mcs = (unsigned)dram->mcs;
    map->slices = gpu_slices_per_mc(config);
    map->channels = (unsigned)dram->channels_per_mc;
    map->interleave_bits = map->inside->shape.interleave_bits;
    map->low_mask = low_mask(map->interleave_bits);
    map->divisor = is_power_of_two(map->mcs) ? 0 : map->mcs;
    map->inside->low_bank_bits = ops->low_bank_bits(&map->inside->shape);
    place_fields(map);
    place_slices(map);
    struct map_matrix forward = {0};
    if (ops->matrix) {
        bool made = ops->matrix(config, &map->inside->shape, &forward, err) &&
                    map_matrix_invert(&forward, map->interleave_bits, &map->inside->inverse);
        assert(made);
        (void)made;
    }
    /* An entry is the exclusive or of the entries of its bits. */
    for (unsigned byte = 0; byte < MAP_TABLE_BYTES; byte++)
        for (unsigned bit = 0, values = 1; bit < 8; bit++, values *= 2) {
            uint64_t entry = table_entry(map, &forward, UINT64_C(1) << (map->interleave_bits + 8 * byte + bit));
            for (unsigned value = 0; value < values; value++)
                map->table[byte][values + value] = map->table[byte][value] ^ entry;
        }
    return map;
}

void address_map_destroy(struct address_map *map) {
    if (!map) return;
    free(map->inside);
    free(map);
}

uint64_t address_map_address(const struct address_map *map, const struct location *location) {
    uint64_t mapped = (location->column & map->low_mask) | (uint64_t)location->row << map->row_shift;
    mapped |= bit_run_put(map->inside->channel, location->channel) | bit_run_put(map->column_high, location->column);
    mapped |= bit_run_put(map->inside->bank_low, location->bank) | bit_run_put(map->inside->bank_high, location->bank);
    if (!map->divisor) mapped |= bit_run_put(map->inside->mc, location->mc);
    uint64_t address = mapped & ~(low_mask(map->inside->inverse.count) << map->interleave_bits);
    for (unsigned i = 0; i < map->inside->inverse.count; i++)
        address |= (uint64_t)__builtin_parityll(mapped & map->inside->inverse.mask[i]) << (map->interleave_bits + i);
    if (!map->divisor) return address;
    uint64_t block = (address >> map->interleave_bits) * map->divisor + location->mc;
    return block << map->interleave_bits | (address & map->low_mask);
}

unsigned address_map_mcs(const struct address_map *map) { return map->mcs; }
unsigned address_map_slices_per_mc(const struct address_map *map) { return map->slices; }
