/* Private to the address mappings: what a mapping decides, and the tables used to translate addresses.
 *
 * Every mapping ends in one layout of a *mapped* address, from bit 0 up:
 *
 *     column low | controller | channel | bank low | column high | bank high | row
 *
 * where "column low" is the interleave and a mapping chooses the number of bank bits below the upper columns. Before
 * that, a mapping may transform the controller, channel and bank bits by a matrix over GF(2) (each new bit is the
 * parity of some address bits). If the number of controllers is not a power of two, the controller is a remainder, and
 * the layout applies to the quotient.
 */
#ifndef SLUICE_DRAM_LAYOUT_H
#define SLUICE_DRAM_LAYOUT_H

#include "base/base.h"
#include "dram/dram_config.h"
#include "dram/mapping.h"

enum {
    MATRIX_BITS_MAX = 20,                   /* controller, channel and bank bits together */
    MATRIX_READ_BITS = 8 * MAP_TABLE_BYTES, /* address bits above the interleave that a matrix may read */
};

/* The shape of the memory system, in bits. */
struct map_shape {
    unsigned interleave_bits;
    unsigned mc_bits; /* 0 if controllers are selected by division */
    unsigned channel_bits, bank_bits;
    unsigned column_bits; /* of a row, counted from its first byte */
    unsigned line_bits;
    unsigned slices_per_channel; /* rounded down, at least 1 */
};

static inline unsigned map_matrix_bits(const struct map_shape *shape) {
    return shape->mc_bits + shape->channel_bits + shape->bank_bits;
}

/* New bit `interleave_bits + i` is the parity of the address under mask[i]. */
struct map_matrix {
    unsigned count; /* 0: no matrix */
    uint64_t mask[MATRIX_BITS_MAX];
};

struct mapping_ops {
    struct policy policy;
    /* Bank bits below the upper columns, at most shape->bank_bits. */
    unsigned (*low_bank_bits)(const struct map_shape *shape);
    /* The matrix, if the mapping has one (NULL otherwise). Returns false with a located error if its parameters do not
     * form one. */
    bool (*matrix)(const struct config *config, const struct map_shape *shape, struct map_matrix *matrix,
                   struct error *err);
};

/* Inverts `forward`: mask[i] of the result computes old bit i from the new address. Returns false if `forward` is
 * singular. */
bool map_matrix_invert(const struct map_matrix *forward, unsigned first_bit, struct map_matrix *inverse);

/* Whether the selected mapping supports the configured machine; for the section's check. */
bool address_map_check(const struct config *config, struct error *err);

#endif
