/* C = A B in blocks meant for the L1: the loop runs tile by tile, as in mm, but without shared memory, so that a tile
 * is read from the cache by all threads of the CTA while it is there. */
#include "cuda.h"

enum { TILE = 16 };

extern "C" __global__ void mmc_blocked(const float *a, const float *b, float *c, int n) {
    int row = (int)(blockIdx.y * TILE + threadIdx.y), column = (int)(blockIdx.x * TILE + threadIdx.x);
    float sum = 0;
    a += row * n, b += column;
    for (int t = 0; t < n; t += TILE, a += TILE) {
#pragma unroll
        for (int k = 0; k < TILE; k++, b += n) sum += a[k] * *b;
        __syncthreads(); /* keeps the CTA's warps on the same tile */
    }
    c[row * n + column] = sum;
}
