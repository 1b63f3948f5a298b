/* Comparison and selection, PTX ISA 9.7.6: setp, set, selp, slct. A comparison of 32 lanes is a word of bits,
 * optionally combined with another predicate. For packed halves, the two results of setp are those of the lower and the
 * upper half. */
#include "emu/real.h"

typedef u32 compare_lanes(const void *a, const void *b);

/* Integers of one type, then floats: with a NaN, ordered comparisons are false and unordered ones true. */
#define INTEGER_COMPARE(X, T) \
    X(T, EQ, a == b) \
    X(T, NE, a != b) \
    X(T, LT, a < b) \
    X(T, LE, a <= b) \
    X(T, GT, a > b) \
    X(T, GE, a >= b)
#define FLOAT_COMPARE(X, T) \
    X(T, EQ, a == b) \
    X(T, NE, a<b || a> b) \
    X(T, LT, a < b) \
    X(T, LE, a <= b) \
    X(T, GT, a > b) \
    X(T, GE, a >= b) \
    X(T, EQU, !(a < b || a > b)) \
    X(T, NEU, a != b) \
    X(T, LTU, !(a >= b)) \
    X(T, LEU, !(a > b)) \
    X(T, GTU, !(a <= b)) \
    X(T, GEU, !(a < b)) \
    X(T, NUM, a == a && b == b) \
    X(T, NAN, a != a || b != b)
#define COMPARISONS(X) \
    INTEGER_COMPARE(X, u16) \
    INTEGER_COMPARE(X, s16) \
    INTEGER_COMPARE(X, u32) \
    INTEGER_COMPARE(X, s32) \
    INTEGER_COMPARE(X, u64) \
    INTEGER_COMPARE(X, s64) \
    FLOAT_COMPARE(X, f32) \
    FLOAT_COMPARE(X, f64)

/* Each comparison twice: as a function of two arrays, and as the handler of setp. */
static void setp_finish(struct warp *warp, const struct op *op, u32 first, u32 second, u32 mask) {
    const u32 other = op->boolean == BOOLEAN_NONE ? 0 : warp_predicate(warp, op->c);
    switch ((enum boolean)op->boolean) {
    case BOOLEAN_NONE: break;
    case BOOLEAN_AND: first &= other, second &= other; break;
    case BOOLEAN_OR: first |= other, second |= other; break;
    case BOOLEAN_XOR: first ^= other, second ^= other; break;
    }
    if (op->dst != PLACE_NONE) warp_set_predicate(warp, op->dst, first, mask);
    if (op->dst2 != PLACE_NONE) warp_set_predicate(warp, op->dst2, second, mask);
}
#define DEFINE_COMPARE(T, compare, condition) \
    static inline u32 compare##_##T(const void *a_place, const void *b_place) { \
        typedef T element __attribute__((may_alias)); \
        const element *a_lanes = (const element *)a_place, *b_lanes = (const element *)b_place; \
        u32 holds = 0; \
        EACH_LANE { \
            const T a = a_lanes[i], b = b_lanes[i]; \
            holds |= (u32)(condition) << i; \
        } \
        return holds; \
    } \
    HANDLER(setp_##compare##_##T) { \
        const u32 holds = compare##_##T(warp_place(warp, op->a), warp_place(warp, op->b)); \
        setp_finish(warp, op, holds, ~holds, mask); \
    }
COMPARISONS(DEFINE_COMPARE)

enum { COMPARES = COMPARE_NAN + 1 };
static const struct comparison {
    compare_lanes *lanes;
    op_handler *setp;
} comparisons[PTX_TYPE_COUNT][COMPARES] = {
#define ENTER_COMPARE(T, compare, condition) [PTX_##T][COMPARE_##compare] = {compare##_##T, setp_##compare##_##T},
    COMPARISONS(ENTER_COMPARE)};

static const struct comparison *comparison_find(enum ptx_type type, enum compare compare) {
    static const uint8_t unsigned_names[COMPARES] = {
        [COMPARE_LO] = COMPARE_LT, [COMPARE_LS] = COMPARE_LE, [COMPARE_HI] = COMPARE_GT, [COMPARE_HS] = COMPARE_GE};
    return &comparisons[type][unsigned_names[compare] ? unsigned_names[compare] : compare];
}

/* Halves, and floats with .ftz, are compared as floats. */
static void widen(f32 *to, const struct warp *warp, uint32_t place, const struct op *op, unsigned half) {
    const bool packed = op->element == PTX_f16x2 || op->element == PTX_bf16x2;
    const bool brain = op->element == PTX_bf16 || op->element == PTX_bf16x2;
    const f32 least = brain || op->element == PTX_f32 ? F32_LEAST : F16_LEAST;
    LANES(u16, x, place);
    LANES(f32, y, place);
    EACH_LANE {
        const u16 h = x_lanes[packed ? 2 * i + half : i];
        const f32 value = op->element == PTX_f32 ? y_lanes[i] : brain ? bf16_to_f32(h) : f16_to_f32(h);
        to[i] = op->modifiers & MOD_FTZ && __builtin_fabsf(value) < least ? __builtin_copysignf(0.0f, value) : value;
    }
}
static bool is_float_alike(const struct op *op) {
    return op->element == PTX_f16 || op->element == PTX_f16x2 || op->element == PTX_bf16 || op->element == PTX_bf16x2 ||
           (op->element == PTX_f32 && op->modifiers & MOD_FTZ);
}
static bool is_packed(const struct op *op) { return op->element == PTX_f16x2 || op->element == PTX_bf16x2; }

static u32 compare_half(const struct warp *warp, const struct op *op, unsigned half) {
    f32 a[WARP_LANES], b[WARP_LANES];
    widen(a, warp, op->a, op, half);
    widen(b, warp, op->b, op, half);
    return comparison_find(PTX_f32, op->compare)->lanes(a, b);
}
HANDLER(setp_widened) {
    const u32 low = compare_half(warp, op, 0);
    setp_finish(warp, op, low, is_packed(op) ? compare_half(warp, op, 1) : ~low, mask);
}

/* set: the comparison as a number of type `source`: 1.0, or all ones. */
static u32 combined(const struct warp *warp, const struct op *op, u32 holds) {
    const u32 other = op->boolean == BOOLEAN_NONE ? 0 : warp_predicate(warp, op->c);
    return op->boolean == BOOLEAN_AND   ? holds & other
           : op->boolean == BOOLEAN_OR  ? holds | other
           : op->boolean == BOOLEAN_XOR ? holds ^ other
                                        : holds;
}
static u32 set_true(enum ptx_type type) {
    switch (type) {
    case PTX_f32: return 0x3F800000;
    case PTX_f16: return 0x3C00;
    case PTX_bf16: return 0x3F80;
    case PTX_f16x2: return 0x3C003C00;
    case PTX_bf16x2: return 0x3F803F80;
    default: return UINT32_MAX;
    }
}
HANDLER(set) {
    u32 low, high;
    if (is_float_alike(op)) {
        low = combined(warp, op, compare_half(warp, op, 0));
        high = is_packed(op) ? combined(warp, op, compare_half(warp, op, 1)) : low;
    } else {
        const void *a = warp_place(warp, op->a), *b = warp_place(warp, op->b);
        low = high = combined(warp, op, comparison_find(op->element, op->compare)->lanes(a, b));
    }
    const u32 value = set_true(op->source);
    u32 words[WARP_LANES];
    u16 halves[WARP_LANES];
    EACH_LANE {
        const u32 lower = low >> i & 1 ? 0xFFFF : 0, upper = high >> i & 1 ? 0xFFFF0000 : 0;
        words[i] = value & (lower | upper);
        halves[i] = (u16)words[i];
    }
    if (op->source == PTX_u16 || op->source == PTX_s16 || op->source == PTX_f16 || op->source == PTX_bf16)
        LANES_STORE(u16, op->dst, halves);
    else
        LANES_STORE(u32, op->dst, words);
}

/* Selection is the same for all types of a size. */
#define SELP(U) \
    HANDLER(selp_##U) { \
        LANES(U, a, op->a); \
        LANES(U, b, op->b); \
        const u32 chosen = warp_predicate(warp, op->c); \
        U result[WARP_LANES]; \
        EACH_LANE result[i] = chosen >> i & 1 ? a_lanes[i] : b_lanes[i]; \
        LANES_STORE(U, op->dst, result); \
    }
SELP(u16)
SELP(u32)
SELP(u64)

/* c >= 0: false for NaN, true for -0. */
#define SLCT(U) \
    TERNARY(slct_s32_##U, U, U, U, s32, c >= 0 ? a : b) \
    TERNARY(slct_f32_##U, U, U, U, f32, c >= 0 ? a : b) \
    TERNARY(slct_ftz_##U, U, U, U, f32, c > -F32_LEAST ? a : b)
SLCT(u16)
SLCT(u32)
SLCT(u64)

op_handler *compare_find(const struct op *op) {
    static op_handler *const selp[] = {[1] = selp_u16, [2] = selp_u32, [3] = selp_u64};
    static op_handler *const slct[][3] = {[1] = {slct_s32_u16, slct_f32_u16, slct_ftz_u16},
                                          [2] = {slct_s32_u32, slct_f32_u32, slct_ftz_u32},
                                          [3] = {slct_s32_u64, slct_f32_u64, slct_ftz_u64}};
    const unsigned size = type_size_log2(op->element);
    switch (op->operation) {
    case OPERATION_setp: return is_float_alike(op) ? setp_widened : comparison_find(op->element, op->compare)->setp;
    case OPERATION_set: return is_float_alike(op) || comparison_find(op->element, op->compare)->lanes ? set : NULL;
    case OPERATION_selp: return size >= 1 && size <= 3 ? selp[size] : NULL;
    case OPERATION_slct:
        return size < 1 || size > 3 ? NULL : slct[size][op->source == PTX_s32 ? 0 : op->modifiers & MOD_FTZ ? 2 : 1];
    default: return NULL;
    }
}
