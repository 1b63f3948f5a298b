/* Read-only data structures: verdicts on short kernels, each with one kind of pointer flow. */
#include "ptx/readonly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/program.h"
#include "test.h"

/* Kernel k of the pointers a, b and c and the number n, in %a, %b, %c and %n. Its body starts at line 8. */
#define KERNEL(declarations, body) \
    ".version 8.0\n.target sm_80\n.address_size 64\n" declarations "\n" \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n" \
    ".reg .b64 %a, %b, %c, %x<9>; .reg .b32 %n, %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>;\n" \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u32 %n, [n];\n" body "\nret;\n}\n"

struct fixture {
    struct ptx_module *module;
    struct program *program;
    char text[512]; /* "a reads, b written 8, c beyond 9": each structure of kernel k, its verdict and the line */
};

static bool fixture_open(struct fixture *x, const char *text) {
    static const char *const verdicts[] = {"reads", "written", "beyond"};
    struct error err = {0};
    *x = (struct fixture){.module = ptx_parse("k.ptx", text, strlen(text), &err)};
    x->program = x->module ? program_create(x->module, 0x1000, &err) : NULL;
    if (!x->program) return printf("    %s\n", err.text), false;
    const struct readonly *readonly = x->program->readonly;
    const struct readonly_kernel *kernel = &readonly->kernels[readonly->kernel_count - 1];
    size_t used = 0;
    for (uint32_t i = 0; i < kernel->structure_count && used < sizeof x->text; i++) {
        const struct readonly_structure *s = &kernel->structures[i];
        char name[64], line[16] = "";
        if (s->verdict != READONLY)
            snprintf(line, sizeof line, " %u", x->module->functions[s->by_function].instrs[s->by_instr].place.line);
        used += (size_t)snprintf(x->text + used, sizeof x->text - used, "%s%s %s%s", i ? ", " : "",
                                 readonly_name(x->module, s, name, sizeof name), verdicts[s->verdict], line);
    }
    return true;
}

static void fixture_close(struct fixture *x) {
    program_destroy(x->program);
    ptx_module_destroy(x->module);
}

/* The number of loads marked read-only in the stream. */
static unsigned marked(const struct fixture *x) {
    unsigned count = 0;
    for (uint32_t i = 0; i < x->program->record_count; i++)
        count += x->program->records[i].op == OP_load && (x->program->records[i].flags & INSTR_READ_ONLY);
    return count;
}

static void expect(const char *ptx, const char *verdicts, unsigned loads) {
    struct fixture x;
    REQUIRE(fixture_open(&x, ptx));
    CHECK_EQ(x.text, verdicts);
    CHECK_EQ(marked(&x), loads);
    fixture_close(&x);
}

TEST("data that is loaded and never stored is read-only") {
    expect(KERNEL("", "ld.global.f32 %f1, [%a];\nst.global.f32 [%b], %f1;"), "a reads, b written 9", 1);
}

TEST("an update in place is read-write, and so are atomics and reductions") {
    expect(KERNEL("", "ld.global.f32 %f1, [%a];\nst.global.f32 [%a+4], %f1;"), "a written 9", 0);
    expect(KERNEL("", "atom.global.add.u32 %r1, [%a], 1;\nred.global.add.u32 [%b], 1;\nld.global.u32 %r2, [%c];"),
           "a written 8, b written 9, c reads", 1);
}

TEST("addresses are traced through arithmetic") {
    expect(
        KERNEL("",
               "mul.wide.u32 %x1, %n, 4; add.s64 %x2, %a, %x1; mad.wide.u32 %x3, %n, 8, %b; sub.s64 %x4, %c, 8;\n"
               "and.b64 %x5, %x3, -128; ld.global.u32 %r1, [%x2]; st.global.u32 [%x5], %r1; ld.global.u32 %r2, [%x4];"),
        "a reads, b written 9, c reads", 2);
}

TEST("an index loaded from memory does not make a pointer unknown, whatever its width") {
    expect(KERNEL("", "ld.global.u32 %r1, [%a]; mul.wide.u32 %x1, %r1, 4; add.s64 %x2, %b, %x1;\n"
                      "st.global.u32 [%x2], %n;\n"
                      "ld.global.u64 %x3, [%a]; shl.b64 %x4, %x3, 3; add.s64 %x5, %x4, %b; st.global.u32 [%x5], %n;"),
           "a reads, b written 9", 2);
}

TEST("a store through a pointer from memory may write anywhere; a load through one is not marked") {
    expect(KERNEL("", "ld.global.u64 %x1, [%a];\nst.global.u32 [%x1], 1;\nld.global.u32 %r1, [%b];"),
           "a beyond 9, b beyond 9", 0);
    expect(KERNEL("", "ld.global.u64 %x1, [%a];\nld.global.u32 %r1, [%x1];\nst.global.u32 [%b], %r1;"),
           "a reads, b written 10", 1);
}

TEST("a pointer assembled from halves or from a number may point anywhere") {
    expect(KERNEL("", "ld.global.v2.u32 {%r1, %r2}, [%a]; mov.b64 %x1, {%r1, %r2};\nst.global.u32 [%x1], 1;"),
           "a beyond 9", 0);
    expect(KERNEL("", "mov.u64 %x1, 4096;\nst.global.u32 [%x1], 1; ld.global.u32 %r1, [%a];"), "a beyond 9", 0);
}

TEST("a store through a select may write to either operand") {
    expect(
        KERNEL("",
               "setp.eq.u32 %p1, %n, 0; selp.b64 %x1, %a, %b, %p1;\nst.global.u32 [%x1], 1; ld.global.u32 %r1, [%c];"),
        "a written 9, b written 9, c reads", 1);
}

TEST("a number remains visible next to a pointer: a store through a select of both may write anything") {
    expect(KERNEL("",
                  "setp.eq.u32 %p1, %n, 0; shr.u64 %x1, %a, 4; cvt.u32.u64 %r1, %x1; cvt.u64.u32 %x2, %r1;\n"
                  "shl.b64 %x3, %x2, 4; selp.b64 %x4, %b, %x3, %p1; ld.global.u32 %r2, [%a]; ld.global.u32 %r3, [%c];\n"
                  "st.global.u32 [%x4], 1;"),
           "a beyond 10, b written 10, c beyond 10", 0);
}

TEST("the null pointer does not") {
    expect(KERNEL("", "setp.eq.u32 %p1, %n, 0; selp.b64 %x1, %b, 0, %p1; ld.global.u32 %r2, [%a];\n"
                      "st.global.u32 [%x1+4], 1;"),
           "a reads, b written 9", 1);
    expect(KERNEL("", "setp.eq.u32 %p1, %n, 0; shl.b64 %x2, %a, 0; add.s64 %x3, %x2, 0; selp.b64 %x1, %b, %x3, %p1;\n"
                      "ld.global.u32 %r2, [%a]; st.global.u32 [%x1], 1;"),
           "a beyond 9, b written 9", 0);
}

TEST("an offset derived from a pointer may lead to its data") {
    expect(KERNEL("", "sub.s64 %x1, %a, %b; mul.lo.u64 %x2, %x1, 1; add.s64 %x3, %b, %x2; ld.global.u32 %r1, [%a];\n"
                      "ld.global.u32 %r2, [%c];\nst.global.u32 [%x3], 1;"),
           "a written 10, b written 10, c reads", 1);
}

TEST("the distance of two pointers to the same data is an index, not derived from them") {
    expect(KERNEL("", "mul.wide.u32 %x1, %n, 4; add.s64 %x2, %a, %x1; sub.s64 %x3, %x2, %a; shr.s64 %x3, %x3, 2;\n"
                      "shl.b64 %x4, %x3, 2; add.s64 %x5, %b, %x4; ld.global.u32 %r1, [%x2]; st.global.u32 [%x5], %r1;"),
           "a reads, b written 9", 1);
}

TEST("a 64-bit parameter that is only a factor of indices is a number") {
    expect(KERNEL("", "mul.wide.u32 %x1, %n, 4; mul.lo.s64 %x2, %x1, %c; add.s64 %x3, %a, %x2; add.s64 %x4, %b, %x2;\n"
                      "ld.global.u32 %r1, [%x3]; st.global.u32 [%x4], %r1;"),
           "a reads, b written 9", 1);
}

TEST("rounding to a small alignment keeps a pointer, other masks do not") {
    expect(KERNEL("", "and.b64 %x1, %b, -256; ld.global.u32 %r1, [%a]; st.global.u32 [%x1], %r1;"),
           "a reads, b written 8", 1);
    expect(KERNEL("", "and.b64 %x1, %b, -512; ld.global.u32 %r1, [%a]; st.global.u32 [%x1], %r1;"), "a beyond 8", 0);
    expect(KERNEL("", "and.b64 %x1, %b, 255; ld.global.u32 %r1, [%a]; st.global.u32 [%x1], %r1;"), "a beyond 8", 0);
}

TEST("pointers that a loop exchanges are traced") {
    expect(KERNEL("", "mov.u64 %x1, %a; mov.u64 %x2, %b;\n"
                      "LOOP: ld.global.u32 %r1, [%x1];\nst.global.u32 [%x2], %r1;\n"
                      "ld.global.u32 %r2, [%c];\n"
                      "mov.u64 %x3, %x1; mov.u64 %x1, %x2; mov.u64 %x2, %x3;\n"
                      "sub.u32 %n, %n, 1; setp.ne.u32 %p1, %n, 0; @%p1 bra LOOP;"),
           "a written 10, b written 10, c reads", 1);
}

TEST("a reused register has its last value") {
    expect(KERNEL("", "mov.u64 %x1, %a; ld.global.u32 %r1, [%x1]; mov.u64 %x1, %b;\nst.global.u32 [%x1], %r1;"),
           "a reads, b written 9", 1);
}

TEST("after a guarded write or a join, a register may have its old value") {
    expect(KERNEL("", "setp.eq.u32 %p1, %n, 0; mov.u64 %x1, %a; @%p1 mov.u64 %x1, %b;\nst.global.u32 [%x1], 1;"),
           "a written 9, b written 9", 0);
    expect(KERNEL("", "setp.eq.u32 %p1, %n, 0; mov.u64 %x1, %a; @%p1 bra JOIN; mov.u64 %x1, %b;\n"
                      "JOIN: st.global.u32 [%x1], 1;"),
           "a written 9, b written 9", 0);
}

TEST("generic addresses are traced, to global memory and elsewhere") {
    expect(KERNEL(".shared .align 4 .b8 tile[64];",
                  "cvta.to.global.u64 %x1, %a; cvta.global.u64 %x2, %x1; ld.u32 %r1, [%x2];\n"
                  "mov.u64 %x3, tile; cvta.shared.u64 %x4, %x3; st.u32 [%x4], %r1;\nst.u32 [%b], %r1;"),
           "a reads, b written 10", 1);
    expect(KERNEL(".shared .align 4 .b8 tile[64];",
                  "setp.eq.u32 %p1, %n, 0; mov.u64 %x3, tile; cvta.shared.u64 %x4, %x3;\n"
                  "selp.b64 %x5, %x4, %a, %p1; ld.u32 %r1, [%x5];"),
           "a reads", 0);
}

TEST("no member of a structure in memory is read-only if one is written") {
    expect(KERNEL("", "ld.global.f32 %f1, [%a];\nst.global.f32 [%a+16], %f1;"), "a written 9", 0);
}

#define PASSED \
    ".version 8.0\n.target sm_80\n.address_size 64\n" \
    ".visible .entry k(.param .align 16 .b8 s[24]) {\n.reg .b64 %x<9>; .reg .b32 %r<9>;\n"

TEST("each member of a structure passed by value is a separate pointer") {
    expect(PASSED "ld.param.v2.u64 {%x1, %x2}, [s]; ld.param.u64 %x3, [s+16];\nld.global.u32 %r1, [%x1];\n"
                  "st.global.u32 [%x2], %r1;\nld.global.u32 %r2, [%x3]; ret;\n}\n",
           "s+0 reads, s+8 written 8, s+16 reads", 2);
    expect(PASSED "mov.b64 %x4, s; mov.u64 %x5, %x4; add.s64 %x6, %x5, 8;\n"
                  "ld.param.u64 %x1, [%x5]; ld.param.u64 %x2, [%x6+8]; ld.global.u32 %r1, [%x1];\n"
                  "st.global.u32 [%x2], %r1; ret;\n}\n",
           "s+0 reads, s+16 written 8", 1);
}

TEST("an indexed parameter may be any of its pointers") {
    expect(PASSED "mov.b64 %x4, s; mov.u32 %r1, %tid.x; mul.wide.u32 %x5, %r1, 8; add.s64 %x6, %x4, %x5;\n"
                  "ld.param.u64 %x1, [%x6]; ld.param.u64 %x2, [s]; ld.global.u32 %r2, [%x2];\n"
                  "st.global.u32 [%x1], %r2; ret;\n}\n",
           "s+0 beyond 8", 0);
}

TEST("module variables are data structures") {
    expect(
        KERNEL(
            ".global .align 4 .b8 table[64]; .global .align 4 .b8 sums[64];",
            "mov.u64 %x1, table; ld.global.u32 %r1, [%x1+4]; ld.global.u32 %r2, [table];\nst.global.u32 [sums], %r1;"),
        "table reads, sums written 9", 2);
}

TEST("pointers are traced through local and shared memory") {
    expect(KERNEL(".shared .align 8 .b8 tile[64];",
                  ".local .align 8 .b8 slot[16];\nst.local.u64 [slot], %a; ld.local.u64 %x1, [slot];\n"
                  "st.shared.u64 [tile], %b; ld.shared.u64 %x2, [tile];\n"
                  "ld.global.u32 %r1, [%x1];\nst.global.u32 [%x2], %r1; ld.global.u32 %r2, [%c];"),
           "a reads, b written 12, c reads", 2);
}

#define FUNCTIONS \
    ".func (.param .b64 result) pick(.param .b64 x, .param .b64 y) { .reg .b64 %u<4>; ld.param.b64 %u1, [x];" \
    " st.param.b64 [result], %u1; ret; }" \
    ".func put(.param .b64 x) { .reg .b64 %u<4>; ld.param.b64 %u1, [x]; st.u32 [%u1], 1; ret; }" \
    ".func (.reg .b64 %out) same(.reg .b64 %in) { add.s64 %out, %in, 4; ret; }"
#define CALL_PUT(pointer) "{ .param .b64 p0; st.param.b64 [p0], " pointer "; call.uni put, (p0); }\n"

TEST("stores of a function apply to its arguments, and return values are traced") {
    expect(KERNEL(FUNCTIONS, "ld.global.u32 %r1, [%a]; ld.global.u32 %r2, [%b];\n" CALL_PUT("%b")),
           "a reads, b written 4", 1);
    expect(KERNEL(FUNCTIONS,
                  "{ .param .b64 p0; .param .b64 p1; .param .b64 q; st.param.b64 [p0], %a; st.param.b64 [p1], %b;\n"
                  "call.uni (q), pick, (p0, p1); ld.param.b64 %x1, [q]; }\n"
                  "st.global.u32 [%x1], 1; ld.global.u32 %r1, [%b]; ld.global.u32 %r2, [%a];"),
           "a written 10, b reads", 1);
    expect(KERNEL(FUNCTIONS, "call (%x1), same, (%c);\nst.global.u32 [%x1], 1; ld.global.u32 %r1, [%b];"),
           "b reads, c written 9", 1);
}

TEST("the members of a structure that is passed to a function are separate") {
    expect(
        KERNEL(".func puts(.param .align 8 .b8 s[16]) { .reg .b64 %u<4>; .reg .b32 %v; ld.param.b64 %u1, [s];"
               " ld.param.b32 %v, [s+8]; mul.wide.u32 %u2, %v, 4; add.s64 %u3, %u1, %u2; st.u32 [%u3], 1; ret; }",
               "{ .param .align 8 .b8 p0[16]; st.param.b64 [p0], %b; st.param.b32 [p0+8], %n; call.uni puts, (p0); }\n"
               "ld.global.u32 %r1, [%a];"),
        "a reads, b written 4", 1);
}

TEST("an indirect call may reach every function") {
    expect(KERNEL(FUNCTIONS, "mov.u64 %x1, put; { .param .b64 p0; st.param.b64 [p0], %b;\n"
                             "P: .callprototype _ (.param .b64 _); call %x1, (p0), P; }\nld.global.u32 %r1, [%b];"),
           "b written 4", 0);
}

TEST("heap memory belongs to no parameter") {
    expect(
        KERNEL(
            ".extern .func (.param .b64 r) malloc(.param .b64 n);",
            "{ .param .b64 p0; .param .b64 q; st.param.b64 [p0], 64; call.uni (q), malloc, (p0); ld.param.b64 %x1, [q]; }\n"
            "st.u32 [%x1], 1; ld.global.u32 %r1, [%a];"),
        "a reads", 1);
}

TEST("a load of a function called by two kernels is marked only if both agree") {
    expect(
        KERNEL(
            ".func (.reg .b32 %v) get(.reg .b64 %p) { ld.global.u32 %v, [%p]; ret; }\n"
            ".visible .entry writer(.param .u64 x) { .reg .b64 %y; .reg .b32 %z; ld.param.u64 %y, [x]; call (%z), get, (%y);"
            " st.global.u32 [%y], %z; ret; }",
            "call (%r1), get, (%a);"),
        "a reads", 0);
}

TEST("loads that observe concurrent writes are not marked; .nc and .ro are trusted") {
    expect(KERNEL("",
                  "ld.volatile.global.u32 %r1, [%a]; ld.relaxed.gpu.global.u32 %r2, [%a]; ld.global.cv.u32 %r3, [%a];"),
           "a reads", 0);
    expect(KERNEL("", "ld.global.nc.u32 %r1, [%a]; ld.global.ro.u32 %r2, [%a];\nst.global.u32 [%a], 1;"), "a written 9",
           2);
}

TEST("a texture is a data structure of its handle, and a surface store writes only its own") {
    expect(KERNEL("", "tex.2d.v4.f32.f32 {%f1, _, _, _}, [%a, {%f0, %f0}];\nld.global.f32 %f2, [%b];\n"
                      "sust.b.2d.b32.trap [%c, {%r0, %r0}], {%f1};"),
           "a reads, b reads, c written 10", 2);
    expect(KERNEL(".global .texref t; .global .surfref s;",
                  "tex.1d.v4.f32.s32 {%f1, _, _, _}, [t, {%r0}];\nld.global.f32 %f2, [%b];\n"
                  "sust.b.1d.b32.trap [s, {%r0}], {%f1};"),
           "t reads, s written 10, b reads", 2);
    /* A handle from memory may be any surface, bound to any memory. */
    expect(KERNEL("", "ld.global.u64 %x1, [%a];\nld.global.f32 %f2, [%b];\n"
                      "sust.b.1d.b32.trap [%x1, {%r0}], {%f1};"),
           "a beyond 10, b beyond 10", 0);
    expect(KERNEL("", "suld.b.1d.b32.trap {%f1}, [%a, {%r0}];\nsuld.b.1d.b32.trap {%f2}, [%b, {%r0}];\n"
                      "sust.b.1d.b32.trap [%b, {%r0}], {%f1};"),
           "a reads, b written 10", 1);
    /* A surface may hold a pointer. */
    expect(KERNEL("", "suld.b.1d.b64.trap {%x1}, [%a, {%r0}];\nst.global.f32 [%x1], %f0;\nld.global.f32 %f1, [%b];"),
           "a beyond 9, b beyond 9", 0);
    /* The size of a texture is a number, not derived from its address. */
    expect(KERNEL("", "txq.width.b32 %r1, [%a];\nmul.wide.u32 %x1, %r1, 4;\nadd.s64 %x1, %x1, %b;\n"
                      "st.global.f32 [%x1], %f0;\ntex.1d.v4.f32.s32 {%f1, _, _, _}, [%a, {%r0}];"),
           "a reads, b written 11", 1);
}

TEST("the reason gives instruction and line") {
    struct fixture x;
    char why[128];
    REQUIRE(fixture_open(
        &x, KERNEL(FUNCTIONS, "atom.global.add.u32 %r1, [%a], 1; ld.global.u32 %r2, [%c];\n" CALL_PUT("%b"))));
    const struct readonly_kernel *kernel = &x.program->readonly->kernels[0];
    REQUIRE(kernel->structure_count == 3);
    CHECK_EQ(readonly_why(x.module, &kernel->structures[0], why, sizeof why),
             "atom.global.add.u32 at line 8 writes it");
    CHECK_EQ(readonly_why(x.module, &kernel->structures[1], why, sizeof why), "st.u32 at line 4 of put writes it");
    CHECK_EQ(readonly_why(x.module, &kernel->structures[2], why, sizeof why), "1 instruction reads it, none writes it");
    fixture_close(&x);
}

TEST("a rewritten module has the same marked loads, and rewriting it again changes nothing") {
    struct fixture x, y;
    REQUIRE(fixture_open(
        &x,
        KERNEL("", "ld.global.f32 %f1, [%a]; ld.weak.global.cg.L2::128B.u32 %r1, [%a]; ld.global.nc.u32 %r2, [%a];\n"
                   "ld.global.f32 %f2, [%b]; st.global.f32 [%b], %f1;")));
    char *text = NULL, *again = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK_EQ(readonly_rewrite(x.module, x.program->readonly, out), 3u);
    fclose(out);
    CHECK_TEXT(text,
               "ld.global.ro.f32 %f1, [%a]; ld.weak.global.cg.ro.L2::128B.u32 %r1, [%a]; ld.global.nc.ro.u32 %r2");
    CHECK_TEXT(text, "ld.global.f32 %f2, [%b]");
    REQUIRE(fixture_open(&y, text));
    CHECK_EQ(marked(&y), marked(&x));
    out = open_memstream(&again, &bytes);
    CHECK_EQ(readonly_rewrite(y.module, y.program->readonly, out), 0u);
    fclose(out);
    CHECK_EQ(again, text);
    fixture_close(&x);
    fixture_close(&y);
    free(text);
    free(again);
}

TEST("pointers are traced through registers with offsets and through vectors") {
    expect(KERNEL("", "mov.u64 %x1, %a+4; st.global.u32 [%x1], 1; ld.global.u32 %r1, [%b];"), "a written 8, b reads",
           1);
    expect(KERNEL("", ".reg .v2 .b64 %v; mov.v2.b64 %v, {%a, %b}; st.global.u32 [%v.x], 1; ld.global.u32 %r1, [%c];"),
           "c beyond 8", 0);
}

TEST("kernels and functions that cannot be executed do not change verdicts") {
    /* `f` loads what its caller passes; `bad` could write it, but no launch of a kernel that calls it starts. */
#define LOADS \
    ".func f(.param .u64 p) { .reg .b64 %x; .reg .b32 %r; ld.param.u64 %x, [p]; ld.global.u32 %r, [%x]; ret; }\n" \
    ".func bad(.param .u64 p) { .reg .b64 %x; ld.param.u64 %x, [p]; $ st.global.u32 [%x], 1; ret; }\n" \
    ".entry other(.param .u64 q) { .reg .b64 %x; .param .u64 v; ld.param.u64 %x, [q]; st.param.u64 [v], %x; call f, (v); call bad, (v); ret; }\n"
    static const char text[] = KERNEL(
        LOADS,
        "{ .param .u64 v; st.param.u64 [v], %a; call f, (v); } p: .callprototype _ (.param .u64 _); { .param .u64 v; st.param.u64 [v], %b; call %c, (v), p; }");
    static const struct {
        const char *instruction, *verdicts;
        unsigned loads, kernels;
    } cases[] = {{"add.u64 %x, %x, 4;", "a reads, b written 5", 0, 2}, {"glide [%x], z;", "a reads, b reads", 1, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char whole[4096];
        const char *at = strchr(text, '$');
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)(at - text), text, cases[i].instruction, at + 1);
        struct fixture x;
        REQUIRE(fixture_open(&x, whole));
        CHECK_EQ(x.text, cases[i].verdicts);
        CHECK_EQ(marked(&x), cases[i].loads);
        CHECK_EQ(x.program->readonly->kernel_count, cases[i].kernels);
        fixture_close(&x);
    }
}

#define SHARED_BUFFER ".shared .align 16 .b8 s[64]; .shared .align 8 .b64 m;"

TEST("asynchronous copies read their source, and bulk copies from shared memory write their destination") {
    expect(KERNEL(SHARED_BUFFER, "cp.async.ca.shared.global [s], [%a], 4;\nst.global.f32 [%b], %f1;"),
           "a reads, b written 9", 1);
    expect(KERNEL(SHARED_BUFFER, "cp.async.cg.shared.global [s], [%a], 16;\ncp.async.wait_all;\n"
                                 "cp.async.bulk.global.shared::cta.bulk_group [%a], [s], 64;"),
           "a written 10", 0);
    expect(
        KERNEL(
            SHARED_BUFFER,
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%a], 64, [m];\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%b], [s], 64;\ncp.async.bulk.prefetch.L2.global [%c], 64;"),
        "a reads, b written 9", 1);
    expect(KERNEL(SHARED_BUFFER,
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%a], 32, [m];\n"
                  "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [s+32], [s], 32, [m];\n"
                  "cp.async.bulk.global.shared::cta.bulk_group [%b], [s], 64;"),
           "a reads, b written 10", 1);
}

TEST("an address that an asynchronous copy has moved to shared memory may refer to anything") {
    expect(KERNEL(SHARED_BUFFER, "cp.async.ca.shared.global [s], [%a], 8;\nld.shared.u64 %x1, [s];\n"
                                 "st.global.u32 [%x1], %n;\nld.global.u32 %r1, [%b];"),
           "a beyond 10, b beyond 10", 0);
    /* The address of a structure, through global and shared memory. */
    expect(KERNEL(SHARED_BUFFER, "st.global.u64 [%c], %b;\ncp.async.ca.shared.global [s], [%c], 8;\n"
                                 "ld.shared.u64 %x1, [s];\nst.global.u32 [%x1], %n;\nld.global.u32 %r1, [%a];"),
           "a beyond 11, c written 8", 0);
    /* Words of four bytes are numbers: an offset stays in its structure. */
    expect(KERNEL(SHARED_BUFFER, "cp.async.ca.shared.global [s], [%a], 4;\nld.shared.u32 %r1, [s];\n"
                                 "mul.wide.u32 %x1, %r1, 4; add.s64 %x1, %b, %x1;\nst.global.u32 [%x1], %n;"),
           "a reads, b written 11", 1);
}

TEST("states and counts of an mbarrier are numbers") {
    expect(KERNEL(SHARED_BUFFER,
                  "mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.shared.b64 %x1, [m];\n"
                  "mbarrier.pending_count.b64 %r1, %x1;\nmul.wide.u32 %x2, %r1, 4;\nadd.s64 %x2, %b, %x2;\n"
                  "st.global.u32 [%x2], %n;\nld.global.u32 %r2, [%a];"),
           "a reads, b written 13", 1);
}
