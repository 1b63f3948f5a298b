/* Barriers of the grid by a counter: one thread of each block adds to it and polls until all have. */
#include "threads.h"

KERNEL barriers(unsigned *out, unsigned *counter, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 1; k <= count; k++) {
        out[i] += k;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(counter, 1u);
            while (*(volatile unsigned *)counter < k * gridDim.x)
                ;
        }
        __syncthreads();
    }
}
