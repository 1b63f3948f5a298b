/* Address mapping: where a line lives. A mapping turns a byte address into controller, channel, slice, bank, row and
 * column, and back; it is a bijection, which a property test shows.
 *
 * Where the number of controllers is no power of two, the controller is taken by division (as GPGPU-Sim does);
 * everything else is bits.
 *
 * A mapping is one file and one line in mappings.def.
 */
#ifndef SLUICE_DRAM_MAPPING_H
#define SLUICE_DRAM_MAPPING_H

#include "config/config.h"

struct location {
    uint16_t mc;
    uint16_t channel; /* within the controller */
    uint16_t slice;   /* of the LLC, within the controller, in a shared organisation */
    uint16_t bank;    /* within the channel */
    uint32_t row;
    uint32_t column; /* byte offset within the row */
    uint64_t
        partition; /* the address with controller and slice taken out: LLC sets are indexed by it, in units of bytes */
};

struct address_map;

struct address_map *address_map_create(const struct config *config, struct error *err);
void address_map_destroy(struct address_map *map);
void address_map_locate(const struct address_map *map, uint64_t address, struct location *location);
uint64_t address_map_address(const struct address_map *map, const struct location *location);
unsigned address_map_mcs(const struct address_map *map);
unsigned address_map_slices_per_mc(const struct address_map *map);
unsigned address_map_channels_per_mc(const struct address_map *map);

#endif
