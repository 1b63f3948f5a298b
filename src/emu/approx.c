/* Approximate operations, PTX ISA 9.7.3: computed in double and rounded once, well within the error bounds of PTX, with
 * the results of PTX's tables for zeros, infinities and NaN. They do not reproduce the last bits of any particular GPU.
 */
#include <math.h>

#include "emu/real.h"

/* div.approx multiplies by a reciprocal, which is flushed to zero for very large divisors. */
static inline f64 divided(f32 a, f32 b, bool full) {
    const f32 size = __builtin_fabsf(b);
    const bool vanishes = !full && size > 0x1p126f && size < F32_INFINITY;
    return vanishes ? (f64)a * __builtin_copysign(0.0, (f64)b) : (f64)a / (f64)b;
}

/* Only the 20 highest fraction bits of operand and result count: rcp.approx.ftz.f64, rsqrt.approx.ftz.f64. */
static inline f64 upper_half(f64 x) { return f64_of(f64_bits(x) & UINT64_C(0xFFFFFFFF00000000)); }
static inline f64 f64_flushed(f64 x) { return fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x; }
static inline f64 coarse_operand(f64 x) { return f64_flushed(upper_half(x)); }
static inline f64 coarse_result(f64 x) {
    return x == x ? f64_flushed(upper_half(f64_of(f64_bits(x) + (isinf(x) ? 0 : UINT64_C(0x80000000))))) : F64_NAN;
}

#define SINGLE_1(name, v, f)  UNARY(name, f32, f32, OUT_##v((f32)(f)))
#define IN_plain(x)           ((f64)(x))
#define IN_ftz(x)             ((f64)f32_flushed(x))
#define OUT_plain(x)          f32_canonical(x)
#define OUT_ftz(x)            f32_flushed(f32_canonical(x))
#define DIVIDE(name, v, full) BINARY(name, f32, f32, f32, OUT_##v((f32)divided((f32)IN_##v(a), (f32)IN_##v(b), full)))

#define SINGLE(X, v) \
    X(rcp, v, SINGLE_1, 1.0 / IN_##v(a)) \
    X(sqrt, v, SINGLE_1, sqrt(IN_##v(a))) \
    X(rsqrt, v, SINGLE_1, 1.0 / sqrt(IN_##v(a))) \
    X(sin, v, SINGLE_1, sin(IN_##v(a))) \
    X(cos, v, SINGLE_1, cos(IN_##v(a))) \
    X(lg2, v, SINGLE_1, log2(IN_##v(a))) \
    X(ex2, v, SINGLE_1, exp2(IN_##v(a))) \
    X(tanh, v, SINGLE_1, tanh(IN_##v(a))) \
    X(div, v, DIVIDE, false)
#define DEFINE_SINGLE(operation, v, shape, ...) shape(operation##_##v, v, __VA_ARGS__)
#define ENTER_SINGLE(operation, v, ...)         [OPERATION_##operation] = operation##_##v,
SINGLE(DEFINE_SINGLE, plain)
SINGLE(DEFINE_SINGLE, ftz)
DIVIDE(div_full, plain, true)
DIVIDE(div_full_ftz, ftz, true)
static op_handler *const single[2][OPERATION_COUNT] = {
    {SINGLE(ENTER_SINGLE, plain)}, [MOD_FTZ] = {SINGLE(ENTER_SINGLE, ftz)}};

UNARY_SAME(rcp_coarse, f64, coarse_result(1.0 / coarse_operand(a)))
UNARY_SAME(rsqrt_coarse, f64, coarse_result(1.0 / sqrt(coarse_operand(a))))
UNARY_SAME(rsqrt_f64, f64, f64_result(1.0 / sqrt(a), a, 0, 0))

op_handler *approx_find(const struct op *op) {
    const bool ftz = op->modifiers & MOD_FTZ;
    if (op->element == PTX_f32 && op->modifiers & MOD_FULL) return ftz ? div_full_ftz : div_full;
    if (op->element == PTX_f32) return single[ftz][op->operation];
    if (op->element != PTX_f64) return NULL;
    if (op->operation == OPERATION_rcp) return rcp_coarse;
    if (op->operation == OPERATION_rsqrt) return ftz ? rsqrt_coarse : rsqrt_f64;
    return NULL;
}
