/* A particle filter that tracks an object through a video. likelihood: each particle moves, and is weighed by what lies
 * under it; sum adds the CTAs' sums; normalise divides the weights by it, and one thread makes their cumulative
 * distribution; find_index: each particle scans the distribution from the front until it passes the particle's own
 * number, and takes that particle's place. */
#include "cuda.h"

enum { THREADS = 512 };

struct filter {
    double *x, *y, *new_x, *new_y, *weights, *likelihood, *cdf, *u, *sums;
    const double *noise_x, *noise_y;
    const uchar *video;
    const int *object_x, *object_y;
    int particles, points, side, frames;
};

extern "C" __global__ void ptf_likelihood(filter f, int k) {
    __shared__ double part[THREADS];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    double weight = 0;
    if (i < f.particles) {
        double x = f.new_x[i] + 1.0 + 5.0 * f.noise_x[i], y = f.new_y[i] - 2.0 + 2.0 * f.noise_y[i], sum = 0;
        f.x[i] = x, f.y[i] = y;
        for (int p = 0; p < f.points; p++) {
            int px = (int)rint(x) + f.object_x[p], py = (int)rint(y) + f.object_y[p];
            int index = abs((px * f.side + py) * f.frames + k);
            if (index >= f.side * f.side * f.frames) index = 0;
            double v = (double)f.video[index];
            sum += ((v - 100.0) * (v - 100.0) - (v - 228.0) * (v - 228.0)) / 50.0;
        }
        f.likelihood[i] = sum / f.points;
        weight = exp(f.likelihood[i]) / f.particles;
        f.weights[i] = weight;
    }
    part[t] = weight;
    for (int stride = THREADS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (t < stride) part[t] += part[t + stride];
    }
    if (t == 0) f.sums[blockIdx.x] = part[0];
}

extern "C" __global__ void ptf_sum(filter f, int ctas) {
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    double sum = 0;
    for (int c = 0; c < ctas; c++) sum += f.sums[c];
    f.sums[0] = sum;
}

extern "C" __global__ void ptf_normalise(filter f, double u1) {
    int i = (int)blockIdx.x * THREADS + (int)threadIdx.x;
    if (i < f.particles) {
        f.weights[i] = f.weights[i] / f.sums[0];
        f.u[i] = u1 + (double)i / f.particles;
    }
}

extern "C" __global__ void ptf_distribution(filter f) {
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    f.cdf[0] = f.weights[0];
    for (int i = 1; i < f.particles; i++) f.cdf[i] = f.weights[i] + f.cdf[i - 1];
}

extern "C" __global__ void ptf_find_index(filter f) {
    int i = (int)blockIdx.x * THREADS + (int)threadIdx.x;
    if (i >= f.particles) return;
    int index = f.particles - 1;
    for (int j = 0; j < f.particles; j++)
        if (f.cdf[j] >= f.u[i]) {
            index = j;
            break;
        }
    f.new_x[i] = f.x[index];
    f.new_y[i] = f.y[index];
    f.weights[i] = 1.0 / (double)f.particles;
}
