// A kernel that checks what CUDA sources get without the CUDA toolkit: built-in variables, vector types, atomics, shuffles, votes,
// mathematical functions. It counts what is wrong. Host code and headers are those of ordinary programs. cuda_test.sh
// compiles it with clang, and with nvcc where it is installed.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <builtin_types.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <math_constants.h>
#include <vector_functions.h>

__constant__ float scale = 2;
__device__ unsigned counter;

struct part {
    float3 at;
    int4 index;
};

template <typename T> __device__ T warp_sum(T v) {
    for (int d = warpSize / 2; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__device__ bool near(double a, double b, double error) { return fabs(a - b) <= error * fabs(b); }

#define WRONG(condition) \
    do { \
        if (!(condition)) atomicAdd(wrong, 1); \
    } while (0)

__device__ void check_warps(int *wrong, int lane) {
    WRONG(warp_sum(lane) == 496 && warp_sum((float)lane) == 496.0f && warp_sum((double)lane) == 496.0);
    WRONG(__shfl_sync(~0u, lane * 3, 5) == 15 && __shfl_up_sync(~0u, lane, 1) == (lane ? lane - 1 : 0));
    WRONG(__shfl_down_sync(~0u, lane, 2, 8) == (lane % 8 < 6 ? lane + 2 : lane));
    WRONG(__ballot_sync(~0u, lane < 4) == 15u && __any_sync(~0u, lane == 9) && !__all_sync(~0u, lane == 9));
    WRONG(__popc(0xF0u) == 4 && __clz(1) == 31 && __ffs(8) == 4 && __brev(1u) == 0x80000000u && __umulhi(1u << 31, 4) == 2);
    WRONG(__syncthreads_count(lane == 3) == 2 && __syncthreads_or(lane == 3) && !__syncthreads_and(lane == 3));
}

__device__ void check_maths(int *wrong, int lane) {
    float x = 0.25f + 0.125f * lane;
    WRONG(near(sqrtf(x) * sqrtf(x), x, 1e-6) && near(rsqrtf(x), 1 / sqrt((double)x), 1e-6) && fabsf(-x) == x);
    WRONG(near(expf(logf(x)), x, 1e-6) && near(powf(x, 2.0f), x * x, 1e-6) && near(exp(log((double)x)), x, 1e-14));
    WRONG(fabsf(sinf(x) * sinf(x) + cosf(x) * cosf(x) - 1) < 1e-6f && near(tanhf(x), 1 - 2 / (exp(2.0 * x) + 1), 1e-6));
    WRONG(floorf(-1.5f) == -2 && ceilf(-1.5f) == -1 && truncf(-1.5f) == -1 && roundf(2.5f) == 3 && fmodf(7, 3) == 1);
    WRONG(near(pow(2.0, 10.0), 1024, 1e-12) && fmaf(2, 3, 4) == 10 && fminf(x, 100) == x && near(log2f(8), 3, 1e-6));
    WRONG(min(lane, 3) <= 3 && max(2.0f, x) >= 2 && abs(-lane) == lane && __float_as_int(1.0f) == 0x3f800000);
}

// Functions that return by pointer or take integers; tests/cudart/maths.def has the others.
__device__ void check_parts(int *wrong, int lane) {
    float x = 0.25f + 0.125f * lane, s, c, whole;
    double ds, dc, dwhole;
    int exponent;
    sincosf(x, &s, &c);
    sincos((double)x, &ds, &dc);
    WRONG(s == sinf(x) && c == cosf(x) && near(ds, s, 1e-6) && near(ds * ds + dc * dc, 1, 1e-15));
    __sincosf(x, &s, &c);
    WRONG(fabsf(s - (float)ds) < 1e-5f && fabsf(c - (float)dc) < 1e-5f);
    WRONG(ldexpf(frexpf(x, &exponent), exponent) == x && ldexp(frexp(1e-310, &exponent), exponent) == 1e-310);
    WRONG(ldexp(3.0, -1074) == 1.4821969375237396e-323 && ldexpf(1, 200) == CUDART_INF_F && ldexp(1.0, -1075) == 0);
    WRONG(modff(-2.5f, &whole) == -0.5f && whole == -2 && modf(7.25, &dwhole) == 0.25 && dwhole == 7);
    WRONG(llrintf(2.5f) == 2 && lroundf(2.5f) == 3 && llrint(-3.5) == -4 && ilogb(0.3) == -2 && roundf(0.49999997f) == 0);
    WRONG(norm3df(2, 3, 6) == 7 && norm3d(2e200, 3e200, 6e200) == 7e200 && rhypotf(3, 4) == 0.2f);
    WRONG(powf(-2, 3) == -8 && powf(-2, 2) == 4 && isnan(powf(-2, 0.5f)) && isinf(pow(0.0, -1.0)) && pow(-3.0, 3) == -27);
    WRONG(near(sin(x), sinf(x), 1e-6) && near(std::exp(x), expf(x), 1e-6) && std::abs(-x) == x && near(std::pow(x, 2.0f), x * x, 1e-6));
    WRONG(near(CUDART_PI, 2 * asin(1.0), 1e-15) && near(CUDART_PI_F, 2 * asinf(1), 1e-7) && fmod(1e300, 7.0 + 0 * lane) == 1);
}

__device__ void check_integers(int *wrong) {
    volatile float one = 1, three = 3;
    volatile double two = 2, seven = 7;
    WRONG(__double2int_rn(2.5 * two) == 5 && __double2int_rn(two + 0.5) == 2 && __double2int_ru(two + 0.1) == 3 && __float2int_rd(-one * 1.5f) == -2);
    WRONG(__dadd_ru(two, 1e-30) > 2 && __dadd_rd(two, 1e-30) == 2 && __dadd_rn(two, 1) == 3 && __dmul_rn(two, seven) == 14);
    WRONG(__ddiv_rn(seven, two) == 3.5 && __dsqrt_rn(two * 8) == 4 && __fma_rn(two, seven, 1.0) == 15 && __dsub_rn(two, seven) == -5);
    WRONG(__frcp_rn(one * 4) == 0.25f && __fdiv_ru(one, three) > __fdiv_rd(one, three) && __fsub_rn(one, three) == -2 && __fmaf_rz(three, three, one) == 10);
    WRONG(__double2float_ru(0.1 * one) > __double2float_rd(0.1 * one) && __ull2float_rn(1ull << 40) == 1.099511627776e12f && __ll2double_rn(-5) == -5);
    WRONG(__hiloint2double(0x3ff80000, 0) == 1.5 && __double2hiint(seven) == 0x401c0000 && __double2loint(seven) == 0);
    WRONG(__umul64hi(1ull << 63, 6) == 3 && __mul64hi(-1, 1) == -1 && __byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
    WRONG(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(2, 1, 1) == 0x80000001u && __funnelshift_lc(5, 7, 40) == 5);
    WRONG(__dp4a(0x01020304, 0x01010101, 10) == 20 && __dp4a(0xff000000u, 0x02000000u, 1u) == 511 && __dp4a(make_char4(-1, 2, 0, 0), make_char4(3, 4, 0, 0), 0) == 5);
    WRONG(__sad(-3, 4, 10u) == 17 && __usad(3, 4, 10u) == 11 && __ffsll(1ll << 40) == 41 && __brevll(1) == 1ull << 63 && __hadd(3, 4) == 3);
    WRONG(min(1u, 2) == 1 && max(-1ll, 1ull) == ~0ull && max(3ul, 2ul) == 3 && min(1.0f, 2.0) == 1.0 && max(2, 3u) == 3);
}

__device__ void check_accesses(int *wrong, int *data, int lane) {
    __shared__ int word;
    __shared__ long long wide;
    struct {
        int words[8];
    } from, to;
    int *own = data + threadIdx.x, same;
    __stcg(own, lane);
    WRONG(__ldcg(own) == lane && __ldcs(own) == lane && __ldca(own) == lane);
    __stcs((float *)own, 1.5f);
    WRONG(__ldcg((const float *)own) == 1.5f && __ldcs((int2 *)(data + (threadIdx.x & ~1u))).x == 0x3fc00000);
    *own = 0;
    for (int i = 0; i < 8; i++) from.words[i] = lane + i;
    memcpy(&to, &from, sizeof(int) * (lane % 8 + 1));
    WRONG(to.words[lane % 8] == lane + lane % 8 && to.words[0] == lane);
    memset(&to, 255, sizeof to);
    WRONG(to.words[7] == -1);
    WRONG(__match_any_sync(~0u, lane / 4) == 15u << lane / 4 * 4 && __match_any_sync(~0u, (long long)lane) == 1u << lane);
    WRONG(__match_all_sync(~0u, 2.0f, &same) == ~0u && same);
    if (threadIdx.x == 0) word = 0, wide = 0;
    __syncthreads();
    atomicAdd_block(&word, 1);
    atomicMin(&wide, -(long long)threadIdx.x - (1ll << 40));
    __syncthreads();
    WRONG(word == 64 && wide == -63 - (1ll << 40) && atomicMax(&wide, -(1ll << 41)) == wide && atomicOr_system(&word, 0) == 64);
    WRONG(__cvta_generic_to_shared(&word) < 49152 && __isShared(&word) && __isGlobal(data));
#ifdef __clang__ // no longer in CUDA
    WRONG(__shfl(lane, 3) == 3 && __shfl_xor(lane, 1) == (lane ^ 1) && __shfl_down(1.5f, 1) == 1.5f && __ballot(1) == ~0u);
    WRONG(__shfl_up(lane, 1u) == (lane ? lane - 1 : 0));
#endif
}

__device__ void check_memory(int *wrong, int *data, int lane) {
    __shared__ int sum, most, bits;
    __shared__ unsigned turns;
    extern __shared__ int4 rows[];
    if (threadIdx.x == 0) sum = most = bits = 0, turns = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    atomicMax(&most, (int)threadIdx.x);
    atomicOr(&bits, 1 << lane);
    atomicInc(&turns, 15u);
    rows[threadIdx.x] = make_int4(lane, 2, 3, 4);
    __syncthreads();
    WRONG(sum == 64 && most == 63 && bits == -1 && turns == 0 && rows[63 - threadIdx.x].x == 31 - lane);
    part p = {make_float3(1, 2, 3), make_int4(lane, 0, 0, 0)};
    WRONG(p.at.z * scale == 6 && p.index.x == lane && sizeof(float4) == 16 && alignof(float2) == 8);
    WRONG(atomicCAS(&data[threadIdx.x], 0, 5) == 0 && atomicExch(&data[threadIdx.x], 6) == 5 && data[threadIdx.x] == 6);
    int *heap = (int *)malloc(16);
    assert(heap);
    heap[3] = lane;
    WRONG(heap[3] == lane);
    free(heap);
}

extern "C" __global__ void __launch_bounds__(64) check(int *wrong, int *data, int *done, double factor) {
    int lane = threadIdx.x % warpSize;
    check_warps(wrong, lane);
    check_maths(wrong, lane);
    check_parts(wrong, lane);
    check_integers(wrong);
    check_accesses(wrong, data + 64 * blockIdx.x, lane);
    check_memory(wrong, data, lane);
    WRONG(factor == 0.5 && gridDim.x == 2 && blockDim.x == 64 && blockIdx.x < 2);
    atomicAdd(&counter, 1u);
    if (threadIdx.x == 0) printf("block %d of %d\n", (int)blockIdx.x, (int)gridDim.x);
    atomicAdd(done, 1);
    data[threadIdx.x] = 0;
}

int main(int argc, char **argv) {
    std::vector<int> host(64);
    int *device, *wrong = nullptr, n = argc > 1 ? atoi(argv[1]) : 64;
    cudaDeviceProp properties;
    if (cudaMalloc(&device, n * sizeof(int)) != cudaSuccess) return 1;
    cudaMalloc((void **)&wrong, 4);
    cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    float two = std::sqrt(4.0f);
    cudaMemcpyToSymbol(scale, &two, sizeof two);
    cudaGetDeviceProperties(&properties, 0);
    dim3 grid(2), block(n);
    check<<<grid, block, n * sizeof(int4)>>>(wrong, device, device, 0.5);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "%s on %d\n", cudaGetErrorString(error), properties.warpSize);
    return max(0, 1) - (int)fabs(-1.0);
}
