/* Matrix instructions (PTX ISA 9.0, 9.7.14 and 9.7.15): shapes, and the fragments that hold matrices in registers.
 *
 * A fragment is a list of registers, each with 32 lanes. A register has 32 bits, or 64 for f64, and as many elements as
 * fit. All fragments consist of blocks. A block of A has 8 rows and as many columns as four registers have elements:
 * lane l holds consecutive elements of row l / 4. A block of B is the same with rows and columns exchanged. A block of
 * C or D is 8 x 8, and lane l holds two elements of row l / 4. PTX defines this for mma.sync; for wmma it leaves the
 * layout open, and Sluice uses the same blocks. Only m8n8k4 of f16 differs (emu/matrix.c). */
#ifndef SLUICE_PTX_MATRIX_H
#define SLUICE_PTX_MATRIX_H

#include "ptx/program.h"

enum matrix { MATRIX_A, MATRIX_B, MATRIX_C }; /* D is as C */

static inline unsigned shape_m(uint32_t shape) { return shape >> 20; }
static inline unsigned shape_n(uint32_t shape) { return shape >> 10 & 0x3FF; }
static inline unsigned shape_k(uint32_t shape) { return shape & 0x3FF; }

/* Four products of 8 x 8 x 4 in one instruction, each by eight lanes. */
static inline bool matrix_is_quad(uint32_t shape, enum ptx_type a) {
    return shape_m(shape) == 8 && shape_k(shape) == 4 && a == PTX_f16;
}

/* Elements of a register. */
static inline unsigned matrix_per_register(enum ptx_type type) {
    unsigned bits = ptx_type_bits(type);
    return bits < 32 ? 32 / bits : 1;
}

static inline unsigned matrix_rows(uint32_t shape, enum matrix matrix) {
    return matrix == MATRIX_B ? shape_k(shape) : shape_m(shape);
}
static inline unsigned matrix_columns(uint32_t shape, enum matrix matrix) {
    return matrix == MATRIX_A ? shape_k(shape) : shape_n(shape);
}

/* Registers of a fragment. A and B of f16 have eight in every shape of wmma: some elements are held more than once. */
static inline unsigned matrix_registers(uint32_t shape, enum matrix matrix, enum ptx_type type, bool wmma, bool quad) {
    if (wmma && matrix != MATRIX_C && type == PTX_f16) return 8;
    unsigned elements = matrix_rows(shape, matrix) * matrix_columns(shape, matrix) * (quad ? 4 : 1);
    return elements / WARP_LANES / matrix_per_register(type);
}

/* Multiply-adds of an instruction. */
static inline unsigned matrix_work(uint32_t shape, bool quad) {
    return shape_m(shape) * shape_n(shape) * shape_k(shape) * (quad ? 4 : 1);
}

#endif
