/* Mathematical functions on the device beyond those of sluice_device.h, part of sluice_cuda.h.
 *
 * Double precision: range reduction and polynomials. Single precision: the function in double precision, rounded, unless one
 * instruction is accurate enough. `NAME: N ulp` bounds the error; tests/cudart/maths.def lists the spans for which the tests
 * compare with the host's library. Left out: Bessel functions, inverses of the error functions, and rounding of
 * transcendental functions other than to nearest.
 *
 * A system header: clang then leaves functions of <cmath> with the same parameters to the host. */
#pragma GCC system_header
#ifndef SLUICE_MATH_H
#define SLUICE_MATH_H

/* --- single instructions and bits --- */

SLUICE_INLINE float truncf(float x) { return __builtin_truncf(x); }
SLUICE_INLINE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
SLUICE_INLINE float nearbyintf(float x) { return rintf(x); }
SLUICE_INLINE double ceil(double x) { return __builtin_ceil(x); }
SLUICE_INLINE double trunc(double x) { return __builtin_trunc(x); }
SLUICE_INLINE double copysign(double a, double b) { return __builtin_copysign(a, b); }
SLUICE_INLINE double nearbyint(double x) { return rint(x); }
SLUICE_INLINE double rsqrt(double x) { return 1 / sqrt(x); }

SLUICE_INLINE double sluice_infinity() { return sluice_double(0x7ff00000, 0); }
SLUICE_INLINE double sluice_nan() { return sluice_double(0x7ff80000, 0); }
SLUICE_INLINE bool sluice_finite(double x) { return fabs(x) < sluice_infinity(); }
SLUICE_INLINE bool sluice_negative(double x) { return sluice_high(x) < 0; }

/* The polynomial of the coefficients, from that of the highest power on. */
template <int N> SLUICE_INLINE double sluice_polynomial(const double (&c)[N], double x) {
    double y = c[0];
#pragma unroll
    for (int i = 1; i < N; i++) y = fma(y, x, c[i]);
    return y;
}

/* Halves away from zero. */
SLUICE_INLINE double round(double x) {
    double whole = trunc(x);
    return fabs(x - whole) >= 0.5 ? whole + copysign(1, x) : whole;
}
SLUICE_INLINE float roundf(float x) {
    float whole = truncf(x);
    return fabsf(x - whole) >= 0.5f ? whole + copysignf(1, x) : whole;
}

SLUICE_INLINE long lrint(double x) { return (long)rint(x); }
SLUICE_INLINE long lrintf(float x) { return (long)rintf(x); }
SLUICE_INLINE long long llrint(double x) { return (long long)rint(x); }
SLUICE_INLINE long long llrintf(float x) { return (long long)rintf(x); }
SLUICE_INLINE long lround(double x) { return (long)round(x); }
SLUICE_INLINE long lroundf(float x) { return (long)roundf(x); }
SLUICE_INLINE long long llround(double x) { return (long long)round(x); }
SLUICE_INLINE long long llroundf(float x) { return (long long)roundf(x); }

/* A result below the normal numbers is rounded once, by the last factor. */
SLUICE_INLINE double ldexp(double x, int n) {
    if (n > 1023) x *= sluice_power_of_two(1023), n -= 1023;
    if (n > 1023) x *= sluice_power_of_two(1023), n = n > 2046 ? 1023 : n - 1023;
    if (n < -1022) x *= sluice_power_of_two(-1022 + 53), n += 1022 - 53;
    if (n < -1022) x *= sluice_power_of_two(-1022 + 53), n = n < -1991 ? -1022 : n + 1022 - 53;
    return x * sluice_power_of_two(n);
}
SLUICE_INLINE double scalbn(double x, int n) { return ldexp(x, n); }
SLUICE_INLINE float ldexpf(float x, int n) { return (float)ldexp(x, n < -400 ? -400 : n > 400 ? 400 : n); }
SLUICE_INLINE float scalbnf(float x, int n) { return ldexpf(x, n); }

SLUICE_INLINE double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0 || !sluice_finite(x)) return x;
    int bias = 1022;
    if (fabs(x) < 2.2250738585072014e-308) x *= 18014398509481984.0, bias += 54;
    int high = sluice_high(x);
    *exponent = (high >> 20 & 0x7ff) - bias;
    return sluice_double((uint)((high & ~0x7ff00000) | 0x3fe00000), (uint)__nvvm_d2i_lo(x));
}
SLUICE_INLINE float frexpf(float x, int *exponent) { return (float)frexp((double)x, exponent); }
SLUICE_INLINE double modf(double x, double *whole) {
    *whole = trunc(x);
    return copysign(sluice_finite(x) ? x - *whole : x == x ? 0 : x, x);
}
SLUICE_INLINE float modff(float x, float *whole) {
    double part, fraction = modf((double)x, &part);
    *whole = (float)part;
    return (float)fraction;
}
SLUICE_INLINE int ilogb(double x) {
    int exponent;
    frexp(x, &exponent);
    return x == 0 || x != x ? -2147483647 - 1 : sluice_finite(x) ? exponent - 1 : 2147483647;
}
SLUICE_INLINE int ilogbf(float x) { return ilogb((double)x); }
SLUICE_INLINE double logb(double x) { return x == 0 ? -sluice_infinity() : sluice_finite(x) ? ilogb(x) : x * x; }
SLUICE_INLINE float logbf(float x) { return (float)logb((double)x); }
SLUICE_INLINE double fdim(double a, double b) { return a <= b ? 0 : a - b; }
SLUICE_INLINE float fdimf(float a, float b) { return a <= b ? 0 : a - b; }

/* Exact. A quotient below 2^52 is the rounded one or one less; larger ones are reduced bit by bit. */
SLUICE_INLINE double fmod(double a, double b) {
    double r = fabs(a), d = fabs(b);
    if (!sluice_finite(a) || d == 0 || d != d) return sluice_nan();
    while (r / d >= 4503599627370496.0) {
        int n, m;
        frexp(r, &n);
        frexp(d, &m);
        double part = ldexp(d, n - m);
        r -= part > r ? 0.5 * part : part;
    }
    if (r >= d) r = fma(-trunc(r / d), d, r);
    return copysign(r < 0 ? r + d : r, a);
}
SLUICE_INLINE float fmodf(float a, float b) { return (float)fmod((double)a, (double)b); }
/* Exact: the quotient is rounded to the nearest integer, halves to the even one. */
SLUICE_INLINE double remainder(double a, double b) {
    double d = fabs(b), r = fmod(fabs(a), d <= 8.9e307 ? 2 * d : sluice_infinity()), twice;
    if (r != r || d != d) return sluice_nan();
    twice = d < 1e-300 ? r + r : 0; /* half of a small divisor would not be exact */
    if (d < 1e-300 ? twice > d : r > 0.5 * d) {
        r -= d;
        if (d < 1e-300 ? r + r >= d : r >= 0.5 * d) r -= d;
    }
    return sluice_negative(a) ? -r : r;
}
SLUICE_INLINE float remainderf(float a, float b) { return (float)remainder((double)a, (double)b); }

/* --- sine and cosine --- */

/* The sine of r, and of r + pi / 2, for |r| <= pi / 4. */
SLUICE_INLINE double sluice_sine_of(double r, int q) {
    const double odd[] = {2.8114572543455206e-15, -7.647163731819816e-13, 1.6059043836821613e-10,
                          -2.505210838544172e-08, 2.7557319223985893e-06, -0.0001984126984126984,
                          0.008333333333333333,   -0.16666666666666666};
    const double even[] = {4.779477332387385e-14, -1.1470745597729725e-11, 2.08767569878681e-09, -2.755731922398589e-07,
                           2.48015873015873e-05,  -0.001388888888888889,   0.041666666666666664, -0.5};
    double r2 = r * r;
    double y = q & 1 ? fma(r2, sluice_polynomial(even, r2), 1) : fma(r * r2, sluice_polynomial(odd, r2), r);
    return q & 2 ? -y : y;
}
/* The argument minus n times pi / 2, whose digits are in three numbers; n modulo 4 is in `q`. */
SLUICE_INLINE double sluice_reduce(double x, int *q) {
    double n = rint(x * 0.6366197723675814);
    *q = (int)(n - 4 * floor(0.25 * n));
    return fma(n, 1.4973849048591698e-33, fma(n, -6.123233995736766e-17, fma(n, -1.5707963267948966, x)));
}
/* The same for pi x. */
SLUICE_INLINE double sluice_reduce_pi(double x, int *q) {
    double n = rint(2 * x);
    *q = (int)(n - 4 * floor(0.25 * n));
    return 3.141592653589793 * fma(-0.5, n, x);
}
/* sin, cos: 2 ulp, tan: 4 ulp, for |x| <= 10^5. sinpi, cospi: 2 ulp. tanf: 2 ulp, sinpif, cospif: 1 ulp. */
SLUICE_INLINE double sin(double x) {
    int q;
    double r = sluice_reduce(x, &q);
    return sluice_sine_of(r, q);
}
SLUICE_INLINE double cos(double x) {
    int q;
    double r = sluice_reduce(x, &q);
    return sluice_sine_of(r, q + 1);
}
SLUICE_INLINE void sincos(double x, double *sine, double *cosine) {
    int q;
    double r = sluice_reduce(x, &q);
    *sine = sluice_sine_of(r, q);
    *cosine = sluice_sine_of(r, q + 1);
}
SLUICE_INLINE double tan(double x) {
    int q;
    double r = sluice_reduce(x, &q);
    return sluice_sine_of(r, q) / sluice_sine_of(r, q + 1);
}
SLUICE_INLINE double sinpi(double x) {
    int q;
    double r = sluice_reduce_pi(x, &q);
    return sluice_sine_of(r, q);
}
SLUICE_INLINE double cospi(double x) {
    int q;
    double r = sluice_reduce_pi(x, &q);
    return sluice_sine_of(r, q + 1);
}
SLUICE_INLINE void sincospi(double x, double *sine, double *cosine) { *sine = sinpi(x), *cosine = cospi(x); }
SLUICE_INLINE void sincosf(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }
SLUICE_INLINE void __sincosf(float x, float *sine, float *cosine) { *sine = __sinf(x), *cosine = __cosf(x); }
SLUICE_INLINE float tanf(float x) { return (float)tan((double)x); }
SLUICE_INLINE float sinpif(float x) { return (float)sinpi((double)x); }
SLUICE_INLINE float cospif(float x) { return (float)cospi((double)x); }
SLUICE_INLINE void sincospif(float x, float *sine, float *cosine) { *sine = sinpif(x), *cosine = cospif(x); }

/* --- arcs --- */

/* atan: 2 ulp. Arguments above 1 are inverted, above tan(pi / 12) turned by pi / 6; then the series of the arctangent. */
SLUICE_INLINE double atan(double x) {
    const double series[] = {1.0 / 29,  -1.0 / 27, 1.0 / 25,  -1.0 / 23, 1.0 / 21, -1.0 / 19, 1.0 / 17,
                             -1.0 / 15, 1.0 / 13,  -1.0 / 11, 1.0 / 9,   -1.0 / 7, 1.0 / 5,   -1.0 / 3};
    double a = fabs(x), base = 0;
    bool inverted = a > 1;
    if (inverted) a = 1 / a;
    if (a > 0.2679491924311227)
        a = fma(a, 1.7320508075688772, -1) / (a + 1.7320508075688772), base = 0.5235987755982989;
    double a2 = a * a, y = base + fma(a * a2, sluice_polynomial(series, a2), a);
    if (inverted) y = 1.5707963267948966 - (y - 6.123233995736766e-17);
    return copysign(y, x);
}
/* asin, acos, atan2: 4 ulp. */
SLUICE_INLINE double asin(double x) { return atan(x / sqrt((1 - x) * (1 + x))); }
SLUICE_INLINE double acos(double x) { return 2 * atan(sqrt((1 - x) / (1 + x))); }
SLUICE_INLINE double atan2(double y, double x) {
    double a = fabs(y), b = fabs(x);
    if (x != x || y != y) return sluice_nan();
    double angle = a == b ? (a == 0 ? 0 : 0.7853981633974483) : atan(a / b);
    return copysign(sluice_negative(x) ? 3.141592653589793 - (angle - 1.2246467991473532e-16) : angle, y);
}
SLUICE_INLINE float atanf(float x) { return (float)atan((double)x); }
SLUICE_INLINE float asinf(float x) { return (float)asin((double)x); }
SLUICE_INLINE float acosf(float x) { return (float)acos((double)x); }
SLUICE_INLINE float atan2f(float y, float x) { return (float)atan2((double)y, (double)x); }

/* --- exponentials and logarithms --- */

/* exp2, exp10: 2 ulp. expm1, log1p, log2, log10: 4 ulp. */
SLUICE_INLINE double exp2(double x) {
    double n = rint(fmin(fmax(x, -1100.0), 1100.0));
    return x != x ? x : ldexp(exp((fmin(fmax(x, -1100.0), 1100.0) - n) * 0.6931471805599453), (int)n);
}
SLUICE_INLINE double exp10(double x) {
    double a = fmin(fmax(x, -400.0), 400.0), n = rint(a * 3.321928094887362);
    double r = fma(n, -5.801722962879576e-10, fma(n, -0.3010299950838089, a)); /* log10 2 in two numbers */
    return x != x ? x : ldexp(exp(r * 2.302585092994046), (int)n);
}
SLUICE_INLINE double expm1(double x) {
    const double series[] = {1.0 / 1307674368000,
                             1.0 / 87178291200,
                             1.0 / 6227020800,
                             1.0 / 479001600,
                             1.0 / 39916800,
                             1.0 / 3628800,
                             1.0 / 362880,
                             1.0 / 40320,
                             1.0 / 5040,
                             1.0 / 720,
                             1.0 / 120,
                             1.0 / 24,
                             1.0 / 6,
                             0.5};
    return fabs(x) < 0.5 ? fma(x * x, sluice_polynomial(series, x), x) : exp(x) - 1;
}
SLUICE_INLINE double log1p(double x) {
    double u = 1 + x;
    if (u == 1 || u == sluice_infinity()) return x;
    return u > 0 ? log(u) - ((u - 1) - x) / u : log(u);
}
SLUICE_INLINE double log2(double x) {
    int n;
    double m = frexp(x, &n);
    if (!(x > 0) || !sluice_finite(x)) return log(x);
    if (m < 0.6666666666666666) m *= 2, n -= 1;
    return fma(log(m), 1.4426950408889634, (double)n);
}
SLUICE_INLINE double log10(double x) { return log(x) * 0.4342944819032518; }
SLUICE_INLINE float exp10f(float x) { return (float)exp10((double)x); }
SLUICE_INLINE float expm1f(float x) { return (float)expm1((double)x); }
SLUICE_INLINE float log1pf(float x) { return (float)log1p((double)x); }
SLUICE_INLINE float log2f(float x) { return (float)log2((double)x); }
SLUICE_INLINE float log10f(float x) { return (float)log10((double)x); }
SLUICE_INLINE float exp2f(float x) { return __nvvm_ex2_approx_f(x); } /* exp2f: 2 ulp */
SLUICE_INLINE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
SLUICE_INLINE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.3010299957f; }
SLUICE_INLINE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.321928095f); }
SLUICE_INLINE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }

/* Hyperbolic functions and their inverses: 4 ulp. */
SLUICE_INLINE double sinh(double x) {
    double a = fabs(x), e = expm1(a), half = exp(0.5 * a);
    double y = a < 1 ? 0.5 * (e + e / (e + 1)) : a < 700 ? 0.5 * (exp(a) - exp(-a)) : 0.5 * half * half;
    return copysign(y, x);
}
SLUICE_INLINE double cosh(double x) {
    double a = fabs(x), half = exp(0.5 * a);
    return a < 700 ? 0.5 * (exp(a) + exp(-a)) : 0.5 * half * half;
}
SLUICE_INLINE double tanh(double x) {
    double a = fabs(x), e = expm1(2 * fmin(a, 22.0));
    return x != x ? x : copysign(e / (e + 2), x);
}
SLUICE_INLINE double asinh(double x) {
    double a = fabs(x), a2 = a * a;
    return copysign(a < 1e8 ? log1p(a + a2 / (1 + sqrt(a2 + 1))) : log(a) + 0.6931471805599453, x);
}
SLUICE_INLINE double acosh(double x) {
    double t = x - 1;
    return x < 1e8 || x != x ? log1p(t + sqrt(t * (t + 2))) : log(x) + 0.6931471805599453;
}
SLUICE_INLINE double atanh(double x) {
    double a = fabs(x);
    return copysign(0.5 * log1p(2 * a / (1 - a)), x);
}
SLUICE_INLINE float sinhf(float x) { return (float)sinh((double)x); }
SLUICE_INLINE float coshf(float x) { return (float)cosh((double)x); }
SLUICE_INLINE float asinhf(float x) { return (float)asinh((double)x); }
SLUICE_INLINE float acoshf(float x) { return (float)acosh((double)x); }
SLUICE_INLINE float atanhf(float x) { return (float)atanh((double)x); }

/* --- powers and roots --- */

/* 0: y is no integer; 1: odd; 2: even. */
SLUICE_INLINE int sluice_parity(double y) {
    if (rint(y) != y) return 0;
    return fabs(y) < 9007199254740992.0 && 2 * rint(0.5 * y) != y ? 1 : 2;
}

/* x^y of a positive finite x. The logarithm is a sum of two numbers, since the exponential multiplies its error by the
 * exponent: log x = n log 2 + 2 artanh s, s = (m - 1) / (m + 1). */
SLUICE_INLINE double sluice_power(double x, double y) {
    const double series[] = {2.0 / 29, 2.0 / 27, 2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17,
                             2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5};
    int n;
    double m = frexp(x, &n);
    if (m < 0.6666666666666666) m *= 2, n -= 1;
    double d = m + 1, d_low = m - (d - 1), s = (m - 1) / d;
    double s_low = (fma(-s, d, m - 1) - s * d_low) / d, s2 = s * s, s2_low = fma(s, s, -s2);
    double third = 0.6666666666666666, third_low = 3.700743415417188e-17;
    double factor = fma(s2, sluice_polynomial(series, s2), third_low), c = third + factor, c_low = third - c + factor;
    double cube = s2 * s, cube_low = fma(s2, s, -cube) + fma(s2_low, s, 3 * s2 * s_low);
    double tail = c * cube, tail_low = fma(c, cube, -tail) + fma(c, cube_low, c_low * cube);
    double high = n * 0.6931471803691238, sum = high + 2 * s;
    double low = high - sum + 2 * s;
    if (n == 0) sum = 2 * s, low = 0;
    double log_high = sum + tail,
           log_low = sum - log_high + tail + low + 2 * s_low + tail_low + n * 1.9082149292705877e-10;
    double top = log_high + log_low;
    log_low = log_high - top + log_low;
    double product = y * top, product_low = fma(y, top, -product) + y * log_low, power = exp(product);
    return power == 0 || !sluice_finite(power) || !sluice_finite(product) ? power : fma(power, product_low, power);
}
/* pow: 4 ulp. */
SLUICE_INLINE double pow(double x, double y) {
    double a = fabs(x), p;
    int parity = sluice_parity(y);
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return sluice_nan();
    if (a == 1)
        p = 1;
    else if (a == 0 || !sluice_finite(a) || !sluice_finite(y))
        p = (a > 1) == (y > 0) ? sluice_infinity() : 0;
    else
        p = sluice_power(a, y);
    if (!sluice_negative(x)) return p;
    if (parity == 1) return -p;
    return parity == 0 && a > 0 && sluice_finite(a) ? sluice_nan() : p;
}
/* powf: 1 ulp. */
SLUICE_INLINE float powf(float x, float y) {
    float p = sluice_positive_powf(fabsf(x), y);
    if (__float_as_int(x) >= 0 || y != y || x != x) return p;
    int parity = sluice_parity(y);
    return parity == 1 ? -p : parity == 2 || x == 0 || fabsf(x) == __int_as_float(0x7f800000) ? p : (float)sluice_nan();
}
/* cbrt, rcbrt: 2 ulp; by one step of Newton's method. */
SLUICE_INLINE double cbrt(double x) {
    double a = fabs(x), t = exp(log(a) * 0.3333333333333333);
    if (a == 0 || !sluice_finite(a)) return x;
    return copysign(t - fma(t * t, t, -a) / (3 * t * t), x);
}
SLUICE_INLINE double rcbrt(double x) { return 1 / cbrt(x); }
SLUICE_INLINE float cbrtf(float x) { return (float)cbrt((double)x); }
SLUICE_INLINE float rcbrtf(float x) { return (float)rcbrt((double)x); }

/* hypot, norm3d, norm4d: 2 ulp, their reciprocals: 4 ulp. Scaled by a power of two, so that squares are finite. */
SLUICE_INLINE double norm4d(double a, double b, double c, double d) {
    double most = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
    if (most == sluice_infinity() || most == 0) return most;
    int n = ilogb(most);
    a = ldexp(a, -n), b = ldexp(b, -n), c = ldexp(c, -n), d = ldexp(d, -n);
    return ldexp(sqrt(fma(a, a, fma(b, b, fma(c, c, d * d)))), n);
}
SLUICE_INLINE double norm3d(double a, double b, double c) { return norm4d(a, b, c, 0); }
SLUICE_INLINE double hypot(double a, double b) { return norm4d(a, b, 0, 0); }
SLUICE_INLINE double rhypot(double a, double b) { return 1 / hypot(a, b); }
SLUICE_INLINE double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
SLUICE_INLINE double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
SLUICE_INLINE double sluice_squares(float a, float b, float c, float d) {
    return fma((double)a, a, fma((double)b, b, fma((double)c, c, (double)d * d)));
}
SLUICE_INLINE float hypotf(float a, float b) { return (float)sqrt(sluice_squares(a, b, 0, 0)); }
SLUICE_INLINE float norm3df(float a, float b, float c) { return (float)sqrt(sluice_squares(a, b, c, 0)); }
SLUICE_INLINE float norm4df(float a, float b, float c, float d) { return (float)sqrt(sluice_squares(a, b, c, d)); }
SLUICE_INLINE float rhypotf(float a, float b) { return (float)rsqrt(sluice_squares(a, b, 0, 0)); }
SLUICE_INLINE float rnorm3df(float a, float b, float c) { return (float)rsqrt(sluice_squares(a, b, c, 0)); }
SLUICE_INLINE float rnorm4df(float a, float b, float c, float d) { return (float)rsqrt(sluice_squares(a, b, c, d)); }

/* --- error and gamma functions --- */

/* e^(-x^2), with the rounding error of the square. */
SLUICE_INLINE double sluice_gauss(double x) {
    double square = x * x, power = exp(-square);
    return sluice_finite(square) ? fma(power, -fma(x, x, -square), power) : power;
}
/* (x + 3) e^(x^2) erfc x for x >= 1, a polynomial of (x - 5) / (x + 3) by interpolation at Chebyshev nodes. */
SLUICE_INLINE double sluice_erfc_above_1(double x) {
    const double c[] = {-3.5704541896055064e-11, -1.508409943864442e-10,  4.21543980366844e-10,  2.0110161484707333e-09,
                        -3.6364861417018678e-09, -1.8291441780658178e-08, 3.594066062648443e-08, 1.5257422986105972e-07,
                        -4.445063815953778e-07,  -1.1154396009938606e-06, 6.227279607565087e-06, 2.220102790468152e-06,
                        -8.285365246161544e-05,  0.00020565983856951913,  0.0005111598750369721, -0.005992101445220874,
                        0.027317987192564102,    -0.08762571665290202,    0.22387273334256377,   -0.4796614430843352,
                        0.885637101864549};
    return x > 28 ? 0 : sluice_polynomial(c, (x - 5) / (x + 3)) / (x + 3) * sluice_gauss(x);
}
/* |x| < 1: x times a polynomial of x^2, found in the same way. */
SLUICE_INLINE double sluice_erf_below_1(double x) {
    const double c[] = {5.957176147748911e-11,   -1.1372848856791674e-09, 1.4659775274047436e-08,
                        -1.6350312701054695e-07, 1.6461000484121368e-06,  -1.4925595266831182e-05,
                        0.0001205533111164271,   -0.000854832698083379,   0.0052239776248180145,
                        -0.026866170645076792,   0.11283791670954879,     -0.3761263890318375,
                        1.1283791670955126};
    return x * sluice_polynomial(c, x * x);
}
/* erf: 2 ulp, erfc, normcdf: 16 ulp down to the smallest normal result. */
SLUICE_INLINE double erf(double x) {
    double a = fabs(x);
    return x != x ? x : a < 1 ? sluice_erf_below_1(x) : copysign(1 - sluice_erfc_above_1(a), x);
}
SLUICE_INLINE double erfc(double x) {
    if (x != x) return x;
    if (fabs(x) < 1) return 1 - sluice_erf_below_1(x);
    return x > 0 ? sluice_erfc_above_1(x) : 2 - sluice_erfc_above_1(-x);
}
/* With the rounding error of the argument of erfc. */
SLUICE_INLINE double normcdf(double x) {
    double z = x * -0.7071067811865476, z_low = fma(x, -0.7071067811865476, -z) + x * 4.833646656726457e-17;
    double y = erfc(z);
    return sluice_finite(x) ? 0.5 * fma(-1.1283791670955126 * sluice_gauss(z), z_low, y) : 0.5 * y;
}
SLUICE_INLINE float erff(float x) { return (float)erf((double)x); }
SLUICE_INLINE float erfcf(float x) { return (float)erfc((double)x); }
SLUICE_INLINE float normcdff(float x) { return (float)normcdf((double)x); }

/* Stirling's series for x >= 10: log of the gamma function minus (x - 1/2) log x - x. */
SLUICE_INLINE double sluice_stirling(double x) {
    const double series[] = {1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
    double z = 1 / x;
    return fma(z, sluice_polynomial(series, z * z), 0.9189385332046728);
}
/* x (x + 1) ... up to 10, to which `*x` advances. */
SLUICE_INLINE double sluice_rise(double *x) {
    double product = 1;
    while (*x < 10) product *= *x, *x += 1;
    return product;
}
SLUICE_INLINE double sluice_gamma(double x) { /* x > 0 */
    double product = sluice_rise(&x);
    if (x > 172) return sluice_infinity();
    double half = sluice_power(x, 0.5 * (x - 0.5)); /* twice, since the power alone may be too large */
    return half * exp(-x) * exp(sluice_stirling(x)) * half / product; /* the sum of the exponents would be rounded */
}
/* tgamma: 32 ulp for x > 0, 64 ulp below, for results that are normal numbers. lgamma: 16 ulp for x > 4, an absolute error of 4e-15 below. tgammaf: 1 ulp.
 * lgammaf: 2 ulp for x > 0. */
SLUICE_INLINE double tgamma(double x) {
    if (x != x || x == -sluice_infinity() || (x < 0 && rint(x) == x)) return sluice_nan();
    if (x == 0) return copysign(sluice_infinity(), x);
    return x > 0 ? sluice_gamma(x) : 3.141592653589793 / (sinpi(x) * sluice_gamma(1 - x));
}
SLUICE_INLINE double sluice_log_gamma(double x) { /* x > 0 */
    if (!sluice_finite(x)) return x;
    double product = sluice_rise(&x);
    return (x - 0.5) * (log(x) - 1) - 0.5 + sluice_stirling(x) - log(product);
}
SLUICE_INLINE double lgamma(double x) {
    if (x != x) return x;
    if (x > 0) return sluice_log_gamma(x);
    if (rint(x) == x || !sluice_finite(x)) return sluice_infinity();
    return log(fabs(3.141592653589793 / sinpi(x))) - sluice_log_gamma(1 - x);
}
SLUICE_INLINE float tgammaf(float x) { return (float)tgamma((double)x); }
SLUICE_INLINE float lgammaf(float x) { return (float)lgamma((double)x); }

/* --- the names of double precision for float --- */

SLUICE_INLINE float fabs(float x) { return fabsf(x); }
SLUICE_INLINE float abs(float x) { return fabsf(x); }
SLUICE_INLINE double abs(double x) { return fabs(x); }
SLUICE_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
SLUICE_INLINE long abs(long x) { return x < 0 ? -x : x; }
SLUICE_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }
SLUICE_INLINE long labs(long x) { return x < 0 ? -x : x; }
#define SLUICE_FLOAT(name) \
    SLUICE_INLINE float name(float x) { return name##f(x); }
SLUICE_FLOAT(sqrt)
SLUICE_FLOAT(rsqrt)
SLUICE_FLOAT(cbrt)
SLUICE_FLOAT(floor)
SLUICE_FLOAT(ceil)
SLUICE_FLOAT(trunc)
SLUICE_FLOAT(round)
SLUICE_FLOAT(rint)
SLUICE_FLOAT(nearbyint)
SLUICE_FLOAT(sin)
SLUICE_FLOAT(cos)
SLUICE_FLOAT(tan)
SLUICE_FLOAT(asin)
SLUICE_FLOAT(acos)
SLUICE_FLOAT(atan)
SLUICE_FLOAT(sinh)
SLUICE_FLOAT(cosh)
SLUICE_FLOAT(tanh)
SLUICE_FLOAT(asinh)
SLUICE_FLOAT(acosh)
SLUICE_FLOAT(atanh)
SLUICE_FLOAT(exp)
SLUICE_FLOAT(exp2)
SLUICE_FLOAT(expm1)
SLUICE_FLOAT(log)
SLUICE_FLOAT(log2)
SLUICE_FLOAT(log10)
SLUICE_FLOAT(log1p)
SLUICE_FLOAT(erf)
SLUICE_FLOAT(erfc)
SLUICE_FLOAT(tgamma)
SLUICE_FLOAT(lgamma)
#undef SLUICE_FLOAT
#define SLUICE_FLOAT(name) \
    SLUICE_INLINE float name(float a, float b) { return name##f(a, b); }
SLUICE_FLOAT(pow)
SLUICE_FLOAT(atan2)
SLUICE_FLOAT(fmod)
SLUICE_FLOAT(remainder)
SLUICE_FLOAT(fmin)
SLUICE_FLOAT(fmax)
SLUICE_FLOAT(fdim)
SLUICE_FLOAT(hypot)
SLUICE_FLOAT(copysign)
#undef SLUICE_FLOAT
SLUICE_INLINE float fma(float a, float b, float c) { return fmaf(a, b, c); }
SLUICE_INLINE float ldexp(float x, int n) { return ldexpf(x, n); }
SLUICE_INLINE float frexp(float x, int *exponent) { return frexpf(x, exponent); }
SLUICE_INLINE float modf(float x, float *whole) { return modff(x, whole); }
SLUICE_INLINE float pow(float x, int n) { return powf(x, (float)n); }
SLUICE_INLINE double pow(double x, int n) { return pow(x, (double)n); }

#endif
