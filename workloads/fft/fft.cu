/* A batch of Fourier transforms of 1,024 complex points: a CTA of 256 threads loads one, computes five radix-4 passes
 * (Stockham's order, so that nothing is reversed) in registers and shared memory, and stores it. */
#include "cuda.h"

enum { POINTS = 1024, THREADS = POINTS / 4 };

static __device__ __forceinline__ float2 add(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
static __device__ __forceinline__ float2 subtract(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
static __device__ __forceinline__ float2 multiply(float2 a, float2 b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

extern "C" __global__ void fft_batch(const float2 *in, float2 *out) {
    __shared__ float real[POINTS], imaginary[POINTS];
    int t = (int)threadIdx.x;
    in += blockIdx.x * POINTS, out += blockIdx.x * POINTS;
    float2 v[4];
    for (int k = 0; k < 4; k++) v[k] = in[t + k * THREADS];
    for (int done = 1; done < POINTS; done *= 4) {
        int j = t % done; /* position in the transforms done so far */
        for (int k = 1; k < 4; k++) {
            float angle = -1.5707963268f * (float)(j * k) / (float)done;
            v[k] = multiply(v[k], make_float2(cosf(angle), sinf(angle)));
        }
        float2 a = add(v[0], v[2]), b = subtract(v[0], v[2]), c = add(v[1], v[3]), d = subtract(v[1], v[3]);
        d = make_float2(d.y, -d.x);
        v[0] = add(a, c), v[1] = add(b, d), v[2] = subtract(a, c), v[3] = subtract(b, d);
        int to = (t - j) * 4 + j;
        __syncthreads();
        for (int k = 0; k < 4; k++) real[to + k * done] = v[k].x, imaginary[to + k * done] = v[k].y;
        __syncthreads();
        for (int k = 0; k < 4; k++) v[k] = make_float2(real[t + k * THREADS], imaginary[t + k * THREADS]);
    }
    for (int k = 0; k < 4; k++) out[t + k * THREADS] = v[k];
}
