/* Shared by the kernels of this directory, which clang compiles with Sluice's header for CUDA C and nvcc with its own. */
#ifndef SLUICE_TESTS_EMU_THREADS_H
#define SLUICE_TESTS_EMU_THREADS_H

#ifdef __NVCC__
#define LOWEST_BIT(x) (__ffs((int)(x)) - 1)
#else
#define LOWEST_BIT(x) __builtin_ctz(x)
#include "cuda.h"
SLUICE_INLINE unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v) {
    return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)expected, (int)v);
}
SLUICE_INLINE unsigned atomicExch(unsigned *p, unsigned v) {
    return (unsigned)__nvvm_atom_xchg_gen_i((int *)p, (int)v);
}
SLUICE_INLINE void __syncwarp() { asm volatile("bar.warp.sync 0xffffffff;" : : : "memory"); }
SLUICE_INLINE unsigned __shfl_sync(unsigned mask, unsigned v, int lane) {
    unsigned got;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(got) : "r"(v), "r"(lane), "r"(mask));
    return got;
}
SLUICE_INLINE unsigned __ballot_sync(unsigned mask, int p) {
    unsigned got;
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2;}"
                 : "=r"(got)
                 : "r"(p), "r"(mask));
    return got;
}
#endif

#define KERNEL extern "C" __global__ void

#endif
