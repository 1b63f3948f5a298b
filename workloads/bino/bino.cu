/* Binomial options: a CTA of 128 threads folds the tree of one option from its last step to the first. A thread
 * keeps its stretch of the row of values in registers and hands its first value to its left neighbour through shared
 * memory. The depth of a tree is 128 stretches: 2,048 steps in the original. */
#include "cuda.h"

enum { THREADS = 128 };

struct option {
    float stock, strike, drift, down, up,
        pad[3]; /* drift: volatility * sqrt(step); down and up: discounted probabilities */
};

__constant__ option bino_options[1024];

template <int STRETCH> static __device__ __forceinline__ void price(float *value) {
    constexpr int steps = THREADS * STRETCH;
    __shared__ float handed[THREADS + 1];
    int t = (int)threadIdx.x;
    option o = bino_options[blockIdx.x];
    float call[STRETCH + 1];
#pragma unroll
    for (int i = 0; i < STRETCH; i++) {
        float gain = o.stock * expf(o.drift * (2.0f * (float)(t * STRETCH + i) - steps)) - o.strike;
        call[i] = gain > 0 ? gain : 0;
    }
    if (t == 0) {
        float gain = o.stock * expf(o.drift * steps) - o.strike;
        handed[THREADS] = gain > 0 ? gain : 0;
    }
    int last = max(0, t * STRETCH - 1);
    for (int i = steps; i > 0; i--) {
        handed[t] = call[0];
        __syncthreads();
        call[STRETCH] = handed[t + 1];
        __syncthreads();
        if (i > last) {
#pragma unroll
            for (int j = 0; j < STRETCH; j++) call[j] = o.up * call[j + 1] + o.down * call[j];
        }
    }
    if (t == 0) value[blockIdx.x] = call[0];
}

extern "C" __global__ void bino_price_256(float *value) { price<2>(value); }
extern "C" __global__ void bino_price_512(float *value) { price<4>(value); }
extern "C" __global__ void bino_price_2048(float *value) { price<16>(value); }
