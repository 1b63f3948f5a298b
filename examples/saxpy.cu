// y = a x + y. saxpy.ptx is made from this by
//     clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -O2 -S saxpy.cu -o saxpy.ptx
#define __global__ __attribute__((global))
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())

extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = THREAD;
    if (i < n) y[i] = a * x[i] + y[i];
}
