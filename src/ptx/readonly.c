#include "ptx/readonly.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"
#include "ptx/pointers.h"

/* ---- verdicts ---- */

/* Applies a write to the verdict of a data structure. The first write that may target it is reported, in preference to
 * writes to untraceable addresses. */
static void structure_meet(struct readonly_structure *structure, const struct pointers *pointers,
                           const struct pointer_access *access, uint32_t object) {
    bool may = pointers_may(pointers, access, object), traced = pointers_traced(pointers, access);
    structure->accesses += may;
    if (!access->writes || (!may && traced && !pointers_derive(pointers, access, object))) return;
    enum readonly_verdict verdict = may || traced ? READONLY_WRITTEN : READONLY_BEYOND;
    if (structure->verdict != READONLY && (structure->verdict == READONLY_WRITTEN || verdict == READONLY_BEYOND))
        return;
    structure->verdict = (uint8_t)verdict;
    structure->by_function = access->function;
    structure->by_instr = access->instr;
}

static bool asks_for_others(const struct ptx_instr *instr) {
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        enum ptx_modifier modifier = instr->modifier[i];
        bool weak = modifier == PTX_MOD_weak || ptx_modifier_class(modifier) != PTX_CLASS_SEMANTICS;
        if (!weak || modifier == PTX_MOD_cv) return true;
    }
    return false;
}

static bool access_is_readonly(const struct ptx_module *module, const struct pointers *pointers,
                               const struct pointer_access *access, const struct readonly_structure *structures) {
    if (access->writes || !pointers_traced(pointers, access) || pointers_may(pointers, access, POINTER_ELSEWHERE) ||
        pointers_derive(pointers, access, POINTER_ELSEWHERE))
        return false;
    for (uint32_t k = POINTER_STRUCTURES; k < pointers->object_count; k++) {
        /* A 64-bit number, say a stride, is a parameter like a pointer. It has accesses only if it is a pointer. */
        bool derived = pointers_derive(pointers, access, k) && structures[k].accesses;
        if ((derived || pointers_may(pointers, access, k)) && structures[k].verdict != READONLY) return false;
    }
    return !asks_for_others(&module->functions[access->function].instrs[access->instr]);
}

static int by_place(const void *a, const void *b) {
    const struct readonly_structure *x = a, *y = b;
    if (x->variable != y->variable) return x->variable < y->variable ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Merges the marks of one kernel's loads with those of other kernels: 0 none yet, then 1 + whether all agree. */
enum { SAID_NOTHING, SAID_NO, SAID_YES };

static void kernel_judge(struct arena *arena, const struct ptx_module *module, const bool *executable, uint32_t f,
                         struct readonly *readonly) {
    struct arena *scratch = arena_create();
    const struct pointers *pointers = pointers_create(scratch, module, executable, f);
    struct readonly_structure *structures = arena_alloc(scratch, pointers->object_count, sizeof *structures);
    for (uint32_t k = POINTER_STRUCTURES; k < pointers->object_count; k++) {
        structures[k].variable = pointers->objects[k].variable;
        structures[k].offset = pointers->objects[k].offset;
        for (uint32_t i = 0; i < pointers->access_count; i++)
            structure_meet(&structures[k], pointers, &pointers->accesses[i], k);
    }
    struct readonly_kernel *kernel = &readonly->kernels[readonly->kernel_count++];
    kernel->function = f;
    kernel->structures = arena_alloc(arena, pointers->object_count, sizeof *structures);
    for (uint32_t k = POINTER_STRUCTURES; k < pointers->object_count; k++)
        if (structures[k].accesses) kernel->structures[kernel->structure_count++] = structures[k];
    qsort(kernel->structures, kernel->structure_count, sizeof *structures, by_place);
    for (uint32_t i = 0; i < pointers->access_count; i++) {
        const struct pointer_access *access = &pointers->accesses[i];
        uint8_t **said = &readonly->marked[access->function];
        if (!*said) *said = arena_alloc(arena, module->functions[access->function].instr_count + 1, 1);
        bool yes = (*said)[access->instr] != SAID_NO && access_is_readonly(module, pointers, access, structures);
        (*said)[access->instr] = yes ? SAID_YES : SAID_NO;
    }
    arena_destroy(scratch);
}

struct readonly *readonly_create(struct arena *arena, const struct ptx_module *module, const bool *executable) {
    struct readonly *readonly = arena_alloc(arena, 1, sizeof *readonly);
    readonly->kernels = arena_alloc(arena, module->function_count + 1, sizeof *readonly->kernels);
    readonly->marked = arena_alloc(arena, module->function_count + 1, sizeof *readonly->marked);
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f].is_kernel && executable[f]) kernel_judge(arena, module, executable, f, readonly);
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; readonly->marked[f] && i < module->functions[f].instr_count; i++)
            readonly->marked[f][i] = readonly->marked[f][i] == SAID_YES;
    return readonly;
}

/* ---- as text ---- */

const char *readonly_name(const struct ptx_module *module, const struct readonly_structure *structure, char *text,
                          size_t size) {
    const struct ptx_variable *variable = &module->variables[structure->variable];
    bool part = variable->is_parameter && variable->size_bytes > module->address_bits / 8;
    snprintf(text, size, part ? "%s+%llu" : "%s", variable->name, (unsigned long long)structure->offset);
    return text;
}

const char *readonly_why(const struct ptx_module *module, const struct readonly_structure *structure, char *text,
                         size_t size) {
    static const char *const does[] = {
        [READONLY_WRITTEN] = "writes it", [READONLY_BEYOND] = "writes to an address that cannot be traced"};
    if (structure->verdict == READONLY) {
        bool one = structure->accesses == 1;
        snprintf(text, size, "%u instruction%s read%s it, none writes it", structure->accesses, one ? "" : "s",
                 one ? "s" : "");
        return text;
    }
    const struct ptx_function *function = &module->functions[structure->by_function];
    const struct ptx_instr *instr = &function->instrs[structure->by_instr];
    char name[96];
    snprintf(text, size, "%s at line %u%s%s %s", instr_text(instr, name, sizeof name), instr->place.line,
             function->is_kernel ? "" : " of ", function->is_kernel ? "" : function->name, does[structure->verdict]);
    return text;
}

/* ---- as PTX ---- */

/* The position for .ro: after the space, cache operator and .nc. 0 if the text already has it, the address is generic,
 * or the modifiers are on several lines. */
static size_t mark_offset(const struct ptx_module *module, const struct ptx_instr *instr) {
    bool global = false;
    unsigned behind = 0;
    if (instr->mnemonic != PTX_MN_ld) return 0;
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        enum ptx_modifier_class class = ptx_modifier_class(instr->modifier[i]);
        global |= instr->modifier[i] == PTX_MOD_global;
        if (instr->modifier[i] == PTX_MOD_ro) return 0;
        if (class == PTX_CLASS_SPACE || class == PTX_CLASS_CACHE) behind = i + 1;
    }
    if (!global || behind == instr->modifier_count || instr->modifier_column[behind] <= instr->place.column) return 0;
    size_t at = instr->place.offset + (instr->modifier_column[behind] - instr->place.column);
    return at < module->text_bytes && module->text[at] == '.' ? at : 0;
}

static int by_offset(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

uint32_t readonly_rewrite(const struct ptx_module *module, const struct readonly *readonly, FILE *out) {
    struct arena *arena = arena_create();
    struct list marks = {0};
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; readonly->marked[f] && i < module->functions[f].instr_count; i++) {
            size_t at = readonly->marked[f][i] ? mark_offset(module, &module->functions[f].instrs[i]) : 0;
            if (at) *(size_t *)list_add(arena, &marks, sizeof at) = at;
        }
    size_t *offsets = marks.items, from = 0;
    if (marks.count) qsort(offsets, marks.count, sizeof *offsets, by_offset);
    for (uint32_t i = 0; i < marks.count; from = offsets[i++]) {
        fwrite(module->text + from, 1, offsets[i] - from, out);
        fputs(".ro", out);
    }
    fwrite(module->text + from, 1, module->text_bytes - from, out);
    uint32_t count = marks.count;
    arena_destroy(arena);
    return count;
}
