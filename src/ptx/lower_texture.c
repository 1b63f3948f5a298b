/* Texture and surface instructions. The handle is a texture or surface object in a register, or the address of a
 * reference (.texref, .surfref): a variable of the module or a kernel parameter that holds an object's handle.
 *
 * Every texture has one mip level. tex.level and tex.grad clamp their level of detail to it, so its value has no effect.
 * Depth comparison (operand f) and separate samplers (texmode_independent) are not supported. */
#include <string.h>

#include "ptx/lower.h"

enum { SURFACE_LANE_BYTES = 16 };

static const struct ptx_operand *operand_at(const struct lowering *l, const struct ptx_instr *instr, unsigned i) {
    return &l->source->operands[instr->first + i];
}

/* ---- modifiers ---- */

static unsigned modifier_among(const struct ptx_instr *instr, const uint16_t *words, unsigned count) {
    for (unsigned i = 0; i < instr->modifier_count; i++)
        for (unsigned k = 0; k < count; k++)
            if (instr->modifier[i] == words[k]) return k;
    return 0;
}

static enum texture_geometry geometry_of(const struct ptx_instr *instr) {
    static const uint16_t words[] = {[GEOMETRY_1D] = PTX_MOD_geometry_1d,
                                     [GEOMETRY_2D] = PTX_MOD_geometry_2d,
                                     [GEOMETRY_3D] = PTX_MOD_geometry_3d,
                                     [GEOMETRY_A1D] = PTX_MOD_geometry_a1d,
                                     [GEOMETRY_A2D] = PTX_MOD_geometry_a2d};
    return modifier_among(instr, words, COUNT_OF(words));
}

/* .r, .g, .b or .a of tld4. */
static unsigned component_of(const struct ptx_instr *instr) {
    static const char letters[] = "rgba";
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        const char *text = ptx_modifier_text(instr->modifier[i]), *at = strchr(letters, text[0]);
        if (at && text[0] && !text[1]) return (unsigned)(at - letters);
    }
    return 0;
}

static enum surface_boundary boundary_of(const struct ptx_instr *instr) {
    static const uint16_t words[] = {
        [BOUNDARY_TRAP] = PTX_MOD_trap, [BOUNDARY_CLAMP] = PTX_MOD_clamp, [BOUNDARY_ZERO] = PTX_MOD_zero};
    return modifier_among(instr, words, COUNT_OF(words)); /* the default is .trap */
}

/* ---- operands ---- */

/* The number of elements of {a, b}, a vector register or a scalar, and one of them. */
static unsigned element_count(const struct lowering *l, const struct ptx_operand *o) {
    if (o->kind == PTX_OPERAND_VECTOR) return o->count;
    if (o->kind == PTX_OPERAND_REGISTER && !o->component && l->source->registers[o->index].vector)
        return l->source->registers[o->index].vector;
    return 1;
}

static struct ptx_operand element_at(const struct lowering *l, const struct ptx_operand *o, unsigned i) {
    if (o->kind == PTX_OPERAND_VECTOR) return l->source->operands[o->first + i];
    struct ptx_operand element = *o;
    if (element_count(l, o) > 1) element.component = (uint8_t)(i + 1);
    return element;
}

static void element_add(struct lowering *l, uint32_t place) {
    *(uint32_t *)list_add(l->arena, &l->elements, sizeof place) = place;
}

/* The address of the handle's reference, or the handle itself. */
static bool lower_handle(struct lowering *l, const struct ptx_instr *instr, const struct ptx_operand *o, bool surface,
                         struct op *op) {
    if (o->kind != PTX_OPERAND_ADDRESS) return lower_fail(l, o->place, "expected a texture or surface in brackets");
    const struct ptx_operand *base = &l->source->operands[o->first];
    const char *noun = surface ? "surface" : "texture";
    uint8_t bytes = 0;
    if (o->value) return lower_fail(l, base->place, "a %s has no offset", noun);
    if (base->kind == PTX_OPERAND_REGISTER) return lower_source(l, base, PTX_b64, false, &op->a, &bytes);
    if (base->kind != PTX_OPERAND_VARIABLE)
        return lower_fail(l, base->place, "expected a %s: a register of 64 bits or a reference", noun);
    const struct ptx_variable *variable = &l->module->variables[base->index];
    bool parameter = variable->space == PTX_SPACE_PARAM && l->source->is_kernel && variable->is_parameter;
    if (variable->type != (surface ? PTX_surfref : PTX_texref) &&
        !(instr->mnemonic == PTX_MN_txq && variable->type == PTX_samplerref))
        return lower_fail(l, base->place, "`%s` is not a .%s", variable->name, surface ? "surfref" : "texref");
    if (variable->type == PTX_samplerref)
        return lower_fail(l, base->place, "separate samplers are not supported (texmode_independent)");
    if (variable->space != PTX_SPACE_GLOBAL && !parameter)
        return lower_fail(l, base->place, "`%s` must be a variable of the module or a parameter of the kernel",
                          variable->name);
    op->a = lower_constant(l, (parameter ? WINDOW_PARAM : 0) + l->layout->address[base->index], 8);
    return true;
}

/* {x}, {x, y}, {x, y, z, ignored}, {layer, x}, {layer, x, y, ignored} */
static bool lower_coordinates(struct lowering *l, const struct ptx_operand *o, struct op *op) {
    static const uint8_t counts[] = {
        [GEOMETRY_1D] = 1, [GEOMETRY_2D] = 2, [GEOMETRY_3D] = 3, [GEOMETRY_A1D] = 2, [GEOMETRY_A2D] = 3};
    bool layered = op->mode == GEOMETRY_A1D || op->mode == GEOMETRY_A2D;
    unsigned wanted = counts[op->mode], given;
    if (o->count == 1) return lower_fail(l, o->place, "expected coordinates in the brackets");
    if (o->count > 2) return lower_fail(l, o->place, "separate samplers are not supported (texmode_independent)");
    const struct ptx_operand *all = &l->source->operands[o->first + 1];
    given = element_count(l, all);
    if (given != wanted && !(wanted == 3 && given == 4))
        return lower_fail(l, all->place, "expected %u coordinates, not %u", wanted == 3 ? 4 : wanted, given);
    for (unsigned i = 0; i < given; i++) {
        struct ptx_operand element = element_at(l, all, i);
        uint32_t place;
        enum ptx_type type = layered && i == 0 ? PTX_u32 : op->source;
        if (i >= wanted && element.kind == PTX_OPERAND_INTEGER) continue; /* ignored, of any type */
        if (!lower_source(l, &element, type, false, &place, NULL)) return false;
        if (i < wanted) element_add(l, place);
    }
    return true;
}

static bool lower_data(struct lowering *l, const struct ptx_operand *o, struct op *op, enum ptx_type type, bool store) {
    uint8_t *bytes = store ? &op->src_bytes : &op->dst_bytes;
    bool relaxed = op->operation == OPERATION_suld || store;
    if (o->kind == PTX_OPERAND_PAIR) {
        const struct ptx_operand *both = &l->source->operands[o->first];
        if (relaxed) return lower_fail(l, both[1].place, "unexpected second destination");
        if (!lower_target(l, &both[1], PTX_pred, false, &op->dst2, NULL)) return false;
        o = both;
    }
    if (element_count(l, o) != op->vector)
        return lower_fail(l, o->place, "expected %u element%s", op->vector, op->vector == 1 ? "" : "s");
    for (unsigned i = 0; i < op->vector; i++) {
        struct ptx_operand element = element_at(l, o, i);
        uint8_t width = *bytes;
        uint32_t place;
        if (!(store ? lower_source : lower_target)(l, &element, type, relaxed, &place, &width)) return false;
        if (element.kind == PTX_OPERAND_SINK) place = PLACE_NONE;
        if (*bytes && element.kind != PTX_OPERAND_SINK && width != *bytes)
            return lower_fail(l, element.place, "the elements of a vector must have the same width");
        if (element.kind != PTX_OPERAND_SINK) *bytes = width;
        element_add(l, place);
    }
    if (!*bytes) *bytes = (uint8_t)register_bytes(type);
    return true;
}

/* The operands after the coordinates: the level of detail or gradients, then offsets. */
static bool lower_rest(struct lowering *l, const struct ptx_instr *instr, struct op *op) {
    static const uint16_t words[] = {PTX_MOD_other, PTX_MOD_level, PTX_MOD_grad};
    unsigned details = modifier_among(instr, words, COUNT_OF(words)), next = 2;
    uint32_t unused;
    for (unsigned k = 0; k < details; k++, next++) {
        if (next >= instr->count)
            return lower_fail(l, instr->place, details == 1 ? "expected a level of detail" : "expected two gradients");
        const struct ptx_operand *o = operand_at(l, instr, next);
        for (unsigned i = 0; i < element_count(l, o); i++) {
            struct ptx_operand element = element_at(l, o, i);
            enum ptx_type type = details == 1 ? op->source : PTX_f32;
            if (!lower_source(l, &element, type, false, &unused, NULL)) return false;
        }
    }
    if (next == instr->count) return true;
    const struct ptx_operand *offsets = operand_at(l, instr, next);
    static const uint8_t axes[] = {
        [GEOMETRY_1D] = 1, [GEOMETRY_2D] = 2, [GEOMETRY_3D] = 3, [GEOMETRY_A1D] = 1, [GEOMETRY_A2D] = 2};
    unsigned given = element_count(l, offsets), wanted = axes[op->mode];
    if (next + 1 < instr->count || (offsets->kind != PTX_OPERAND_VECTOR && given == 1))
        return lower_fail(l, operand_at(l, instr, instr->count - 1)->place, "depth comparison is not supported");
    if (given < wanted) return lower_fail(l, offsets->place, "expected %u offsets, not %u", wanted, given);
    op->modifiers |= MOD_OFFSETS;
    for (unsigned i = 0; i < given; i++) {
        struct ptx_operand element = element_at(l, offsets, i);
        uint32_t place;
        if (!lower_source(l, &element, PTX_s32, false, &place, NULL)) return false;
        if (i < wanted) element_add(l, place);
    }
    return true;
}

bool lower_texture(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    bool store = op->operation == OPERATION_sust, surface = store || op->operation == OPERATION_suld;
    const struct ptx_operand *address = operand_at(l, instr, store ? 0 : 1);
    op->mode = (uint8_t)geometry_of(instr);
    op->compare = (uint8_t)(surface ? boundary_of(instr) : component_of(instr));
    if (surface) op->source = PTX_s32;
    if (surface && ptx_type_bytes(op->element) * op->vector > SURFACE_LANE_BYTES)
        return lower_fail(l, instr->place, "a lane accesses at most %d bytes of a surface", SURFACE_LANE_BYTES);
    op->elements = l->elements.count;
    return lower_data(l, operand_at(l, instr, store ? 1 : 0), op, types[0], store) &&
           lower_handle(l, instr, address, surface, op) && lower_coordinates(l, address, op) &&
           (surface || lower_rest(l, instr, op));
}

bool lower_query(struct lowering *l, const struct ptx_instr *instr, struct op *op, const uint8_t *types) {
    (void)types;
    const struct ptx_operand *address = operand_at(l, instr, 1);
    if (address->kind == PTX_OPERAND_ADDRESS && address->count != 1)
        return lower_fail(l, address->place, "a query has no coordinates");
    return lower_handle(l, instr, address, op->operation == OPERATION_suq, op);
}
