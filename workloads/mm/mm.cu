/* C = A B by tiles of 16 x 16 in shared memory: a CTA computes a tile of C, a thread an element of it. */
#include "cuda.h"

enum { TILE = 16 };

extern "C" __global__ void mm_tiled(const float *a, const float *b, float *c, int wa, int wb) {
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
