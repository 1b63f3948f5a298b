/* Lowering of matrix instructions: the registers of fragments, as consecutive places of the element list. */
#include "ptx/lower.h"
#include "ptx/matrix.h"

static bool has_modifier(const struct ptx_instr *instr, enum ptx_modifier modifier) {
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if (instr->modifier[i] == modifier) return true;
    return false;
}

/* Appends the registers of operand `index`: a vector, or a register alone. */
static bool fragment(struct lowering *l, const struct ptx_instr *instr, unsigned index, unsigned count, bool wide,
                     bool written, struct op *op) {
    const struct ptx_operand *o = &l->source->operands[instr->first + index];
    bool vector = o->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *element = vector ? &l->source->operands[o->first] : o;
    if ((vector ? o->count : 1) != count)
        return lower_fail(l, o->place, "expected a fragment of %u register%s, not %u", count, count == 1 ? "" : "s",
                          vector ? o->count : 1);
    for (unsigned i = 0; i < count; i++) {
        uint32_t place;
        if (!(written ? lower_target : lower_source)(l, &element[i], wide ? PTX_b64 : PTX_b32, false, &place, NULL))
            return false;
        *(uint32_t *)list_add(l->arena, &l->elements, sizeof place) = place;
    }
    op->vector = (uint8_t)(op->vector + count);
    return true;
}

static void fragments_begin(const struct lowering *l, struct op *op) {
    op->elements = l->elements.count;
    op->vector = 0;
}

/* d, a, b, c. The types of wmma on f16 are those of D and C only. */
bool lower_mma(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    unsigned given = 0, layouts = 0;
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        given += ptx_modifier_class(instr->modifier[i]) == PTX_CLASS_TYPE;
        if (instr->modifier[i] != PTX_MOD_row && instr->modifier[i] != PTX_MOD_col) continue;
        bool is_row = instr->modifier[i] == PTX_MOD_row;
        if (layouts == 0 && !is_row) op->modifiers |= MOD_TRANS;
        if (layouts++ == 1 && is_row) op->modifiers |= MOD_TRANS_B;
    }
    enum ptx_type d = types[0], a = given == 2 ? PTX_f16 : types[1], b = given == 2 ? PTX_f16 : types[2],
                  c = given == 2 ? types[1] : types[3];
    bool wmma = op->modifiers & MOD_WMMA, quad = matrix_is_quad(op->shape, a), wide = a == PTX_f64;
    if ((!wmma || ptx_type_bits(a) < 8) && !quad && (op->modifiers & (MOD_TRANS | MOD_TRANS_B)))
        return lower_fail(l, instr->place, "this shape has the layouts .row.col only");
    op->element = (uint8_t)d;
    op->source = (uint8_t)a;
    op->compare = (uint8_t)b;
    op->mode = (uint8_t)c;
    fragments_begin(l, op);
    return fragment(l, instr, 0, matrix_registers(op->shape, MATRIX_C, d, wmma, quad), wide, true, op) &&
           fragment(l, instr, 1, matrix_registers(op->shape, MATRIX_A, a, wmma, quad), wide, false, op) &&
           fragment(l, instr, 2, matrix_registers(op->shape, MATRIX_B, b, wmma, quad), wide, false, op) &&
           fragment(l, instr, 3, matrix_registers(op->shape, MATRIX_C, c, wmma, quad), wide, false, op);
}

bool lower_ldmatrix(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    bool load = op->operation == OPERATION_ldmatrix;
    fragments_begin(l, op);
    return fragment(l, instr, load ? 0 : 1, 1u << op->mode, false, load, op);
}

bool lower_wmma_access(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    bool load = op->operation == OPERATION_wmma_load;
    enum ptx_type type = types[0];
    if ((type == PTX_b1) != (shape_k(op->shape) == 128) && op->mode != MATRIX_C)
        return lower_fail(l, instr->place, ".b1 has the shape m8n8k128, .u4 and .s4 have m8n8k32");
    op->element = (uint8_t)type;
    if (has_modifier(instr, PTX_MOD_col)) op->modifiers |= MOD_TRANS;
    fragments_begin(l, op);
    return fragment(l, instr, load ? 0 : 1, matrix_registers(op->shape, op->mode, type, true, false), type == PTX_f64,
                    load, op);
}

/* A policy affects only caches, by hints that have no effect here: its value is zero. */
bool lower_policy(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)instr, (void)types;
    op->modifiers = 0;
    op->a = lower_constant(l, 0, 8);
    op->src_bytes = 8;
    op->space = PTX_SPACE_GENERIC;
    op->element = op->source = PTX_u64;
    op->immediate = 0;
    return true;
}
