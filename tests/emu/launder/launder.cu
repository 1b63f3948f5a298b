/* Kernels that hide the pointer `a`, join it with `b` and store through the result; at run time n is 1 and the store goes
 * to `a`. tests/emu/launder_test.c runs them as compiled by `tests/emu/launder/compile`. */
#ifdef __NVCC__
#define NOINLINE __noinline__
#define memcpy   __builtin_memcpy
#else
#include "cuda.h"
#define NOINLINE __attribute__((noinline))
#define memcpy   __builtin_memcpy
#endif

typedef unsigned long long word;

#define HIDES(name) extern "C" __global__ void name(int *a, int *b, int *c, word *s, int n)
/* Loads that would be marked if the store below went unseen; each thread has 8 words of scratch memory. */
#define LOADS() \
    const unsigned i = threadIdx.x; \
    word *mine = s + 8 * i; \
    mine[7] = (word)(a[i] + b[i] + c[i])
/* The join, and the store of a thread. */
#define STORES(address) \
    int *p = n ? (int *)(address) : b; \
    p[i] = 7

HIDES(shifted) {
    LOADS();
    unsigned part = (unsigned)((word)a >> 4);
    STORES((word)part << 4);
}

HIDES(product) {
    LOADS();
    STORES((word)a * (word)n);
}

HIDES(sum_of_product) {
    LOADS();
    STORES((word)a * (word)n + (word)(n - 1));
}

HIDES(halves) {
    LOADS();
    unsigned low = (unsigned)(word)a, high = (unsigned)((word)a >> 32 * n);
    STORES((word)high << 32 * n | low);
}

HIDES(quotient) {
    LOADS();
    word by = (word)n + 99;
    STORES((word)a / by * by + (word)a % by);
}

HIDES(converted) {
    LOADS();
    double real = (double)(word)a * n;
    STORES((word)real);
}

HIDES(as_double) {
    LOADS();
    word bits = (word)a;
    double real;
    memcpy(&real, &bits, sizeof real);
    *(volatile double *)mine = real;
    real = *(volatile double *)mine;
    memcpy(&bits, &real, sizeof bits);
    STORES(bits);
}

HIDES(encrypted) {
    LOADS();
    volatile word *key = mine;
    *key = 0x5DEECE66D;
    word hidden = (word)a ^ *key;
    STORES(hidden ^ *key);
}

HIDES(halves_in_global_memory) {
    LOADS();
    volatile word *whole = mine;
    volatile unsigned *half = (unsigned *)mine;
    *whole = (word)a;
    word low = half[0], high = half[1];
    STORES(high << 32 | low);
}

HIDES(halves_in_shared_memory) {
    __shared__ volatile unsigned half[64];
    LOADS();
    half[2 * i] = (unsigned)(word)a;
    half[2 * i + 1] = (unsigned)((word)a >> 32);
    STORES(*(volatile word *)(half + 2 * i));
}

HIDES(bytes_in_local_memory) {
    LOADS();
    volatile unsigned char bytes[16];
    for (int k = 0; k < 8; k++) bytes[(k * n) & 15] = (unsigned char)((word)a >> 8 * k);
    word address = 0;
    for (int k = 0; k < 8; k++) address |= (word)bytes[(k * n) & 15] << 8 * k;
    STORES(address);
}

HIDES(table_in_local_memory) {
    LOADS();
    word table[4];
    for (int k = 0; k < 4; k++) table[k] = k & n ? (word)a * (word)n : (word)b;
    int *p = (int *)table[(n + 2 * (c[i] & 1)) & 3];
    p[i] = 7;
}

HIDES(loop) {
    LOADS();
    int *p = b;
    for (int k = 0; k < n; k++) p = (int *)(((word)a >> 8) << (7 + n));
    p[i] = 7;
}

HIDES(cases) {
    LOADS();
    int *p;
    switch (n) {
    case 0: p = b; break;
    case 1: p = (int *)((word)a / 256 * 256); break;
    case 2: p = b + 32; break;
    default: p = (int *)((word)b * (word)n); break;
    }
    p[i] = 7;
}

struct passed {
    int *other;
    unsigned low, high;
    int n;
};
static __device__ NOINLINE int *picks(struct passed x) { return x.n ? (int *)((word)x.high << 32 | x.low) : x.other; }
HIDES(structure) {
    LOADS();
    struct passed x = {b, (unsigned)(word)a, (unsigned)((word)a >> 32), n};
    picks(x)[i] = 7;
}

static __device__ NOINLINE struct passed splits(int *p, int *other, int n) {
    struct passed x = {other, (unsigned)(word)p, (unsigned)((word)p >> 32), n};
    return x;
}
HIDES(returned_structure) {
    LOADS();
    struct passed x = splits(a, b, n);
    STORES((word)x.high << 32 | x.low);
}

HIDES(distance) {
    LOADS();
    long long distance = (long long)a - (long long)b;
    int *p = (int *)((long long)b + distance * n);
    p[i] = 7;
}

HIDES(narrow_index) {
    LOADS();
    int index = (int)(((long long)a - (long long)b) / 4);
    int *p = b + index * n;
    p[i] = 7;
}

HIDES(index_in_global_memory) {
    LOADS();
    volatile int *index = (int *)mine;
    *index = (int)(((long long)a - (long long)b) >> 2);
    b[*index * n + (int)i] = 7;
}
