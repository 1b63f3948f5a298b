/* Random programs, each written twice: as a PTX module and as equivalent C (differential_prelude.h). A program has a
 * kernel `k` and up to three device functions; it operates on registers of every class and on the thread's own bytes of
 * global, shared and local memory, with nested if and else, loops with break and continue, switches, calls, returns and
 * predicated instructions. Everything depends on a seed only. Threads have different data, so they diverge.
 *
 * The generator traverses the program once and writes both texts in parallel. Statements are numbered in the order of
 * generation; an omitted statement is generated but not written, so the rest is the same program without it: this is
 * how a failing program is reduced.
 *
 * Not covered: operations across threads (collectives, atomics, barriers), approximations and halves, which have their
 * own tests. */
#ifndef SLUICE_TESTS_PTX_DIFFERENTIAL_H
#define SLUICE_TESTS_PTX_DIFFERENTIAL_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* A thread's bytes: input and working area in global memory, and output. */
enum { DIFF_SLOT_BYTES = 128, DIFF_OUT_BYTES = 256, DIFF_SHARED_BYTES = 64, DIFF_LOCAL_BYTES = 64, DIFF_THREADS = 40 };
enum { DIFF_STATEMENTS = 4096, DIFF_FUNCTIONS = 3, DIFF_ARGUMENTS = 4, DIFF_DEPTH = 3, DIFF_TEXT = 160 };

/* Register classes: names in both texts, PTX type, and number of registers. */
static const struct diff_class {
    char name;
    unsigned bytes, count;
    const char *type, *ptx_type, *c_type;
} diff_classes[] = {
    {'l', 8, 5, "b64", "b64", "u64"}, {'d', 8, 4, "f64", "f64", "u64"}, {'r', 4, 6, "b32", "b32", "u32"},
    {'f', 4, 5, "f32", "f32", "u32"}, {'h', 2, 4, "b16", "b16", "u16"}, {'p', 0, 4, "pred", "pred", "u8"},
};
enum { DIFF_VALUE_CLASSES = COUNT_OF(diff_classes) - 1 };

struct diff_function {
    const struct diff_class *arguments[DIFF_ARGUMENTS], *result;
    unsigned argument_count;
    bool in_registers; /* passed in registers instead of .param space */
};

struct diff {
    FILE *ptx, *c;
    uint64_t seed, state;
    const bool *omitted; /* statements; NULL: none */
    unsigned statements, muted, labels;
    struct diff_function functions[DIFF_FUNCTIONS];
    unsigned function_count;
    const struct diff_function *inside; /* NULL: the kernel */
    unsigned callable;                  /* functions that may be called from here */
    unsigned loops[DIFF_DEPTH + 1];     /* labels of the enclosing loops */
    unsigned loop_depth;
};

/* --- random choices --- */

static inline uint64_t diff_random(struct diff *diff) { /* splitmix64 */
    uint64_t z = (diff->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
static inline unsigned diff_below(struct diff *diff, unsigned n) { return (unsigned)(diff_random(diff) >> 32) % n; }
static inline bool diff_chance(struct diff *diff, unsigned one_in) { return diff_below(diff, one_in) == 0; }

/* 64 bits with a value near a limit of an integer or float of any width. */
static inline uint64_t diff_edge(struct diff *diff) {
    static const uint64_t edges[] = {
        0,
        1,
        2,
        3,
        31,
        32,
        33,
        63,
        64,
        127,
        128,
        255,
        256,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x10000,
        0x7FFFFF,
        0x800000,
        0xFFFFFF,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFFFFFF,
        UINT64_C(0x100000000),
        INT64_MAX,
        UINT64_C(1) << 63,
        UINT64_MAX,
        UINT64_MAX - 1,
        0x3F800000,
        0xBF800000,
        0x3F000000,
        0x40200000,
        0x7F800000,
        0xFF800000,
        0x7F7FFFFF,
        0x7FC00001,
        0xFFA12345,
        0x00000001,
        0x807FFFFF,
        0x4F000000,
        0xCF000000,
        0x4F800000,
        0x5F000000,
        UINT64_C(0x3FF0000000000000),
        UINT64_C(0xBFF8000000000000),
        UINT64_C(0x7FF0000000000000),
        UINT64_C(0xFFF0000000000000),
        UINT64_C(0x7FF8000000000123),
        UINT64_C(0xFFF4000000000456),
        UINT64_C(0x7FEFFFFFFFFFFFFF),
        UINT64_C(0x000FFFFFFFFFFFFF),
        UINT64_C(0x36A0000000000000),
        UINT64_C(0x47EFFFFFF0000000),
        UINT64_C(0x41E0000000000000),
        UINT64_C(0xC3E0000000000000),
        UINT64_C(0x43F0000000000000),
        UINT64_C(0x3FE0000000000000),
    };
    const uint64_t edge = edges[diff_below(diff, COUNT_OF(edges))], other = edges[diff_below(diff, COUNT_OF(edges))];
    switch (diff_below(diff, 8)) {
    case 0: return diff_random(diff);
    case 1: return diff_random(diff) >> diff_below(diff, 64);
    case 2: return edge << 32 | (other & UINT32_MAX);
    case 3: return edge + diff_below(diff, 5) - 2;
    case 4: return UINT64_C(0x3C0000003C000000) + (diff_random(diff) & UINT64_C(0x87FFFFFF87FFFFFF)); /* two floats */
    case 5: return UINT64_C(0x3F00000000000000) + (diff_random(diff) & UINT64_C(0x81FFFFFFFFFFFFFF)); /* a double */
    default: return edge;
    }
}

/* --- writing --- */

static inline void diff_put(const struct diff *diff, FILE *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void diff_put(const struct diff *diff, FILE *out, const char *format, ...) {
    if (diff->muted) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
}
#define PTX(...) diff_put(diff, diff->ptx, __VA_ARGS__)
#define C(...)   diff_put(diff, diff->c, __VA_ARGS__)

static inline unsigned diff_type_bits(const char *type) { return (unsigned)atoi(type + 1); }
static inline bool diff_is_type(const char *word) { /* and not f4e or rc8 */
    return strcmp(word, "pred") == 0 || (strchr("usbf", word[0]) && strspn(word + 1, "123468") + 1 == strlen(word));
}

/* The register class of a type; 8-bit types use 16-bit registers. */
static inline const struct diff_class *diff_class_of(const char *type) {
    if (strcmp(type, "pred") == 0) return &diff_classes[DIFF_VALUE_CLASSES];
    const unsigned bits = diff_type_bits(type);
    const char name = type[0] == 'f' ? (bits == 64 ? 'd' : 'f') : bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
    const struct diff_class *class = diff_classes;
    while (class->name != name) class ++;
    return class;
}

/* An operand in both texts. */
struct diff_operand {
    char ptx[32], c[32];
};
static inline struct diff_operand diff_register(const struct diff_class *class, unsigned i) {
    struct diff_operand operand;
    snprintf(operand.ptx, sizeof operand.ptx, "%%%c%u", class->name, i);
    snprintf(operand.c, sizeof operand.c, "%c%u", class->name, i);
    return operand;
}
static inline struct diff_operand diff_any(struct diff *diff, const char *type) {
    const struct diff_class *class = diff_class_of(type);
    return diff_register(class, diff_below(diff, class->count));
}
static inline struct diff_operand diff_immediate(const char *type, uint64_t value) {
    struct diff_operand operand;
    const unsigned bits = diff_type_bits(type);
    if (bits < 64) value &= (UINT64_C(1) << bits) - 1;
    const char *form = type[0] != 'f' ? "0x%" PRIx64 : bits == 64 ? "0d%016" PRIX64 : "0f%08" PRIX64;
    snprintf(operand.ptx, sizeof operand.ptx, form, value);
    snprintf(operand.c, sizeof operand.c, "UINT64_C(0x%" PRIx64 ")", value);
    return operand;
}

/* --- instructions --- */

/* The instructions to choose from: (a|b) is a choice. Then the operands, destination first, by type: T U V the types of
 * the mnemonic in order, W twice as wide as the first, u 32 bits, n a number of bits, i an immediate byte and o a small
 * immediate, p a predicate, P two of them. */
#define INT64 "u64|s64"
#define INT32 "u32|s32"
#define INTS  "(u16|s16|" INT32 "|" INT64 ")"
#define BITS  "(b16|b32|b64)"
#define ROUND "(.rn|.rz|.rm|.rp)"
#define FTZ   "(|.ftz)"
#define SAT   "(||.sat)"
static const char *const diff_rows[] = {
    "(add|sub|mul.lo|mul.hi|min|max|div|rem)." INTS " T T T",
    "(add|sub|mul.lo|mul.hi|min|max|div|rem)." INTS " T T T",
    "(mad.lo|mad.hi|sad)." INTS " T T T T",
    "(add|sub).sat.s32 T T T",
    "(abs|neg).(s16|s32|s64) T T",
    "mul.wide.(u16|s16|" INT32 ") W T T",
    "mad.wide.(u16|s16|" INT32 ") W T T W",
    "mul24.(lo|hi).(" INT32 ") T T T",
    "mad24.(lo|hi).(" INT32 ") T T T T",
    "(mad|mad24).hi.sat.s32 T T T T",
    "(and|or|xor)." BITS " T T T",
    "(not|cnot)." BITS " T T",
    "shl." BITS " T T n",
    "shr.(b16|b32|b64|u16|s16|" INT32 "|" INT64 ") T T n",
    "shf.(l|r).(wrap|clamp).b32 T T T n",
    "lop3.b32 T T T T i",
    "prmt.b32(|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16) T T T T",
    "bfe.(" INT32 "|" INT64 ") T T n n",
    "bfi.(b32|b64) T T T n n",
    "bfind(|.shiftamt).(" INT32 "|" INT64 ") u T",
    "brev.(b32|b64) T T",
    "(clz|popc).(b32|b64) u T",
    "fns.b32 T T o o",
    "bmsk.(wrap|clamp).b32 T n n",
    "szext.(wrap|clamp).(" INT32 ") T T n",
    "dp4a.(" INT32 ").(" INT32 ") u T U u",
    "dp2a.(lo|hi).(" INT32 ").(" INT32 ") u T U u",
    "(vadd4|vsub4|vabsdiff4|vmin4|vmax4).(" INT32 ").(" INT32 ").(" INT32 ")(|.sat)(|.add) u u u u",
    "(add|sub|mul)" ROUND FTZ SAT ".f32 T T T",
    "(add|sub|mul)" ROUND ".f64 T T T",
    "(add|sub|mul|min|max).(f32|f64) T T T",
    "fma" ROUND FTZ SAT ".f32 T T T T",
    "fma" ROUND ".f64 T T T T",
    "div" ROUND FTZ ".f32 T T T",
    "div" ROUND ".f64 T T T",
    "(sqrt|rcp)" ROUND FTZ ".f32 T T",
    "(sqrt|rcp)" ROUND ".f64 T T",
    "(min|max)" FTZ "(|.NaN)(|.xorsign.abs).f32 T T T",
    "(abs|neg)(|.ftz).f32 T T",
    "(abs|neg).f64 T T",
    "copysign.(f32|f64) T T T",
    "testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64) p T",
    "setp.(eq|ne|lt|le|gt|ge)." INTS " p T T",
    "setp.(eq|ne|lt|le|gt|ge)." INTS " p T T",
    "setp.(lo|ls|hi|hs).(u16|u32|u64) p T T",
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan)" FTZ ".f32 p T T",
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).f64 p T T",
    "setp.(eq|ne|lt|le|gt|ge).(and|or|xor)." INTS " P T T p",
    "setp.(eq|lt|gt|neu|leu|geu|num|nan).(and|or|xor).(f32|f64) P T T p",
    "set.(eq|ne|lt|le|gt|ge).(u32|s32|f32)." INTS " T U U",
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(u32|s32|f32).(f32|f64) T U U",
    "selp.(b16|b32|b64|f32|f64) T T T p",
    "slct.(b16|b32|b64|f32|f64).(s32|f32) T T T U",
    "(and|or|xor).pred p p p",
    "mov.(b16|b32|b64|f32|f64) T T",
    "cvt(|.sat).(u8|s8|u16|s16|" INT32 "|" INT64 ").(u8|s8|u16|s16|" INT32 "|" INT64 ") T U",
    "cvt(.rni|.rzi|.rmi|.rpi)" FTZ "(|.sat).(u8|s8|u16|s16|" INT32 "|" INT64 ").f32 T U",
    "cvt(.rni|.rzi|.rmi|.rpi).(u8|s8|u16|s16|" INT32 "|" INT64 ").f64 T U",
    "cvt" ROUND SAT ".(f32|f64).(u8|s8|u16|s16|" INT32 "|" INT64 ") T U",
    "cvt" ROUND FTZ SAT ".f32.f64 T U",
    "cvt" FTZ SAT ".f64.f32 T U",
    "cvt(.rni|.rzi|.rmi|.rpi)" FTZ SAT ".f32.f32 T U",
    "cvt(.rni|.rzi|.rmi|.rpi)" SAT ".f64.f64 T U",
};
#undef INT64
#undef INT32
#undef INTS
#undef BITS
#undef ROUND
#undef FTZ
#undef SAT

/* The end of the group that starts at `at`. */
static inline const char *diff_group_end(const char *at) {
    int depth = 0;
    do depth += (*at == '(') - (*at == ')');
    while (at++, depth);
    return at;
}
/* Writes `from` up to `end` with its choices made; returns the end of the output. */
static inline char *diff_expand(struct diff *diff, const char *from, const char *end, char *to) {
    while (from < end) {
        if (*from != '(') {
            *to++ = *from++;
            continue;
        }
        const char *group_end = diff_group_end(from), *starts[32];
        unsigned count = 0;
        for (const char *at = from + 1; at < group_end; at = *at == '(' ? diff_group_end(at) : at + 1)
            if (at == from + 1 || (at[-1] == '|' && count < COUNT_OF(starts) - 1)) starts[count++] = at;
        starts[count] = group_end;
        const unsigned pick = diff_below(diff, count);
        to = diff_expand(diff, starts[pick], starts[pick + 1] - 1, to);
        from = group_end;
    }
    *to = '\0';
    return to;
}

/* A parsed mnemonic: types in order, and the start of a call in C. */
struct diff_mnemonic {
    char name[16], types[3][8], flags[DIFF_TEXT];
    unsigned type_count;
};
static inline struct diff_mnemonic diff_take_apart(const char *text) {
    struct diff_mnemonic m = {.flags = "0"};
    char words[DIFF_TEXT], *rest = words;
    snprintf(words, sizeof words, "%s", text);
    snprintf(m.name, sizeof m.name, "%s", strsep(&rest, "."));
    for (char *word; (word = strsep(&rest, "."));) {
        if (diff_is_type(word))
            snprintf(m.types[m.type_count++], sizeof m.types[0], "%s", word);
        else
            snprintf(m.flags + strlen(m.flags), sizeof m.flags - strlen(m.flags), "|M_%s", word);
    }
    return m;
}

/* Guards are the same in both texts: for all of one statement, or none. */
struct diff_guard {
    char ptx[16], c[16];
};
static inline struct diff_guard diff_guard(struct diff *diff, unsigned one_in) {
    struct diff_guard guard = {"", ""};
    if (!diff_chance(diff, one_in)) return guard;
    const unsigned p = diff_below(diff, diff_class_of("pred")->count);
    const char *not = diff_chance(diff, 2) ? "!" : "";
    snprintf(guard.ptx, sizeof guard.ptx, "@%s%%p%u ", not, p);
    snprintf(guard.c, sizeof guard.c, "if (%sp%u) ", not, p);
    return guard;
}

/* An operand for the letter of a row. */
static inline struct diff_operand diff_operand(struct diff *diff, const struct diff_mnemonic *m, char letter,
                                               bool is_source) {
    const char *type = "b32";
    char wide[16];
    switch (letter) {
    case 'T': type = m->types[0]; break;
    case 'U': type = m->types[1]; break;
    case 'V': type = m->types[2]; break;
    case 'W':
        snprintf(wide, sizeof wide, "%c%u", m->types[0][0], 2 * diff_type_bits(m->types[0]));
        type = wide;
        break;
    case 'p': return diff_any(diff, "pred");
    case 'i': return diff_immediate("b32", diff_below(diff, 256));
    case 'o': return diff_immediate("b32", diff_below(diff, 32));
    case 'n':
        if (!diff_chance(diff, 3)) return diff_immediate("b32", diff_below(diff, 70));
        break;
    default: break;
    }
    return is_source && diff_chance(diff, 6) ? diff_immediate(type, diff_edge(diff)) : diff_any(diff, type);
}

static inline void diff_instruction(struct diff *diff, const char *row, const char *guard_ptx, const char *guard_c) {
    char mnemonic[DIFF_TEXT], sources_ptx[DIFF_TEXT] = "", sources_c[DIFF_TEXT] = "";
    const char *operands = row;
    while (*operands != ' ') operands++;
    diff_expand(diff, row, operands, mnemonic);
    const struct diff_mnemonic m = diff_take_apart(mnemonic);
    char types[64] = "";
    for (unsigned i = 0; i < m.type_count; i++)
        snprintf(types + strlen(types), sizeof types - strlen(types), "T_%s, ", m.types[i]);
    const char letter = operands[1];
    struct diff_operand to = diff_operand(diff, &m, letter == 'P' ? 'p' : letter, false);
    for (operands += 2; *operands; operands += 2) {
        const struct diff_operand from = diff_operand(diff, &m, operands[1], true);
        snprintf(sources_ptx + strlen(sources_ptx), sizeof sources_ptx - strlen(sources_ptx), ", %s", from.ptx);
        snprintf(sources_c + strlen(sources_c), sizeof sources_c - strlen(sources_c), ", %s", from.c);
    }
    if (letter == 'P') {
        const unsigned second = ((unsigned)to.c[1] - '0' + 1) % diff_class_of("pred")->count;
        PTX("    %s%s %s|%%p%u%s;\n", guard_ptx, mnemonic, to.ptx, second, sources_ptx);
        C("    %s{ u8 first = ptx_setp_first(%s%s%s); p%u = ptx_setp_second(%s%s%s); %s = first; }\n", guard_c, types,
          m.flags, sources_c, second, types, m.flags, sources_c, to.c);
    } else {
        PTX("    %s%s %s%s;\n", guard_ptx, mnemonic, to.ptx, sources_ptx);
        C("    %s%s = ptx_%s(%s%s%s);\n", guard_c, to.c, m.name, types, m.flags, sources_c);
    }
}

static inline void diff_one(struct diff *diff) {
    const char *row = diff_rows[diff_below(diff, COUNT_OF(diff_rows))];
    const struct diff_guard guard = diff_guard(diff, 6);
    diff_instruction(diff, row, guard.ptx, guard.c);
}

/* Carry chains. */
static inline void diff_chain(struct diff *diff) {
    static const char *const chains[][3] = {
        {"add.cc.$ T T T", "addc.cc.$ T T T", "addc.$ T T T"},
        {"sub.cc.$ T T T", "subc.cc.$ T T T", "subc.$ T T T"},
        {"mad.lo.cc.$ T T T T", "madc.hi.cc.$ T T T T", "addc.$ T T T"},
        {"mad.hi.cc.$ T T T T", "madc.lo.cc.$ T T T T", "madc.hi.$ T T T T"},
    };
    static const char *const types[] = {"u32", "s32", "u64", "s64"};
    const char *const *chain = chains[diff_below(diff, COUNT_OF(chains))],
                      *type = types[diff_below(diff, COUNT_OF(types))];
    for (unsigned i = 0; i < 3; i++) {
        char row[DIFF_TEXT];
        const char *dollar = strchr(chain[i], '$');
        snprintf(row, sizeof row, "%.*s%s%s", (int)(dollar - chain[i]), chain[i], type, dollar + 1);
        diff_instruction(diff, row, "", "");
    }
}

/* --- memory --- */

/* Memory that a program accesses: space, address and C array. Functions have their local memory only. */
static const struct diff_area {
    const char *space, *base, *c;
    unsigned bytes;
} diff_areas[] = {
    {".local", "loc", "local", DIFF_LOCAL_BYTES},   {".local", "%alocal", "local", DIFF_LOCAL_BYTES},
    {"", "%aglocal", "local", DIFF_LOCAL_BYTES},    {".shared", "%ashared", "shared", DIFF_SHARED_BYTES},
    {"", "%agshared", "shared", DIFF_SHARED_BYTES}, {".global", "%aslot", "slot", DIFF_SLOT_BYTES},
    {"", "%aslot", "slot", DIFF_SLOT_BYTES},
};
enum { DIFF_LOCAL_AREAS = 3 };

static inline void diff_memory(struct diff *diff) {
    static const char *const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                                        "u32", "s32", "b64", "u64", "s64", "f32", "f64"};
    const struct diff_area *area =
        &diff_areas[diff_below(diff, diff->inside ? DIFF_LOCAL_AREAS : COUNT_OF(diff_areas))];
    const char *type = types[diff_below(diff, COUNT_OF(types))];
    const struct diff_class *class = diff_class_of(type);
    while (class->name != 'f' && class > diff_classes && diff_chance(diff, 3)) /* in a wider register */
        class = class->name == 'h' ? diff_class_of("b32") : diff_class_of("b64");
    const unsigned bytes = diff_type_bits(type) / 8, vector = bytes <= 4 && diff_chance(diff, 5) ? 4
                                                              : diff_chance(diff, 4)             ? 2
                                                                                                 : 1;
    const unsigned size = bytes * vector, slots = area->bytes / size;
    const bool is_load = diff_chance(diff, 2), dynamic = diff_chance(diff, 2);
    char address_ptx[64], address_c[64];
    const struct diff_guard guard = diff_guard(diff, 6);
    if (dynamic) {
        const struct diff_operand index = diff_any(diff, "b32");
        const unsigned mask = (slots - 1) * size;
        PTX("    and.b32 %%x, %s, %u;\n    cvt.u64.u32 %%y, %%x;\n", index.ptx, mask);
        if (area->base[0] == '%')
            PTX("    add.s64 %%y, %%y, %s;\n", area->base);
        else
            PTX("    mov.u64 %%z, %s;\n    add.s64 %%y, %%y, %%z;\n", area->base);
        snprintf(address_ptx, sizeof address_ptx, "%%y");
        snprintf(address_c, sizeof address_c, "%s + (%s & %u)", area->c, index.c, mask);
        C("    { u8 *at = %s;\n", address_c);
    } else {
        const unsigned offset = diff_below(diff, slots) * size;
        snprintf(address_ptx, sizeof address_ptx, "%s+%u", area->base, offset);
        C("    { u8 *at = %s + %u;\n", area->c, offset);
    }
    char registers[DIFF_TEXT] = "";
    const unsigned first = diff_below(diff, class->count);
    for (unsigned i = 0; i < vector; i++) {
        const struct diff_operand operand = diff_register(class, (first + i) % class->count);
        snprintf(registers + strlen(registers), sizeof registers - strlen(registers), "%s%s", i ? ", " : "",
                 operand.ptx);
        if (is_load)
            C("    %s%s = ptx_ld(T_%s, 0, at + %u);\n", guard.c, operand.c, type, i * bytes);
        else
            C("    %sptx_st(T_%s, 0, at + %u, %s);\n", guard.c, type, i * bytes, operand.c);
    }
    C("    }\n");
    char suffix[32];
    snprintf(suffix, sizeof suffix, "%s%s.%s", area->space, vector == 4 ? ".v4" : vector == 2 ? ".v2" : "", type);
    const char *open = vector > 1 ? "{" : "", *close = vector > 1 ? "}" : "";
    if (is_load)
        PTX("    %sld%s %s%s%s, [%s];\n", guard.ptx, suffix, open, registers, close, address_ptx);
    else
        PTX("    %sst%s [%s], %s%s%s;\n", guard.ptx, suffix, address_ptx, open, registers, close);
}

/* --- control flow --- */

static inline void diff_block(struct diff *diff, unsigned depth);

static inline void diff_if(struct diff *diff, unsigned depth) {
    const unsigned label = diff->labels++, p = diff_below(diff, diff_class_of("pred")->count);
    const bool has_else = diff_chance(diff, 2);
    PTX("    @!%%p%u bra L%u_else;\n", p, label);
    C("    if (p%u) {\n", p);
    diff_block(diff, depth + 1);
    if (has_else) PTX("    bra L%u_end;\n", label);
    PTX("L%u_else:\n", label);
    if (has_else) {
        C("    } else {\n");
        diff_block(diff, depth + 1);
        PTX("L%u_end:\n", label);
    }
    C("    }\n");
}

/* Counted loops; the test is before or after the body. */
static inline void diff_loop(struct diff *diff, unsigned depth) {
    const unsigned label = diff->labels++, counter = diff->loop_depth;
    const bool test_first = diff_chance(diff, 2);
    const struct diff_operand count =
        diff_chance(diff, 3) ? diff_immediate("b32", diff_below(diff, 4)) : diff_any(diff, "b32");
    PTX("    and.b32 %%c%u, %s, 3;\n", counter, count.ptx);
    if (test_first) {
        PTX("L%u_top:\n    setp.eq.u32 %%t, %%c%u, 0;\n    @%%t bra L%u_end;\n", label, counter, label);
        C("    for (c%u = %s & 3; c%u; c%u--) {\n", counter, count.c, counter, counter);
    } else {
        PTX("    add.u32 %%c%u, %%c%u, 1;\nL%u_top:\n", counter, counter, label);
        C("    c%u = (%s & 3) + 1;\n    do {\n", counter, count.c);
    }
    diff->loops[diff->loop_depth++] = label;
    diff_block(diff, depth + 1);
    diff->loop_depth--;
    PTX("L%u_next:\n    sub.u32 %%c%u, %%c%u, 1;\n", label, counter, counter);
    if (test_first)
        PTX("    bra L%u_top;\n", label);
    else
        PTX("    setp.ne.u32 %%t, %%c%u, 0;\n    @%%t bra L%u_top;\n", counter, label);
    PTX("L%u_end:\n", label);
    if (test_first)
        C("    L%u_next:; } L%u_end:;\n", label, label);
    else
        C("    L%u_next:; } while (--c%u); L%u_end:;\n", label, counter, label);
}

/* break and continue, also out of nested loops. */
static inline void diff_jump(struct diff *diff) {
    const unsigned label = diff->loops[diff_below(diff, diff->loop_depth)];
    const char *where = diff_chance(diff, 2) ? "end" : "next";
    const struct diff_guard guard = diff_guard(diff, 1);
    PTX("    %sbra L%u_%s;\n", guard.ptx, label, where);
    C("    %sgoto L%u_%s;\n", guard.c, label, where);
}

static inline void diff_switch(struct diff *diff, unsigned depth) {
    const unsigned label = diff->labels++, cases = 2 + diff_below(diff, 4);
    const struct diff_operand index = diff_any(diff, "b32");
    PTX("    rem.u32 %%x, %s, %u;\nL%u_table: .branchtargets ", index.ptx, cases, label);
    for (unsigned i = 0; i < cases; i++) PTX("%sL%u_%u", i ? ", " : "", label, i);
    PTX(";\n    brx.idx %%x, L%u_table;\n", label);
    C("    switch (%s %% %u) {\n", index.c, cases);
    for (unsigned i = 0; i < cases; i++) {
        PTX("L%u_%u:\n", label, i);
        C("    case %u:;\n", i);
        diff_block(diff, depth + 1);
        if (diff_chance(diff, 4)) continue; /* falls through */
        PTX("    bra L%u_end;\n", label);
        C("    goto L%u_end;\n", label);
    }
    PTX("L%u_end:\n", label);
    C("    } L%u_end:;\n", label);
}

static inline void diff_call(struct diff *diff) {
    const unsigned which = diff_below(diff, diff->callable);
    const struct diff_function *function = &diff->functions[which];
    const struct diff_operand result = diff_any(diff, function->result->type);
    const struct diff_guard guard = diff_guard(diff, function->in_registers ? 4 : 1000000);
    char arguments[DIFF_TEXT] = "";
    if (!function->in_registers) PTX("    {\n    .param .%s back;\n", function->result->type);
    C("    %s%s = P%" PRIu64 "_f%u(", guard.c, result.c, diff->seed, which);
    for (unsigned i = 0; i < function->argument_count; i++) {
        const struct diff_class *class = function->arguments[i];
        const struct diff_operand from = diff_any(diff, class->type);
        char name[16];
        snprintf(name, sizeof name, "given%u", i);
        if (!function->in_registers)
            PTX("    .param .%s %s;\n    st.param.%s [%s], %s;\n", class->type, name, class->type, name, from.ptx);
        snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments), "%s%s", i ? ", " : "",
                 function->in_registers ? from.ptx : name);
        C("%s%s", i ? ", " : "", from.c);
    }
    C(");\n");
    if (function->in_registers)
        PTX("    %scall (%s), f%u, (%s);\n", guard.ptx, result.ptx, which, arguments);
    else
        PTX("    call (back), f%u, (%s);\n    ld.param.%s %s, [back];\n    }\n", which, arguments,
            function->result->type, result.ptx);
}

static inline void diff_return(struct diff *diff) {
    const struct diff_function *function = diff->inside;
    if (!function) {
        PTX("    ret;\n");
        C("    return;\n");
        return;
    }
    const struct diff_operand result = diff_any(diff, function->result->type);
    if (function->in_registers)
        PTX("    mov.%s %%back, %s;\n    ret;\n", function->result->type, result.ptx);
    else
        PTX("    st.param.%s [back], %s;\n    ret;\n", function->result->type, result.ptx);
    C("    return %s;\n", result.c);
}
static inline void diff_return_if(struct diff *diff) {
    const unsigned label = diff->labels++, p = diff_below(diff, diff_class_of("pred")->count);
    PTX("    @!%%p%u bra L%u_stay;\n", p, label);
    C("    if (p%u) {\n", p);
    diff_return(diff);
    PTX("L%u_stay:\n", label);
    C("    }\n");
}

static inline void diff_statement(struct diff *diff, unsigned depth) {
    const unsigned number = diff->statements++;
    const bool omitted = diff->omitted && number < DIFF_STATEMENTS && diff->omitted[number], nests = depth < DIFF_DEPTH;
    diff->muted += omitted;
    const unsigned choice = diff_below(diff, 40);
    if (choice < 3 && nests)
        diff_if(diff, depth);
    else if (choice < 5 && nests)
        diff_loop(diff, depth);
    else if (choice < 6 && nests)
        diff_switch(diff, depth);
    else if (choice < 8 && diff->loop_depth)
        diff_jump(diff);
    else if (choice < 10 && diff->callable)
        diff_call(diff);
    else if (choice < 11 && depth && (diff->inside || diff_chance(diff, 8)))
        diff_return_if(diff);
    else if (choice < 12)
        diff_chain(diff);
    else if (choice < 19)
        diff_memory(diff);
    else
        diff_one(diff);
    diff->muted -= omitted;
}

static inline void diff_block(struct diff *diff, unsigned depth) {
    for (unsigned n = depth ? 1 + diff_below(diff, 5) : 14; n; n--) diff_statement(diff, depth);
}

/* --- functions and the kernel --- */

/* Registers and other declarations of statements. */
static inline void diff_declare(struct diff *diff) {
    PTX("    .local .align 16 .b8 loc[%d];\n    .reg .pred %%t;\n    .reg .b32 %%x, %%c<%d>;\n", DIFF_LOCAL_BYTES,
        DIFF_DEPTH);
    PTX("    .reg .b64 %%y, %%z, %%alocal, %%aglocal, %%ashared, %%agshared, %%aslot, %%aout;\n");
    C("    _Alignas(16) u8 local[%d];\n    u32", DIFF_LOCAL_BYTES);
    for (unsigned i = 0; i < DIFF_DEPTH; i++) C("%s c%u = 0", i ? "," : "", i);
    C(";\n");
    for (unsigned k = 0; k < COUNT_OF(diff_classes); k++) {
        const struct diff_class *class = &diff_classes[k];
        PTX("    .reg .%s %%%c<%u>;\n", class->ptx_type, class->name, class->count);
        C("    %s", class->c_type);
        for (unsigned i = 0; i < class->count; i++) C("%s %c%u", i ? "," : "", class->name, i);
        C(";\n");
    }
    PTX("    mov.u64 %%alocal, loc;\n    cvta.local.u64 %%aglocal, %%alocal;\n");
}
/* Initialises a register. */
static inline void diff_set(struct diff *diff, const struct diff_class *class, unsigned i) {
    const struct diff_operand to = diff_register(class, i), from = diff_immediate(class->type, diff_edge(diff));
    PTX("    mov.%s %s, %s;\n", class->type, to.ptx, from.ptx);
    C("    %s = %s;\n", to.c, from.c);
}
/* Initialises predicates and the bytes of an area from registers. */
static inline void diff_start(struct diff *diff, const char *space, const char *base, const char *c, unsigned bytes) {
    const struct diff_class *l = diff_class_of("b64");
    for (unsigned at = 0; at < bytes; at += 8) {
        const struct diff_operand from = diff_register(l, at / 8 % l->count);
        PTX("    st%s.u64 [%s+%u], %s;\n", space, base, at, from.ptx);
        C("    ptx_st(T_u64, 0, %s + %u, %s);\n", c, at, from.c);
    }
}
static inline void diff_predicates(struct diff *diff) {
    for (unsigned i = 0; i < diff_class_of("pred")->count; i++) {
        const uint32_t mask = 1u << diff_below(diff, 8);
        PTX("    and.b32 %%x, %%r%u, %u;\n    setp.ne.u32 %%p%u, %%x, 0;\n", i, mask, i);
        C("    p%u = (r%u & %u) != 0;\n", i, i, mask);
    }
}

static inline void diff_function(struct diff *diff, unsigned which) {
    struct diff_function *function = &diff->functions[which];
    *function = (struct diff_function){.argument_count = 1 + diff_below(diff, DIFF_ARGUMENTS),
                                       .in_registers = diff_chance(diff, 3)};
    function->result = &diff_classes[diff_below(diff, DIFF_VALUE_CLASSES)];
    const char *kind = function->in_registers ? ".reg" : ".param", *mark = function->in_registers ? "%" : "";
    PTX(".func (%s .%s %sback) f%u(", kind, function->result->type, mark, which);
    C("static %s P%" PRIu64 "_f%u(", function->result->c_type, diff->seed, which);
    for (unsigned i = 0; i < function->argument_count; i++) {
        const struct diff_class *class = function->arguments[i] = &diff_classes[diff_below(diff, DIFF_VALUE_CLASSES)];
        PTX("%s%s .%s %sgiven%u", i ? ", " : "", kind, class->type, mark, i);
        C("%s%s given%u", i ? ", " : "", class->c_type, i);
    }
    PTX(")\n{\n");
    C(")\n{\n");
    diff->inside = function;
    diff->callable = which;
    diff_declare(diff);
    for (unsigned k = 0; k < DIFF_VALUE_CLASSES; k++)
        for (unsigned i = 0; i < diff_classes[k].count; i++) diff_set(diff, &diff_classes[k], i);
    for (unsigned i = 0; i < function->argument_count; i++) {
        const struct diff_class *class = function->arguments[i];
        const struct diff_operand to = diff_register(class, i % class->count);
        if (function->in_registers)
            PTX("    mov.%s %s, %%given%u;\n", class->type, to.ptx, i);
        else
            PTX("    ld.param.%s %s, [given%u];\n", class->type, to.ptx, i);
        C("    %s = given%u;\n", to.c, i);
    }
    diff_start(diff, ".local", "loc", "local", DIFF_LOCAL_BYTES);
    diff_predicates(diff);
    diff_block(diff, 1);
    diff_return(diff);
    PTX("}\n");
    C("}\n");
    diff->inside = NULL;
}

/* Writes the kernel's output: every register, and its bytes of shared and local memory. */
static inline void diff_end(struct diff *diff) {
    unsigned at = 0;
    for (unsigned k = 0; k < DIFF_VALUE_CLASSES; k++)
        for (unsigned i = 0; i < diff_classes[k].count; i++, at += diff_classes[k].bytes) {
            PTX("    st.global.%s [%%aout+%u], %%%c%u;\n", diff_classes[k].type, at, diff_classes[k].name, i);
            C("    memcpy(out + %u, &%c%u, %u);\n", at, diff_classes[k].name, i, diff_classes[k].bytes);
        }
    for (unsigned i = 0; i < diff_class_of("pred")->count; i++, at++) {
        PTX("    selp.u32 %%x, 1, 0, %%p%u;\n    st.global.u8 [%%aout+%u], %%x;\n", i, at);
        C("    out[%u] = p%u;\n", at, i);
    }
    at = DIFF_OUT_BYTES - DIFF_SHARED_BYTES - DIFF_LOCAL_BYTES;
    for (unsigned i = 0; i < DIFF_LOCAL_BYTES; i += 8)
        PTX("    ld.local.u64 %%y, [loc+%u];\n    st.global.u64 [%%aout+%u], %%y;\n", i, at + i);
    C("    memcpy(out + %u, local, %d);\n", at, DIFF_LOCAL_BYTES);
    at += DIFF_LOCAL_BYTES;
    for (unsigned i = 0; i < DIFF_SHARED_BYTES; i += 8)
        PTX("    ld.shared.u64 %%y, [%%ashared+%u];\n    st.global.u64 [%%aout+%u], %%y;\n", i, at + i);
    C("    memcpy(out + %u, shared, %d);\n", at, DIFF_SHARED_BYTES);
}

/* Thread t of the kernel's CTA operates on slot t of the grid. */
static inline void diff_kernel(struct diff *diff) {
    PTX(".visible .entry k(.param .u64 slots, .param .u64 outs)\n{\n    .shared .align 16 .b8 tile[%d];\n",
        DIFF_SHARED_BYTES * DIFF_THREADS);
    C("void P%" PRIu64 "(u32 thread, u8 *slot, u8 *out)\n{\n    _Alignas(16) u8 shared[%d];\n", diff->seed,
      DIFF_SHARED_BYTES);
    diff_declare(diff);
    PTX("    mov.u32 %%x, %%tid.x;\n    mov.u64 %%y, tile;\n    mad.wide.u32 %%ashared, %%x, %d, %%y;\n"
        "    cvta.shared.u64 %%agshared, %%ashared;\n"
        "    mov.u32 %%r0, %%ctaid.x;\n    mad.lo.u32 %%x, %%r0, %d, %%x;\n"
        "    ld.param.u64 %%y, [slots];\n    mad.wide.u32 %%aslot, %%x, %d, %%y;\n"
        "    ld.param.u64 %%y, [outs];\n    mad.wide.u32 %%aout, %%x, %d, %%y;\n",
        DIFF_SHARED_BYTES, DIFF_THREADS, DIFF_SLOT_BYTES, DIFF_OUT_BYTES);
    unsigned at = 0;
    for (unsigned k = 0; k < DIFF_VALUE_CLASSES; k++)
        for (unsigned i = 0; i < diff_classes[k].count; i++, at += diff_classes[k].bytes) {
            const char *type = diff_classes[k].type, name = diff_classes[k].name;
            PTX("    ld.global.%s %%%c%u, [%%aslot+%u];\n", type, name, i, at);
            C("    %c%u = ptx_ld(T_%s, 0, slot + %u);\n", name, i, type, at);
        }
    PTX("    mov.u32 %%r0, %%tid.x;\n");
    C("    r0 = thread;\n");
    diff_start(diff, ".local", "loc", "local", DIFF_LOCAL_BYTES);
    diff_start(diff, ".shared", "%ashared", "shared", DIFF_SHARED_BYTES);
    diff_predicates(diff);
    diff->callable = diff->function_count;
    diff_block(diff, 0);
    diff_end(diff);
    PTX("    ret;\n}\n");
    C("}\n");
}

/* Writes program `seed` to both files; returns its number of statements. The C of programs may be concatenated. */
static inline unsigned diff_write(uint64_t seed, const bool *omitted, FILE *ptx, FILE *c) {
    struct diff *diff = &(struct diff){
        .ptx = ptx, .c = c, .seed = seed, .state = seed * UINT64_C(0x2545F4914F6CDD1D) + 1, .omitted = omitted};
    PTX(".version 8.0\n.target sm_90\n.address_size 64\n");
    diff->function_count = diff_below(diff, DIFF_FUNCTIONS + 1);
    for (unsigned i = 0; i < diff->function_count; i++) diff_function(diff, i);
    diff_kernel(diff);
    return diff->statements;
}

#undef PTX
#undef C
#endif
