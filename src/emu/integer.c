/* Integer arithmetic, PTX ISA 9.7.1: results wrap around. Behaviour that PTX leaves undefined follows NVIDIA's
 * hardware: quotient and remainder of a division by zero are all ones; the smallest number divided by -1 is itself,
 * remainder 0. Carry chains are in carry.c. */
#include "emu/lanes.h"

#define IS_SIGNED(T)            ((T)-1 < (T)1)
#define PRODUCT(U, a, b)        (1u * (U)(a) * (U)(b)) /* avoids the promotion of 16-bit operands to signed int */
#define HIGH(T, W, a, b)        (((W)(a) * (W)(b)) >> (8 * sizeof(T)))
#define LOW24(T, x)             ((T)((u32)(x) << 8) >> 8)
#define PRODUCT24(T, W, a, b)   ((W)LOW24(T, a) * (W)LOW24(T, b))
#define CLAMP(x, low, high)     ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define CLAMP_S32(x)            CLAMP(x, INT32_MIN, INT32_MAX)
#define DIVIDE(T, U, a, b)      ((b) == 0 ? (T)-1 : IS_SIGNED(T) && (b) == (T)-1 ? (T)(0u - (U)(a)) : (T)((a) / (b)))
#define REMAINDER(T, a, b)      ((b) == 0 ? (T)-1 : IS_SIGNED(T) && (b) == (T)-1 ? (T)0 : (T)((a) % (b)))
#define WIDE_MUL(name, T, W)    BINARY(name, W, T, T, (W)a *(W)b)
#define WIDE_MAD(name, T, W, U) TERNARY(name, W, T, T, W, (U)((W)a * (W)b) + (U)c)

/* T: the element, U: the unsigned type of its size, W: the type twice as wide. */
#define ALL(X, T, U, W) \
    X(add, T, BINARY_SAME, (U)a + (U)b) \
    X(sub, T, BINARY_SAME, (U)a - (U)b) \
    X(mul_lo, T, BINARY_SAME, PRODUCT(U, a, b)) \
    X(mul_hi, T, BINARY_SAME, HIGH(T, W, a, b)) \
    X(mad_lo, T, TERNARY_SAME, PRODUCT(U, a, b) + (U)c) \
    X(mad_hi, T, TERNARY_SAME, (U)HIGH(T, W, a, b) + (U)c) \
    X(sad, T, TERNARY_SAME, (U)c + (U)(a < b ? (U)b - (U)a : (U)a - (U)b)) \
    X(div, T, BINARY_SAME, DIVIDE(T, U, a, b)) \
    X(rem, T, BINARY_SAME, REMAINDER(T, a, b)) \
    X(min, T, BINARY_SAME, a < b ? a : b) \
    X(max, T, BINARY_SAME, a > b ? a : b)
#define SIGNED(X, T, U) \
    X(abs, T, UNARY_SAME, a < 0 ? 0u - (U)a : (U)a) \
    X(neg, T, UNARY_SAME, 0u - (U)a)
#define WIDE(X, T, W, U) \
    X(mul_wide, T, WIDE_MUL, W) \
    X(mad_wide, T, WIDE_MAD, W, U)
#define ONLY32(X, T, W) \
    X(mul24_lo, T, BINARY_SAME, PRODUCT24(T, W, a, b)) \
    X(mul24_hi, T, BINARY_SAME, PRODUCT24(T, W, a, b) >> 16) \
    X(mad24_lo, T, TERNARY_SAME, (u32)PRODUCT24(T, W, a, b) + (u32)c) \
    X(mad24_hi, T, TERNARY_SAME, (u32)(PRODUCT24(T, W, a, b) >> 16) + (u32)c)
#define INTEGERS(X) \
    ALL(X, u16, u16, u32) \
    ALL(X, s16, u16, s32) \
    ALL(X, u32, u32, u64) \
    ALL(X, s32, u32, s64) \
    ALL(X, u64, u64, u128) \
    ALL(X, s64, u64, s128) \
    SIGNED(X, s16, u16) \
    SIGNED(X, s32, u32) \
    SIGNED(X, s64, u64) \
    WIDE(X, u16, u32, u32) \
    WIDE(X, s16, s32, u32) \
    WIDE(X, u32, u64, u64) \
    WIDE(X, s32, s64, u64) \
    ONLY32(X, u32, u64) \
    ONLY32(X, s32, s64)

/* .sat, for s32 only. */
#define SATURATING(X) \
    X(add, s32, BINARY_SAME, CLAMP_S32((s64)a + b)) \
    X(sub, s32, BINARY_SAME, CLAMP_S32((s64)a - b)) \
    X(mad_hi, s32, TERNARY_SAME, CLAMP_S32(HIGH(s32, s64, a, b) + c)) \
    X(mad24_hi, s32, TERNARY_SAME, CLAMP_S32((s64)(s32)(PRODUCT24(s32, s64, a, b) >> 16) + c))

/* Two 16-bit numbers in a 32-bit register: f of each pair of halves. */
#define LOWER(T, x)        ((T)(x))
#define UPPER(T, x)        ((T)((x) >> 16))
#define BOTH(lower, upper) ((u32)(u16)(lower) | (u32)(u16)(upper) << 16)
#define HALVES(name, T, E, f) \
    BINARY(name, u32, u32, u32, BOTH(f(LOWER(E, a), LOWER(E, b)), f(UPPER(E, a), UPPER(E, b))))
#define SUM(x, y)        ((x) + (y))
#define DIFFERENCE(x, y) ((x) - (y))
#define LESSER(x, y)     ((x) < (y) ? (x) : (y))
#define GREATER(x, y)    ((x) > (y) ? (x) : (y))
#define PACKED(X, T, E) \
    X(add, T, HALVES, E, SUM) \
    X(sub, T, HALVES, E, DIFFERENCE) \
    X(min, T, HALVES, E, LESSER) \
    X(max, T, HALVES, E, GREATER)

/* min.relu and max.relu: negative results become zero. */
#define NOT_NEGATIVE(x)    ((x) > 0 ? (x) : 0)
#define LESSER_RELU(x, y)  NOT_NEGATIVE(LESSER(x, y))
#define GREATER_RELU(x, y) NOT_NEGATIVE(GREATER(x, y))
#define RELU(X) \
    X(min, s32, BINARY_SAME, LESSER_RELU(a, b)) \
    X(max, s32, BINARY_SAME, GREATER_RELU(a, b)) \
    X(min, s16x2, HALVES, s16, LESSER_RELU) \
    X(max, s16x2, HALVES, s16, GREATER_RELU)

INTEGERS(DEFINE)
PACKED(DEFINE, u16x2, u16)
PACKED(DEFINE, s16x2, s16)
static const op_table wrapping = {INTEGERS(ENTER) PACKED(ENTER, u16x2, u16) PACKED(ENTER, s16x2, s16)};

#define DEFINE_SATURATING(operation, T, shape, ...) shape(operation##_sat_##T, T, __VA_ARGS__)
#define ENTER_SATURATING(operation, T, ...)         [PTX_##T][OPERATION_##operation] = operation##_sat_##T,
SATURATING(DEFINE_SATURATING)
static const op_table saturating = {SATURATING(ENTER_SATURATING)};

#define DEFINE_RELU(operation, T, shape, ...) shape(operation##_relu_##T, T, __VA_ARGS__)
#define ENTER_RELU(operation, T, ...)         [PTX_##T][OPERATION_##operation] = operation##_relu_##T,
RELU(DEFINE_RELU)
static const op_table relu = {RELU(ENTER_RELU)};

op_handler *integer_find(const struct op *op) {
    const op_table *table = op->modifiers & (MOD_CC_IN | MOD_CC_OUT) ? NULL
                            : op->modifiers & MOD_SAT                ? &saturating
                            : op->modifiers & MOD_RELU               ? &relu
                                                                     : &wrapping;
    return table ? (*table)[op->element][op->operation] : NULL;
}
