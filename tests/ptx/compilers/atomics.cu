/* Atomics whose results do not depend on order, on global and shared memory, and a lock that blocks acquire one after
 * another. */
#include "compilers.h"

enum { BINS = 64 };

#ifdef REFERENCE
REFERENCE_OF {
    for (unsigned i = 0; i < ALL; i++) {
        const unsigned x = in[i];
        out[x % BINS]++;
        if (out[BINS] < x) out[BINS] = x;
        out[BINS + 1] |= 1u << x % 29;
        out[BINS + 2] ^= x;
        out[BINS + 3] += x % 100;
        *(unsigned long long *)&out[BINS + 4] += (unsigned long long)x * x;
        if (i % THREADS == 0) out[BINS + 6] += (x & 7) + 1;
        out[BINS + 8 + i % BINS] += 1;
    }
    for (unsigned i = 0; i < ALL; i++) out[WORDS / 2 + i] = i; /* tickets, each once */
}
#else
static __device__ unsigned lock, ticket;

KERNEL {
    __shared__ unsigned bins[BINS];
    const unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t, x = in[i];
    if (t < BINS) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x % BINS], 1u);
    atomicMax(&out[BINS], x);
    atomicOr(&out[BINS + 1], 1u << x % 29);
    atomicXor(&out[BINS + 2], x);
    for (unsigned seen = out[BINS + 3], old; (old = atomicCAS(&out[BINS + 3], seen, seen + x % 100)) != seen;)
        seen = old;
    atomicAdd((ulong64 *)&out[BINS + 4], (ulong64)x * x);
    if (t == 0) { /* one lane per warp: the others would block it at the reconvergence point */
        while (atomicExch(&lock, 1u)) continue;
        volatile unsigned *sum = &out[BINS + 6];
        *sum = *sum + (x & 7) + 1;
        __threadfence();
        atomicExch(&lock, 0u);
    }
    atomicInc(&out[BINS + 8 + i % BINS], 1000u);
    const unsigned mine = atomicAdd(&ticket, 1u);
    out[WORDS / 2 + mine] = mine;
    __syncthreads();
    if (t < BINS) atomicAdd(&out[t], bins[t]);
}
#endif
