/* Sum of an array: each CTA strides over the whole of it, two elements at a time, and folds its threads' sums in shared
 * memory; the last 32 values need no barrier, since a warp runs in step. */
#include "cuda.h"

enum { THREADS = 256 };

extern "C" __global__ void reduction(const float *in, float *out, uint n) {
    __shared__ volatile float sum[THREADS];
    uint t = threadIdx.x;
    float mine = 0;
    for (uint i = blockIdx.x * THREADS * 2 + t; i < n; i += THREADS * 2 * gridDim.x) mine += in[i] + in[i + THREADS];
    sum[t] = mine;
    __syncthreads();
    for (uint s = THREADS / 2; s > 32; s >>= 1) {
        if (t < s) sum[t] += sum[t + s];
        __syncthreads();
    }
    if (t < 32) {
#pragma unroll
        for (uint s = 32; s > 0; s >>= 1) sum[t] += sum[t + s];
    }
    if (t == 0) out[blockIdx.x] = sum[0];
}
