/* A histogram of bytes in 256 bins: each warp counts in a histogram of its own in shared memory with atomics, a CTA
 * adds its warps' up and stores one partial histogram, and a second kernel adds the partial ones. */
#include "cuda.h"

enum { BINS = 256, WARPS = 6, THREADS = WARPS * 32 };

static __device__ void count(uint *histogram, uint word) {
    atomicAdd(histogram + (word & 255), 1u);
    atomicAdd(histogram + ((word >> 8) & 255), 1u);
    atomicAdd(histogram + ((word >> 16) & 255), 1u);
    atomicAdd(histogram + (word >> 24), 1u);
}

extern "C" __global__ void hg_count(uint *partial, const uint *data, uint words) {
    __shared__ uint histogram[WARPS * BINS];
    for (uint i = threadIdx.x; i < WARPS * BINS; i += THREADS) histogram[i] = 0;
    __syncthreads();
    uint *mine = histogram + (threadIdx.x >> 5) * BINS;
    for (uint i = blockIdx.x * THREADS + threadIdx.x; i < words; i += THREADS * gridDim.x) count(mine, data[i]);
    __syncthreads();
    for (uint bin = threadIdx.x; bin < BINS; bin += THREADS) {
        uint sum = 0;
        for (uint w = 0; w < WARPS; w++) sum += histogram[bin + w * BINS];
        partial[blockIdx.x * BINS + bin] = sum;
    }
}

extern "C" __global__ void hg_merge(uint *result, const uint *partial, uint partials) {
    __shared__ uint data[BINS];
    uint sum = 0;
    for (uint i = threadIdx.x; i < partials; i += BINS) sum += partial[blockIdx.x + i * BINS];
    data[threadIdx.x] = sum;
    for (uint stride = BINS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) result[blockIdx.x] = data[0];
}
