/* Back propagation between an input layer and 16 hidden units. forward: a CTA multiplies 16 inputs with their 16 x 16
 * weights and folds the products to 16 partial sums (the host adds these up). adjust: every weight moves along its
 * gradient, with momentum. Rows of weights have 17 elements, since both layers have a bias at index 0. */
#include "cuda.h"

enum { SIDE = 16 };

extern "C" __global__ void bp_forward(const float *input, float *weights, float *partial, int hidden) {
    __shared__ float node[SIDE], product[SIDE][SIDE];
    int by = (int)blockIdx.y, tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int index = (hidden + 1) * SIDE * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
    if (tx == 0) node[ty] = input[SIDE * by + ty + 1];
    __syncthreads();
    product[ty][tx] = weights[index];
    __syncthreads();
    product[ty][tx] *= node[ty];
    __syncthreads();
#pragma unroll
    for (int stride = 2; stride <= SIDE; stride *= 2) {
        if (ty % stride == 0) product[ty][tx] += product[ty + stride / 2][tx];
        __syncthreads();
    }
    weights[index] = product[ty][tx];
    __syncthreads();
    if (tx == 0) partial[by * hidden + ty] = product[tx][ty];
}

extern "C" __global__ void bp_adjust(const float *delta, int hidden, const float *input, float *weights, float *old) {
    const float rate = 0.3f, momentum = 0.3f;
    int by = (int)blockIdx.y, tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int index = (hidden + 1) * SIDE * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
    int y = SIDE * by + ty + 1, x = tx + 1;
    float change = rate * delta[x] * input[y] + momentum * old[index];
    weights[index] += change;
    old[index] = change;
    __syncthreads();
    if (ty == 0 && by == 0) { /* the weights of the bias */
        change = rate * delta[x] + momentum * old[x];
        weights[x] += change;
        old[x] = change;
    }
}
