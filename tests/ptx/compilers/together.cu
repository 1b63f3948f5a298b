/* Cooperation of the threads of a block: shared memory between barriers, shuffles, votes; sums over warps and blocks.
 */
#include "compilers.h"

#ifdef REFERENCE
REFERENCE_OF {
    for (unsigned block = 0; block < BLOCKS; block++) {
        const unsigned *x = in + block * THREADS;
        unsigned total = 0, odd[THREADS / 32] = {}, warp_sum[THREADS / 32] = {};
        for (unsigned t = 0; t < THREADS; t++)
            total += x[t], odd[t / 32] |= (x[t] & 1) << t % 32, warp_sum[t / 32] += x[t];
        unsigned prefix = 0;
        for (unsigned t = 0; t < THREADS; t++) {
            const unsigned lane = t % 32, warp = t / 32, *mine = x + warp * 32;
            prefix = lane ? prefix + x[t] : x[t];
            unsigned *to = out + (block * THREADS + t) * PER_THREAD;
            to[0] = x[(t % 16) * 16 + t / 16] + total;
            to[1] = warp_sum[warp] ^ prefix;
            to[2] = odd[warp] + (unsigned)__builtin_popcount(odd[warp] & ((1u << lane) - 1));
            to[3] = mine[(x[t] >> 8) % 32] ^ mine[31 - lane] ^ x[THREADS - 1 - t];
        }
    }
}
#else
KERNEL {
    __shared__ unsigned tile[16][17], sums[THREADS / 32];
    extern __shared__ unsigned turned[];
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * THREADS + t, x = in[i],
                   all = 0xffffffff;
    tile[t / 16][t % 16] = x;
    turned[THREADS - 1 - t] = x;
    unsigned sum = x, prefix = x;
    for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(all, sum, by);
    for (int by = 1; by < 32; by *= 2) {
        const unsigned below = __shfl_up_sync(all, prefix, by);
        if ((int)lane >= by) prefix += below;
    }
    unsigned down = x;
    for (int by = 16; by; by /= 2) down += __shfl_down_sync(all, down, by);
    if (lane == 0) sums[warp] = down;
    const unsigned odd = __ballot_sync(all, x & 1);
    __syncthreads();
    unsigned total = 0;
    for (unsigned k = 0; k < THREADS / 32; k++) total += sums[k];
    unsigned *to = out + i * PER_THREAD;
    to[0] = tile[t % 16][t / 16] + total;
    to[1] = sum ^ prefix;
    to[2] = odd + (unsigned)__popc(odd & ((1u << lane) - 1));
    to[3] = __shfl_sync(all, x, (int)((x >> 8) % 32)) ^ __shfl_sync(all, x, (int)(31 - lane)) ^ turned[t];
}
#endif
