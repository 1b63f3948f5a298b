/* ResNet-50: convolutions, each followed by kernels of their own for batch normalisation, scale, rectification and
 * shortcut. A CTA is one output map of 32 x 32 threads (fewer where the map is smaller); a thread computes a tile of
 * `tile` x `tile` neurons, and x runs over rows. */
#include "cuda.h"

#define FOR_TILE(row, column) \
    for (int row = (int)threadIdx.x * tile; row < (int)(threadIdx.x + 1) * tile && row < side; row++) \
        for (int column = (int)threadIdx.y * tile; column < (int)(threadIdx.y + 1) * tile && column < side; column++)

template <int KERNEL>
static __device__ __forceinline__ void convolve(const float *input, const float *weights, float *output, int in_side,
                                                int side, int maps, int stride, int tile) {
    int map = (int)blockIdx.x, area = in_side * in_side;
    FOR_TILE(row, column) {
        int y0 = row * stride - KERNEL / 2, x0 = column * stride - KERNEL / 2;
        const float *w = weights + map * maps * KERNEL * KERNEL, *from = input + y0 * in_side + x0;
        float sum = 0;
/* By more than four, and a thread would need more registers than an SM has for a CTA of 1,024. */
#pragma unroll KERNEL == 1 ? 4 : 1
        for (int m = 0; m < maps; m++, w += KERNEL * KERNEL, from += area)
#pragma unroll
            for (int i = 0; i < KERNEL; i++) {
                if (y0 + i < 0 || y0 + i >= in_side) continue;
#pragma unroll
                for (int j = 0; j < KERNEL; j++)
                    if (x0 + j >= 0 && x0 + j < in_side) sum += from[i * in_side + j] * w[i * KERNEL + j];
            }
        output[(map * side + row) * side + column] = sum;
    }
}

#define CONVOLUTION(kernel) \
    extern "C" __global__ void rn_convolve##kernel(const float *input, const float *weights, float *output, \
                                                   int in_side, int side, int maps, int stride, int tile) { \
        convolve<kernel>(input, weights, output, in_side, side, maps, stride, tile); \
    }
CONVOLUTION(1)
CONVOLUTION(3)
CONVOLUTION(7)

extern "C" __global__ void rn_normalise(float *data, const float *mean, const float *variance, int side, int tile) {
    int map = (int)blockIdx.x;
    FOR_TILE(row, column) {
        int p = (map * side + row) * side + column;
        data[p] = (data[p] - mean[map]) / sqrtf(variance[map] + 1e-5f);
    }
}

extern "C" __global__ void rn_scale(float *data, const float *gain, const float *shift, int side, int tile) {
    int map = (int)blockIdx.x;
    FOR_TILE(row, column) {
        int p = (map * side + row) * side + column;
        data[p] = data[p] * gain[map] + shift[map];
    }
}

extern "C" __global__ void rn_rectify(float *data, int side, int tile) {
    int map = (int)blockIdx.x;
    FOR_TILE(row, column) {
        int p = (map * side + row) * side + column;
        if (data[p] < 0) data[p] = 0;
    }
}

extern "C" __global__ void rn_add(float *data, const float *shortcut, int side, int tile) {
    int map = (int)blockIdx.x;
    FOR_TILE(row, column) {
        int p = (map * side + row) * side + column;
        data[p] += shortcut[p];
    }
}

extern "C" __global__ void rn_pool(const float *input, float *output, int in_side, int side, int tile) {
    int map = (int)blockIdx.x;
    FOR_TILE(row, column) {
        float most = -3.4e38f;
        for (int i = max(row * 2 - 1, 0); i < min(row * 2 + 2, in_side); i++)
            for (int j = max(column * 2 - 1, 0); j < min(column * 2 + 2, in_side); j++)
                most = fmaxf(most, input[(map * in_side + i) * in_side + j]);
        output[(map * side + row) * side + column] = most;
    }
}
