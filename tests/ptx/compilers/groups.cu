/* Cooperative groups, which nvcc compiles to special registers, shuffles and its own barriers. Other compilers get an
 * equivalent written by hand. */
#include "compilers.h"

enum { TILE = 8 };

#ifdef REFERENCE
REFERENCE_OF {
    for (unsigned i = 0; i < ALL; i++) {
        const unsigned first = i / TILE * TILE, block = i / THREADS * THREADS;
        unsigned sum = 0;
        for (unsigned k = 0; k < TILE; k++) sum += in[first + k];
        out[i * PER_THREAD] = sum;
        out[i * PER_THREAD + 1] = in[first + (i + 3) % TILE];
        out[i * PER_THREAD + 2] = in[block + (i % THREADS + 77) % THREADS];
        out[i * PER_THREAD + 3] = (i % THREADS) << 16 | i % TILE;
    }
}
#elif defined __NVCC__
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

KERNEL {
    __shared__ unsigned kept[THREADS];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<TILE>(block);
    const unsigned t = block.thread_rank(), i = blockIdx.x * THREADS + t;
    kept[t] = in[i];
    out[i * PER_THREAD] = cg::reduce(tile, in[i], cg::plus<unsigned>());
    out[i * PER_THREAD + 1] = tile.shfl(in[i], (tile.thread_rank() + 3) % TILE);
    block.sync();
    out[i * PER_THREAD + 2] = kept[(t + 77) % THREADS];
    out[i * PER_THREAD + 3] = t << 16 | tile.thread_rank();
}
#else
KERNEL {
    __shared__ unsigned kept[THREADS];
    const unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t, lane = t % 32, rank = t % TILE, x = in[i];
    kept[t] = x;
    unsigned sum = x;
    for (int by = TILE / 2; by; by /= 2) sum += __shfl_xor_sync(0xffffffff, sum, by);
    out[i * PER_THREAD] = sum;
    out[i * PER_THREAD + 1] = __shfl_sync(0xffffffff, x, (int)(lane - rank + (rank + 3) % TILE));
    __syncthreads();
    out[i * PER_THREAD + 2] = kept[(t + 77) % THREADS];
    out[i * PER_THREAD + 3] = t << 16 | rank;
}
#endif
