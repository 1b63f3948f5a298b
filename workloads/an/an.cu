/* AlexNet. A CTA is one output channel (feature map), a thread one of its neurons, with x running over rows: lanes are a
 * row apart. Every CTA of a layer reads all of the layer's input, in the same order; weights of a channel are its own. */
#include "cuda.h"

/* First layer: 227 x 227 interleaved colours, 11 x 11, stride 4, to 96 maps of 55 x 55. A launch covers a quarter of each
 * map, beginning at (row0, column0). */
extern "C" __global__ void an_first(const float *bias, const float *input, const float *weights, float *output, int row0,
                                    int column0) {
    int map = (int)blockIdx.x, row = (int)threadIdx.x + row0, column = (int)threadIdx.y + column0;
    float sum = 0;
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 11; j++) {
            int p = ((row * 4 + i) * 227 + column * 4 + j) * 3, w = map * 363 + i * 11 + j;
            sum += input[p] * weights[w] + input[p + 1] * weights[w + 121] + input[p + 2] * weights[w + 242];
        }
    sum += bias[map];
    output[map * 3025 + row * 55 + column] = sum < 0 ? 0 : sum;
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
        for (int j = column * 2; j < column * 2 + 3; j++) most = fmaxf(most, input[map * in_side * in_side + i * in_side + j]);
    output[map * out_side * out_side + row * out_side + column] = most;
}

/* Convolution with padding: `maps` input maps from the first_in-th, output maps from the first_out-th. */
extern "C" __global__ void an_convolve(const float *bias, const float *input, const float *weights, float *output, int side,
                                       int maps, int kernel, int pad, int first_in, int first_out) {
    int map = (int)blockIdx.x + first_out, row = (int)threadIdx.x, column = (int)threadIdx.y, area = side * side;
    float sum = 0;
    for (int m = 0; m < maps; m++)
        for (int i = 0; i < kernel; i++)
            for (int j = 0; j < kernel; j++) {
                int y = row + i - pad, x = column + j - pad;
                if (y >= 0 && y < side && x >= 0 && x < side)
                    sum += input[(first_in + m) * area + y * side + x] * weights[((map * maps + m) * kernel + i) * kernel + j];
            }
    sum += bias[map];
    output[map * area + row * side + column] = sum < 0 ? 0 : sum;
}

/* A fully connected neuron: one thread, one dot product. */
extern "C" __global__ void an_connect(const float *bias, const float *input, const float *weights, float *output, int inputs,
                                      int relu) {
    int unit = (int)blockIdx.x;
    float sum = 0;
    for (int i = 0; i < inputs; i++) sum += input[i] * weights[unit * inputs + i];
    sum += bias[unit];
    output[unit] = relu && sum < 0 ? 0 : sum;
}
