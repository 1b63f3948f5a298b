/* A small network that reads handwritten digits, many images at once: a CTA is one feature map of one image, a thread
 * one neuron. Layers one and two convolve 5 x 5 with a stride of two; three and four are fully connected, one thread
 * to a neuron. */
#include "cuda.h"

static __device__ __forceinline__ float activation(float x) { return 1.7159f * tanhf(0.66666667f * x); }

extern "C" __global__ void nn_layer1(const float *image, const float *weights, float *map) {
    int filter = (int)blockIdx.x, n = (int)blockIdx.y, x = (int)threadIdx.x, y = (int)threadIdx.y;
    const float *w = weights + filter * 26, *from = image + n * 29 * 29 + 2 * x + 2 * y * 29;
    float sum = w[0];
#pragma unroll
    for (int i = 0; i < 25; i++) sum += from[i / 5 * 29 + i % 5] * w[i + 1];
    map[13 * 13 * filter + y * 13 + x + 13 * 13 * 6 * n] = activation(sum);
}

extern "C" __global__ void nn_layer2(const float *map1, const float *weights, float *map) {
    int filter = (int)blockIdx.x, n = (int)blockIdx.y, x = (int)threadIdx.x, y = (int)threadIdx.y;
    const float *w = weights + filter * 26 * 6, *from = map1 + n * 13 * 13 * 6 + 2 * x + 2 * y * 13;
    float sum = w[0];
#pragma unroll
    for (int i = 0; i < 25; i++)
        for (int m = 0; m < 6; m++) sum += from[13 * 13 * m + i / 5 * 13 + i % 5] * w[i * 6 + m + 1];
    map[5 * 5 * filter + y * 5 + x + 5 * 5 * 50 * n] = activation(sum);
}

extern "C" __global__ void nn_layer3(const float *map2, const float *weights, float *neurons) {
    int unit = (int)blockIdx.x, n = (int)blockIdx.y;
    const float *w = weights + unit * 1251;
    float sum = w[0];
    for (int i = 0; i < 1250; i++) sum += map2[i + 1250 * n] * w[i + 1];
    neurons[unit + 100 * n] = activation(sum);
}

extern "C" __global__ void nn_layer4(const float *neurons3, const float *weights, float *neurons) {
    int unit = (int)blockIdx.x, n = (int)blockIdx.y;
    const float *w = weights + unit * 101;
    float sum = w[0];
    for (int i = 0; i < 100; i++) sum += neurons3[i + 100 * n] * w[i + 1];
    neurons[unit + 10 * n] = activation(sum);
}
