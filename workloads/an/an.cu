/* AlexNet. A CTA is one output channel (feature map), a thread one of its neurons, with x running over rows: lanes
 * are a row apart. Every CTA of a layer reads all of the layer's input, in the same order; weights of a channel are
 * its own. */
#include "cuda.h"

/* First layer: interleaved colours, 11 x 11, stride 4. A launch covers a part of each map, beginning at
 * (row0, column0). */
extern "C" __global__ void an_first(const float *bias, const float *input, const float *weights, float *output,
                                    int in_side, int side, int row0, int column0) {
    enum { KERNEL = 11, TAPS = KERNEL * KERNEL };
    int map = (int)blockIdx.x, row = (int)threadIdx.x + row0, column = (int)threadIdx.y + column0;
    const float *pixel = input + (row * 4 * in_side + column * 4) * 3, *w = weights + map * 3 * TAPS;
    float sum = 0;
    for (int i = 0; i < KERNEL; i++, pixel += in_side * 3, w += KERNEL)
        for (int j = 0; j < KERNEL; j++)
            sum += pixel[j * 3] * w[j] + pixel[j * 3 + 1] * w[j + TAPS] + pixel[j * 3 + 2] * w[j + 2 * TAPS];
    sum += bias[map];
    output[(map * side + row) * side + column] = sum < 0 ? 0 : sum;
}

/* Local response normalisation over five neighbouring maps. */
extern "C" __global__ void an_normalise(const float *input, float *output, int maps, int side, int row0, int column0) {
    int map = (int)blockIdx.x, row = (int)threadIdx.x + row0, column = (int)threadIdx.y + column0;
    int area = side * side, here = row * side + column;
    float sum = 0;
    for (int m = max(map - 2, 0); m <= min(map + 2, maps - 1); m++) {
        float v = input[m * area + here];
        sum += v * v;
    }
    output[map * area + here] = input[map * area + here] / __powf(1.0f + 1e-4f / 5.0f * sum, 0.75f);
}

/* Largest of 3 x 3, stride 2. */
extern "C" __global__ void an_pool(const float *input, float *output, int in_side, int out_side) {
    int map = (int)blockIdx.x, row = (int)threadIdx.x, column = (int)threadIdx.y;
    float most = 0;
    for (int i = row * 2; i < row * 2 + 3; i++)
        for (int j = column * 2; j < column * 2 + 3; j++)
            most = fmaxf(most, input[map * in_side * in_side + i * in_side + j]);
    output[map * out_side * out_side + row * out_side + column] = most;
}

/* Convolution with padding: `maps` input maps from the first_in-th, output maps from the first_out-th. */
template <int KERNEL>
static __device__ __forceinline__ void convolve(const float *bias, const float *input, const float *weights,
                                                float *output, int side, int maps, int first_in, int first_out) {
    int map = (int)blockIdx.x + first_out, row = (int)threadIdx.x, column = (int)threadIdx.y, area = side * side;
    float sum = 0;
    for (int m = 0; m < maps; m++) {
        const float *w = weights + (map * maps + m) * KERNEL * KERNEL;
        const float *from = input + (first_in + m) * area + (row - KERNEL / 2) * side + column - KERNEL / 2;
#pragma unroll
        for (int i = 0; i < KERNEL; i++) {
            int y = row + i - KERNEL / 2;
            if (y < 0 || y >= side) continue;
#pragma unroll
            for (int j = 0; j < KERNEL; j++) {
                int x = column + j - KERNEL / 2;
                if (x >= 0 && x < side) sum += from[i * side + j] * w[i * KERNEL + j];
            }
        }
    }
    sum += bias[map];
    output[map * area + row * side + column] = sum < 0 ? 0 : sum;
}

extern "C" __global__ void an_convolve5(const float *bias, const float *input, const float *weights, float *output,
                                        int side, int maps, int first_in, int first_out) {
    convolve<5>(bias, input, weights, output, side, maps, first_in, first_out);
}
extern "C" __global__ void an_convolve3(const float *bias, const float *input, const float *weights, float *output,
                                        int side, int maps, int first_in, int first_out) {
    convolve<3>(bias, input, weights, output, side, maps, first_in, first_out);
}

/* A fully connected neuron: one thread, one dot product. */
extern "C" __global__ void an_connect(const float *bias, const float *input, const float *weights, float *output,
                                      int inputs, int relu) {
    int unit = (int)blockIdx.x;
    float sum = 0;
    for (int i = 0; i < inputs; i++) sum += input[i] * weights[unit * inputs + i];
    sum += bias[unit];
    output[unit] = relu && sum < 0 ? 0 : sum;
}
