/* CUDA C++ for compilers without the CUDA toolkit: `sluice cuda` includes this file before a source that clang compiles to PTX.
 * Kernels get built-in variables, vector types, atomics, shuffles, votes and mathematical functions; host code gets the
 * declarations of the runtime API, so that a whole program parses. Only device code is generated.
 *
 * Accuracy: sluice_device.h states the error of each function; those below are marked where they are approximate. Left out:
 * textures, cooperative groups, half precision, and functions of <cmath> in namespace std on the device. */
#ifndef SLUICE_CUDA_H
#define SLUICE_CUDA_H

#include <stddef.h>

#include "sluice_device.h"

#undef warpSize /* also a property of devices */
static constexpr int warpSize = 32;

#define __host__            __attribute__((host))
#define __managed__         __attribute__((managed))
#define __noinline__        __attribute__((noinline))
#define __align__(n)        __attribute__((aligned(n)))
#define __CUDACC__          1
#define CUDART_CB
#define CUDART_VERSION      12000
#define CUDART_INF_F        __builtin_inff()
#define CUDART_INF          __builtin_inf()
#define SLUICE_BOTH         static __host__ __device__ __forceinline__

/* --- vector types --- */

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
struct __attribute__((aligned(2))) char2 {
    signed char x, y;
};
struct char3 {
    signed char x, y, z;
};
struct __attribute__((aligned(4))) char4 {
    signed char x, y, z, w;
};
struct __attribute__((aligned(2))) uchar2 {
    unsigned char x, y;
};
struct uchar3 {
    unsigned char x, y, z;
};
struct __attribute__((aligned(4))) short2 {
    short x, y;
};
struct __attribute__((aligned(8))) short4 {
    short x, y, z, w;
};
struct __attribute__((aligned(4))) ushort2 {
    unsigned short x, y;
};
struct __attribute__((aligned(8))) ushort4 {
    unsigned short x, y, z, w;
};
struct int3 {
    int x, y, z;
};
struct __attribute__((aligned(16))) longlong2 {
    long long x, y;
};
struct __attribute__((aligned(16))) ulonglong2 {
    unsigned long long x, y;
};
struct __attribute__((aligned(16))) double2 {
    double x, y;
};
struct double3 {
    double x, y, z;
};
struct __attribute__((aligned(16))) double4 {
    double x, y, z, w;
};

#define SLUICE_MAKE2(where, type, name) \
    where name##2 make_##name##2(type x, type y) { return {x, y}; }
#define SLUICE_MAKE3(where, type, name) \
    where name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }
#define SLUICE_MAKE4(where, type, name) \
    where name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define SLUICE_HOST static inline
SLUICE_MAKE2(SLUICE_HOST, float, float)
SLUICE_MAKE3(SLUICE_HOST, float, float)
SLUICE_MAKE4(SLUICE_HOST, float, float)
SLUICE_MAKE2(SLUICE_HOST, unsigned, uint)
SLUICE_MAKE4(SLUICE_HOST, unsigned, uint)
SLUICE_MAKE3(SLUICE_BOTH, unsigned, uint)
SLUICE_MAKE2(SLUICE_BOTH, int, int)
SLUICE_MAKE3(SLUICE_BOTH, int, int)
SLUICE_MAKE4(SLUICE_BOTH, int, int)
SLUICE_MAKE2(SLUICE_BOTH, signed char, char)
SLUICE_MAKE3(SLUICE_BOTH, signed char, char)
SLUICE_MAKE4(SLUICE_BOTH, signed char, char)
SLUICE_MAKE2(SLUICE_BOTH, unsigned char, uchar)
SLUICE_MAKE3(SLUICE_BOTH, unsigned char, uchar)
SLUICE_MAKE4(SLUICE_BOTH, unsigned char, uchar)
SLUICE_MAKE2(SLUICE_BOTH, short, short)
SLUICE_MAKE4(SLUICE_BOTH, short, short)
SLUICE_MAKE2(SLUICE_BOTH, unsigned short, ushort)
SLUICE_MAKE4(SLUICE_BOTH, unsigned short, ushort)
SLUICE_MAKE2(SLUICE_BOTH, long long, longlong)
SLUICE_MAKE2(SLUICE_BOTH, unsigned long long, ulonglong)
SLUICE_MAKE2(SLUICE_BOTH, double, double)
SLUICE_MAKE3(SLUICE_BOTH, double, double)
SLUICE_MAKE4(SLUICE_BOTH, double, double)

/* --- synchronisation --- */

SLUICE_INLINE void __syncwarp(unsigned mask = ~0u) { __nvvm_bar_warp_sync(mask); }
SLUICE_INLINE void __threadfence_system() { __nvvm_membar_sys(); }
SLUICE_INLINE unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
SLUICE_INLINE long long clock64() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    return now;
}
SLUICE_INLINE int clock() { return (int)clock64(); }
SLUICE_INLINE void __trap() { asm volatile("trap;"); }
SLUICE_INLINE void __nanosleep(unsigned) {}

/* --- atomics: what sluice_device.h does not have --- */

SLUICE_INLINE ulong64 atomicAdd(ulong64 *p, ulong64 v) { return __nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
SLUICE_INLINE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
SLUICE_INLINE int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
SLUICE_INLINE uint atomicSub(uint *p, uint v) { return atomicAdd(p, 0u - v); }
SLUICE_INLINE uint atomicMax(uint *p, uint v) { return __nvvm_atom_max_gen_ui(p, v); }
SLUICE_INLINE ulong64 atomicMin(ulong64 *p, ulong64 v) { return __nvvm_atom_min_gen_ull(p, v); }
SLUICE_INLINE ulong64 atomicMax(ulong64 *p, ulong64 v) { return __nvvm_atom_max_gen_ull(p, v); }
SLUICE_INLINE uint atomicExch(uint *p, uint v) { return (uint)atomicExch((int *)p, (int)v); }
SLUICE_INLINE float atomicExch(float *p, float v) { return __int_as_float(atomicExch((int *)p, __float_as_int(v))); }
SLUICE_INLINE ulong64 atomicExch(ulong64 *p, ulong64 v) {
    return (ulong64)__nvvm_atom_xchg_gen_ll((long long *)p, (long long)v);
}
SLUICE_INLINE uint atomicCAS(uint *p, uint expected, uint v) {
    return (uint)__nvvm_atom_cas_gen_i((int *)p, (int)expected, (int)v);
}
SLUICE_INLINE ulong64 atomicCAS(ulong64 *p, ulong64 expected, ulong64 v) {
    return (ulong64)__nvvm_atom_cas_gen_ll((long long *)p, (long long)expected, (long long)v);
}
SLUICE_INLINE uint atomicDec(uint *p, uint limit) { return __nvvm_atom_dec_gen_ui(p, limit); }
SLUICE_INLINE int atomicAnd(int *p, int v) { return __nvvm_atom_and_gen_i(p, v); }
SLUICE_INLINE uint atomicAnd(uint *p, uint v) { return (uint)__nvvm_atom_and_gen_i((int *)p, (int)v); }
SLUICE_INLINE uint atomicOr(uint *p, uint v) { return (uint)__nvvm_atom_or_gen_i((int *)p, (int)v); }
SLUICE_INLINE int atomicXor(int *p, int v) { return __nvvm_atom_xor_gen_i(p, v); }
SLUICE_INLINE uint atomicXor(uint *p, uint v) { return (uint)__nvvm_atom_xor_gen_i((int *)p, (int)v); }

/* --- shuffles and votes --- */

#define SLUICE_SHUFFLE(name, builtin, parameter, clamp) \
    SLUICE_INLINE int name(unsigned mask, int v, parameter, int width = 32) { \
        return __nvvm_shfl_sync_##builtin##_i32(mask, v, (int)lane, ((32 - width) << 8) | clamp); \
    } \
    SLUICE_INLINE unsigned name(unsigned mask, unsigned v, parameter, int width = 32) { \
        return (unsigned)name(mask, (int)v, lane, width); \
    } \
    SLUICE_INLINE float name(unsigned mask, float v, parameter, int width = 32) { \
        return __int_as_float(name(mask, __float_as_int(v), lane, width)); \
    } \
    SLUICE_INLINE long long name(unsigned mask, long long v, parameter, int width = 32) { \
        unsigned low = name(mask, (unsigned)v, lane, width), high = name(mask, (unsigned)(v >> 32), lane, width); \
        return (long long)((ulong64)high << 32 | low); \
    } \
    SLUICE_INLINE ulong64 name(unsigned mask, ulong64 v, parameter, int width = 32) { \
        return (ulong64)name(mask, (long long)v, lane, width); \
    } \
    SLUICE_INLINE double name(unsigned mask, double v, parameter, int width = 32) { \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(long long, v), lane, width)); \
    }
SLUICE_SHUFFLE(__shfl_sync, idx, int lane, 31)
SLUICE_SHUFFLE(__shfl_up_sync, up, unsigned lane, 0)
SLUICE_SHUFFLE(__shfl_down_sync, down, unsigned lane, 31)
SLUICE_SHUFFLE(__shfl_xor_sync, bfly, int lane, 31)
#undef SLUICE_SHUFFLE

SLUICE_INLINE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
SLUICE_INLINE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
SLUICE_INLINE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }

/* --- loads through the read-only path --- */

SLUICE_INLINE unsigned __ldg(const unsigned *p) { return (unsigned)__ldg((const int *)p); }
SLUICE_INLINE double __ldg(const double *p) {
    double v;
    asm("ld.global.nc.f64 %0, [%1];" : "=d"(v) : "l"(p));
    return v;
}
SLUICE_INLINE float4 __ldg(const float4 *p) {
    float4 v;
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}

/* --- integers, bits and conversions --- */

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
SLUICE_BOTH long long min(long long a, long long b) { return a < b ? a : b; }
SLUICE_BOTH long long max(long long a, long long b) { return a > b ? a : b; }
SLUICE_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
SLUICE_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
SLUICE_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
SLUICE_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
SLUICE_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SLUICE_INLINE int __popcll(ulong64 x) { return __builtin_popcountll(x); }
SLUICE_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SLUICE_INLINE int __clzll(long long x) { return x ? __builtin_clzll((ulong64)x) : 64; }
SLUICE_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SLUICE_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
SLUICE_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SLUICE_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((ulong64)a * b >> 32); }
SLUICE_INLINE unsigned __float_as_uint(float a) { return (unsigned)__float_as_int(a); }
SLUICE_INLINE float __uint_as_float(unsigned a) { return __int_as_float((int)a); }
SLUICE_INLINE long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
SLUICE_INLINE double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
SLUICE_INLINE int __float2int_rn(float x) { return (int)rintf(x); }
SLUICE_INLINE int __float2int_rz(float x) { return (int)x; }
SLUICE_INLINE int __float2int_rd(float x) { return (int)floorf(x); }
SLUICE_INLINE float __int2float_rn(int x) { return (float)x; }

/* --- mathematics: what sluice_device.h does not have --- */

SLUICE_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SLUICE_INLINE float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
SLUICE_INLINE float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
SLUICE_INLINE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
SLUICE_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
SLUICE_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
SLUICE_INLINE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
SLUICE_INLINE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.321928095f); }
SLUICE_INLINE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
SLUICE_INLINE float truncf(float x) { return __builtin_truncf(x); }
SLUICE_INLINE float roundf(float x) { return __builtin_copysignf(floorf(fabsf(x) + 0.5f), x); }
SLUICE_INLINE float fmodf(float a, float b) { return fmaf(-truncf(a / b), b, a); } /* exact for small quotients */
SLUICE_INLINE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
SLUICE_INLINE float tanf(float x) { return sinf(x) / cosf(x); }
SLUICE_INLINE float exp2f(float x) { return __nvvm_ex2_approx_f(x); }
SLUICE_INLINE float log2f(float x) { return (float)(log((double)x) * 1.4426950408889634); }
SLUICE_INLINE float log10f(float x) { return (float)(log((double)x) * 0.43429448190325182); }
SLUICE_INLINE float sinhf(float x) { return 0.5f * (expf(x) - expf(-x)); } /* approximate near 0 */
SLUICE_INLINE float coshf(float x) { return 0.5f * (expf(x) + expf(-x)); }
SLUICE_INLINE float hypotf(float a, float b) { return (float)sqrt((double)a * a + (double)b * b); }
SLUICE_INLINE double ceil(double x) { return __builtin_ceil(x); }
SLUICE_INLINE double trunc(double x) { return __builtin_trunc(x); }
SLUICE_INLINE double rsqrt(double x) { return 1 / sqrt(x); }
SLUICE_INLINE double pow(double x, double y) { return x == 1 || y == 0 ? 1 : exp(y * log(x)); } /* x > 0; approximate */

/* --- functions of the device library --- */

extern "C" {
__device__ int printf(const char *, ...);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t bytes);
__device__ __attribute__((noreturn)) inline void __assert_fail(const char *message, const char *file, unsigned line,
                                                               const char *function) noexcept {
    __assertfail(message, file, line, function, 1);
    __builtin_unreachable();
}
}

/* --- the host's side --- */

#define SLUICE_CUDA_VECTORS
#define CUDART_MAJOR 12
#include "cudart/types.h"

extern "C" {
#define GROUP(...)
#define API(name, parameters)     cudaError_t name parameters;
#define NOTHING(name, parameters) cudaError_t name parameters;
#define ALIAS(name, function)
#define INNER(name)
#define MISSING(name)
#include "cudart/api.def"
#undef MISSING
#undef INNER
#undef ALIAS
#undef NOTHING
#undef API
#undef GROUP
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
/* What <<<>>> calls, by the compiler's version. */
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
}

static inline cudaPitchedPtr make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize, size_t ysize) {
    return {ptr, pitch, xsize, ysize};
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }

template <typename T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc((void **)pointer, bytes);
}
template <typename T> static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned = 0) {
    return cudaMallocHost((void **)pointer, bytes);
}
template <typename T> static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags) {
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <typename T> static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned flags = 1) {
    return cudaMallocManaged((void **)pointer, bytes, flags);
}
template <typename T> static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <typename T> static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync((void **)pointer, bytes, stream);
}
template <typename T> static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags) {
    return cudaHostGetDevicePointer((void **)device, host, flags);
}
template <typename T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <typename T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <typename T> static inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    return cudaGetSymbolAddress(address, (const void *)&symbol);
}
template <typename T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return cudaGetSymbolSize(bytes, (const void *)&symbol);
}
template <typename T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function) {
    return cudaFuncGetAttributes(attributes, (const void *)function);
}
template <typename T> static inline cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)function, attribute, value);
}
template <typename T> static inline cudaError_t cudaFuncSetCacheConfig(T *function, cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)function, config);
}
template <typename T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T function, int threads,
                                                                        size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, threads, shared);
}
template <typename T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T function, size_t shared = 0,
                                                             int limit = 0) {
    (void)function, (void)shared, (void)limit, (void)grid, (void)block;
    return cudaSuccess; /* host code is only parsed */
}

#endif
