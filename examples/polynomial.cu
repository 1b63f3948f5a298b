// y = c0 + c1 x + c2 x^2 with coefficients in constant memory; counts the negative results. polynomial.ptx is made from
// this by
//     clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -O2 -S polynomial.cu -o polynomial.ptx
#define __global__   __attribute__((global))
#define __constant__ __attribute__((constant))
#define __device__   __attribute__((device))
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())

__constant__ float coefficients[3];
__device__ int negative;

extern "C" __global__ void polynomial(const float *x, float *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    y[i] = (coefficients[2] * x[i] + coefficients[1]) * x[i] + coefficients[0];
    if (y[i] < 0) __nvvm_atom_add_gen_i(&negative, 1);
}
