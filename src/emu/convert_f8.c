/* cvt between pairs of 8-bit floats and f32 or f16x2, PTX ISA 9.7.9.21: to nearest even, with .satfinite. A number beyond
 * the format, infinity included, becomes the largest number of its sign; a NaN becomes 0x7F. Operand a is the upper one
 * of a pair. */
#include "emu/real.h"

static u32 narrowed(f64 x, bool e4m3, bool relu) {
    if (relu && x <= 0) x = 0.0;
    return (u32)(e4m3 ? f64_to_e4m3(x) : f64_to_e5m2(x));
}

static inline u16 pair_of(f64 upper, f64 lower, const struct op *op) {
    const bool e4m3 = op->element == PTX_e4m3x2, relu = op->modifiers & MOD_RELU;
    return (u16)(narrowed(upper, e4m3, relu) << 8 | narrowed(lower, e4m3, relu));
}

static inline u32 half_of(u32 byte, const struct op *op) {
    const f64 x = (f64)(op->source == PTX_e4m3x2 ? e4m3_to_f32((u8)byte) : e5m2_to_f32((u8)byte));
    return (u32)f64_to_f16(op->modifiers & MOD_RELU && x <= 0 ? 0.0 : x, F16_NEAREST);
}

BINARY(pair_from_f32, u16, f32, f32, pair_of((f64)a, (f64)b, op))
UNARY(pair_from_f16x2, u16, u32, pair_of((f64)f16_to_f32((u16)(a >> 16)), (f64)f16_to_f32((u16)a), op))
UNARY(f16x2_from_pair, u32, u16, half_of(a >> 8, op) << 16 | half_of(a & 0xFF, op))

op_handler *convert_f8_find(const struct op *op) {
    if (op->operation != OPERATION_cvt) return NULL;
    if (op->element == PTX_e4m3x2 || op->element == PTX_e5m2x2)
        return op->source == PTX_f32 ? pair_from_f32 : op->source == PTX_f16x2 ? pair_from_f16x2 : NULL;
    return op->source == PTX_e4m3x2 || op->source == PTX_e5m2x2 ? f16x2_from_pair : NULL;
}
