/* Matrices between memory and registers: wmma.load, wmma.store, ldmatrix, stmatrix (PTX ISA 9.0, 9.7.14 and 9.7.15).
 *
 * A matrix of wmma in memory is a number of lines, rows or columns, at a distance of the leading dimension; the address
 * and the leading dimension are those of the lowest lane. PTX requires lines to be aligned to the size of a fragment;
 * here an address is a multiple of an element's size, and of four bytes for elements of less than eight bits. */
#include "emu/matrix.h"

#include <inttypes.h>
#include <string.h>

static bool in_place(enum ptx_space space) { return space == PTX_SPACE_SHARED || space == PTX_SPACE_GLOBAL; }

/* ---- wmma ---- */

enum { LINES = 32 };

/* The lines of a matrix, in elements of the dense array. */
struct lines {
    unsigned count, length; /* elements of a line */
    unsigned next, step;    /* distance in the dense array of two lines, and of two elements of a line */
    unsigned bytes;         /* of an element */
    enum ptx_space space;
    uint64_t address[LINES];
    uint8_t *memory[LINES];
};

/* Finds the lines in memory; false after a fault. */
static bool lines_find(struct warp_state *w, const struct op *op, const struct fragment *f, struct lines *l,
                       enum access_kind kind) {
    bool by_columns = op->modifiers & MOD_TRANS;
    unsigned bits = ptx_type_bits(f->type), words = bits < 8 && f->type != PTX_b1 ? 32 / bits : 1;
    l->count = by_columns ? f->columns : f->rows;
    l->length = (by_columns ? f->rows : f->columns) / words;
    l->next = by_columns ? 1 : f->columns;
    l->step = by_columns ? f->columns : 1;
    l->bytes = bits < 8 ? 4 : bits / 8;
    uint64_t address[WARP_LANES], line_bits = (uint64_t)l->length * l->bytes * 8;
    access_addresses(w, op, UINT32_MAX, address);
    uint64_t stride_bits = op->b == PLACE_NONE ? line_bits : (uint64_t)lane_u32(w, op->b, UINT32_MAX) * bits;
    l->space = space_resolve(op->space, &address[0]);
    if (!in_place(l->space)) {
        fault_set(w, op, 0, "a matrix must be in global or shared memory");
        return false;
    }
    if (stride_bits % (l->bytes * 8)) {
        fault_set(w, op, 0, "the leading dimension must be a multiple of %u elements", l->bytes * 8 / bits);
        return false;
    }
    for (unsigned i = 0; i < l->count; i++) {
        l->address[i] = address[0] + i * (stride_bits / 8);
        l->memory[i] =
            l->address[i] % l->bytes ? NULL : space_at(w, l->space, l->address[i], l->length * l->bytes, kind);
        if (l->memory[i]) continue;
        uint64_t at = l->address[i]; /* the first element outside */
        for (unsigned e = 1; at % l->bytes == 0 && e < l->length && space_at(w, l->space, at, l->bytes, kind); e++)
            at += l->bytes;
        access_fault(w, op, 0, l->space, at, l->bytes, kind);
        return false;
    }
    if (w->writer) touch_note_lines(w, l->space, l->address, l->count, l->length * l->bytes, kind);
    return true;
}

/* Copies between the lines and a dense array, of which a word of memory may hold several elements. */
static void lines_copy(const struct lines *l, unsigned bits, u64 *dense, bool write) {
    unsigned words = bits < 8 && bits > 1 ? 32 / bits : 1;
    for (unsigned i = 0; i < l->count; i++)
        for (unsigned e = 0; e < l->length; e++) {
            u64 word = 0, *at = dense + i * l->next + e * words * l->step;
            uint8_t *memory = l->memory[i] + (size_t)e * l->bytes;
            if (write) {
                memcpy(memory, at, l->bytes);
                continue;
            }
            memcpy(&word, memory, l->bytes);
            if (words == 1)
                *at = word;
            else
                for (unsigned k = 0; k < words; k++) at[k * l->step] = word >> (k * bits) & low_mask(bits);
        }
}

static struct fragment fragment_accessed(const struct warp_state *w, const struct op *op) {
    return fragment_of(op->shape, op->mode, op->element, w->frame->code->function->element_list + op->elements,
                       op->vector);
}

HANDLER(wmma_load) {
    struct warp_state *w = warp_state(warp);
    if (!matrix_whole_warp(w, op, mask)) return;
    struct fragment f = fragment_accessed(w, op);
    struct lines lines;
    u64 dense[MATRIX_ELEMENTS];
    if (!lines_find(w, op, &f, &lines, ACCESS_READ)) return;
    lines_copy(&lines, ptx_type_bits(f.type), dense, false);
    fragment_write(warp, &f, dense);
}

HANDLER(wmma_store) {
    struct warp_state *w = warp_state(warp);
    if (!matrix_whole_warp(w, op, mask)) return;
    struct fragment f = fragment_accessed(w, op);
    struct lines lines;
    u64 dense[MATRIX_ELEMENTS];
    w->run->changed |= UINT32_C(1) << op->space;
    if (!lines_find(w, op, &f, &lines, ACCESS_WRITE)) return;
    fragment_read(warp, &f, dense);
    lines_copy(&lines, ptx_type_bits(f.type), dense, true);
}

/* ---- ldmatrix and stmatrix ---- */

enum { ROW_BYTES = 16, SIDE = 8 };

/* The memory of the rows of all matrices; false after a fault. */
static bool rows_find(struct warp_state *w, const struct op *op, uint8_t *rows[WARP_LANES], enum access_kind kind) {
    uint32_t lanes = (uint32_t)low_mask(op->vector * SIDE);
    uint64_t address[WARP_LANES];
    access_addresses(w, op, lanes, address);
    enum ptx_space space = space_common(op->space, address);
    if (space != PTX_SPACE_SHARED) {
        fault_set(w, op, 0, "the matrices must be in shared memory");
        return false;
    }
    FOR_LANES (lane, lanes) {
        rows[lane] = address[lane] % ROW_BYTES ? NULL : space_at(w, space, address[lane], ROW_BYTES, kind);
        if (rows[lane]) continue;
        access_fault(w, op, lane, space, address[lane], ROW_BYTES, kind);
        return false;
    }
    if (w->writer) touch_note(w, lanes, space, address, ROW_BYTES, kind);
    return true;
}

/* Lane l has halves 2 (l % 4) and the next of row l / 4; transposed, of column l / 4. */
static uint8_t *half_at(uint8_t *const *rows, unsigned lane, unsigned half, bool trans) {
    unsigned outer = lane / 4, inner = lane % 4 * 2 + half;
    return rows[trans ? inner : outer] + 2 * (trans ? outer : inner);
}

HANDLER(ldmatrix) {
    struct warp_state *w = warp_state(warp);
    uint8_t *rows[WARP_LANES];
    if (!matrix_whole_warp(w, op, mask) || !rows_find(w, op, rows, ACCESS_READ)) return;
    const uint32_t *places = w->frame->code->function->element_list + op->elements;
    for (unsigned r = 0; r < op->vector; r++) {
        u16 result[WARP_LANES][2];
        EACH_LANE for (unsigned h = 0; h < 2; h++)
            memcpy(&result[i][h], half_at(rows + r * SIDE, i, h, op->modifiers & MOD_TRANS), sizeof(u16));
        memcpy(warp_place(warp, places[r]), result, sizeof result);
    }
}

HANDLER(stmatrix) {
    struct warp_state *w = warp_state(warp);
    uint8_t *rows[WARP_LANES];
    w->run->changed |= UINT32_C(1) << PTX_SPACE_SHARED;
    if (!matrix_whole_warp(w, op, mask) || !rows_find(w, op, rows, ACCESS_WRITE)) return;
    const uint32_t *places = w->frame->code->function->element_list + op->elements;
    for (unsigned r = 0; r < op->vector; r++) {
        LANES(u16, source, places[r]);
        EACH_LANE for (unsigned h = 0; h < 2; h++)
            memcpy(half_at(rows + r * SIDE, i, h, op->modifiers & MOD_TRANS), &source_lanes[2 * i + h], sizeof(u16));
    }
}

op_handler *matrix_access_find(const struct op *op) {
    switch (op->operation) {
    case OPERATION_wmma_load: return wmma_load;
    case OPERATION_wmma_store: return wmma_store;
    case OPERATION_ldmatrix: return ldmatrix;
    case OPERATION_stmatrix: return stmatrix;
    default: return NULL;
    }
}
