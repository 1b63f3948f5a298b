/* Matrices between memory and registers, wmma as a whole, and what the stream records of them. The table of mma.sync is
 * tests/ptx/conformance_matrix.txt. */
#include "emu/run_ptx.h"

/* ---- wmma ---- */

/* A type of elements: small integers are exact in each, and so are all sums. */
struct element {
    const char *name;
    unsigned bits;
    bool is_signed;
    enum { INTEGER, F16, BF16, F32, F64 } kind;
};

static uint64_t encoded(const struct element *e, int value) {
    float f = (float)value;
    double d = value;
    uint32_t word;
    uint64_t wide;
    memcpy(&word, &f, sizeof word);
    memcpy(&wide, &d, sizeof wide);
    switch (e->kind) {
    case F16: /* exact: at most eleven bits */
        return value == 0 ? 0 : (word >> 16 & 0x8000) | (((word >> 23 & 0xFF) - 127 + 15) << 10) | (word >> 13 & 0x3FF);
    case BF16: return word >> 16;
    case F32: return word;
    case F64: return wide;
    default: return (uint32_t)value & (e->bits < 32 ? (1u << e->bits) - 1 : UINT32_MAX);
    }
}

/* Element `index` of a packed array. */
static void put(uint8_t *memory, const struct element *e, uint64_t index, int value) {
    uint64_t bits = encoded(e, value);
    if (e->bits >= 8) {
        memcpy(memory + index * e->bits / 8, &bits, e->bits / 8);
        return;
    }
    uint8_t *byte = memory + index * e->bits / 8, shift = (uint8_t)(index * e->bits % 8);
    *byte = (uint8_t)((*byte & ~(((1u << e->bits) - 1) << shift)) | bits << shift);
}

struct wmma {
    const char *shape;
    unsigned m, n, k, a_registers, b_registers, c_registers, d_registers;
    const struct element *d, *a, *b, *c;
    const char *types, *suffix; /* of wmma.mma; its last modifiers */
};

enum { A_AT = 0, B_AT = 16384, C_AT = 32768, PAD = 16 };

static void fragment_write(FILE *out, char letter, unsigned count) {
    for (unsigned r = 0; r < count; r++) fprintf(out, "%s%%%c%u", r ? ", " : "{", letter, r);
    fputs("}", out);
}

/* Loads A, B and C, multiplies and stores D; in shared memory, or directly in global memory. */
static void wmma_write(FILE *out, const struct wmma *w, const char *layouts[4], bool shared) {
    const char *space = shared ? ".shared" : ".global", *base = shared ? "%s" : "%from";
    bool wide = w->a->kind == F64;
    unsigned counts[] = {w->d_registers, w->a_registers, w->b_registers, w->c_registers};
    fputs(
        PTX_HEADER
        ".visible .entry k(.param .u64 out, .param .u64 in) {\n"
        ".shared .align 128 .b8 all[49152];\n.reg .b64 %from, %to, %at; .reg .b32 %s, %t, %lane, %x; .reg .pred %p;\n",
        out);
    for (unsigned i = 0; i < 4; i++) fprintf(out, ".reg .b%u %%%c<%u>;\n", wide ? 64 : 32, "dabc"[i], counts[i]);
    fputs("ld.param.u64 %to, [out]; ld.param.u64 %from, [in]; mov.u32 %s, all; mov.u32 %lane, %tid.x;\n", out);
    if (shared) /* the input is copied by 32 lanes */
        fputs(
            "mul.lo.u32 %x, %lane, 4;\ncopy: cvt.u64.u32 %at, %x; add.s64 %at, %at, %from; ld.global.u32 %t, [%at];\n"
            "add.u32 %lane, %s, %x; st.shared.u32 [%lane], %t; add.u32 %x, %x, 128; setp.lt.u32 %p, %x, 49152; @%p bra copy;\n",
            out);
    const struct {
        char letter;
        const struct element *e;
        unsigned count, at, stride[2];
    } loads[] = {{'a', w->a, w->a_registers, A_AT, {w->k, w->m}},
                 {'b', w->b, w->b_registers, B_AT, {w->n, w->k}},
                 {'c', w->c, w->c_registers, C_AT, {w->n, w->m}}};
    for (unsigned i = 0; i < 3; i++) {
        bool col = strcmp(layouts[i], "col") == 0;
        fprintf(out, "wmma.load.%c.sync.aligned.%s.%s%s.%s ", loads[i].letter, layouts[i], w->shape, space,
                loads[i].e->name);
        fragment_write(out, loads[i].letter, loads[i].count);
        unsigned pad = loads[i].e->bits < 8 ? 128 : PAD;
        fprintf(out, ", [%s+%u], %u;\n", base, loads[i].at, loads[i].stride[col] + pad);
    }
    fprintf(out, "wmma.mma%s.sync.aligned.%s.%s.%s.%s ", w->suffix, layouts[0], layouts[1], w->shape, w->types);
    for (unsigned i = 0; i < 4; i++) {
        fragment_write(out, "dabc"[i], counts[i]);
        fputs(i < 3 ? ", " : ";\n", out);
    }
    fprintf(out, "wmma.store.d.sync.aligned.%s.%s.global.%s [%%to], ", layouts[3], w->shape, w->d->name);
    fragment_write(out, 'd', w->d_registers);
    fputs(";\nret;\n}\n", out); /* without a leading dimension: that of the matrix */
}

static int small(uint32_t *seed, const struct element *e) {
    *seed = *seed * 1664525 + 1013904223;
    int range = e->bits == 1 ? 2 : e->bits == 4 ? 8 : 15;
    int value = (int)((*seed >> 16) % (uint32_t)range);
    return e->is_signed || e->kind != INTEGER ? value - range / 2 : value;
}

static void wmma_check(const struct wmma *w, const char *layouts[4], bool shared) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    wmma_write(out, w, layouts, shared);
    fclose(out);
    struct ptx_run run = {0};
    bool loaded = run_load(&run, text);
    if (!loaded) printf("%s\n", text);
    REQUIRE(loaded);
    free(text);
    uint8_t *input = (uint8_t *)run_input(&run);
    uint32_t seed = 7;
    static int a[32][128], b[128][32];
    bool col[4];
    for (unsigned i = 0; i < 4; i++) col[i] = strcmp(layouts[i], "col") == 0;
    unsigned pad_a = w->a->bits < 8 ? 128 : PAD;
    for (unsigned i = 0; i < w->m; i++)
        for (unsigned k = 0; k < w->k; k++) {
            a[i][k] = small(&seed, w->a);
            put(input + A_AT, w->a, col[0] ? k * (w->m + pad_a) + i : i * (w->k + pad_a) + k, a[i][k]);
        }
    for (unsigned k = 0; k < w->k; k++)
        for (unsigned j = 0; j < w->n; j++) {
            b[k][j] = small(&seed, w->b);
            put(input + B_AT, w->b, col[1] ? j * (w->k + pad_a) + k : k * (w->n + pad_a) + j, b[k][j]);
        }
    static int c[32][32];
    for (unsigned i = 0; i < w->m; i++)
        for (unsigned j = 0; j < w->n; j++) {
            c[i][j] = small(&seed, w->c);
            put(input + C_AT, w->c, col[2] ? j * (w->m + PAD) + i : i * (w->n + PAD) + j, c[i][j]);
        }
    bool ran = run_loaded(&run, 1, 32);
    if (!ran) printf("    %s %s: %s\n", w->shape, w->types, run.err.text);
    REQUIRE(ran);
    const uint8_t *result = (const uint8_t *)run_u32(&run);
    unsigned wrong = 0;
    for (unsigned i = 0; i < w->m; i++)
        for (unsigned j = 0; j < w->n; j++) {
            int sum = c[i][j];
            for (unsigned k = 0; k < w->k; k++)
                sum += w->a->bits > 1             ? a[i][k] * b[k][j]
                       : strstr(w->suffix, "and") ? a[i][k] & b[k][j]
                                                  : a[i][k] ^ b[k][j];
            uint64_t wanted = encoded(w->d, sum), got = 0;
            memcpy(&got, result + (uint64_t)(col[3] ? j * w->m + i : i * w->n + j) * w->d->bits / 8, w->d->bits / 8);
            wrong += got != wanted;
        }
    if (!CHECK_EQ(wrong, 0u))
        printf("      %s %s, %s %s %s %s, %s\n", w->shape, w->types, layouts[0], layouts[1], layouts[2], layouts[3],
               shared ? "shared" : "global");
    run_end(&run);
}

TEST("wmma multiplies matrices of every shape, type and layout, from global and shared memory") {
    static const struct element f16 = {"f16", 16, true, F16}, bf16 = {"bf16", 16, true, BF16},
                                f32 = {"f32", 32, true, F32}, tf32 = {"tf32", 32, true, F32},
                                f64 = {"f64", 64, true, F64}, s8 = {"s8", 8, true, INTEGER},
                                u8 = {"u8", 8, false, INTEGER}, s4 = {"s4", 4, true, INTEGER},
                                u4 = {"u4", 4, false, INTEGER}, b1 = {"b1", 1, false, INTEGER},
                                s32 = {"s32", 32, true, INTEGER};
#define WHOLE(X, ...)  X(16, 16, __VA_ARGS__) X(8, 32, __VA_ARGS__) X(32, 8, __VA_ARGS__)
#define SHAPE(m, n, k) "m" #m "n" #n "k" #k, m, n, k
#define HALF(m, n, d, c, d_registers, c_registers) \
    {SHAPE(m, n, 16), 8, 8, c_registers, d_registers, &d, &f16, &f16, &c, #d "." #c, ""},
#define BRAIN(m, n)       {SHAPE(m, n, 16), (m) / 4, (n) / 4, 8, 8, &f32, &bf16, &bf16, &f32, "f32.bf16.bf16.f32", ""},
#define BYTES(m, n, x, y) {SHAPE(m, n, 16), (m) / 8, (n) / 8, 8, 8, &s32, &x, &y, &s32, "s32." #x "." #y ".s32", ""},
    static const struct wmma forms[] = {
        WHOLE(HALF, f16, f16, 4, 4) WHOLE(HALF, f32, f32, 8, 8) WHOLE(HALF, f32, f16, 8, 4) WHOLE(HALF, f16, f32, 4, 8)
            BRAIN(16, 16) BRAIN(8, 32) BRAIN(32, 8) WHOLE(BYTES, s8, s8) WHOLE(BYTES, u8, s8)
                WHOLE(BYTES, u8, u8){SHAPE(16, 16, 8), 4, 4, 8, 8, &f32, &tf32, &tf32, &f32, "f32.tf32.tf32.f32", ""},
        {SHAPE(8, 8, 4), 1, 1, 2, 2, &f64, &f64, &f64, &f64, "f64.f64.f64.f64", ""},
        {SHAPE(8, 8, 32), 1, 1, 2, 2, &s32, &s4, &u4, &s32, "s32.s4.u4.s32", ""},
        {SHAPE(8, 8, 32), 1, 1, 2, 2, &s32, &u4, &s4, &s32, "s32.u4.s4.s32", ""},
        {SHAPE(8, 8, 128), 1, 1, 2, 2, &s32, &b1, &b1, &s32, "s32.b1.b1.s32", ".xor.popc"},
        {SHAPE(8, 8, 128), 1, 1, 2, 2, &s32, &b1, &b1, &s32, "s32.b1.b1.s32", ".and.popc"}};
    static const char *const names[] = {"row", "col"};
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        for (unsigned l = 0; l < 16; l++) {
            const char *layouts[] = {names[l & 1], names[l >> 1 & 1], names[l >> 2 & 1], names[l >> 3]};
            if (forms[i].a->bits < 8 && (l & 3) != 2) continue; /* only row and col */
            wmma_check(&forms[i], layouts, l % 3 == 0);
        }
#undef WHOLE
#undef SHAPE
#undef HALF
#undef BRAIN
#undef BYTES
}

TEST("a fragment of wmma has the layout of mma: two blocks of eight rows, then along the row, then the next rows") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        PTX_KERNEL(
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd1];"
            "wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%rd1];"
            "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%r30,%r31,%r32,%r33,%r34,%r35,%r36,%r37}, [%rd1];"
            "mul.wide.u32 %rd3, %r0, 96; add.s64 %rd3, %rd3, %rd0;"
            "st.global.v4.u32 [%rd3], {%r10,%r11,%r12,%r13}; st.global.v4.u32 [%rd3+16], {%r14,%r15,%r16,%r17};"
            "st.global.v4.u32 [%rd3+32], {%r20,%r21,%r22,%r23}; st.global.v4.u32 [%rd3+48], {%r24,%r25,%r26,%r27};"
            "st.global.v4.u32 [%rd3+64], {%r30,%r31,%r32,%r33}; st.global.v4.u32 [%rd3+80], {%r34,%r35,%r36,%r37};")));
    uint16_t *halves = (uint16_t *)(void *)run_input(&run);
    for (unsigned i = 0; i < 512; i++)
        halves[i] = (uint16_t)i; /* element (r, c) is 16 r + c; as words, 32 r + 2 c is the low half */
    REQUIRE(run_loaded(&run, 1, 32));
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned r = 0; r < 8; r++) {
            const uint32_t *words = run_u32(&run) + lane * 24;
            unsigned block = r % 4, row = block % 2 * 8 + lane / 4, column = block / 2 * 8 + lane % 4 * 2;
            CHECK_EQ(words[r], (16 * row + column + 1) << 16 | (16 * row + column));
            unsigned k = block % 2 * 8 + lane % 4 * 2, n = block / 2 * 8 + lane / 4;
            CHECK_EQ(words[8 + r], (16 * (k + 1) + n) << 16 | (16 * k + n));
            unsigned i = r / 2 % 2 * 8 + lane / 4, j = r / 4 * 8 + lane % 4 * 2 + r % 2;
            CHECK_EQ(words[16 + r], (2 * (16 * i + j) + 1) << 16 | 2 * (16 * i + j));
        }
    run_end(&run);
}

/* ---- ldmatrix and stmatrix ---- */

#define SHARED_HALVES \
    ".shared .align 16 .b8 s[1024]; mov.u32 %r3, s; shl.b32 %r4, %r0, 5; add.u32 %r4, %r3, %r4;" \
    "mul.wide.u32 %rd3, %r0, 32; add.s64 %rd3, %rd3, %rd1; ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3]; st.shared.v4.u32 [%r4], {%r5,%r6,%r7,%r8};" \
    "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3+16]; st.shared.v4.u32 [%r4+16], {%r5,%r6,%r7,%r8}; bar.sync 0;" \
    "mad.lo.u32 %r4, %r0, 16, %r3;"

TEST("ldmatrix gives each lane two halves of a row, or of a column if transposed") {
    static const char *const forms[] = {"x1.shared.b16 {%r20}",
                                        "x2.shared.b16 {%r20,%r21}",
                                        "x4.shared.b16 {%r20,%r21,%r22,%r23}",
                                        "x1.trans.shared.b16 {%r20}",
                                        "x2.trans.shared.b16 {%r20,%r21}",
                                        "x4.trans.shared::cta.b16 {%r20,%r21,%r22,%r23}"};
    for (unsigned f = 0; f < COUNT_OF(forms); f++) {
        char text[2048];
        run_fill(
            text, sizeof text,
            PTX_KERNEL(
                SHARED_HALVES
                "ldmatrix.sync.aligned.m8n8.$, [%r4];"
                "mul.wide.u32 %rd3, %r0, 16; add.s64 %rd3, %rd3, %rd0; st.global.v4.u32 [%rd3], {%r20,%r21,%r22,%r23};"),
            forms[f]);
        struct ptx_run run = {0};
        REQUIRE(run_load(&run, text));
        uint16_t *halves = (uint16_t *)(void *)run_input(&run);
        for (unsigned i = 0; i < 512; i++) halves[i] = (uint16_t)(i * 3);
        REQUIRE(run_loaded(&run, 1, 32));
        unsigned count = 1u << f % 3;
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned m = 0; m < 4; m++) {
                unsigned outer = lane / 4, inner = lane % 4 * 2;
                unsigned first = f < 3 ? m * 64 + outer * 8 + inner : m * 64 + inner * 8 + outer;
                unsigned second = f < 3 ? first + 1 : first + 8;
                CHECK_EQ(run_u32(&run)[lane * 4 + m], m < count ? second * 3 << 16 | first * 3 : 0);
            }
        run_end(&run);
    }
}

TEST("stmatrix is the inverse of ldmatrix, also through a generic address") {
    static const char *const trans[] = {"", ".trans"};
    for (unsigned t = 0; t < 2; t++) {
        char text[2048], form[256];
        snprintf(
            form, sizeof form,
            "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r20,%%r21,%%r22,%%r23}, [%%r4]; add.u32 %%r4, %%r4, 1024;"
            "cvt.u64.u32 %%rd5, %%r4; cvta.shared.u64 %%rd5, %%rd5; stmatrix.sync.aligned.m8n8.x4%s.b16 [%%rd5], {%%r20,%%r21,%%r22,%%r23};",
            trans[t], trans[t]);
        run_fill(
            text, sizeof text,
            PTX_KERNEL(
                ".shared .align 16 .b8 s[2048];"
                "mov.u32 %r3, s; mul.lo.u32 %r4, %r0, 32; add.u32 %r4, %r3, %r4; mul.wide.u32 %rd3, %r0, 32; add.s64 %rd3, %rd3, %rd1;"
                "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3]; st.shared.v4.u32 [%r4], {%r5,%r6,%r7,%r8};"
                "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3+16]; st.shared.v4.u32 [%r4+16], {%r5,%r6,%r7,%r8}; bar.sync 0;"
                "mad.lo.u32 %r4, %r0, 16, %r3; $ bar.sync 0; mad.lo.u32 %r4, %r0, 32, %r3;"
                "mul.wide.u32 %rd3, %r0, 32; add.s64 %rd3, %rd3, %rd0;"
                "ld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r4+1024]; st.global.v4.u32 [%rd3], {%r5,%r6,%r7,%r8};"
                "ld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r4+1040]; st.global.v4.u32 [%rd3+16], {%r5,%r6,%r7,%r8};"),
            form);
        struct ptx_run run = {0};
        REQUIRE(run_load(&run, text));
        for (unsigned i = 0; i < 256; i++) run_input(&run)[i] = i * 0x9E3779B1u;
        REQUIRE(run_loaded(&run, 1, 32));
        for (unsigned i = 0; i < 128; i++) CHECK_EQ(run_u32(&run)[i], i * 0x9E3779B1u);
        run_end(&run);
    }
}

/* ---- faults ---- */

static void faults(const char *text, const char *with) {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, text, 1, 32));
    CHECK_TEXT(run.err.text, with);
    run_end(&run);
}

TEST("a matrix instruction that some lanes do not execute is a fault") {
    faults(
        PTX_KERNEL(
            "setp.lt.u32 %p1, %r0, 16;\n@%p1 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r3,%r4}, {%r5}, {%f1,%f2,%f3,%f4};"),
        "16 of 32 lanes execute this instruction together");
    faults(PTX_KERNEL("setp.lt.u32 %p1, %r0, 31; @%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r4;"),
           "31 of 32 lanes");
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r4;"), 1, 24));
    CHECK_TEXT(run.err.text, "24 of 32 lanes");
    run_end(&run);
}

TEST("accesses to matrices outside memory, misaligned or in another space are faults") {
#define LOAD_C(address, stride) \
    PTX_KERNEL("wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, " address stride ";")
    faults(LOAD_C("[%rd1+64]", ", 1091"), "reads 4 bytes of global memory"); /* the end of the last row is outside */
    faults(LOAD_C("[%rd1+2]", ""), "misaligned");
    faults(PTX_KERNEL(".local .b32 x[256]; mov.u64 %rd3, x; cvta.local.u64 %rd3, %rd3;"
                      "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd3];"),
           "global or shared memory");
    faults(PTX_KERNEL("wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r3}, [%rd1], 36;"), "a multiple of 8 elements");
    faults(PTX_KERNEL(".shared .align 16 .b8 s[128]; mov.u32 %r3, s; mad.lo.u32 %r3, %r0, 16, %r3;"
                      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4,%r5}, [%r3];"),
           "reads 16 bytes of shared memory");
    faults(PTX_KERNEL(".shared .align 16 .b8 s[256]; mov.u32 %r3, s; mad.lo.u32 %r3, %r0, 8, %r3;"
                      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];"),
           "misaligned");
    faults(PTX_KERNEL("ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [%rd1];"), "in shared memory");
#undef LOAD_C
}

/* ---- streams ---- */

static const struct instr *traced(struct ptx_run *run, struct run_stream *stream, const char *text, enum op_class op) {
    REQUIRE(run_trace(run, text, 1, 32, 0, 0, stream));
    const struct instr *instr = stream_find(stream, op, op == OP_load ? 2 : 0); /* after the two parameters */
    REQUIRE(instr);
    return instr;
}

TEST("the record of a product has its format and its multiply-adds") {
    static const struct {
        const char *text;
        enum tensor_format format;
        unsigned work;
    } cases[] = {
        {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, {%r3,%r4};",
         TENSOR_f16, 2048},
        {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r5,%r6}, {%r9}, {%f1,%f2,%f3,%f4};",
         TENSOR_f16_f32, 1024},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, {%f1,%f2,%f3,%f4};",
         TENSOR_tf32, 1024},
        {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1,%f2,%f3,%f4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, {%f1,%f2,%f3,%f4};",
         TENSOR_f8, 4096},
        {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%r3,%r4}, %r5, %r6, {%r3,%r4};", TENSOR_s8, 1024},
        {"mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%r3,%r4}, {%r5}, {%r6}, {%r3,%r4};", TENSOR_s4, 2048},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r3,%r4,%r5,%r6}, {%r7,%r8,%r9,%r10}, {%r11,%r12}, {%r3,%r4,%r5,%r6};",
         TENSOR_b1, 32768},
        {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%fd1,%fd2,%fd3,%fd4}, {%fd5,%fd6,%fd7,%fd8,%fd9,%fd10,%fd11,%fd12}, {%fd13,%fd14,%fd15,%fd16}, {%fd1,%fd2,%fd3,%fd4};",
         TENSOR_f64, 2048},
        {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r3,%r4,%r5,%r6}, {%r7,%r8}, {%r9,%r10}, {%r3,%r4,%r5,%r6};",
         TENSOR_f16, 1024},
    };
    struct run_stream *stream = calloc(1, sizeof *stream);
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        run_fill(text, sizeof text, PTX_KERNEL("$"), cases[i].text);
        struct ptx_run run = {0};
        const struct instr *instr = traced(&run, stream, text, OP_tensor);
        CHECK_EQ(instr->space, cases[i].format);
        CHECK_EQ(instr->count, cases[i].work);
        CHECK_EQ(instr->active, UINT32_MAX);
        run_end(&run);
    }
    free(stream);
}

TEST("a product that no lane executes occupies no tensor pipeline") {
    struct run_stream *stream = calloc(1, sizeof *stream);
    struct ptx_run run = {0};
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL("setp.gt.u32 %p1, %r0, 100;\n@%p1 mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r3,%r4}, "
                   "{%r5}, {%r6}, {%r3,%r4};"),
        1, 32, 0, 0, stream));
    CHECK(!stream_find(stream, OP_tensor, 0));
    run_end(&run);
    free(stream);
}

TEST("a matrix in global memory touches the sectors of its lines") {
    struct run_stream *stream = calloc(1, sizeof *stream);
    struct ptx_run run = {0};
    const struct instr *load = traced(
        &run, stream,
        PTX_KERNEL(
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd1], 256;"),
        OP_load);
    CHECK_EQ(load->count, 16u); /* a row of 32 bytes in every second block */
    for (unsigned i = 0; i < 16; i++) CHECK_EQ(stream->touch[load - stream->instr][i], run.in + i * 512 + 1);
    CHECK_EQ(load->bytes_log2, 4u);
    run_end(&run);
    load = traced(
        &run, stream,
        PTX_KERNEL(
            "wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd1];"),
        OP_load);
    CHECK_EQ(load->count, 2u);
    CHECK_EQ(stream->touch[load - stream->instr][1], run.in + 256 + 255);
    run_end(&run);
#define STORE_D(shape, type, fragment, stride) \
    PTX_KERNEL("wmma.store.d.sync.aligned.row." shape ".global." type " [%rd0], " fragment ", " stride ";")
    const char *eight = STORE_D("m16n16k16", "f16", "{%r10,%r11,%r12,%r13}", "16"), /* rows of 32 bytes */
        *half = STORE_D("m32n8k16", "f16", "{%r10,%r11,%r12,%r13}", "8"),           /* two rows fill a sector */
            *gaps = STORE_D("m32n8k16", "f16", "{%r10,%r11,%r12,%r13}", "16");
    CHECK_EQ(traced(&run, stream, eight, OP_store)->flags, 0u);
    run_end(&run);
    CHECK_EQ(traced(&run, stream, half, OP_store)->flags, 0u);
    run_end(&run);
    CHECK_EQ(traced(&run, stream, gaps, OP_store)->flags, INSTR_PARTIAL);
    run_end(&run);
#undef STORE_D
    free(stream);
}

TEST("a matrix in shared memory takes a pass for every word of its busiest bank") {
    static const struct {
        const char *text;
        unsigned passes;
    } cases[] = {
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r3], 16;",
         4}, /* 512 bytes */
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r3], 64;",
         16}, /* every row in one eighth of the banks */
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r3], 72;",
         4}, /* padded */
        {"mad.lo.u32 %r3, %r0, 16, %r3; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r3];",
         4}, /* one for each matrix */
        {"mad.lo.u32 %r3, %r0, 128, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r3];",
         8}, /* rows in the same banks */
        {"mad.lo.u32 %r3, %r0, 144, %r3; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10,%r11}, [%r3];", 2},
    };
    struct run_stream *stream = calloc(1, sizeof *stream);
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        run_fill(text, sizeof text, PTX_KERNEL(".shared .align 128 .b8 s[8192]; mov.u32 %r3, s; $"), cases[i].text);
        struct ptx_run run = {0};
        const struct instr *load = traced(&run, stream, text, OP_load);
        CHECK_EQ(load->space, SPACE_SHARED);
        CHECK_EQ(load->conflicts, cases[i].passes);
        run_end(&run);
    }
    free(stream);
}
