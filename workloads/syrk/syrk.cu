/* C = alpha A A' + beta C over the first `steps` columns of A. The lanes of a warp read A down a column: each load
 * touches a line per lane, and the next 31 steps of the loop find theirs in the same lines. */
#include "cuda.h"

extern "C" __global__ void syrk(const float *a, float *c, float alpha, float beta, int n, int m, int steps) {
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= n || j >= n) return;
    c[i * n + j] *= beta;
    for (int k = 0; k < steps; k++) c[i * n + j] += alpha * a[i * m + k] * a[j * m + k];
}
