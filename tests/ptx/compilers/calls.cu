/* Functions that are not inlined: recursion, function pointers, virtual functions, structs as arguments and results. */
#include "compilers.h"

static __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static __device__ __noinline__ void sorted(unsigned *a, int n) { /* quicksort of a local array */
    if (n < 2) return;
    const unsigned pivot = a[n / 2];
    int i = 0, j = n - 1;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            const unsigned t = a[i];
            a[i++] = a[j], a[j--] = t;
        }
    }
    sorted(a, j + 1);
    sorted(a + i, n - i);
}

typedef unsigned operation(unsigned, unsigned);
static __device__ __noinline__ unsigned sum(unsigned a, unsigned b) { return a + b; }
static __device__ __noinline__ unsigned mixed(unsigned a, unsigned b) { return (a ^ b) * 2654435761u; }
static __device__ __noinline__ unsigned lesser(unsigned a, unsigned b) { return a < b ? a : b; }
static __device__ operation *const operations[] = {sum, mixed, lesser};

struct shape {
    unsigned size;
    __device__ shape(unsigned s) : size(s) {}
    __device__ virtual unsigned area() const { return size; }
};
struct square : shape {
    __device__ square(unsigned s) : shape(s) {}
    __device__ unsigned area() const override { return size * size; }
};
struct cube : square {
    __device__ cube(unsigned s) : square(s) {}
    __device__ unsigned area() const override { return 6 * square::area(); }
};
static __device__ __noinline__ unsigned area(const shape *s) { return s->area(); }

struct triple {
    unsigned char a;
    long long b;
    float c;
    short d[3];
};
static __device__ __noinline__ triple turned(triple t, int by) {
    t.d[(by + 1) % 3] = (short)(t.b + t.a);
    t.b = t.b * by - t.d[0];
    t.a = (unsigned char)(t.a + by);
    t.c = t.c * 0.5f + (float)by;
    return t;
}

static __device__ void calls(unsigned *out, unsigned i, const unsigned *in) {
    unsigned list[12];
    for (int k = 0; k < 12; k++) list[k] = in[(i * 7 + k * 13) % WORDS] % 1000;
    sorted(list, 12);
    out[0] = list[i % 12] * 1000 + list[11];
    out[1] = ackermann(i % 3, in[i] % 5);
    const square s(in[i] & 255);
    const cube c(i);
    const shape p(in[i]), *shapes[] = {&s, &c, &p};
    out[2] = operations[in[i] % 3](in[i], in[i + 1]) + area(shapes[in[i + 2] % 3]);
    triple t = {(unsigned char)in[i], (int)in[i + 1], (float)(in[i + 2] & 4095), {1, 2, 3}};
    for (int k = 0; k < (int)(i & 3) + 1; k++) t = turned(t, k + 2);
    out[3] = (unsigned)t.a ^ (unsigned)t.b ^ (unsigned)(t.b >> 32) ^ (unsigned)(int)t.c ^
             (unsigned)(t.d[0] + t.d[1] * 3 + t.d[2] * 5);
}
EACH_THREAD(calls)
