// A kernel that checks what CUDA sources get without the CUDA toolkit: built-in variables, vector types, atomics, shuffles, votes,
// mathematical functions. It counts what is wrong. Host code and headers are those of ordinary programs. cuda_test.sh
// compiles it with clang, and with nvcc where it is installed.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <device_launch_parameters.h>

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
