// Launches with clusters, of which the kernel or the launch gives the size: every CTA reads shared memory of the next one
// of its cluster. nvcc compiles it for compute_90 (nvcc_test.sh).
#include <cstdio>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ void pass_on(int *out) {
    __shared__ int value;
    cg::cluster_group cluster = cg::this_cluster();
    value = 10 + blockIdx.x;
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&value, (cluster.block_rank() + 1) % cluster.num_blocks());
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out) { pass_on(out); }
__global__ void any(int *out) { pass_on(out); }

static void show(const char *what, cudaError_t error, const int *out) {
    cudaError_t later = cudaDeviceSynchronize();
    printf("%s: %s, %s,", what, cudaGetErrorName(error), cudaGetErrorName(later));
    for (int i = 0; i < 8; i++) printf(" %d", out[i]);
    printf("\n");
}

int main() {
    int *out;
    if (cudaMallocManaged(&out, 8 * sizeof *out) != cudaSuccess) return 1;
    pairs<<<8, 32>>>(out);
    show("kernel", cudaGetLastError(), out);
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeCooperative;
    attributes[0].val.cooperative = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = 4;
    attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(32);
    config.attrs = attributes + 1;
    config.numAttrs = 1;
    show("launch", cudaLaunchKernelEx(&config, any, out), out);
    attributes[1].val.clusterDim.x = 8;
    config.attrs = attributes;
    config.numAttrs = 2;
    show("cooperative", cudaLaunchKernelEx(&config, any, out), out);
    attributes[1].val.clusterDim.x = 3;
    show("part", cudaLaunchKernelEx(&config, any, out), out);
    return 0;
}
