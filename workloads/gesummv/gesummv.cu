/* y = alpha A x + beta B x over the first `steps` columns: a thread has a row of each matrix, so that lanes are a row
 * apart. */
#include "cuda.h"

extern "C" __global__ void gesummv(const float *a, const float *b, const float *x, float *y, float *tmp, float alpha,
                                   float beta, int n, int steps) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    for (int k = 0; k < steps; k++) {
        tmp[i] += a[i * n + k] * x[k];
        y[i] += b[i * n + k] * x[k];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
}
