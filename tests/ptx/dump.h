/* A lowered function as text, one operation per line,
 *
 *     7 @!p2 mad_lo s32 r384 <- r0 s384 c64=0x4 ; int_mad 5 <- 3 9
 *
 * index, guard, name, types and modes; results and sources (r: byte of the register window, c: byte of the constants
 * with the first word there, s: byte of the special block, p: predicate); after the semicolon the stream record: class
 * and register numbers. */
#ifndef SLUICE_TESTS_PTX_DUMP_H
#define SLUICE_TESTS_PTX_DUMP_H

#include <inttypes.h>
#include <string.h>

#include "ptx/lower.h"

static const char *const operation_names[] = {
#define X(name, class) #name,
#include "ptx/operations.def"
#undef X
};
static const char *const class_names[] = {
#define X(name, unit, latency, interval, help) #name,
    OP_LIST(X)
#undef X
};

enum { IS_DST = 1, IS_DST2 = 2, IS_A = 4, IS_B = 8, IS_C = 16, IS_D = 32 };

/* The operands of an operation that are predicates. */
static inline unsigned predicate_operands(const struct op *op) {
    bool pred = op->element == PTX_pred;
    switch (op->operation) {
    case OPERATION_and:
    case OPERATION_or:
    case OPERATION_xor:
    case OPERATION_not:
    case OPERATION_mov: return pred ? IS_DST | IS_A | IS_B : 0;
    case OPERATION_testp:
    case OPERATION_isspacep: return IS_DST;
    case OPERATION_setp: return IS_DST | IS_DST2 | IS_C;
    case OPERATION_set:
    case OPERATION_selp: return IS_C;
    case OPERATION_lop3: return IS_DST2 | IS_D;
    case OPERATION_bar_red: return IS_C | (pred ? IS_DST : 0);
    case OPERATION_vote: return IS_A | (pred ? IS_DST : 0);
    case OPERATION_shfl:
    case OPERATION_match:
    case OPERATION_elect: return IS_DST2;
    default: return 0;
    }
}

static inline void place_print(const struct program_function *f, uint32_t place, bool predicate, FILE *out) {
    if (place == PLACE_NONE) return;
    uint32_t offset = place & (uint32_t)low_mask(PLACE_SHIFT), word = 0;
    if (predicate)
        fprintf(out, " %sp%" PRIu32, place & 1 ? "!" : "", place >> 1);
    else if (place >> PLACE_SHIFT == PLACE_REGISTER)
        fprintf(out, " r%" PRIu32, offset);
    else if (place >> PLACE_SHIFT == PLACE_SPECIAL)
        fprintf(out, " s%" PRIu32, offset);
    else {
        memcpy(&word, f->constants + offset, sizeof word);
        fprintf(out, " c%" PRIu32 "=0x%" PRIx32, offset, word);
    }
}

static inline void modes_print(const struct op *op, FILE *out) {
    static const char *const flags[] = {"ftz", "sat",     "cc",   "carry", "approx",   "full", "wrap",
                                        "NaN", "xorsign", "relu", "three", "shiftamt", "high", "accumulate",
                                        "to",  "sync",    "all",  "frame", "static",   "oob",  "uniform"};
    static const char *const rounding[] = {"", " rn", " rz", " rm", " rp", " rna", " rni", " rzi", " rmi", " rpi"};
    static const char *const spaces[] = {"", " global", " const", " shared", " local", " param"};
    fprintf(out, " %s", ptx_type_name(op->element));
    if (op->source != op->element) fprintf(out, "/%s", ptx_type_name(op->source));
    fprintf(out, "%s%s", rounding[op->rounding], spaces[op->space]);
    if (op->vector > 1) fprintf(out, " v%u", op->vector);
    for (unsigned i = 0; i < COUNT_OF(flags); i++)
        if (op->modifiers >> i & 1) fprintf(out, " %s", flags[i]);
    if (op->mode) fprintf(out, " mode=%u", op->mode);
    if (op->operation == OPERATION_setp || op->operation == OPERATION_set) fprintf(out, " compare=%u", op->compare);
}

static inline bool is_control(const struct op *op) {
    return op->operation == OPERATION_bra || op->operation == OPERATION_brx || op->operation == OPERATION_call ||
           op->operation == OPERATION_call_indirect;
}

static inline void operands_print(const struct program_function *f, const struct op *op, FILE *out) {
    unsigned predicates = predicate_operands(op);
    bool writes = op->operation == OPERATION_ld || op->operation == OPERATION_unpack;
    place_print(f, op->dst, predicates & IS_DST, out);
    place_print(f, op->dst2, predicates & IS_DST2, out);
    for (unsigned i = 0; op->vector > 1 && writes && i < op->vector; i++)
        place_print(f, f->element_list[op->elements + i], false, out);
    fprintf(out, " <-");
    place_print(f, op->a, predicates & IS_A, out);
    place_print(f, op->b, predicates & IS_B, out);
    place_print(f, op->c, predicates & IS_C, out);
    place_print(f, op->d, predicates & IS_D, out);
    for (unsigned i = 0; op->vector > 1 && !writes && i < op->vector; i++)
        place_print(f, f->element_list[op->elements + i], false, out);
    if (is_control(op)) fprintf(out, " target=%" PRIu32, op->target);
    if (op->operation == OPERATION_bra || op->operation == OPERATION_brx)
        fprintf(out, " meet=%" PRIu32, op->reconverge);
    if (!is_control(op) && op->immediate) fprintf(out, " #%" PRId64, op->immediate);
}

static inline void program_dump(const struct program_function *f, FILE *out) {
    fprintf(out, "%s %s: %" PRIu32 " registers, %" PRIu32 " bytes shared, %" PRIu32 " frame, %" PRIu32 " parameters\n",
            f->is_kernel ? "kernel" : "function", f->name, f->registers, f->shared_bytes, f->frame_bytes,
            f->parameter_bytes);
    for (uint32_t i = 0; i < f->op_count; i++) {
        const struct op *op = &f->ops[i];
        const struct instr *record = &f->records[i];
        fprintf(out, "%" PRIu32, i);
        if (op->guard) fprintf(out, " @%sp%" PRIu32, op->guard & 1 ? "!" : "", op->guard >> 1);
        fprintf(out, " %s", operation_names[op->operation]);
        modes_print(op, out);
        operands_print(f, op, out);
        fprintf(out, " ; %s", class_names[record->op]);
        for (unsigned k = 0; k < INSTR_DSTS && record->dst[k]; k++) fprintf(out, " %u", record->dst[k]);
        fprintf(out, " <-");
        for (unsigned k = 0; k < INSTR_SRCS && record->src[k]; k++) fprintf(out, " %u", record->src[k]);
        fputc('\n', out);
    }
}

#endif
