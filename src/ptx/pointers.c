#include "ptx/pointers.h"

#include <string.h>

#include "ptx/lower.h"

/* Values are indices: nothing; the contents of local and shared memory; each module variable; for each reached function
 * its registers at labels; then one value per definition. */
enum { VALUE_NONE, VALUE_LOCAL, VALUE_SHARED, VALUE_VARIABLES };

struct edge {
    uint32_t from, to;
};

struct seed {
    uint32_t object, value;
};

struct walk {
    const struct ptx_module *module;
    struct arena *arena;
    uint32_t value_count;
    uint32_t *registers; /* of each function: the value of its first register; 0 = not reached */
    struct list reached; /* uint32_t */
    struct list edges, seeds, objects, accesses; /* of the types above */

    /* the current function */
    uint32_t index;
    const struct ptx_function *function;
    uint32_t *now;     /* last definition of each register since a label; 0 = the value at the label */
    struct list fresh; /* registers with a definition since the label */
    uint32_t left;     /* number of those already merged into the values at labels */
    uint32_t *only;    /* the only instruction that writes each register, plus 1; 0 = none, PTX_NONE = several */
};

static uint32_t value_make(struct walk *w) { return w->value_count++; }

static void edge_add(struct walk *w, uint32_t from, uint32_t to) {
    if (from != VALUE_NONE && to != VALUE_NONE && from != to)
        *(struct edge *)list_add(w->arena, &w->edges, sizeof(struct edge)) = (struct edge){from, to};
}

static void seed_add(struct walk *w, uint32_t object, uint32_t value) {
    if (value != VALUE_NONE)
        *(struct seed *)list_add(w->arena, &w->seeds, sizeof(struct seed)) = (struct seed){object, value};
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
    bool global = w->module->variables[variable].space == PTX_SPACE_GLOBAL;
    seed_add(w, global ? object_at(w, variable, 0) : POINTER_ELSEWHERE, to);
}

/* Adds a flow from an operand to a value; for a composite, from each of its elements. */
static void operand_flow(struct walk *w, const struct ptx_operand *o, uint32_t to) {
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REGISTER: edge_add(w, register_read(w, o->index), to); break;
    case PTX_OPERAND_VARIABLE: variable_flow(w, o->index, to); break;
    case PTX_OPERAND_FUNCTION: seed_add(w, POINTER_ELSEWHERE, to); break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_LIST:
        for (uint32_t i = 0; i < o->count; i++) operand_flow(w, &w->function->operands[o->first + i], to);
        break;
    default: break;
    }
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

/* The size of an element in bytes; 0 if it cannot be an address. */
static unsigned pointer_bytes(const struct walk *w, const struct ptx_instr *instr) {
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        if (ptx_modifier_class(instr->modifier[i]) != PTX_CLASS_TYPE) continue;
        enum ptx_type type = ptx_modifier_value(instr->modifier[i]);
        return ptx_type_kind(type) != PTX_FLOAT && ptx_type_bits(type) >= w->module->address_bits ? ptx_type_bytes(type)
                                                                                                  : 0;
    }
    return 0;
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
        *offset += sum ? sum->value : 0;
    }
    if (o->kind != PTX_OPERAND_VARIABLE || w->module->variables[o->index].space != PTX_SPACE_PARAM) return false;
    *variable = o->index;
    if (o != &w->function->operands[address->first]) *offset += o->value;
    return true;
}

/* A load of .param: in a kernel, parameters are the origin of pointers; otherwise the value is passed at a call. */
static void parameter_load(struct walk *w, const struct ptx_instr *instr, unsigned bytes) {
    const struct ptx_operand *to = operand_at(w, instr, 0), *address = operand_at(w, instr, 1);
    uint32_t variable = 0;
    int64_t offset = 0;
    bool known = parameter_place(w, address, &variable, &offset);
    uint32_t elements = to->kind == PTX_OPERAND_VECTOR ? to->count : 1;
    for (uint32_t i = 0; i < elements; i++) {
        uint32_t value = value_make(w);
        if (!known)
            seed_add(w, POINTER_ANYWHERE, bytes ? value : VALUE_NONE);
        else if (!w->function->is_kernel || !w->module->variables[variable].is_parameter)
            edge_add(w, VALUE_VARIABLES + variable, value);
        else if (bytes)
            seed_add(w, object_at(w, variable, (uint64_t)offset + (uint64_t)i * bytes), value);
        operand_define(w, instr, elements > 1 ? &w->function->operands[to->first + i] : to, value);
    }
}

/* The values that a load from a space may return. */
static uint32_t memory_load(struct walk *w, enum ptx_space space, unsigned bytes) {
    if (space == PTX_SPACE_LOCAL) return VALUE_LOCAL;
    if (space == PTX_SPACE_SHARED) return VALUE_SHARED;
    uint32_t value = value_make(w);
    if (bytes) seed_add(w, POINTER_ANYWHERE, value);
    return value;
}

/* A store to local or shared memory flows to loads there; a store to global memory may be loaded through anything. */
static void memory_store(struct walk *w, enum ptx_space space, const struct ptx_operand *o) {
    bool generic = space == PTX_SPACE_GENERIC;
    if (generic || space == PTX_SPACE_LOCAL || space == PTX_SPACE_PARAM) operand_flow(w, o, VALUE_LOCAL);
    if (generic || space == PTX_SPACE_SHARED) operand_flow(w, o, VALUE_SHARED);
}

static bool is_global(enum ptx_space space) { return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC; }

static void walk_load(struct walk *w, const struct ptx_instr *instr) {
    enum ptx_space space = instr->mnemonic == PTX_MN_ldu ? PTX_SPACE_GLOBAL : instr_space(instr);
    unsigned bytes = pointer_bytes(w, instr);
    if (space == PTX_SPACE_PARAM) {
        parameter_load(w, instr, bytes);
        return;
    }
    if (is_global(space)) access_add(w, instr, operand_at(w, instr, 1), true, false);
    operand_define(w, instr, operand_at(w, instr, 0), memory_load(w, space, bytes));
}

static void walk_store(struct walk *w, const struct ptx_instr *instr) {
    enum ptx_space space = instr_space(instr);
    const struct ptx_operand *address = operand_at(w, instr, 0);
    uint32_t variable = 0;
    int64_t offset = 0;
    if (is_global(space)) access_add(w, instr, address, false, true);
    if (space == PTX_SPACE_PARAM && parameter_place(w, address, &variable, &offset))
        operand_flow(w, operand_at(w, instr, 1), VALUE_VARIABLES + variable);
    else
        memory_store(w, space, operand_at(w, instr, 1));
}

/* atom d, [a], b, ...; red [a], b */
static void walk_atomic(struct walk *w, const struct ptx_instr *instr) {
    enum ptx_space space = instr_space(instr);
    uint32_t at = instr->mnemonic == PTX_MN_atom;
    if (is_global(space)) access_add(w, instr, operand_at(w, instr, at), true, true);
    for (uint32_t i = at + 1; i < instr->count; i++) memory_store(w, space, operand_at(w, instr, i));
    if (at) operand_define(w, instr, operand_at(w, instr, 0), memory_load(w, space, pointer_bytes(w, instr)));
}

/* ---- calls ---- */

static bool in_parameter(const struct walk *w, const struct ptx_operand *o) {
    return o->kind == PTX_OPERAND_VARIABLE && w->module->variables[o->index].space == PTX_SPACE_PARAM;
}

static void actual_take(struct walk *w, const struct ptx_instr *instr, const struct ptx_operand *actual,
                        uint32_t from) {
    if (in_parameter(w, actual))
        edge_add(w, from, VALUE_VARIABLES + actual->index);
    else
        operand_define(w, instr, actual, from);
}

static void actual_give(struct walk *w, const struct ptx_operand *actual, uint32_t to) {
    if (in_parameter(w, actual))
        edge_add(w, VALUE_VARIABLES + actual->index, to);
    else
        operand_flow(w, actual, to);
}

static uint32_t formal_value(const struct walk *w, uint32_t callee, uint32_t formal) {
    uint32_t reg = w->module->variables[formal].register_index;
    return reg == PTX_NONE ? VALUE_VARIABLES + formal : w->registers[callee] + reg;
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
        actual_give(w, &actuals[passed->arguments->first + i], formal_value(w, callee, function->parameters[i]));
    for (uint32_t i = 0; i < returns; i++)
        actual_take(w, instr, &actuals[passed->returns->first + i],
                    heap ? heap : formal_value(w, callee, function->returns[i]));
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
    bool named = list && list->kind == PTX_CALL_TARGETS; /* otherwise any function with a body */
    for (uint32_t i = 0; i < (named ? list->count : w->module->function_count); i++) {
        uint32_t f = named ? list->index[i] : i;
        if (!w->module->functions[f].is_kernel && w->module->functions[f].has_body)
            function_call(w, &maybe, f, &passed);
    }
}

/* ---- instructions ---- */

/* The first operand that flows to the destination; all later ones do too. Products and left shifts are numbers. */
enum { FLOW_ALL = 1, FLOW_ADDEND = 3, FLOW_NOTHING = UINT8_MAX };
static uint8_t flow_from(enum ptx_mnemonic mnemonic) {
    switch (mnemonic) {
    case PTX_MN_mul:
    case PTX_MN_mul24:
    case PTX_MN_shl:
    case PTX_MN_div:
    case PTX_MN_rem: return FLOW_NOTHING;
    case PTX_MN_mad:
    case PTX_MN_madc:
    case PTX_MN_mad24:
    case PTX_MN_fma: return FLOW_ADDEND;
    default: return FLOW_ALL;
    }
}

static void walk_plain(struct walk *w, const struct ptx_instr *instr) {
    if (!instr->count) return;
    uint32_t value = value_make(w);
    for (uint32_t i = flow_from(instr->mnemonic); i < instr->count; i++) {
        const struct ptx_operand *o = operand_at(w, instr, i);
        operand_flow(w, o, value);
        if (o->kind == PTX_OPERAND_VECTOR && pointer_bytes(w, instr)) seed_add(w, POINTER_ANYWHERE, value);
    }
    operand_define(w, instr, operand_at(w, instr, 0), value);
}

static void walk_instr(struct walk *w, const struct ptx_instr *instr) {
    switch (instr->mnemonic) {
    case PTX_MN_ld:
    case PTX_MN_ldu: walk_load(w, instr); break;
    case PTX_MN_st: walk_store(w, instr); break;
    case PTX_MN_atom:
    case PTX_MN_red: walk_atomic(w, instr); break;
    case PTX_MN_discard: access_add(w, instr, operand_at(w, instr, 0), false, true); break;
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
    /* No destination, or one that is not an address. */
    case PTX_MN_stackrestore:
    case PTX_MN_prefetch:
    case PTX_MN_prefetchu:
    case PTX_MN_applypriority:
    case PTX_MN_bar:
    case PTX_MN_barrier:
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

/* ---- the fixed point ---- */

/* Edges are in source order, so one pass settles everything except loops and calls. */
static void sets_grow(const struct walk *w, struct pointers *p) {
    p->words = (p->object_count + 63) / 64;
    p->sets = arena_alloc(w->arena, (size_t)w->value_count * p->words, sizeof *p->sets);
    const struct seed *seeds = w->seeds.items;
    for (uint32_t i = 0; i < w->seeds.count; i++)
        p->sets[(size_t)seeds[i].value * p->words + seeds[i].object / 64] |= UINT64_C(1) << (seeds[i].object % 64);
    const struct edge *edges = w->edges.items;
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t i = 0; i < w->edges.count; i++) {
            const uint64_t *from = p->sets + (size_t)edges[i].from * p->words;
            uint64_t *to = p->sets + (size_t)edges[i].to * p->words;
            for (uint32_t k = 0; k < p->words; k++) {
                grown |= (from[k] & ~to[k]) != 0;
                to[k] |= from[k];
            }
        }
    }
}

struct pointers *pointers_create(struct arena *arena, const struct ptx_module *module, uint32_t kernel) {
    struct walk w = {.module = module,
                     .arena = arena,
                     .value_count = VALUE_VARIABLES + module->variable_count,
                     .registers = arena_alloc(arena, module->function_count + 1, sizeof(uint32_t))};
    for (uint32_t i = 0; i < POINTER_STRUCTURES; i++)
        *(struct pointer_object *)list_add(arena, &w.objects, sizeof(struct pointer_object)) =
            (struct pointer_object){PTX_NONE, 0};
    function_reach(&w, kernel);
    for (uint32_t i = 0; i < w.reached.count; i++) walk_function(&w, ((const uint32_t *)w.reached.items)[i]);
    struct pointers *p = arena_alloc(arena, 1, sizeof *p);
    p->objects = w.objects.items;
    p->object_count = w.objects.count;
    p->accesses = w.accesses.items;
    p->access_count = w.accesses.count;
    sets_grow(&w, p);
    return p;
}

bool pointers_traced(const struct pointers *pointers, const struct pointer_access *access) {
    const uint64_t *set = pointers->sets + (size_t)access->address * pointers->words;
    uint64_t any = 0;
    for (uint32_t k = 0; k < pointers->words; k++) any |= set[k];
    return any && !(set[0] >> POINTER_ANYWHERE & 1);
}
