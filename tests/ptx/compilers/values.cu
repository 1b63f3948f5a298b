/* Data of every size: small integers, 64 bits, bit fields, unions, vectors, tables in constant memory, arrays with
 * computed addresses. */
#include "compilers.h"

static __constant__ unsigned primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static __constant__ signed char steps[5] = {-3, 1, 4, -1, 5};
static __device__ const unsigned *const chain[2] = {primes + 1, primes + 4};

struct fields {
    unsigned low : 5;
    int middle : 9;
    unsigned high : 18;
};
union view {
    unsigned word;
    unsigned char bytes[4];
    short halves[2];
};

static __device__ unsigned small(unsigned x, unsigned y) {
    const signed char a = (signed char)x;
    const unsigned char b = (unsigned char)y;
    const short c = (short)(a * b), d = (short)(c / (short)(y >> 8 | 1));
    const unsigned short e = (unsigned short)(c << 3);
    return (unsigned)(a + d) ^ (unsigned)e << 7 ^ (unsigned)(b > a) << 30;
}

static __device__ unsigned large(unsigned x, unsigned y) {
    const unsigned long long u = (unsigned long long)x << 32 | y;
    const long long s = (long long)(u * 0x9E3779B97F4A7C15ull);
    const unsigned long long q = u / (x | 1), r = u % ((unsigned long long)y << 5 | 3);
    return (unsigned)(q >> (x & 63)) ^ (unsigned)r ^ (unsigned)(s >> (y & 63)) ^ (unsigned)(s / -1000 % 77777) ^
           (unsigned)(s < (long long)q);
}

static __device__ unsigned arrays(unsigned x, unsigned y) {
    unsigned char bytes[24];
    unsigned words[6] = {};
    for (unsigned k = 0; k < 24; k++) bytes[k] = (unsigned char)(x >> k % 25 ^ y * k);
    for (unsigned k = 0; k < 24; k++) words[bytes[k] % 6] += bytes[(k * 7 + (x & 15)) % 24];
    return words[0] ^ words[1] << 5 ^ words[2] << 10 ^ words[3] << 15 ^ words[4] << 20 ^ words[x % 6];
}

static __device__ void values(unsigned *out, unsigned i, const unsigned *in) {
    const uint4 v = ((const uint4 *)in)[i];
    fields f = {};
    f.low = v.x, f.middle = (int)v.y, f.high = v.z;
    f.middle += steps[i % 5];
    view w;
    w.word = v.w;
    w.bytes[v.x & 3] ^= 0x5A;
    w.halves[v.y & 1] /= 3;
    uint4 r;
    r.x = small(v.x, v.y) + primes[v.z & 7];
    r.y = large(v.z, v.w) + chain[v.x & 1][v.y % 4];
    r.z = arrays(v.x, v.w);
    r.w = f.low ^ (unsigned)f.middle ^ f.high << 3 ^ w.word;
    *(uint4 *)out = r;
}
EACH_THREAD(values)
