/* The direct mapping of a Hynix GDDR5 part (H5GQ1H24AFR), the baseline of "Get Out of the Valley" (ISCA 2018):
 * controller, channel and bank are a few fixed low-order bits directly above the interleave, without hashing;
 * power-of-two strides therefore cause partition camping. */
#include "dram/layout.h"

static unsigned low_bank_bits(const struct map_shape *shape) { return shape->bank_bits; }

const struct mapping_ops mapping_hynix = {
    .policy = {"hynix", "direct: controller, channel and bank are fixed low-order address bits", NULL},
    .low_bank_bits = low_bank_bits,
};
