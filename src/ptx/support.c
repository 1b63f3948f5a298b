/* Which functions of a module can be executed. A function that cannot has a problem: a message that is located at its
 * first unsupported instruction. A kernel can be executed if neither it nor a function that it may call has a problem;
 * the rest of the module does not matter. */
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

/* The instruction's name as written, including unknown modifiers. */
static const char *written_text(const struct ptx_module *module, const struct ptx_instr *instr, char *text,
                                size_t size) {
    size_t length = 0, from = instr->place.offset;
    while (from + length < module->text_bytes && length + 1 < size && !strchr(" \t\r\n;", module->text[from + length]))
        length++;
    snprintf(text, size, "%.*s", (int)length, module->text + from);
    return text;
}

unsigned program_unsupported(const struct ptx_module *module, program_found *found, void *user) {
    struct arena *arena = arena_create();
    const struct forms *forms = forms_create(arena);
    unsigned count = 0;
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; i < module->functions[f].instr_count; i++) {
            const struct ptx_instr *instr = &module->functions[f].instrs[i];
            if (!forms_refused(forms, module, instr)) continue;
            char text[128];
            count++;
            if (found) found(user, &module->functions[f], instr, written_text(module, instr, text, sizeof text));
        }
    arena_destroy(arena);
    return count;
}

/* "; 3 more on lines 10, 11, 12": unsupported instructions after the first. */
struct more {
    unsigned count;
    char lines[96];
    size_t used;
};

static void more_add(struct more *more, uint32_t line) {
    enum { LISTED = 8 };
    if (more->count++ < LISTED)
        more->used += (size_t)snprintf(more->lines + more->used, sizeof more->lines - more->used, "%s%u",
                                       more->used ? ", " : "", line);
    else if (more->count == LISTED + 1)
        snprintf(more->lines + more->used, sizeof more->lines - more->used, ", ...");
}

/* The place of an unknown modifier, or of the instruction. */
static struct ptx_place unknown_place(const struct ptx_instr *instr) {
    struct ptx_place place = instr->place;
    for (unsigned i = 0; i < instr->modifier_count && instr->mnemonic != PTX_MN_unknown; i++)
        if (instr->modifier[i] == PTX_MOD_other) {
            place.offset += instr->modifier_column[i] - place.column;
            place.column = instr->modifier_column[i];
            break;
        }
    return place;
}

bool support_check(const struct forms *forms, const struct ptx_module *module, uint32_t f, struct error *err) {
    const struct ptx_function *function = &module->functions[f];
    const struct ptx_instr *first = NULL;
    struct more more = {0};
    if (function->skipped) return error_set(err, "%s", function->skipped);
    if (function->blocks_are_clusters)
        return ptx_error(module, function->place, err, "kernel `%.60s`: .blocksareclusters is not supported",
                         function->name);
    for (uint32_t i = 0; i < function->instr_count; i++) {
        const struct ptx_instr *instr = &function->instrs[i];
        if (!forms_refused(forms, module, instr)) continue;
        if (!first)
            first = instr;
        else
            more_add(&more, instr->place.line);
    }
    if (!first) return true;
    char others[160] = "", text[128];
    if (more.count)
        snprintf(others, sizeof others, "; %u more on line%s %s", more.count, more.count == 1 ? "" : "s", more.lines);
    if (function->unknown && first == &function->instrs[function->unknown_instr])
        return ptx_error(module, unknown_place(first), err, "in `%.60s`: %s%s", function->name, function->unknown,
                         others);
    return ptx_error(module, first->place, err, "unsupported instruction `%.100s` in `%.60s`%s",
                     written_text(module, first, text, sizeof text), function->name, others);
}

void program_refuse(struct program *program, uint32_t f, const struct error *why) {
    struct program_function *function = &program->functions[f];
    if (!function->problem) function->problem = arena_text(program->arena, why->text, strlen(why->text));
}

bool program_executable(const struct program *program, const struct program_function *function, struct error *err) {
    uint32_t count = program->function_count, depth = 0, from = (uint32_t)(function - program->functions);
    bool *seen = mem_alloc(count, sizeof *seen);
    uint32_t *stack = mem_alloc(count, sizeof *stack);
    const struct program_function *bad = NULL;
    for (seen[from] = true, stack[depth++] = from; depth && !bad;) {
        const struct program_function *f = &program->functions[stack[--depth]];
        if (f->problem) bad = f;
        for (uint32_t i = 0; i < f->callee_count; i++)
            if (!seen[f->callees[i]]) seen[f->callees[i]] = true, stack[depth++] = f->callees[i];
    }
    free(stack);
    free(seen);
    if (bad && err) {
        char why[160] = "";
        if (bad != function)
            snprintf(why, sizeof why, "\n%s `%.60s` may call `%.60s`", function->is_kernel ? "kernel" : "function",
                     function->name, bad->name);
        error_set(err, "%.1300s%s", bad->problem, why);
    }
    return !bad;
}
