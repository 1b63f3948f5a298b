/* Asynchronous copies: their addresses, of which an instruction has two or three, and the rules for their sizes (PTX
 * ISA 9.0, cp.async and cp.async.bulk). */
#include "ptx/lower.h"

/* A register plus a constant is kept as such; the address of a variable or a number is a constant row. */
bool lower_copy_address(struct lowering *l, const struct ptx_operand *o, struct op *op) {
    if (o->kind != PTX_OPERAND_ADDRESS || o->count != 1)
        return lower_fail(l, o->place, "expected an address in brackets");
    const struct ptx_operand *base = &l->source->operands[o->first];
    struct op_address address = {.bytes = 8};
    if (base->kind == PTX_OPERAND_REGISTER) {
        if (o->value < INT32_MIN || o->value > INT32_MAX)
            return lower_fail(l, o->place, "the offset must have 32 bits");
        bool narrow = ptx_type_bits(l->source->registers[base->index].type) == 32;
        uint8_t bytes = 0;
        address.offset = (int32_t)o->value;
        if (!lower_source(l, base, narrow ? PTX_u32 : PTX_u64, false, &address.place, &bytes)) return false;
        address.bytes = bytes;
    } else {
        bool variable = base->kind == PTX_OPERAND_VARIABLE;
        if ((variable && l->layout->in_frame[base->index]) || (!variable && base->kind != PTX_OPERAND_INTEGER))
            return lower_fail(l, base->place, "an address must be a register or a global or shared variable");
        uint64_t at = (variable ? l->layout->address[base->index] : 0) + (uint64_t)base->value + (uint64_t)o->value;
        address.place = lower_constant(l, at, address.bytes);
    }
    if (op->vector == 1) op->elements = l->elements.count;
    op->vector = (uint8_t)(op->vector + ADDRESS_WORDS);
    const uint32_t words[ADDRESS_WORDS] = {address.place, address.bytes, (uint32_t)address.offset};
    for (unsigned i = 0; i < ADDRESS_WORDS; i++)
        *(uint32_t *)list_add(l->arena, &l->elements, sizeof *words) = words[i];
    return true;
}

/* The state space that operand `i` must have: a variable's own, and 64 bits for a register with a global address. */
static bool space_check(struct lowering *l, const struct ptx_instr *instr, unsigned i, enum ptx_space space) {
    const struct ptx_operand *base = &l->source->operands[l->source->operands[instr->first + i].first];
    if (base->kind == PTX_OPERAND_VARIABLE && l->module->variables[base->index].space != space)
        return lower_fail(l, base->place, "`%s` is not in the state space of the instruction",
                          l->module->variables[base->index].name);
    if (base->kind == PTX_OPERAND_REGISTER && space == PTX_SPACE_GLOBAL && l->module->address_bits == 64 &&
        ptx_type_bits(l->source->registers[base->index].type) == 32)
        return lower_fail(l, base->place, "`%s` has 32 bits; an address has 64",
                          l->source->registers[base->index].name);
    return true;
}

/* The bytes of the source, or a predicate that says to ignore it. */
static bool source_size(struct lowering *l, const struct ptx_instr *instr, struct op *op) {
    const struct ptx_operand *o = &l->source->operands[instr->first + 3];
    bool is_register = o->kind == PTX_OPERAND_REGISTER;
    if (is_register && l->source->registers[o->index].type == PTX_pred)
        return lower_source(l, o, PTX_pred, false, &op->d, NULL);
    return lower_source(l, o, PTX_u32, false, &op->c, NULL);
}

bool lower_copy(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    bool hint = false;
    for (unsigned i = 0; i < instr->modifier_count; i++) hint |= instr->modifier[i] == PTX_MOD_L2_cache_hint;
    switch (op->operation) {
    case OPERATION_copy_wait:
        if (op->immediate < 0 || op->immediate > INT32_MAX)
            return lower_fail(l, instr->place, "the number of groups must not be negative");
        return true;
    case OPERATION_bulk_load:
        return space_check(l, instr, 0, PTX_SPACE_SHARED) && space_check(l, instr, 1, PTX_SPACE_GLOBAL) &&
               space_check(l, instr, 3, PTX_SPACE_SHARED);
    case OPERATION_bulk_send:
        return space_check(l, instr, 0, PTX_SPACE_SHARED) && space_check(l, instr, 1, PTX_SPACE_SHARED) &&
               space_check(l, instr, 3, PTX_SPACE_SHARED);
    case OPERATION_bulk_store:
        return space_check(l, instr, 0, PTX_SPACE_GLOBAL) && space_check(l, instr, 1, PTX_SPACE_SHARED);
    default: break;
    }
    if (op->cache == CACHE_GLOBAL ? op->immediate != 16
                                  : op->immediate != 4 && op->immediate != 8 && op->immediate != 16)
        return lower_fail(l, instr->place, "cp.async copies 4, 8 or 16 bytes, and with .cg 16 bytes");
    if (!space_check(l, instr, 0, PTX_SPACE_SHARED) || !space_check(l, instr, 1, PTX_SPACE_GLOBAL)) return false;
    return instr->count - hint == 3 || source_size(l, instr, op);
}
