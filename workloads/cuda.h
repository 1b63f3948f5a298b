/* The part of CUDA C that the kernels of this directory use, so that Debian's clang compiles them to PTX without the
 * CUDA toolkit: built-in variables, vector types, intrinsics, and mathematical functions without a machine instruction.
 *
 * The functions below aim at the accuracy of CUDA's (a few units in the last place) with about as many instructions.
 * `NAME: N ulp` bounds the error in the emulator, for all arguments except those excluded in the comment;
 * tests/workloads/maths_test.c compares with the host's library. */
#ifndef SLUICE_WORKLOADS_CUDA_H
#define SLUICE_WORKLOADS_CUDA_H

#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __forceinline__        inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define SLUICE_INLINE          static __device__ __forceinline__

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong64;

struct uint3 {
    uint x, y, z;
};
struct int2 {
    int x, y;
};
struct __attribute__((aligned(16))) int4 {
    int x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
    uint x, y;
};
struct __attribute__((aligned(16))) uint4 {
    uint x, y, z, w;
};
struct __attribute__((aligned(8))) float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct __attribute__((aligned(4))) uchar4 {
    uchar x, y, z, w;
};

SLUICE_INLINE float2 make_float2(float x, float y) { return {x, y}; }
SLUICE_INLINE float3 make_float3(float x, float y, float z) { return {x, y, z}; }
SLUICE_INLINE float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
SLUICE_INLINE uint2 make_uint2(uint x, uint y) { return {x, y}; }
SLUICE_INLINE uint4 make_uint4(uint x, uint y, uint z, uint w) { return {x, y, z, w}; }

/* threadIdx etc.: values, so that they cannot be assigned. */
SLUICE_INLINE uint3 sluice_tid() {
    return {(uint)__nvvm_read_ptx_sreg_tid_x(), (uint)__nvvm_read_ptx_sreg_tid_y(), (uint)__nvvm_read_ptx_sreg_tid_z()};
}
SLUICE_INLINE uint3 sluice_ntid() {
    return {(uint)__nvvm_read_ptx_sreg_ntid_x(), (uint)__nvvm_read_ptx_sreg_ntid_y(),
            (uint)__nvvm_read_ptx_sreg_ntid_z()};
}
SLUICE_INLINE uint3 sluice_ctaid() {
    return {(uint)__nvvm_read_ptx_sreg_ctaid_x(), (uint)__nvvm_read_ptx_sreg_ctaid_y(),
            (uint)__nvvm_read_ptx_sreg_ctaid_z()};
}
SLUICE_INLINE uint3 sluice_nctaid() {
    return {(uint)__nvvm_read_ptx_sreg_nctaid_x(), (uint)__nvvm_read_ptx_sreg_nctaid_y(),
            (uint)__nvvm_read_ptx_sreg_nctaid_z()};
}
#define threadIdx sluice_tid()
#define blockDim  sluice_ntid()
#define blockIdx  sluice_ctaid()
#define gridDim   sluice_nctaid()
#define warpSize  32

/* Synchronisation, atomics, votes. */
SLUICE_INLINE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
SLUICE_INLINE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
SLUICE_INLINE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
SLUICE_INLINE void __threadfence() { __nvvm_membar_gl(); }
SLUICE_INLINE void __threadfence_block() { __nvvm_membar_cta(); }

SLUICE_INLINE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
SLUICE_INLINE uint atomicAdd(uint *p, uint v) { return (uint)__nvvm_atom_add_gen_i((int *)p, (int)v); }
SLUICE_INLINE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
SLUICE_INLINE int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
SLUICE_INLINE uint atomicMin(uint *p, uint v) { return __nvvm_atom_min_gen_ui(p, v); }
SLUICE_INLINE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
SLUICE_INLINE int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
SLUICE_INLINE int atomicCAS(int *p, int expected, int v) { return __nvvm_atom_cas_gen_i(p, expected, v); }
SLUICE_INLINE uint atomicInc(uint *p, uint limit) { return __nvvm_atom_inc_gen_ui(p, limit); }
SLUICE_INLINE int atomicOr(int *p, int v) { return __nvvm_atom_or_gen_i(p, v); }

SLUICE_INLINE bool __all(bool p) {
    int all;
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.all.pred p, p; selp.s32 %0, 1, 0, p;}"
                 : "=r"(all)
                 : "r"((int)p));
    return all != 0;
}
SLUICE_INLINE bool __any(bool p) {
    int any;
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.any.pred p, p; selp.s32 %0, 1, 0, p;}"
                 : "=r"(any)
                 : "r"((int)p));
    return any != 0;
}

/* Loads through the read-only path. */
SLUICE_INLINE float __ldg(const float *p) {
    float v;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}
SLUICE_INLINE int __ldg(const int *p) {
    int v;
    asm("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

/* Integers and bits. */
SLUICE_INLINE int min(int a, int b) { return a < b ? a : b; }
SLUICE_INLINE int max(int a, int b) { return a > b ? a : b; }
SLUICE_INLINE uint min(uint a, uint b) { return a < b ? a : b; }
SLUICE_INLINE uint max(uint a, uint b) { return a > b ? a : b; }
SLUICE_INLINE int abs(int a) { return a < 0 ? -a : a; }
SLUICE_INLINE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
SLUICE_INLINE uint __umul24(uint a, uint b) { return __nvvm_mul24_ui(a, b); }
SLUICE_INLINE float __int_as_float(int a) { return __nvvm_bitcast_i2f(a); }
SLUICE_INLINE int __float_as_int(float a) { return __nvvm_bitcast_f2i(a); }
SLUICE_INLINE double sluice_double(uint high, uint low) { return __nvvm_lohi_i2d((int)low, (int)high); }
SLUICE_INLINE int sluice_high(double a) { return __nvvm_d2i_hi(a); }

/* Float: single instructions, rounded once. */
SLUICE_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
SLUICE_INLINE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
SLUICE_INLINE float floorf(float x) { return __builtin_floorf(x); }
SLUICE_INLINE float ceilf(float x) { return __builtin_ceilf(x); }
SLUICE_INLINE float rintf(float x) { return __builtin_rintf(x); }
SLUICE_INLINE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
SLUICE_INLINE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
SLUICE_INLINE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }

/* Float: based on one approximate instruction, with rounded input and output.
 * rsqrtf: 1 ulp, __logf: 2 ulp, __sinf: 1 ulp, __cosf: 1 ulp.
 * __expf: 65 ulp at the ends, growing with |x|. __powf: 128 ulp for 0 < x < 10^6, |y| < 100, growing with |y log x|.
 * __fdividef: 1 ulp, for divisors up to 2^126. */
SLUICE_INLINE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
SLUICE_INLINE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.442695041f); }
SLUICE_INLINE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471806f; }
SLUICE_INLINE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
SLUICE_INLINE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
SLUICE_INLINE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
SLUICE_INLINE float __cosf(float x) { return __nvvm_cos_approx_f(x); }

/* Float: several instructions. e^x = 2^n * e^r with |r| <= ln 2 / 2, for which the instruction is accurate enough.
 * expf: 1 ulp. */
SLUICE_INLINE float expf(float x) {
    float n = rintf(fminf(fmaxf(x * 1.442695041f, -150.0f), 150.0f));
    float r = fmaf(n, -1.428606820e-06f, fmaf(n, -6.931457520e-01f, x));
    float half = rintf(n * 0.5f); /* two factors, since 2^n may be subnormal */
    return __nvvm_ex2_approx_f(r * 1.442695041f) * __nvvm_ex2_approx_f(half) * __nvvm_ex2_approx_f(n - half);
}

/* log x = n log 2 + log m with m in [2/3, 4/3): log m = 2 artanh((m - 1) / (m + 1)), an odd series that converges fast.
 * logf: 2 ulp. */
SLUICE_INLINE float logf(float x) {
    float scale = 0;
    if (x < 1.17549435e-38f) x *= 8388608.0f, scale = -23.0f;
    int bits = __float_as_int(x), n = (bits - 0x3f2aaaab) >> 23;
    float m = __int_as_float(bits - (n << 23)), s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    float p = fmaf(s2, fmaf(s2, fmaf(s2, 0.2333333f, 0.2857143f), 0.4f), 0.6666667f);
    float y = fmaf((float)n + scale, 0.6931471806f, fmaf(s * s2, p, 2.0f * s));
    if (!(x > 0)) y = x == 0 ? -__int_as_float(0x7f800000) : __int_as_float(0x7fffffff);
    return x == __int_as_float(0x7f800000) ? x : y;
}

/* An odd polynomial where 1 - 2 / (e^2x + 1) would cancel. tanhf: 2 ulp. */
SLUICE_INLINE float tanhf(float x) {
    float a = fabsf(x), x2 = x * x;
    if (a < 0.55f)
        return fmaf(x * x2, fmaf(x2, fmaf(x2, fmaf(x2, 0.01698685f, -0.05301178f), 0.1332726f), -0.33333323f), x);
    float t = 1.0f - 2.0f / (expf(2.0f * a) + 1.0f);
    return x < 0 ? -t : t;
}

/* Sine and cosine: the argument minus its multiple of pi / 2 in three parts, then polynomials.
 * sinf: 2 ulp, cosf: 2 ulp, both for |x| <= 10^5: beyond, the multiple needs more digits than a float has. */
SLUICE_INLINE float sluice_sine(float x, int quarter) {
    float n = rintf(x * 0.6366197724f);
    float r = fmaf(n, -5.390302953e-15f, fmaf(n, -7.549789415e-08f, fmaf(n, -1.570796251f, x)));
    float r2 = r * r;
    int q = (int)n + quarter;
    float even = fmaf(r2, fmaf(r2, fmaf(r2, 2.443315711e-05f, -1.388731625e-03f), 4.166664568e-02f), -0.5f);
    float odd = fmaf(r2, fmaf(r2, -1.951529589e-04f, 8.332160873e-03f), -1.666665461e-01f);
    float y = q & 1 ? fmaf(r2, even, 1.0f) : fmaf(r * r2, odd, r);
    return q & 2 ? -y : y;
}
SLUICE_INLINE float sinf(float x) { return sluice_sine(x, 0); }
SLUICE_INLINE float cosf(float x) { return sluice_sine(x, 1); }

/* Double: single instructions, rounded once. */
SLUICE_INLINE double fabs(double x) { return __builtin_fabs(x); }
SLUICE_INLINE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
SLUICE_INLINE double floor(double x) { return __builtin_floor(x); }
SLUICE_INLINE double rint(double x) { return __builtin_rint(x); }
SLUICE_INLINE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
SLUICE_INLINE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
SLUICE_INLINE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }

SLUICE_INLINE double sluice_power_of_two(int n) { return sluice_double((uint)(1023 + n) << 20, 0); }

/* As expf, with a polynomial for e^r, which is accurate for small r only: x is clamped at -750, where e^x is 0 (a NaN
 * is kept); beyond the upper end of n, a large r still gives infinity. exp: 1 ulp. */
SLUICE_INLINE double exp(double x) {
    x = x < -750.0 ? -750.0 : x;
    double n = rint(fmin(x * 1.4426950408889634, 1030.0));
    double r = fma(n, -1.9082149292705877e-10, fma(n, -0.6931471803691238, x));
    double p = 2.5000065640942155e-08;
    p = fma(p, r, 2.763024799721411e-07), p = fma(p, r, 2.75575863553008e-06), p = fma(p, r, 2.4801493100165902e-05);
    p = fma(p, r, 1.9841269506607013e-04), p = fma(p, r, 1.3888888943628698e-03), p = fma(p, r, 8.333333333494444e-03);
    p = fma(p, r, 4.166666666653016e-02), p = fma(p, r, 0.16666666666666413), p = fma(p, r, 0.5000000000000011);
    p = fma(p, r, 1.0), p = fma(p, r, 1.0);
    int half = (int)n >> 1;
    return p * sluice_power_of_two(half) * sluice_power_of_two((int)n - half);
}

/* As logf. log: 2 ulp. */
SLUICE_INLINE double log(double x) {
    double scale = 0;
    if (x < 2.2250738585072014e-308) x *= 18014398509481984.0, scale = -54;
    int high = sluice_high(x), n = (high - 0x3fe55555) >> 20;
    double m = x * sluice_power_of_two(-(n >> 1)) * sluice_power_of_two(-(n - (n >> 1)));
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, p = 0.1377505321372558;
    p = fma(p, s2, 0.131849060046383), p = fma(p, s2, 0.15390343503123935), p = fma(p, s2, 0.18181693271488106);
    p = fma(p, s2, 0.22222223750512043), p = fma(p, s2, 0.28571428561795637), p = fma(p, s2, 0.4000000000002449);
    p = fma(p, s2, 0.6666666666666666);
    double y = fma(n + scale, 0.6931471805599453, fma(s * s2, p, 2.0 * s));
    if (!(x > 0)) y = x == 0 ? -sluice_double(0x7ff00000, 0) : sluice_double(0x7ff80000, 0);
    return x == sluice_double(0x7ff00000, 0) ? x : y;
}

/* Through double, which has enough digits for the exponential of a product. powf: 1 ulp; not defined for negative x and
 * -0, which no kernel uses. */
SLUICE_INLINE float powf(float x, float y) {
    float p = (float)exp((double)y * log((double)x));
    return x == 1.0f || y == 0 ? 1.0f : p;
}

#endif
