/* f16 and bf16 arithmetic, scalar and packed, PTX ISA 9.7.4: computed in double, where products are exact and sums keep
 * the bits needed for a single rounding, then rounded once. A register of pairs is 64 consecutive halves.
 *
 * fma.oob: as fma, but zero if an operand is the out-of-bounds NaN (0xFFFF). */
#include <math.h>

#include "emu/real.h"

/* A handler reads its operands as doubles, computes, and writes halves: three loops over 32 or 64 elements. */
#define COUNT(packed)     ((packed) ? 2 * WARP_LANES : WARP_LANES)
#define EACH_HALF(packed) for (unsigned i = 0; i < COUNT(packed); i++)

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

#define FORMAT(T, least, least_bits, nearest) \
    static inline void T##_read(f64 *to, const struct warp *warp, const struct op *op, uint32_t place, bool packed) { \
        LANES(u16, x, place); \
        const f32 flushed = op->modifiers & MOD_FTZ ? least : 0.0f; \
        EACH_HALF(packed) { \
            const f32 value = T##_to_f32(x_lanes[i]); \
            to[i] = (f64)(__builtin_fabsf(value) < flushed ? __builtin_copysignf(0.0f, value) : value); \
        } \
    } \
    static inline void T##_finish(u16 *to, f64 *x, u32 modifiers, bool packed) { \
        const u64 flushed = modifiers & MOD_FTZ ? least_bits : 0; \
        if (modifiers & MOD_SAT) EACH_HALF(packed) x[i] = f64_saturated(x[i]); \
        if (modifiers & MOD_RELU) EACH_HALF(packed) x[i] = x[i] <= 0 ? 0.0 : x[i]; \
        EACH_HALF(packed) { \
            const u64 bits = f64_to_##T(x[i], nearest); \
            to[i] = (u16)((bits & 0x7FFF) < flushed ? bits & 0x8000 : bits); \
        } \
    }
FORMAT(f16, F16_LEAST, 0x0400, F16_NEAREST)
FORMAT(bf16, F32_LEAST, 0x0080, BF16_NEAREST)

/* Products of halves are exact in double; sums must keep every bit that decides a tie. */
static inline f64 fused(f64 a, f64 b, f64 c) { return f64_sum_odd(a * b, c); }

#define HALF(name, T, packed, b_place, c_place, ...) \
    HANDLER(name) { \
        const u32 m = op->modifiers; \
        f64 x[COUNT(packed)], y[COUNT(packed)], z[COUNT(packed)]; \
        u16 result[COUNT(packed)]; \
        T##_read(x, warp, op, op->a, packed); \
        T##_read(y, warp, op, b_place, packed); \
        T##_read(z, warp, op, c_place, packed); \
        EACH_HALF(packed) { \
            const f64 a = x[i], b = y[i], c = z[i]; \
            (void)m, (void)b, (void)c; \
            x[i] = (__VA_ARGS__); \
        } \
        T##_finish(result, x, m, packed); \
        STORE_HALVES(packed, result); \
    }
#define HALF_1(name, T, packed, ...) HALF(name, T, packed, op->a, op->a, __VA_ARGS__)
#define HALF_2(name, T, packed, ...) HALF(name, T, packed, op->b, op->b, __VA_ARGS__)
#define HALF_3(name, T, packed, ...) HALF(name, T, packed, op->b, op->c, __VA_ARGS__)

/* Operations on the bits. */
#define HALF_BITS(name, T, packed, expression) \
    HANDLER(name) { \
        const u16 flushed = op->modifiers & MOD_FTZ ? T##_LEAST_BITS : 0; \
        LANES(u16, a, op->a); \
        u16 result[COUNT(packed)]; \
        EACH_HALF(packed) { \
            const u16 a = a_lanes[i]; \
            result[i] = (u16)((a & 0x7FFF) < flushed ? (expression)&0x8000 : (expression)); \
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

/* fma.oob of any format: as fma, then zero if an operand is out of bounds. */
#define OUT_OF_BOUNDS(E, packed) \
    HANDLER(oob_##E) { \
        LANES(u16, a, op->a); \
        LANES(u16, b, op->b); \
        LANES(u16, c, op->c); \
        u16 outside[COUNT(packed)], result[COUNT(packed)]; \
        EACH_HALF(packed) \
        outside[i] = a_lanes[i] == 0xFFFF || b_lanes[i] == 0xFFFF || c_lanes[i] == 0xFFFF ? 0 : 0xFFFF; \
        fma_of_##E(warp, op, mask); \
        LANES(u16, d, op->dst); \
        EACH_HALF(packed) result[i] = d_lanes[i] & outside[i]; \
        STORE_HALVES(packed, result); \
    }

#define DEFINE_HALF(operation, E, shape, ...) shape(operation##_of_##E, __VA_ARGS__)
ALL(DEFINE_HALF)
static const op_table table = {ALL(ENTER)};

OUT_OF_BOUNDS(f16, false)
OUT_OF_BOUNDS(f16x2, true)
OUT_OF_BOUNDS(bf16, false)
OUT_OF_BOUNDS(bf16x2, true)

op_handler *half_find(const struct op *op) {
    static op_handler *const oob[PTX_TYPE_COUNT] = {
        [PTX_f16] = oob_f16, [PTX_f16x2] = oob_f16x2, [PTX_bf16] = oob_bf16, [PTX_bf16x2] = oob_bf16x2};
    if (op->operation == OPERATION_fma && op->modifiers & MOD_OOB) return oob[op->element];
    return table[op->element][op->operation];
}
