/* Control flow as compilers generate it: loops with early exits, switches as jump tables, jumps, short circuits. */
#include "compilers.h"

static __device__ unsigned steps(unsigned n) { /* Collatz */
    unsigned count = 0;
    for (n |= 1; n != 1 && count < 60; count++) n = n & 1 ? 3 * n + 1 : n / 2;
    return count;
}

static __device__ unsigned divisor(unsigned a, unsigned b) {
    while (b) {
        const unsigned r = a % b;
        a = b, b = r;
    }
    return a;
}

static __device__ unsigned chosen(unsigned which, unsigned x, int y) {
    unsigned r = which;
    switch (which % 11) {
    case 0: return x + 1;
    case 1: r += x * 3;
    case 2: r ^= (unsigned)(y / 7); break;
    case 3: r = (unsigned)(y % 13); break;
    case 4:
        for (unsigned i = 0; i < (x & 7); i++) r = r * 5 + i;
        break;
    case 5: r = x >> (y & 31); break;
    case 6: r = (unsigned)(y >> (x & 31)); break;
    case 8: return steps(x & 255);
    case 9: r = x > (unsigned)y ? x : (unsigned)y;
    default: r--;
    }
    return r ^ 0x55;
}

/* The first pair (i, j) of a small square with a property, searched by nested loops. */
static __device__ unsigned searched(unsigned x) {
    unsigned skipped = 0;
    for (unsigned i = 0; i < 9; i++)
        for (unsigned j = 0; j < 9; j++) {
            if (((i ^ j) & 1) == 0) continue;
            if (i * 31 + j * 17 == x % 400) goto found;
            if (j > i + 4) break;
            skipped++;
        }
    return skipped;
found:
    return skipped | 0x8000;
}

static __device__ void control(unsigned *out, unsigned i, const unsigned *in) {
    const unsigned x = in[i], y = in[i + ALL];
    out[0] = steps(x & 1023) + (i % 3 == 0 && (x & 4 || y & 8) ? 1000 : 0);
    out[1] = divisor(x & 0xFFFF, y & 0xFFFF);
    out[2] = chosen(i, x, (int)y) + chosen(x, y, (int)i);
    out[3] = searched(y);
}
EACH_THREAD(control)
