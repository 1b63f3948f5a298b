// Computes the functions of maths.def for random arguments: rows of x, y and value, one function after another (cuda_test.sh).
static __device__ double draw(unsigned long long *state, double low, double high) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return low + (high - low) * ((double)(*state >> 11) * 0x1p-53);
}

extern "C" __global__ void compute(double *rows) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, function = 0;
    unsigned long long state = i + 1;
    double *row;
#define ONE(real, name, truth, low, high, ulp) \
    row = rows + 3 * ((size_t)function++ * threads + i); \
    row[0] = (real)draw(&state, low, high); \
    row[2] = name((real)row[0]);
#define TWO(real, name, truth, low, high, ulp) \
    row = rows + 3 * ((size_t)function++ * threads + i); \
    row[0] = (real)draw(&state, low, high); \
    row[1] = (real)draw(&state, low, high); \
    row[2] = name((real)row[0], (real)row[1]);
#include "maths.def"
}
