/* Parsing of PTX text to a module, and the errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "ptx/find.h"
#include "ptx/module.h"
#include "ptx/program.h"
#include "test.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n" /* three lines */

static struct ptx_module *parse(const char *text) {
    struct error err = {0};
    struct ptx_module *module = ptx_parse("a.ptx", text, strlen(text), &err);
    if (!module) fprintf(stderr, "%s\n", err.text);
    REQUIRE(module);
    CHECK(!err.set);
    return module;
}

/* The text has an unknown instruction, which is skipped, in its only function. */
static void unknown(const char *text, const char *part) {
    struct ptx_module *module = parse(text);
    REQUIRE(module->function_count == 1 && module->functions[0].unknown);
    CHECK_TEXT(module->functions[0].unknown, part);
    CHECK_EQ(module->functions[0].instrs[module->functions[0].unknown_instr].count, 0u);
    ptx_module_destroy(module);
}

/* The body of the text's only function is skipped, for this reason. */
static void skipped(const char *text, const char *part) {
    struct ptx_module *module = parse(text);
    REQUIRE(module->function_count == 1 && module->functions[0].skipped);
    CHECK_TEXT(module->functions[0].skipped, part);
    ptx_module_destroy(module);
}

/* The text must be rejected with a message that contains `part`. */
static void refuse(const char *text, const char *part) {
    struct error err = {0};
    struct ptx_module *module = ptx_parse("a.ptx", text, strlen(text), &err);
    CHECK(!module);
    CHECK(err.set);
    CHECK_TEXT(err.text, part);
    ptx_module_destroy(module);
}

/* A kernel with some registers; the body is on line 6. */
#define BODY_BEFORE \
    HEAD ".entry k(.param .u64 a, .param .u32 n)\n" \
         "{ .reg .pred p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .v4 .f32 v;\n"
#define BODY(statements) BODY_BEFORE statements "\n}"

static const struct ptx_variable *variable(const struct ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i].name, name) == 0) return &module->variables[i];
    return NULL;
}

/* Instructions printed with names instead of indices: compares the module with the text. */
static void show_operand(const struct ptx_module *module, const struct ptx_function *function, uint32_t index,
                         FILE *out) {
    const struct ptx_operand *operand = &function->operands[index];
    static const char *const specials[] = {
#define X(name, text, vector, kind) text,
#include "ptx/specials.def"
#undef X
    };
    static const char *const open[] = {
        [PTX_OPERAND_ADDRESS] = "[", [PTX_OPERAND_VECTOR] = "{", [PTX_OPERAND_PAIR] = "<", [PTX_OPERAND_LIST] = "("};
    static const char *const close[] = {
        [PTX_OPERAND_ADDRESS] = "]", [PTX_OPERAND_VECTOR] = "}", [PTX_OPERAND_PAIR] = ">", [PTX_OPERAND_LIST] = ")"};
    if (operand->negated) fputc('!', out);
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: fputs(function->registers[operand->index].name, out); break;
    case PTX_OPERAND_SPECIAL: fputs(specials[operand->index], out); break;
    case PTX_OPERAND_INTEGER: break;
    case PTX_OPERAND_FLOAT: fprintf(out, operand->single ? "0f%08llX" : "0d%016llX", (long long)operand->value); break;
    case PTX_OPERAND_VARIABLE: fputs(module->variables[operand->index].name, out); break;
    case PTX_OPERAND_FUNCTION: fputs(module->functions[operand->index].name, out); break;
    case PTX_OPERAND_LABEL:
        fprintf(out, "%s@%u", function->labels[operand->index].name, function->labels[operand->index].instr);
        break;
    case PTX_OPERAND_TARGETS: fputs(function->targets[operand->index].name, out); break;
    case PTX_OPERAND_SINK: fputc('_', out); break;
    default:
        fputs(open[operand->kind], out);
        for (uint32_t i = 0; i < operand->count; i++) {
            if (i > 0) fputs(", ", out);
            show_operand(module, function, operand->first + i, out);
        }
        break;
    }
    if (operand->component) fprintf(out, ".%c", "xyzw"[operand->component - 1]);
    if (operand->kind == PTX_OPERAND_INTEGER)
        fprintf(out, "%lld", (long long)operand->value);
    else if (operand->value && operand->kind != PTX_OPERAND_FLOAT)
        fprintf(out, "%+lld", (long long)operand->value);
    if (operand->kind >= PTX_OPERAND_ADDRESS && operand->kind <= PTX_OPERAND_LIST) fputs(close[operand->kind], out);
}

static const char *show(const struct ptx_module *module, uint32_t f) {
    static char text[4096];
    const struct ptx_function *function = &module->functions[f];
    FILE *out = fmemopen(text, sizeof text, "w");
    text[0] = '\0';
    for (uint32_t i = 0; i < function->instr_count; i++) {
        const struct ptx_instr *instr = &function->instrs[i];
        if (instr->guarded)
            fprintf(out, "@%s%s ", instr->guard_negated ? "!" : "", function->registers[instr->guard].name);
        fputs(ptx_mnemonic_name(instr->mnemonic), out);
        for (unsigned k = 0; k < instr->modifier_count; k++)
            fprintf(out, ".%s", instr->modifier[k] == PTX_MOD_other ? "?" : ptx_modifier_text(instr->modifier[k]));
        for (uint32_t k = 0; k < instr->count; k++) {
            fputs(k > 0 ? ", " : " ", out);
            show_operand(module, function, instr->first + k, out);
        }
        fputs("; ", out);
    }
    fclose(out);
    return text;
}

TEST("instructions of every shape are parsed completely") {
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"ret;", "ret; "},
        {"add.s32 %r1, %r2, -5;", "add.s32 %r1, %r2, -5; "},
        {"@p1 bra X; @!p2 exit; X: ret;", "@p1 bra X@2; @!p2 exit; ret; "},
        {"Y: bra.uni Y;", "bra.uni Y@0; "},
        {"ld.global.v4.f32 {%f1, %f2, _, %f4}, [%d1+-16];", "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%d1-16]; "},
        {"ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n+0];", "ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n]; "},
        {"st.shared.b32 [64], %r1;", "st.shared.b32 [64], %r1; "},
        {"ld.global.ro.L1::no_allocate.L2::128B.f32 %f1, [%d1 - 4];",
         "ld.global.ro.L1::no_allocate.L2::128B.f32 %f1, [%d1-4]; "},
        {"setp.lt.and.s32 p1|p2, %r1, 4, !p0;", "setp.lt.and.s32 <p1, p2>, %r1, 4, !p0; "},
        {"shfl.sync.bfly.b32 %r1|p1, %r2, 1, 31, -1;", "shfl.sync.bfly.b32 <%r1, p1>, %r2, 1, 31, -1; "},
        {"setp.eq.u32 p1|_, %r1, 0;", "setp.eq.u32 <p1, _>, %r1, 0; "},
        {"mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.z; mov.u32 %r3, %laneid;",
         "mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.z; mov.u32 %r3, %laneid; "},
        {"mov.b32 %r1, %envreg12; mov.u32 %r1, %pm3;", "mov.b32 %r1, %envreg+12; mov.u32 %r1, %pm+3; "},
        {"mov.u32 %r1, WARP_SZ; mov.u32 %r1, WARP_SZ-1;", "mov.u32 %r1, 32; mov.u32 %r1, 31; "},
        {"mov.f32 %f1, 0f3F800000; mov.f32 %f1, 1.5;", "mov.f32 %f1, 0f3F800000; mov.f32 %f1, 0d3FF8000000000000; "},
        {"mov.f32 %f1, v.x; mov.f32 v.a, %f2;", "mov.f32 %f1, v.x; mov.f32 v.w, %f2; "},
        {"mov.b64 {%r1, _}, %d1; mov.b64 %d1, {%r1, 0};", "mov.b64 {%r1, _}, %d1; mov.b64 %d1, {%r1, 0}; "},
        {"mov.u64 %d1, a+8; mov.u64 %d1, k;", "mov.u64 %d1, a+8; mov.u64 %d1, k; "},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];",
         "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}]; "},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};",
         "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1}; "},
        {"vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;", "vadd.u32.u32.u32; "},
        {"cp.async.ca.shared.global [%r1], [%d1], 16;", "cp.async.ca.shared.global [%r1], [%d1], 16; "},
        {"bar\n.sync 0;", "bar.sync 0; "},
        {";;{}{;}", ""},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s\n}", BODY_BEFORE, cases[i].text);
        struct ptx_module *module = parse(text);
        CHECK_EQ(show(module, 0), cases[i].shown);
        ptx_module_destroy(module);
    }
}

TEST("constant expressions evaluate as in C, in 64 bits") {
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"-7/2", -3},
        {"-7%3", -1},
        {"7-3-2", 2},
        {"1<<4|3", 19},
        {"0xF0>>4&6^1", 7},
        {"-16>>2", -4},
        {"1<<64", 0},
        {"~0", -1},
        {"!5", 0},
        {"!0", 1},
        {"!(3==3)", 0},
        {"2<3&&3<=3||0", 1},
        {"1>2?10:20", 20},
        {"1?2:0?3:4", 2},
        {"-1<0", 1},
        {"-1<0U", 0},
        {"-1/2U", INT64_MAX},
        {"(.u64)-1/2", INT64_MAX},
        {"(.s64)-4/2", -2},
        {"(.s64)-9223372036854775808/-1", INT64_MIN},
        {"5!=5", 0},
        {"1.5>1", 1},
        {"2.0==2&&1", 1},
        {"+-+4", -4},
        {"(WARP_SZ-1)*2", 62},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%smov.b64 %%d1, %s;\n}", BODY_BEFORE, cases[i].text);
        struct ptx_module *module = parse(text);
        const struct ptx_function *k = &module->functions[0];
        const struct ptx_operand *operand = &k->operands[k->instrs[0].first + 1];
        CHECK_EQ(operand->kind, PTX_OPERAND_INTEGER);
        CHECK_EQ(operand->value, cases[i].value);
        ptx_module_destroy(module);
    }
    refuse(BODY("mov.b64 %d1, 1/0;"), "a.ptx:6:15: division by zero");
    refuse(BODY("mov.b64 %d1, 1.5&2;"), "'&' requires integers on both sides");
    refuse(BODY("mov.b64 %d1, ~1.5;"), "'~' requires an integer");
    refuse(BODY("mov.b64 %d1, (.s32)1;"), "found '.s32', expected '.s64' or '.u64'");
    refuse(BODY("ld.global.b64 %d1, [%d1+1.5];"), "found a float, expected an integer");
}

TEST("a module has a version, target and address size") {
    struct ptx_module *module =
        parse(".version 6.5 // x\n.target sm_90a, texmode_independent, debug\n.address_size 32");
    CHECK_EQ(module->version_major, 6u);
    CHECK_EQ(module->version_minor, 5u);
    CHECK_EQ(module->target, "sm_90a");
    CHECK_EQ(module->address_bits, 32u);
    CHECK_EQ(module->function_count, 0u);
    ptx_module_destroy(module);
    refuse("", "a.ptx:1:1: found the end of the file, expected '.version', the first directive of a PTX module");
    refuse("\177ELF", "byte 0x7f is not valid in PTX");
    refuse(".version 0.1", "found '0.1', expected a version");
    refuse(".version 7", "found '7', expected a version");
    refuse(".version 7.0\n.entry k(){}", "a.ptx:2:1: found '.entry', expected '.target' before the first declaration");
    refuse(".version 7.0", "expected '.target'");
    refuse(".version 7.0 .target gfx900", "found 'gfx900', expected a target, such as sm_70");
    refuse(".version 7.0 .target sm_70 .address_size 48", "an address size of 48 bits; expected 32 or 64");
}

TEST("a newer version or target is a warning, and the module is read") {
    static const struct {
        const char *text, *warning;
    } cases[] = {{".version 10.1 .target sm_80", "a.ptx:1:10: PTX 10.1 is newer than 9.0, the newest version"},
                 {".version 9.1\n.target sm_999z", "a.ptx:1:10: PTX 9.1 is newer"},
                 {".version 9.0\n.target sm_130", "a.ptx:2:9: the target sm_130 is not one that Sluice knows"},
                 {".version 9.0 .target sm_80a", "the target sm_80a is not"},
                 {".version 9.0 .target sm_100a", NULL},
                 {".version 9.0 .target sm_103f", NULL},
                 {".version 8.7 .target sm_120", NULL},
                 {".version 1.0 .target sm_10", NULL}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_module *module = parse(cases[i].text);
        CHECK_EQ(module->warning != NULL, cases[i].warning != NULL);
        if (cases[i].warning && module->warning) CHECK_TEXT(module->warning, cases[i].warning);
        CHECK_EQ(module->address_bits, 32u); /* the default */
        ptx_module_destroy(module);
    }
}

TEST("the semicolon of a function's prototype may be missing") {
    struct ptx_module *module = parse(HEAD ".extern .func (.param .b32 r) f (.param .b64 a)\n"
                                           ".func g (.param .b32 x) .noreturn\n"
                                           ".global .u32 t;\n.func h()\n.entry k() { call h, (); ret; }\n"
                                           ".func h() { ret; }\n.func last()");
    CHECK_EQ(module->function_count, 5u);
    CHECK(module->functions[1].noreturn && !module->functions[1].has_body && module->functions[2].has_body);
    ptx_module_destroy(module);
    refuse(HEAD ".func f() ret;", "found 'ret', expected '{', ';' or a directive");
    refuse(HEAD ".entry f()\n.entry g() { ret; }", "found '.entry', expected '{', ';' or a directive");
}

TEST("kernels and functions have their parameters, returns, linkage and limits") {
    struct ptx_module *module =
        parse(HEAD ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24])\n"
                   ".maxntid 128, 2\n.minnctapersm 3 .maxnreg 40 .reqntid 64,1,1 .explicitcluster\n"
                   ".reqnctapercluster 2, 1, 1 .maxclusterrank 8 .pragma \"nounroll\"; { ret; }\n"
                   ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
                   ".weak .func (.param .align 4 .b8 r[12]) g() { ret; }\n"
                   ".func stop(.param .b32 x) .noreturn { trap; }\n"
                   ".func (.reg .u32 o) h(.reg .u32 i, .reg .f64 j) { mov.u32 o, i; ret; }");
    REQUIRE(module->function_count == 5);
    const struct ptx_function *k = &module->functions[0], *h = &module->functions[4];
    CHECK(k->is_kernel && k->has_body);
    CHECK_EQ(k->linkage, PTX_LINKAGE_VISIBLE);
    CHECK_EQ(k->max_threads[0], 128u);
    CHECK_EQ(k->max_threads[1], 2u);
    CHECK_EQ(k->max_threads[2], 1u);
    CHECK_EQ(k->required_threads[0], 64u);
    CHECK_EQ(k->min_ctas, 3u);
    CHECK_EQ(k->max_registers, 40u);
    REQUIRE(k->parameter_count == 2);
    const struct ptx_variable *a = &module->variables[k->parameters[0]], *s = &module->variables[k->parameters[1]];
    CHECK_EQ(a->name, "a");
    CHECK_EQ(a->size_bytes, 8u);
    CHECK_EQ(a->align_bytes, 8u); /* .align after .ptr applies to the target */
    CHECK(a->is_parameter && a->space == PTX_SPACE_PARAM && a->function == 0);
    CHECK_EQ(s->size_bytes, 24u);
    CHECK_EQ(s->align_bytes, 8u);
    CHECK_EQ(module->functions[1].linkage, PTX_LINKAGE_EXTERN);
    CHECK(!module->functions[1].has_body);
    CHECK_EQ(module->functions[1].parameter_count, 2u);
    CHECK_EQ(module->functions[2].linkage, PTX_LINKAGE_WEAK);
    CHECK(module->variables[module->functions[2].returns[0]].is_return);
    CHECK_EQ(module->variables[module->functions[2].returns[0]].size_bytes, 12u);
    CHECK_EQ(module->variables[module->functions[2].returns[0]].function, 2u);
    CHECK(module->functions[3].noreturn);
    CHECK_EQ(show(module, 4), "mov.u32 o, i; ret; ");
    const struct ptx_variable *o = &module->variables[h->returns[0]], *j = &module->variables[h->parameters[1]];
    CHECK_EQ(h->registers[o->register_index].name, "o");
    CHECK_EQ(h->registers[j->register_index].type, PTX_f64);
    CHECK_EQ(j->size_bytes, 8u);
    CHECK_EQ(a->register_index, PTX_NONE);
    CHECK_EQ(ptx_find_function(module, "stop"), 3u);
    CHECK_EQ(ptx_find_function(module, "nobody"), PTX_NONE);
    ptx_module_destroy(module);
}

TEST("a declaration and its definition are one function and must match") {
    struct ptx_module *module = parse(HEAD ".func (.param .b32 r) f(.param .b64 x);\n"
                                           ".entry k() { .param .b32 q; .param .b64 w; call (q), f, (w); ret; }\n"
                                           ".visible .func (.param .b32 r) f(.param .b64 y) { .reg .b64 d;\n"
                                           "ld.param.b64 d, [y]; ret; }\n"
                                           ".func (.param .b32 r) f(.param .b64 again);");
    REQUIRE(module->function_count == 2);
    CHECK_EQ(show(module, 0), "ld.param.b64 d, [y]; ret; ");
    CHECK_EQ(show(module, 1), "call (q), f, (w); ret; ");
    CHECK(module->functions[0].has_body);
    CHECK_EQ(module->variables[module->functions[0].parameters[0]].name, "y");
    ptx_module_destroy(module);
    refuse(HEAD ".func f();\n.func f(.param .b32 x) {}", "a.ptx:5:7: 'f' has 1 parameters, but 0 where it is declared "
                                                         "on line 4");
    refuse(HEAD ".func f(.param .b64 x);\n.func f(.param .b32 x) {}",
           "parameter 1 of 'f' has 4 bytes, but 8 where it is declared on line 4");
    refuse(HEAD ".func f() {}\n.func f() {}", "a.ptx:5:11: 'f' already has a body, on line 4");
    refuse(HEAD ".func f();\n.entry f() {}", "'f' is declared as a function on line 4");
    refuse(HEAD ".global .b32 f;\n.func f();", "'f' is already declared on line 4");
}

TEST("calls are direct, by prototype or by a target list") {
    struct ptx_module *module =
        parse(HEAD ".func (.param .b32 r) f(.param .b32 x); .func g(); .func h();\n"
                   ".entry k() { .reg .b64 %d<2>; .reg .b32 i; .param .b32 q; .param .align 8 .b8 w[16];\n"
                   "call g; call.uni g, (); call (q), f, (7);\n"
                   "p0 : .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16], .param .b64 _);\n"
                   "p1: .callprototype ()_ () .noreturn; p2: .callprototype _;\n"
                   "call (q), %d1, (w, %d1), p0; call %d1, p1;\n"
                   "list: .calltargets g, h; call %d1, list;\n"
                   "L0: ret; where: .branchtargets L0, L1, L0; brx.idx i, where; L1: }");
    const struct ptx_function *k = &module->functions[3];
    CHECK_EQ(show(module, 3), "call g; call.uni g, (); call (q), f, (7); call (q), %d1, (w, %d1), p0; call %d1, p1; "
                              "call %d1, list; ret; brx.idx i, where; ");
    REQUIRE(k->target_count == 5);
    CHECK_EQ(k->targets[0].kind, PTX_CALL_PROTOTYPE);
    CHECK_EQ(k->targets[0].return_count, 1u);
    CHECK_EQ(k->targets[0].return_bytes[0], 4u);
    CHECK_EQ(k->targets[0].parameter_count, 2u);
    CHECK_EQ(k->targets[0].parameter_bytes[0], 16u);
    CHECK_EQ(k->targets[0].parameter_bytes[1], 8u);
    CHECK_EQ(k->targets[0].parameter_bytes[2], 8u);
    CHECK_EQ(k->targets[1].return_count + k->targets[1].parameter_count, 0u);
    CHECK_EQ(k->targets[3].kind, PTX_CALL_TARGETS);
    REQUIRE(k->targets[3].count == 2);
    CHECK_EQ(k->targets[3].index[1], 2u);
    CHECK_EQ(k->targets[4].kind, PTX_BRANCH_TARGETS);
    REQUIRE(k->targets[4].count == 3);
    CHECK_EQ(k->targets[4].return_count, 0u);
    CHECK_EQ(k->labels[k->targets[4].index[0]].instr, 6u);
    CHECK_EQ(k->labels[k->targets[4].index[1]].instr, 8u); /* after the last */
    CHECK_EQ(variable(module, "w")->function, 3u);
    CHECK(!variable(module, "_"));
    ptx_module_destroy(module);
    refuse(BODY("call nobody;"), "a.ptx:6:6: unknown function 'nobody'");
    refuse(BODY("call (%r1), nobody, (%r2);"), "a.ptx:6:13: unknown function 'nobody'");
    refuse(BODY("call k, (nothing);"), "unknown register or variable 'nothing'");
    refuse(BODY("call %d1, (%r1), proto;"), "a.ptx:6:18: unknown label 'proto'");
    refuse(BODY("x: .calltargets k, j;"), "a.ptx:6:20: ");
    refuse(BODY(".branchtargets a, b;"), "a target list needs a name; expected 'name:' before it");
    refuse(BODY("x: .branchtargets y; y: .branchtargets x;"), "found a target list, expected a label");
}

TEST("an alias refers to its function") {
    struct ptx_module *module = parse(HEAD ".func a(); .entry k() { call a; }\n.func b() { ret; }\n.alias a, b;\n"
                                           ".global .u64 p = a;");
    CHECK_EQ(show(module, 1), "call b; ");
    CHECK_EQ(variable(module, "p")->relocations[0].index, 2u);
    ptx_module_destroy(module);
    refuse(HEAD ".func a(); .func b();\n.alias a, b;", "a.ptx:5:11: 'b' has no body");
    refuse(HEAD ".func ab();\n.alias ac, ab;", "unknown function 'ac'; did you mean 'ab'?");
}

TEST("only the used registers of a range exist") {
    struct ptx_module *module =
        parse(BODY(".reg .f64 %x<1000000>; add.f64 %x999999, %x0, %x999999; .reg .b32 one, %r1<3>;\n"
                   "mov.b32 one, %r12; mov.b32 one, %r8;"));
    const struct ptx_function *k = &module->functions[0];
    CHECK_EQ(show(module, 0), "add.f64 %x999999, %x0, %x999999; mov.b32 one, %r12; mov.b32 one, %r8; ");
    CHECK_EQ(k->register_count, 6u); /* v, one */
    for (uint32_t i = 0; i < k->register_count; i++)
        if (k->registers[i].name[1] == 'x') CHECK_EQ(k->registers[i].type, PTX_f64);
    CHECK_EQ(k->registers[0].name, "v");
    CHECK_EQ(k->registers[0].vector, 4u);
    ptx_module_destroy(module);
    refuse(BODY("mov.b32 %r1, %r9;"), "a.ptx:6:14: unknown register '%r9': line 5 declares %r<9>");
    refuse(BODY("mov.b32 %r01, 1;"), "unknown register '%r01'");
    refuse(BODY(".reg .b32 %z<4000000000>;"),
           "4000000000 is too large: expected a number of registers, at most 16777216");
    refuse(BODY(".reg .b32 %r<2>;"), "registers '%r<...>' are already declared on line 5");
    refuse(BODY(".reg .b32 v;"), "a.ptx:6:11: 'v' is already declared on line 5");
    refuse(BODY(".reg .b32 %laneid;"), "'%laneid' is a special register; expected another name");
    refuse(".version 1.4\n.target sm_13\n.tex .u32 t[2];\n", "found an array, expected a texture");
    refuse(BODY(".reg .texref t;"), "a register cannot have type .texref");
    refuse(BODY("mov.f32 %f1, %f2.x;"), "found '.x', but the register is not a vector");
}

TEST("an inner scope has its own registers, variables and labels") {
    struct ptx_module *module =
        parse(BODY("mov.b32 %r1, 1; { .reg .b64 %r<4>; mov.b64 %r1, 2; mov.b32 %r5, 3; } mov.b32 %r1, 4;\n"
                   "{ .reg .b16 %r1; L: bra L; bra M; M: { bra L; L: bra M; } }\n"
                   "{ L: bra L; M: bra N; } N: bra L; L:"));
    const struct ptx_function *k = &module->functions[0];
    const struct ptx_operand *pool = k->operands;
    uint32_t first = pool[k->instrs[0].first].index, inner = pool[k->instrs[1].first].index;
    CHECK(first != inner);
    CHECK_EQ(k->registers[inner].type, PTX_b64);
    CHECK_EQ(k->registers[pool[k->instrs[2].first].index].type, PTX_b32); /* beyond the inner range */
    CHECK_EQ(pool[k->instrs[3].first].index, first);
    CHECK_EQ(show(module, 0), "mov.b32 %r1, 1; mov.b64 %r1, 2; mov.b32 %r5, 3; mov.b32 %r1, 4; bra L@4; bra M@6; "
                              "bra L@7; bra M@6; bra L@8; bra N@10; bra L@11; ");
    ptx_module_destroy(module);
    refuse(BODY("{ .reg .b32 in; } mov.b32 in, 1;"), "unknown register or variable 'in'");
    refuse(BODY("{ IN: } bra IN;"), "a.ptx:6:13: unknown label 'IN'");
    refuse(BODY("A: A: ret;"), "a.ptx:6:4: label 'A' is already defined on line 6");
}

static uint64_t bits_at(const struct ptx_variable *variable, uint64_t offset, unsigned bytes) {
    uint64_t bits = 0;
    memcpy(&bits, variable->initial + offset, bytes);
    return bits;
}

TEST("variables have a space, a size, an alignment and initial bytes") {
    struct ptx_module *module =
        parse(HEAD ".visible .global .align 16 .b8 plain[40]; .global .u32 one = 7, two = -1, three[2] = {1};\n"
                   ".const .f32 c[2][3] = {{1.5, 0f40000000}, {-1, 2, 3}}; .const[2] .f64 d = 0.5;\n"
                   ".global .s16 flat[2][2] = {1, 2, 3, -4}; .global .v2 .u32 vec[2] = {{1, 2}, {3, 4}};\n"
                   ".global .b8 open[] = {1, 2, 0xFF, -128}; .global .b64 neg = -1; .global .u8 none[4] = {0, 0};\n"
                   ".extern .shared .align 8 .b8 dyn[]; .shared .v4 .f32 tile[8][8]; .weak .global .b128 w = {-2};\n"
                   ".extern .global .b32 late; .visible .global .b32 late = 5; .common .global .b32 com;\n"
                   ".global .attribute(.managed) .align 4 .u32 man = 1+2*3; .global .texref t; .global .surfref s;\n"
                   ".global .samplerref sr = { addr_mode_0 = wrap, filter_mode = nearest };\n"
                   ".global .b32 huge[1024][1024][1024]; .global .b8 zeros[4000000000] = {0};\n"
                   ".entry k() { .local .align 8 .b8 depot[48]; .shared .f64 x, y[2]; }");
    static const struct {
        const char *name;
        uint8_t space, linkage;
        uint64_t size;
        unsigned align;
        bool initialised;
    } cases[] = {
        {"plain", PTX_SPACE_GLOBAL, PTX_LINKAGE_VISIBLE, 40, 16, false},
        {"one", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 4, 4, true},
        {"three", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 8, 4, true},
        {"c", PTX_SPACE_CONST, PTX_LINKAGE_NONE, 24, 4, true},
        {"d", PTX_SPACE_CONST, PTX_LINKAGE_NONE, 8, 8, true},
        {"flat", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 8, 2, true},
        {"vec", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 16, 8, true},
        {"open", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 4, 1, true},
        {"none", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 4, 1, false},
        {"dyn", PTX_SPACE_SHARED, PTX_LINKAGE_EXTERN, 0, 8, false},
        {"tile", PTX_SPACE_SHARED, PTX_LINKAGE_NONE, 1024, 16, false},
        {"w", PTX_SPACE_GLOBAL, PTX_LINKAGE_WEAK, 16, 16, true},
        {"late", PTX_SPACE_GLOBAL, PTX_LINKAGE_VISIBLE, 4, 4, true},
        {"com", PTX_SPACE_GLOBAL, PTX_LINKAGE_COMMON, 4, 4, false},
        {"man", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 4, 4, true},
        {"t", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 8, 8, false},
        {"sr", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 8, 8, false},
        {"huge", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, UINT64_C(1) << 32, 4, false},
        {"zeros", PTX_SPACE_GLOBAL, PTX_LINKAGE_NONE, 4000000000, 1, false},
        {"depot", PTX_SPACE_LOCAL, PTX_LINKAGE_NONE, 48, 8, false},
        {"y", PTX_SPACE_SHARED, PTX_LINKAGE_NONE, 16, 8, false},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        const struct ptx_variable *v = variable(module, cases[i].name);
        REQUIRE(v);
        CHECK_EQ(v->space, cases[i].space);
        CHECK_EQ(v->linkage, cases[i].linkage);
        CHECK_EQ(v->size_bytes, cases[i].size);
        CHECK_EQ(v->align_bytes, cases[i].align);
        CHECK_EQ(v->initial != NULL, cases[i].initialised);
    }
    CHECK(variable(module, "dyn")->unsized && !variable(module, "open")->unsized);
    CHECK_EQ(variable(module, "y")->function, 0u);
    CHECK_EQ(variable(module, "one")->function, PTX_NONE);
    CHECK_EQ(bits_at(variable(module, "two"), 0, 4), 0xFFFFFFFFu);
    CHECK_EQ(bits_at(variable(module, "three"), 0, 8), 1u);
    CHECK_EQ(bits_at(variable(module, "c"), 0, 8), UINT64_C(0x400000003FC00000));
    CHECK_EQ(bits_at(variable(module, "c"), 8, 8), UINT64_C(0xBF80000000000000)); /* start of the second row */
    CHECK_EQ(bits_at(variable(module, "d"), 0, 8), UINT64_C(0x3FE0000000000000));
    CHECK_EQ(bits_at(variable(module, "flat"), 0, 8), UINT64_C(0xFFFC000300020001));
    CHECK_EQ(bits_at(variable(module, "vec"), 8, 8), UINT64_C(0x0000000400000003));
    CHECK_EQ(bits_at(variable(module, "open"), 0, 4), 0x80FF0201u);
    CHECK_EQ(bits_at(variable(module, "w"), 8, 8), UINT64_MAX);
    CHECK_EQ(bits_at(variable(module, "late"), 0, 4), 5u);
    CHECK_EQ(bits_at(variable(module, "man"), 0, 4), 7u);
    ptx_module_destroy(module);
}

TEST("an initialiser may contain addresses: complete, generic or by bytes") {
    struct ptx_module *module =
        parse(HEAD ".global .u32 x; .global .b8 y[9]; .func f();\n"
                   ".global .u64 p[5] = {x, generic(y)+4, f, generic(y+1), x-4};\n"
                   ".global .u32 q = x;\n"
                   ".global .b8 m[11] = {1, 0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x), 0xFF00000000(x),\n"
                   "0xFF0000000000(x), 0xFF000000000000(x), 0xFF00000000000000(x), 0xFF(generic(y)+2), 7};\n"
                   ".global .u64 self = self;");
    const struct ptx_variable *p = variable(module, "p"), *m = variable(module, "m");
    static const struct {
        uint64_t offset;
        uint32_t index;
        bool is_function, generic;
        int64_t addend;
    } cases[] = {{0, 0, false, false, 0},
                 {8, 1, false, true, 4},
                 {16, 0, true, false, 0},
                 {24, 1, false, true, 1},
                 {32, 0, false, false, -4}};
    REQUIRE(p->relocation_count == COUNT_OF(cases));
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        CHECK_EQ(p->relocations[i].offset, cases[i].offset);
        CHECK_EQ(p->relocations[i].index, cases[i].index);
        CHECK_EQ(p->relocations[i].is_function, cases[i].is_function);
        CHECK_EQ(p->relocations[i].generic, cases[i].generic);
        CHECK_EQ(p->relocations[i].addend, cases[i].addend);
        CHECK_EQ(p->relocations[i].bytes, 8u);
    }
    CHECK_EQ(variable(module, "q")->relocations[0].bytes, 4u);
    REQUIRE(m->relocation_count == 2);
    CHECK_EQ(m->relocations[0].offset, 1u);
    CHECK_EQ(m->relocations[0].bytes, 8u);
    CHECK_EQ(m->relocations[1].offset, 9u);
    CHECK_EQ(m->relocations[1].bytes, 1u);
    CHECK_EQ(m->relocations[1].addend, 2);
    CHECK_EQ(m->initial[0], 1u);
    CHECK_EQ(m->initial[10], 7u);
    CHECK_EQ(variable(module, "self")->relocation_count, 1u);
    ptx_module_destroy(module);
    refuse(HEAD ".global .u32 tabel; .global .u64 p = table;", "'table' is not a variable or function declared above; "
                                                               "did you mean 'tabel'?");
    refuse(HEAD ".global .u16 p = p;", "an address does not fit in .u16");
    refuse(HEAD ".global .b8 p[2] = {0xFF(p), 0xFF0000(p)};", "must be consecutive, starting with the lowest");
    refuse(HEAD ".global .b8 p[2] = {0xFFF(p)};", "the mask does not select 1 bytes for a .b8");
}

TEST("an invalid declaration is rejected at the position of the error") {
    static const struct {
        const char *text, *error;
    } cases[] = {
        {".global .u8 x = 256;", "a.ptx:4:17: 256 does not fit in .u8"},
        {".global .s16 x[2] = {-32769};", "-32769 does not fit in .s16"},
        {".global .u32 x[2] = {1, 2, 3};", "a.ptx:4:28: more values than elements"},
        {".global .u32 x[2][2] = {{1, 2, 3}};", "more values than elements"},
        {".global .u32 x[2] = {{{1}}};", "found '{', expected a value"},
        {".global .u32 x[2] = 1;", "found '1', expected '{'"},
        {".global .u32 x[2] = {1, 2;", "found ';', expected ',' or '}'"},
        {".global .u32 x = 1.5;", "found a float, expected a value of type .u32"},
        {".shared .u32 x = 1;", "only variables in .global and .const space can have an initialiser"},
        {".global .u32 x[];", "an array without a length must be .extern or have an initialiser"},
        {".global .u32 x[2][];", "found ']', expected a constant"},
        {".global .u32 x[-1];", "an array cannot have -1 elements"},
        {".global .u32 x[1073741825];", "an array must not exceed 4 GiB"},
        {".global .u32 x[4294967296][4294967296];", "an array must not exceed 4 GiB"},
        {".global .u32 x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];",
         "an array must have at most 16 dimensions"},
        {".global .b8 x[4000000000] = {1};", "initialised variables exceed 64 MiB in total"},
        {".global .b8 x[][2000000000] = {{}, {1}};", "initialised variables exceed 64 MiB in total"},
        {".global .pred x;", "a predicate cannot be in memory; declare it as a register"},
        {".global .align 3 .u32 x;", "a.ptx:4:16: alignment 3 is not a power of two"},
        {".global .u32 .u32 x;", "a.ptx:4:14: found '.u32', expected a name"},
        {".global x;", "found 'x', expected a type"},
        {".global .u32 x\n.global .u32 y;", "a.ptx:5:1: found '.global', expected ',' or ';'"},
        {".global .u32 x; .global .u32 x;", "'x' is already declared on line 4"},
        {".visible .reg .u32 x;", "found '.reg', expected '.entry', '.func' or a variable's space"},
        {".visble .entry k() {}", "unknown directive '.visble'; did you mean '.visible'?"},
        {".entry k(.local .u32 x) {}", "found '.local', expected '.param' or '.reg'"},
        {".entry (.param .u32 x) k() {}", "found '(', expected a kernel's name"},
        {".entry k() .maxntid x {}", "found 'x', expected a number"},
        {".entry k()\n{ ret;\n", "a.ptx:5:1: unterminated function; expected '}'\n{ ret;\n^"},
        {"mov.u32 a, b;", "found 'mov', expected a directive, such as '.entry'"},
        {".section .debug_info {", "'{' is not closed; expected '}'"},
        {".file 70000 \"x\"", "70000 is too large: expected a file's number, at most 65536"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "%s", cases[i].text);
        refuse(text, cases[i].error);
    }
}

TEST("no two modifiers have the same text") {
    for (unsigned i = 0; i < PTX_MOD_COUNT; i++)
        for (unsigned k = 0; k < i; k++) {
            bool same = strcmp(ptx_modifier_text(i), ptx_modifier_text(k)) == 0;
            if (same) printf("    .%s\n", ptx_modifier_text(i));
            CHECK(!same);
        }
}

TEST("the error of an invalid statement has the source line, a caret and what was expected") {
    refuse(BODY("\tadd.s32 \t%r1, %r2 %r3;"), "a.ptx:6:20: found '%r3', expected ',' or ';'\n"
                                              "\tadd.s32 \t%r1, %r2 %r3;\n"
                                              "\t        \t         ^");
    refuse(BODY("add.s32 %r1, %q2, %r3;"), "a.ptx:6:14: unknown register '%q2'; did you mean '%");
    refuse(BODY("mov.u32 %r1, %envreg32;"), "unknown register '%envreg32'; did you mean '%envreg31'?");
    refuse(BODY("ld.param.u64 %d1, [nn];"), "unknown register or variable 'nn'; did you mean 'n'?");
    refuse(BODY("LOOP: bra LOP;"), "a.ptx:6:11: unknown label 'LOP'; did you mean 'LOOP'?");
    refuse(BODY("@%r1 bra X;"), "'%r1' is not a predicate; expected a register of type .pred");
    refuse(BODY("@%laneid bra X;"), "'%laneid' is not a predicate");
    refuse(BODY("@p7 bra X;"), "unknown register 'p7': line 5 declares p<3>");
    refuse(BODY("@p1 {ret;}"), "found '{', expected an instruction");
    refuse(BODY("add.s32 %r1, %r2,;"), "found ';', expected an operand");
    refuse(BODY("ld.global.u32 %r1, [];"), "found ']', expected an address");
    refuse(BODY("ld.global.u32 %r1, [%d1+%d2];"), "found '%d2', expected a constant");
    refuse(BODY("ld.global.u32 %r1, [%d1, %d2];"), "found ',', expected ']'");
    refuse(BODY("mov.b64 %d1, {%r1, %r2;"), "found ';', expected ',' or '}'");
    refuse(BODY("mov.b32 %r1, {{{{{%r1}}}}};"), "operands are nested more than 4 levels deep");
    refuse(BODY(".loc 1 2"), "found '}', expected a number");
    refuse(BODY(".entry x() {}"),
           "found '.entry', expected a declaration, a directive of a function or an instruction");
    refuse(BODY("5;"), "found '5', expected an instruction, a label, a directive or '}'");
    refuse(BODY("ld.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.u32 %r1, [%d1];"), "more than 14 modifiers");
}

TEST("a body with an unknown special register, type or directive is skipped as text, with a hint") {
    skipped(BODY("mov.u32 %r1, %tix.x;"), "a.ptx:6:14: unknown register '%tix'; did you mean '%tid'?\n");
    skipped(BODY("{ mov.u32 %r1, %cluster_foo; } LOOP: bra LOOP;"), "unknown register '%cluster_foo'");
    skipped(BODY(".reg .b33 t;"), "a.ptx:6:6: found '.b33', expected a type; did you mean '.b");
    skipped(BODY(".reg .b256 %w<4>; mov.b256 %w1, %w2;"), "a.ptx:6:6: found '.b256', expected a type");
    skipped(BODY(".shared .b8 %reserved; mov.u64 %d1, %reserved_smem_offset_0; .hint 4; bra NOWHERE;"),
            "unknown directive '.hint'");
    skipped(HEAD ".entry k() .maxntidx 4 {}", "a.ptx:4:12: unknown directive '.maxntidx'; did you mean '.maxntid'?");
    skipped(HEAD ".entry k() .hint 4, x .maxntid 4 { ret; }", "unknown directive '.hint'");
    refuse(BODY("mov.u32 %r1, %tix.x; {"), "'{' is not closed");
    refuse(HEAD ".entry k() .hint", "expected");
    refuse(BODY("mov.u32 %r1, %cluster_foo;") "\n.entry k2() { bra X; }", "unknown label 'X'");
}

TEST("unknown instructions are skipped as text, with a hint") {
    unknown(BODY("ad.s32 %r1, %r2, %r3;"), "unknown instruction 'ad'; did you mean 'add'?");
    unknown(BODY("add.s23 %r1, %r2, %r3;"), "unknown modifier '.s23' of 'add'; did you mean '.s");
    unknown(BODY("ld.global.L2::129B.f32 %f1, [%d1];"), "did you mean '.L2::128B'?");
    unknown(BODY("@p1 glide.x::y [%nothing, {a; b}], (_|5)<>\"s\" ; ret;"), "unknown instruction 'glide'");
    unknown(BODY("ret; unknown;"), "unknown instruction 'unknown'");
    refuse(BODY("glide %r1"), "found '}', expected ';'");
    refuse(BODY("glide (%r1;"), "expected ';'");
    refuse(BODY("glide {%r1]};"), "expected");
    refuse(BODY("add.zz.zz"), "found '}', expected ';'");
}

TEST("a long source line is shortened around the caret") {
    char line[1001], text[4096];
    memset(line, ' ', 1000);
    line[1000] = '\0';
    snprintf(text, sizeof text, "%s%s?%s\n}", BODY_BEFORE, line, line);
    struct error err = {0};
    CHECK(!ptx_parse("a.ptx", text, strlen(text), &err));
    CHECK_TEXT(err.text, "a.ptx:6:1001: found '?'");
    const char *shown = strchr(err.text, '\n') + 1, *below = strchr(shown, '\n') + 1;
    CHECK(strlen(shown) < 300);
    CHECK_EQ(strchr(shown, '?') - shown, strchr(below, '^') - below);
}

TEST("debug information is skipped, and instructions have their source line") {
    struct ptx_module *module =
        parse(HEAD ".file 2 \"b.cu\", 1700000000, 99\n.file 1 \"a.cu\"\n@@DWARF .byte 0x1 } {\n"
                   ".entry k() { $L__begin:\nnop_is_a_label: .loc 1 7 3\nret;\n"
                   ".loc 2 9 1, function_name $L__info_string0+4, inlined_at 1 8 2\nexit; .pragma \"a\", \"b\"; }\n"
                   ".section .debug_str { $L__info_string0: .b8 1, 2, 255\n.b64 k+4\n.b32 .debug_abbrev { } }");
    CHECK_EQ(module->source_file_count, 3u);
    CHECK_EQ(module->source_files[2], "b.cu");
    CHECK(!module->source_files[0]);
    const struct ptx_instr *instrs = module->functions[0].instrs;
    CHECK_EQ(instrs[0].source_file, 1u);
    CHECK_EQ(instrs[0].source_line, 7u);
    CHECK_EQ(instrs[1].source_file, 2u);
    CHECK_EQ(instrs[1].source_line, 9u);
    CHECK_EQ(instrs[1].place.line, 11u);
    ptx_module_destroy(module);
}

TEST("a modifier has its column") {
    struct ptx_module *module = parse(BODY("@p1 add.sat .s32 %r1, %r1, 1;"));
    const struct ptx_instr *instr = &module->functions[0].instrs[0];
    CHECK_EQ(instr->place.column, 5u);
    CHECK_EQ(instr->modifier_column[0], 8u);
    CHECK_EQ(instr->modifier_column[1], 13u);
    ptx_module_destroy(module);
}

/* HEAD, then `before`, then `count` times `many`, then `after`. */
static char *repeated(const char *before, const char *many, unsigned count, const char *after) {
    size_t bytes = strlen(HEAD) + strlen(before) + count * strlen(many) + strlen(after) + 1;
    char *text = mem_alloc(bytes, 1), *at = text + sprintf(text, HEAD "%s", before);
    for (unsigned i = 0; i < count; i++) at += sprintf(at, "%s", many);
    strcpy(at, after);
    return text;
}

TEST("deep nesting is rejected") {
    static const struct {
        const char *before, *many, *error;
    } cases[] = {
        {".entry k() {", "{", "scopes are nested more than 256 levels deep"},
        {".global .u32 x = ", "(", "the expression is nested more than 100 levels deep"},
        {".global .u32 x = ", "-", "the expression is nested more than 100 levels deep"},
        {".global .u32 x = 1", "?1", "the expression is nested more than 100 levels deep"},
        {".global .u32 x[1] = ", "{", "found '{', expected a value"},
        {".entry k() { mov.b32 ", "{", "operands are nested more than 4 levels deep"},
        {".entry k() { ld.b32 ", "[", "operands are nested more than 4 levels deep"},
        {".section .x ", "{", "'{' is not closed"},
        {".global .attribute", "(", "'(' is not closed"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char *text = repeated(cases[i].before, cases[i].many, 100000, "");
        refuse(text, cases[i].error);
        free(text);
    }
}

TEST("a large module is parsed completely") {
    char *text = repeated(".entry k() { .reg .b32 %r<9>; .reg .pred p;",
                          "{ .reg .b32 t; A: @p bra A; mov.b32 t, %r3; @p bra END; }\n", 50000, " END: ret; }");
    struct ptx_module *module = parse(text);
    CHECK_EQ(module->functions[0].instr_count, 150001u);
    CHECK_EQ(module->functions[0].label_count, 50001u);
    CHECK_EQ(module->functions[0].register_count, 50002u);
    ptx_module_destroy(module);
    free(text);
}

TEST("a file that cannot be read is reported") {
    struct error err = {0};
    CHECK(!ptx_parse_file("/nowhere/a.ptx", &err));
    CHECK_TEXT(err.text, "/nowhere/a.ptx: No such file or directory");
    err = (struct error){0};
    CHECK(!ptx_parse_file("/", &err));
    CHECK_TEXT(err.text, "/: Is a directory");
}
