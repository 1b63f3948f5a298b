// The sum of 8 blocks of numbers per cluster through distributed shared memory: each block sums its part, and the first
// block of the cluster reads the sums of the others. cluster.ptx is made from this by
//     nvcc -ptx -arch=compute_90 cluster.cu -o cluster.ptx
#include <cooperative_groups.h>

extern "C" __global__ void __cluster_dims__(8, 1, 1) cluster_sum(const int *x, int *sums) {
    namespace cg = cooperative_groups;
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < cluster.num_blocks())
        atomicAdd(&sums[blockIdx.x / cluster.num_blocks()], *cluster.map_shared_rank(&sum, threadIdx.x));
    cluster.sync(); // shared memory remains valid until all blocks have read it
}
