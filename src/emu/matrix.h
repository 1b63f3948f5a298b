/* Matrices between fragments and dense arrays, for the instructions that compute with them (matrix.c) and those that
 * move them (matrix_access.c). */
#ifndef SLUICE_EMU_MATRIX_H
#define SLUICE_EMU_MATRIX_H

#include "emu/cta.h"
#include "emu/lanes.h"
#include "ptx/matrix.h"

enum { MATRIX_ELEMENTS = 1024 }; /* at most; m16n8k64 of four bits */

/* A fragment and the dense array of its elements: row by row, and for single bits, words of 32 bits. */
struct fragment {
    uint32_t shape;
    enum matrix matrix;
    enum ptx_type type;
    const uint32_t *places;
    unsigned registers;
    unsigned rows, columns, per; /* elements of the array, and in a register */
};

struct fragment fragment_of(uint32_t shape, enum matrix matrix, enum ptx_type type, const uint32_t *places,
                            unsigned registers);
/* Elements are zero-extended to 64 bits. */
void fragment_read(const struct warp *warp, const struct fragment *fragment, u64 *dense);
void fragment_write(struct warp *warp, const struct fragment *fragment, const u64 *dense);

/* Matrix instructions are executed by all lanes; otherwise this is a fault. */
bool matrix_whole_warp(struct warp_state *w, const struct op *op, uint32_t mask);

op_handler *matrix_access_find(const struct op *op);

#endif
