/* D = (A B) C as two products without tiles; the running sums stay in memory. */
#include "cuda.h"

extern "C" __global__ void mm2_product(const float *a, const float *b, float *c, int ni, int nj, int nk) {
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= ni || j >= nj) return;
    a += i * nk, b += j, c += i * nj + j;
    for (int k = 0; k < nk; k++, b += nj) *c += a[k] * *b;
}
