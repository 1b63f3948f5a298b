/* ResNet-50: convolutions, each followed by kernels of their own for batch normalisation, scale, rectification and
 * shortcut. A CTA is one output map of 32 x 32 threads (fewer where the map is smaller); a thread computes a tile of
 * `tile` x `tile` neurons, and x runs over rows. */
#include "cuda.h"

#define FOR_TILE(row, column) \
    for (int row = (int)threadIdx.x * tile; row < (int)(threadIdx.x + 1) * tile && row < side; row++) \
        for (int column = (int)threadIdx.y * tile; column < (int)(threadIdx.y + 1) * tile && column < side; column++)

extern "C" __global__ void rn_convolve(const float *input, const float *weights, float *output, int in_side, int side, int maps,
                                       int kernel, int stride, int pad, int tile) {
    int map = (int)blockIdx.x;
    FOR_TILE(row, column) {
        float sum = 0;
        for (int m = 0; m < maps; m++)
            for (int i = 0; i < kernel; i++)
                for (int j = 0; j < kernel; j++) {
                    int y = row * stride + i - pad, x = column * stride + j - pad;
                    if (y >= 0 && y < in_side && x >= 0 && x < in_side)
                        sum += input[(m * in_side + y) * in_side + x] * weights[((map * maps + m) * kernel + i) * kernel + j];
                }
        output[(map * side + row) * side + column] = sum;
    }
}

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
