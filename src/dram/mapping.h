/* Address mapping: translates a byte address to controller, channel, slice, bank, row and column, and back. It is a
 * bijection, which a property test verifies.
 *
 * If the number of controllers is not a power of two, the controller is selected by division (as in GPGPU-Sim); all
 * other fields are bits.
 *
 * A mapping is one file and one line in mappings.def.
 */
#ifndef SLUICE_DRAM_MAPPING_H
#define SLUICE_DRAM_MAPPING_H

#include "base/base.h"
#include "config/config.h"

struct location {
    uint16_t mc;
    uint16_t channel; /* within the controller */
    uint16_t slice;   /* LLC slice within the controller, in a shared organisation */
    uint16_t bank;    /* within the channel */
    uint32_t row;
    uint32_t column;    /* byte offset within the row */
    uint64_t partition; /* the address without controller and slice, in bytes: the index of LLC sets */
};

/* A run of bits of the mapped address that forms part of a field. */
struct bit_run {
    unsigned shift;
    uint64_t mask; /* after the shift */
};

static inline uint64_t bit_run_get(struct bit_run run, uint64_t address) { return address >> run.shift & run.mask; }

/* Controller, channel, slice and bank are parities of address bits (of one bit each without a matrix). The contribution
 * of each address byte is therefore tabulated, and contributions are combined by exclusive or. An entry holds, from bit
 * 0: the bits of the address that the matrix flips (32 bits), controller, channel, slice, bank (8 bits each). */
enum { MAP_ENTRY_MC = 32, MAP_ENTRY_CHANNEL = 40, MAP_ENTRY_SLICE = 48, MAP_ENTRY_BANK = 56, MAP_TABLE_BYTES = 4 };

struct address_map {
    unsigned interleave_bits, row_shift, partition_shift;
    uint32_t divisor;       /* controllers selected by division, 0 if by bits */
    uint32_t slice_divisor; /* slices selected by division, 0 if by bits */
    uint64_t low_mask;      /* mask of the interleave */
    struct bit_run column_high;
    unsigned mcs, slices, channels; /* slices and channels per controller */
    struct map_inside *inside;
    uint64_t table[MAP_TABLE_BYTES][256];
};

struct address_map *address_map_create(const struct config *config, struct error *err);
void address_map_destroy(struct address_map *map);
uint64_t address_map_address(const struct address_map *map, const struct location *location);
unsigned address_map_mcs(const struct address_map *map);
unsigned address_map_slices_per_mc(const struct address_map *map);

/* Inline, because each caller uses only a few of the fields, and the others then cost nothing. */
static inline void address_map_locate(const struct address_map *map, uint64_t address, struct location *location) {
    uint64_t block = address >> map->interleave_bits, low = address & map->low_mask, odd_mc = 0, odd_slice = 0;
    if (UNLIKELY(map->divisor)) {
        odd_mc = block % map->divisor;
        block /= map->divisor;
    }
    uint64_t entry = map->table[0][block & 0xFF] ^ map->table[1][block >> 8 & 0xFF] ^
                     map->table[2][block >> 16 & 0xFF] ^ map->table[3][block >> 24 & 0xFF];
    uint64_t original = block << map->interleave_bits;
    uint64_t rest = (original ^ (uint32_t)entry) >> map->partition_shift;
    if (UNLIKELY(map->slice_divisor)) {
        odd_slice = rest % map->slice_divisor;
        rest /= map->slice_divisor;
    }
    /* For a field selected by division, the table is empty. */
    *location = (struct location){
        .mc = (uint16_t)((uint8_t)(entry >> MAP_ENTRY_MC) + odd_mc),
        .channel = (uint8_t)(entry >> MAP_ENTRY_CHANNEL),
        .slice = (uint16_t)((uint8_t)(entry >> MAP_ENTRY_SLICE) + odd_slice),
        .bank = (uint8_t)(entry >> MAP_ENTRY_BANK),
        .row = (uint32_t)(original >> map->row_shift),
        .column = (uint32_t)(low | bit_run_get(map->column_high, original)),
        .partition = rest << map->interleave_bits | low,
    };
}

#endif
