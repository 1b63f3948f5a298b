/* Binomial options: a CTA of 128 threads folds the tree of one option from its 2048 last steps to the first. A thread keeps
 * its stretch of the row of values in registers and hands its first value to its left neighbour through shared memory. */
#include "cuda.h"

enum { THREADS = 128, STEPS = 2048, STRETCH = STEPS / THREADS };

struct option {
    float stock, strike, drift, down, up, pad[3]; /* drift: volatility * sqrt(step); down and up: discounted probabilities */
};

__constant__ option bino_options[1024];

extern "C" __global__ void bino_price(float *value) {
    __shared__ float handed[THREADS + 1];
    int t = (int)threadIdx.x;
    option o = bino_options[blockIdx.x];
    float call[STRETCH + 1];
#pragma unroll
    for (int i = 0; i < STRETCH; i++) {
        float gain = o.stock * expf(o.drift * (2.0f * (float)(t * STRETCH + i) - STEPS)) - o.strike;
        call[i] = gain > 0 ? gain : 0;
    }
    if (t == 0) {
        float gain = o.stock * expf(o.drift * STEPS) - o.strike;
        handed[THREADS] = gain > 0 ? gain : 0;
    }
    int last = max(0, t * STRETCH - 1);
    for (int i = STEPS; i > 0; i--) {
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
