#include "ptx/pointers.h"

#include <string.h>

#include "ptx/flows.h"
#include "ptx/lower.h"

/* Values are indices: nothing; the contents of local, shared and global memory that the kernel itself writes; what is
 * stored to .param at an address that is not a constant; for each reached function its registers at labels; then one
 * value per definition. */
enum { VALUE_NONE, VALUE_LOCAL, VALUE_SHARED, VALUE_GLOBAL, VALUE_PARAMETERS, VALUE_COUNT };

/* A part of a .param variable that instructions access: the parameters and results of functions. */
struct slot {
    uint64_t offset, bytes;
    uint32_t value;
    uint32_t next; /* another part of the variable, as in `slot_heads` */
};

/* A call passes the variable `from` as the variable `to`. */
struct link {
    uint32_t from, to;
};

/* A load of a kernel parameter that is not one pointer: of a part, or (`variable` is PTX_NONE) of an unknown place. */
struct piece {
    uint32_t variable;
    uint64_t offset, bytes;
    uint32_t value;
    bool generic; /* matters only if the generic address of a parameter is taken */
};

struct walk {
    const struct ptx_module *module;
    const bool *executable; /* functions */
    struct arena *arena;
    uint32_t value_count;
    uint32_t *registers; /* of each function: the value of its first register; 0 = not reached */
    struct list reached; /* uint32_t */
    struct list flows, seeds, objects, accesses, slots, links, pieces; /* of the types above */
    uint32_t *slot_heads;    /* of each variable: the index of a slot, plus 1; 0 = none */
    bool parameters_taken;   /* a register has the address of a parameter or result of a function */
    bool parameters_generic; /* generic loads may read parameters */

    /* the current function */
    uint32_t index;
    const struct ptx_function *function;
    uint32_t *now;     /* last definition of each register since a label; 0 = the value at the label */
    struct list fresh; /* registers with a definition since the label */
    uint32_t left;     /* number of those already merged into the values at labels */
    uint32_t *only;    /* the only instruction that writes each register, plus 1; 0 = none, PTX_NONE = several */
};

static uint32_t value_make(struct walk *w) { return w->value_count++; }

static void flow_add(struct walk *w, enum flow_kind kind, uint32_t from, uint32_t other, uint32_t to) {
    if (from != VALUE_NONE && to != VALUE_NONE && from != to)
        *(struct flow *)list_add(w->arena, &w->flows, sizeof(struct flow)) = (struct flow){kind, from, other, to};
}
static void edge_add(struct walk *w, uint32_t from, uint32_t to) { flow_add(w, FLOW_COPY, from, VALUE_NONE, to); }
static void number_add(struct walk *w, uint32_t from, uint32_t to) { flow_add(w, FLOW_NUMBER, from, VALUE_NONE, to); }

static void seed_add(struct walk *w, uint32_t object, uint32_t value) {
    if (value != VALUE_NONE)
        *(struct seed *)list_add(w->arena, &w->seeds, sizeof(struct seed)) = (struct seed){object, value, false};
}

/* The value may be a number computed from the object's address; for POINTER_ANYWHERE: any number. */
static void seed_derived(struct walk *w, uint32_t object, uint32_t value) {
    if (value != VALUE_NONE)
        *(struct seed *)list_add(w->arena, &w->seeds, sizeof(struct seed)) = (struct seed){object, value, true};
}

static uint32_t object_at(struct walk *w, uint32_t variable, uint64_t offset) {
    const struct pointer_object *objects = w->objects.items;
    for (uint32_t i = POINTER_STRUCTURES; i < w->objects.count; i++)
        if (objects[i].variable == variable && objects[i].offset == offset) return i;
    *(struct pointer_object *)list_add(w->arena, &w->objects, sizeof *objects) =
        (struct pointer_object){variable, offset};
    return w->objects.count - 1;
}

/* ---- functions and their registers ---- */

static void function_reach(struct walk *w, uint32_t f) {
    if (w->registers[f]) return;
    w->registers[f] = w->value_count;
    w->value_count += w->module->functions[f].register_count + 1;
    *(uint32_t *)list_add(w->arena, &w->reached, sizeof f) = f;
}

static uint32_t register_read(const struct walk *w, uint32_t reg) {
    if (w->function->registers[reg].type == PTX_pred) return VALUE_NONE;
    return w->now[reg] ? w->now[reg] : w->registers[w->index] + reg;
}

/* A new value for a register. Under a guard, or for one component, it includes the old value. */
static uint32_t register_write(struct walk *w, uint32_t reg, bool guarded) {
    if (w->function->registers[reg].type == PTX_pred) return VALUE_NONE;
    uint32_t value = value_make(w);
    if (guarded || w->function->registers[reg].vector) edge_add(w, register_read(w, reg), value);
    w->now[reg] = value;
    *(uint32_t *)list_add(w->arena, &w->fresh, sizeof reg) = reg;
    return value;
}

/* Control may reach a label from here: merges the current values into those at labels. */
static void registers_leave(struct walk *w) {
    const uint32_t *fresh = w->fresh.items;
    for (; w->left < w->fresh.count; w->left++)
        edge_add(w, w->now[fresh[w->left]], w->registers[w->index] + fresh[w->left]);
}

static void registers_forget(struct walk *w) {
    registers_leave(w);
    const uint32_t *fresh = w->fresh.items;
    for (uint32_t i = 0; i < w->fresh.count; i++) w->now[fresh[i]] = 0;
    w->fresh.count = w->left = 0;
}

/* ---- operands ---- */

static const struct ptx_operand *operand_at(const struct walk *w, const struct ptx_instr *instr, uint32_t i) {
    return &w->function->operands[instr->first + i];
}

static void variable_flow(struct walk *w, uint32_t variable, uint32_t to) {
    const struct ptx_variable *named = &w->module->variables[variable];
    bool structure = named->space == PTX_SPACE_GLOBAL || ptx_type_kind(named->type) == PTX_OPAQUE; /* a reference */
    w->parameters_taken |= named->space == PTX_SPACE_PARAM && !(named->is_parameter && w->function->is_kernel);
    seed_add(w, structure ? object_at(w, variable, 0) : POINTER_ELSEWHERE, to);
}

/* A register, or the sum of a register and a constant. */
static uint32_t register_value(struct walk *w, const struct ptx_operand *o) {
    uint32_t read = register_read(w, o->index);
    if (!o->value || read == VALUE_NONE) return read;
    uint32_t number = value_make(w), sum = value_make(w);
    seed_derived(w, POINTER_ANYWHERE, number);
    flow_add(w, FLOW_SUM, read, number, sum);
    return sum;
}

/* Adds a flow from an operand to a value; for a composite, from each of its elements. */
static void operand_flow(struct walk *w, const struct ptx_operand *o, uint32_t to) {
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REGISTER: edge_add(w, register_value(w, o), to); break;
    case PTX_OPERAND_VARIABLE: variable_flow(w, o->index, to); break;
    case PTX_OPERAND_FUNCTION: seed_add(w, POINTER_ELSEWHERE, to); break;
    case PTX_OPERAND_INTEGER:
        if (o->value == 0)
            seed_add(w, POINTER_NULL, to);
        else
            seed_derived(w, POINTER_ANYWHERE, to);
        break;
    case PTX_OPERAND_SPECIAL:
    case PTX_OPERAND_FLOAT: seed_derived(w, POINTER_ANYWHERE, to); break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_LIST:
        for (uint32_t i = 0; i < o->count; i++) operand_flow(w, &w->function->operands[o->first + i], to);
        break;
    default: break;
    }
}

static uint32_t operand_value(struct walk *w, const struct ptx_operand *o) {
    if (o->kind == PTX_OPERAND_REGISTER) return register_value(w, o);
    uint32_t value = value_make(w);
    operand_flow(w, o, value);
    return value;
}

/* Assigns the value to the registers of a destination operand, merging the old value where it may remain. */
static void operand_define(struct walk *w, const struct ptx_instr *instr, const struct ptx_operand *o, uint32_t value) {
    if (o->kind == PTX_OPERAND_REGISTER) edge_add(w, value, register_write(w, o->index, instr->guarded));
    for (uint32_t i = 0; i < o->count; i++) operand_define(w, instr, &w->function->operands[o->first + i], value);
}

/* ---- memory ---- */

static enum ptx_space instr_space(const struct ptx_instr *instr) {
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if (ptx_modifier_class(instr->modifier[i]) == PTX_CLASS_SPACE) return ptx_modifier_value(instr->modifier[i]);
    return PTX_SPACE_GENERIC;
}

/* The size of an element of a load or store in bytes. */
static unsigned element_bytes(const struct ptx_instr *instr) {
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if (ptx_modifier_class(instr->modifier[i]) == PTX_CLASS_TYPE)
            return ptx_type_bytes(ptx_modifier_value(instr->modifier[i]));
    return 0;
}

/* Whether an element of so many bytes can hold a pointer, or has parts of one or of several. */
static bool is_address(const struct walk *w, uint64_t bytes) { return bytes * 8 == w->module->address_bits; }

/* A flow of bits through a place of so many bytes. */
static void piece_flow(struct walk *w, uint64_t bytes, uint32_t from, uint32_t to) {
    flow_add(w, is_address(w, bytes) ? FLOW_COPY : FLOW_NUMBER, from, VALUE_NONE, to);
}

static bool is_real(const struct ptx_instr *instr) {
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if (ptx_modifier_class(instr->modifier[i]) == PTX_CLASS_TYPE)
            return ptx_type_kind(ptx_modifier_value(instr->modifier[i])) == PTX_FLOAT;
    return false;
}

/* A value from memory that others write: possibly a pointer if it has its size and is not a floating-point number. */
static uint32_t foreign_value(struct walk *w, const struct ptx_instr *instr) {
    uint32_t value = value_make(w);
    if (is_address(w, element_bytes(instr)) && !is_real(instr))
        seed_add(w, POINTER_ANYWHERE, value);
    else
        seed_derived(w, POINTER_ANYWHERE, value);
    return value;
}

static void access_add(struct walk *w, const struct ptx_instr *instr, const struct ptx_operand *address, bool reads,
                       bool writes) {
    uint32_t value = value_make(w);
    operand_flow(w, address, value);
    *(struct pointer_access *)list_add(w->arena, &w->accesses, sizeof(struct pointer_access)) =
        (struct pointer_access){w->index, (uint32_t)(instr - w->function->instrs), reads, writes, value};
}

/* Whether an address is a known offset of a .param variable: named directly, or through registers that are written once
 * by moves and additions of constants. */
static bool parameter_place(const struct walk *w, const struct ptx_operand *address, uint32_t *variable,
                            int64_t *offset) {
    enum { COPIES = 64 };
    const struct ptx_operand *o = &w->function->operands[address->first];
    *offset = address->value;
    for (unsigned i = 0; i < COPIES && o->kind == PTX_OPERAND_REGISTER; i++) {
        if (!w->only[o->index] || w->only[o->index] == PTX_NONE) return false;
        const struct ptx_instr *instr = &w->function->instrs[w->only[o->index] - 1];
        const struct ptx_operand *sum = instr->mnemonic == PTX_MN_add ? operand_at(w, instr, 2) : NULL;
        if (instr->guarded || (instr->mnemonic != PTX_MN_mov && (!sum || sum->kind != PTX_OPERAND_INTEGER)))
            return false;
        o = operand_at(w, instr, 1);
        *offset += (sum ? sum->value : 0) + (o->kind == PTX_OPERAND_REGISTER ? o->value : 0);
    }
    if (o->kind != PTX_OPERAND_VARIABLE || w->module->variables[o->index].space != PTX_SPACE_PARAM) return false;
    *variable = o->index;
    if (o != &w->function->operands[address->first]) *offset += o->value;
    return true;
}

static struct slot *slot_get(const struct walk *w, uint32_t link) {
    return link ? (struct slot *)w->slots.items + link - 1 : NULL;
}

static uint32_t slot_at(struct walk *w, uint32_t variable, uint64_t offset, uint64_t bytes) {
    for (const struct slot *s = slot_get(w, w->slot_heads[variable]); s; s = slot_get(w, s->next))
        if (s->offset == offset && s->bytes == bytes) return s->value;
    uint32_t value = value_make(w);
    *(struct slot *)list_add(w->arena, &w->slots, sizeof(struct slot)) =
        (struct slot){offset, bytes, value, w->slot_heads[variable]};
    w->slot_heads[variable] = w->slots.count;
    edge_add(w, VALUE_PARAMETERS, value);
    return value;
}

static void piece_add(struct walk *w, struct piece piece) {
    *(struct piece *)list_add(w->arena, &w->pieces, sizeof piece) = piece;
}

/* A load of .param: in a kernel, parameters are the origin of pointers; otherwise the value is passed at a call. */
static void parameter_load(struct walk *w, const struct ptx_instr *instr) {
    const struct ptx_operand *to = operand_at(w, instr, 0), *address = operand_at(w, instr, 1);
    uint32_t variable = 0;
    int64_t start = 0;
    bool known = parameter_place(w, address, &variable, &start);
    unsigned bytes = element_bytes(instr);
    uint32_t elements = to->kind == PTX_OPERAND_VECTOR ? to->count : 1;
    for (uint32_t i = 0; i < elements; i++) {
        uint64_t offset = (uint64_t)start + (uint64_t)i * bytes;
        uint32_t value = value_make(w);
        if (!known) {
            edge_add(w, foreign_value(w, instr), value);
            number_add(w, VALUE_PARAMETERS, value);
            piece_add(w, (struct piece){.variable = PTX_NONE, .value = value});
        } else if (!w->function->is_kernel || !w->module->variables[variable].is_parameter) {
            piece_flow(w, bytes, slot_at(w, variable, offset, bytes), value);
        } else if (is_address(w, bytes) && !is_real(instr)) {
            seed_add(w, object_at(w, variable, offset), value);
        } else {
            seed_derived(w, POINTER_ANYWHERE, value);
            piece_add(w, (struct piece){.variable = variable, .offset = offset, .bytes = bytes, .value = value});
        }
        operand_define(w, instr, elements > 1 ? &w->function->operands[to->first + i] : to, value);
    }
}

/* The values that a load from a space may return. What the kernel itself has stored to global memory, or to any memory
 * that a generic load may read, is not only any number: it may be the address of a known object. */
static uint32_t memory_load(struct walk *w, const struct ptx_instr *instr, enum ptx_space space) {
    bool own = space == PTX_SPACE_LOCAL || space == PTX_SPACE_SHARED;
    uint32_t value = own ? value_make(w) : foreign_value(w, instr);
    if (own) piece_flow(w, element_bytes(instr), space == PTX_SPACE_LOCAL ? VALUE_LOCAL : VALUE_SHARED, value);
    if (space == PTX_SPACE_GENERIC) {
        number_add(w, VALUE_LOCAL, value);
        number_add(w, VALUE_SHARED, value);
        piece_add(w, (struct piece){.variable = PTX_NONE, .value = value, .generic = true});
    }
    if (space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL) number_add(w, VALUE_GLOBAL, value);
    return value;
}

static void memory_store(struct walk *w, const struct ptx_instr *instr, enum ptx_space space,
                         const struct ptx_operand *o) {
    bool generic = space == PTX_SPACE_GENERIC;
    uint32_t value = value_make(w), stored = value_make(w);
    operand_flow(w, o, value);
    piece_flow(w, element_bytes(instr), value, stored);
    if (generic || space == PTX_SPACE_LOCAL) edge_add(w, stored, VALUE_LOCAL);
    if (generic || space == PTX_SPACE_SHARED) edge_add(w, stored, VALUE_SHARED);
    if (generic || space == PTX_SPACE_GLOBAL) edge_add(w, stored, VALUE_GLOBAL);
    if (space == PTX_SPACE_PARAM) edge_add(w, stored, VALUE_PARAMETERS);
}

static bool is_global(enum ptx_space space) { return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC; }

static void walk_load(struct walk *w, const struct ptx_instr *instr) {
    enum ptx_space space = instr->mnemonic == PTX_MN_ldu ? PTX_SPACE_GLOBAL : instr_space(instr);
    if (space == PTX_SPACE_PARAM) {
        parameter_load(w, instr);
        return;
    }
    if (is_global(space)) access_add(w, instr, operand_at(w, instr, 1), true, false);
    operand_define(w, instr, operand_at(w, instr, 0), memory_load(w, instr, space));
}

static void parameter_store(struct walk *w, const struct ptx_instr *instr, uint32_t variable, uint64_t offset) {
    const struct ptx_operand *from = operand_at(w, instr, 1);
    unsigned bytes = element_bytes(instr);
    bool vector = from->kind == PTX_OPERAND_VECTOR;
    for (uint32_t i = 0; i < (vector ? from->count : 1); i++)
        piece_flow(w, bytes, operand_value(w, vector ? &w->function->operands[from->first + i] : from),
                   slot_at(w, variable, offset + (uint64_t)i * bytes, bytes));
}

static void walk_store(struct walk *w, const struct ptx_instr *instr) {
    enum ptx_space space = instr_space(instr);
    const struct ptx_operand *address = operand_at(w, instr, 0);
    uint32_t variable = 0;
    int64_t offset = 0;
    if (is_global(space)) access_add(w, instr, address, false, true);
    if (space == PTX_SPACE_PARAM && parameter_place(w, address, &variable, &offset))
        parameter_store(w, instr, variable, (uint64_t)offset);
    else
        memory_store(w, instr, space, operand_at(w, instr, 1));
}

/* atom d, [a], b, ...; red [a], b */
static void walk_atomic(struct walk *w, const struct ptx_instr *instr) {
    enum ptx_space space = instr_space(instr);
    uint32_t at = instr->mnemonic == PTX_MN_atom;
    if (is_global(space)) access_add(w, instr, operand_at(w, instr, at), true, true);
    for (uint32_t i = at + 1; i < instr->count; i++) memory_store(w, instr, space, operand_at(w, instr, i));
    if (at) operand_define(w, instr, operand_at(w, instr, 0), memory_load(w, instr, space));
}

/* ---- textures and surfaces ---- */

/* A texture is a data structure like the target of a pointer, and its handle is the pointer. */
static void walk_handle(struct walk *w, const struct ptx_instr *instr, const struct ptx_operand *address, bool writes) {
    access_add(w, instr, &w->function->operands[address->first], !writes, writes);
}

static void walk_texture_load(struct walk *w, const struct ptx_instr *instr) {
    walk_handle(w, instr, operand_at(w, instr, 1), false);
    operand_define(w, instr, operand_at(w, instr, 0), memory_load(w, instr, PTX_SPACE_GLOBAL));
}

static void walk_surface_store(struct walk *w, const struct ptx_instr *instr) {
    walk_handle(w, instr, operand_at(w, instr, 0), true);
    memory_store(w, instr, PTX_SPACE_GLOBAL, operand_at(w, instr, 1));
}

static void walk_query(struct walk *w, const struct ptx_instr *instr) {
    uint32_t value = value_make(w);
    seed_derived(w, POINTER_ANYWHERE, value);
    operand_define(w, instr, operand_at(w, instr, 0), value);
}

/* ---- asynchronous copies ---- */

static bool has_modifier(const struct ptx_instr *instr, enum ptx_modifier modifier) {
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if (instr->modifier[i] == modifier) return true;
    return false;
}

/* cp.async [shared], [global], ... and cp.async.bulk in both directions. A copy may move an address, which a load from
 * shared memory then reads; one within shared memory adds nothing to what shared memory contains. */
static void walk_async(struct walk *w, const struct ptx_instr *instr) {
    if (has_modifier(instr, PTX_MOD_bulk_group)) {
        access_add(w, instr, operand_at(w, instr, 0), false, true);
        edge_add(w, VALUE_SHARED, VALUE_GLOBAL);
    } else if (instr->count > 2 && has_modifier(instr, PTX_MOD_global) && !has_modifier(instr, PTX_MOD_prefetch)) {
        access_add(w, instr, operand_at(w, instr, 1), true, false);
        seed_add(w, POINTER_ANYWHERE, VALUE_SHARED);
        seed_derived(w, POINTER_ANYWHERE, VALUE_SHARED);
        number_add(w, VALUE_GLOBAL, VALUE_SHARED);
    }
}

/* An mbarrier contains no address, and neither do its states and counts. */
static void walk_mbarrier(struct walk *w, const struct ptx_instr *instr) {
    seed_derived(w, POINTER_ANYWHERE, VALUE_SHARED);
    if (operand_at(w, instr, 0)->kind != PTX_OPERAND_REGISTER) return;
    uint32_t value = value_make(w);
    seed_derived(w, POINTER_ANYWHERE, value);
    operand_define(w, instr, operand_at(w, instr, 0), value);
}

/* ---- calls ---- */

static bool in_parameter(const struct walk *w, const struct ptx_operand *o) {
    return o->kind == PTX_OPERAND_VARIABLE && w->module->variables[o->index].space == PTX_SPACE_PARAM;
}

/* The value of a parameter or result that is passed in a register or as a constant on one side of the call. */
static uint32_t whole_value(struct walk *w, uint32_t variable) {
    return slot_at(w, variable, 0, w->module->variables[variable].size_bytes);
}

static void link_add(struct walk *w, uint32_t from, uint32_t to) {
    *(struct link *)list_add(w->arena, &w->links, sizeof(struct link)) = (struct link){from, to};
}

static void argument_pass(struct walk *w, const struct ptx_operand *actual, uint32_t callee, uint32_t formal) {
    uint32_t reg = w->module->variables[formal].register_index;
    if (reg != PTX_NONE)
        edge_add(w, in_parameter(w, actual) ? whole_value(w, actual->index) : operand_value(w, actual),
                 w->registers[callee] + reg);
    else if (in_parameter(w, actual))
        link_add(w, actual->index, formal);
    else
        piece_flow(w, w->module->variables[formal].size_bytes, operand_value(w, actual), whole_value(w, formal));
}

static void result_define(struct walk *w, const struct ptx_instr *instr, const struct ptx_operand *actual,
                          uint32_t value) {
    if (in_parameter(w, actual))
        edge_add(w, value, whole_value(w, actual->index));
    else
        operand_define(w, instr, actual, value);
}

static void result_pass(struct walk *w, const struct ptx_instr *instr, const struct ptx_operand *actual,
                        uint32_t callee, uint32_t formal) {
    uint32_t reg = w->module->variables[formal].register_index;
    if (reg == PTX_NONE && in_parameter(w, actual))
        link_add(w, formal, actual->index);
    else
        result_define(w, instr, actual, reg == PTX_NONE ? whole_value(w, formal) : w->registers[callee] + reg);
}

/* The values passed at a call, in one direction: operand lists of the caller, each possibly NULL. */
struct passed {
    const struct ptx_operand *arguments, *returns;
};

/* A call of one possible target. Functions of the device library write to no data structure and return heap memory. */
static void function_call(struct walk *w, const struct ptx_instr *instr, uint32_t callee, const struct passed *passed) {
    const struct ptx_function *function = &w->module->functions[callee];
    const struct ptx_operand *actuals = w->function->operands;
    uint32_t arguments = passed->arguments ? (uint32_t)min_u64(passed->arguments->count, function->parameter_count) : 0;
    uint32_t returns = passed->returns ? (uint32_t)min_u64(passed->returns->count, function->return_count) : 0;
    uint32_t heap = function->has_body ? VALUE_NONE : value_make(w);
    seed_add(w, POINTER_ELSEWHERE, heap);
    if (function->has_body) function_reach(w, callee);
    for (uint32_t i = 0; i < arguments && !heap; i++)
        argument_pass(w, &actuals[passed->arguments->first + i], callee, function->parameters[i]);
    for (uint32_t i = 0; i < returns; i++) {
        const struct ptx_operand *actual = &actuals[passed->returns->first + i];
        if (heap)
            result_define(w, instr, actual, heap);
        else
            result_pass(w, instr, actual, callee, function->returns[i]);
    }
}

static void walk_call(struct walk *w, const struct ptx_instr *instr) {
    const struct ptx_operand *target = NULL, *shape = NULL;
    struct passed passed = {0};
    for (uint32_t i = 0; i < instr->count; i++) {
        const struct ptx_operand *o = operand_at(w, instr, i);
        *(o->kind == PTX_OPERAND_LIST ? target ? &passed.arguments : &passed.returns : target ? &shape : &target) = o;
    }
    if (target->kind == PTX_OPERAND_FUNCTION) {
        function_call(w, instr, target->index, &passed);
        return;
    }
    struct ptx_instr maybe = *instr; /* one of several targets: keep the values of the others */
    maybe.guarded = true;
    const struct ptx_targets *list =
        shape && shape->kind == PTX_OPERAND_TARGETS ? &w->function->targets[shape->index] : NULL;
    bool named = list && list->kind == PTX_CALL_TARGETS; /* otherwise any function that can be executed */
    for (uint32_t i = 0; i < (named ? list->count : w->module->function_count); i++) {
        uint32_t f = named ? list->index[i] : i;
        if (!w->module->functions[f].is_kernel && w->executable[f]) function_call(w, &maybe, f, &passed);
    }
}

/* ---- instructions ---- */

/* Whether the data operands and the result are integers of the size of an address. */
static bool is_whole(const struct walk *w, const struct ptx_instr *instr) {
    unsigned wide = has_modifier(instr, PTX_MOD_wide) ? 2 : 1, types = 0;
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        if (ptx_modifier_class(instr->modifier[i]) != PTX_CLASS_TYPE) continue;
        enum ptx_type type = ptx_modifier_value(instr->modifier[i]);
        if (instr->mnemonic == PTX_MN_slct && types++) continue; /* the type of the condition */
        if (ptx_type_kind(type) == PTX_FLOAT || !is_address(w, (uint64_t)ptx_type_bytes(type) * wide)) return false;
    }
    return true;
}

/* Rounding down to at most the alignment of an allocation stays in it. */
enum { ALLOCATION_ALIGNMENT = 256 };
static bool is_alignment(const struct ptx_operand *mask) {
    if (mask->kind != PTX_OPERAND_INTEGER || mask->value >= 0 || mask->value < -ALLOCATION_ALIGNMENT) return false;
    return (-mask->value & (-mask->value - 1)) == 0;
}

static void walk_copy(struct walk *w, const struct ptx_instr *instr, uint32_t value) {
    uint32_t operands = instr->mnemonic == PTX_MN_slct ? 3 : instr->count;
    for (uint32_t i = 1; i < operands; i++) operand_flow(w, operand_at(w, instr, i), value);
}

static void walk_number(struct walk *w, const struct ptx_instr *instr, uint32_t operands, uint32_t value) {
    seed_derived(w, POINTER_ANYWHERE, value);
    for (uint32_t i = 1; i < operands; i++) number_add(w, operand_value(w, operand_at(w, instr, i)), value);
}

static void walk_sum(struct walk *w, const struct ptx_instr *instr, enum flow_kind kind, uint32_t value) {
    flow_add(w, kind, operand_value(w, operand_at(w, instr, 1)), operand_value(w, operand_at(w, instr, 2)), value);
}

static bool is_parts(const struct walk *w, const struct ptx_operand *o) {
    if (o->kind == PTX_OPERAND_VECTOR) return true;
    return o->kind == PTX_OPERAND_REGISTER && !o->component && w->function->registers[o->index].vector;
}

/* Whether the result or an operand is a list of parts, or a vector. */
static bool has_parts(const struct walk *w, const struct ptx_instr *instr) {
    return is_parts(w, operand_at(w, instr, 0)) || is_parts(w, operand_at(w, instr, 1));
}

static void walk_move(struct walk *w, const struct ptx_instr *instr, uint32_t value) {
    if (!has_parts(w, instr)) {
        walk_copy(w, instr, value);
        return;
    }
    walk_number(w, instr, instr->count, value);
    if (is_parts(w, operand_at(w, instr, 1))) seed_add(w, POINTER_ANYWHERE, value);
}

static void walk_whole(struct walk *w, const struct ptx_instr *instr, uint32_t value) {
    switch (instr->mnemonic) {
    case PTX_MN_mov: walk_move(w, instr, value); break;
    case PTX_MN_cvta:
        w->parameters_generic |= instr_space(instr) == PTX_SPACE_PARAM;
        walk_copy(w, instr, value);
        break;
    case PTX_MN_cvt:
    case PTX_MN_selp:
    case PTX_MN_slct:
    case PTX_MN_min:
    case PTX_MN_max: walk_copy(w, instr, value); break;
    case PTX_MN_mapa: operand_flow(w, operand_at(w, instr, 1), value); break;
    case PTX_MN_add:
    case PTX_MN_addc: walk_sum(w, instr, FLOW_SUM, value); break;
    case PTX_MN_sub:
    case PTX_MN_subc: walk_sum(w, instr, FLOW_DIFFERENCE, value); break;
    case PTX_MN_or:
    case PTX_MN_xor: walk_sum(w, instr, FLOW_BITS, value); break;
    case PTX_MN_and:
        if (is_alignment(operand_at(w, instr, 2)))
            operand_flow(w, operand_at(w, instr, 1), value);
        else
            walk_number(w, instr, instr->count, value);
        break;
    case PTX_MN_mad:
    case PTX_MN_madc: {
        uint32_t product = value_make(w);
        walk_number(w, instr, 3, product);
        flow_add(w, FLOW_SUM, product, operand_value(w, operand_at(w, instr, 3)), value);
        break;
    }
    default: walk_number(w, instr, instr->count, value);
    }
}

static void walk_plain(struct walk *w, const struct ptx_instr *instr) {
    if (!instr->count) return;
    uint32_t value = value_make(w);
    if (is_whole(w, instr))
        walk_whole(w, instr, value);
    else
        walk_number(w, instr, instr->count, value);
    operand_define(w, instr, operand_at(w, instr, 0), value);
}

static void walk_instr(struct walk *w, const struct ptx_instr *instr) {
    switch (instr->mnemonic) {
    case PTX_MN_ld:
    case PTX_MN_ldu:
    case PTX_MN_ldmatrix: walk_load(w, instr); break;
    case PTX_MN_st:
    case PTX_MN_stmatrix: walk_store(w, instr); break;
    case PTX_MN_wmma:
        if (has_modifier(instr, PTX_MOD_load))
            walk_load(w, instr);
        else if (has_modifier(instr, PTX_MOD_store))
            walk_store(w, instr);
        else
            walk_plain(w, instr);
        break;
    case PTX_MN_atom:
    case PTX_MN_red: walk_atomic(w, instr); break;
    case PTX_MN_discard: access_add(w, instr, operand_at(w, instr, 0), false, true); break;
    case PTX_MN_tex:
    case PTX_MN_tld4:
    case PTX_MN_suld: walk_texture_load(w, instr); break;
    case PTX_MN_sust: walk_surface_store(w, instr); break;
    case PTX_MN_txq:
    case PTX_MN_suq:
    case PTX_MN_istypep: walk_query(w, instr); break;
    case PTX_MN_cp: walk_async(w, instr); break;
    case PTX_MN_mbarrier: walk_mbarrier(w, instr); break;
    case PTX_MN_call: walk_call(w, instr); break;
    case PTX_MN_bra:
    case PTX_MN_brx:
    case PTX_MN_ret: registers_leave(w); break;
    case PTX_MN_alloca:
    case PTX_MN_stacksave: {
        uint32_t value = value_make(w);
        seed_add(w, POINTER_ELSEWHERE, value);
        operand_define(w, instr, operand_at(w, instr, 0), value);
        break;
    }
    case PTX_MN_bar:
    case PTX_MN_barrier: /* .red.popc has a result */
        if (has_modifier(instr, PTX_MOD_popc)) walk_plain(w, instr);
        break;
    case PTX_MN_stackrestore:
    case PTX_MN_prefetch:
    case PTX_MN_prefetchu:
    case PTX_MN_applypriority:
    case PTX_MN_nanosleep:
    case PTX_MN_pmevent: break;
    default: walk_plain(w, instr);
    }
}

static void writes_note(struct walk *w, const struct ptx_operand *o, uint32_t instr) {
    if (o->kind == PTX_OPERAND_REGISTER) w->only[o->index] = w->only[o->index] ? PTX_NONE : instr + 1;
    for (uint32_t i = 0; o->kind != PTX_OPERAND_ADDRESS && i < o->count; i++)
        writes_note(w, &w->function->operands[o->first + i], instr);
}

static void walk_function(struct walk *w, uint32_t f) {
    w->index = f;
    w->function = &w->module->functions[f];
    w->now = arena_alloc(w->arena, w->function->register_count + 1, sizeof *w->now);
    w->only = arena_alloc(w->arena, w->function->register_count + 1, sizeof *w->only);
    for (uint32_t i = 0; i < w->function->instr_count; i++)
        if (w->function->instrs[i].count) writes_note(w, operand_at(w, &w->function->instrs[i], 0), i);
    uint8_t *labelled = arena_alloc(w->arena, w->function->instr_count + 1, 1);
    for (uint32_t i = 0; i < w->function->label_count; i++) labelled[w->function->labels[i].instr] = 1;
    for (uint32_t i = 0; i < w->function->instr_count; i++) {
        if (labelled[i]) registers_forget(w);
        walk_instr(w, &w->function->instrs[i]);
    }
    registers_forget(w);
}

/* ---- what is known only after all functions ---- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

/* Adds the parts of one variable to another. */
static void slots_copy(struct walk *w, uint32_t from, uint32_t to) {
    for (uint32_t i = w->slot_heads[from]; i; i = slot_get(w, i)->next)
        slot_at(w, to, slot_get(w, i)->offset, slot_get(w, i)->bytes);
}

/* A call passes each part of an argument or result that either side accesses. */
static void links_resolve(struct walk *w) {
    const struct link *links = w->links.items;
    for (uint32_t before = UINT32_MAX; before != w->slots.count;) {
        before = w->slots.count;
        for (uint32_t k = 0; k < w->links.count; k++) {
            slots_copy(w, links[k].from, links[k].to);
            slots_copy(w, links[k].to, links[k].from);
        }
    }
    for (uint32_t k = 0; k < w->links.count; k++)
        for (const struct slot *s = slot_get(w, w->slot_heads[links[k].from]); s; s = slot_get(w, s->next))
            edge_add(w, s->value, slot_at(w, links[k].to, s->offset, s->bytes));
}

/* Parts of one variable that overlap hold parts of each other's values. */
static void slots_resolve(struct walk *w) {
    for (uint32_t v = 0; v < w->module->variable_count; v++)
        for (const struct slot *a = slot_get(w, w->slot_heads[v]); a; a = slot_get(w, a->next))
            for (const struct slot *b = slot_get(w, a->next); b; b = slot_get(w, b->next))
                if (overlap(a->offset, a->bytes, b->offset, b->bytes)) {
                    number_add(w, a->value, b->value);
                    number_add(w, b->value, a->value);
                }
}

static void pieces_resolve(struct walk *w) {
    const struct piece *pieces = w->pieces.items;
    const struct pointer_object *objects = w->objects.items;
    unsigned pointer_bytes = w->module->address_bits / 8;
    for (uint32_t i = 0; i < w->pieces.count; i++) {
        bool anywhere = pieces[i].variable == PTX_NONE;
        if (pieces[i].generic && !w->parameters_generic) continue;
        for (uint32_t k = POINTER_STRUCTURES; k < w->objects.count; k++)
            if (w->module->variables[objects[k].variable].is_parameter &&
                (anywhere || (objects[k].variable == pieces[i].variable &&
                              overlap(objects[k].offset, pointer_bytes, pieces[i].offset, pieces[i].bytes))))
                seed_derived(w, k, pieces[i].value);
        for (uint32_t k = 0; anywhere && k < w->slots.count; k++)
            number_add(w, ((const struct slot *)w->slots.items)[k].value, pieces[i].value);
    }
    if (w->parameters_taken) edge_add(w, VALUE_LOCAL, VALUE_PARAMETERS);
}

struct pointers *pointers_create(struct arena *arena, const struct ptx_module *module, const bool *executable,
                                 uint32_t kernel) {
    struct walk w = {.module = module,
                     .executable = executable,
                     .arena = arena,
                     .value_count = VALUE_COUNT,
                     .slot_heads = arena_alloc(arena, module->variable_count + 1, sizeof(uint32_t)),
                     .registers = arena_alloc(arena, module->function_count + 1, sizeof(uint32_t))};
    for (uint32_t i = 0; i < POINTER_STRUCTURES; i++)
        *(struct pointer_object *)list_add(arena, &w.objects, sizeof(struct pointer_object)) =
            (struct pointer_object){PTX_NONE, 0};
    function_reach(&w, kernel);
    for (uint32_t i = 0; i < w.reached.count; i++) walk_function(&w, ((const uint32_t *)w.reached.items)[i]);
    links_resolve(&w);
    slots_resolve(&w);
    pieces_resolve(&w);
    struct pointers *p = arena_alloc(arena, 1, sizeof *p);
    p->objects = w.objects.items;
    p->object_count = w.objects.count;
    p->accesses = w.accesses.items;
    p->access_count = w.accesses.count;
    p->words = flows_words(p->object_count);
    p->sets = flows_solve(arena, &w.flows, &w.seeds, w.value_count, p->words);
    return p;
}
