/* Tracking a heart's wall through ultrasound frames: a CTA follows one point. It correlates the point's template with
 * the frame around the point's last place, at every offset of a search window, finds the best offset, moves the point
 * there and lets the template follow slowly. Everything that a point can come to lies within the frame. */
#include "cuda.h"

enum { THREADS = 256 };

struct tracker {
    float *templates, *scores;
    int *row, *column;
    int columns, radius, reach;
};

/* The sum of v over the CTA, in all threads. */
static __device__ float cta_sum(float *part, float v) {
    int t = (int)threadIdx.x;
    __syncthreads();
    part[t] = v;
    for (int fold = THREADS / 2; fold > 0; fold >>= 1) {
        __syncthreads();
        if (t < fold) part[t] += part[t + fold];
    }
    __syncthreads();
    return part[0];
}

extern "C" __global__ void ht_track(const float *frame, tracker s) {
    __shared__ float best[THREADS];
    __shared__ int where[THREADS];
    int point = (int)blockIdx.x, t = (int)threadIdx.x, side = 2 * s.radius + 1, window = 2 * s.reach + 1;
    int area = side * side;
    float *mine = s.templates + point * area, *score = s.scores + point * window * window;
    int row = s.row[point], column = s.column[point];

    float sum = 0, squares = 0;
    for (int i = t; i < area; i += THREADS) sum += mine[i], squares += mine[i] * mine[i];
    float mean = cta_sum(best, sum) / (float)area;
    float deviation = sqrtf(fmaxf(cta_sum(best, squares) / (float)area - mean * mean, 1e-12f));

    for (int o = t; o < window * window; o += THREADS) {
        int r = row + o / window - s.reach - s.radius, c = column + o % window - s.reach - s.radius;
        float v1 = 0, v2 = 0, product = 0;
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++) {
                float v = frame[(r + i) * s.columns + c + j];
                v1 += v, v2 += v * v, product += v * mine[i * side + j];
            }
        float m = v1 / (float)area, spread = sqrtf(fmaxf(v2 / (float)area - m * m, 1e-12f));
        score[o] = (product / (float)area - m * mean) / (spread * deviation);
    }
    __syncthreads();

    best[t] = -2.0f, where[t] = 0;
    for (int o = t; o < window * window; o += THREADS)
        if (score[o] > best[t]) best[t] = score[o], where[t] = o;
    for (int fold = THREADS / 2; fold > 0; fold >>= 1) {
        __syncthreads();
        if (t < fold && (best[t + fold] > best[t] || (best[t + fold] == best[t] && where[t + fold] < where[t])))
            best[t] = best[t + fold], where[t] = where[t + fold];
    }
    __syncthreads();
    row += where[0] / window - s.reach, column += where[0] % window - s.reach;
    for (int i = t; i < area; i += THREADS)
        mine[i] = 0.9f * mine[i] + 0.1f * frame[(row + i / side - s.radius) * s.columns + column + i % side - s.radius];
    if (t == 0) s.row[point] = row, s.column[point] = column;
}
