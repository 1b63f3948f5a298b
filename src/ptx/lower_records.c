/* Static stream records of operations: class, and for a memory access the space, cache operator and size. The emulator
 * adds the dynamic part (lanes, touched blocks, bank conflicts). */
#include "ptx/lower.h"

#include "ptx/matrix.h"

/* Timing classes of float and double operations. 64-bit integers count as 32-bit ones, halves as floats. */
static enum op_class class_of(const struct op *op) {
    static const uint8_t base[] = {
#define X(name, class) OP_##class,
#include "ptx/operations.def"
#undef X
    };
    static const struct {
        uint8_t base, real, twice;
    } reals[] = {
        {OP_int_add, OP_f32_add, OP_f64_add}, {OP_int_minmax, OP_f32_minmax, OP_f64_minmax},
        {OP_f32_mul, OP_f32_mul, OP_f64_mul}, {OP_f32_fma, OP_f32_fma, OP_f64_fma},
        {OP_int_div, OP_f32_div, OP_f64_div},
    };
    enum ptx_type type = op->element;
    bool real = ptx_type_kind(type) == PTX_FLOAT || type == PTX_f16x2 || type == PTX_bf16x2;
    for (unsigned i = 0; i < COUNT_OF(reals) && real; i++)
        if (reals[i].base == base[op->operation]) return type == PTX_f64 ? reals[i].twice : reals[i].real;
    return base[op->operation];
}

static const uint8_t space_of[PTX_SPACE_COUNT] = {
    [PTX_SPACE_GENERIC] = SPACE_GLOBAL, [PTX_SPACE_GLOBAL] = SPACE_GLOBAL, [PTX_SPACE_CONST] = SPACE_CONST,
    [PTX_SPACE_SHARED] = SPACE_SHARED,  [PTX_SPACE_LOCAL] = SPACE_LOCAL,   [PTX_SPACE_PARAM] = SPACE_CONST,
};

static uint8_t flags_of(const struct ptx_instr *instr) {
    uint8_t flags = 0;
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        if (instr->modifier[i] == PTX_MOD_nc) flags |= INSTR_NONCOHERENT | INSTR_READ_ONLY;
        if (instr->modifier[i] == PTX_MOD_ro) flags |= INSTR_READ_ONLY;
    }
    return flags;
}

static enum tensor_format format_of(const struct op *op) {
    switch ((enum ptx_type)op->source) {
    case PTX_f16: return op->element == PTX_f16 && op->mode == PTX_f16 ? TENSOR_f16 : TENSOR_f16_f32;
    case PTX_tf32: return TENSOR_tf32;
    case PTX_e4m3:
    case PTX_e5m2: return TENSOR_f8;
    case PTX_u8:
    case PTX_s8: return TENSOR_s8;
    case PTX_u4:
    case PTX_s4: return TENSOR_s4;
    case PTX_b1: return TENSOR_b1;
    case PTX_f64: return TENSOR_f64;
    default: return TENSOR_f16_f32;
    }
}

/* Registers written by one operation of the block are available at the same time, so one of them is named. The most
 * recently written ones come first; those from other blocks last. */
unsigned record_sources(const uint32_t *read, uint32_t count, const uint32_t *written, uint32_t block,
                        uint32_t chosen[INSTR_SRCS]) {
    unsigned used = 0;
    uint32_t before = UINT32_MAX;
    while (used < INSTR_SRCS) { /* the latest writer before the last one chosen */
        uint32_t latest = block, reg = 0;
        for (uint32_t k = 0; k < count; k++)
            if (written[read[k]] > latest && written[read[k]] < before) latest = written[read[k]], reg = read[k];
        if (latest == block) break;
        before = latest;
        chosen[used++] = reg;
    }
    for (uint32_t k = 0; k < count && used < INSTR_SRCS; k++) {
        bool known = written[read[k]] > block;
        for (unsigned i = 0; i < used; i++) known |= chosen[i] == read[k];
        if (!known) chosen[used++] = read[k];
    }
    return used;
}

void record_make(const struct lowering *l, const struct op *op, struct instr *record) {
    record->op = (uint8_t)class_of(op);
    record->conflicts = 1;
    switch (op->operation) {
    case OPERATION_ld:
    case OPERATION_st:
    case OPERATION_atom:
    case OPERATION_red:
        if (op->space == PTX_SPACE_PARAM && (op->modifiers & MOD_FRAME)) { /* a value passed to or from a function */
            record->op = OP_other;
            break;
        }
        record->space = space_of[op->space];
        record->cache = op->operation == OPERATION_ld || op->operation == OPERATION_st ? op->cache : CACHE_DEFAULT;
        record->bytes_log2 = (uint8_t)log2_floor(ptx_type_bytes(op->element) * op->vector);
        if (op->operation == OPERATION_ld) record->flags = flags_of(&l->source->instrs[op->instr]);
        break;
    case OPERATION_tex:
    case OPERATION_tld4: record->flags = INSTR_NONCOHERENT | INSTR_READ_ONLY; /* fallthrough */
    case OPERATION_suld:
    case OPERATION_sust:
        record->space = SPACE_GLOBAL;
        record->cache = op->cache;
        record->bytes_log2 = (uint8_t)log2_floor(ptx_type_bytes(op->element) * op->vector);
        break;
    case OPERATION_mma:
        record->space = (uint8_t)format_of(op);
        record->count = (uint16_t)matrix_work(op->shape, matrix_is_quad(op->shape, op->source));
        break;
    case OPERATION_wmma_load:
    case OPERATION_wmma_store:
    case OPERATION_ldmatrix:
    case OPERATION_stmatrix: /* a lane accesses 16 bytes at once */
        record->space = space_of[op->space];
        record->bytes_log2 = 4;
        break;
    case OPERATION_copy:
    case OPERATION_copy_arrive:
        record->cache = op->cache;
        record->bytes_log2 = (uint8_t)(op->operation == OPERATION_copy ? log2_floor((uint64_t)op->immediate) : 0);
        record->flags = (uint8_t)(INSTR_ASYNC | (op->operation == OPERATION_copy_arrive ? INSTR_ARRIVE : 0));
        break;
    case OPERATION_bulk_load:
    case OPERATION_bulk_store: /* their pieces bypass the L1 */
        record->cache = op->operation == OPERATION_bulk_load ? CACHE_GLOBAL : CACHE_DEFAULT;
        record->bytes_log2 = 4;
        record->flags = INSTR_ASYNC | INSTR_BULK;
        break;
    case OPERATION_bulk_send:
        record->space = SPACE_SHARED;
        record->bytes_log2 = 4;
        record->flags = INSTR_ASYNC | INSTR_BULK;
        break;
    case OPERATION_copy_wait:
        record->flags = (uint8_t)(INSTR_ASYNC | (op->modifiers & MOD_BULK ? INSTR_BULK : 0) |
                                  (op->modifiers & MOD_SOURCE ? INSTR_SOURCE : 0));
        break;
    case OPERATION_mbarrier_arrive:
    case OPERATION_mbarrier_tx: record->flags = INSTR_ASYNC | INSTR_ARRIVE; break;
    case OPERATION_mbarrier_init:
    case OPERATION_mbarrier_inval:
    case OPERATION_mbarrier_wait: /* a poll; the emulator records success as a wait */
        record->space = SPACE_SHARED;
        record->bytes_log2 = 3;
        break;
    case OPERATION_bar_sync:
    case OPERATION_bar_red: record->barrier = (uint8_t)op->immediate; break;
    case OPERATION_bar_arrive:
        record->barrier = (uint8_t)op->immediate;
        record->flags = INSTR_ARRIVE;
        break;
    default: break;
    }
}
