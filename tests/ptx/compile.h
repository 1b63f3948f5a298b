/* For tests: compiles PTX text to a program, and prints a function of it. */
#ifndef SLUICE_TESTS_PTX_COMPILE_H
#define SLUICE_TESTS_PTX_COMPILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/dump.h"
#include "ptx/find.h"
#include "ptx/program.h"
#include "test.h"

#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
/* A kernel with some registers of every kind; its body starts on line 8. */
#define PTX_KERNEL(body) \
    PTX_HEAD \
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .align 16 .b8 box[32]) {\n" \
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .f32 %f<9>;\n" \
    ".reg .b64 %d<9>; .reg .f64 %g<9>; .reg .v4 .b32 %v<3>; .shared .align 8 .b8 tile[64]; .local .b32 own[4];\n" \
    "\n" body "\n}\n"

struct compiled {
    struct ptx_module *module;
    struct program *program; /* NULL: see `err`, also if one of its functions cannot be executed */
    struct error err;
};

static inline struct compiled compile(const char *text) {
    struct compiled c = {0};
    c.module = ptx_parse("test.ptx", text, strlen(text), &c.err);
    if (c.module) c.program = program_create(c.module, 0x10000, &c.err);
    for (uint32_t f = 0; c.program && f < c.program->function_count && !c.err.set; f++)
        program_executable(c.program, &c.program->functions[f], &c.err);
    if (!c.err.set || !c.program) return c;
    program_destroy(c.program);
    c.program = NULL;
    return c;
}

/* The kernel of PTX_KERNEL around a body given at run time. */
static inline struct compiled compile_body(const char *body) {
    static const char around[] = PTX_KERNEL("#");
    const char *at = strchr(around, '#');
    size_t bytes = sizeof around + strlen(body);
    char *text = malloc(bytes);
    snprintf(text, bytes, "%.*s%s%s", (int)(at - around), around, body, at + 1);
    struct compiled c = compile(text);
    free(text);
    return c;
}

static inline void compiled_release(struct compiled *c) {
    program_destroy(c->program);
    if (c->module) ptx_module_destroy(c->module);
}

/* A function's dump, to be freed. */
static inline char *compiled_text(const struct compiled *c, unsigned function) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    program_dump(&c->program->functions[function], out);
    fclose(out);
    return text;
}

#endif
