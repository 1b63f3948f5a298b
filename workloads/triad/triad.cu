/* Triad: c = a + s b, one element a thread; the host runs over an array block by block. */
#include "cuda.h"

extern "C" __global__ void triad(const float *a, const float *b, float *c, float s) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + s * b[i];
}
