/* Addresses of variables.
 *
 * Global and constant variables of the module are in one image, those with an initialiser first so that large
 * uninitialised ones cost nothing. A kernel's parameters are in its parameter block. A device function's frame starts
 * with its parameters in order, then its return values, then local variables and the .param variables of its calls (a
 * kernel's frame has only these).
 *
 * Shared variables used by device functions have the same offsets for every kernel, starting at 0, since a device
 * function is lowered once. A kernel that can reach such a function has this common part, followed by its own
 * variables; any other kernel has only its own, starting at 0. Only used variables count. Unsized variables follow all
 * others; if a device function uses one, it follows the largest kernel that can reach such a function. */
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

enum {
    FRAME_LIMIT_BYTES = 512 << 10,
    SHARED_LIMIT_BYTES = 256 << 10,
    PARAMETER_LIMIT_BYTES = 32764,
    DYNAMIC_ALIGN = 16
};
#define IMAGE_LIMIT_BYTES (UINT64_C(1) << 40)

/* ---- the call graph ---- */

static void callee_add(struct arena *arena, struct layout *layout, uint32_t from, uint32_t to) {
    *(uint32_t *)list_add(arena, &layout->callees[from], sizeof(uint32_t)) = to;
}

static void function_scan(const struct ptx_module *module, struct arena *arena, struct layout *layout, uint32_t f) {
    const struct ptx_function *function = &module->functions[f];
    for (uint32_t i = 0; i < function->instr_count; i++) {
        const struct ptx_instr *instr = &function->instrs[i];
        bool is_call = instr->mnemonic == PTX_MN_call, direct = false;
        for (uint32_t k = 0; k < instr->count; k++) {
            const struct ptx_operand *operand = &function->operands[instr->first + k];
            if (operand->kind != PTX_OPERAND_FUNCTION) continue;
            if (is_call)
                callee_add(arena, layout, f, operand->index), direct = true;
            else
                layout->address_taken[operand->index] = true;
        }
        layout->calls_indirectly[f] |= is_call && !direct;
    }
    for (uint32_t i = 0; i < function->target_count; i++)
        for (uint32_t k = 0; function->targets[i].kind == PTX_CALL_TARGETS && k < function->targets[i].count; k++)
            callee_add(arena, layout, f, function->targets[i].index[k]);
}

static void find_callees(const struct ptx_module *module, struct arena *arena, struct layout *layout) {
    for (uint32_t f = 0; f < module->function_count; f++) function_scan(module, arena, layout, f);
    for (uint32_t v = 0; v < module->variable_count; v++)
        for (uint32_t i = 0; i < module->variables[v].relocation_count; i++)
            if (module->variables[v].relocations[i].is_function)
                layout->address_taken[module->variables[v].relocations[i].index] = true;
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t g = 0; layout->calls_indirectly[f] && g < module->function_count; g++)
            if (layout->address_taken[g]) callee_add(arena, layout, f, g);
}

/* Calls `visit` with every function reachable from `from`, itself first. */
static void reach(const struct ptx_module *module, const struct layout *layout, uint32_t from,
                  void (*visit)(void *user, uint32_t function), void *user) {
    bool *seen = mem_alloc(module->function_count, sizeof *seen);
    uint32_t *stack = mem_alloc(module->function_count, sizeof *stack), depth = 0;
    for (seen[from] = true, stack[depth++] = from; depth;) {
        uint32_t f = stack[--depth];
        visit(user, f);
        const uint32_t *callee = layout->callees[f].items;
        for (uint32_t i = 0; i < layout->callees[f].count; i++)
            if (!seen[callee[i]]) seen[callee[i]] = true, stack[depth++] = callee[i];
    }
    free(stack);
    free(seen);
}

/* ---- frames and parameters ---- */

static bool limit_check(const struct ptx_module *module, const struct ptx_variable *variable, uint64_t bytes,
                        uint64_t limit, const char *what, struct error *err) {
    if (bytes <= limit) return true;
    return ptx_error(module, variable->place, err, "`%s` needs %llu bytes of %s; the limit is %llu", variable->name,
                     (unsigned long long)bytes, what, (unsigned long long)limit);
}

/* The window's bytes and predicates that formals in registers take; predicate 0 is always true. */
struct formals_end {
    uint64_t window, predicates;
};

/* Places formals consecutively from `*offset` in the block or frame, registers in the window. */
static bool place_formals(struct program *program, struct layout *layout, uint32_t f, const uint32_t *formals,
                          uint32_t count, uint64_t *offset, struct formals_end *end, struct error *err) {
    const struct ptx_module *module = program->module;
    bool is_kernel = module->functions[f].is_kernel;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_variable *formal = &module->variables[formals[i]];
        if (formal->register_index != PTX_NONE) {
            const struct ptx_register *reg = &module->functions[f].registers[formal->register_index];
            uint64_t *next = reg->type == PTX_pred ? &end->predicates : &end->window;
            layout->address[formals[i]] = *next;
            *next +=
                reg->type == PTX_pred ? 1u : register_bytes(reg->type) * WARP_LANES * (reg->vector ? reg->vector : 1u);
            continue;
        }
        *offset = layout_next(*offset, formal->align_bytes);
        layout->address[formals[i]] = *offset;
        layout->in_frame[formals[i]] = !is_kernel;
        *offset += formal->size_bytes;
        if (!limit_check(module, formal, *offset, is_kernel ? PARAMETER_LIMIT_BYTES : FRAME_LIMIT_BYTES, "parameters",
                         err))
            return false;
    }
    return true;
}

static void place_frames(struct program *program, struct layout *layout) {
    const struct ptx_module *module = program->module;
    uint64_t *bytes = mem_alloc(module->function_count + 1, sizeof *bytes);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_function *function = &module->functions[f];
        struct error why = {0};
        struct formals_end end = {0, 1};
        if (!place_formals(program, layout, f, function->parameters, function->parameter_count, &bytes[f], &end,
                           &why) ||
            !place_formals(program, layout, f, function->returns, function->return_count, &bytes[f], &end, &why))
            program_refuse(program, f, &why);
        program->functions[f].parameter_bytes = (uint32_t)bytes[f];
        if (function->is_kernel) bytes[f] = 0;
    }
    for (uint32_t v = 0; v < module->variable_count; v++) {
        const struct ptx_variable *variable = &module->variables[v];
        bool local = variable->space == PTX_SPACE_LOCAL || variable->space == PTX_SPACE_PARAM;
        if (!local || variable->is_parameter || variable->is_return || variable->function == PTX_NONE) continue;
        struct error why = {0};
        uint64_t *end = &bytes[variable->function];
        layout->in_frame[v] = true;
        if (program->functions[variable->function].problem) continue;
        layout->address[v] = layout_next(*end, variable->align_bytes);
        *end = layout->address[v] + variable->size_bytes;
        if (!limit_check(module, variable, *end, FRAME_LIMIT_BYTES, "thread-local memory", &why))
            program_refuse(program, variable->function, &why);
    }
    for (uint32_t f = 0; f < module->function_count; f++)
        program->functions[f].frame_bytes = program->functions[f].problem ? 0 : (uint32_t)layout_next(bytes[f], 4);
    free(bytes);
}

/* ---- the image ---- */

static bool in_image(const struct ptx_variable *variable) {
    return (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST) &&
           variable->linkage != PTX_LINKAGE_EXTERN;
}

static bool is_initialised(const struct ptx_variable *variable) {
    return variable->initial || variable->relocation_count;
}

static bool place_image(struct program *program, struct layout *layout, struct error *err) {
    const struct ptx_module *module = program->module;
    uint64_t end = 0;
    program->variables = arena_alloc(program->arena, module->variable_count + 1, sizeof *program->variables);
    for (int initialised = 1; initialised >= 0; initialised--) {
        for (uint32_t v = 0; v < module->variable_count; v++) {
            const struct ptx_variable *variable = &module->variables[v];
            if (!in_image(variable) || is_initialised(variable) != initialised) continue;
            end = layout_next(end, variable->align_bytes);
            layout->address[v] = program->image_address + end;
            program->variables[program->variable_count++] =
                (struct program_variable){variable->name, variable->space, variable->linkage == PTX_LINKAGE_VISIBLE,
                                          layout->address[v], variable->size_bytes};
            end += variable->size_bytes;
            if (!limit_check(module, variable, max_u64(end, variable->size_bytes), IMAGE_LIMIT_BYTES, "variables", err))
                return false;
        }
        if (initialised) program->initial_bytes = end;
    }
    program->image_bytes = end;
    return true;
}

static bool relocate(const struct program *program, const struct layout *layout, const struct ptx_variable *variable,
                     const struct ptx_relocation *relocation, uint8_t *bytes, struct error *err) {
    const struct ptx_module *module = program->module;
    uint64_t value = (uint64_t)relocation->addend;
    if (relocation->is_function)
        value += FUNCTION_ADDRESS + 16 * (uint64_t)relocation->index;
    else {
        const struct ptx_variable *target = &module->variables[relocation->index];
        if (!in_image(target))
            return ptx_error(module, variable->place, err,
                             "`%s` holds the address of `%s`, which is not a defined variable"
                             " of global or constant memory",
                             variable->name, target->name);
        value += layout->address[relocation->index];
    }
    if (relocation->offset > variable->size_bytes || relocation->bytes > variable->size_bytes - relocation->offset)
        return ptx_error(module, variable->place, err, "an initialiser of `%s` is larger than the variable",
                         variable->name);
    if (relocation->bytes == 4) value = address_narrow(value);
    for (unsigned i = 0; i < relocation->bytes && i < 8; i++)
        bytes[relocation->offset + i] = (uint8_t)(value >> (8 * i));
    return true;
}

static bool fill_image(struct program *program, const struct layout *layout, struct error *err) {
    const struct ptx_module *module = program->module;
    program->image = arena_alloc(program->arena, program->initial_bytes + 1, 1);
    for (uint32_t v = 0; v < module->variable_count; v++) {
        const struct ptx_variable *variable = &module->variables[v];
        if (!in_image(variable) || !is_initialised(variable)) continue;
        uint8_t *bytes = program->image + (layout->address[v] - program->image_address);
        if (variable->initial) memcpy(bytes, variable->initial, variable->size_bytes);
        for (uint32_t i = 0; i < variable->relocation_count; i++)
            if (!relocate(program, layout, variable, &variable->relocations[i], bytes, err)) return false;
    }
    return true;
}

/* Variables defined in another module may be declared, but not used. */
static void check_defined(struct program *program) {
    const struct ptx_module *module = program->module;
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; i < module->functions[f].operand_count && !program->functions[f].problem; i++) {
            const struct ptx_operand *operand = &module->functions[f].operands[i];
            if (operand->kind != PTX_OPERAND_VARIABLE) continue;
            const struct ptx_variable *variable = &module->variables[operand->index];
            bool far_space = variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST;
            if (!far_space || in_image(variable)) continue;
            struct error why = {0};
            ptx_error(module, operand->place, &why, "`%s` is declared .extern but not defined in this module",
                      variable->name);
            program_refuse(program, f, &why);
        }
}

/* ---- shared memory ---- */

struct shared_use {
    const struct ptx_module *module;
    const struct layout *layout;
    bool common;  /* the kernel or a reachable device function uses a common variable */
    bool dynamic; /* a reachable device function uses an unsized variable */
    uint64_t dynamic_align;
};

static bool is_shared(const struct ptx_module *module, const struct ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_VARIABLE && module->variables[operand->index].space == PTX_SPACE_SHARED;
}

static void note_shared(void *user, uint32_t f) {
    struct shared_use *use = user;
    const struct ptx_function *function = &use->module->functions[f];
    for (uint32_t i = 0; i < function->operand_count; i++) {
        if (!is_shared(use->module, &function->operands[i])) continue;
        const struct ptx_variable *variable = &use->module->variables[function->operands[i].index];
        if (variable->unsized) use->dynamic_align = max_u64(use->dynamic_align, variable->align_bytes);
        use->common |= !variable->unsized && use->layout->is_common[function->operands[i].index];
        use->dynamic |= variable->unsized && !function->is_kernel;
    }
}

static void place_common(const struct ptx_module *module, struct layout *layout) {
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_function *function = &module->functions[f];
        for (uint32_t i = 0; i < function->operand_count && !function->is_kernel; i++)
            if (is_shared(module, &function->operands[i])) layout->is_common[function->operands[i].index] = true;
    }
    for (uint32_t v = 0; v < module->variable_count; v++) {
        const struct ptx_variable *variable = &module->variables[v];
        if (!layout->is_common[v] || variable->unsized) continue;
        layout->address[v] = layout_next(layout->common_bytes, variable->align_bytes);
        layout->common_bytes = layout->address[v] + variable->size_bytes;
    }
}

/* Places the kernel's own variables after the common ones; returns their end. */
static uint64_t place_own(const struct ptx_module *module, struct layout *layout, uint32_t kernel,
                          const struct shared_use *use, const struct ptx_variable **last) {
    const struct ptx_function *function = &module->functions[kernel];
    uint64_t end = use->common ? layout->common_bytes : 0;
    bool *placed = mem_alloc(module->variable_count + 1, sizeof *placed);
    for (uint32_t i = 0; i < function->operand_count; i++) {
        if (!is_shared(module, &function->operands[i])) continue;
        uint32_t v = function->operands[i].index;
        if (placed[v] || layout->is_common[v] || module->variables[v].unsized) continue;
        placed[v] = true;
        layout->address[v] = layout_next(end, module->variables[v].align_bytes);
        end = layout->address[v] + module->variables[v].size_bytes;
        *last = &module->variables[v];
    }
    free(placed);
    return end;
}

static struct shared_use shared_use_of(const struct ptx_module *module, const struct layout *layout, uint32_t kernel) {
    struct shared_use use = {.module = module, .layout = layout};
    reach(module, layout, kernel, note_shared, &use);
    return use;
}

static void place_shared(struct program *program, struct layout *layout) {
    const struct ptx_module *module = program->module;
    place_common(module, layout);
    for (uint32_t f = 0; f < module->function_count; f++) {
        if (!module->functions[f].is_kernel || !module->functions[f].has_body) continue;
        struct shared_use use = shared_use_of(module, layout, f);
        const struct ptx_variable *last = NULL;
        uint64_t end = place_own(module, layout, f, &use, &last);
        if (end > SHARED_LIMIT_BYTES) {
            struct error why = {0};
            ptx_error(module, last ? last->place : module->functions[f].place, &why,
                      "`%s` needs %llu bytes of shared memory; the limit is %u", module->functions[f].name,
                      (unsigned long long)end, (unsigned)SHARED_LIMIT_BYTES);
            program_refuse(program, f, &why);
            continue;
        }
        if (use.dynamic_align) end = layout_next(end, max_u64(use.dynamic_align, DYNAMIC_ALIGN));
        program->functions[f].shared_bytes = (uint32_t)end;
        if (use.dynamic) layout->dynamic_from = max_u64(layout->dynamic_from, end);
    }
}

void layout_enter(struct program *program, struct layout *layout, uint32_t f) {
    const struct ptx_module *module = program->module;
    const struct ptx_function *function = &module->functions[f];
    uint64_t dynamic_from = layout->dynamic_from;
    if (function->is_kernel) {
        struct shared_use use = shared_use_of(module, layout, f);
        const struct ptx_variable *last = NULL;
        place_own(module, layout, f, &use, &last);
        if (use.dynamic) program->functions[f].shared_bytes = (uint32_t)dynamic_from;
        dynamic_from = program->functions[f].shared_bytes;
    }
    for (uint32_t i = 0; i < function->operand_count; i++)
        if (is_shared(module, &function->operands[i]) && module->variables[function->operands[i].index].unsized)
            layout->address[function->operands[i].index] = dynamic_from;
}

bool layout_create(struct program *program, struct arena *scratch, struct layout *layout, struct error *err) {
    const struct ptx_module *module = program->module;
    *layout = (struct layout){0};
    layout->address = arena_alloc(scratch, module->variable_count + 1, sizeof *layout->address);
    layout->in_frame = arena_alloc(scratch, module->variable_count + 1, sizeof *layout->in_frame);
    layout->is_common = arena_alloc(scratch, module->variable_count + 1, sizeof *layout->is_common);
    layout->callees = arena_alloc(scratch, module->function_count + 1, sizeof *layout->callees);
    layout->address_taken = arena_alloc(scratch, module->function_count + 1, sizeof(bool));
    layout->calls_indirectly = arena_alloc(scratch, module->function_count + 1, sizeof(bool));
    find_callees(module, scratch, layout);
    if (!place_image(program, layout, err) || !fill_image(program, layout, err)) return false;
    place_frames(program, layout);
    check_defined(program);
    place_shared(program, layout);
    return true;
}
