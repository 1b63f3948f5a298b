/* Arithmetic on f16, bf16 and pairs of them, PTX ISA 9.7.4: computed in double, where products are exact and sums keep what a
 * single rounding needs, then rounded once. A register of pairs is 64 halves side by side.
 *
 * fma.oob: as fma, but zero where an operand is the out-of-bounds NaN (0xFFFF). */
#include <math.h>

#include "emu/real.h"

/* 32 or 64 halves. */
#define EACH_HALF(packed)   for (unsigned i = 0; i < ((packed) ? 2 * WARP_LANES : WARP_LANES); i++)
#define HALVES(name, place) LANES(u16, name, place)

#define STORE_HALVES(packed, halves) \
    do { \
        u32 pairs[WARP_LANES]; \
        if (packed) { \
            memcpy(pairs, halves, sizeof pairs); \
            LANES_STORE(u32, op->dst, pairs); \
        } else { \
            LANES_STORE(u16, op->dst, halves); \
        } \
    } while (0)

static inline f64 f16_value(u16 h, u32 modifiers) {
    const f32 x = f16_to_f32(h);
    return modifiers & MOD_FTZ && __builtin_fabsf(x) < F16_LEAST ? __builtin_copysign(0.0, (f64)x) : (f64)x;
}
static inline f64 bf16_value(u16 h, u32 modifiers) {
    const f32 x = bf16_to_f32(h);
    return (f64)(modifiers & MOD_FTZ ? f32_flushed(x) : x);
}
static inline u16 finished(u16 h, u32 modifiers, u16 least, u16 one, u16 infinity) {
    const u16 magnitude = h & 0x7FFF;
    const bool nan = magnitude > infinity, negative = h >> 15;
    if (modifiers & MOD_FTZ && magnitude < least) h &= 0x8000;
    if (modifiers & MOD_SAT) h = nan || negative ? 0 : h > one ? one : h;
    if (modifiers & MOD_RELU) h = nan ? 0x7FFF : negative ? 0 : h;
    return h;
}
static inline u16 f16_result(f64 x, u32 modifiers) {
    return finished(f64_to_f16(x, F16_NEAREST), modifiers, 0x0400, 0x3C00, 0x7C00);
}
static inline u16 bf16_result(f64 x, u32 modifiers) {
    return finished(f64_to_bf16(x, BF16_NEAREST), modifiers, 0x0080, 0x3F80, 0x7F80);
}

/* Products of halves are exact in double; of the sum no bit may be lost that decides a tie. */
static inline f64 fused(f64 a, f64 b, f64 c) { return f64_sum_odd(a * b, c); }

#define HALF_1(name, T, packed, expression) \
    HANDLER(name) { \
        const u32 m = op->modifiers; \
        HALVES(a, op->a); \
        u16 result[2 * WARP_LANES]; \
        EACH_HALF(packed) { \
            const f64 a = T##_value(a_lanes[i], m); \
            result[i] = T##_result(expression, m); \
        } \
        STORE_HALVES(packed, result); \
    }
#define HALF_2(name, T, packed, expression) \
    HANDLER(name) { \
        const u32 m = op->modifiers; \
        HALVES(a, op->a); \
        HALVES(b, op->b); \
        u16 result[2 * WARP_LANES]; \
        EACH_HALF(packed) { \
            const f64 a = T##_value(a_lanes[i], m), b = T##_value(b_lanes[i], m); \
            result[i] = T##_result(expression, m); \
        } \
        STORE_HALVES(packed, result); \
    }
#define HALF_3(name, T, packed, expression) \
    HANDLER(name) { \
        const u32 m = op->modifiers; \
        HALVES(a, op->a); \
        HALVES(b, op->b); \
        HALVES(c, op->c); \
        u16 result[2 * WARP_LANES]; \
        EACH_HALF(packed) { \
            const f64 a = T##_value(a_lanes[i], m), b = T##_value(b_lanes[i], m), c = T##_value(c_lanes[i], m); \
            const bool outside = \
                m & MOD_OOB && (a_lanes[i] == 0xFFFF || b_lanes[i] == 0xFFFF || c_lanes[i] == 0xFFFF); \
            result[i] = T##_result(outside ? 0.0 : expression, m); \
        } \
        STORE_HALVES(packed, result); \
    }
/* On the bits alone. */
#define HALF_BITS(name, T, packed, expression) \
    HANDLER(name) { \
        const u32 m = op->modifiers; \
        HALVES(a, op->a); \
        u16 result[2 * WARP_LANES]; \
        EACH_HALF(packed) { \
            const u16 a = a_lanes[i]; \
            result[i] = (u16)(m & MOD_FTZ && (a & 0x7FFF) < T##_LEAST_BITS ? (expression)&0x8000 : (expression)); \
        } \
        STORE_HALVES(packed, result); \
    }
#define f16_LEAST_BITS  0x0400
#define bf16_LEAST_BITS 0x0080

#define FAMILY(X, E, T, packed) \
    X(add, E, HALF_2, T, packed, a + b) \
    X(sub, E, HALF_2, T, packed, a - b) \
    X(mul, E, HALF_2, T, packed, a *b) \
    X(fma, E, HALF_3, T, packed, fused(a, b, c)) \
    X(min, E, HALF_2, T, packed, f64_minmax(a, b, false, m)) \
    X(max, E, HALF_2, T, packed, f64_minmax(a, b, true, m)) \
    X(neg, E, HALF_BITS, T, packed, a ^ 0x8000) \
    X(abs, E, HALF_BITS, T, packed, a & 0x7FFF) \
    X(ex2, E, HALF_1, T, packed, exp2(a)) \
    X(tanh, E, HALF_1, T, packed, tanh(a))
#define ALL(X) \
    FAMILY(X, f16, f16, false) FAMILY(X, f16x2, f16, true) FAMILY(X, bf16, bf16, false) FAMILY(X, bf16x2, bf16, true)

#define DEFINE_HALF(operation, E, shape, ...) shape(operation##_of_##E, __VA_ARGS__)
ALL(DEFINE_HALF)
static const op_table table = {ALL(ENTER)};

op_handler *half_find(const struct op *op) { return table[op->element][op->operation]; }
