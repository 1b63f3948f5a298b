/* Finding and tracking white blood cells in a video frame. gicov: how well circles of seven radii fit the image's
 * gradient around each pixel; dilate: the largest score in a disc; imgvf: one CTA per cell relaxes the motion gradient
 * vector flow of the cell's 41 x 81 surroundings in shared memory. Images are read by the read-only path, as textures
 * were. */
#include "cuda.h"

enum { CIRCLES = 7, POINTS = 150, DISC = 25, ROWS = 41, COLUMNS = 81, THREADS = 320 };

__constant__ float lfk_sine[POINTS], lfk_cosine[POINTS];
__constant__ int lfk_dx[CIRCLES * POINTS], lfk_dy[CIRCLES * POINTS];
__constant__ float lfk_disc[DISC * DISC];

extern "C" __global__ void lfk_gicov(const float *gradient_x, const float *gradient_y, float *score, int width,
                                     int height, int margin) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), inner = width - 2 * margin;
    if (i >= inner * (height - 2 * margin)) return;
    int x = i % inner + margin, y = i / inner + margin;
    float most = 0;
    for (int c = 0; c < CIRCLES; c++) {
        float sum = 0, mean = 0, variance = 0;
        for (int n = 0; n < POINTS; n++) {
            int at = (y + lfk_dy[c * POINTS + n]) * width + x + lfk_dx[c * POINTS + n];
            float p = __ldg(gradient_x + at) * lfk_cosine[n] + __ldg(gradient_y + at) * lfk_sine[n];
            sum += p;
            float delta = p - mean; /* running variance */
            mean += delta / (float)(n + 1);
            variance += delta * (p - mean);
        }
        mean = sum / (float)POINTS;
        variance /= (float)(POINTS - 1);
        float fit = mean * mean / (variance + 1e-6f);
        most = fmaxf(most, fit);
    }
    score[y * width + x] = most;
}

extern "C" __global__ void lfk_dilate(const float *score, float *dilated, int width, int height, int reach) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), side = 2 * reach + 1;
    if (i >= width * height) return;
    int x = i % width, y = i / width;
    float most = 0;
    for (int dy = 0; dy < side; dy++) {
        int r = y - reach + dy;
        if ((uint)r >= (uint)height) continue;
        for (int dx = 0; dx < side; dx++) {
            int c = x - reach + dx;
            if ((uint)c < (uint)width && lfk_disc[dy * side + dx] != 0)
                most = fmaxf(most, __ldg(score + r * width + c));
        }
    }
    dilated[i] = most;
}

/* A smooth step at zero. */
static __device__ __forceinline__ float heaviside(float x) { return 0.5f + 0.3183098862f * x / (0.02f + fabsf(x)); }

extern "C" __global__ void lfk_imgvf(const float *images, float *flows, int iterations) {
    __shared__ float flow[ROWS * COLUMNS], next[ROWS * COLUMNS];
    const float *image = images + blockIdx.x * ROWS * COLUMNS;
    int t = (int)threadIdx.x;
    for (int i = t; i < ROWS * COLUMNS; i += THREADS) flow[i] = __ldg(image + i);
    __syncthreads();
    for (int n = 0; n < iterations; n++) {
        for (int i = t; i < ROWS * COLUMNS; i += THREADS) {
            int r = i / COLUMNS, c = i % COLUMNS;
            int up = max(r - 1, 0) * COLUMNS, here = r * COLUMNS, down = min(r + 1, ROWS - 1) * COLUMNS;
            int left = max(c - 1, 0), right = min(c + 1, COLUMNS - 1);
            float v = flow[i], change = 0;
            float around[8] = {flow[up + left],    flow[up + c],      flow[up + right], flow[here + left],
                               flow[here + right], flow[down + left], flow[down + c],   flow[down + right]};
#pragma unroll
            for (int k = 0; k < 8; k++) change += heaviside(around[k] - v) * (around[k] - v);
            v += 0.5f / 8.0f * change;
            float source = __ldg(image + i);
            next[i] = v - 0.2f * source * (v - source);
        }
        __syncthreads();
        for (int i = t; i < ROWS * COLUMNS; i += THREADS) flow[i] = next[i];
        __syncthreads();
    }
    for (int i = t; i < ROWS * COLUMNS; i += THREADS) flows[blockIdx.x * ROWS * COLUMNS + i] = flow[i];
}
