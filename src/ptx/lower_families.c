/* Instruction families that need more than a row of lower_forms.def: mov of vectors and symbols, conversions with their
 * rounding rules, memory, barriers, branches and calls. */
#include <string.h>

#include "ptx/lower.h"

static const struct ptx_operand *operand_at(const struct lowering *l, const struct ptx_instr *instr, unsigned i) {
    return &l->source->operands[instr->first + i];
}

static bool is_float(enum ptx_type type) {
    return ptx_type_kind(type) == PTX_FLOAT || type == PTX_f16x2 || type == PTX_bf16x2;
}

/* ---- comparing ---- */

bool lower_testp(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)l, (void)instr, (void)types;
    op->compare = op->mode;
    op->mode = 0;
    return true;
}

/* The comparisons that a type supports. */
static bool compare_check(struct lowering *l, const struct ptx_instr *instr, const struct op *op, enum ptx_type type) {
    enum compare compare = op->compare;
    bool real = is_float(type), equality = compare == COMPARE_EQ || compare == COMPARE_NE;
    bool fits = real                                ? compare < COMPARE_LO || compare > COMPARE_HS
                : ptx_type_kind(type) == PTX_BITS   ? equality
                : ptx_type_kind(type) == PTX_SIGNED ? compare <= COMPARE_GE
                                                    : compare <= COMPARE_HS;
    if (!fits) return lower_fail(l, instr->place, "this comparison is not defined for .%s", ptx_type_name(type));
    if ((op->modifiers & MOD_FTZ) && type != PTX_f32 && type != PTX_f16 && type != PTX_f16x2)
        return lower_fail(l, instr->place, ".ftz applies to .f32 and .f16, not to .%s", ptx_type_name(type));
    if ((op->boolean != BOOLEAN_NONE) != (op->c != PLACE_NONE))
        return lower_fail(l, instr->place, "a predicate operand requires .and, .or or .xor, and vice versa");
    return true;
}

bool lower_setp(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    return compare_check(l, instr, op, types[0]);
}

bool lower_set(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    op->element = (uint8_t)type_plain(types[1]);
    op->source = (uint8_t)type_plain(types[0]);
    return compare_check(l, instr, op, types[1]);
}

/* Encodes the immediate for the emulator: bytes of the result, selectors of a and b, signedness of the result. */
bool lower_video(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)l;
    switch (instr->mnemonic) {
    case PTX_MN_vadd4: op->mode = VIDEO_ADD; break;
    case PTX_MN_vsub4: op->mode = VIDEO_SUB; break;
    case PTX_MN_vavrg4: op->mode = VIDEO_AVRG; break;
    case PTX_MN_vmin4: op->mode = VIDEO_MIN; break;
    case PTX_MN_vmax4: op->mode = VIDEO_MAX; break;
    case PTX_MN_vset4: op->mode = VIDEO_SET; break;
    default: op->mode = VIDEO_ABSDIFF;
    }
    op->element = types[1];
    op->source = types[2];
    op->immediate = INT64_C(0xF) | INT64_C(0x3210) << 4 | INT64_C(0x7654) << 20 | (int64_t)(types[0] == PTX_s32) << 36;
    return true;
}

/* ---- moving ---- */

/* mov.v2.u32 v, w and mov.v2.u32 {a, b}, {c, d}: each element by itself, all at once. */
static bool mov_elements(struct lowering *l, struct op *op, enum ptx_type type, const struct ptx_operand *to,
                         const struct ptx_operand *from) {
    unsigned count = lower_vector_count(l, to), given = lower_vector_count(l, from);
    uint32_t place[2 * 8];
    if (from->kind == PTX_OPERAND_SPECIAL && !from->component &&
        special_place(from->index, 1) != special_place(from->index, 0))
        given = 4; /* %tid: x, y, z and zero */
    if (count > 8 || given != count || (op->vector > 1 && op->vector != count))
        return lower_fail(l, from->place, "expected a vector of %u elements", op->vector > 1 ? op->vector : count);
    for (unsigned i = 0; i < count; i++) {
        struct ptx_operand target = lower_element(l, to, i), source = lower_element(l, from, i);
        uint8_t width = 0;
        if (!lower_target(l, &target, type, false, &place[i], NULL) ||
            !lower_source(l, &source, type, false, &place[count + i], &width))
            return false;
        if (width != register_bytes(type))
            return lower_fail(l, source.place, "expected a register of %u bits", 8 * register_bytes(type));
    }
    op->operation = OPERATION_mov_vector;
    op->vector = (uint8_t)count;
    op->elements = l->elements.count;
    for (unsigned i = 0; i < 2 * count; i++) *(uint32_t *)list_add(l->arena, &l->elements, sizeof(uint32_t)) = place[i];
    return true;
}

/* mov.b64 {a, b}, c and mov.b64 c, {a, b}: each element is an equal share of the bits. */
static bool mov_vector(struct lowering *l, const struct ptx_instr *instr, struct op *op, enum ptx_type type,
                       const struct ptx_operand *vector, const struct ptx_operand *whole, bool unpack) {
    static const uint8_t share_types[] = {PTX_b8, PTX_b16, PTX_b32, PTX_b64};
    unsigned bits = ptx_type_bits(type), count = lower_vector_count(l, vector);
    if (ptx_type_kind(type) != PTX_BITS || count < 2 || count > 4 || !is_power_of_two(count) || bits / count < 8)
        return lower_fail(l, instr->place,
                          "a vector must be moved as .b16, .b32, .b64 or .b128, according to its size");
    if (vector->kind == PTX_OPERAND_REGISTER && count * ptx_type_bits(l->source->registers[vector->index].type) != bits)
        return lower_fail(l, vector->place, "`%s` is a vector; name one of its components",
                          l->source->registers[vector->index].name);
    enum ptx_type share = share_types[log2_floor(bits / count) - 3];
    uint32_t place[4];
    uint8_t width;
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_operand element = lower_element(l, vector, i);
        width = 0;
        if (!(unpack ? lower_target : lower_source)(l, &element, share, false, &place[i], &width)) return false;
    }
    *(unpack ? &op->dst_bytes : &op->src_bytes) = (uint8_t)register_bytes(share);
    op->operation = unpack ? OPERATION_unpack : OPERATION_pack;
    op->vector = (uint8_t)count;
    op->source = (uint8_t)type_plain(share);
    op->elements = l->elements.count;
    for (unsigned i = 0; i < count; i++) *(uint32_t *)list_add(l->arena, &l->elements, sizeof(uint32_t)) = place[i];
    return unpack ? lower_source(l, whole, type, false, &op->a, &op->src_bytes)
                  : lower_target(l, whole, type, false, &op->dst, &op->dst_bytes);
}

/* Fixed special registers have 32 bits; changing ones have the width of the instruction. The predicate is stored as a
 * number. */
static bool mov_special(struct lowering *l, struct op *op, const struct ptx_operand *from, enum ptx_type type) {
    if ((type == PTX_pred) != (from->index == SPECIAL_is_explicit_cluster))
        return lower_fail(l, from->place, "this special register %s a predicate", type == PTX_pred ? "is not" : "is");
    if (type == PTX_pred) {
        op->operation = OPERATION_setp;
        op->compare = COMPARE_NE;
        op->element = op->source = PTX_u32;
        op->b = lower_constant(l, 0, 4);
        return lower_source(l, from, PTX_u32, false, &op->a, &op->src_bytes);
    }
    if (is_float(type) || ptx_type_bits(type) > 64)
        return lower_fail(l, from->place, "a special register must be read as an integer");
    if (special_place(from->index, 0) == PLACE_NONE) {
        op->operation = OPERATION_special;
        op->immediate = from->index;
        op->mode = (uint8_t)from->value; /* of %pm and %envreg */
        return true;
    }
    if (ptx_type_bits(type) != 32) op->operation = OPERATION_cvt, op->source = PTX_u32;
    return lower_source(l, from, PTX_u32, false, &op->a, &op->src_bytes);
}

bool lower_mov(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    const struct ptx_operand *to = operand_at(l, instr, 0), *from = operand_at(l, instr, 1);
    enum ptx_type type = types[0];
    bool parts_to = lower_vector_count(l, to), parts_from = lower_vector_count(l, from);
    if (op->vector > 1 || (parts_to && parts_from)) {
        if (type == PTX_pred) return lower_fail(l, instr->place, "predicates have no vectors");
        return mov_elements(l, op, type, to, from);
    }
    if (parts_to) return mov_vector(l, instr, op, type, to, from, true);
    if (parts_from) return mov_vector(l, instr, op, type, from, to, false);
    if (!lower_target(l, to, type, false, &op->dst, &op->dst_bytes)) return false;
    if (from->kind == PTX_OPERAND_SPECIAL) return mov_special(l, op, from, type);
    bool address = ptx_type_bits(type) >= 32 && ptx_type_bits(type) <= 64 && !is_float(type);
    if (from->kind == PTX_OPERAND_VARIABLE && l->layout->in_frame[from->index] && address) {
        op->operation = OPERATION_mov_frame;
        op->space = l->module->variables[from->index].space;
        op->immediate = (int64_t)l->layout->address[from->index] + from->value;
        return true;
    }
    return lower_source(l, from, type, false, &op->a, &op->src_bytes);
}

/* ---- converting ---- */

/* A rounding mode is required exactly if the result may be inexact: .r?i for float to integer, .r? for integer to float
 * or a wider float to a narrower one; a float may also be rounded to an integral value of its own type. */
bool lower_cvt(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    enum ptx_type to = types[0], from = types[1];
    bool whole = op->rounding >= ROUND_RNI, none = op->rounding == ROUND_DEFAULT, good;
    unsigned to_bits = ptx_type_bits(to), from_bits = ptx_type_bits(from);
    if (!is_float(to))
        good = is_float(from) ? whole : none;
    else if (!is_float(from))
        good = !whole && !none;
    else if (to == from)
        good = whole || none || to_bits == 16;
    else
        good = to_bits > from_bits ? none : !whole && !none;
    if (!good)
        return lower_fail(l, instr->place, "cvt to .%s from .%s %s", ptx_type_name(to), ptx_type_name(from),
                          none                             ? "needs a rounding mode"
                          : is_float(to) != is_float(from) ? "requires another kind of rounding"
                                                           : "does not support this rounding mode");
    if ((op->modifiers & MOD_FTZ) && to != PTX_f32 && from != PTX_f32)
        return lower_fail(l, instr->place, ".ftz applies to .f32 only");
    return true;
}

/* ---- memory ---- */

bool lower_address(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)l, (void)instr, (void)types;
    op->src_bytes = (uint8_t)ptx_type_bytes(op->source);
    return true;
}

bool lower_memory(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    bool store = op->operation == OPERATION_st, load = op->operation == OPERATION_ld;
    unsigned bytes = ptx_type_bytes(types[0]) * op->vector;
    *(store ? &op->dst_bytes : &op->src_bytes) = (uint8_t)ptx_type_bytes(op->source);
    if (bytes > 32) return lower_fail(l, instr->place, "a lane accesses at most 32 bytes, not %u", bytes);
    bool frame = op->modifiers & MOD_FRAME;
    if (!load && (op->space == PTX_SPACE_CONST || (op->space == PTX_SPACE_PARAM && !frame)))
        return lower_fail(l, instr->place, "this state space is read-only");
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if ((instr->modifier[i] == PTX_MOD_nc || instr->modifier[i] == PTX_MOD_ro) && op->space != PTX_SPACE_GLOBAL)
            return lower_fail(l, instr->place, ".%s applies to .global only", ptx_modifier_text(instr->modifier[i]));
    return true;
}

/* ---- barriers ---- */

static bool constant_of(const struct ptx_operand *operand, int64_t *value) {
    *value = operand->value;
    return operand->kind == PTX_OPERAND_INTEGER;
}

bool lower_barrier(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    unsigned first = op->operation == OPERATION_bar_red;
    int64_t value;
    const struct ptx_operand *barrier = operand_at(l, instr, first);
    if (constant_of(barrier, &value) && (value < 0 || value > 15))
        return lower_fail(l, barrier->place, "the barrier must be 0 to 15");
    if (op->b == PLACE_NONE)
        op->b = lower_constant(l, 0, 4);
    else if (constant_of(&barrier[1], &value) && (value < 0 || value > 1024 || value % WARP_LANES))
        return lower_fail(l, barrier[1].place,
                          "the number of threads of a barrier must be a multiple of 32, at most 1024");
    op->immediate = constant_of(barrier, &value) ? value : 0;
    return true;
}

/* Ranks have no place in 32-bit generic addresses. A variable's address is that of shared memory. */
bool lower_cluster(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    if (op->space == PTX_SPACE_GENERIC && l->module->address_bits == 32)
        return lower_fail(l, instr->place, "clusters require 64-bit addresses");
    return true;
}

/* ---- control ---- */

bool lower_leave(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)instr, (void)types;
    if (l->source->is_kernel) op->operation = OPERATION_exit;
    for (uint32_t i = 0; i < l->source->return_count; i++) {
        uint32_t reg = l->module->variables[l->source->returns[i]].register_index;
        if (reg != PTX_NONE) *(uint32_t *)list_add(l->scratch, &l->reads, sizeof reg) = reg; /* the branch reads it */
    }
    return true;
}

/* Targets are instructions here; lower_function converts them to operations once all are known. */
bool lower_branch(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    const struct ptx_operand *target = operand_at(l, instr, instr->count - 1);
    if (op->operation == OPERATION_bra) {
        if (target->kind != PTX_OPERAND_LABEL) return lower_fail(l, target->place, "expected a label");
        op->target = l->source->labels[target->index].instr;
        return true;
    }
    if (target->kind != PTX_OPERAND_TARGETS || l->source->targets[target->index].kind != PTX_BRANCH_TARGETS)
        return lower_fail(l, target->place, "expected a .branchtargets list");
    const struct ptx_targets *list = &l->source->targets[target->index];
    if (list->count == 0) return lower_fail(l, target->place, "`%s` contains no label", list->name);
    op->target = l->targets.count;
    *(struct op_targets *)list_add(l->arena, &l->targets, sizeof(struct op_targets)) =
        (struct op_targets){l->target_list.count, list->count};
    for (uint32_t i = 0; i < list->count; i++)
        *(uint32_t *)list_add(l->arena, &l->target_list, sizeof(uint32_t)) = l->source->labels[list->index[i]].instr;
    return true;
}

/* ---- calls ---- */

/* The signature of the callee: a function's formals or a prototype's, laid out by the same rule. */
struct callee {
    const struct ptx_function *function; /* or */
    const struct ptx_targets *prototype;
};

struct formal {
    uint64_t offset, bytes;
    const struct ptx_register *in_register; /* or NULL */
};

static uint32_t formal_count(const struct callee *callee, bool is_return) {
    if (callee->function) return is_return ? callee->function->return_count : callee->function->parameter_count;
    return is_return ? callee->prototype->return_count : callee->prototype->parameter_count;
}

static struct formal formal_at(const struct lowering *l, const struct callee *callee, bool is_return, uint32_t i) {
    if (callee->function) {
        uint32_t variable = (is_return ? callee->function->returns : callee->function->parameters)[i];
        const struct ptx_variable *formal = &l->module->variables[variable];
        const struct ptx_register *reg =
            formal->register_index == PTX_NONE ? NULL : &callee->function->registers[formal->register_index];
        return (struct formal){l->layout->address[variable], formal->size_bytes, reg};
    }
    const struct ptx_targets *prototype = callee->prototype;
    uint64_t offset = 0;
    uint32_t before = is_return ? prototype->parameter_count : i;
    for (uint32_t k = 0; k < before; k++)
        offset = layout_next(offset, prototype->parameter_bytes[2 * k + 1]) + prototype->parameter_bytes[2 * k];
    const uint32_t *bytes = is_return ? prototype->return_bytes : prototype->parameter_bytes;
    for (uint32_t k = 0; is_return && k < i; k++) offset = layout_next(offset, bytes[2 * k + 1]) + bytes[2 * k];
    return (struct formal){layout_next(offset, bytes[2 * i + 1]), bytes[2 * i], NULL};
}

static bool predicate_add(struct lowering *l, const struct ptx_operand *actual, struct formal formal, bool is_return) {
    struct op_argument argument = {.callee = (uint32_t)formal.offset << 1, .is_predicate = true};
    if (!(is_return ? lower_target : lower_source)(l, actual, PTX_pred, false, &argument.caller, NULL)) return false;
    *(struct op_argument *)list_add(l->arena, &l->arguments, sizeof argument) = argument;
    return true;
}

static bool argument_add(struct lowering *l, const struct ptx_operand *actual, struct formal formal, bool is_return);

/* A vector in registers, element by element. */
static bool vector_add(struct lowering *l, const struct ptx_operand *actual, struct formal formal, bool is_return) {
    struct ptx_register element_register = *formal.in_register;
    unsigned count = element_register.vector, given = lower_vector_count(l, actual);
    if (given != count) return lower_fail(l, actual->place, "expected a vector of %u elements", count);
    element_register.vector = 0;
    unsigned stride = register_bytes(element_register.type) * WARP_LANES;
    for (unsigned i = 0; i < count; i++) {
        struct ptx_operand element = lower_element(l, actual, i);
        struct formal part = {formal.offset + i * stride, formal.bytes / count, &element_register};
        if (!argument_add(l, &element, part, is_return)) return false;
    }
    return true;
}

/* One value passed between the caller (a .param variable, register or number) and the callee's formal. */
static bool argument_add(struct lowering *l, const struct ptx_operand *actual, struct formal formal, bool is_return) {
    if (formal.in_register && formal.in_register->type == PTX_pred) return predicate_add(l, actual, formal, is_return);
    if (formal.in_register && formal.in_register->vector) return vector_add(l, actual, formal, is_return);
    struct op_argument argument = {.callee = (uint32_t)formal.offset, .bytes = (uint32_t)formal.bytes};
    argument.callee_is_place = formal.in_register != NULL; /* PLACE_REGISTER is block 0: the offset is the place */
    const struct ptx_variable *variable =
        actual->kind == PTX_OPERAND_VARIABLE ? &l->module->variables[actual->index] : NULL;
    if (variable && variable->space == PTX_SPACE_PARAM && l->layout->in_frame[actual->index]) {
        argument.caller = (uint32_t)l->layout->address[actual->index];
        if (variable->size_bytes != formal.bytes)
            return lower_fail(l, actual->place, "`%s` has %llu bytes; the parameter of the function has %llu",
                              variable->name, (unsigned long long)variable->size_bytes,
                              (unsigned long long)formal.bytes);
    } else {
        static const uint8_t types[] = {PTX_b8, PTX_b16, PTX_b32, PTX_b64, PTX_b128};
        if (!is_power_of_two(formal.bytes) || formal.bytes > 16)
            return lower_fail(l, actual->place, "expected a .param variable of %llu bytes",
                              (unsigned long long)formal.bytes);
        enum ptx_type type = types[log2_floor(formal.bytes)];
        bool relaxed = formal.bytes == 1;
        uint8_t width = 0;
        argument.caller_is_place = true;
        if (!(is_return ? lower_target : lower_source)(l, actual, type, relaxed, &argument.caller, &width))
            return false;
        if (width != register_bytes(type))
            return lower_fail(l, actual->place, "expected a register of %u bits", 8 * register_bytes(type));
    }
    *(struct op_argument *)list_add(l->arena, &l->arguments, sizeof argument) = argument;
    return true;
}

static bool arguments_add(struct lowering *l, const struct ptx_instr *instr, const struct callee *callee,
                          const struct ptx_operand *list, bool is_return) {
    uint32_t given = list ? list->count : 0, wanted = formal_count(callee, is_return);
    if (given != wanted)
        return lower_fail(l, list ? list->place : instr->place, "the function %s %u value%s, not %u",
                          is_return ? "returns" : "takes", wanted, wanted == 1 ? "" : "s", given);
    for (uint32_t i = 0; i < given; i++)
        if (!argument_add(l, &l->source->operands[list->first + i], formal_at(l, callee, is_return, i), is_return))
            return false;
    return true;
}

/* The signature of an indirect call: its prototype, or the first function of its list, which all others must match. */
static bool callee_indirect(struct lowering *l, const struct ptx_instr *instr, const struct ptx_operand *shape,
                            struct callee *callee) {
    if (!shape || shape->kind != PTX_OPERAND_TARGETS)
        return lower_fail(l, instr->place, "an indirect call requires a .callprototype or .calltargets");
    const struct ptx_targets *targets = &l->source->targets[shape->index];
    if (targets->kind == PTX_CALL_PROTOTYPE && targets->in_registers)
        return lower_fail(l, shape->place, "`%s` has .reg parameters, which an indirect call cannot pass",
                          targets->name);
    if (targets->kind == PTX_CALL_PROTOTYPE) return callee->prototype = targets, true;
    if (targets->kind != PTX_CALL_TARGETS || targets->count == 0)
        return lower_fail(l, shape->place, "`%s` contains no function", targets->name);
    callee->function = &l->module->functions[targets->index[0]];
    return true;
}

bool lower_call(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    const struct ptx_operand *returns = NULL, *target = NULL, *parameters = NULL, *shape = NULL;
    for (uint32_t i = 0; i < instr->count; i++) {
        const struct ptx_operand *operand = operand_at(l, instr, i);
        bool is_list = operand->kind == PTX_OPERAND_LIST;
        if (is_list && !target && !returns)
            returns = operand;
        else if (!is_list && !target)
            target = operand;
        else if (is_list && !parameters)
            parameters = operand;
        else if (!is_list && !shape)
            shape = operand;
        else
            return lower_fail(l, operand->place, "too many operands of call");
    }
    if (!target) return lower_fail(l, instr->place, "expected a function to call");
    struct callee callee = {0};
    if (target->kind == PTX_OPERAND_FUNCTION) {
        callee.function = &l->module->functions[target->index];
        op->target = target->index;
        if (callee.function->is_kernel) return lower_fail(l, target->place, "`%s` is a kernel", callee.function->name);
        if (!l->program->functions[target->index].defined && !l->program->functions[target->index].builtin)
            return lower_fail(l, target->place, "`%s` is declared but not defined in this module",
                              callee.function->name);
    } else {
        op->operation = OPERATION_call_indirect;
        if (!callee_indirect(l, instr, shape, &callee)) return false;
        enum ptx_type type = l->module->address_bits == 64 ? PTX_u64 : PTX_u32;
        if (!lower_source(l, target, type, false, &op->a, &op->src_bytes)) return false;
    }
    struct op_call call = {.first = l->arguments.count};
    if (!arguments_add(l, instr, &callee, parameters, false)) return false;
    call.argument_count = l->arguments.count - call.first;
    if (!arguments_add(l, instr, &callee, returns, true)) return false;
    call.return_count = l->arguments.count - call.first - call.argument_count;
    op->arguments = l->calls.count;
    *(struct op_call *)list_add(l->arena, &l->calls, sizeof call) = call;
    return true;
}
