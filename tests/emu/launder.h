/* Kernels that hide a pointer and then store through it. A step computes a value from itself in a way that loses its
 * type or its origin; a join mixes it with another pointer. Steps are PTX with placeholders:
 *   $ the value   # the result   ~ another pointer   ^ the address of 64 bytes of scratch memory   & a number for labels */
#ifndef SLUICE_TESTS_EMU_LAUNDER_H
#define SLUICE_TESTS_EMU_LAUNDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"
#include "stream/trace.h"
#include "test.h"

struct launder_step {
    const char *name, *text;
    bool for_addresses; /* only for values below 2^36 and divisible by 256 */
};

#define JOINED "cvt.u64.u32 %y1, %w1; cvt.u64.u32 %y2, %w2; shl.b64 %y2, %y2, 32; or.b64 #, %y1, %y2;"
#define HALVES "cvt.u32.u64 %w1, $; shr.u64 %y1, $, 32; cvt.u32.u64 %w2, %y1; "

static const struct launder_step launder_steps[] = {
    {"shifted to 32 bits and back", "shr.u64 %y1, $, 4; cvt.u32.u64 %w1, %y1; cvt.u64.u32 %y2, %w1; shl.b64 #, %y2, 4;",
     true},
    {"multiplied by one", "mul.lo.u64 #, $, 1;", false},
    {"the product of mad", "mad.lo.u64 #, $, 1, 0;", false},
    {"multiplied by an odd number and its inverse", "mul.lo.u64 %y1, $, 0xAAAAAAAAAAAAAAAB; mul.lo.u64 #, %y1, 3;",
     false},
    {"the wide product of its halves",
     HALVES "mul.wide.u32 %y2, %w1, 1; mul.wide.u32 %y3, %w2, 65536; mul.lo.u64 %y3, %y3, 65536; add.s64 #, %y2, %y3;",
     false},
    {"quotient and remainder", "div.u64 %y1, $, 1000; rem.u64 %y2, $, 1000; mad.lo.u64 #, %y1, 1000, %y2;", false},
    {"unpacked and packed", "mov.b64 {%w1, %w2}, $; mov.b64 #, {%w1, %w2};", false},
    {"packed from quarters", "mov.b64 {%h1, %h2, %h3, %h4}, $; mov.b64 #, {%h1, %h2, %h3, %h4};", false},
    {"joined from halves by shift and or", HALVES JOINED, false},
    {"masked halves", "and.b64 %y1, $, 0xFFFFFFFF; and.b64 %y2, $, 0xFFFFFFFF00000000; or.b64 #, %y1, %y2;", false},
    {"a masked half and its complement", "and.b64 %y1, $, 65535; sub.s64 %y2, $, %y1; add.s64 #, %y2, %y1;", false},
    {"complemented twice", "not.b64 %y1, $; not.b64 #, %y1;", false},
    {"negated twice", "neg.s64 %y1, $; neg.s64 #, %y1;", false},
    {"subtracted from zero twice", "sub.s64 %y1, 0, $; sub.s64 #, 0, %y1;", false},
    {"reversed twice", "brev.b64 %y1, $; brev.b64 #, %y1;", false},
    {"doubled and halved", "add.s64 %y1, $, $; shr.u64 #, %y1, 1;", true},
    {"doubled, minus itself", "add.s64 %y1, $, $; sub.s64 #, %y1, $;", false},
    {"encrypted with a constant", "xor.b64 %y1, $, 0x5DEECE66D; xor.b64 #, %y1, 0x5DEECE66D;", false},
    {"encrypted with a pointer", "xor.b64 %y1, $, ~; xor.b64 #, %y1, ~;", false},
    {"a bit field", "bfe.u64 %y1, $, 0, 40; bfe.u64 %y2, $, 40, 24; bfi.b64 #, %y2, %y1, 40, 24;", false},
    {"a funnel shift",
     HALVES "shf.l.wrap.b32 %w3, %w1, %w2, 8; shf.r.wrap.b32 %w4, %w2, %w1, 24;\n"
            "shf.r.wrap.b32 %w1, %w1, %w1, 0; mov.b64 #, {%w1, %w2};",
     false},
    {"permuted bytes", HALVES "prmt.b32 %w1, %w1, 0, 0x0123; prmt.b32 %w1, %w1, 0, 0x0123; " JOINED, false},
    {"lop3 of halves", HALVES "lop3.b32 %w1, %w1, -1, 0, 0xC0; lop3.b32 %w2, %w2, 0, 0, 0xFC; " JOINED, false},
    {"a carry between halves",
     HALVES "add.cc.u32 %w1, %w1, -1; addc.u32 %w2, %w2, 0; sub.cc.u32 %w1, %w1, -1;\n"
            "subc.u32 %w2, %w2, 0; " JOINED,
     false},
    {"sad", "sad.u64 #, $, 0, 0;", true},
    {"converted to double", "cvt.rn.f64.u64 %g1, $; cvt.rzi.u64.f64 #, %g1;", true},
    {"converted to single in parts",
     "shr.u64 %y1, $, 20; cvt.rn.f32.u64 %f1, %y1; cvt.rzi.u64.f32 %y1, %f1; shl.b64 %y1, %y1, 20;\n"
     "and.b64 %y2, $, 0xFFFFF; cvt.rn.f32.u64 %f2, %y2; cvt.rzi.u64.f32 %y2, %f2; add.s64 #, %y1, %y2;",
     true},
    {"moved as double", "mov.b64 %g1, $; mov.f64 %g2, %g1; mov.b64 #, %g2;", false},
    {"exchanged between lanes",
     HALVES "shfl.sync.idx.b32 %w1, %w1, 0, 31, -1; shfl.sync.bfly.b32 %w2, %w2, 1, 31, -1; " JOINED, false},
    {"the smaller of two", "min.u64 #, $, 0xFFFFFFFFFFFFFFFF;", false},
    {"the larger of two", "max.u64 #, $, 0;", false},
    {"reduced by a warp", HALVES "redux.sync.max.u32 %w1, %w1, -1; redux.sync.or.b32 %w2, %w2, -1; " JOINED, false},
    {"loaded as double from local memory", "st.local.u64 [slot], $; ld.local.f64 %g1, [slot]; mov.b64 #, %g1;", false},
    {"loaded as halves from local memory", "st.local.u64 [slot], $; ld.local.v2.u32 {%w1, %w2}, [slot]; " JOINED,
     false},
    {"stored as halves to local memory",
     "mov.b64 {%w1, %w2}, $; st.local.u32 [slot], %w1; st.local.u32 [slot+4], %w2; ld.local.u64 #, [slot];", false},
    {"stored as double to local memory", "mov.b64 %g1, $; st.local.f64 [slot], %g1; ld.local.u64 #, [slot];", false},
    {"loaded as bytes from shared memory",
     "st.shared.u64 [^], $; ld.shared.v4.u8 {%w1, %w2, %w3, %w4}, [^]; ld.shared.u32 %w5, [^+4];\n"
     "shl.b32 %w2, %w2, 8; shl.b32 %w3, %w3, 16; shl.b32 %w4, %w4, 24; or.b32 %w1, %w1, %w2;\n"
     "or.b32 %w1, %w1, %w3; or.b32 %w1, %w1, %w4; mov.u32 %w2, %w5; " JOINED,
     false},
    {"stored as quarters to shared memory",
     "mov.b64 {%h1, %h2, %h3, %h4}, $; st.shared.v4.b16 [^], {%h1, %h2, %h3, %h4}; ld.shared.u64 #, [^];", false},
    {"exchanged in shared memory", "st.shared.u64 [^], $; atom.shared.exch.b64 #, [^], 0;", false},
    {"added up in shared memory", "st.shared.u64 [^], 0; atom.shared.add.u64 %y1, [^], $; ld.shared.u64 #, [^];",
     false},
    {"through global memory", "st.global.u64 [%s], $; ld.global.u64 #, [%s];", false},
    {"through global memory as double", "st.global.u64 [%s], $; ld.global.f64 %g1, [%s]; mov.b64 #, %g1;", false},
    {"through global memory as halves", "st.global.u64 [%s], $; ld.global.v2.u32 {%w1, %w2}, [%s]; " JOINED, false},
    {"exchanged in global memory", "st.global.u64 [%s], $; atom.global.exch.b64 #, [%s], 0;", false},
    {"through a generic address of local memory",
     "mov.u64 %y1, slot; cvta.local.u64 %y1, %y1; st.u64 [%y1], $; ld.v2.u32 {%w1, %w2}, [%y1]; " JOINED, false},
    {"through a generic address of shared memory", "cvta.shared.u64 %y1, ^; st.u64 [%y1], $; ld.shared.u64 #, [^];",
     false},
    {"returned by a function",
     ".param .b64 p0; .param .b64 q; st.param.b64 [p0], $; call.uni (q), same, (p0); ld.param.b64 #, [q];", false},
    {"passed as halves",
     HALVES ".param .b32 p0; .param .b32 p1; .param .b64 q; st.param.b32 [p0], %w1; st.param.b32 [p1], %w2;\n"
            "call.uni (q), joins, (p0, p1); ld.param.b64 #, [q];",
     false},
    {"returned as halves",
     ".param .b64 p0; .param .align 8 .b8 q[8]; st.param.b64 [p0], $; call.uni (q), splits, (p0);\n"
     "ld.param.b32 %w1, [q]; ld.param.b32 %w2, [q+4]; " JOINED,
     false},
    {"stored as halves to a parameter",
     HALVES
     ".param .b64 p0; .param .b64 q; st.param.b32 [p0], %w1; st.param.b32 [p0+4], %w2; call.uni (q), same, (p0);\n"
     "ld.param.b64 #, [q];",
     false},
    {"passed in registers", "call (#), plain, ($);", false},
    {"passed in a structure",
     ".param .align 8 .b8 p0[16]; .param .align 8 .b8 q[16]; st.param.b64 [p0], 3; st.param.b64 [p0+8], $;\n"
     "call.uni (q), swaps, (p0); ld.param.b64 #, [q];",
     false},
    {"returned by an indirect call",
     "mov.u64 %y1, same; .param .b64 p0; .param .b64 q; st.param.b64 [p0], $;\n"
     "P&: .callprototype (.param .b64 _) _ (.param .b64 _); call (q), %y1, (p0), P&; ld.param.b64 #, [q];",
     false},
    {"in a loop",
     "mul.lo.u64 %y1, $, 1; mov.u32 %w1, 0; L&: add.s64 %y1, %y1, 16; add.u32 %w1, %w1, 1;\n"
     "setp.lt.u32 %q1, %w1, 4; @%q1 bra L&; sub.s64 #, %y1, 64;",
     false},
    {"an offset to another pointer", "sub.s64 %y1, $, ~; add.s64 #, %y1, ~;", false},
    {"a product as offset to another pointer", "sub.s64 %y1, $, ~; mul.lo.u64 %y1, %y1, 1; add.s64 #, ~, %y1;", false},
    {"a wide product as index of another pointer",
     "sub.s64 %y1, $, ~; shr.s64 %y1, %y1, 2; cvt.u32.u64 %w1, %y1; mul.wide.s32 %y2, %w1, 4; add.s64 #, ~, %y2;",
     true},
    {"an index of mad.wide", "sub.s64 %y1, $, ~; shr.s64 %y1, %y1, 2; cvt.u32.u64 %w1, %y1; mad.wide.s32 #, %w1, 4, ~;",
     true},
    {"twice the pointer, as offset to another",
     "add.s64 %y1, $, $; sub.s64 %y1, %y1, $; sub.s64 %y1, %y1, ~; shl.b64 %y1, %y1, 0; add.s64 #, ~, %y1;", false},
    {"a masked part, as offset to another",
     "and.b64 %y1, $, 65535; sub.s64 %y2, $, %y1; sub.s64 %y2, %y2, ~; add.s64 %y2, %y2, ~; add.s64 #, %y2, %y1;",
     false},
    {"an offset stored in global memory",
     "sub.s64 %y1, $, ~; shr.s64 %y1, %y1, 2; st.global.u32 [%s], %y1; ld.global.s32 %y2, [%s]; shl.b64 %y2, %y2, 2;\n"
     "add.s64 #, ~, %y2;",
     true},
    {"selected from another pointer", "selp.b64 #, $, ~, %p1;", false},
    {"slct from another pointer", "slct.b64.s32 #, $, ~, %n;", false},
    {"moved under a guard", "mov.u64 #, ~; @%p1 mov.u64 #, $;", false},
    {"the smaller of it and another pointer", "setp.lt.u64 %q1, $, ~; selp.b64 %y1, ~, -1, %q1; min.u64 #, $, %y1;",
     false},
    {"joined with another pointer", "mov.u64 %y1, $; @%p1 bra J&; mov.u64 %y1, ~; J&: mov.u64 #, %y1;", false},
    {"joined in local memory",
     "st.local.u64 [slot], ~; mul.lo.u64 %y1, $, 1; st.local.u64 [slot], %y1; ld.local.u64 #, [slot];", false},
};

/* Ways to read the pointer from the parameter `a` other than as one word at a constant address. */
static const struct launder_step launder_origins[] = {
    {"a parameter in halves", "ld.param.u32 %w1, [a]; ld.param.u32 %w2, [a+4]; " JOINED, false},
    {"a parameter as vector", "ld.param.v2.u32 {%w1, %w2}, [a]; mov.b64 #, {%w1, %w2};", false},
    {"a parameter in quarters", "ld.param.v4.u16 {%h1, %h2, %h3, %h4}, [a]; mov.b64 #, {%h1, %h2, %h3, %h4};", false},
    {"a parameter as double", "ld.param.f64 %g1, [a]; mov.b64 #, %g1;", false},
    {"a parameter at a computed address",
     "mov.b64 %y1, a; and.b32 %w1, %t, 0; mul.wide.u32 %y2, %w1, 8; add.s64 %y1, %y1, %y2; ld.param.u64 #, [%y1];",
     false},
    {"halves of a parameter at a computed address",
     "mov.b64 %y1, a; and.b32 %w1, %t, 0; mul.wide.u32 %y2, %w1, 8; add.s64 %y1, %y1, %y2; ld.param.u32 %w1, [%y1];\n"
     "ld.param.u32 %w2, [%y1+4]; " JOINED,
     false},
    {"a parameter at a generic address",
     "mov.b64 %y1, a; cvta.param.u64 %y1, %y1; ld.u32 %w1, [%y1]; ld.u32 %w2, [%y1+4]; " JOINED, false},
};

/* What the last instruction before the store mixes the hidden pointer with. */
static const struct launder_step launder_joins[] = {
    {"alone", "mov.u64 #, $;", false},
    {"selected", "selp.b64 #, $, ~, %p1;", false},
    {"guarded", "mov.u64 #, ~; @%p1 mov.u64 #, $;", false},
    {"branched", "mov.u64 %y1, $; @%p1 bra J&; mov.u64 %y1, ~; J&: mov.u64 #, %y1;", false},
    {"in local memory", "st.local.u64 [slot], ~; st.local.u64 [slot], $; ld.local.u64 #, [slot];", false},
    {"returned",
     ".param .b64 p0; .param .b64 p1; .param .b64 q; st.param.b64 [p0], $; st.param.b64 [p1], ~;\n"
     "call.uni (q), picks, (p0, p1, n0); ld.param.b64 #, [q];",
     false},
};

/* Pointers are in %a, %b, %c; %s is scratch memory; %n is 1 and %p1 true at run time. */
#define LAUNDER_START(modifier) \
    ".version 8.0\n.target sm_90\n.address_size 64\n" \
    ".func (.param .b64 r) same(.param .b64 x) { .reg .b64 %u; ld.param.b64 %u, [x]; st.param.b64 [r], %u; ret; }\n" \
    ".func (.param .b64 r) picks(.param .b64 x, .param .b64 y, .param .b32 which) { .reg .b64 %u<3>; .reg .b32 %v;\n" \
    ".reg .pred %q; ld.param.b64 %u1, [x]; ld.param.b64 %u2, [y]; ld.param.b32 %v, [which]; setp.ne.u32 %q, %v, 0;\n" \
    "selp.b64 %u1, %u1, %u2, %q; st.param.b64 [r], %u1; ret; }\n" \
    ".func (.param .b64 r) joins(.param .b32 l, .param .b32 h) { .reg .b32 %u<3>; .reg .b64 %v<3>;\n" \
    "ld.param.b32 %u1, [l]; ld.param.b32 %u2, [h]; cvt.u64.u32 %v1, %u1; cvt.u64.u32 %v2, %u2; shl.b64 %v2, %v2, 32;\n" \
    "or.b64 %v1, %v1, %v2; st.param.b64 [r], %v1; ret; }\n" \
    ".func (.param .align 8 .b8 r[8]) splits(.param .b64 x) { .reg .b64 %u<3>; .reg .b32 %v<3>; ld.param.b64 %u1, [x];\n" \
    "cvt.u32.u64 %v1, %u1; shr.u64 %u2, %u1, 32; cvt.u32.u64 %v2, %u2; st.param.b32 [r], %v1; st.param.b32 [r+4], %v2;\n" \
    "ret; }\n" \
    ".func (.param .align 8 .b8 r[16]) swaps(.param .align 8 .b8 s[16]) { .reg .b64 %u<3>; ld.param.b64 %u1, [s+8];\n" \
    "ld.param.b64 %u2, [s]; st.param.b64 [r], %u1; st.param.b64 [r+8], %u2; ret; }\n" \
    ".func (.reg .b64 %o) plain(.reg .b64 %i) { mul.lo.u64 %o, %i, 1; ret; }\n" \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 s, .param .u32 n) {\n" \
    ".reg .b64 %a, %b, %c, %s, %m, %z<64>; .reg .b32 %n, %t, %e<9>; .reg .pred %p<3>;\n" \
    ".local .align 8 .b8 slot[64]; .shared .align 8 .b8 tile[2048]; .param .b32 n0;\n" \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %s, [s]; ld.param.u32 %n, [n];\n" \
    "mov.u32 %t, %tid.x; mul.wide.u32 %m, %t, 64; add.s64 %s, %s, %m; mov.u64 %z0, tile; add.s64 %m, %m, %z0;\n" \
    "setp.ne.u32 %p1, %n, 0; st.param.b32 [n0], %n;\n" \
    "ld.global" modifier ".u32 %e1, [%a]; ld.global" modifier ".u32 %e2, [%b]; ld.global" modifier ".u32 %e3, [%c];\n"
#define LAUNDER_END "\nret;\n}\n"

static inline void launder_print(FILE *out, const struct launder_step *step, const char *from, const char *other,
                                 const char *to, unsigned label) {
    fputs("{ .reg .b64 %y<5>; .reg .b32 %w<6>; .reg .b16 %h<5>; .reg .f32 %f<3>; .reg .f64 %g<3>; .reg .pred %q<3>;\n",
          out);
    for (const char *at = step->text; *at; at++) switch (*at) {
        case '$': fputs(from, out); break;
        case '#': fputs(to, out); break;
        case '~': fputs(other, out); break;
        case '^': fputs("%m", out); break;
        case '&': fprintf(out, "%u", label); break;
        default: fputc(*at, out);
        }
    fputs(" }\n", out);
}

/* A run of a kernel (a, b, c, scratch, n = 1) by one warp. */
enum { LAUNDER_BUFFERS = 4, LAUNDER_BYTES = 4096 };
struct laundered {
    unsigned marked;     /* loads */
    uint64_t violations; /* lines */
    unsigned written;    /* a bit for each of a, b, c: its first word has changed */
    struct error err;
};

static inline bool launder_run_module(struct ptx_module *module, const char *kernel, struct laundered *result) {
    *result = (struct laundered){0};
    struct device device;
    device_init(&device);
    struct {
        uint64_t buffer[LAUNDER_BUFFERS];
        uint32_t n;
    } parameters = {.n = 1};
    for (unsigned i = 0; i < LAUNDER_BUFFERS; i++) {
        parameters.buffer[i] = memory_allocate(&device.memory, LAUNDER_BYTES);
        memset(memory_at(&device.memory, parameters.buffer[i], LAUNDER_BYTES), 0, LAUNDER_BYTES);
    }
    struct loaded_module *loaded = device_load(&device, module, &result->err);
    bool good = loaded;
    if (good) {
        const struct program *program = loaded_program(loaded);
        for (uint32_t i = 0; i < program->record_count; i++)
            result->marked += program->records[i].op == OP_load && (program->records[i].flags & INSTR_READ_ONLY);
        struct launch launch = {.module = loaded,
                                .kernel = program_kernel(program, kernel),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = (const uint8_t *)&parameters};
        struct kernel shape = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
        struct trace *trace = trace_create(&shape, program->records, program->record_count, TRACE_MEMORY_BYTES);
        struct emu_counts counts = {0};
        good = emu_run(&device, &launch, trace, &counts, &result->err);
        trace_finish(trace, good);
        trace_destroy(trace);
        result->violations = counts.read_only_violations;
        for (unsigned i = 0; i < 3; i++) {
            uint32_t word;
            memcpy(&word, memory_at(&device.memory, parameters.buffer[i], sizeof word), sizeof word);
            result->written |= (word != 0) << i;
        }
        device_unload(&device, loaded);
    }
    device_release(&device);
    return good;
}

static inline bool launder_run(const char *text, struct laundered *result) {
    struct error err = {0};
    struct ptx_module *module = ptx_parse("k.ptx", text, strlen(text), &err);
    bool good = module && launder_run_module(module, "k", result);
    if (!module) result->err = err;
    if (!good) printf("    %s\n%s", result->err.text, text);
    return good;
}

#endif
