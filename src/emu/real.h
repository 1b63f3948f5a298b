/* Floating-point semantics of PTX: NaN results, .ftz and .sat, and halves, which are computed as doubles and rounded
 * once.
 *
 * NaN: an f32 result is 0x7FFFFFFF, an f16 or bf16 result 0x7FFF (PTX: canonical); an f64 result is the first NaN
 * operand, made quiet, or 0xFFF8000000000000 if the operation creates the NaN. */
#ifndef SLUICE_EMU_REAL_H
#define SLUICE_EMU_REAL_H

#include "emu/lanes.h"

static inline u32 f32_bits(f32 x) {
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline f32 f32_of(u32 bits) {
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline u64 f64_bits(f64 x) {
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline f64 f64_of(u64 bits) {
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define F32_NAN      __builtin_nanf("0x3fffff")
#define F64_NAN      (-__builtin_nan(""))
#define F32_LEAST    0x1p-126f /* smallest normal number */
#define F16_LEAST    0x1p-14f
#define F32_INFINITY __builtin_inff()
#define F64_INFINITY __builtin_inf()

static inline f32 f32_canonical(f32 x) { return x == x ? x : F32_NAN; }
static inline f32 f32_flushed(f32 x) { return __builtin_fabsf(x) < F32_LEAST ? __builtin_copysignf(0.0f, x) : x; }
static inline f32 f32_saturated(f32 x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; } /* NaN: 0 */

static inline f64 f64_quiet(f64 x) { return f64_of(f64_bits(x) | UINT64_C(0x0008000000000000)); }
static inline f64 f64_saturated(f64 x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
/* The result of an operation on a, b and c. */
static inline f64 f64_result(f64 x, f64 a, f64 b, f64 c) {
    const f64 nan = a != a ? f64_quiet(a) : b != b ? f64_quiet(b) : c != c ? f64_quiet(c) : F64_NAN;
    return x == x ? x : nan;
}

/* f16 and bf16 as floats: exact. */
static inline f32 f16_to_f32(u16 h) {
    const u32 magnitude = (u32)(h & 0x7FFF) << 13, sign = (u32)(h & 0x8000) << 16;
    const f32 scaled = f32_of(magnitude) * 0x1p112f; /* also correct for subnormal numbers */
    return f32_of(((h & 0x7C00) == 0x7C00 ? magnitude | 0x7F800000 : f32_bits(scaled)) | sign);
}
static inline f32 bf16_to_f32(u16 h) { return f32_of((u32)h << 16); }

/* e4m3 has no infinities, and one NaN in either sign; e5m2 is the upper byte of an f16. */
static inline f32 e4m3_to_f32(u8 x) {
    const u32 magnitude = x & 0x7F;
    const f32 value = f32_of(magnitude << 20) * 0x1p120f; /* also correct for subnormal numbers */
    return magnitude == 0x7F ? F32_NAN : x & 0x80 ? -value : value;
}
static inline f32 e5m2_to_f32(u8 x) { return f16_to_f32((u16)(x << 8)); }

/* The result of an overflow in a format, by sign: infinity, or the largest number if the rounding mode is directed away
 * from it. */
struct overflow {
    u64 positive, negative;
};

/* Rounds x once, in the host's rounding mode, to a format of `fraction` bits whose exponents start at that of `least`:
 * adding a number of x's sign whose last bit has the weight of the result's last bit rounds there. The result has the
 * bits of a double, shifted, after a multiplication has aligned the smallest exponents of both formats. All in 64-bit
 * words, to allow vectorisation. */
static inline u64 f64_narrowed(f64 x, unsigned fraction, f64 least, f64 scale, f64 beyond, u64 infinity,
                               struct overflow overflow) {
    const f64 magnitude = __builtin_fabs(x);
    const f64 leading = f64_of(f64_bits(magnitude) & UINT64_C(0x7FF0000000000000));
    const f64 unit = __builtin_copysign((leading > least ? leading : least) * (f64)(UINT64_C(3) << (51 - fraction)), x);
    const f64 rounded = __builtin_fabs((x + unit) - unit);
    const u64 sign = f64_bits(x) >> 48 & 0x8000, bits = f64_bits(rounded * scale) >> (52 - fraction);
    const u64 most = sign ? overflow.negative : overflow.positive;
    const u64 finite = ((magnitude < beyond) & (rounded < beyond)) ? bits : most; /* the sum itself may overflow */
    return x == x ? (magnitude == F64_INFINITY ? infinity : finite) | sign : 0x7FFF;
}
static inline u64 f64_to_f16(f64 x, struct overflow overflow) {
    return f64_narrowed(x, 10, 0x1p-14, 0x1p-1008, 0x1p16, 0x7C00, overflow);
}
static inline u64 f64_to_bf16(f64 x, struct overflow overflow) {
    return f64_narrowed(x, 7, 0x1p-126, 0x1p-896, 0x1p128, 0x7F80, overflow);
}
/* Numbers beyond the format become its largest one. The sign is bit 15 of f64_narrowed(). */
static inline u64 f64_to_f8(f64 x, unsigned fraction, f64 least, f64 scale, f64 most) {
    const f64 limited = x > most ? most : x < -most ? -most : x;
    const u64 bits = f64_narrowed(limited, fraction, least, scale, F64_INFINITY, 0, (struct overflow){0, 0});
    return x == x ? (bits >> 8 & 0x80) | (bits & 0x7F) : 0x7F;
}
static inline u64 f64_to_e4m3(f64 x) { return f64_to_f8(x, 3, 0x1p-6, 0x1p-1016, 448.0); }
static inline u64 f64_to_e5m2(f64 x) { return f64_to_f8(x, 2, 0x1p-14, 0x1p-1008, 57344.0); }
#define F16_NEAREST  ((struct overflow){0x7C00, 0x7C00})
#define BF16_NEAREST ((struct overflow){0x7F80, 0x7F80})

/* a + b rounded to odd: the lost part is kept in the last bit, so that a second rounding to fewer bits is correct. */
static inline f64 f64_sum_odd(f64 a, f64 b) {
    const f64 sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
    const bool inexact = lost > 0 || lost < 0, away = (lost > 0) == (sum > 0);
    const u64 bits = f64_bits(sum);
    return f64_of(inexact && !(bits & 1) ? (away ? bits + 1 : bits - 1) : bits);
}

/* min and max: a number wins over NaN unless .NaN is given, -0 is less than +0. */
#define REAL_MINMAX(T, fabs, copysign) \
    static inline T T##_lesser(T a, T b, bool nan_wins) { \
        const T number = a < b ? a : b < a ? b : __builtin_signbit(a) ? a : b; \
        return a != a ? (nan_wins ? a : b) : b != b ? (nan_wins ? b : a) : number; \
    } \
    static inline T T##_extreme(T a, T b, bool is_max, bool nan_wins) { \
        return is_max ? -T##_lesser(-a, -b, nan_wins) : T##_lesser(a, b, nan_wins); \
    } \
    static inline T T##_minmax(T a, T b, bool is_max, u32 modifiers) { \
        const bool sign = !__builtin_signbit(a) != !__builtin_signbit(b), xorsign = modifiers & MOD_XORSIGN_ABS; \
        const T r = T##_extreme(xorsign ? fabs(a) : a, xorsign ? fabs(b) : b, is_max, modifiers & MOD_NAN_WINS); \
        return xorsign ? copysign(r, sign ? (T)-1 : (T)1) : r; \
    }
REAL_MINMAX(f32, __builtin_fabsf, __builtin_copysignf)
REAL_MINMAX(f64, __builtin_fabs, __builtin_copysign)

#endif
