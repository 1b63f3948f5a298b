/* Vector addition: one element a thread. */
#include "cuda.h"

extern "C" __global__ void va_add(const float *a, const float *b, float *c, int n) {
    int i = (int)(blockDim.x * blockIdx.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
}
