/* C = alpha A B + beta C without tiles: a thread computes one element and keeps the running sum in memory, so that
 * every step of its loop stores. */
#include "cuda.h"

extern "C" __global__ void gemm(const float *a, const float *b, float *c, float alpha, float beta, int ni, int nj,
                                int nk) {
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= ni || j >= nj) return;
    float *sum = c + i * nj + j;
    *sum *= beta;
    a += i * nk, b += j;
    for (int k = 0; k < nk; k++, b += nj) *sum += alpha * a[k] * *b;
}
