// A complete CUDA program for `sluice exec` (docs/cuda.md): adds two vectors several times and verifies the sums.
// vectoradd [ELEMENTS]
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float *a, const float *b, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
    enum { LAUNCHES = 5, THREADS = 256 };
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    if (n < 1) return fprintf(stderr, "usage: vectoradd [ELEMENTS]\n"), 2;
    std::vector<float> a(n), b(n), sum(n);
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_sum;
    cudaMalloc(&device_a, bytes);
    cudaMalloc(&device_b, bytes);
    cudaMalloc(&device_sum, bytes);
    cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);
    for (int i = 0; i < LAUNCHES; i++) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(device_a, device_b, device_sum, n);
    cudaError_t error = cudaMemcpy(sum.data(), device_sum, bytes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return fprintf(stderr, "%s\n", cudaGetErrorString(error)), 1;
    for (int i = 0; i < n; i++)
        if (sum[i] != a[i] + b[i]) return fprintf(stderr, "element %d is %g\n", i, sum[i]), 1;
    printf("%d sums are correct\n", n);
    return 0;
}
