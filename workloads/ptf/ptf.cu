/* A particle filter that tracks an object. likelihood: each particle's weight from what lies under it; sum and normalise
 * the weights; find_index: each particle scans the cumulative distribution from the front until it passes its own random
 * number, and takes that particle's place. */
#include "cuda.h"

extern "C" __global__ void ptf_likelihood(double *x, double *y, const double *noise_x, const double *noise_y, const uchar *frame,
                                          const int *object_x, const int *object_y, double *likelihood, double *weights,
                                          int particles, int object_points, int side, int frames, int k) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= particles) return;
    x[i] = x[i] + 1.0 + 5.0 * noise_x[i];
    y[i] = y[i] - 2.0 + 2.0 * noise_y[i];
    double sum = 0;
    for (int p = 0; p < object_points; p++) {
        int px = (int)rint(x[i]) + object_x[p], py = (int)rint(y[i]) + object_y[p];
        int index = (px * side + py) * frames + k;
        if (index < 0 || index >= side * side * frames) index = 0;
        double v = (double)frame[index];
        sum += ((v - 100.0) * (v - 100.0) - (v - 228.0) * (v - 228.0)) / 50.0;
    }
    likelihood[i] = sum / object_points;
    weights[i] = weights[i] * exp(likelihood[i]);
}

/* One CTA: the sum of all weights, and the weights over it; one thread makes the cumulative distribution. */
extern "C" __global__ void ptf_normalise(double *weights, double *cdf, double *u, double u1, int particles) {
    __shared__ double part[512];
    int t = (int)threadIdx.x;
    double sum = 0;
    for (int i = t; i < particles; i += 512) sum += weights[i];
    part[t] = sum;
    for (int stride = 256; stride > 0; stride >>= 1) {
        __syncthreads();
        if (t < stride) part[t] += part[t + stride];
    }
    __syncthreads();
    for (int i = t; i < particles; i += 512) {
        weights[i] = weights[i] / part[0];
        u[i] = u1 + (double)i / particles;
    }
    __syncthreads();
    if (t == 0) {
        cdf[0] = weights[0];
        for (int i = 1; i < particles; i++) cdf[i] = weights[i] + cdf[i - 1];
    }
}

extern "C" __global__ void ptf_find_index(const double *x, const double *y, const double *cdf, const double *u, double *new_x,
                                          double *new_y, double *weights, int particles) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= particles) return;
    int index = -1;
    for (int j = 0; j < particles; j++)
        if (cdf[j] >= u[i]) {
            index = j;
            break;
        }
    if (index < 0) index = particles - 1;
    new_x[i] = x[index];
    new_y[i] = y[index];
    weights[i] = 1.0 / (double)particles;
}
