/* Tracking a heart's wall through ultrasound frames: a CTA follows one point. It correlates the point's template with the
 * frame around the point's last place, at every offset of a search window, finds the best offset, moves the point there and
 * lets the template follow slowly. */
#include "cuda.h"

enum { THREADS = 256 };

extern "C" __global__ void ht_track(const float *frame, int rows, int columns, float *templates, int *point_row, int *point_column,
                                    float *scores, int radius, int reach) {
    __shared__ float best[THREADS];
    __shared__ int where[THREADS];
    int point = (int)blockIdx.x, t = (int)threadIdx.x, side = 2 * radius + 1, window = 2 * reach + 1;
    float *mine = templates + point * side * side, *score = scores + point * window * window;
    int row = point_row[point], column = point_column[point];

    float sum = 0, squares = 0; /* of the template; every thread computes them for itself */
    for (int i = 0; i < side * side; i++) sum += mine[i], squares += mine[i] * mine[i];
    float mean = sum / (float)(side * side), deviation = sqrtf(squares / (float)(side * side) - mean * mean);

    for (int o = t; o < window * window; o += THREADS) {
        int r0 = row + o / window - reach - radius, c0 = column + o % window - reach - radius;
        float s = 0, s2 = 0, product = 0;
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++) {
                int r = min(max(r0 + i, 0), rows - 1), c = min(max(c0 + j, 0), columns - 1);
                float v = frame[r * columns + c];
                s += v, s2 += v * v, product += v * mine[i * side + j];
            }
        float m = s / (float)(side * side), spread = sqrtf(fmaxf(s2 / (float)(side * side) - m * m, 1e-12f));
        score[o] = (product / (float)(side * side) - m * mean) / (spread * deviation + 1e-12f);
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
    row += where[0] / window - reach, column += where[0] % window - reach;
    for (int i = t; i < side * side; i += THREADS) {
        int r = min(max(row + i / side - radius, 0), rows - 1), c = min(max(column + i % side - radius, 0), columns - 1);
        mine[i] = 0.9f * mine[i] + 0.1f * frame[r * columns + c];
    }
    if (t == 0) point_row[point] = row, point_column[point] = column;
}
