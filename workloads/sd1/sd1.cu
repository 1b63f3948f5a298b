/* Speckle-reducing anisotropic diffusion of an ultrasound image, with neighbours through index arrays. extract and
 * compress take the image through e^x and log x; prepare and reduce compute its mean and variance; srad and srad2
 * are the diffusion coefficient and the step. The image is stored by columns. */
#include "cuda.h"

enum { THREADS = 512 };

extern "C" __global__ void sd1_extract(int elements, float *image) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < elements) image[i] = expf(image[i] / 255.0f);
}

extern "C" __global__ void sd1_prepare(int elements, const float *image, float *sums, float *squares) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < elements) {
        sums[i] = image[i];
        squares[i] = image[i] * image[i];
    }
}

/* Folds elements `stride` apart; what each CTA leaves is read by the next, smaller launch. */
extern "C" __global__ void sd1_reduce(int elements, int stride, float *sums, float *squares) {
    __shared__ float sum[THREADS], square[THREADS];
    int t = (int)threadIdx.x, i = (int)(blockIdx.x * THREADS) + t;
    sum[t] = i < elements ? sums[i * stride] : 0;
    square[t] = i < elements ? squares[i * stride] : 0;
    __syncthreads();
    for (int s = 2; s <= THREADS; s *= 2) {
        if ((t + 1) % s == 0) {
            sum[t] += sum[t - s / 2];
            square[t] += square[t - s / 2];
        }
        __syncthreads();
    }
    if (t == THREADS - 1) {
        sums[blockIdx.x * stride * THREADS] = sum[t];
        squares[blockIdx.x * stride * THREADS] = square[t];
    }
}

extern "C" __global__ void sd1_srad(int rows, int elements, const int *north, const int *south, const int *east,
                                    const int *west, float *dn, float *ds, float *de, float *dw, float q0, float *c,
                                    const float *image) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= elements) return;
    int row = i % rows, column = i / rows;
    float j = image[i];
    float n = image[north[row] + rows * column] - j, s = image[south[row] + rows * column] - j;
    float w = image[row + rows * west[column]] - j, e = image[row + rows * east[column]] - j;
    float g2 = (n * n + s * s + w * w + e * e) / (j * j), l = (n + s + w + e) / j;
    float numerator = 0.5f * g2 - (1.0f / 16.0f) * (l * l), denominator = 1.0f + 0.25f * l;
    float q = numerator / (denominator * denominator);
    float d = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    c[i] = d < 0 ? 0 : d > 1 ? 1 : d;
    dn[i] = n;
    ds[i] = s;
    dw[i] = w;
    de[i] = e;
}

extern "C" __global__ void sd1_srad2(float lambda, int rows, int elements, const int *south, const int *east,
                                     const float *dn, const float *ds, const float *de, const float *dw, const float *c,
                                     float *image) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= elements) return;
    int row = i % rows, column = i / rows;
    float here = c[i], cs = c[south[row] + rows * column], ce = c[row + rows * east[column]];
    image[i] += 0.25f * lambda * (here * dn[i] + cs * ds[i] + here * dw[i] + ce * de[i]);
}

extern "C" __global__ void sd1_compress(int elements, float *image) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < elements) image[i] = logf(image[i]) * 255.0f;
}
