// The kernel of data/fuzz/fatbin/nvcc-*, whose containers nvcc 13.0 made, MODE being none, speed (LZ4) or size (zstd):
//     nvcc -fatbin -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=compute_80 --compress-mode=MODE add.cu
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
