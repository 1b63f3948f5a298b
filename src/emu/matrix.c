/* Matrix products: mma.sync, wmma.mma, movmatrix (PTX ISA 9.0, 9.7.14 and 9.7.15).
 *
 * D = A B + C. An element of D starts with its element of C and adds the products in ascending order of k:
 *   f16, bf16, tf32, e4m3, e5m2   fused multiply-adds of f32, to nearest even; rounded to f16 at the end if D is f16.
 *                                 Of tf32 the lowest 13 bits are ignored. Subnormal numbers are kept.
 *   f64                           fused multiply-adds in the rounding mode of the instruction
 *   integers and bits             the exact sum, of which D has the lowest 32 bits, or the nearest value of s32 with
 *                                 .satfinite
 * PTX requires at least this precision for floating point and leaves the order, the rounding and subnormal numbers open.
 * A NaN in D is canonical.
 *
 * Not modelled: the wider alignment and the truncation of sums in hardware, which differ between generations. */
#include "emu/matrix.h"

#include "emu/real.h"

bool matrix_whole_warp(struct warp_state *w, const struct op *op, uint32_t mask) {
    if (LIKELY(mask == UINT32_MAX)) return true;
    fault_set(w, op, lowest_bit(mask), "%d of 32 lanes execute this instruction together; a matrix needs all of them",
              __builtin_popcount(mask));
    return false;
}

/* ---- fragments ---- */

struct fragment fragment_of(uint32_t shape, enum matrix matrix, enum ptx_type type, const uint32_t *places,
                            unsigned registers) {
    struct fragment f = {.shape = shape,
                         .matrix = matrix,
                         .type = type,
                         .places = places,
                         .registers = registers,
                         .rows = matrix_rows(shape, matrix),
                         .columns = matrix_columns(shape, matrix),
                         .per = matrix_per_register(type)};
    if (type != PTX_b1) return f;
    f.per = 1; /* words along k */
    *(matrix == MATRIX_A ? &f.columns : &f.rows) /= 32;
    return f;
}

/* The position in the dense array of lane 0's first element of register `r`, and the distances to the next row of the
 * block, to the next lane in a row, and to the next element of a lane. */
struct block {
    unsigned first, row, lane, element;
};

static struct block block_of(const struct fragment *f, unsigned r) {
    enum { SIDE = 8, ROW_LANES = 4 };
    bool is_b = f->matrix == MATRIX_B;
    unsigned outer_count = (is_b ? f->columns : f->rows) / SIDE, pair = !is_b && outer_count > 1 ? 2 : 1;
    unsigned width = f->matrix == MATRIX_C ? SIDE : ROW_LANES * f->per;
    unsigned inner_count = (is_b ? f->rows : f->columns) / width;
    unsigned block = f->matrix == MATRIX_C ? r * f->per / 2 : r;
    /* two blocks of eight rows, then along the row (for B: along the column), then the next rows */
    unsigned inner = block / pair % inner_count;
    unsigned outer = (block / pair / inner_count * pair + block % pair) % outer_count;
    unsigned start = inner * width + (f->matrix == MATRIX_C ? r * f->per % 2 : 0);
    unsigned step = f->matrix == MATRIX_C ? 2 : f->per;
    if (is_b) return (struct block){start * f->columns + outer * SIDE, 1, step * f->columns, f->columns};
    return (struct block){outer * SIDE * f->columns + start, f->columns, step, 1};
}

void fragment_read(const struct warp *warp, const struct fragment *f, u64 *dense) {
    unsigned bits = f->type == PTX_b1 ? 32 : ptx_type_bits(f->type);
    for (unsigned r = 0; r < f->registers; r++) {
        struct block block = block_of(f, r);
        const void *row = warp_place(warp, f->places[r]);
        EACH_LANE {
            u64 word = bits == 64 ? ((const u64 *)row)[i] : ((const u32 *)row)[i];
            unsigned at = block.first + i / 4 * block.row + i % 4 * block.lane;
            for (unsigned e = 0; e < f->per; e++, at += block.element) {
                dense[at] = bits == 64 ? word : word & low_mask(bits);
                word = bits == 64 ? 0 : word >> bits;
            }
        }
    }
}

void fragment_write(struct warp *warp, const struct fragment *f, const u64 *dense) {
    unsigned bits = f->type == PTX_b1 ? 32 : ptx_type_bits(f->type);
    for (unsigned r = 0; r < f->registers; r++) {
        struct block block = block_of(f, r);
        void *row = warp_place(warp, f->places[r]);
        EACH_LANE {
            unsigned at = block.first + i / 4 * block.row + i % 4 * block.lane;
            u64 word = 0;
            for (unsigned e = 0; e < f->per; e++, at += block.element) word |= dense[at] << (e * bits);
            if (bits == 64)
                ((u64 *)row)[i] = word;
            else
                ((u32 *)row)[i] = (u32)word;
        }
    }
}

/* m8n8k4 of f16: lanes 4q to 4q + 3 and 4q + 16 to 4q + 19 hold product q. Element e of a lane. */
struct position {
    unsigned row, column;
};
static struct position quad_position(enum matrix matrix, enum ptx_type type, bool trans, unsigned lane, unsigned e) {
    unsigned low = lane % 4, half = lane / 16 * 4;
    switch (matrix) {
    case MATRIX_A: return trans ? (struct position){e + half, low} : (struct position){low + half, e};
    case MATRIX_B: return trans ? (struct position){low, e + half} : (struct position){e, low + half};
    default: break;
    }
    if (type == PTX_f16) return (struct position){low + half, e};
    return (struct position){(lane & 1) + (e & 2) + half, (e & 4) + (lane & 2) + (e & 1)};
}

/* Copies the elements of product `q` between a fragment and a dense array. */
static void quad_copy(struct warp *warp, const struct fragment *f, bool trans, unsigned q, u64 *dense, bool write) {
    unsigned bits = ptx_type_bits(f->type);
    for (unsigned i = 0; i < 8; i++) {
        unsigned lane = q * 4 + i % 4 + i / 4 * 16;
        for (unsigned e = 0; e < f->registers * f->per; e++) {
            u32 *word = (u32 *)warp_place(warp, f->places[e / f->per]) + lane;
            unsigned shift = e % f->per * bits;
            struct position at = quad_position(f->matrix, f->type, trans, lane, e);
            u64 *element = &dense[at.row * f->columns + at.column];
            if (write)
                *word = (u32)((*word & ~(low_mask(bits) << shift)) | *element << shift);
            else
                *element = *word >> shift & low_mask(bits);
        }
    }
}

/* ---- products ---- */

/* The operands of an instruction. Written registers come first in the list. */
struct product {
    struct fragment d, a, b, c;
    unsigned m, n, k;
};

static struct product product_of(const struct warp_state *w, const struct op *op) {
    bool wmma = op->modifiers & MOD_WMMA, quad = matrix_is_quad(op->shape, op->source);
    const uint32_t *places = w->frame->code->function->element_list + op->elements;
    struct product p;
    const struct {
        struct fragment *fragment;
        enum matrix matrix;
        enum ptx_type type;
    } parts[] = {{&p.d, MATRIX_C, op->element},
                 {&p.a, MATRIX_A, op->source},
                 {&p.b, MATRIX_B, op->compare},
                 {&p.c, MATRIX_C, op->mode}};
    for (unsigned i = 0; i < COUNT_OF(parts); i++) {
        unsigned registers = matrix_registers(op->shape, parts[i].matrix, parts[i].type, wmma, quad);
        *parts[i].fragment = fragment_of(op->shape, parts[i].matrix, parts[i].type, places, registers);
        places += registers;
    }
    p.m = p.c.rows, p.n = p.c.columns, p.k = p.a.columns;
    return p;
}

static void reals_of(f32 *to, const u64 *bits, unsigned count, enum ptx_type type) {
    for (unsigned i = 0; i < count; i++) switch (type) {
        case PTX_f16: to[i] = f16_to_f32((u16)bits[i]); break;
        case PTX_bf16: to[i] = bf16_to_f32((u16)bits[i]); break;
        case PTX_tf32: to[i] = f32_of((u32)bits[i] & ~UINT32_C(0x1FFF)); break;
        case PTX_e4m3: to[i] = e4m3_to_f32((u8)bits[i]); break;
        case PTX_e5m2: to[i] = e5m2_to_f32((u8)bits[i]); break;
        default: to[i] = f32_of((u32)bits[i]);
        }
}

static void reals_to(u64 *bits, const f32 *from, unsigned count, enum ptx_type type) {
    for (unsigned i = 0; i < count; i++)
        bits[i] = type == PTX_f16 ? f64_to_f16((f64)from[i], F16_NEAREST) : f32_bits(f32_canonical(from[i]));
}

/* Dense operands to a dense result. */
static void multiply_reals(const struct product *p, const u64 *a_bits, const u64 *b_bits, u64 *c_bits) {
    f32 a[MATRIX_ELEMENTS], b[MATRIX_ELEMENTS], c[MATRIX_ELEMENTS];
    reals_of(a, a_bits, p->m * p->k, p->a.type);
    reals_of(b, b_bits, p->k * p->n, p->b.type);
    reals_of(c, c_bits, p->m * p->n, p->c.type);
    for (unsigned i = 0; i < p->m; i++) {
        f32 *restrict sum = c + i * p->n;
        for (unsigned k = 0; k < p->k; k++) {
            const f32 x = a[i * p->k + k], *y = b + k * p->n;
            for (unsigned j = 0; j < p->n; j++) sum[j] = __builtin_fmaf(x, y[j], sum[j]);
        }
    }
    reals_to(c_bits, c, p->m * p->n, p->d.type);
}

static void multiply_doubles(const struct product *p, const u64 *a, const u64 *b, u64 *c) {
    for (unsigned i = 0; i < p->m; i++)
        for (unsigned k = 0; k < p->k; k++)
            for (unsigned j = 0; j < p->n; j++) {
                const f64 x = f64_of(a[i * p->k + k]), y = f64_of(b[k * p->n + j]), z = f64_of(c[i * p->n + j]);
                c[i * p->n + j] = f64_bits(f64_result(__builtin_fma(x, y, z), x, y, z));
            }
}

static s32 integer_of(u64 bits, enum ptx_type type) {
    switch (type) {
    case PTX_s8: return (s8)bits;
    case PTX_s4: return (s32)(bits ^ 8) - 8;
    default: return (s32)bits;
    }
}

static void multiply_integers(const struct product *p, const struct op *op, const u64 *a, const u64 *b, u64 *c) {
    for (unsigned i = 0; i < p->m; i++)
        for (unsigned j = 0; j < p->n; j++) {
            s64 sum = (s32)c[i * p->n + j];
            for (unsigned k = 0; k < p->k; k++) {
                const u64 x = a[i * p->k + k], y = b[k * p->n + j];
                sum += op->source == PTX_b1
                           ? __builtin_popcount(op->boolean == BOOLEAN_AND ? (u32)(x & y) : (u32)(x ^ y))
                           : (s64)integer_of(x, op->source) * integer_of(y, op->compare);
            }
            if (op->modifiers & MOD_SATFINITE) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            c[i * p->n + j] = (u32)sum;
        }
}

static void multiply(const struct product *p, const struct op *op, const u64 *a, const u64 *b, u64 *c) {
    if (op->element == PTX_f64)
        multiply_doubles(p, a, b, c);
    else if (op->element == PTX_s32)
        multiply_integers(p, op, a, b, c);
    else
        multiply_reals(p, a, b, c);
}

HANDLER(mma) {
    struct warp_state *w = warp_state(warp);
    if (!matrix_whole_warp(w, op, mask)) return;
    struct product p = product_of(w, op);
    u64 a[MATRIX_ELEMENTS], b[MATRIX_ELEMENTS], c[MATRIX_ELEMENTS];
    fragment_read(warp, &p.a, a);
    fragment_read(warp, &p.b, b);
    fragment_read(warp, &p.c, c);
    multiply(&p, op, a, b, c);
    fragment_write(warp, &p.d, c);
}

HANDLER(mma_directed) { rounding_run(mma, op->rounding, warp, op, mask); }

HANDLER(mma_quad) {
    enum { QUADS = 4 };
    struct warp_state *w = warp_state(warp);
    if (!matrix_whole_warp(w, op, mask)) return;
    struct product p = product_of(w, op);
    u64 a[32], b[32], c[QUADS][64];
    for (unsigned q = 0; q < QUADS; q++) { /* all products before any result: D may be A, B or C */
        quad_copy(warp, &p.a, op->modifiers & MOD_TRANS, q, a, false);
        quad_copy(warp, &p.b, op->modifiers & MOD_TRANS_B, q, b, false);
        quad_copy(warp, &p.c, false, q, c[q], false);
        multiply(&p, op, a, b, c[q]);
    }
    for (unsigned q = 0; q < QUADS; q++) quad_copy(warp, &p.d, false, q, c[q], true);
}

/* An 8 x 8 matrix of halves in one register, as in a fragment of A. */
HANDLER(movmatrix) {
    if (!matrix_whole_warp(warp_state(warp), op, mask)) return;
    LANES(u32, a, op->a);
    u32 result[WARP_LANES];
    EACH_LANE {
        unsigned column = i / 4, row = i % 4 * 2, shift = column % 2 * 16;
        result[i] = (a_lanes[row * 4 + column / 2] >> shift & 0xFFFF) |
                    (a_lanes[(row + 1) * 4 + column / 2] >> shift & 0xFFFF) << 16;
    }
    LANES_STORE(u32, op->dst, result);
}

op_handler *matrix_handler_find(const struct op *op) {
    if (op->operation == OPERATION_movmatrix) return movmatrix;
    if (op->operation != OPERATION_mma) return matrix_access_find(op);
    if (matrix_is_quad(op->shape, op->source)) return mma_quad;
    return is_directed(op->rounding) ? mma_directed : mma;
}
