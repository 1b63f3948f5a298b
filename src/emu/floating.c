/* f32 and f64 arithmetic, PTX ISA 9.7.3: the host's IEEE 754 arithmetic in any rounding mode, with .ftz and .sat after
 * rounding. Approximations are in approx.c, minimum and maximum in minmax.c, f16 and bf16 in half.c. */
#include "emu/real.h"

/* in(x): an operand; out(x): the result, for the four combinations of .ftz and .sat. */
#define IN_plain(x)    (x)
#define IN_ftz(x)      f32_flushed(x)
#define IN_sat(x)      (x)
#define IN_ftz_sat(x)  f32_flushed(x)
#define OUT_plain(x)   f32_canonical(x)
#define OUT_ftz(x)     f32_flushed(f32_canonical(x))
#define OUT_sat(x)     f32_saturated(x)
#define OUT_ftz_sat(x) f32_saturated(f32_flushed(x))

#define SINGLE(X, v) \
    X(add, v, BINARY_SAME, OUT_##v(IN_##v(a) + IN_##v(b))) \
    X(sub, v, BINARY_SAME, OUT_##v(IN_##v(a) - IN_##v(b))) \
    X(mul, v, BINARY_SAME, OUT_##v(IN_##v(a) * IN_##v(b))) \
    X(fma, v, TERNARY_SAME, OUT_##v(__builtin_fmaf(IN_##v(a), IN_##v(b), IN_##v(c)))) \
    X(div, v, BINARY_SAME, OUT_##v(IN_##v(a) / IN_##v(b))) \
    X(rcp, v, UNARY_SAME, OUT_##v(1.0f / IN_##v(a))) \
    X(sqrt, v, UNARY_SAME, OUT_##v(__builtin_sqrtf(IN_##v(a)))) \
    X(abs, v, UNARY_SAME, __builtin_fabsf(IN_##v(a))) \
    X(neg, v, UNARY_SAME, -IN_##v(a))
/* The NaN of a double is selected separately: only a warp that has one pays for it. */
#define DOUBLE_NAN(name, b_place, c_place, ...) \
    HANDLER(name) { \
        LANES(f64, a, op->a); \
        LANES(f64, b, b_place); \
        LANES(f64, c, c_place); \
        f64 result[WARP_LANES]; \
        u64 nans = 0; \
        EACH_LANE { \
            const f64 a = a_lanes[i], b = b_lanes[i], c = c_lanes[i], r = (__VA_ARGS__); \
            (void)b, (void)c; \
            result[i] = r; \
            nans |= r != r; \
        } \
        if (UNLIKELY(nans)) EACH_LANE result[i] = f64_result(result[i], a_lanes[i], b_lanes[i], c_lanes[i]); \
        LANES_STORE(f64, op->dst, result); \
    }
#define DOUBLE_1(name, T, ...) DOUBLE_NAN(name, op->a, op->a, __VA_ARGS__)
#define DOUBLE_2(name, T, ...) DOUBLE_NAN(name, op->b, op->b, __VA_ARGS__)
#define DOUBLE_3(name, T, ...) DOUBLE_NAN(name, op->b, op->c, __VA_ARGS__)
#define DOUBLE(X) \
    X(add, f64, DOUBLE_2, a + b) \
    X(sub, f64, DOUBLE_2, a - b) \
    X(mul, f64, DOUBLE_2, a *b) \
    X(fma, f64, DOUBLE_3, __builtin_fma(a, b, c)) \
    X(div, f64, DOUBLE_2, a / b) \
    X(rcp, f64, DOUBLE_1, 1.0 / a) \
    X(sqrt, f64, DOUBLE_1, __builtin_sqrt(a)) \
    X(abs, f64, UNARY_SAME, __builtin_fabs(a)) \
    X(neg, f64, UNARY_SAME, -a) \
    X(copysign, f64, BINARY_SAME, __builtin_copysign(b, a))
BINARY_SAME(copysign_f32, f32, __builtin_copysignf(b, a))

#define DEFINE_SINGLE(operation, v, shape, ...) shape(operation##_##v, f32, __VA_ARGS__)
#define ENTER_SINGLE(operation, v, ...)         [OPERATION_##operation] = operation##_##v,
SINGLE(DEFINE_SINGLE, plain)
SINGLE(DEFINE_SINGLE, ftz)
SINGLE(DEFINE_SINGLE, sat)
SINGLE(DEFINE_SINGLE, ftz_sat)
DOUBLE(DEFINE)

/* Indexed by MOD_FTZ and MOD_SAT. */
static op_handler *const single[4][OPERATION_COUNT] = {
    {SINGLE(ENTER_SINGLE, plain)[OPERATION_copysign] = copysign_f32},
    [MOD_FTZ] = {SINGLE(ENTER_SINGLE, ftz)},
    [MOD_SAT] = {SINGLE(ENTER_SINGLE, sat)},
    [MOD_FTZ | MOD_SAT] = {SINGLE(ENTER_SINGLE, ftz_sat)},
};
static const op_table doubles = {DOUBLE(ENTER)};

static op_handler *to_nearest(const struct op *op) {
    return op->element == PTX_f32   ? single[op->modifiers & (MOD_FTZ | MOD_SAT)][op->operation]
           : op->element == PTX_f64 ? doubles[PTX_f64][op->operation]
                                    : NULL;
}

HANDLER(directed) { rounding_run(to_nearest(op), op->rounding, warp, op, mask); }

/* testp on the bits: exponent and fraction of an f32 or f64 in one unsigned word; infinity is `top`. */
static inline bool tested(enum testp test, u64 magnitude, u64 top, u64 least) {
    switch (test) {
    case TESTP_FINITE: return magnitude < top;
    case TESTP_INFINITE: return magnitude == top;
    case TESTP_NUMBER: return magnitude <= top;
    case TESTP_NOTANUMBER: return magnitude > top;
    case TESTP_NORMAL: return magnitude >= least && magnitude < top;
    case TESTP_SUBNORMAL: return magnitude > 0 && magnitude < least;
    }
    assert(!"unknown testp mode");
    return false;
}
#define TESTP(name, U, magnitude_mask, top, least) \
    HANDLER(name) { \
        LANES(U, a, op->a); \
        u32 result = 0; \
        EACH_LANE result |= (u32)tested(op->compare, a_lanes[i] & (magnitude_mask), top, least) << i; \
        warp_set_predicate(warp, op->dst, result, mask); \
    }
TESTP(testp_f32, u32, INT32_MAX, 0x7F800000, 0x00800000)
TESTP(testp_f64, u64, INT64_MAX, UINT64_C(0x7FF0000000000000), UINT64_C(0x0010000000000000))

op_handler *floating_find(const struct op *op) {
    if (op->operation == OPERATION_testp) return op->element == PTX_f32 ? testp_f32 : testp_f64;
    if (op->modifiers & (MOD_APPROX | MOD_FULL)) return NULL;
    op_handler *nearest = to_nearest(op);
    return nearest && is_directed(op->rounding) ? directed : nearest;
}
