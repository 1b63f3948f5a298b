/* A fault ends the run with an error that gives the line of PTX and its text, kernel, block and thread. The first one
 * is reported. */
#include "emu/cta.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint32_t function_of(const struct program *program, const struct op *op) {
    for (uint32_t i = 0;; i++) {
        const struct program_function *function = &program->functions[i];
        if (function->op_count && op >= function->ops && op < function->ops + function->op_count) return i;
    }
}

/* The instruction's text on one line, truncated to fit. */
static void instruction_text(const struct ptx_module *module, const struct op *op, uint32_t function, char *text,
                             size_t room) {
    *text = 0;
    const struct ptx_function *f = &module->functions[function];
    if (op->instr >= f->instr_count) return;
    size_t at = f->instrs[op->instr].place.offset, used = 0;
    for (bool space = false; at < module->text_bytes && module->text[at] != ';' && used + 2 < room; at++) {
        char c = module->text[at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            space = true;
            continue;
        }
        if (space) text[used++] = ' ';
        space = false;
        text[used++] = c;
    }
    text[used] = 0;
}

void fault_set(struct warp_state *w, const struct op *op, unsigned lane, const char *format, ...) {
    struct run *run = w->run;
    if (run->failed) return;
    run->failed = true;
    char what[768], text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const struct program *program = run->loaded->program;
    instruction_text(program->module, op, function_of(program, op), text, sizeof text);
    const uint32_t *block = run->launch->block, *cta = w->warp.cta->ctaid, thread = w->index * WARP_LANES + lane;
    error_set(run->err, "%s:%u: `%s` in kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s", program->module->file,
              op->line, text, run->kernel->function->name, cta[0], cta[1], cta[2], thread % block[0],
              thread / block[0] % block[1], thread / block[0] / block[1], what);
}
