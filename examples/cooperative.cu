/* The sum of n words by a grid that synchronises: each block adds its part, and after a barrier of the whole grid block 0
 * adds the sums of all blocks. nvcc compiles it with cooperative groups; other compilers use the same barrier, written
 * out. To be launched cooperatively, with blocks of 256 threads. */
#ifdef __NVCC__
#include <cooperative_groups.h>
static __device__ void grid_barrier() { cooperative_groups::this_grid().sync(); }
#else
#include "cuda.h"
/* The workspace of a cooperative launch: its size, then the word of the barrier. Its highest bit changes when the last
 * block arrives. */
SLUICE_INLINE void grid_barrier() {
    unsigned high, low, old, now;
    asm volatile("mov.u32 %0, %%envreg1; mov.u32 %1, %%envreg2;" : "=r"(high), "=r"(low));
    unsigned *word = (unsigned *)((unsigned long long)high << 32 | low) + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned adds = blockIdx.x ? 1u : 0x80000000u - (gridDim.x - 1);
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(word), "r"(adds) : "memory");
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
        while (!((old ^ now) >> 31));
    }
    __syncthreads();
}
#endif

enum { THREADS = 256 };

static __device__ unsigned block_sum(unsigned value) {
    __shared__ unsigned part[THREADS];
    part[threadIdx.x] = value;
    for (unsigned half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    const unsigned sum = part[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void reduce(unsigned *result, unsigned *sums, const unsigned *in, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    grid_barrier();
    if (blockIdx.x) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS) sum += sums[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}
