/* PAE, page address entropy: the randomising mapping of "Get Out of the Valley: Power-Efficient Address Mapping for
 * GPUs" (ISCA 2018), used by the papers' machines. Each controller, channel and bank bit of the direct mapping is
 * replaced by the parity of about half of the page address (row, bank, channel and controller bits): a binary
 * invertible matrix. Column bits do not take part, so that the lines of a row stay together.
 *
 * The masks can be given; otherwise they are drawn from a seed until they are invertible. Not modelled: the paper's
 * search for the bits with the highest entropy over a set of programs; all page bits take part.
 */
#include <stdio.h>

#include "base/random.h"
#include "dram/layout.h"

struct pae_config {
    struct int_list masks;
    int64_t seed;
    int64_t address_bits;
};

static const struct param params[] = {
    P_LIST(
        struct pae_config, masks, "[]", 0, MATRIX_BITS_MAX, 1, (double)(INT64_C(1) << 48), "",
        "for each controller, channel and bank bit, the mask of the address bits whose parity it is; empty: random masks"),
    P_INT(struct pae_config, seed, 1, 0, 1e15, "", "seed of the random masks"),
    P_INT(struct pae_config, address_bits, 34, 16, 37, "bits", "address bits used by random masks"),
};

static const struct section section = {.path = "pae",
                                       .help = "masks of the PAE address mapping",
                                       .params = params,
                                       .count = COUNT_OF(params),
                                       .size = sizeof(struct pae_config)};

static unsigned low_bank_bits(const struct map_shape *shape) { return shape->bank_bits; }

static bool given_masks(const struct config *config, const struct pae_config *pae, const struct map_shape *shape,
                        struct map_matrix *matrix, struct error *err) {
    static const char key[] = "dram.pae.masks";
    if (pae->masks.count != matrix->count)
        return config_error(config, key, err,
                            "%u masks given, but this machine has %u controller, channel and bank bits; "
                            "give %u, or none for random masks",
                            pae->masks.count, matrix->count, matrix->count);
    for (unsigned i = 0; i < matrix->count; i++) {
        matrix->mask[i] = (uint64_t)pae->masks.value[i];
        uint64_t readable = low_mask(MATRIX_READ_BITS) << shape->interleave_bits;
        if (matrix->mask[i] & ~readable)
            return config_error(
                config, key, err,
                "mask %u (0x%llX) has bits outside of 0x%llX; the bits below are the interleave, which must stay together",
                i, (unsigned long long)matrix->mask[i], (unsigned long long)readable);
    }
    struct map_matrix inverse;
    if (map_matrix_invert(matrix, shape->interleave_bits, &inverse)) return true;
    return config_error(config, key, err,
                        "the mapping is not invertible: the masks, cut to bits %u to %u, are linearly dependent",
                        shape->interleave_bits, shape->interleave_bits + matrix->count - 1);
}

static void draw_masks(const struct pae_config *pae, const struct map_shape *shape, struct map_matrix *matrix) {
    unsigned first = shape->interleave_bits, above = first + matrix->count;
    unsigned row_shift = above + shape->column_bits - shape->interleave_bits;
    uint64_t page = (low_mask(matrix->count) << first) | (low_mask((unsigned)pae->address_bits) & ~low_mask(row_shift));
    uint64_t state = (uint64_t)pae->seed;
    struct map_matrix inverse;
    do {
        for (unsigned i = 0; i < matrix->count; i++) matrix->mask[i] = random_next(&state) & page;
    } while (!map_matrix_invert(matrix, first, &inverse));
}

static bool make_matrix(const struct config *config, const struct map_shape *shape, struct map_matrix *matrix,
                        struct error *err) {
    const struct pae_config *pae = config_get(config, &section);
    matrix->count = map_matrix_bits(shape);
    if (pae->masks.count) return given_masks(config, pae, shape, matrix, err);
    draw_masks(pae, shape, matrix);
    return true;
}

const struct mapping_ops mapping_pae = {
    .policy = {"pae", "randomised: controller, channel and bank bits are parities of page address bits", &section},
    .low_bank_bits = low_bank_bits,
    .matrix = make_matrix,
};
