/* y = 2 x + 1 through shared memory: bulk copies fill a ring of three tiles ahead of use, each of which completes an
 * mbarrier; results leave by bulk copies. Written with the C++ library of CUDA, whose barriers and copies become mbarrier
 * and cp.async.bulk. tests/emu/async_test.c runs the kernel as compiled by `tests/emu/async/compile`. */
#include <cuda/barrier>
#include <cuda/ptx>

#pragma nv_diag_suppress 20054 /* `init` constructs the barriers */

namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

enum { TILE = 1024, STAGES = 3 };

extern "C" __global__ void scale_bulk(const float *x, float *y, unsigned tiles) {
    __shared__ __align__(128) float ring[STAGES][TILE], result[TILE];
    __shared__ barrier full[STAGES];
    barrier::arrival_token token[STAGES];
    if (threadIdx.x == 0)
        for (unsigned s = 0; s < STAGES; s++) init(&full[s], blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    auto fill = [&](unsigned tile) {
        unsigned s = tile / gridDim.x % STAGES;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(ring[s], x + (size_t)tile * TILE, cuda::aligned_size_t<16>(sizeof ring[s]), full[s]);
            token[s] = cuda::device::barrier_arrive_tx(full[s], 1, sizeof ring[s]);
        } else {
            token[s] = full[s].arrive();
        }
    };
    for (unsigned s = 0, tile = blockIdx.x; s + 1 < STAGES && tile < tiles; s++, tile += gridDim.x) fill(tile);
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        unsigned s = tile / gridDim.x % STAGES, ahead = tile + (STAGES - 1) * gridDim.x;
        if (ahead < tiles) fill(ahead);
        full[s].wait(std::move(token[s]));
        if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        __syncthreads();
        for (unsigned i = threadIdx.x; i < TILE; i += blockDim.x) result[i] = 2 * ring[s][i] + 1;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + (size_t)tile * TILE, result, sizeof result);
            ptx::cp_async_bulk_commit_group();
        }
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
