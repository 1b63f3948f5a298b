/* IEEE operations on floats and doubles, one rounding each; the compilers must not fuse them. */
#include "compilers.h"

static __device__ unsigned bits(float x) {
    union {
        float f;
        unsigned u;
    } v;
    return v.f = x, v.u;
}
static __device__ unsigned bits(double x) {
    union {
        double d;
        unsigned u[2];
    } v;
    return v.d = x, v.u[0] ^ v.u[1];
}

static __device__ float polynomial(float x) {
    float r = 0;
    for (int k = 1; k < 8; k++) r = r * x + 1.0f / (float)k;
    return r;
}
static __device__ double root(double x) { /* Newton's method, until it converges */
    double r = x > 1 ? x : 1;
    for (int k = 0; k < 40; k++) {
        const double next = 0.5 * (r + x / r);
        if (next == r) break;
        r = next;
    }
    return r;
}

static __device__ void reals(unsigned *out, unsigned i, const unsigned *in) {
    const int a = (int)in[i], b = (int)in[i + ALL];
    const float x = (float)a / 65536.0f, y = (float)(b | 1) * 0.001f;
    const double u = (double)a * 1e-3, v = (double)(long long)in[i] * (double)in[i + 1];
    out[0] = bits(polynomial(x / (1.0f + (x < 0 ? -x : x)))) ^ bits(sqrtf(y < 0 ? -y : y));
    out[1] = bits(x / y - y * x + (x > y ? x : y));
    out[2] = bits(root(u < 0 ? -u : u)) ^ bits(sqrt(v)) ^ bits(v / (u + 0.5));
    out[3] = (unsigned)(int)(x * 3.75f) ^ (unsigned)(long long)(v * 1e-6) ^ bits((float)v) ^ bits((double)x * u) ^
             (x != y) ^ (unsigned)(unsigned char)(y * y < 255 ? y * y : 255);
}
EACH_THREAD(reals)
