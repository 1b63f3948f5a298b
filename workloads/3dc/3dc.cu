/* A 3-D convolution, one launch for each plane i: a thread takes up to fifteen taps from three planes. */
#include "cuda.h"

extern "C" __global__ void conv3d(const float *a, float *b, int ni, int nj, int nk, int i) {
    int k = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= ni - 1 || j >= nj - 1 || k >= nk - 1 || i < 1 || j < 1 || k < 1) return;
#define A(di, dj, dk) a[(i + (di)) * nk * nj + (j + (dj)) * nk + (k + (dk))]
    b[i * nk * nj + j * nk + k] =
        2.0f * A(-1, -1, -1) - 3.0f * A(0, -1, -1) + 4.0f * A(1, -1, -1) + 5.0f * A(-1, 0, -1) + 6.0f * A(0, 0, -1) +
        7.0f * A(1, 0, -1) - 8.0f * A(-1, 1, -1) - 9.0f * A(0, 1, -1) + 10.0f * A(1, 1, -1) + 4.0f * A(0, -1, 0) +
        6.0f * A(0, 0, 0) + 9.0f * A(0, 1, 0) - 8.0f * A(-1, -1, 1) + 7.0f * A(0, 0, 1) + 10.0f * A(1, 1, 1);
}
