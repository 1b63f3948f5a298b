/* Cheapest path through a grid from its first to its last row, stepping to one of three cells below. A CTA of 256
 * threads carries its stretch of a row through several rows at once; the stretch's ends serve as halo. */
#include "cuda.h"

enum { THREADS = 256 };

extern "C" __global__ void pf_rows(int rows, const int *wall, const int *source, int *result, int columns, int start,
                                   int border) {
    __shared__ int previous[THREADS], cost[THREADS];
    int tx = (int)threadIdx.x, useful = THREADS - rows * 2;
    int x0 = useful * (int)blockIdx.x - border, x = x0 + tx;
    int left = x0 < 0 ? -x0 : 0, right = x0 + THREADS > columns ? columns - 1 - x0 : THREADS - 1;
    int w = max(tx - 1, left), e = min(tx + 1, right);
    bool inside = tx >= left && tx <= right, computed = false;
    if (x >= 0 && x < columns) previous[tx] = source[x];
    __syncthreads();
    for (int i = 0; i < rows; i++) {
        computed = tx >= i + 1 && tx <= THREADS - 2 - i && inside;
        if (computed) cost[tx] = min(min(previous[w], previous[tx]), previous[e]) + wall[columns * (start + i) + x];
        __syncthreads();
        if (i == rows - 1) break;
        if (computed) previous[tx] = cost[tx];
        __syncthreads();
    }
    if (computed) result[x] = cost[tx];
}
