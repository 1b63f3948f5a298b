/* QR decomposition by Gram-Schmidt orthogonalisation. Column k in three launches: its norm, by one thread; the column of
 * Q, lanes a row apart; and the subtraction of its projection from every later column, a thread for each, with the
 * running sum in memory. */
#include "cuda.h"

extern "C" __global__ void gramschmidt_norm(const float *a, float *r, int rows, int columns, int k) {
    if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
    float sum = 0;
    for (int i = 0; i < rows; i++) sum += a[i * columns + k] * a[i * columns + k];
    r[k * columns + k] = sqrtf(sum);
}

extern "C" __global__ void gramschmidt_column(const float *a, const float *r, float *q, int rows, int columns, int k) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) q[i * columns + k] = a[i * columns + k] / r[k * columns + k];
}

extern "C" __global__ void gramschmidt_project(float *a, float *r, const float *q, int rows, int columns, int k) {
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (j <= k || j >= columns) return;
    r[k * columns + j] = 0;
    for (int i = 0; i < rows; i++) r[k * columns + j] += q[i * columns + k] * a[i * columns + j];
    for (int i = 0; i < rows; i++) a[i * columns + j] -= q[i * columns + k] * r[k * columns + j];
}
