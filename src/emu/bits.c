/* Logic, shifts and bit fields, PTX ISA 9.7.1 and 9.7.8, and the dot products of bytes. */
#include "emu/lanes.h"

/* Shift amounts clamp: the width or more gives 0, or the sign. */
#define BITS(T)               ((u32)(8 * sizeof(T)))
#define LEFT(T, x, n)         ((n) < BITS(T) ? (T)((x) << ((n) & (BITS(T) - 1))) : (T)0)
#define RIGHT(T, x, n)        ((n) < BITS(T) ? (T)((x) >> ((n) & (BITS(T) - 1))) : (T)0)
#define RIGHT_SIGNED(T, x, n) ((T)((x) >> ((n) < BITS(T) ? (n) : BITS(T) - 1)))
#define SHIFT(name, T, ...)   BINARY(name, T, T, u32, __VA_ARGS__)
#define LOW_ONES(T, n)        ((T)(LEFT(T, (T)1, n) - 1)) /* the lowest n bits, for any n */

/* The highest bit that differs from the sign, from 0; all ones if there is none. */
static inline u32 highest_u32(u32 x) { return x ? 31u - (u32)__builtin_clz(x) : UINT32_MAX; }
static inline u32 highest_u64(u64 x) { return x ? 63u - (u32)__builtin_clzll(x) : UINT32_MAX; }
static inline u32 shiftamt(u32 highest, u32 msb, u32 modifiers) {
    return modifiers & MOD_SHIFTAMT && highest != UINT32_MAX ? msb - highest : highest;
}
#define BFIND(name, T, U, x) UNARY(name, u32, T, shiftamt(highest_##U(x), BITS(T) - 1, op->modifiers))

static inline u32 reversed(u32 x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
    return __builtin_bswap32(x);
}

/* The field of `len` bits from `pos`; bits beyond the top are zero, or the sign of the field. */
#define EXTRACT(name, T, U, shift) \
    static inline T name(T a, u32 pos, u32 len) { \
        const T field = shift; \
        const u32 unused = len < BITS(T) ? BITS(T) - len : 0; \
        return len == 0 ? (T)0 : (T)((T)((U)field << unused) >> unused); \
    }
EXTRACT(extract_u32, u32, u32, RIGHT(u32, a, pos))
EXTRACT(extract_s32, s32, u32, RIGHT_SIGNED(s32, a, pos))
EXTRACT(extract_u64, u64, u64, RIGHT(u64, a, pos))
EXTRACT(extract_s64, s64, u64, RIGHT_SIGNED(s64, a, pos))
#define BFE(name, T) TERNARY(name, T, T, u32, u32, extract_##T(a, b & 0xFF, c & 0xFF))

#define INSERT(T, a, b, field, pos) (((b) & (T)~LEFT(T, field, pos)) | (LEFT(T, a, pos) & LEFT(T, field, pos)))
#define BFI(name, T)                QUATERNARY(name, T, T, T, u32, u32, INSERT(T, a, b, LOW_ONES(T, d & 0xFF), (c & 0xFF)))

/* The position of the set bit of `mask` that is `offset` set bits away from `base`. */
static u32 nth_set(u32 mask, u32 base, s32 offset) {
    if (base > 31) return UINT32_MAX;
    if (offset == 0) return mask >> base & 1 ? base : UINT32_MAX;
    u32 found = offset > 0 ? mask & (UINT32_MAX << base) : mask & (UINT32_MAX >> (31 - base));
    for (u32 n = offset > 0 ? (u32)offset : 0u - (u32)offset; found; n--) {
        const u32 bit = offset > 0 ? (u32)__builtin_ctz(found) : 31u - (u32)__builtin_clz(found);
        if (n == 1) return bit;
        found &= ~(UINT32_C(1) << bit);
    }
    return UINT32_MAX;
}

/* The shift amount: modulo 32, or clamped to 32. */
static inline u32 width32(u32 amount, bool wrap) { return wrap ? amount & 31 : amount < 32 ? amount : 32; }
static inline u32 bmsk(u32 position, u32 amount, bool wrap) {
    const u32 ones = LOW_ONES(u32, width32(amount, wrap));
    return wrap ? ones << (position & 31) : LEFT(u32, ones, position);
}

static inline u64 joined(u32 low, u32 high) { return (u64)high << 32 | low; }

/* The selector nibbles of prmt's fixed modes, by the lowest two bits of c. */
static const u16 prmt_selectors[][4] = {
    [PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543}, [PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333}, [PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210}, [PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};
/* One byte of the result: a byte of the pair, or its replicated sign if the nibble's top bit is set. */
static inline u32 prmt_byte(u64 pair, u32 nibble, u32 at) {
    const u32 byte = (u32)(pair >> (8 * (nibble & 7))) & 0xFF;
    return (nibble & 8 ? (byte & 0x80 ? 0xFFu : 0u) : byte) << at;
}
static inline u32 prmt(u64 pair, u32 s) {
    return prmt_byte(pair, s, 0) | prmt_byte(pair, s >> 4, 8) | prmt_byte(pair, s >> 8, 16) |
           prmt_byte(pair, s >> 12, 24);
}
TERNARY(prmt_index, u32, u32, u32, u32, prmt(joined(a, b), c))
TERNARY(prmt_mode, u32, u32, u32, u32, prmt(joined(a, b), prmt_selectors[op->mode][c & 3]))

/* A byte or half-word of a register, extended by the register's type. */
static inline s32 piece(u32 x, unsigned at, unsigned bits, bool is_signed) {
    const u32 up = x << (32 - bits - at);
    return is_signed ? (s32)up >> (32 - bits) : (s32)(up >> (32 - bits));
}
static inline u32 dp4a(u32 a, u32 b, bool a_signed, bool b_signed) {
    u32 sum = 0;
    for (unsigned k = 0; k < 32; k += 8) sum += (u32)(piece(a, k, 8, a_signed) * piece(b, k, 8, b_signed));
    return sum;
}
static inline u32 dp2a(u32 a, u32 b, bool a_signed, bool b_signed) {
    return (u32)(piece(a, 0, 16, a_signed) * piece(b, 0, 8, b_signed)) +
           (u32)(piece(a, 16, 16, a_signed) * piece(b, 8, 8, b_signed));
}
#define A_SIGNED (op->element == PTX_s32)
#define B_SIGNED (op->source == PTX_s32)

#define LOGIC(X, T) \
    X(and, T, BINARY_SAME, a &b) \
    X(or, T, BINARY_SAME, a | b) \
    X(xor, T, BINARY_SAME, a ^ b) \
    X(not, T, UNARY_SAME, ~a) \
    X(cnot, T, UNARY_SAME, a == 0) \
    X(shl, T, SHIFT, LEFT(T, a, b)) \
    X(shr, T, SHIFT, RIGHT(T, a, b))
#define WORDS(X) \
    X(shr, s16, SHIFT, RIGHT_SIGNED(s16, a, b)) \
    X(shr, s32, SHIFT, RIGHT_SIGNED(s32, a, b)) \
    X(shr, s64, SHIFT, RIGHT_SIGNED(s64, a, b)) \
    X(bfe, u32, BFE_OF, ) \
    X(bfe, s32, BFE_OF, ) \
    X(bfe, u64, BFE_OF, ) \
    X(bfe, s64, BFE_OF, ) \
    X(bfi, u32, BFI_OF, ) \
    X(bfi, u64, BFI_OF, ) \
    X(bfind, u32, BFIND, u32, a) \
    X(bfind, s32, BFIND, u32, a < 0 ? ~(u32)a : (u32)a) \
    X(bfind, u64, BFIND, u64, a) \
    X(bfind, s64, BFIND, u64, a < 0 ? ~(u64)a : (u64)a) \
    X(brev, u32, UNARY_SAME, reversed(a)) \
    X(brev, u64, UNARY_SAME, joined(reversed((u32)(a >> 32)), reversed((u32)a))) \
    X(clz, u32, COUNT, a ? __builtin_clz(a) : 32) \
    X(clz, u64, COUNT, a ? __builtin_clzll(a) : 64) \
    X(popc, u32, COUNT, __builtin_popcount(a)) \
    X(popc, u64, COUNT, __builtin_popcountll(a)) \
    X(fns, u32, TERNARY_SAME, nth_set(a, b, (s32)c)) \
    X(bmsk, u32, BINARY_SAME, bmsk(a, b, op->modifiers &MOD_WRAP)) \
    X(szext, u32, BINARY_SAME, extract_u32(a, 0, width32(b, op->modifiers &MOD_WRAP))) \
    X(szext, s32, SHIFT, extract_s32(a, 0, width32(b, op->modifiers &MOD_WRAP))) \
    X(shf_l, u32, TERNARY_SAME, joined(a, b) << width32(c, op->modifiers & MOD_WRAP) >> 32) \
    X(shf_r, u32, TERNARY_SAME, joined(a, b) >> width32(c, op->modifiers & MOD_WRAP)) \
    X(dp4a, u32, TERNARY_SAME, c + dp4a(a, b, A_SIGNED, B_SIGNED)) \
    X(dp2a, u32, TERNARY_SAME, c + dp2a(a, op->modifiers & MOD_HIGH ? b >> 16 : b, A_SIGNED, B_SIGNED))
#define COUNT(name, T, ...)  UNARY(name, u32, T, __VA_ARGS__)
#define BFE_OF(name, T, ...) BFE(name, T)
#define BFI_OF(name, T, ...) BFI(name, T)
#define ALL(X)               LOGIC(X, u16) LOGIC(X, u32) LOGIC(X, u64) WORDS(X)

ALL(DEFINE)
static const op_table table = {ALL(ENTER)[PTX_s32][OPERATION_dp4a] = dp4a_of_u32, [PTX_s32][OPERATION_dp2a] =
                                                                                      dp2a_of_u32};

/* lop3: bit 4a + 2b + c of the table; each table bit is spread over a word, then selected by c, b and a. */
#define CHOOSE(by, one, zero) (((one) & (by)) | ((zero) & ~(by)))
HANDLER(lop3) {
    LANES(u32, a, op->a);
    LANES(u32, b, op->b);
    LANES(u32, c, op->c);
    u32 result[WARP_LANES], word[8], some = 0;
    for (unsigned k = 0; k < 8; k++) word[k] = (u32) - (s32)(op->immediate >> k & 1);
    EACH_LANE {
        const u32 x = a_lanes[i], y = b_lanes[i], z = c_lanes[i];
        const u32 without = CHOOSE(y, CHOOSE(z, word[3], word[2]), CHOOSE(z, word[1], word[0]));
        const u32 with = CHOOSE(y, CHOOSE(z, word[7], word[6]), CHOOSE(z, word[5], word[4]));
        result[i] = CHOOSE(x, with, without);
    }
    if (op->dst2 != PLACE_NONE) {
        EACH_LANE some |= (u32)(result[i] != 0) << i;
        const u32 other = warp_predicate(warp, op->d);
        warp_set_predicate(warp, op->dst2, op->boolean == BOOLEAN_AND ? some & other : some | other, mask);
    }
    if (op->dst != PLACE_NONE) LANES_STORE(u32, op->dst, result);
}

/* Predicates: 32 lanes in a word. */
#define PREDICATE(name, expression) \
    HANDLER(name) { warp_set_predicate(warp, op->dst, expression, mask); }
PREDICATE(and_pred, warp_predicate(warp, op->a) & warp_predicate(warp, op->b))
PREDICATE(or_pred, warp_predicate(warp, op->a) | warp_predicate(warp, op->b))
PREDICATE(xor_pred, warp_predicate(warp, op->a) ^ warp_predicate(warp, op->b))
PREDICATE(not_pred, ~warp_predicate(warp, op->a))
PREDICATE(mov_pred, warp_predicate(warp, op->a))
static op_handler *const predicates[OPERATION_COUNT] = {
    [OPERATION_and] = and_pred, [OPERATION_or] = or_pred,   [OPERATION_xor] = xor_pred,
    [OPERATION_not] = not_pred, [OPERATION_mov] = mov_pred,
};

op_handler *bits_find(const struct op *op) {
    if (op->element == PTX_pred) return predicates[op->operation];
    if (op->operation == OPERATION_lop3) return lop3;
    if (op->operation == OPERATION_prmt) return op->mode == PRMT_INDEX ? prmt_index : prmt_mode;
    return table[op->element][op->operation];
}
