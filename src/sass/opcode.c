#include "sass/opcode.h"

#include <stdlib.h>
#include <string.h>

/* Architectures, by the first binary version; Ada is among Ampere's. */
enum { PASCAL, VOLTA, TURING, AMPERE, HOPPER, ARCHITECTURES };
static const uint16_t first_version[ARCHITECTURES] = {60, 70, 75, 80, 90};

enum pipeline {
    PIPELINE_CLASS,
    PIPELINE_SP,
    PIPELINE_SFU,
    PIPELINE_DP,
    PIPELINE_MEM,
    PIPELINE_CONTROL,
    PIPELINE_TENSOR
};

#define CLASS 0
#define NO    (-1)

static const struct {
    const char *name;
    uint8_t op, pipeline, role;
    int8_t cycles[ARCHITECTURES];
} table[] = {
#define X(name, class, pipeline, role, ...) {#name, OP_##class, PIPELINE_##pipeline, SASS_##role, {__VA_ARGS__}},
#include "sass/opcodes.def"
#undef X
};

/* Of classes: pipelines and latencies. */
static const uint8_t class_pipeline[OP_COUNT] = {
#define X(name, unit, latency, interval, help) PIPELINE_##unit,
    OP_LIST(X)
#undef X
};
static const int8_t class_cycles[OP_COUNT][ARCHITECTURES] = {
#define X(name, ...) [OP_##name] = {__VA_ARGS__},
#include "sass/latencies.def"
#undef X
};

/* --- suffixes --- */

static bool is_text(struct sass_text word, const char *text) {
    size_t length = strlen(text);
    return (size_t)(word.end - word.at) == length && memcmp(word.at, text, length) == 0;
}

static bool is_any(struct sass_text word, const char *const *texts) {
    for (; *texts; texts++)
        if (is_text(word, *texts)) return true;
    return false;
}

/* Splits the next suffix off; false if there is none. */
static bool next_suffix(struct sass_text *rest, struct sass_text *suffix) {
    if (rest->at == rest->end) return false;
    suffix->at = rest->at + 1; /* after the point */
    const char *point = memchr(suffix->at, '.', (size_t)(rest->end - suffix->at));
    suffix->end = rest->at = point ? point : rest->end;
    return true;
}

static bool has_suffix(struct sass_text rest, const char *text) {
    struct sass_text suffix;
    while (next_suffix(&rest, &suffix))
        if (is_text(suffix, text)) return true;
    return false;
}

/* The width is that of the opcode: writers' own widths are often wrong. */
static uint8_t width_of(struct sass_text rest) {
    static const struct {
        const char *text;
        uint8_t bytes;
    } widths[] = {{"U8", 1},  {"S8", 1},  {"U16", 2}, {"S16", 2},  {"16", 2}, {"64", 8},
                  {"U64", 8}, {"S64", 8}, {"F64", 8}, {"128", 16}, {"32", 4}};
    struct sass_text suffix;
    while (next_suffix(&rest, &suffix))
        for (unsigned i = 0; i < COUNT_OF(widths); i++)
            if (is_text(suffix, widths[i].text)) return widths[i].bytes;
    return 4;
}

/* Plain loads of Volta are LDG.E.SYS: a scope matters only for strong accesses. */
static enum cache_operator cache_of(struct sass_text rest) {
    static const char *const global[] = {"CG", "BYPASS", NULL}, *const streamed[] = {"EF", "CS", "LU", NULL},
                             *const again[] = {"CV", "WT", "VOLATILE", NULL};
    bool strong = has_suffix(rest, "STRONG");
    if (strong && has_suffix(rest, "GPU")) return CACHE_GLOBAL;
    if (strong && has_suffix(rest, "SYS")) return CACHE_VOLATILE;
    struct sass_text suffix;
    while (next_suffix(&rest, &suffix)) {
        if (is_any(suffix, global)) return CACHE_GLOBAL;
        if (is_any(suffix, streamed)) return CACHE_STREAM;
        if (is_any(suffix, again)) return CACHE_VOLATILE;
    }
    return CACHE_DEFAULT;
}

/* Rows of LDSM: 8 for each matrix. */
static uint32_t matrices_of(struct sass_text rest) { return has_suffix(rest, "4") ? 4 : has_suffix(rest, "2") ? 2 : 1; }

/* --- tensor instructions --- */

/* The multiply-adds of a shape: 16816 is 16 x 8 x 16, also written 16x8x16; 0: the suffix is no shape. */
static uint32_t shape_work(struct sass_text suffix) {
    static const struct {
        const char *text;
        uint32_t work;
    } shapes[] = {
        {"884", 8 * 8 * 4},     {"1684", 16 * 8 * 4},     {"1688", 16 * 8 * 8},     {"16816", 16 * 8 * 16},
        {"16832", 16 * 8 * 32}, {"16864", 16 * 8 * 64},   {"8816", 8 * 8 * 16},     {"8832", 8 * 8 * 32},
        {"88128", 8 * 8 * 128}, {"168128", 16 * 8 * 128}, {"168256", 16 * 8 * 256},
    };
    for (unsigned i = 0; i < COUNT_OF(shapes); i++)
        if (is_text(suffix, shapes[i].text)) return shapes[i].work;
    uint32_t work = 1, number = 0;
    unsigned factors = 0;
    for (const char *c = suffix.at; c <= suffix.end; c++) {
        if (c < suffix.end && *c >= '0' && *c <= '9' && number < 1024) {
            number = number * 10 + (uint32_t)(*c - '0');
        } else if ((c == suffix.end || *c == 'x') && number && number <= 256 && factors < 3) {
            work *= number;
            number = 0;
            factors++;
        } else {
            return 0;
        }
    }
    return factors == 3 ? work : 0;
}

static enum tensor_format format_of(struct sass_text name, struct sass_text rest) {
    switch (*name.at) {
    case 'B': return TENSOR_b1;
    case 'D': return TENSOR_f64;
    case 'I': return has_suffix(rest, "S4") || has_suffix(rest, "U4") ? TENSOR_s4 : TENSOR_s8;
    case 'Q': return TENSOR_f8;
    default: break;
    }
    if (has_suffix(rest, "TF32")) return TENSOR_tf32;
    return has_suffix(rest, "F32") || has_suffix(rest, "BF16") ? TENSOR_f16_f32 : TENSOR_f16;
}

static void decode_tensor(struct sass_opcode *opcode, struct sass_text name, struct sass_text rest) {
    enum { DEFAULT_WORK = 16 * 8 * 16, GROUP_WARPS = 4 };
    struct sass_text suffix, left = rest;
    uint32_t work = 0;
    while (!work && next_suffix(&left, &suffix)) work = shape_work(suffix);
    if (name.end - name.at == 5) work /= GROUP_WARPS; /* HGMMA */
    opcode->multiply_adds = work ? work : DEFAULT_WORK;
    opcode->format = (uint8_t)format_of(name, rest);
    opcode->results = opcode->format == TENSOR_f16 ? 2 : 4;
}

/* --- opcodes --- */

static void decode_access(struct sass_opcode *opcode, struct sass_text rest) {
    opcode->bytes = width_of(rest);
    opcode->wide_address = has_suffix(rest, "E");
    if (opcode->op != OP_atomic) opcode->cache = (uint8_t)cache_of(rest);
    bool constant = has_suffix(rest, "CONSTANT") || has_suffix(rest, "CI");
    if (opcode->role == SASS_TEXTURE || (opcode->op == OP_load && constant))
        opcode->flags = INSTR_NONCOHERENT | INSTR_READ_ONLY;
    if (opcode->role == SASS_COPY) opcode->flags = INSTR_ASYNC;
    if (opcode->role == SASS_MATRIX) {
        uint32_t matrices = matrices_of(rest);
        opcode->bytes = 16;
        opcode->lanes = (uint32_t)low_mask(matrices * 8);
        opcode->results = opcode->op == OP_load ? (uint8_t)matrices : 1;
    } else if (opcode->op == OP_load && opcode->role != SASS_TEXTURE && opcode->bytes > 4) {
        opcode->results = opcode->bytes / 4;
    }
}

static void set_timing(struct sass_opcode *opcode, unsigned row, unsigned architecture) {
    int8_t cycles = table[row].cycles[architecture], of_class = class_cycles[opcode->op][architecture];
    uint8_t pipeline = table[row].pipeline;
    if (pipeline == PIPELINE_CLASS) pipeline = class_pipeline[opcode->op];
    opcode->cycles = (uint8_t)cycles;
    if (cycles != CLASS) opcode->added_cycles = (int8_t)(cycles - of_class);
    if (opcode->added_cycles || pipeline != class_pipeline[opcode->op])
        opcode->timed = (uint8_t)(OP_TIMED_SP + pipeline - PIPELINE_SP);
}

static struct sass_opcode decode(struct sass_text text, unsigned binary_version) {
    const char *point = memchr(text.at, '.', (size_t)(text.end - text.at));
    struct sass_text name = {text.at, point ? point : text.end}, rest = {name.end, text.end};
    struct sass_opcode opcode = {.op = OP_other, .role = SASS_UNKNOWN, .results = 1, .lanes = UINT32_MAX};
    unsigned architecture = ARCHITECTURES - 1, row = 0;
    while (architecture && binary_version < first_version[architecture]) architecture--;
    while (row < COUNT_OF(table) && (!is_text(name, table[row].name) || table[row].cycles[architecture] == NO)) row++;
    if (row < COUNT_OF(table)) {
        opcode.op = table[row].op;
        opcode.role = (enum sass_role)table[row].role;
        set_timing(&opcode, row, architecture);
    }
    bool memory = opcode.op == OP_load || opcode.op == OP_store || opcode.op == OP_atomic;
    if (memory || opcode.role == SASS_UNKNOWN) decode_access(&opcode, rest);
    struct sass_text left = rest, first = {0};
    if (opcode.role == SASS_BULK_WRITE && next_suffix(&left, &first) && is_text(first, "S"))
        opcode.role = SASS_PLAIN; /* UBLKCP.S.G: to shared memory */
    if (opcode.role == SASS_TENSOR) decode_tensor(&opcode, name, rest);
    if (opcode.role == SASS_DOUBLE || (opcode.op == OP_int_mad && has_suffix(rest, "WIDE"))) opcode.results = 2;
    if (opcode.role == SASS_BARRIER && has_suffix(rest, "ARV")) opcode.flags = INSTR_ARRIVE;
    return opcode;
}

static uint32_t hash_of(struct sass_text text) {
    uint32_t hash = UINT32_C(2166136261);
    for (const char *c = text.at; c < text.end; c++) hash = (hash ^ (uint8_t)*c) * UINT32_C(16777619);
    return hash ^ hash >> 15;
}

void sass_opcodes_start(struct sass_opcodes *opcodes, unsigned binary_version) {
    enum { SLOTS = 1024 };
    *opcodes = (struct sass_opcodes){.slots = SLOTS, .binary_version = binary_version};
    opcodes->slot = mem_alloc(SLOTS, sizeof *opcodes->slot);
}

void sass_opcodes_release(struct sass_opcodes *opcodes) {
    for (unsigned i = 0; i < opcodes->count; i++) free(opcodes->row[i].text);
    free(opcodes->row);
    free(opcodes->slot);
    *opcodes = (struct sass_opcodes){0};
}

static void enter(struct sass_opcodes *opcodes, uint32_t row) {
    uint32_t at = opcodes->row[row].hash & (opcodes->slots - 1);
    while (opcodes->slot[at]) at = (at + 1) & (opcodes->slots - 1);
    opcodes->slot[at] = row + 1;
}

static void widen(struct sass_opcodes *opcodes) {
    free(opcodes->slot);
    opcodes->slots *= 2;
    opcodes->slot = mem_alloc(opcodes->slots, sizeof *opcodes->slot);
    for (uint32_t i = 0; i < opcodes->count; i++) enter(opcodes, i);
}

struct sass_opcode *sass_opcodes_find(struct sass_opcodes *opcodes, struct sass_text text) {
    uint32_t hash = hash_of(text), row;
    for (uint32_t at = hash & (opcodes->slots - 1); (row = opcodes->slot[at]); at = (at + 1) & (opcodes->slots - 1)) {
        struct sass_opcode *found = &opcodes->row[row - 1];
        if (found->hash == hash && is_text(text, found->text)) return found;
    }
    if (opcodes->count == SASS_OPCODES) return NULL;
    if (opcodes->count == opcodes->room) {
        opcodes->room = opcodes->room ? 2 * opcodes->room : 64;
        opcodes->row = mem_grow(opcodes->row, opcodes->room, sizeof *opcodes->row);
    }
    if (2 * opcodes->count >= opcodes->slots) widen(opcodes);
    struct sass_opcode *added = &opcodes->row[opcodes->count];
    *added = decode(text, opcodes->binary_version);
    added->text = text_format("%.*s", (int)(text.end - text.at), text.at);
    added->hash = hash;
    enter(opcodes, opcodes->count++);
    return added;
}
