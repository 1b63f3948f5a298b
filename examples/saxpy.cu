// y = a x + y. saxpy.ptx is made from this by
//     sluice cuda --compiler clang saxpy.cu
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
