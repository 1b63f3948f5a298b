/* A particle filter that tracks an object through a video. likelihood: each particle moves, notes which pixels of the
 * frame lie under the object there, and is weighed by them; sum adds the CTAs' sums; normalise divides the weights by it, and one thread makes their cumulative
 * distribution; find_index: each particle scans the distribution from the front until it passes the particle's own
 * number, and takes that particle's place. */
#include "cuda.h"

enum { THREADS = 512 };

struct filter {
    double *x, *y, *new_x, *new_y, *weights, *likelihood, *cdf, *u, *sums;
    const double *noise_x, *noise_y;
    const uchar *video;
    int *pixels;       /* [particles][points]: so lanes are a row of points apart */
    const int *object; /* [points][2]: column and row, from its middle */
    int particles, points, side, frames;
};

extern "C" __global__ void ptf_likelihood(filter f, int k) {
    __shared__ double part[THREADS];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    double weight = 0;
    if (i < f.particles) {
        double x = f.new_x[i] + 1.0 + 5.0 * f.noise_x[i], y = f.new_y[i] - 2.0 + 2.0 * f.noise_y[i], sum = 0;
        f.x[i] = x, f.y[i] = y;
        int *pixel = f.pixels + i * f.points, size = f.side * f.side * f.frames;
        for (int p = 0; p < f.points; p++) {
            int row = (int)rint(x) + f.object[2 * p + 1], column = (int)rint(y) + f.object[2 * p];
            int at = abs((row * f.side + column) * f.frames + k);
            pixel[p] = at < size ? at : 0;
        }
        for (int p = 0; p < f.points; p++) {
            double v = (double)f.video[pixel[p]];
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
