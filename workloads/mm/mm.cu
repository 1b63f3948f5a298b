/* C = A B by tiles of 16 x 16 or 32 x 32 in shared memory: a CTA computes a tile of C, a thread an element of it. */
#include "cuda.h"

/* A tile of C by a CTA of TILE x TILE threads. */
template <int TILE>
static __device__ __forceinline__ void tiled(const float *a, const float *b, float *c, int wa, int wb) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int row = (int)blockIdx.y * TILE + ty, column = (int)blockIdx.x * TILE + tx;
    float sum = 0;
    for (int t = 0; t < wa; t += TILE) {
        ta[ty][tx] = a[row * wa + t + tx];
        tb[ty][tx] = b[(t + ty) * wb + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    c[row * wb + column] = sum;
}

extern "C" __global__ void mm_tiled(const float *a, const float *b, float *c, int wa, int wb) {
    tiled<16>(a, b, c, wa, wb);
}

extern "C" __global__ void mm_tiled32(const float *a, const float *b, float *c, int wa, int wb) {
    tiled<32>(a, b, c, wa, wb);
}

/* Without shared memory: every operand is read from global memory. */
extern "C" __global__ void mm_untiled(const float *a, const float *b, float *c, int wa, int wb) {
    int row = (int)(blockIdx.y * blockDim.y + threadIdx.y), column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    for (int k = 0; k < wa; k++) sum += a[row * wa + k] * b[k * wb + column];
    c[row * wb + column] = sum;
}
