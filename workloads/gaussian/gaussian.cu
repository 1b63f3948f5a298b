/* Gaussian elimination, two launches for each column t: fan1 computes the multipliers of the rows below, fan2 subtracts
 * row t from each of them, with x running over rows: lanes are a row apart. */
#include "cuda.h"

extern "C" __global__ void gaussian_fan1(float *m, const float *a, int n, int t) {
    int i = (int)(threadIdx.x + blockIdx.x * blockDim.x);
    if (i >= n - 1 - t) return;
    m[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}

extern "C" __global__ void gaussian_fan2(const float *m, float *a, float *b, int n, int t) {
    int x = (int)(threadIdx.x + blockIdx.x * blockDim.x), y = (int)(threadIdx.y + blockIdx.y * blockDim.y);
    if (x >= n - 1 - t || y >= n - t) return;
    a[n * (x + 1 + t) + (y + t)] -= m[n * (x + 1 + t) + t] * a[n * t + (y + t)];
    if (y == 0) b[x + 1 + t] -= m[n * (x + 1 + t) + t] * b[t];
}
