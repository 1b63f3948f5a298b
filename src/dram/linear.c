/* The linear mapping: GPGPU-Sim's for the GTX 480 (`dramid@8`, then from the top: row, bank, column, one bank bit,
 * column), generalised to any shape. Consecutive blocks of the interleave (256 bytes) are in consecutive controllers,
 * by remainder if their number is not a power of two; within a controller they alternate over its channels and slices,
 * selected by the lowest bank bits directly above; the other bank bits are above the column. */
#include "dram/layout.h"

static unsigned low_bank_bits(const struct map_shape *shape) {
    unsigned bits = log2_floor(shape->slices_per_channel);
    if (bits < 1) bits = 1;
    return bits < shape->bank_bits ? bits : shape->bank_bits;
}

const struct mapping_ops mapping_linear = {
    .policy = {"linear", "GPGPU-Sim's for the GTX 480: controllers by remainder, banks above the column", NULL},
    .low_bank_bits = low_bank_bits,
};
