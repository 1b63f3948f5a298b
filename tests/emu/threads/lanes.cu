/* Warp-synchronous code whose lanes diverge: they exchange values inside branches, in loops of different lengths, and
 * through memory. Blocks of 64 threads. */
#include "threads.h"

/* Odd and even lanes reach shuffles and votes with the full mask at different places. */
KERNEL exchange(unsigned *out, const unsigned *in) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, x = in[i];
    unsigned got, votes;
    if (lane % 2) {
        got = __shfl_sync(0xffffffffu, x * 3, (int)((lane + 5) % 32));
        votes = __ballot_sync(0xffffffffu, (int)(x & 1));
        got += 7;
    } else {
        unsigned y = x;
        for (unsigned k = 0; k < lane; k++) y = y * 1664525u + 1013904223u;
        got = __shfl_sync(0xffffffffu, y, (int)((lane + 5) % 32));
        votes = __ballot_sync(0xffffffffu, (int)(y & 2));
    }
    out[i] = got ^ votes;
}

/* Lane k adds to what lane k - 1 leaves in shared memory; the lanes are on different paths. */
KERNEL pipeline(unsigned *out, const unsigned *in) {
    __shared__ volatile unsigned value[64], full[64];
    const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t % 32;
    full[t] = 0;
    __syncwarp();
    unsigned sum = in[i];
    if (lane) {
        while (!full[t - 1])
            ;
        __threadfence_block();
        sum += value[t - 1];
    }
    value[t] = sum;
    __threadfence_block();
    full[t] = 1;
    out[i] = sum;
}

/* Each lane leaves the loop after its own number of rounds; the rest of the warp goes on together, with the mask of
 * those that remain. */
KERNEL rounds(unsigned *out, const unsigned *in) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, length = in[i] % 20;
    unsigned sum = 0, mask = 0xffffffffu;
    for (unsigned r = 0;; r++) {
        mask = __ballot_sync(mask, r < length);
        if (r >= length) break;
        sum = sum * 31 + __shfl_sync(mask, sum + lane, LOWEST_BIT(mask)) + r;
    }
    __syncwarp();
    out[i] = sum + __shfl_sync(0xffffffffu, sum, 31 - (int)lane);
}
