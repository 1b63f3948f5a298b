/* Shared by the programs of this directory. Each is compiled in three ways that must produce the same words: to PTX by
 * clang (with Sluice's header for CUDA C), to PTX by nvcc (with its own), and for the host as REFERENCE.
 *
 * A program is a kernel k(out, in) for BLOCKS x THREADS threads; `in` has WORDS random words and `out` the same number
 * for results. If threads are independent, EACH_THREAD derives kernel and reference from one function; otherwise both
 * are written out. */
#ifndef SLUICE_TESTS_PTX_COMPILERS_H
#define SLUICE_TESTS_PTX_COMPILERS_H

enum { BLOCKS = 4, THREADS = 256, ALL = BLOCKS * THREADS, PER_THREAD = 4, WORDS = ALL * PER_THREAD };

#if defined REFERENCE
#define __device__
#define __constant__
#define __noinline__ __attribute__((noinline))
typedef unsigned int uint;
typedef unsigned long long ulong64;
struct uint4 {
    uint x, y, z, w;
};
#define sqrtf        __builtin_sqrtf
#define sqrt         __builtin_sqrt
#define REFERENCE_OF extern "C" void reference(unsigned *out, const unsigned *in)
#elif defined __NVCC__
#include <stdio.h>
typedef unsigned long long ulong64;
#define KERNEL extern "C" __global__ void k(unsigned *out, const unsigned *in)
#else
#include "cuda.h"
#define KERNEL       extern "C" __global__ void k(unsigned *out, const unsigned *in)
#define __noinline__ __attribute__((noinline))
typedef decltype(sizeof 0) size_t;
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void *malloc(size_t bytes);
extern "C" __device__ void free(void *memory);
SLUICE_INLINE unsigned __shfl_sync(unsigned, unsigned v, int lane) {
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(v) : "r"(lane));
    return v;
}
SLUICE_INLINE unsigned __shfl_down_sync(unsigned, unsigned v, int by) {
    asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(v) : "r"(by));
    return v;
}
SLUICE_INLINE unsigned __shfl_up_sync(unsigned, unsigned v, int by) {
    asm volatile("shfl.sync.up.b32 %0, %0, %1, 0, 0xffffffff;" : "+r"(v) : "r"(by));
    return v;
}
SLUICE_INLINE unsigned __shfl_xor_sync(unsigned, unsigned v, int by) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(v) : "r"(by));
    return v;
}
SLUICE_INLINE unsigned __ballot_sync(unsigned, int p) {
    unsigned mask;
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(mask) : "r"(p));
    return mask;
}
SLUICE_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
SLUICE_INLINE uint atomicMax(uint *p, uint v) { return __nvvm_atom_max_gen_ui(p, v); }
SLUICE_INLINE uint atomicOr(uint *p, uint v) { return (uint)__nvvm_atom_or_gen_i((int *)p, (int)v); }
SLUICE_INLINE uint atomicAnd(uint *p, uint v) { return (uint)__nvvm_atom_and_gen_i((int *)p, (int)v); }
SLUICE_INLINE uint atomicXor(uint *p, uint v) { return (uint)__nvvm_atom_xor_gen_i((int *)p, (int)v); }
SLUICE_INLINE uint atomicExch(uint *p, uint v) { return (uint)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
SLUICE_INLINE uint atomicCAS(uint *p, uint e, uint v) { return (uint)__nvvm_atom_cas_gen_i((int *)p, (int)e, (int)v); }
SLUICE_INLINE ulong64 atomicAdd(ulong64 *p, ulong64 v) {
    return (ulong64)__nvvm_atom_add_gen_ll((long long *)p, (long long)v);
}
#endif

#ifdef REFERENCE
#define EACH_THREAD(f) \
    REFERENCE_OF { \
        for (unsigned i = 0; i < ALL; i++) f(out + i * PER_THREAD, i, in); \
    }
#else
#define EACH_THREAD(f) \
    KERNEL { \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x; \
        f(out + i * PER_THREAD, i, in); \
    }
#endif

#endif
