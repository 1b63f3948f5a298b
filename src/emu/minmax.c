/* min and max of f32 and f64, PTX ISA 9.7.3: with one NaN the result is the other operand, or with .NaN a NaN; -0 is
 * less than +0; .xorsign.abs compares magnitudes and gives the result the product of the signs; with three operands
 * .abs compares magnitudes only. */
#include "emu/real.h"

#define PLAIN(operation, is_max) \
    BINARY_SAME(operation##_f32, f32, f32_canonical(f32_extreme(a, b, is_max, false))) \
    BINARY_SAME(operation##_f64, f64, f64_result(f64_extreme(a, b, is_max, false), a, b, 0))
PLAIN(min, false)
PLAIN(max, true)

static inline f32 prepared(f32 x, u32 modifiers) {
    const f32 flushed = modifiers & MOD_FTZ ? f32_flushed(x) : x;
    return modifiers & MOD_THREE && modifiers & MOD_XORSIGN_ABS ? __builtin_fabsf(flushed) : flushed;
}
static inline f32 two(f32 a, f32 b, bool is_max, u32 modifiers) {
    return f32_canonical(f32_minmax(prepared(a, modifiers), prepared(b, modifiers), is_max, modifiers));
}
static inline f32 three(f32 a, f32 b, f32 c, bool is_max, u32 modifiers) {
    const u32 rest = modifiers & ~(u32)MOD_XORSIGN_ABS;
    const f32 first = f32_minmax(prepared(a, modifiers), prepared(b, modifiers), is_max, rest);
    return f32_canonical(f32_minmax(first, prepared(c, modifiers), is_max, rest));
}
BINARY_SAME(two_f32, f32, two(a, b, op->operation == OPERATION_max, op->modifiers))
TERNARY_SAME(three_f32, f32, three(a, b, c, op->operation == OPERATION_max, op->modifiers))

op_handler *minmax_find(const struct op *op) {
    const bool is_max = op->operation == OPERATION_max;
    if (!is_max && op->operation != OPERATION_min) return NULL;
    if (op->element == PTX_f64) return is_max ? max_f64 : min_f64;
    if (op->element != PTX_f32) return NULL;
    if (op->modifiers & MOD_THREE) return three_f32;
    if (op->modifiers) return two_f32;
    return is_max ? max_f32 : min_f32;
}
