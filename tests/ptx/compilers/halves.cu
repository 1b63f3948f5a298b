/* Halves as compilers use them: 16 bits in memory, computed as floats. */
#include "compilers.h"

#if defined REFERENCE /* for finite numbers, on the bits: not every host has halves */
static float widened(unsigned short half) {
    const unsigned sign = (unsigned)(half & 0x8000) << 16, bits = sign | ((half & 0x7FFFu) << 13) + (112u << 23);
    float x;
    __builtin_memcpy(&x, &bits, 4);
    return half & 0x7C00 ? x : (float)(half & 0x3FF) * (sign ? -0x1p-24f : 0x1p-24f);
}
static unsigned short narrowed(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, 4);
    const unsigned sign = bits >> 16 & 0x8000, rest = bits & 0x1FFF, magnitude = bits & 0x7FFFFFFF;
    const float size = x < 0 ? -x : x;
    if (size >= 65520) return (unsigned short)(sign | 0x7C00);
    if (size < 0x1p-14f) return (unsigned short)(sign | (unsigned)((size * 0x1p24f + 0x1p23f) - 0x1p23f));
    const unsigned half = (magnitude - (112u << 23)) >> 13;
    return (unsigned short)(sign | (half + (rest > 0x1000 || (rest == 0x1000 && half & 1))));
}
#elif defined __NVCC__
#include <cuda_fp16.h>
static __device__ float widened(unsigned short bits) { return __half2float(__ushort_as_half(bits)); }
static __device__ unsigned short narrowed(float x) { return __half_as_ushort(__float2half_rn(x)); }
#else
static __device__ float widened(unsigned short bits) {
    __fp16 h;
    __builtin_memcpy(&h, &bits, 2);
    return h;
}
static __device__ unsigned short narrowed(float x) {
    const __fp16 h = (__fp16)x;
    unsigned short bits;
    __builtin_memcpy(&bits, &h, 2);
    return bits;
}
#endif

static __device__ void halves(unsigned *out, unsigned i, const unsigned *in) {
    const unsigned short a = in[i] & 0x7BFF, b = (in[i] >> 16 & 0x3BFF) | 0x8000; /* finite */
    out[0] = narrowed(widened(a) + widened(b));
    out[1] = narrowed(widened(a) * widened(b));
    out[2] = narrowed(widened(a) / 3.0f) | (unsigned)narrowed((float)(int)in[i] * 0x1p-16f) << 16;
    out[3] = (unsigned)(int)widened(a) ^ (widened(a) > widened(b));
}
EACH_THREAD(halves)
