/* PTX instructions in C, included by the programs that differential.h generates. ptx_NAME(types, modifiers, operands)
 * is the instruction NAME of PTX ISA 9.7 on the bits of its operands; a result has the width of the variable that it is
 * assigned to.
 *
 * Integers are computed exactly (128 bits suffice) and truncated once. Floats are the host's in the requested rounding
 * mode; a volatile operand prevents the compiler from moving them across mode changes. Nothing of src/ is used here, to
 * keep the comparison independent. Results that the manual leaves undefined are those documented in emu/real.h (NaNs)
 * and emu/integer.c (division by zero). */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef __int128 number;

/* A type is its width in bits and its kind. */
enum { SIGNED = 0x100, FLOAT = 0x200, WIDTH = 0xFF };
#define TYPES(bits) T_b##bits = bits, T_u##bits = bits, T_s##bits = bits | SIGNED
enum { T_pred = 1, TYPES(8), TYPES(16), TYPES(32), TYPES(64), T_f32 = 32 | FLOAT, T_f64 = 64 | FLOAT };

/* clang-format off */
#define MODIFIERS(X) \
    X(lo) X(hi) X(wide) X(sat) X(cc) X(l) X(r) X(wrap) X(clamp) X(shiftamt) X(f4e) X(b4e) X(rc8) X(ecl) X(ecr) X(rc16) X(add) \
    X(rn) X(rz) X(rm) X(rp) X(rni) X(rzi) X(rmi) X(rpi) X(ftz) X(NaN) X(xorsign) X(abs) \
    X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(ls) X(hs) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu) X(num) X(nan) \
    X(finite) X(infinite) X(number) X(notanumber) X(normal) X(subnormal) X(and) X(or) X(xor)
/* clang-format on */
#define X(name) BIT_##name,
enum { MODIFIERS(X) };
#undef X
#define X(name) static const u64 M_##name = UINT64_C(1) << BIT_##name;
MODIFIERS(X)
#undef X

/* --- integers --- */

static u64 low(unsigned bits) { return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }
static u64 cut(int type, u64 x) { return x & low(type & WIDTH); }
static number val(int type, u64 x) {
    const number v = cut(type, x), bound = (number)1 << ((type & WIDTH) - 1);
    return type & SIGNED && v >= bound ? v - 2 * bound : v;
}
static number least(int type) { return type & SIGNED ? -((number)1 << ((type & WIDTH) - 1)) : 0; }
static number most(int type) { return ((number)1 << ((type & WIDTH) - !!(type & SIGNED))) - 1; }
static number within(int type, number x) { return x < least(type) ? least(type) : x > most(type) ? most(type) : x; }
static number size(number x) { return x < 0 ? -x : x; }
static u64 bit(u64 x, unsigned i) { return i < 64 ? x >> i & 1 : 0; }
static u64 at_most(u64 x, u64 limit) { return x < limit ? x : limit; }
static int wraps(u64 m) { return !!(m & M_wrap); }
static u64 amount(u64 m, u64 n) { return wraps(m) ? n & 31 : at_most(n, 32); }

static int carry; /* CC.CF */
static u64 carried(int t, u64 m, number sum) {
    if (m & M_cc) carry = sum < 0 || sum >> (t & WIDTH) != 0;
    return (u64)sum;
}

/* --- floats: bits in, bits out --- */

static double real(int t, u64 x) {
    if (t == T_f64) {
        double d;
        return memcpy(&d, &x, 8), d;
    }
    float f;
    const u32 bits = (u32)x;
    return memcpy(&f, &bits, 4), (double)f;
}
static float single(u64 x) {
    const u32 bits = (u32)x;
    float f;
    return memcpy(&f, &bits, 4), f;
}
static u64 single_bits(float f) {
    u32 bits;
    return memcpy(&bits, &f, 4), bits;
}
static u64 double_bits(double d) {
    u64 bits;
    return memcpy(&bits, &d, 8), bits;
}
static u64 top(int t) { return t == T_f64 ? UINT64_C(0x7FF) << 52 : UINT64_C(0xFF) << 23; } /* infinity */
static u64 sign(int t) { return UINT64_C(1) << ((t & WIDTH) - 1); }
static u64 magnitude(int t, u64 x) { return cut(t, x) & ~sign(t); }
static u64 normal(int t) { return UINT64_C(1) << (t == T_f64 ? 52 : 23); } /* the smallest normal number */
static int is_nan(int t, u64 x) { return magnitude(t, x) > top(t); }
static u64 flush(int t, u64 m, u64 x) {
    return t == T_f32 && m & M_ftz && magnitude(t, x) < normal(t) ? x & sign(t) : x;
}
static u64 nan_of(int t, u64 a, u64 b, u64 c) {
    if (t == T_f32) return 0x7FFFFFFF;
    const u64 quiet = UINT64_C(1) << 51;
    return is_nan(t, a) ? a | quiet : is_nan(t, b) ? b | quiet : is_nan(t, c) ? c | quiet : UINT64_C(0xFFF8) << 48;
}
static u64 one(int t) { return t == T_f64 ? UINT64_C(0x3FF) << 52 : 0x3F800000; }
static u64 finish(int t, u64 m, u64 x) {
    x = flush(t, m, x);
    if (m & M_sat) x = is_nan(t, x) || x & sign(t) ? 0 : at_most(x, one(t));
    return x;
}
static void mode(u64 m) {
    fesetround(m & (M_rz | M_rzi)   ? FE_TOWARDZERO
               : m & (M_rm | M_rmi) ? FE_DOWNWARD
               : m & (M_rp | M_rpi) ? FE_UPWARD
                                    : FE_TONEAREST);
}

/* One expression for both widths, in rounding mode m. */
#define IN_MODE(T, a_, b_, c_, bits, ...) \
    do { \
        volatile T va = (a_), vb = (b_), vc = (c_), vr; \
        mode(m); \
        { \
            const T a = va, b = vb, c = vc; \
            (void)b, (void)c; \
            vr = (__VA_ARGS__); \
        } \
        mode(M_rn); \
        result = bits(vr); \
    } while (0)
#define REAL(name, parameters, b_, c_, for_single, for_double) \
    static u64 ptx_##name parameters { \
        const u64 x = flush(t, m, a), y = flush(t, m, b_), z = flush(t, m, c_); \
        u64 result; \
        if (t == T_f64) \
            IN_MODE(double, real(t, x), real(t, y), real(t, z), double_bits, for_double); \
        else \
            IN_MODE(float, single(x), single(y), single(z), single_bits, for_single); \
        return finish(t, m, is_nan(t, result) ? nan_of(t, a, b_, c_) : result); \
    }
REAL(fma, (int t, u64 m, u64 a, u64 b, u64 c), b, c, fmaf(a, b, c), fma(a, b, c))
REAL(sqrt, (int t, u64 m, u64 a), 0, 0, sqrtf(a), sqrt(a))
REAL(rcp, (int t, u64 m, u64 a), 0, 0, 1 / a, 1 / a)
REAL(real_add, (int t, u64 m, u64 a, u64 b), b, 0, a + b, a + b)
REAL(real_sub, (int t, u64 m, u64 a, u64 b), b, 0, a - b, a - b)
REAL(real_mul, (int t, u64 m, u64 a, u64 b), b, 0, a *b, a *b)
REAL(real_div, (int t, u64 m, u64 a, u64 b), b, 0, a / b, a / b)

/* The order of floats as an order of integers: -0 below +0. */
static int64_t order(int t, u64 x) { return x & sign(t) ? -(int64_t)magnitude(t, x) - 1 : (int64_t)magnitude(t, x); }
static u64 real_extreme(int t, u64 m, u64 a, u64 b, int is_max) {
    u64 x = flush(t, m, a), y = flush(t, m, b);
    const u64 product = (x ^ y) & sign(t);
    if (m & M_abs) x = magnitude(t, x), y = magnitude(t, y);
    const int nx = is_nan(t, x), ny = is_nan(t, y);
    if ((nx && ny) || ((nx || ny) && m & M_NaN)) return nan_of(t, a, b, 0);
    const u64 r = nx ? y : ny ? x : (order(t, x) < order(t, y)) != is_max ? x : y;
    return m & M_abs ? r | product : r;
}

/* --- both --- */

static u64 ptx_add(int t, u64 m, u64 a, u64 b) {
    if (t & FLOAT) return ptx_real_add(t, m, a, b);
    const number sum = val(t, a) + val(t, b);
    return m & M_cc ? carried(t, m, (number)cut(t, a) + cut(t, b)) : (u64)(m & M_sat ? within(t, sum) : sum);
}
static u64 ptx_sub(int t, u64 m, u64 a, u64 b) {
    if (t & FLOAT) return ptx_real_sub(t, m, a, b);
    const number difference = val(t, a) - val(t, b);
    return m & M_cc ? carried(t, m, (number)cut(t, a) - cut(t, b))
                    : (u64)(m & M_sat ? within(t, difference) : difference);
}
static u64 ptx_addc(int t, u64 m, u64 a, u64 b) { return carried(t, m, (number)cut(t, a) + cut(t, b) + carry); }
static u64 ptx_subc(int t, u64 m, u64 a, u64 b) { return carried(t, m, (number)cut(t, a) - cut(t, b) - carry); }

static number product(int t, u64 m, u64 a, u64 b) {
    const number full = val(t, a) * val(t, b); /* u64 * u64 may fill all 128 bits */
    if (!(m & M_hi)) return full;
    return t & SIGNED ? full >> (t & WIDTH) : (number)((unsigned __int128)full >> (t & WIDTH));
}
static u64 ptx_mul(int t, u64 m, u64 a, u64 b) {
    return t & FLOAT ? ptx_real_mul(t, m, a, b) : (u64)product(t, m, a, b);
}
static u64 ptx_mad(int t, u64 m, u64 a, u64 b, u64 c) {
    if (m & M_cc) return carried(t, m, (number)cut(t, (u64)product(t, m, a, b)) + cut(t, c));
    if (m & M_sat) return (u64)within(t, product(t, m, a, b) + val(t, c));
    return (u64)product(t, m, a, b) + c;
}
static u64 ptx_madc(int t, u64 m, u64 a, u64 b, u64 c) {
    return carried(t, m, (number)cut(t, (u64)product(t, m, a, b)) + cut(t, c) + carry);
}
static number product24(int t, u64 m, u64 a, u64 b) {
    const int t24 = 24 | (t & SIGNED);
    return val(t24, a) * val(t24, b) >> (m & M_hi ? 16 : 0);
}
static u64 ptx_mul24(int t, u64 m, u64 a, u64 b) { return (u64)product24(t, m, a, b); }
static u64 ptx_mad24(int t, u64 m, u64 a, u64 b, u64 c) {
    const number sum = product24(t, m, a, b) + val(t, c);
    return (u64)(m & M_sat ? within(t, sum) : sum);
}
static u64 ptx_sad(int t, u64 m, u64 a, u64 b, u64 c) { return c + (u64)size(val(t, a) - val(t, b)); }
static u64 ptx_div(int t, u64 m, u64 a, u64 b) {
    if (t & FLOAT) return ptx_real_div(t, m, a, b);
    return cut(t, b) ? (u64)(val(t, a) / val(t, b)) : UINT64_MAX;
}
static u64 ptx_rem(int t, u64 m, u64 a, u64 b) { return cut(t, b) ? (u64)(val(t, a) % val(t, b)) : UINT64_MAX; }
static u64 ptx_abs(int t, u64 m, u64 a) { return t & FLOAT ? magnitude(t, flush(t, m, a)) : (u64)size(val(t, a)); }
static u64 ptx_neg(int t, u64 m, u64 a) { return t & FLOAT ? flush(t, m, a) ^ sign(t) : (u64)-val(t, a); }
static u64 extreme(int t, u64 m, u64 a, u64 b, int is_max) {
    return t & FLOAT ? real_extreme(t, m, a, b, is_max) : (val(t, a) < val(t, b)) != is_max ? a : b;
}
static u64 ptx_min(int t, u64 m, u64 a, u64 b) { return extreme(t, m, a, b, 0); }
static u64 ptx_max(int t, u64 m, u64 a, u64 b) { return extreme(t, m, a, b, 1); }
static u64 ptx_copysign(int t, u64 m, u64 a, u64 b) { return magnitude(t, b) | (a & sign(t)); }
static u64 ptx_testp(int t, u64 m, u64 a) {
    const u64 x = magnitude(t, a);
    return m & M_finite      ? x < top(t)
           : m & M_infinite  ? x == top(t)
           : m & M_number    ? x <= top(t)
           : m & M_normal    ? x >= normal(t) && x < top(t)
           : m & M_subnormal ? x && x < normal(t)
                             : x > top(t);
}

/* --- bits --- */

static u64 ptx_and(int t, u64 m, u64 a, u64 b) { return a & b; }
static u64 ptx_or(int t, u64 m, u64 a, u64 b) { return a | b; }
static u64 ptx_xor(int t, u64 m, u64 a, u64 b) { return a ^ b; }
static u64 ptx_not(int t, u64 m, u64 a) { return ~a; }
static u64 ptx_cnot(int t, u64 m, u64 a) { return cut(t, a) == 0; }
static u64 ptx_shl(int t, u64 m, u64 a, u64 n) { return n < (t & WIDTH) ? a << n : 0; }
static u64 ptx_shr(int t, u64 m, u64 a, u64 n) { return (u64)(val(t, a) >> at_most(n, 100)); }
static u64 ptx_shf(int t, u64 m, u64 a, u64 b, u64 n) {
    const unsigned __int128 pair = (unsigned __int128)cut(t, b) << 32 | cut(t, a);
    return (u64)(m & M_l ? pair << amount(m, n) >> 32 : pair >> amount(m, n));
}
static u64 ptx_lop3(int t, u64 m, u64 a, u64 b, u64 c, u64 table) {
    u64 r = 0;
    for (unsigned i = 0; i < 32; i++) r |= bit(table, (unsigned)(bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i))) << i;
    return r;
}
static u64 ptx_prmt(int t, u64 m, u64 a, u64 b, u64 selector) {
    const u64 bytes = cut(T_u32, b) << 32 | cut(T_u32, a);
    const unsigned k = selector & 3;
    u64 r = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned s = (unsigned)(selector >> 4 * i) & 15;
        if (m & M_f4e) s = k + i;
        if (m & M_b4e) s = (k - i) & 7;
        if (m & M_rc8) s = k;
        if (m & M_ecl) s = i > k ? i : k;
        if (m & M_ecr) s = i < k ? i : k;
        if (m & M_rc16) s = (k & 1) * 2 + (i & 1);
        const u64 byte = bytes >> 8 * (s & 7) & 255;
        r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return r;
}
static u64 ptx_bfe(int t, u64 m, u64 a, u64 position, u64 length) {
    const unsigned p = position & 255, n = length & 255, bits = t & WIDTH;
    const u64 fill = t & SIGNED && n ? bit(a, (unsigned)at_most(p + n - 1, bits - 1)) : 0;
    u64 r = 0;
    for (unsigned i = 0; i < bits; i++) r |= (i < n && p + i < bits ? bit(a, p + i) : fill) << i;
    return r;
}
static u64 ptx_bfi(int t, u64 m, u64 a, u64 b, u64 position, u64 length) {
    for (unsigned i = 0, p = position & 255; i < (length & 255) && p + i < (t & WIDTH); i++)
        b = (b & ~(UINT64_C(1) << (p + i))) | bit(a, i) << (p + i);
    return b;
}
static u64 ptx_bfind(int t, u64 m, u64 a) {
    const u64 x = cut(t, val(t, a) < 0 ? ~a : a);
    for (unsigned i = t & WIDTH; i-- > 0;)
        if (bit(x, i)) return m & M_shiftamt ? (t & WIDTH) - 1 - i : i;
    return UINT64_MAX;
}
static u64 ptx_brev(int t, u64 m, u64 a) {
    u64 r = 0;
    for (unsigned i = 0; i < (t & WIDTH); i++) r = r << 1 | bit(a, i);
    return r;
}
static u64 ptx_popc(int t, u64 m, u64 a) {
    u64 r = 0;
    for (unsigned i = 0; i < (t & WIDTH); i++) r += bit(a, i);
    return r;
}
static u64 ptx_clz(int t, u64 m, u64 a) {
    u64 r = 0;
    for (unsigned i = t & WIDTH; i-- > 0 && !bit(a, i);) r++;
    return r;
}
static u64 ptx_fns(int t, u64 m, u64 a, u64 base, u64 offset) {
    const int n = (int32_t)offset;
    if (n == 0) return bit(a, (unsigned)base) ? base : UINT64_MAX;
    int left = n < 0 ? -n : n;
    for (int i = (int)base; i >= 0 && i < 32; i += n < 0 ? -1 : 1)
        if (bit(a, (unsigned)i) && --left == 0) return (u64)i;
    return UINT64_MAX;
}
static u64 ptx_bmsk(int t, u64 m, u64 a, u64 b) {
    const u64 from = amount(m, cut(t, a)), end = from + amount(m, cut(t, b));
    u64 r = 0;
    for (u64 i = from; i < end && i < 32; i++) r |= UINT64_C(1) << i;
    return r;
}
static u64 ptx_szext(int t, u64 m, u64 a, u64 b) {
    const unsigned n = (unsigned)amount(m, cut(t, b));
    return n ? (u64)val((int)n | (t & SIGNED), a) : 0;
}
static u64 ptx_dp4a(int t, int u, u64 m, u64 a, u64 b, u64 c) {
    for (int i = 0; i < 4; i++) c += (u64)(val(8 | (t & SIGNED), a >> 8 * i) * val(8 | (u & SIGNED), b >> 8 * i));
    return c;
}
static u64 ptx_dp2a(int t, int u, u64 m, u64 a, u64 b, u64 c) {
    if (m & M_hi) b >>= 16;
    for (int i = 0; i < 2; i++) c += (u64)(val(16 | (t & SIGNED), a >> 16 * i) * val(8 | (u & SIGNED), b >> 8 * i));
    return c;
}
/* On four bytes: packed, or with .add summed onto c. */
#define VIDEO(name, ...) \
    static u64 ptx_##name(int t, int u, int v, u64 m, u64 a_, u64 b_, u64 c) { \
        u64 packed = 0, sum = c; \
        for (int i = 0; i < 4; i++) { \
            const number a = val(8 | (u & SIGNED), a_ >> 8 * i), b = val(8 | (v & SIGNED), b_ >> 8 * i), \
                         full = (__VA_ARGS__); \
            const number r = m & M_sat ? within(8 | (t & SIGNED), full) : full; \
            packed |= ((u64)r & 255) << 8 * i, sum += (u64)r; \
        } \
        return m & M_add ? sum : packed; \
    }
VIDEO(vadd4, a + b)
VIDEO(vsub4, a - b)
VIDEO(vabsdiff4, size(a - b))
VIDEO(vmin4, a < b ? a : b)
VIDEO(vmax4, a > b ? a : b)

/* --- comparison and selection --- */

static int compare(int t, u64 m, u64 a, u64 b) {
    int less, equal, unordered = 0;
    if (t & FLOAT) {
        const double x = real(t, flush(t, m, a)), y = real(t, flush(t, m, b));
        less = x < y, equal = x == y, unordered = x != x || y != y;
    } else {
        const int type = m & (M_lo | M_ls | M_hi | M_hs) ? t & WIDTH : t;
        less = val(type, a) < val(type, b), equal = cut(t, a) == cut(t, b);
    }
    if (m & (M_num | M_nan)) return unordered == !!(m & M_nan);
    if (unordered) return !!(m & (M_equ | M_neu | M_ltu | M_leu | M_gtu | M_geu));
    if (m & (M_eq | M_equ)) return equal;
    if (m & (M_ne | M_neu)) return !equal;
    if (m & (M_lt | M_ltu | M_lo)) return less;
    if (m & (M_le | M_leu | M_ls)) return less || equal;
    if (m & (M_gt | M_gtu | M_hi)) return !less && !equal;
    return !less;
}
static int combined(u64 m, int r, int c) { return m & M_and ? r & c : m & M_or ? r | c : m & M_xor ? r ^ c : r; }
static u64 ptx_setp(int t, u64 m, u64 a, u64 b) { return (u64)compare(t, m, a, b); }
static u64 ptx_setp_first(int t, u64 m, u64 a, u64 b, u64 c) { return (u64)combined(m, compare(t, m, a, b), (int)c); }
static u64 ptx_setp_second(int t, u64 m, u64 a, u64 b, u64 c) { return (u64)combined(m, !compare(t, m, a, b), (int)c); }
static u64 ptx_set(int t, int u, u64 m, u64 a, u64 b) {
    return compare(u, m, a, b) ? t & FLOAT ? one(t) : UINT64_MAX : 0;
}
static u64 ptx_selp(int t, u64 m, u64 a, u64 b, u64 c) { return c ? a : b; }
static u64 ptx_slct(int t, int u, u64 m, u64 a, u64 b, u64 c) {
    return (u & FLOAT ? real(u, flush(u, m, c)) >= 0 : val(u, c) >= 0) ? a : b;
}
static u64 ptx_mov(int t, u64 m, u64 a) { return a; }

/* --- conversion --- */

static u64 to_integer(int t, int u, u64 m, u64 a) {
    const u64 x = flush(u, m, a);
    if (is_nan(u, x)) return u == T_f64 || (t & WIDTH) == 64 ? UINT64_C(1) << ((t & WIDTH) - 1) : 0;
    volatile double v = real(u, x), rounded;
    mode(m);
    rounded = rint(v);
    mode(M_rn);
    return rounded >= 0x1p64 ? (u64)most(t) : rounded <= -0x1p63 ? (u64)least(t) : (u64)within(t, (number)rounded);
}
static u64 from_integer(int t, int u, u64 m, u64 a) {
    const volatile int64_t s = (int64_t)val(u, a);
    const volatile u64 n = (u64)val(u, a);
    volatile float f;
    volatile double d;
    if (val(u, a) == 0) return 0; /* +0 in every mode */
    mode(m);
    if (u & SIGNED)
        f = (float)s, d = (double)s;
    else if (n >> 63) { /* halved with a sticky last bit, and doubled: rounds like the whole */
        const volatile int64_t half = (int64_t)(n >> 1 | (n & 1));
        f = (float)half, d = (double)half;
        f = f * 2, d = d * 2;
    } else
        f = (float)(int64_t)n, d = (double)(int64_t)n;
    mode(M_rn);
    return finish(t, m, t == T_f64 ? double_bits(d) : single_bits(f));
}
static u64 between_floats(int t, int u, u64 m, u64 a) {
    const u64 x = flush(u, m, a);
    if (is_nan(u, x)) {
        if (m & M_sat) return 0;
        if (t == T_f32) return 0x7FFFFFFF;
        return u == T_f64 ? nan_of(t, x, 0, 0) : (x & sign(u)) << 32 | UINT64_C(0x7FF8) << 48 | (x & 0x7FFFFF) << 29;
    }
    volatile double v = real(u, x);
    volatile float f;
    mode(m);
    if (m & (M_rni | M_rzi | M_rmi | M_rpi)) v = rint(v);
    f = (float)v;
    mode(M_rn);
    return finish(t, m, t == T_f64 ? double_bits(v) : single_bits(f));
}
static u64 ptx_cvt(int t, int u, u64 m, u64 a) {
    u64 r;
    if (t & FLOAT) return u & FLOAT ? between_floats(t, u, m, a) : from_integer(t, u, m, a);
    if (u & FLOAT)
        r = to_integer(t, u, m, a);
    else
        r = (u64)(m & M_sat ? within(t, val(u, a)) : val(u, a));
    return (u64)val(t, r); /* a wider register is extended by the type */
}

/* --- memory --- */

static u64 ptx_ld(int t, u64 m, const u8 *at) {
    u64 x = 0;
    return memcpy(&x, at, (t & WIDTH) / 8), (u64)val(t, x);
}
static void ptx_st(int t, u64 m, u8 *at, u64 x) { memcpy(at, &x, (t & WIDTH) / 8); }
