/* Lowering of operands to places. A register gets its place in the window at its first use, so declared but unused
 * registers cost nothing; immediates become rows of constants, each stored once; addresses of variables are constants
 * too, except those in the frame, which a separate operation computes.
 *
 * Rules of PTX ISA 9.0 checked here: kinds and number of operands, a register's type against the instruction's (equal
 * width; bit types match any type of their width; integers match integers), the wider registers that ld, st and cvt
 * allow, ranges of immediates, alignment of static addresses. */
#include "ptx/lower.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void *list_add(struct arena *arena, struct list *list, size_t size) {
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 16;
        list->items = arena_grow(arena, list->items, list->count, room, size);
        list->room = room;
    }
    return (uint8_t *)list->items + size * list->count++;
}

bool lower_fail(struct lowering *l, struct ptx_place place, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ptx_error(l->module, place, l->err, "%s", text);
}

/* ---- types ---- */

enum ptx_type type_plain(enum ptx_type type) {
    switch (type) {
    case PTX_b8: return PTX_u8;
    case PTX_b16: return PTX_u16;
    case PTX_b32: return PTX_u32;
    case PTX_b64: return PTX_u64;
    default: return type;
    }
}

unsigned register_bytes(enum ptx_type type) {
    unsigned bytes = ptx_type_bytes(type);
    return bytes < 2 ? 2 : bytes;
}

static bool is_integer(enum ptx_type_kind kind) { return kind == PTX_UNSIGNED || kind == PTX_SIGNED; }

static bool type_fits(enum ptx_type reg, enum ptx_type type, bool relaxed) {
    if (reg == type) return true;
    enum ptx_type_kind have = ptx_type_kind(reg), want = ptx_type_kind(type);
    if (have == PTX_PREDICATE || want == PTX_PREDICATE || have == PTX_OPAQUE || want == PTX_OPAQUE) return false;
    unsigned have_bits = ptx_type_bits(reg), want_bits = ptx_type_bits(type);
    if (have_bits < want_bits) return false;
    if (have_bits > want_bits) return relaxed && (have == PTX_BITS || is_integer(have));
    if (have == PTX_BITS || want == PTX_BITS || have == PTX_PACKED || want == PTX_PACKED) return true;
    return is_integer(have) && is_integer(want);
}

/* ---- constants ---- */

struct constant {
    uint64_t bits;
    uint32_t place, bytes; /* bytes == 0: free */
};

static uint32_t constant_hash(uint64_t bits, unsigned bytes) {
    uint64_t mixed = (bits ^ bytes) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32);
}

static struct constant *constant_slot(struct constant *table, uint32_t room, uint64_t bits, unsigned bytes) {
    uint32_t at = constant_hash(bits, bytes) & (room - 1);
    while (table[at].bytes && (table[at].bits != bits || table[at].bytes != bytes)) at = (at + 1) & (room - 1);
    return &table[at];
}

/* Doubles the table when it is half full. */
static void constants_rehash(struct lowering *l) {
    struct list *table = &l->constant_table;
    if (2 * l->constant_count < table->room) return;
    uint32_t room = table->room ? 2 * table->room : 64;
    struct constant *fresh = arena_alloc(l->scratch, room, sizeof *fresh), *old = table->items;
    for (uint32_t i = 0; i < table->room; i++)
        if (old[i].bytes) *constant_slot(fresh, room, old[i].bits, old[i].bytes) = old[i];
    *table = (struct list){.items = fresh, .room = room};
}

uint32_t lower_constant(struct lowering *l, uint64_t bits, unsigned bytes) {
    constants_rehash(l);
    bits &= low_mask(8 * bytes);
    struct constant *slot = constant_slot(l->constant_table.items, l->constant_table.room, bits, bytes);
    if (!slot->bytes) {
        *slot = (struct constant){bits, place_make(PLACE_CONSTANT, l->constants.count * 2 * WARP_LANES), bytes};
        l->constant_count++;
        for (unsigned row = 0; row < (bytes + 1) / 2; row++) { /* a row holds two bytes per lane */
            uint8_t *lanes = list_add(l->arena, &l->constants, 2 * WARP_LANES);
            for (unsigned i = 0; i < 2 * WARP_LANES; i++) {
                unsigned byte = (row * 2 * WARP_LANES + i) % bytes;
                lanes[i] = (uint8_t)(byte < 8 ? bits >> (8 * byte) : 0);
            }
        }
    }
    return slot->place;
}

/* The value of a literal in the given type. */
static bool literal_bits(struct lowering *l, const struct ptx_operand *o, enum ptx_type type, uint64_t *bits) {
    enum ptx_type_kind kind = ptx_type_kind(type);
    unsigned width = ptx_type_bits(type);
    if (o->kind == PTX_OPERAND_FLOAT) {
        if ((kind != PTX_FLOAT && kind != PTX_BITS) || width < 32 || width > 64)
            return lower_fail(l, o->place, "a floating-point number cannot have type .%s", ptx_type_name(type));
        double wide;
        float narrow;
        uint32_t word = (uint32_t)o->value;
        memcpy(&narrow, &word, sizeof narrow);
        memcpy(&wide, &o->value, sizeof wide);
        if (o->single && width == 32) return *bits = word, true; /* a NaN keeps its bits */
        if (o->single)
            wide = (double)narrow;
        else
            narrow = (float)wide;
        memcpy(&word, &narrow, sizeof word);
        if (width == 32)
            *bits = word;
        else
            memcpy(bits, &wide, sizeof *bits);
        return true;
    }
    if (kind == PTX_FLOAT && width > 16)
        return lower_fail(l, o->place, "an integer cannot have type .%s; write it as 0%c... or with a decimal point",
                          ptx_type_name(type), width == 64 ? 'd' : 'f');
    int64_t least = width >= 64 ? INT64_MIN : -(INT64_C(1) << (width - 1));
    int64_t most = width >= 64 ? INT64_MAX : (INT64_C(1) << width) - 1;
    if (o->value < least || o->value > most)
        return lower_fail(l, o->place, "%" PRId64 " does not fit .%s (%" PRId64 " to %" PRId64 ")", o->value,
                          ptx_type_name(type), least, most);
    *bits = (uint64_t)o->value;
    return true;
}

/* ---- registers ---- */

static uint32_t window_take(struct lowering *l, unsigned lane_bytes, unsigned vector) {
    uint32_t at = l->function->window_bytes;
    l->function->window_bytes += lane_bytes * WARP_LANES * vector;
    return at;
}

/* The place of a register (or of one component), or the index of a predicate. */
static uint32_t register_place(struct lowering *l, const struct ptx_operand *o) {
    const struct ptx_register *reg = &l->source->registers[o->index];
    uint32_t *place = &l->place[o->index];
    if (reg->type == PTX_pred) {
        if (!*place) *place = ++l->function->predicates;
        return *place - 1;
    }
    unsigned bytes = register_bytes(reg->type);
    if (!*place) *place = 1 + window_take(l, bytes, reg->vector ? reg->vector : 1);
    return place_make(PLACE_REGISTER, *place - 1 + (o->component ? o->component - 1u : 0) * bytes * WARP_LANES);
}

static bool register_check(struct lowering *l, const struct ptx_operand *o, enum ptx_type type, bool relaxed) {
    const struct ptx_register *reg = &l->source->registers[o->index];
    if ((reg->vector != 0) != (o->component != 0) || o->component > reg->vector)
        return lower_fail(l, o->place,
                          reg->vector ? "`%s` is a vector; name one of its components"
                                      : "`%s` is not a vector and has no components",
                          reg->name);
    if (!type_fits(reg->type, type, relaxed))
        return lower_fail(l, o->place, "`%s` is a .%s register; expected .%s%s", reg->name, ptx_type_name(reg->type),
                          ptx_type_name(type), relaxed ? " or a wider integer" : "");
    return true;
}

static void note(struct lowering *l, struct list *list, uint32_t reg) {
    *(uint32_t *)list_add(l->scratch, list, sizeof(uint32_t)) = reg;
}

/* A scratch place for an unused result. */
static uint32_t spare_place(struct lowering *l, enum ptx_type type) {
    if (type == PTX_pred) {
        if (!l->spare_predicate) l->spare_predicate = ++l->function->predicates - 1;
        return l->spare_predicate << 1;
    }
    unsigned size = log2_floor(register_bytes(type));
    if (!l->spare[size]) l->spare[size] = 1 + window_take(l, 1u << size, 1);
    return place_make(PLACE_REGISTER, l->spare[size] - 1);
}

bool lower_target(struct lowering *l, const struct ptx_operand *o, enum ptx_type type, bool relaxed, uint32_t *place,
                  uint8_t *bytes) {
    if (o->kind == PTX_OPERAND_SINK) {
        *place = spare_place(l, type);
        if (bytes) *bytes = (uint8_t)register_bytes(type);
        return true;
    }
    if (o->kind != PTX_OPERAND_REGISTER)
        return lower_fail(l, o->place, "expected a register as the .%s destination", ptx_type_name(type));
    if (o->negated || o->value) return lower_fail(l, o->place, "a destination is a register alone");
    if (!register_check(l, o, type, relaxed)) return false;
    *place = register_place(l, o);
    if (type == PTX_pred) *place <<= 1;
    if (bytes) *bytes = (uint8_t)register_bytes(l->source->registers[o->index].type);
    note(l, &l->writes, o->index);
    return true;
}

/* ---- sources ---- */

static bool predicate_source(struct lowering *l, const struct ptx_operand *o, uint32_t *place) {
    if (o->kind == PTX_OPERAND_INTEGER) { /* non-zero is true, as is predicate 0 */
        *place = (uint32_t)(o->value == 0) ^ o->negated;
        return true;
    }
    if (o->kind != PTX_OPERAND_REGISTER) return lower_fail(l, o->place, "expected a predicate");
    if (!register_check(l, o, PTX_pred, false)) return false;
    if (o->value) return lower_fail(l, o->place, "a predicate has no offset");
    *place = register_place(l, o) << 1 | o->negated;
    note(l, &l->reads, o->index);
    return true;
}

static bool special_source(struct lowering *l, const struct ptx_operand *o, enum ptx_type type, bool relaxed,
                           uint32_t *place) {
    if (o->component == 4) return *place = lower_constant(l, 0, 4), true;
    if (o->index == SPECIAL_is_explicit_cluster && type != PTX_u32)
        return lower_fail(l, o->place, "only mov.pred can read this special register");
    *place = special_place(o->index, o->component ? o->component - 1u : 0);
    if (*place == PLACE_NONE) return lower_fail(l, o->place, "only mov can read this special register");
    if (!type_fits(PTX_b32, type, relaxed))
        return lower_fail(l, o->place, "a special register has 32 bits; expected .%s", ptx_type_name(type));
    return true;
}

/* The address of a variable or function: a constant, or for a frame variable an operation inserted before this one. */
static bool symbol_source(struct lowering *l, const struct ptx_operand *o, enum ptx_type type, uint32_t *place) {
    if (ptx_type_bits(type) < 32 || ptx_type_bits(type) > 64 || ptx_type_kind(type) == PTX_FLOAT)
        return lower_fail(l, o->place, "an address must be an integer of 32 or 64 bits, not .%s", ptx_type_name(type));
    uint64_t address = o->kind == PTX_OPERAND_FUNCTION ? FUNCTION_ADDRESS + 16 * (uint64_t)o->index
                                                       : l->layout->address[o->index] + (uint64_t)o->value;
    if (o->kind == PTX_OPERAND_VARIABLE && l->layout->in_frame[o->index]) {
        struct op op = {.operation = OPERATION_mov_frame, .element = (uint8_t)type_plain(type), .vector = 1};
        op.space = l->module->variables[o->index].space;
        op.dst = *place = spare_place(l, type);
        op.dst_bytes = op.src_bytes = (uint8_t)register_bytes(type);
        op.dst2 = op.a = op.b = op.c = op.d = PLACE_NONE;
        op.immediate = (int64_t)address;
        op.line = o->place.line;
        *(struct op *)list_add(l->arena, &l->ops, sizeof op) = op;
        *(struct op_registers *)list_add(l->scratch, &l->registers, sizeof(struct op_registers)) =
            (struct op_registers){0};
        return true;
    }
    if (register_bytes(type) == 4) address = address_narrow(address);
    *place = lower_constant(l, address, register_bytes(type));
    return true;
}

/* register + constant: an addition inserted before this operation, to a place of its own. */
static bool offset_source(struct lowering *l, const struct ptx_operand *o, uint32_t *place) {
    const struct ptx_register *reg = &l->source->registers[o->index];
    unsigned bits = ptx_type_bits(reg->type), bytes = register_bytes(reg->type);
    if ((ptx_type_kind(reg->type) != PTX_BITS && !is_integer(ptx_type_kind(reg->type))) || bits < 16 || bits > 64)
        return lower_fail(l, o->place, "`%s` is a .%s register; only integers have an offset", reg->name,
                          ptx_type_name(reg->type));
    struct op op = {.operation = OPERATION_add, .element = (uint8_t)type_plain(reg->type), .vector = 1};
    op.source = op.element;
    op.dst = place_make(PLACE_REGISTER, window_take(l, bytes, 1));
    op.dst2 = op.c = op.d = PLACE_NONE;
    op.a = *place;
    op.b = lower_constant(l, (uint64_t)o->value, bytes);
    op.dst_bytes = op.src_bytes = (uint8_t)bytes;
    op.line = o->place.line;
    *place = op.dst;
    *(struct op *)list_add(l->arena, &l->ops, sizeof op) = op;
    *(struct op_registers *)list_add(l->scratch, &l->registers, sizeof(struct op_registers)) =
        (struct op_registers){l->pool.count, 1, 0};
    note(l, &l->pool, o->index);
    return true;
}

bool lower_source(struct lowering *l, const struct ptx_operand *o, enum ptx_type type, bool relaxed, uint32_t *place,
                  uint8_t *bytes) {
    unsigned width = bytes && *bytes ? *bytes : register_bytes(type);
    if (type == PTX_pred) return predicate_source(l, o, place);
    if (o->negated) return lower_fail(l, o->place, "only a predicate can be negated");
    uint64_t bits = 0;
    switch (o->kind) {
    case PTX_OPERAND_REGISTER:
        if (!register_check(l, o, type, relaxed)) return false;
        *place = register_place(l, o);
        width = register_bytes(l->source->registers[o->index].type);
        note(l, &l->reads, o->index);
        if (o->value && !offset_source(l, o, place)) return false;
        break;
    case PTX_OPERAND_SPECIAL:
        if (!special_source(l, o, type, relaxed, place)) return false;
        width = 4;
        break;
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_FLOAT:
        if (type == PTX_b128) return lower_fail(l, o->place, "128-bit literals are not supported");
        if (!literal_bits(l, o, type, &bits)) return false;
        *place = lower_constant(l, bits, width);
        break;
    case PTX_OPERAND_VARIABLE:
    case PTX_OPERAND_FUNCTION:
        if (!symbol_source(l, o, type, place)) return false;
        width = register_bytes(type);
        break;
    default: return lower_fail(l, o->place, "expected a .%s value", ptx_type_name(type));
    }
    if (bytes) *bytes = (uint8_t)width;
    return true;
}

/* ---- operands by their shapes ---- */

static enum ptx_type shape_type(struct lowering *l, const struct form_shape *shape, const struct ptx_operand *o,
                                const uint8_t *types) {
    switch ((enum shape_rule)shape->rule) {
    case SHAPE_FIRST_TYPE: return types[0];
    case SHAPE_SECOND_TYPE: return types[1];
    case SHAPE_FIXED: return shape->fixed;
    case SHAPE_ADDRESS:
        if (o->kind == PTX_OPERAND_REGISTER && ptx_type_bits(l->source->registers[o->index].type) == 32) return PTX_b32;
        return PTX_b64;
    case SHAPE_WIDE: break;
    }
    bool is_signed = ptx_type_kind(types[0]) == PTX_SIGNED;
    if (ptx_type_bits(types[0]) == 16) return is_signed ? PTX_s32 : PTX_u32;
    return is_signed ? PTX_s64 : PTX_u64;
}

unsigned lower_vector_count(const struct lowering *l, const struct ptx_operand *o) {
    if (o->kind == PTX_OPERAND_VECTOR) return o->count;
    if (o->kind != PTX_OPERAND_REGISTER || o->component) return 0;
    return l->source->registers[o->index].vector;
}

struct ptx_operand lower_element(const struct lowering *l, const struct ptx_operand *o, unsigned i) {
    if (o->kind == PTX_OPERAND_VECTOR) return l->source->operands[o->first + i];
    struct ptx_operand element = *o;
    element.component = (uint8_t)(i + 1);
    return element;
}

static bool vector_operand(struct lowering *l, const struct form_shape *shape, const struct ptx_operand *o,
                           enum ptx_type type, struct op *op, uint8_t *bytes) {
    unsigned count = lower_vector_count(l, o);
    if (count != op->vector) return lower_fail(l, o->place, "expected a vector of %u elements", op->vector);
    for (unsigned i = 0; i < count && !*bytes; i++) {
        struct ptx_operand element = lower_element(l, o, i);
        if (element.kind == PTX_OPERAND_REGISTER)
            *bytes = (uint8_t)register_bytes(l->source->registers[element.index].type);
    }
    uint32_t place[8] = {0};
    for (unsigned i = 0; i < count; i++) {
        struct ptx_operand element = lower_element(l, o, i);
        uint8_t width = *bytes;
        bool sink = element.kind == PTX_OPERAND_SINK;
        if (sink && shape->role == 'd')
            place[i] = spare_place(l, width > 8 ? PTX_b128 : width > 4 ? PTX_b64 : PTX_b32);
        else if (!(shape->role == 'd' ? lower_target : lower_source)(l, &element, type, shape->relaxed, &place[i],
                                                                     &width))
            return false;
        if (!sink && *bytes && width != *bytes)
            return lower_fail(l, element.place, "the elements of a vector must have the same width");
        if (!*bytes) *bytes = width;
    }
    op->elements = l->elements.count;
    for (unsigned i = 0; i < count; i++) *(uint32_t *)list_add(l->arena, &l->elements, sizeof(uint32_t)) = place[i];
    return true;
}

/* [register + n], [variable + n] or [n]. */
static bool address_operand(struct lowering *l, const struct ptx_operand *o, struct op *op) {
    if (o->kind != PTX_OPERAND_ADDRESS) return lower_fail(l, o->place, "expected an address in brackets");
    const struct ptx_operand *base = &l->source->operands[o->first];
    uint8_t bytes = 0;
    op->immediate = o->value;
    op->source = PTX_u64;
    if (base->kind == PTX_OPERAND_REGISTER) {
        const struct ptx_register *reg = &l->source->registers[base->index];
        bool narrow = ptx_type_bits(reg->type) == 32;
        bool far_space =
            op->space == PTX_SPACE_GENERIC || op->space == PTX_SPACE_GLOBAL || op->space == PTX_SPACE_CONST;
        if (narrow && far_space && op->space != PTX_SPACE_CONST && l->module->address_bits == 64)
            return lower_fail(l, base->place, "`%s` has 32 bits; an address has 64", reg->name);
        op->source = narrow ? PTX_u32 : PTX_u64;
        if (!lower_source(l, base, op->source, false, &op->a, &bytes)) return false;
        if (op->space == PTX_SPACE_PARAM && !l->source->is_kernel) op->space = PTX_SPACE_LOCAL;
    } else if (base->kind == PTX_OPERAND_VARIABLE) {
        const struct ptx_variable *variable = &l->module->variables[base->index];
        bool generic = op->space == PTX_SPACE_GENERIC &&
                       (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST);
        if (variable->space != op->space && !generic)
            return lower_fail(l, base->place, "`%s` is not in the state space of the instruction", variable->name);
        op->immediate += base->value + (int64_t)l->layout->address[base->index];
        op->modifiers |= MOD_STATIC;
        if (l->layout->in_frame[base->index]) op->modifiers |= MOD_FRAME;
    } else if (base->kind == PTX_OPERAND_INTEGER) {
        op->immediate += base->value;
        op->modifiers |= MOD_STATIC;
    } else
        return lower_fail(l, base->place, "an address must be a register or variable plus a constant");
    return true;
}

static bool operand_lower(struct lowering *l, const struct form_shape *shape, const struct ptx_operand *o,
                          struct op *op, const uint8_t *types) {
    enum ptx_type type = shape_type(l, shape, o, types);
    uint8_t bytes = 0;
    uint32_t unused;
    switch (shape->role) {
    case 'm': return address_operand(l, o, op);
    case 'n': return lower_copy_address(l, o, op);
    case 'h': return lower_source(l, o, type, false, &unused, NULL);
    case 'i':
        if (o->kind != PTX_OPERAND_INTEGER) return lower_fail(l, o->place, "expected a number");
        op->immediate = o->value;
        return true;
    case 'd':
        if (shape->vector && op->vector > 1) return vector_operand(l, shape, o, type, op, &op->dst_bytes);
        if (shape->pair && o->kind == PTX_OPERAND_PAIR) {
            const struct ptx_operand *both = &l->source->operands[o->first];
            if (both[1].kind != PTX_OPERAND_SINK && !lower_target(l, &both[1], PTX_pred, false, &op->dst2, NULL))
                return false;
            o = both;
        }
        return lower_target(l, o, type, shape->relaxed, &op->dst, &op->dst_bytes);
    }
    if (shape->vector && op->vector > 1) return vector_operand(l, shape, o, type, op, &op->src_bytes);
    uint32_t *place = shape->role == 'a' ? &op->a : shape->role == 'b' ? &op->b : shape->role == 'c' ? &op->c : &op->d;
    if (!lower_source(l, o, type, shape->relaxed, place, &bytes)) return false;
    if (shape->rule == SHAPE_ADDRESS) op->element = (uint8_t)type_plain(type);
    if (shape->role == 'a' || shape->relaxed) op->src_bytes = bytes;
    return true;
}

bool lower_operands(struct lowering *l, const struct form *form, const struct ptx_instr *instr, struct op *op,
                    const uint8_t *types) {
    for (unsigned i = 0; i < instr->count && !form->any_operands; i++)
        if (form->shape[i].role != 'l' && form->shape[i].role != 't' &&
            !operand_lower(l, &form->shape[i], &l->source->operands[instr->first + i], op, types))
            return false;
    return true;
}

/* ---- functions ---- */

struct op *lower_emit(struct lowering *l, const struct op *op, const struct ptx_instr *instr) {
    struct op *fresh = list_add(l->arena, &l->ops, sizeof *fresh);
    *fresh = *op;
    fresh->line = instr->place.line;
    fresh->instr = (uint32_t)(instr - l->source->instrs);
    struct op_registers *registers = list_add(l->scratch, &l->registers, sizeof *registers);
    *registers = (struct op_registers){l->pool.count, l->reads.count, l->writes.count};
    for (uint32_t i = 0; i < l->reads.count; i++) note(l, &l->pool, ((uint32_t *)l->reads.items)[i]);
    for (uint32_t i = 0; i < l->writes.count; i++) note(l, &l->pool, ((uint32_t *)l->writes.items)[i]);
    l->reads.count = l->writes.count = 0;
    return fresh;
}

static bool lower_instr(struct lowering *l, const struct ptx_instr *instr) {
    struct op op;
    uint8_t types[FORM_TYPES];
    const struct form *form = forms_match(l->forms, l->module, instr, &op, types, l->err);
    if (!form) return false;
    uint32_t helpers = l->ops.count;
    if (instr->guarded) {
        struct ptx_operand guard = {.kind = PTX_OPERAND_REGISTER,
                                    .negated = instr->guard_negated,
                                    .index = instr->guard,
                                    .place = instr->place};
        if (!predicate_source(l, &guard, &op.guard)) return false;
    }
    if (!lower_operands(l, form, instr, &op, types)) return false;
    if (form->family && !form->family(l, instr, &op, types)) return false;
    for (; helpers < l->ops.count; helpers++)
        ((struct op *)l->ops.items)[helpers].instr = (uint32_t)(instr - l->source->instrs);
    lower_emit(l, &op, instr);
    return true;
}

/* A body whose end can be reached returns there. */
static void lower_end(struct lowering *l) {
    const struct op *ops = l->ops.items, *last = l->ops.count ? &ops[l->ops.count - 1] : NULL;
    uint32_t end = l->ops.count;
    bool open =
        !last || last->guard ||
        (last->operation != OPERATION_ret && last->operation != OPERATION_exit && last->operation != OPERATION_bra &&
         last->operation != OPERATION_brx && last->operation != OPERATION_trap);
    for (uint32_t i = 0; i < l->source->label_count && !open; i++)
        open = l->source->labels[i].instr == l->source->instr_count;
    l->op_of[l->source->instr_count] = end;
    if (!open) return;
    struct ptx_instr instr = {.place = l->source->place};
    uint32_t count = l->source->instr_count;
    if (count) instr.place = l->source->instrs[count - 1].place;
    struct op *fresh = list_add(l->arena, &l->ops, sizeof *fresh);
    *fresh = op_without_operands(l->source->is_kernel ? OPERATION_exit : OPERATION_ret);
    fresh->line = instr.place.line;
    fresh->instr = count ? count - 1 : 0;
    *(struct op_registers *)list_add(l->scratch, &l->registers, sizeof(struct op_registers)) = (struct op_registers){0};
}

/* Converts branch targets from instructions to operations. */
static void resolve_targets(struct lowering *l) {
    struct op *ops = l->ops.items;
    for (uint32_t i = 0; i < l->ops.count; i++)
        if (ops[i].operation == OPERATION_bra) ops[i].target = l->op_of[ops[i].target];
    const struct op_targets *targets = l->targets.items;
    uint32_t *list = l->target_list.items;
    for (uint32_t i = 0; i < l->targets.count; i++)
        for (uint32_t k = 0; k < targets[i].count; k++)
            list[targets[i].first + k] = l->op_of[list[targets[i].first + k]];
}

/* Formals in registers are at the start of the window, or the first predicates, where callers write them
 * (layout_create). */
static void place_formals(struct lowering *l, const uint32_t *formals, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_variable *formal = &l->module->variables[formals[i]];
        if (formal->register_index == PTX_NONE) continue;
        const struct ptx_register *reg = &l->source->registers[formal->register_index];
        l->place[formal->register_index] =
            1 + (reg->type == PTX_pred ? l->function->predicates++
                                       : window_take(l, register_bytes(reg->type), reg->vector ? reg->vector : 1));
        assert(l->place[formal->register_index] == 1 + l->layout->address[formals[i]]);
    }
}

bool lower_function(struct lowering *l) {
    struct program_function *f = l->function;
    l->place = arena_alloc(l->scratch, l->source->register_count + 1, sizeof *l->place);
    l->op_of = arena_alloc(l->scratch, l->source->instr_count + 1, sizeof *l->op_of);
    f->predicates = 1;
    place_formals(l, l->source->parameters, l->source->parameter_count);
    place_formals(l, l->source->returns, l->source->return_count);
    for (uint32_t i = 0; i < l->source->instr_count; i++) {
        l->op_of[i] = l->ops.count;
        l->reads.count = l->writes.count = 0;
        if (!lower_instr(l, &l->source->instrs[i])) return false;
        if ((f->window_bytes | l->constants.count * 2 * WARP_LANES) >> (PLACE_SHIFT - 1))
            return lower_fail(l, l->source->instrs[i].place, "`%s` uses too many registers and constants", f->name);
    }
    lower_end(l);
    resolve_targets(l);
    f->ops = l->ops.items, f->op_count = l->ops.count;
    f->element_list = l->elements.items, f->element_count = l->elements.count;
    f->target_list = l->target_list.items, f->target_list_count = l->target_list.count;
    f->targets = l->targets.items, f->targets_count = l->targets.count;
    f->arguments = l->arguments.items, f->argument_count = l->arguments.count;
    f->calls = l->calls.items, f->call_count = l->calls.count;
    f->constants = l->constants.items, f->constant_bytes = l->constants.count * 2 * WARP_LANES;
    return true;
}
