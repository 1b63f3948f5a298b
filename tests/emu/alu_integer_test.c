/* Integer operations compared with 128-bit integer arithmetic, bit by bit where PTX defines them that way. */
#include <inttypes.h>
#include <stdio.h>

#include "emu/alu.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* The operands of one lane: as numbers of the element's type, and as raw bits. */
struct lane {
    unsigned bits;
    bool is_signed;
    uint32_t modifiers;
    uint64_t raw[4];
    wide a, b, c;
};
typedef wide reference(const struct lane *l);

static wide number(uint64_t raw, unsigned bits, bool is_signed) {
    const wide value = (wide)(raw & low_mask(bits));
    return is_signed && value >> (bits - 1) & 1 ? value - ((wide)1 << bits) : value;
}
static wide limit(wide x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x; }
static wide absolute(wide x) { return x < 0 ? -x : x; }
static wide product(const struct lane *l) {
    /* 64 x 64 bits give up to 128 bits, so the sign is handled separately */
    return l->is_signed ? l->a * l->b : (wide)((uwide)l->a * (uwide)l->b);
}
static wide high(const struct lane *l) {
    return l->is_signed ? product(l) >> l->bits : (wide)((uwide)product(l) >> l->bits);
}
static wide product24(const struct lane *l) {
    return number(l->raw[0], 24, l->is_signed) * number(l->raw[1], 24, l->is_signed);
}

static wide ref_add(const struct lane *l) { return l->a + l->b; }
static wide ref_add_sat(const struct lane *l) { return limit(l->a + l->b); }
static wide ref_sub(const struct lane *l) { return l->a - l->b; }
static wide ref_sub_sat(const struct lane *l) { return limit(l->a - l->b); }
static wide ref_mul_lo(const struct lane *l) { return product(l); }
static wide ref_mul_hi(const struct lane *l) { return high(l); }
static wide ref_mad_lo(const struct lane *l) { return (wide)((uwide)product(l) + (uwide)l->c); }
static wide ref_mad_hi(const struct lane *l) { return high(l) + l->c; }
static wide ref_mad_hi_sat(const struct lane *l) { return limit(high(l) + l->c); }
static wide ref_mul24_lo(const struct lane *l) { return product24(l); }
static wide ref_mul24_hi(const struct lane *l) { return product24(l) >> 16; }
static wide ref_mad24_lo(const struct lane *l) { return product24(l) + l->c; }
static wide ref_mad24_hi(const struct lane *l) { return (product24(l) >> 16) + l->c; }
static wide ref_mad24_sat(const struct lane *l) { return limit((wide)(int32_t)(product24(l) >> 16) + l->c); }
static wide ref_sad(const struct lane *l) { return l->c + absolute(l->a - l->b); }
static wide ref_div(const struct lane *l) { return l->b == 0 ? -1 : l->a / l->b; }
static wide ref_rem(const struct lane *l) { return l->b == 0 ? -1 : l->a % l->b; }
static wide ref_abs(const struct lane *l) { return absolute(l->a); }
static wide ref_neg(const struct lane *l) { return -l->a; }
static wide ref_min(const struct lane *l) { return l->a < l->b ? l->a : l->b; }
static wide ref_max(const struct lane *l) { return l->a > l->b ? l->a : l->b; }
static wide ref_min_relu(const struct lane *l) { return ref_min(l) < 0 ? 0 : ref_min(l); }
static wide ref_and(const struct lane *l) { return l->a & l->b; }
static wide ref_or(const struct lane *l) { return l->a | l->b; }
static wide ref_xor(const struct lane *l) { return l->a ^ l->b; }
static wide ref_not(const struct lane *l) { return ~l->a; }
static wide ref_cnot(const struct lane *l) { return l->a == 0; }
static wide ref_shl(const struct lane *l) {
    const uint32_t n = (uint32_t)l->raw[1];
    return n >= l->bits ? 0 : (wide)((uwide)l->a << n);
}
static wide ref_shr(const struct lane *l) {
    const uint32_t n = (uint32_t)l->raw[1];
    return l->a >> (n > 100 ? 100 : n); /* more than the width of any element */
}
static unsigned bit(uint64_t x, unsigned k) { return x >> k & 1; }
static wide ref_bfe(const struct lane *l) {
    const unsigned pos = l->raw[1] & 0xFF, len = l->raw[2] & 0xFF, msb = l->bits - 1;
    const unsigned last = pos + len - 1 < msb ? pos + len - 1 : msb;
    const unsigned sign = !l->is_signed || len == 0 ? 0 : bit(l->raw[0], last);
    uint64_t d = 0;
    for (unsigned i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? bit(l->raw[0], pos + i) : sign) << i;
    return (wide)d;
}
static wide ref_bfi(const struct lane *l) {
    const unsigned pos = l->raw[2] & 0xFF, len = l->raw[3] & 0xFF;
    uint64_t d = l->raw[1];
    for (unsigned i = 0; i < len && pos + i < l->bits; i++)
        d = (d & ~(UINT64_C(1) << (pos + i))) | (uint64_t)bit(l->raw[0], i) << (pos + i);
    return (wide)d;
}
static wide ref_bfind(const struct lane *l) {
    const uint64_t x = (uint64_t)(l->a < 0 ? ~l->a : l->a);
    for (unsigned i = l->bits; i-- > 0;)
        if (bit(x, i)) return l->modifiers & MOD_SHIFTAMT ? l->bits - 1 - i : i;
    return UINT32_MAX;
}
static wide ref_brev(const struct lane *l) {
    uint64_t d = 0;
    for (unsigned i = 0; i < l->bits; i++) d |= (uint64_t)bit(l->raw[0], i) << (l->bits - 1 - i);
    return (wide)d;
}
static wide ref_clz(const struct lane *l) {
    unsigned n = 0;
    while (n < l->bits && !bit(l->raw[0], l->bits - 1 - n)) n++;
    return n;
}
static wide ref_popc(const struct lane *l) {
    unsigned n = 0;
    for (unsigned i = 0; i < l->bits; i++) n += bit(l->raw[0], i);
    return n;
}
static wide ref_fns(const struct lane *l) {
    const int offset = (int)(int32_t)l->raw[2];
    const int64_t base = (int64_t)(uint32_t)l->raw[1];
    if (base > 31) return UINT32_MAX; /* undefined in PTX */
    if (offset == 0) return bit(l->raw[0], (unsigned)base) ? base : UINT32_MAX;
    int64_t left = offset < 0 ? -(int64_t)offset : offset;
    for (int64_t at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
        if (bit(l->raw[0], (unsigned)at) && --left == 0) return at;
    return UINT32_MAX;
}
static uint64_t amount(const struct lane *l, unsigned k) {
    const uint32_t n = (uint32_t)l->raw[k];
    return l->modifiers & MOD_WRAP ? n % 32 : n > 32 ? 32 : n;
}
static wide ref_bmsk(const struct lane *l) {
    const uint64_t from = l->modifiers & MOD_WRAP ? l->raw[0] % 32 : (uint32_t)l->raw[0], width = amount(l, 1);
    uint64_t d = 0;
    for (uint64_t i = from; i < 32 && i < from + width; i++) d |= UINT64_C(1) << i;
    return (wide)d;
}
static wide ref_szext(const struct lane *l) {
    const unsigned n = (unsigned)amount(l, 1);
    return n == 0 ? 0 : number(l->raw[0], n, l->is_signed);
}
static wide ref_shf_l(const struct lane *l) {
    return (wide)(((uwide)(uint32_t)l->raw[1] << 32 | (uint32_t)l->raw[0]) << amount(l, 2) >> 32);
}
static wide ref_shf_r(const struct lane *l) {
    return (wide)(((uwide)(uint32_t)l->raw[1] << 32 | (uint32_t)l->raw[0]) >> amount(l, 2));
}
static wide ref_prmt(const struct lane *l) {
    wide d = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = l->raw[2] >> (4 * i) & 15, k = nibble & 7;
        const unsigned byte = (unsigned)((k < 4 ? l->raw[0] >> (8 * k) : l->raw[1] >> (8 * (k - 4))) & 0xFF);
        d |= (wide)(nibble & 8 ? (byte >> 7) * 0xFF : byte) << (8 * i);
    }
    return d;
}

enum {
    R16 = 1,
    R32 = 2,
    R64 = 4,
    UNSIGNED_ONLY = 8,
    SIGNED_ONLY = 16,
    D32 = 32,
    B32 = 64,
    C32 = 128,
    D_WIDE = 256,
    C_WIDE = 512
};
enum { ALL = R16 | R32 | R64 };
/* Elements of each operation, and operands with another width. */
static const struct row {
    const char *name;
    enum operation operation;
    unsigned shape;
    uint32_t modifiers;
    reference *expected;
} rows[] = {
    {"add", OPERATION_add, ALL, 0, ref_add},
    {"add.sat", OPERATION_add, R32 | SIGNED_ONLY, MOD_SAT, ref_add_sat},
    {"sub", OPERATION_sub, ALL, 0, ref_sub},
    {"sub.sat", OPERATION_sub, R32 | SIGNED_ONLY, MOD_SAT, ref_sub_sat},
    {"mul.lo", OPERATION_mul_lo, ALL, 0, ref_mul_lo},
    {"mul.hi", OPERATION_mul_hi, ALL, 0, ref_mul_hi},
    {"mul.wide", OPERATION_mul_wide, R16 | R32 | D_WIDE, 0, ref_mul_lo},
    {"mad.lo", OPERATION_mad_lo, ALL, 0, ref_mad_lo},
    {"mad.hi", OPERATION_mad_hi, ALL, 0, ref_mad_hi},
    {"mad.hi.sat", OPERATION_mad_hi, R32 | SIGNED_ONLY, MOD_SAT, ref_mad_hi_sat},
    {"mad.wide", OPERATION_mad_wide, R16 | R32 | D_WIDE | C_WIDE, 0, ref_mad_lo},
    {"mul24.lo", OPERATION_mul24_lo, R32, 0, ref_mul24_lo},
    {"mul24.hi", OPERATION_mul24_hi, R32, 0, ref_mul24_hi},
    {"mad24.lo", OPERATION_mad24_lo, R32, 0, ref_mad24_lo},
    {"mad24.hi", OPERATION_mad24_hi, R32, 0, ref_mad24_hi},
    {"mad24.hi.sat", OPERATION_mad24_hi, R32 | SIGNED_ONLY, MOD_SAT, ref_mad24_sat},
    {"sad", OPERATION_sad, ALL, 0, ref_sad},
    {"div", OPERATION_div, ALL, 0, ref_div},
    {"rem", OPERATION_rem, ALL, 0, ref_rem},
    {"abs", OPERATION_abs, ALL | SIGNED_ONLY, 0, ref_abs},
    {"neg", OPERATION_neg, ALL | SIGNED_ONLY, 0, ref_neg},
    {"min", OPERATION_min, ALL, 0, ref_min},
    {"max", OPERATION_max, ALL, 0, ref_max},
    {"min.relu", OPERATION_min, R32 | SIGNED_ONLY, MOD_RELU, ref_min_relu},
    {"and", OPERATION_and, ALL | UNSIGNED_ONLY, 0, ref_and},
    {"or", OPERATION_or, ALL | UNSIGNED_ONLY, 0, ref_or},
    {"xor", OPERATION_xor, ALL | UNSIGNED_ONLY, 0, ref_xor},
    {"not", OPERATION_not, ALL | UNSIGNED_ONLY, 0, ref_not},
    {"cnot", OPERATION_cnot, ALL | UNSIGNED_ONLY, 0, ref_cnot},
    {"shl", OPERATION_shl, ALL | UNSIGNED_ONLY | B32, 0, ref_shl},
    {"shr", OPERATION_shr, ALL | B32, 0, ref_shr},
    {"bfe", OPERATION_bfe, R32 | R64 | B32 | C32, 0, ref_bfe},
    {"bfi", OPERATION_bfi, R32 | R64 | UNSIGNED_ONLY | C32, 0, ref_bfi},
    {"bfind", OPERATION_bfind, R32 | R64 | D32, 0, ref_bfind},
    {"bfind.shiftamt", OPERATION_bfind, R32 | R64 | D32, MOD_SHIFTAMT, ref_bfind},
    {"brev", OPERATION_brev, R32 | R64 | UNSIGNED_ONLY, 0, ref_brev},
    {"clz", OPERATION_clz, R32 | R64 | UNSIGNED_ONLY | D32, 0, ref_clz},
    {"popc", OPERATION_popc, R32 | R64 | UNSIGNED_ONLY | D32, 0, ref_popc},
    {"fns", OPERATION_fns, R32 | UNSIGNED_ONLY, 0, ref_fns},
    {"bmsk.clamp", OPERATION_bmsk, R32 | UNSIGNED_ONLY, 0, ref_bmsk},
    {"bmsk.wrap", OPERATION_bmsk, R32 | UNSIGNED_ONLY, MOD_WRAP, ref_bmsk},
    {"szext.clamp", OPERATION_szext, R32, 0, ref_szext},
    {"szext.wrap", OPERATION_szext, R32, MOD_WRAP, ref_szext},
    {"shf.l.clamp", OPERATION_shf_l, R32 | UNSIGNED_ONLY, 0, ref_shf_l},
    {"shf.l.wrap", OPERATION_shf_l, R32 | UNSIGNED_ONLY, MOD_WRAP, ref_shf_l},
    {"shf.r.clamp", OPERATION_shf_r, R32 | UNSIGNED_ONLY, 0, ref_shf_r},
    {"shf.r.wrap", OPERATION_shf_r, R32 | UNSIGNED_ONLY, MOD_WRAP, ref_shf_r},
    {"prmt", OPERATION_prmt, R32 | UNSIGNED_ONLY, 0, ref_prmt},
};

/* Small numbers, numbers around the limits of every width, and random ones. */
static uint64_t operand(uint64_t *random) {
    const uint64_t any = random_next(random);
    switch (any % 6) {
    case 0: return random_next(random) % 70;
    case 1: return 0 - random_next(random) % 5;
    case 2: return (UINT64_C(1) << (random_next(random) % 64)) - random_next(random) % 3;
    case 3: return 0;
    case 4: return random_next(random) % 300;
    default: return random_next(random);
    }
}

static bool check_row(const struct row *row, unsigned log2, bool is_signed, uint64_t *random) {
    static const enum ptx_type types[2][4] = {{PTX_u8, PTX_u16, PTX_u32, PTX_u64}, {PTX_s8, PTX_s16, PTX_s32, PTX_s64}};
    const unsigned bytes = 1u << log2, wide_bytes = 2 * bytes;
    const unsigned width[5] = {[ALU_D] = row->shape & D32      ? 4
                                         : row->shape & D_WIDE ? wide_bytes
                                                               : bytes,
                               [ALU_A] = bytes,
                               [ALU_B] = row->shape & B32 ? 4 : bytes,
                               [ALU_C] = row->shape & C32      ? 4
                                         : row->shape & C_WIDE ? wide_bytes
                                                               : bytes,
                               [ALU_E] = row->shape & C32 ? 4 : bytes};
    struct alu alu;
    alu_init(&alu);
    struct op op = alu_op(row->operation, types[is_signed][log2]);
    op.modifiers = row->modifiers;
    const uint32_t mask = random_next(random) % 4 ? UINT32_MAX : (uint32_t)random_next(random);
    const unsigned alias = (unsigned)(random_next(random) % 4); /* the destination may be an operand */
    const unsigned dst = alias && width[alias] == width[ALU_D] ? alias : ALU_D;
    op.dst = alu_place(dst);
    for (unsigned k = ALU_A; k <= ALU_E; k++)
        for (unsigned i = 0; i < WARP_LANES; i++) alu_set(&alu, k, width[k], i, operand(random));
    const struct alu before = alu;
    if (!alu_run(&alu, &op, mask)) return false;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        struct lane l = {.bits = 8 * bytes, .is_signed = is_signed, .modifiers = row->modifiers};
        for (unsigned k = 0; k < 4; k++) l.raw[k] = alu_get(&before, ALU_A + k, width[ALU_A + k], i);
        l.a = number(l.raw[0], l.bits, is_signed);
        l.b = number(l.raw[1], 8 * width[ALU_B], is_signed);
        l.c = number(l.raw[2], 8 * width[ALU_C], is_signed);
        const uint64_t expected = mask >> i & 1 ? (uint64_t)row->expected(&l) & low_mask(8 * width[ALU_D])
                                                : alu_get(&before, dst, width[ALU_D], i);
        const uint64_t got = alu_get(&alu, dst, width[ALU_D], i);
        if (got != expected) {
            printf("    %s.%c%u %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %#" PRIx64 ": %#" PRIx64 ", expected %#" PRIx64
                   "\n",
                   row->name, is_signed ? 's' : 'u', l.bits, l.raw[0], l.raw[1], l.raw[2], l.raw[3], got, expected);
            return false;
        }
    }
    return true;
}

TEST("integer operations match wide integer arithmetic in active lanes, also if they overwrite an operand") {
    uint64_t random = 1;
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        for (unsigned log2 = 1; log2 <= 3; log2++)
            for (unsigned is_signed = 0; is_signed < 2; is_signed++) {
                if (!(rows[r].shape & (R16 << (log2 - 1)))) continue;
                if (rows[r].shape & (is_signed ? UNSIGNED_ONLY : SIGNED_ONLY)) continue;
                bool holds = true;
                for (unsigned n = 0; n < 40 && holds; n++) holds = check_row(&rows[r], log2, is_signed, &random);
                CHECK(holds);
            }
}
