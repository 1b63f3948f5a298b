/* cvt and cvt.pack, PTX ISA 9.7.9.21: between all integer and floating-point types. Frequent pairs have their own
 * handlers; any other conversion goes through 64-bit integers or doubles in three steps: read, convert, write.
 *
 * Float to integer: the value is rounded as given by the instruction and clamped to the type; NaN becomes 0, or only
 * the top bit if one side has 64 bits. A register wider than its type is zero- or sign-extended. */
#include <math.h>

#include "emu/real.h"

enum kind { UNSIGNED, SIGNED, FLOAT };
static const struct type_facts {
    uint8_t kind, bits;
} facts[PTX_TYPE_COUNT] = {
    [PTX_u8] = {UNSIGNED, 8}, [PTX_u16] = {UNSIGNED, 16}, [PTX_u32] = {UNSIGNED, 32}, [PTX_u64] = {UNSIGNED, 64},
    [PTX_s8] = {SIGNED, 8},   [PTX_s16] = {SIGNED, 16},   [PTX_s32] = {SIGNED, 32},   [PTX_s64] = {SIGNED, 64},
    [PTX_f16] = {FLOAT, 16},  [PTX_bf16] = {FLOAT, 16},   [PTX_f32] = {FLOAT, 32},    [PTX_tf32] = {FLOAT, 32},
    [PTX_f64] = {FLOAT, 64},
};

/* The lowest `bits` of x, extended to 64. */
static inline u64 extended(u64 x, unsigned bits, bool is_signed) {
    const unsigned unused = 64 - bits;
    return is_signed ? (u64)((s64)(x << unused) >> unused) : x << unused >> unused;
}

static unsigned register_bytes(unsigned given, enum ptx_type type) {
    return given >= 2 ? given : facts[type].bits <= 16 ? 2 : facts[type].bits / 8u;
}

static void read_words(u64 *to, const struct warp *warp, uint32_t place, unsigned bytes) {
    LANES(u16, h, place);
    LANES(u32, w, place);
    LANES(u64, d, place);
    if (bytes == 2)
        EACH_LANE to[i] = h_lanes[i];
    else if (bytes == 4)
        EACH_LANE to[i] = w_lanes[i];
    else
        EACH_LANE to[i] = d_lanes[i];
}
static void write_words(struct warp *warp, uint32_t place, unsigned bytes, const u64 *from, u32 mask) {
    u16 h[WARP_LANES];
    u32 w[WARP_LANES];
    if (bytes == 2) {
        EACH_LANE h[i] = (u16)from[i];
        LANES_STORE(u16, place, h);
    } else if (bytes == 4) {
        EACH_LANE w[i] = (u32)from[i];
        LANES_STORE(u32, place, w);
    } else {
        LANES_STORE(u64, place, from);
    }
}

/* Bits of a float type as a double: exact. */
static void floats_from_bits(f64 *to, const u64 *bits, enum ptx_type type, bool ftz) {
    switch (type) {
    case PTX_f16: EACH_LANE to[i] = (f64)f16_to_f32((u16)bits[i]); break;
    case PTX_bf16: EACH_LANE to[i] = (f64)bf16_to_f32((u16)bits[i]); break;
    case PTX_f64: EACH_LANE to[i] = f64_of(bits[i]); break;
    default: EACH_LANE to[i] = (f64)(ftz ? f32_flushed(f32_of((u32)bits[i])) : f32_of((u32)bits[i]));
    }
}

/* The result of an overflow in f16 or bf16. */
static struct overflow overflow_of(enum rounding rounding, u64 infinity) {
    const u64 most = infinity - 1;
    return (struct overflow){rounding == ROUND_RZ || rounding == ROUND_RM ? most : infinity,
                             rounding == ROUND_RZ || rounding == ROUND_RP ? most : infinity};
}

/* tf32: a float whose fraction has 10 bits; ties go away from zero with .rna. */
static inline u32 tf32_of(f32 x, enum rounding rounding) {
    const u32 bits = f32_bits(x);
    const u32 half = rounding == ROUND_RZ ? 0 : rounding == ROUND_RN ? 0xFFF + (bits >> 13 & 1) : 0x1000;
    return x != x ? 0x7FFFFFFF : (bits & 0x7FFFFFFF) == 0x7F800000 ? bits : (bits + half) & ~UINT32_C(0x1FFF);
}

/* Doubles as bits of a float type, rounded in the host's mode, which is set from op->rounding. */
static void bits_from_floats(u64 *to, const f64 *x, const struct op *op) {
    const bool ftz = op->modifiers & MOD_FTZ;
    switch (op->element) {
    case PTX_f16: EACH_LANE to[i] = f64_to_f16(x[i], overflow_of(op->rounding, 0x7C00)); break;
    case PTX_bf16: EACH_LANE to[i] = f64_to_bf16(x[i], overflow_of(op->rounding, 0x7F80)); break;
    case PTX_f64: EACH_LANE to[i] = f64_bits(x[i] == x[i] ? x[i] : f64_quiet(x[i])); break;
    case PTX_tf32: EACH_LANE to[i] = tf32_of((f32)x[i], op->rounding); break;
    default:
        EACH_LANE {
            const f32 narrow = f32_canonical((f32)x[i]);
            to[i] = f32_bits(ftz ? f32_flushed(narrow) : narrow);
        }
    }
}

static void round_to_integers(f64 *x, enum rounding rounding) {
    switch (rounding) {
    case ROUND_RNI: EACH_LANE x[i] = rint(x[i]); break;
    case ROUND_RMI: EACH_LANE x[i] = floor(x[i]); break;
    case ROUND_RPI: EACH_LANE x[i] = ceil(x[i]); break;
    case ROUND_RZI: EACH_LANE x[i] = trunc(x[i]); break;
    default: break;
    }
}

static f64 largest_of(enum ptx_type type) {
    return type == PTX_f16 ? 0x1.FFCp15 : type == PTX_bf16 ? 0x1.FEp127 : 0x1.FFCp127;
}

/* .sat and .relu turn values of 0 or less into zero; .relu keeps NaN. .satfinite limits values to the largest number of the
 * type, `most`. */
static void limit_floats(f64 *x, u32 modifiers, f64 most) {
    if (modifiers & MOD_SAT) EACH_LANE x[i] = f64_saturated(x[i]);
    if (modifiers & MOD_SATFINITE) EACH_LANE x[i] = x[i] > most ? most : x[i] < -most ? -most : x[i];
    if (modifiers & MOD_RELU) EACH_LANE x[i] = x[i] != x[i] || x[i] > 0 ? x[i] : 0.0;
}

/* Clamps to the type's range. The upper 64-bit limits are not doubles: 2^63 or 2^64 and above are too large. */
static inline u64 integer_of(f64 x, struct type_facts to, u64 nan) {
    const bool is_signed = to.kind == SIGNED;
    const f64 beyond = is_signed ? ldexp(1.0, to.bits - 1) : ldexp(1.0, to.bits), least = is_signed ? -beyond : 0.0;
    const u64 most = is_signed ? low_mask(to.bits - 1u) : low_mask(to.bits);
    if (x != x) return nan;
    if (x >= beyond) return most;
    if (x <= least) return is_signed ? ~most : 0;
    return is_signed ? (u64)(s64)x : (u64)x;
}

/* An integer as a double; with more than 53 bits, the lost part is kept in the last bit, for rounding to halves. */
static inline u64 sticky(u64 magnitude) {
    return magnitude >> 53 ? (magnitude & ~UINT64_C(0x7FF)) | (u64)((magnitude & 0x7FF) != 0) << 11 : magnitude;
}
/* Compilers convert unsigned integers by a subtraction whose zero is negative when rounding down: fixes the sign. */
static inline f64 magnitude_from_integer(u64 x) { return f64_of(f64_bits((f64)x) & INT64_MAX); }
static inline f64 odd_from_integer(u64 x, bool is_signed) {
    return is_signed && (s64)x < 0 ? -magnitude_from_integer(sticky(0 - x)) : magnitude_from_integer(sticky(x));
}
static void bits_from_integers(u64 *to, const u64 *x, bool is_signed, const struct op *op) {
    f64 wide[WARP_LANES];
    if (op->element == PTX_f32) {
        EACH_LANE to[i] = is_signed ? f32_bits((f32)(s64)x[i]) : f32_bits((f32)x[i]) & INT32_MAX;
    } else if (op->element == PTX_f64) {
        EACH_LANE to[i] = is_signed ? f64_bits((f64)(s64)x[i]) : f64_bits((f64)x[i]) & INT64_MAX;
    } else {
        EACH_LANE wide[i] = odd_from_integer(x[i], is_signed);
        bits_from_floats(to, wide, op);
    }
}

/* Clamps a 64-bit integer to a narrower type or to the other signedness. */
static inline u64 clamped(u64 x, bool from_signed, struct type_facts to) {
    const s64 least = to.kind == SIGNED ? (s64)(~UINT64_C(0) << (to.bits - 1u)) : 0;
    const u64 most = to.kind == SIGNED ? low_mask(to.bits - 1u) : low_mask(to.bits);
    if (from_signed && (s64)x < least) return (u64)least;
    return (from_signed && (s64)x < 0) || x <= most ? x : most;
}

/* The value of a cvt for each lane, before extension. */
static void convert(u64 *to, const u64 *raw, const struct op *op) {
    const struct type_facts from = facts[op->source], target = facts[op->element];
    u64 x[WARP_LANES];
    f64 real[WARP_LANES];
    if (from.kind != FLOAT) {
        EACH_LANE x[i] = extended(raw[i], from.bits, from.kind == SIGNED);
        if (op->modifiers & MOD_SAT) { /* for floats: 0 to 1 */
            const struct type_facts limits =
                target.kind == FLOAT ? (struct type_facts){.bits = 1, .kind = UNSIGNED} : target;
            EACH_LANE x[i] = clamped(x[i], from.kind == SIGNED, limits);
        }
        if (target.kind == FLOAT)
            bits_from_integers(to, x, from.kind == SIGNED, op);
        else
            memcpy(to, x, sizeof x);
        return;
    }
    floats_from_bits(real, raw, op->source, op->modifiers & MOD_FTZ);
    round_to_integers(real, op->rounding);
    if (target.kind == FLOAT) {
        limit_floats(real, op->modifiers, largest_of(op->element));
        bits_from_floats(to, real, op);
    } else {
        const u64 nan = from.bits == 64 || target.bits == 64 ? UINT64_C(1) << (target.bits - 1u) : 0;
        EACH_LANE to[i] = integer_of(real[i], target, nan);
    }
}

HANDLER(cvt) {
    u64 raw[WARP_LANES], value[WARP_LANES];
    read_words(raw, warp, op->a, register_bytes(op->src_bytes, op->source));
    convert(value, raw, op);
    const struct type_facts to = facts[op->element];
    EACH_LANE value[i] = extended(value[i], to.bits, to.kind == SIGNED);
    write_words(warp, op->dst, register_bytes(op->dst_bytes, op->element), value, mask);
}

/* Two floats to a pair of halves: a is the upper one. */
HANDLER(cvt_pair) {
    struct op half = *op;
    half.element = op->element == PTX_f16x2 ? PTX_f16 : PTX_bf16;
    u64 raw[WARP_LANES], upper[WARP_LANES], lower[WARP_LANES];
    read_words(raw, warp, op->a, 4);
    convert(upper, raw, &half);
    read_words(raw, warp, op->b, 4);
    convert(lower, raw, &half);
    EACH_LANE lower[i] |= upper[i] << 16;
    write_words(warp, op->dst, 4, lower, mask);
}

HANDLER(cvt_directed) {
    const bool pair = op->element == PTX_f16x2 || op->element == PTX_bf16x2;
    rounding_run(pair ? cvt_pair : cvt, op->rounding, warp, op, mask);
}

/* cvt.pack: a and b clamped, a above b; with a third operand, its lowest bits move up. */
static inline u32 packed(s32 a, s32 b, u32 c, struct type_facts to, bool has_c) {
    const u32 ones = (u32)low_mask(to.bits);
    const u32 upper = (u32)clamped((u64)(s64)a, true, to) & ones, lower = (u32)clamped((u64)(s64)b, true, to) & ones;
    return (has_c && to.bits < 16 ? c << (2 * to.bits) : 0) | upper << to.bits | lower;
}
BINARY(cvt_pack_16, u32, s32, s32, packed(a, b, 0, facts[op->element], false))
TERNARY(cvt_pack_8, u32, s32, s32, u32, packed(a, b, c, facts[op->element], true))

/* Frequent conversions, with registers of their types' width and without modifiers. */
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) < (high) ? (x) : 0)
static inline s32 s32_of(f32 x) {
    const s32 inside = (s32)IN_RANGE(x, -0x1p31f, 0x1p31f);
    return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : inside;
}
static inline u32 u32_of(f32 x) {
    const u32 low = (u32)(s32)IN_RANGE(x, 0, 0x1p31f), high = (u32)(s32)IN_RANGE(x - 0x1p31f, 0, 0x1p31f) | 0x80000000;
    return x >= 0x1p32f ? UINT32_MAX : x >= 0x1p31f ? high : low;
}
#define FREQUENT(X) \
    X(f32, s32, ROUND_RN, (f32)a) \
    X(f32, u32, ROUND_RN, (f32)a) \
    X(f64, s32, ROUND_RN, (f64)a) \
    X(f64, u32, ROUND_RN, (f64)a) \
    X(f32, f64, ROUND_RN, f32_canonical((f32)a)) \
    X(f64, f32, ROUND_DEFAULT, (f64)a) \
    X(s32, f32, ROUND_RZI, s32_of(a)) \
    X(s32, f32, ROUND_RNI, s32_of(rintf(a))) \
    X(s32, f32, ROUND_RMI, s32_of(floorf(a))) \
    X(s32, f32, ROUND_RPI, s32_of(ceilf(a))) \
    X(u32, f32, ROUND_RZI, u32_of(a)) \
    X(u32, f32, ROUND_RNI, u32_of(rintf(a))) \
    X(f32, f32, ROUND_RZI, f32_canonical(truncf(a))) \
    X(f32, f32, ROUND_RNI, f32_canonical(rintf(a))) \
    X(f32, f32, ROUND_RMI, f32_canonical(floorf(a))) \
    X(f32, f32, ROUND_RPI, f32_canonical(ceilf(a)))
#define DEFINE_FREQUENT(D, S, rounding, ...) UNARY(D##_from_##S##_##rounding, D, S, __VA_ARGS__)
FREQUENT(DEFINE_FREQUENT)
UNARY(f32_from_f16, f32, u16, f32_canonical(f16_to_f32(a)))
static op_handler *frequent_find(const struct op *op) {
    static const struct {
        uint8_t to, from, rounding;
        op_handler *handler;
    } rows[] = {
#define ENTER_FREQUENT(D, S, rounding, ...) {PTX_##D, PTX_##S, rounding, D##_from_##S##_##rounding},
        FREQUENT(ENTER_FREQUENT){PTX_f32, PTX_f16, ROUND_DEFAULT, f32_from_f16}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].to == op->element && rows[i].from == op->source && rows[i].rounding == op->rounding)
            return rows[i].handler;
    return NULL;
}

/* Between integers: the bits of the narrower type, extended to the result's width. */
#define EXTEND_TO(K, S) \
    UNARY(K##_##S##_u16, u16, S, (K)a) UNARY(K##_##S##_u32, u32, S, (K)a) UNARY(K##_##S##_u64, u64, S, (K)a)
#define EXTEND(K) EXTEND_TO(K, u16) EXTEND_TO(K, u32) EXTEND_TO(K, u64)
EXTEND(u8)
EXTEND(s8)
EXTEND(u16)
EXTEND(s16)
EXTEND_TO(u32, u32)
EXTEND_TO(s32, u32)
EXTEND_TO(u32, u64)
EXTEND_TO(s32, u64)
EXTEND_TO(u64, u64)
#define EXTENDED_TO(K, S) \
    { K##_##S##_u16, K##_##S##_u32, K##_##S##_u64 }
static op_handler *integers_find(const struct op *op) {
    static op_handler *const extend[PTX_TYPE_COUNT][3][3] = {
        [PTX_u8] = {EXTENDED_TO(u8, u16), EXTENDED_TO(u8, u32), EXTENDED_TO(u8, u64)},
        [PTX_s8] = {EXTENDED_TO(s8, u16), EXTENDED_TO(s8, u32), EXTENDED_TO(s8, u64)},
        [PTX_u16] = {EXTENDED_TO(u16, u16), EXTENDED_TO(u16, u32), EXTENDED_TO(u16, u64)},
        [PTX_s16] = {EXTENDED_TO(s16, u16), EXTENDED_TO(s16, u32), EXTENDED_TO(s16, u64)},
        [PTX_u32] = {[1] = EXTENDED_TO(u32, u32), EXTENDED_TO(u32, u64)},
        [PTX_s32] = {[1] = EXTENDED_TO(s32, u32), EXTENDED_TO(s32, u64)},
        [PTX_u64] = {[2] = EXTENDED_TO(u64, u64)},
        [PTX_s64] = {[2] = EXTENDED_TO(u64, u64)},
    };
    const struct type_facts to = facts[op->element], from = facts[op->source];
    const unsigned dst = register_bytes(op->dst_bytes, op->element), src = register_bytes(op->src_bytes, op->source);
    if (to.bits > from.bits && from.kind == SIGNED && to.kind == UNSIGNED && 8 * dst > to.bits) return NULL;
    return extend[to.bits <= from.bits ? op->element : op->source][log2_floor(src) - 1][log2_floor(dst) - 1];
}

op_handler *convert_find(const struct op *op) {
    const struct type_facts to = facts[op->element], from = facts[op->source];
    if (op->operation == OPERATION_cvt_pack) return to.bits == 16 ? cvt_pack_16 : to.bits == 8 ? cvt_pack_8 : NULL;
    if (op->operation != OPERATION_cvt) return NULL;
    if ((op->element == PTX_f16x2 || op->element == PTX_bf16x2) && op->source == PTX_f32)
        return is_directed(op->rounding) ? cvt_directed : cvt_pair;
    if (!to.bits || !from.bits) return NULL;
    op_handler *handler = NULL;
    if (!op->modifiers && to.kind != FLOAT && from.kind != FLOAT)
        handler = integers_find(op);
    else if (!op->modifiers && register_bytes(op->dst_bytes, op->element) * 8 == to.bits &&
             register_bytes(op->src_bytes, op->source) * 8 == from.bits)
        handler = frequent_find(op);
    return handler ? handler : is_directed(op->rounding) ? cvt_directed : cvt;
}
